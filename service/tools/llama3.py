"""Llama 3: the whole answer is one JSON object with a name and parameters. These models make one call at a time."""

from typing import Final

from .tool_format import ToolFormat

LLAMA3: Final = ToolFormat(
    name="llama3",
    trigger='{"name": "',
    before_name='{"name": "',
    after_name='", "parameters": ',
    after_arguments="}",
    only_at_start=True,
    several=False,
)
