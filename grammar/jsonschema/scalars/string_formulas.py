"""Formulas about strings as automata over code points.

Does: Boolean algebra over patterns, lengths, formats and constants. Does not: add quotes and escapes (`leaves`).
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Final

import numpy as np

from ... import regex
from ...automata import (
    CODE_POINTS,
    REFUSED,
    Dfa,
    combine,
    complement,
    difference,
    everything,
    intersection,
    nothing,
    union_all,
    words,
)
from ...contract.errors import Refusal, UnsupportedConstraint
from ...leaves import formats, strings
from ..logic.atoms import Format, Length, OneOf, Pattern, Possibly, Superset, Surely, Verbatim
from ..logic.formula import Atom, Formula, Op, Pool
from ..read.dialects import EXTENSION

Vectors = tuple[int, ...]
_WIDE: Final = 64  # characters of a bound on length


class StringAutomata:
    """The automata of formulas restricted to strings, over code points; each is made once."""

    def __init__(self) -> None:
        self._made: dict[Formula, Dfa] = {}
        self.anything = everything(CODE_POINTS)

    def of(self, formula: Formula) -> Dfa:
        """The strings that satisfy a formula, outcome 0.

        Raises:
            UnsupportedConstraint, InvalidConstraint: for a pattern or format.
            ConstraintTooLarge: an intermediate automaton is too large.
        """
        known = self._made.get(formula)
        if known is None:
            known = self._made[formula] = self._make(formula)
        return known

    def unsure(self, name: str) -> Dfa:
        """The strings for which no automaton decides whether they have a format."""
        return difference(formats.possible_texts(name), formats.certain_texts(name))

    def _make(self, formula: Formula) -> Dfa:
        if formula.op is Op.TRUE:
            return self.anything
        if formula.op is Op.FALSE:
            return nothing(CODE_POINTS)
        if formula.op is Op.ATOM:
            return _atom(formula.atom)
        parts = [self.of(part) for part in formula.args]
        if formula.op is Op.NOT:
            return complement(parts[0])
        if formula.op is Op.ANY:
            return union_all(parts)
        if formula.op is Op.ALL:
            order = sorted(formula.args, key=lambda f: (_is_wide(f.atom), self.of(f).states))
            return reduce(intersection, map(self.of, order))
        return exactly_one(self.anything, parts)


def classes(universe: Dfa, parts: Sequence[Dfa]) -> tuple[Dfa, Vectors]:
    """The texts of `universe`, classified: those of outcome o are in part i if bit i of `vectors[o]` is set."""
    result = universe.relabel(dict.fromkeys(universe.outcomes, 0))
    vectors: Vectors = (0,)
    for i, part in enumerate(parts):
        if part.empty:
            continue
        if part is everything(part.top):
            vectors = tuple(vector | 1 << i for vector in vectors)
            continue
        count, width = len(vectors), max(part.outcomes, default=-1) + 2
        choice = np.full((count + 1, width), REFUSED, np.int32)
        choice[1:, 0] = np.arange(count)
        choice[1:, 1:] = np.arange(count, 2 * count, dtype=np.int32)[:, None]
        result = combine(result, part, choice)
        both = (*vectors, *(vector | 1 << i for vector in vectors))
        kept = result.outcomes
        result = result.relabel({old: new for new, old in enumerate(kept)})
        vectors = tuple(both[old] for old in kept)
    return result, vectors


def exactly_one(universe: Dfa, parts: Iterable[Dfa]) -> Dfa:
    """The texts of `universe` that are in exactly one of `parts`."""
    result = universe  # outcome 0: in none so far, 1: in one
    for part in parts:
        choice = np.full((3, max(part.outcomes, default=-1) + 2), REFUSED, np.int32)
        choice[1:, 0] = (0, 1)
        choice[1, 1:] = 1
        result = combine(result, part, choice)
    return result.restrict([1]).relabel({1: 0})


def _is_wide(atom: Atom | None) -> bool:
    """Whether an atom multiplies the states of its partners, so that it should come last."""
    return isinstance(atom, Length) and max(atom.least, atom.most or 0) > _WIDE


def without_most(pool: Pool, parts: Iterable[Formula]) -> Formula:
    """A conjunction without its upper bounds on length: an automaton that counts has many states."""
    return pool.all(
        (pool.of(Length(part.atom.least)) if part.atom.least else pool.true)
        if isinstance(part.atom, Length)
        else part
        for part in parts
    )


def misplaced(atom: Verbatim) -> UnsupportedConstraint:
    """The error for a verbatim string where not every string has to be one."""
    reason = "a verbatim string cannot be an alternative to other strings, be negated, or be a property name"
    hint = "declare every alternative verbatim, or move x-intaglio to a property of its own"
    refusal = Refusal(atom.where, EXTENSION, reason, hint)
    return UnsupportedConstraint(f"{atom.where}: {reason}", (refusal,))


def _atom(atom: Atom) -> Dfa:
    if isinstance(atom, Pattern):
        return regex.search(atom.source)
    if isinstance(atom, Length):
        return strings.lengths(atom.least, atom.most)
    if isinstance(atom, Format | Superset):
        return formats.language(atom.name)
    if isinstance(atom, Surely):
        return formats.certain_texts(atom.name)
    if isinstance(atom, Possibly):
        return formats.possible_texts(atom.name)
    if isinstance(atom, Verbatim):
        raise misplaced(atom)
    assert isinstance(atom, OneOf)
    return words({value: 0 for value in atom.values if isinstance(value, str)})
