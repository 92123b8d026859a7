"""Syntax trees of structural tags: fixed text, free text, constrained contents, and their combinations.

Does: define the node types. Does not: read sources (`tag_source`) or build rules (`tag_rules`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..contract.constraint import Whitespace

ContentKind = Literal["json_schema", "regex", "grammar", "lark"]


@dataclass(frozen=True, slots=True)
class FixedText:
    """Exactly this text."""

    text: str


@dataclass(frozen=True, slots=True)
class FreeText:
    """Any text in which none of the strings `without` occurs.

    With `exits`, pairs of a string and a part, the text goes on up to the first occurrence of one of these strings,
    which it includes; the part of that string follows.
    """

    without: tuple[str, ...] = ()
    exits: tuple[tuple[str, "Part"], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """A text under a constraint of its own.

    `value`: a JSON Schema as `values.read` returns it, or the source of a pattern or grammar. `where`: JSON Pointer to
    `value` in the source of the structural tag. `whitespace`: that of a JSON Schema; None: that of the constraint.
    """

    kind: ContentKind
    value: object
    where: str
    whitespace: Whitespace | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """The parts one after another."""

    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the parts."""

    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Times:
    """The part `low` to `high` times (None: unbounded)."""

    part: "Part"
    low: int
    high: int | None


Part = FixedText | FreeText | Content | Series | Choice | Times


def contents(part: Part) -> Iterator[Content]:
    """All contents of a tree, in order."""
    match part:
        case Content():
            yield part
        case Series(parts) | Choice(parts):
            for each in parts:
                yield from contents(each)
        case Times(inner, _, _):
            yield from contents(inner)
        case FreeText(_, exits):
            for _, after in exits:
                yield from contents(after)
