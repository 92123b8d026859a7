"""The marks around a model's reasoning, found in its chat template.

Does: find the texts with which reasoning begins and ends, and continue a rendered prompt with reasoning or without it.
Does not: render prompts (`chat`), or generate.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

SWITCHES: Final = ("enable_thinking", "thinking")
"""Template variables that turn reasoning on and off."""


@dataclass(frozen=True, slots=True)
class ReasoningMarks:
    """The texts around reasoning.

    `lead` comes between `begin` and the reasoning, `after` between `end` and the answer; `alone` opens an answer
    without reasoning. `sign` occurs in the chat templates of models with these marks. `always`: they reason unless the
    request says otherwise; other models do so if their template reads a switch.
    """

    sign: str
    begin: str
    end: str
    lead: str = "\n"
    after: str = ""
    alone: str = ""
    always: bool = False


_KNOWN: Final = (
    ReasoningMarks("</think>", "<think>", "</think>", after="\n\n"),
    ReasoningMarks("[/THINK]", "[THINK]", "[/THINK]"),
    # gpt-oss: messages of an assistant have channels, one for reasoning and one for the answer.
    ReasoningMarks(
        sign="<|channel|>analysis<|message|>",
        begin="<|channel|>analysis<|message|>",
        end="<|end|>",
        lead="",
        after="<|start|>assistant<|channel|>final<|message|>",
        alone="<|channel|>final<|message|>",
        always=True,
    ),
)


@dataclass(frozen=True, slots=True)
class ReasoningStart:
    """The text that follows a rendered prompt. `reasons`: it leaves reasoning open, which the answer follows."""

    text: str
    reasons: bool


def marks_of(template: str) -> ReasoningMarks | None:
    """The marks that a chat template prints; None for a model that does not reason."""
    return next((marks for marks in _KNOWN if marks.sign in template), None)


def switch_of(variables: Mapping[str, Any]) -> bool | None:
    """The setting of the template variables for reasoning; None if there is none."""
    return next((bool(variables[name]) for name in SWITCHES if name in variables), None)


def opening(
    marks: ReasoningMarks, rendered: str, switch: bool | None, template: str
) -> ReasoningStart:
    """How a rendered prompt goes on. A template that leaves reasoning open overrules `switch`."""
    end = rendered.rstrip()
    if end.endswith(marks.begin):
        return ReasoningStart("", reasons=True)
    by_default = marks.always or any(name in template for name in SWITCHES)
    reasons = by_default if switch is None else switch
    if end.endswith(marks.end) or not reasons:
        return ReasoningStart(marks.alone, reasons=False)
    return ReasoningStart(marks.begin + marks.lead, reasons=True)


def closing(marks: ReasoningMarks, rendered: str) -> str:
    """The text after a rendered prompt that lets an answer begin without reasoning; it ends what is open."""
    end = rendered.rstrip()
    if end.endswith(marks.begin):
        return marks.lead + marks.end + marks.after
    return "" if end.endswith(marks.end) else marks.alone
