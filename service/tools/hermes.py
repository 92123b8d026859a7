"""Hermes and Qwen: each call is a JSON object between `<tool_call>` and `</tool_call>`."""

from typing import Final

from .tool_format import ToolFormat

HERMES: Final = ToolFormat(
    name="hermes",
    trigger="<tool_call>",
    before_name='<tool_call>\n{"name": "',
    after_name='", "arguments": ',
    after_arguments="}\n</tool_call>",
    between="\n",
)
