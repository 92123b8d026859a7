"""Mistral up to tokenizer version 7: the control token `[TOOL_CALLS]` and a JSON array of calls."""

from typing import Final

from .tool_format import ToolFormat

MISTRAL: Final = ToolFormat(
    name="mistral",
    trigger="[TOOL_CALLS]",
    openings=("[TOOL_CALLS][", "[TOOL_CALLS] ["),
    before_name='{"name": "',
    after_name='", "arguments": ',
    after_arguments="}",
    between=", ",
    closing="]",
    id_length=9,
)
