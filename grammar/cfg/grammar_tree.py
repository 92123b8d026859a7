"""Syntax trees of grammars.

Does: define the node types, and a grammar as named trees. Does not: parse text (`ebnf`, `lark`) or analyse grammars
(`trim`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..automata import Dfa
from ..regex import regex_tree as rx


@dataclass(frozen=True, slots=True)
class Text:
    """The texts of a pattern without look-around and anchors."""

    tree: rx.Node


@dataclass(frozen=True, slots=True)
class Fixed:
    """The texts of an automaton over code points."""

    dfa: Dfa


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to a rule by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """A concatenation; without parts, the empty text."""

    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Either:
    """A choice between parts."""

    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`low` to `high` times (None: unbounded)."""

    part: "Part"
    low: int
    high: int | None


Part = Text | Fixed | Ref | Sequence | Either | Repeat
EMPTY = Sequence(())


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules by name. Rules in `kept` are never flattened into their callers."""

    rules: Mapping[str, Part]
    start: str
    kept: frozenset[str] = field(default_factory=frozenset)


def sequence(parts: list[Part]) -> Part:
    """A concatenation, or the part itself if it is the only one."""
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def either(parts: list[Part]) -> Part:
    """A choice, or the part itself if it is the only one."""
    return parts[0] if len(parts) == 1 else Either(tuple(parts))


def literal(text: str) -> Text:
    """Exactly this text."""
    return Text(rx.Concat(tuple(rx.Chars(((ord(c), ord(c)),)) for c in text)))


def children(part: Part) -> tuple[Part, ...]:
    """The direct children of a part."""
    match part:
        case Sequence(parts) | Either(parts):
            return parts
        case Repeat(inner, _, _):
            return (inner,)
        case _:
            return ()


def walk(part: Part) -> Iterator[Part]:
    """A part and all its descendants."""
    stack = [part]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def refs(part: Part) -> Iterator[str]:
    """The rule names that a part refers to, in order."""
    return (node.name for node in walk(part) if isinstance(node, Ref))
