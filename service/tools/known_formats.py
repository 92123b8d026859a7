"""The choice of a wire format: by name, or by what the chat template of a model prints.

Does: list the formats. Does not: define them (`hermes` and its siblings).
"""

from typing import Final

from .extraction_calls import EXTRACTION
from .hermes import HERMES
from .llama3 import LLAMA3
from .mistral import MISTRAL
from .mistral_args import MISTRAL_ARGS
from .tool_format import ToolFormat

FORMATS: Final = {each.name: each for each in (HERMES, LLAMA3, MISTRAL, MISTRAL_ARGS, EXTRACTION)}

# Texts of templates, the most specific first.
_SIGNS: Final = (
    ("[ARGS]", MISTRAL_ARGS),
    ("[TOOL_CALLS]", MISTRAL),
    ("<tool_call>", HERMES),
    ("<|start_header_id|>", LLAMA3),
    ("{{ schema }}", EXTRACTION),
)


def format_of(template: str, name: str = "auto") -> ToolFormat:
    """The format called `name`, or with `auto` that of a chat template; Hermes for templates without tools.

    Raises:
        KeyError: there is no format of that name.
    """
    if name != "auto":
        return FORMATS[name]
    return next((found for sign, found in _SIGNS if sign in template), HERMES)


def renders_tools(template: str) -> bool:
    """Whether a chat template renders tools itself."""
    return "tools" in template
