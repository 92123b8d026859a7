"""Patterns as trees.

Does: the node types, and a walk of a tree. Does not: parse (`parse`) or compile (`pattern`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
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
class Concat:
    """One after the other; of none: the empty text."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """Any one of two or more."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """`low` to `high` times; None: any number more. Lazy and greedy are the same language."""

    part: "Node"
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Look:
    """What follows (or, `behind`, precedes) matches the part, or, `negative`, does not. Wherever it stands: equal."""

    part: "Node"
    behind: bool
    negative: bool
    offset: int = field(compare=False)


Node = Chars | Concat | Alternation | Repetition | Look | Edge
EMPTY = Concat(())


def walk(tree: Node, *, into_looks: bool = True) -> Iterator[Node]:
    """A node and all below it; `into_looks`: also what stands inside look-around."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Concat | Alternation):
            stack.extend(node.parts)
        elif isinstance(node, Repetition) or (into_looks and isinstance(node, Look)):
            stack.append(node.part)
