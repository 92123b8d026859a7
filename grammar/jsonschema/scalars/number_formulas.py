"""Formulas about numbers as automata over the bytes of JSON numbers.

Does: Boolean algebra over bounds, multiples and constants, by value: 1.0 is 1. Does not: handle other kinds of value.

Constrained numbers are written without an exponent, all others as JSON allows. With the option `exponents`, exponents
are admitted if the formula is a conjunction: then a spelling that cannot be decided is merely left out. Where numbers
are written plainly, 1.0 for a whole number and all but one spelling of a constant are left out too: models tend to
continue such spellings without end.

Models also tend to write endless digits, which JSON numbers may have. Short numbers have no more digits than a 64-bit
integer or a double can represent, or than the bounds and constants of the schema have.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, reduce
from math import gcd

from ...automata import (
    Dfa,
    Spelling,
    difference,
    encode,
    intersection,
    literal,
    nothing,
    trie,
    union_all,
)
from ...leaves.numbers import NumberSpec, number
from ...regex import whole
from ..logic.atoms import AtLeast, AtMost, Integer, MultipleOf, OneOf, Plain
from ..logic.formula import Atom, Formula, Op
from .common_automata import common
from .string_formulas import Vectors, classes, exactly_one

# Up to this many constants, all spellings of each are admitted; beyond, only the shortest.
FREELY_WRITTEN = 64
MOST_WHOLE = 20  # digits before the point of short numbers: as in the largest 64-bit integer
MOST_SIGNIFICANT = 17  # digits with a point: enough to identify a double
_MOST_SHORT_STATES = 60_000  # product of an automaton and that of short numbers
_MULTIPLES = 9  # digits of a multiple beyond those of its step
_PLAIN = r"0|-?(?:[1-9]\d*(?:\.\d*[1-9])?|0\.\d*[1-9])"


class NumberAutomata:
    """The automata of formulas restricted to numbers; each is made once."""

    def __init__(self, exponents: bool, plainly: bool = False, short: bool = False) -> None:
        """`exponents`: admit them where they can be decided. `plainly`: one spelling of whole numbers and constants.

        `short`: bound the number of digits.
        """
        self.form = exponents, plainly, short
        self._exponents = exponents
        self._plainly = plainly
        self._short = short
        self._made: dict[Formula, Dfa] = {}

    def classes(self, must: Formula, queries: Sequence[Formula]) -> tuple[Dfa, Vectors]:
        """The numbers that satisfy `must`; outcome o means that the formulas of bits `vectors[o]` hold.

        Raises:
            ConstraintTooLarge: a bound or divisor has too many digits.
        """
        dfa, vectors = self._classes(must, queries)
        return (_shortened(dfa, (must, *queries)) if self._short else dfa), vectors

    def _classes(self, must: Formula, queries: Sequence[Formula]) -> tuple[Dfa, Vectors]:
        if must.op is Op.TRUE and all(ask.op in {Op.TRUE, Op.FALSE} for ask in queries):
            bits = sum(1 << i for i, ask in enumerate(queries) if ask.op is Op.TRUE)
            return number(NumberSpec(exponents=True)), (bits,)
        parts = must.args if must.op is Op.ALL else (must,)
        if self._exponents and not queries and all(part.op is Op.ATOM for part in parts):
            wide = [_atom(part.atom, exponents=True) for part in parts]
            return reduce(intersection, wide), (0,)
        able = self.of(must)
        if self._plainly and any(_has_one_spelling(part.atom) for part in parts):
            able = common(able, _plain())
        return classes(able, [self.of(ask) for ask in queries])

    def of(self, formula: Formula) -> Dfa:
        """The numbers that satisfy a formula, outcome 0."""
        known = self._made.get(formula)
        if known is None:
            known = self._made[formula] = self._make(formula)
        return known

    def _make(self, formula: Formula) -> Dfa:
        anything = number(NumberSpec())
        if formula.op is Op.TRUE:
            return anything
        if formula.op is Op.FALSE:
            return nothing()
        if formula.op is Op.ATOM:
            return _atom(formula.atom, exponents=False)
        parts = [self.of(part) for part in formula.args]
        if formula.op is Op.NOT:
            return difference(anything, parts[0])
        if formula.op is Op.ANY:
            return union_all(parts)
        if formula.op is Op.ALL:
            result = parts[0]
            for part in parts[1:]:
                result = intersection(result, part)
            return result
        return exactly_one(anything, parts)


def _shortened(dfa: Dfa, formulas: Sequence[Formula]) -> Dfa:
    """The numbers with few digits, provided that some remain for each outcome."""
    values = [
        value for formula in formulas for part in formula.atoms for value in _values(part.atom)
    ]
    exponents = [value.as_tuple().exponent for value in values]
    behind = max([0, *(-e for e in exponents if isinstance(e, int))])
    before = max([MOST_WHOLE, *(value.adjusted() + 1 for value in values)])
    short = _short(before, behind)
    if dfa.states * short.states > _MOST_SHORT_STATES:
        return dfa
    found = common(dfa, short)
    return found if set(found.outcomes) == set(dfa.outcomes) else dfa


def _values(atom: Atom | None) -> list[Decimal]:
    """The numbers in an atom."""
    if isinstance(atom, AtLeast | AtMost):
        return [decimal(atom.bound)]
    if isinstance(atom, MultipleOf):
        step = decimal(atom.step)
        return [step, step.scaleb(_MULTIPLES)]
    if isinstance(atom, OneOf):
        return [decimal(value) for value in atom.values if isinstance(value, int | Fraction)]
    return []


@cache
def _short(before: int, behind: int) -> Dfa:
    """Whole numbers of at most `before` digits, and others with the digits of a double; three in an exponent.

    After the point, the `behind` digits of the numbers in the schema are always possible.
    """
    left = {digits: max(MOST_SIGNIFICANT - digits, behind) for digits in range(1, before + 1)}
    forms = (
        rf"0(?:\.\d{{1,{max(MOST_SIGNIFICANT, behind)}}})?",
        rf"[1-9]\d{{0,{before - 1}}}",
        *(rf"[1-9]\d{{{digits - 1}}}\.\d{{1,{most}}}" for digits, most in left.items() if most),
    )
    pattern = rf"-?(?:{'|'.join(forms)})(?:[eE][-+]?\d{{1,3}})?"
    return encode(whole(pattern), Spelling.UTF8)


def _atom(atom: Atom, exponents: bool) -> Dfa:
    spec = NumberSpec(exponents=exponents)
    if isinstance(atom, Integer):
        point = not atom.plainly
        return number(NumberSpec(integer=True, point_zero=point, exponents=exponents and point))
    if isinstance(atom, AtLeast):
        bound = decimal(atom.bound)
        if atom.strictly:
            return number(replace(spec, exclusive_minimum=bound))
        return number(replace(spec, minimum=bound))
    if isinstance(atom, AtMost):
        bound = decimal(atom.bound)
        if atom.strictly:
            return number(replace(spec, exclusive_maximum=bound))
        return number(replace(spec, maximum=bound))
    if isinstance(atom, MultipleOf):
        return number(NumberSpec(multiple_of=(decimal(atom.step),)))
    if isinstance(atom, Plain):
        return _plain()
    assert isinstance(atom, OneOf)
    values = [decimal(value) for value in atom.values if isinstance(value, int | Fraction)]
    if len(values) > FREELY_WRITTEN:
        return trie({format(value, "f").encode(): 0 for value in values})
    return union_all([_equal(value, spec) for value in values])


def _has_one_spelling(atom: Atom | None) -> bool:
    """Whether every number that satisfies the atom is whole or a constant, so that `_plain` has a spelling of it."""
    if isinstance(atom, MultipleOf):
        return Fraction(atom.step).denominator == 1
    return isinstance(atom, Integer | OneOf)


@cache
def _plain() -> Dfa:
    """Every decimal in its one spelling without needless zeros or signs."""
    return encode(whole(_PLAIN), Spelling.UTF8)


def _equal(value: Decimal, spec: NumberSpec) -> Dfa:
    if value != 0 and len(text := format(value, "f")) >= 400:
        return literal(text.encode())
    return number(replace(spec, minimum=value, maximum=value))


def decimal(value: int | Fraction) -> Decimal:
    """A number from JSON text as the decimal it was written as."""
    numerator, denominator, places = value.numerator, value.denominator, 0
    while denominator != 1:
        shared = gcd(denominator, 10)
        if shared == 1:
            raise AssertionError("a JSON number is a finite decimal")
        numerator, denominator = numerator * (10 // shared), denominator // shared
        places += 1
    digits = tuple(map(int, str(abs(numerator))))
    return Decimal((int(numerator < 0), digits, -places))
