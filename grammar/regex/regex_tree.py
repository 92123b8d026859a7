"""Syntax trees of patterns.

Does: define the node types and the traversal. Does not: parse (`parse`) or compile (`pattern`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from .charset import Charset


class Edge(Enum):
    """An assertion about the position: start, end, or word boundary."""

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
    """A concatenation; without parts, the empty text."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """A choice between two or more nodes."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """`low` to `high` times (None: unbounded). Lazy and greedy quantifiers denote the same language."""

    part: "Node"
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Look:
    """A look-ahead, or look-behind if `behind`: the text matches `part`, or does not if `negative`.

    Equal nodes at different offsets compare equal.
    """

    part: "Node"
    behind: bool
    negative: bool
    offset: int = field(compare=False)


Node = Chars | Concat | Alternation | Repetition | Look | Edge
EMPTY = Concat(())


def walk(tree: Node, *, into_looks: bool = True) -> Iterator[Node]:
    """A node and all its descendants; with `into_looks`, including those inside look-arounds."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Concat | Alternation):
            stack.extend(node.parts)
        elif isinstance(node, Repetition) or (into_looks and isinstance(node, Look)):
            stack.append(node.part)
