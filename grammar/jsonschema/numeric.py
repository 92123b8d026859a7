"""Formulas about numbers as automata over the bytes of JSON numbers.

Does: Boolean algebra over bounds, multiples and constants, by value: 1.0 is 1. Does not: write other kinds of value.

Numbers of which anything is asked are written without an exponent, all others as JSON allows.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from ..automata import Dfa, difference, intersection, literal, nothing, trie, union_all
from ..leaves.numbers import NumberSpec, number
from .atoms import AtLeast, AtMost, Integer, MultipleOf, OneOf
from .formula import Atom, Formula, Op
from .texts import Vectors, classes, exactly_one

# Up to so many constants every way to write each is taken, beyond the shortest only.
FREELY_WRITTEN = 64


class Numbers:
    """The languages of formulas restricted to numbers; each is made once."""

    def __init__(self) -> None:
        self._made: dict[Formula, Dfa] = {}

    def classes(self, must: Formula, asks: Sequence[Formula]) -> tuple[Dfa, Vectors]:
        """The numbers for which `must` holds; outcome o means that the formulas of bits `vectors[o]` hold.

        Raises:
            ConstraintTooLarge: a bound or divisor has too many digits.
        """
        if must.op is Op.TRUE and all(ask.op in {Op.TRUE, Op.FALSE} for ask in asks):
            bits = sum(1 << i for i, ask in enumerate(asks) if ask.op is Op.TRUE)
            return number(NumberSpec(exponents=True)), (bits,)
        return classes(self.of(must), [self.of(ask) for ask in asks])

    def of(self, formula: Formula) -> Dfa:
        """The numbers that fulfil a formula, outcome 0."""
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
            return _atom(formula.atom)
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


def _atom(atom: Atom) -> Dfa:
    if isinstance(atom, Integer):
        return number(NumberSpec(integer=True, point_zero=not atom.plainly))
    if isinstance(atom, AtLeast):
        bound = decimal(atom.bound)
        if atom.strictly:
            return number(NumberSpec(exclusive_minimum=bound))
        return number(NumberSpec(minimum=bound))
    if isinstance(atom, AtMost):
        bound = decimal(atom.bound)
        if atom.strictly:
            return number(NumberSpec(exclusive_maximum=bound))
        return number(NumberSpec(maximum=bound))
    if isinstance(atom, MultipleOf):
        return number(NumberSpec(multiple_of=(decimal(atom.step),)))
    assert isinstance(atom, OneOf)
    values = [decimal(value) for value in atom.values if isinstance(value, int | Fraction)]
    if len(values) > FREELY_WRITTEN:
        return trie({format(value, "f").encode(): 0 for value in values})
    return union_all([_equal(value) for value in values])


def _equal(value: Decimal) -> Dfa:
    if value == 0:
        return number(NumberSpec(minimum=value, maximum=value))
    text = format(value, "f")
    tail = NumberSpec(minimum=value, maximum=value)
    return number(tail) if len(text) < 400 else literal(text.encode())


def decimal(value: int | Fraction) -> Decimal:
    """The number as the decimal it came from."""
    numerator, denominator, places = value.numerator, value.denominator, 0
    while denominator != 1:
        common = 10 if denominator % 10 == 0 else 5 if denominator % 2 else 2
        if denominator % common:
            raise AssertionError("a JSON number is a finite decimal")
        numerator, denominator, places = (
            numerator * (10 // common) if common != 10 else numerator,
            denominator // common,
            places + 1,
        )
    digits = tuple(map(int, str(abs(numerator))))
    return Decimal((int(numerator < 0), digits, -places))
