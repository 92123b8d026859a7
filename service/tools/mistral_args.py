"""Mistral from tokenizer version 11 on: `[TOOL_CALLS]`, the name, `[ARGS]`, and the arguments of each call."""

from typing import Final

from .tool_format import ToolFormat

MISTRAL_ARGS: Final = ToolFormat(
    name="mistral_args",
    trigger="[TOOL_CALLS]",
    before_name="[TOOL_CALLS]",
    after_name="[ARGS]",
    after_arguments="",
    id_length=9,
)
