"""Small automata that many schemas use, made once for all of them.

Does: remember unions and intersections of scalars, and quoted texts, by the languages of their parts; only small ones,
within a bound of memory. Does not: choose the parts (`scalar_leaves`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...automata import Dfa, Spelling, intersection, literal, union_all
from ...automata.automaton_cache import SizeBoundedCache, automaton_bytes, size_bounded_cache
from ...leaves.strings import quoted

_SMALL: Final = 256  # states of all parts together
_MOST_BYTES: Final = 4 << 20  # of each kind


@dataclass(frozen=True, slots=True, eq=False)
class _Named:
    """An automaton, equal to others of the same language and outcomes."""

    dfa: Dfa

    def __hash__(self) -> int:
        return hash(self.dfa.fingerprint)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Named) and self.dfa.fingerprint == other.dfa.fingerprint


@size_bounded_cache(_MOST_BYTES, automaton_bytes)
def _joined(parts: tuple[_Named, ...]) -> Dfa:
    return union_all([part.dfa for part in parts])


@size_bounded_cache(_MOST_BYTES, automaton_bytes)
def _quoted(chars: _Named, spelling: Spelling) -> Dfa:
    return quoted(chars.dfa, spelling)


@size_bounded_cache(_MOST_BYTES, automaton_bytes)
def _common(one: _Named, other: _Named) -> Dfa:
    return intersection(one.dfa, other.dfa)


@size_bounded_cache(_MOST_BYTES, automaton_bytes)
def constant(text: bytes) -> Dfa:
    """Exactly this text."""
    return literal(text)


def joined(parts: Sequence[Dfa]) -> Dfa:
    """`union_all` of at least one automaton; remembered if small."""
    if len(parts) == 1:
        return parts[0]
    if sum(part.states for part in parts) > _SMALL:
        return union_all(parts)
    return _joined(tuple(map(_Named, parts)))


def common(one: Dfa, other: Dfa) -> Dfa:
    """`intersection`; remembered if small."""
    if one.states + other.states > _SMALL:
        return intersection(one, other)
    return _common(_Named(one), _Named(other))


def string(chars: Dfa, spelling: Spelling) -> Dfa:
    """`quoted`; remembered if small."""
    return quoted(chars, spelling) if chars.states > _SMALL else _quoted(_Named(chars), spelling)


def kept() -> tuple[SizeBoundedCache[Any, Dfa], ...]:
    """The caches of this module."""
    return _joined, _quoted, _common, constant
