"""Patterns as trees.

Does: the node types. Does not: parse (`parse`) or compile (`pattern`).
"""

from dataclasses import dataclass
from enum import Enum

from .charset import Charset


class Edge(Enum):
    """A place that reads nothing."""

    START = "^"
    END = "$"
    WORD = "\\b"
    NOT_WORD = "\\B"


@dataclass(frozen=True, slots=True)
class Chars:
    """One code point of a set."""

    charset: Charset


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; of none: the empty text."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Any one of two or more."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`low` to `high` times; None: any number more. Lazy and greedy are the same language."""

    part: "Node"
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Look:
    """What follows (or, `behind`, precedes) matches the part, or, `negative`, does not."""

    part: "Node"
    behind: bool
    negative: bool
    offset: int


Node = Chars | Sequence | Either | Repeat | Look | Edge
EMPTY = Sequence(())
