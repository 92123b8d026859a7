"""The values of a formula if they are few, and whether the items of an array can all differ.

Does: enumerate values, match them to items. Does not: list arrays and objects (`small_containers`), build automata
except for strings.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Final

from ...automata import REFUSED, Dfa
from ...contract.errors import GrammarError
from ..logic.atoms import (
    AtLeast,
    AtMost,
    Format,
    Integer,
    Length,
    MultipleOf,
    OneOf,
    Superset,
    ValueKind,
)
from ..logic.evaluate import holds
from ..logic.formula import Formula, Op, Pool
from ..logic.residual import Restriction
from ..read.values import FALSE, TRUE, Value
from .opaque import opaque
from .small_containers import FiniteContainers
from .string_formulas import StringAutomata, without_most
from .verbatim_formulas import is_verbatim, verbatim_string

# Larger sets of values are taken for infinite: no array exhausts them.
FEW: Final = 256


class FiniteValues:
    """The finite sets of values of one schema."""

    def __init__(
        self,
        pool: Pool,
        restriction: Restriction,
        strings: StringAutomata,
        extra_properties: bool,
    ) -> None:
        """`extra_properties`: see `Options`."""
        self._pool = pool
        self._false = pool.false
        self._restriction = restriction
        self._strings = strings
        self._known: dict[Formula, frozenset[Value] | None] = {}
        self._containers = FiniteContainers(pool, self.values, extra_properties)
        self._open: set[Formula] = set()  # formulas being listed: schemas may be recursive

    def values(self, formula: Formula) -> frozenset[Value] | None:
        """All values that satisfy a formula; None if there are more than `FEW` or they cannot be listed."""
        if formula in self._open:
            return None
        if formula not in self._known:
            self._open.add(formula)
            try:
                self._known[formula] = self._find(formula)
            finally:
                self._open.discard(formula)
        return self._known[formula]

    def _find(self, formula: Formula) -> frozenset[Value] | None:
        parts = formula.args if formula.op is Op.ALL else (formula,)
        given = [part.atom.values for part in parts if isinstance(part.atom, OneOf)]
        if given:
            least = min(given, key=len)
            return frozenset(v for v in least if holds(formula, v)) if len(least) <= FEW else None
        to, false = self._restriction.to, self._false
        containers = self._containers.possible(
            to(formula, ValueKind.ARRAY), to(formula, ValueKind.OBJECT)
        )
        if containers is None:
            return None
        found: set[Value] = {v for v in (None, TRUE, FALSE, *containers) if holds(formula, v)}
        numbers = _numbers(to(formula, ValueKind.NUMBER))
        if numbers is None:
            return None
        strings = to(formula, ValueKind.STRING)
        try:
            texts = () if strings is false else self._texts(strings)
        except GrammarError:
            return None
        if texts is None:
            return None
        found.update(texts)
        found.update(number for number in numbers if holds(formula, number))
        return frozenset(found) if len(found) <= FEW else None

    def _texts(self, formula: Formula) -> tuple[str, ...] | None:
        if is_verbatim(formula):
            return verbatim_string(self._pool, self._strings, formula).texts(FEW)
        bound = self._bound(formula)
        parts = bound.args if bound.op is Op.ALL else (bound,)
        bounds = (part.atom.most for part in parts if isinstance(part.atom, Length))
        most = min((each for each in bounds if each is not None), default=None)
        texts = texts_of(self._strings.of(without_most(self._pool, parts)), most)
        return None if texts is None else tuple(text for text in texts if holds(formula, text))

    def _bound(self, formula: Formula) -> Formula:
        """A formula that `formula` implies, without formats that no automaton decides, negated or not."""
        pool = self._pool
        for part in sorted(formula.atoms, key=lambda part: part.rank):
            if isinstance(part.atom, Format) and opaque(part.atom):
                name = part.atom.name
                having = pool.all([pool.put(formula, {part: pool.true}), pool.of(Superset(name))])
                formula = pool.any([having, pool.put(formula, {part: pool.false})])
        return formula


def _numbers(formula: Formula) -> Sequence[int | Fraction] | None:
    """A superset of the numbers that satisfy a formula; None unless it plainly lists them or has a step and bounds."""
    if formula.op is Op.FALSE:
        return ()
    if formula.op in {Op.ANY, Op.ONE}:
        options = [_numbers(part) for part in formula.args]
        listed = [found for found in options if found is not None]
        return [v for found in listed for v in found] if len(listed) == len(options) else None
    parts = formula.args if formula.op is Op.ALL else (formula,)
    atoms = [part.atom for part in parts]
    given = [atom.values for atom in atoms if isinstance(atom, OneOf)]
    if given:
        return [value for value in min(given, key=len) if isinstance(value, int | Fraction)]
    for part in parts:
        found = _numbers(part) if part.op in {Op.ANY, Op.ONE} else None
        if found is not None:
            return found
    steps = [1 for atom in atoms if isinstance(atom, Integer)]
    step = max([*steps, *(atom.step for atom in atoms if isinstance(atom, MultipleOf))], default=0)
    low = max((atom.bound for atom in atoms if isinstance(atom, AtLeast)), default=None)
    high = min((atom.bound for atom in atoms if isinstance(atom, AtMost)), default=None)
    if not step or low is None or high is None:
        return None
    first, last = ceil(Fraction(low) / step), floor(Fraction(high) / step)
    if last - first >= FEW:
        return None
    return [_whole(Fraction(k) * step) for k in range(first, last + 1)]


def _whole(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def texts_of(chars: Dfa, most: int | None = None) -> tuple[str, ...] | None:
    """The texts of an automaton over code points, of at most `most` characters; None if there are more than `FEW`."""
    found: list[str] = []
    todo = [(0, "")]
    ends = [*chars.bounds[1:].tolist(), chars.top]
    intervals = list(zip(chars.bounds.tolist(), ends, chars.classes.tolist(), strict=True))
    while todo:
        state, text = todo.pop()
        if chars.outcome[state] != REFUSED:
            found.append(text)
        following = [
            (int(chars.table[state, c]), low, high)
            for low, high, c in intervals
            if c >= 0 and chars.table[state, c] >= 0
        ]
        if most is not None:
            left = most - len(text) - 1
            following = [each for each in following if chars.distance[each[0]] <= left]
        width = sum(high - low for _, low, high in following)
        # Every open text can be completed, so each stands for at least one text.
        if len(found) + len(todo) + width > FEW or len(text) > FEW:
            return None
        todo += [
            (target, text + chr(p)) for target, low, high in following for p in range(low, high)
        ]
    return tuple(found)


def distinct(sets: Sequence[frozenset[Value] | None]) -> bool:
    """Whether each set has a value of its own (None: an infinite set); by augmenting paths (Kuhn 1955)."""
    few = [found for found in sets if found is not None]
    taken: dict[Value, int] = {}

    def augmented(at: int, tried: set[Value]) -> bool:
        for value in few[at]:
            if value not in tried:
                tried.add(value)
                if value not in taken or augmented(taken[value], tried):
                    taken[value] = at
                    return True
        return False

    return len(few) <= FEW * FEW and all(augmented(at, set()) for at in range(len(few)))
