"""Grammars as trees.

Does: the node types, and a grammar as named trees. Does not: read text (`ebnf`, `lark`) or judge it (`trim`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..automata import Dfa
from ..regex import regex_tree as rx


@dataclass(frozen=True, slots=True)
class Text:
    """What a pattern without look-around and edges matches."""

    tree: rx.Node


@dataclass(frozen=True, slots=True)
class Fixed:
    """The texts of an automaton over code points."""

    dfa: Dfa


@dataclass(frozen=True, slots=True)
class Ref:
    """Another rule, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; of none: the empty text."""

    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Any one of them."""

    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`low` to `high` times; None: any number more."""

    part: "Part"
    low: int
    high: int | None


Part = Text | Fixed | Ref | Sequence | Either | Repeat
EMPTY = Sequence(())


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules by name. Those in `kept` stay rules of their own even if they could be flattened into their callers."""

    rules: Mapping[str, Part]
    start: str
    kept: frozenset[str] = field(default_factory=frozenset)


def sequence(parts: list[Part]) -> Part:
    """One after the other, without needless nodes."""
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def either(parts: list[Part]) -> Part:
    """Any one, without needless nodes."""
    return parts[0] if len(parts) == 1 else Either(tuple(parts))


def literal(text: str) -> Text:
    """Exactly this text."""
    return Text(rx.Concat(tuple(rx.Chars(((ord(c), ord(c)),)) for c in text)))


def children(part: Part) -> tuple[Part, ...]:
    """The parts right below a part."""
    match part:
        case Sequence(parts) | Either(parts):
            return parts
        case Repeat(inner, _, _):
            return (inner,)
        case _:
            return ()


def walk(part: Part) -> Iterator[Part]:
    """A part and all below it."""
    stack = [part]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def refs(part: Part) -> Iterator[str]:
    """The names that a part speaks of, in order."""
    return (node.name for node in walk(part) if isinstance(node, Ref))
