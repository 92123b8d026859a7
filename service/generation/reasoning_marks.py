"""The marks around a model's reasoning, found in its chat template.

Does: find the texts with which reasoning begins and ends, and whether a rendered prompt leaves it open. Does not:
generate (`reasoned_choice`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_SWITCHES: Final = ("enable_thinking", "thinking")


@dataclass(frozen=True, slots=True)
class ReasoningMarks:
    """The texts around reasoning. `after` comes between its end and the answer."""

    begin: str
    end: str
    after: str


_KNOWN: Final = (
    ReasoningMarks("<think>", "</think>", "\n\n"),
    ReasoningMarks("[THINK]", "[/THINK]", ""),
)


def marks_of(template: str) -> ReasoningMarks | None:
    """The marks that a chat template prints; None for a model that does not reason."""
    return next((marks for marks in _KNOWN if marks.end in template), None)


def switch_of(variables: Mapping[str, Any]) -> bool | None:
    """The setting of the template variables for reasoning; None if there is none."""
    return next((bool(variables[name]) for name in _SWITCHES if name in variables), None)


def opening(marks: ReasoningMarks, rendered: str, switch: bool | None, template: str) -> str | None:
    """The text that opens reasoning after a rendered prompt: empty if it is open; None if the model must not reason.

    Without a `switch` it depends on the template: one that asks a variable about reasoning lets the model reason unless
    it is told otherwise.
    """
    end = rendered.rstrip()
    if end.endswith(marks.begin):
        return ""
    if end.endswith(marks.end) or switch is False:
        return None
    asked = any(name in template for name in _SWITCHES)
    return f"{marks.begin}\n" if switch or asked else None
