"""Languages of JSON numbers: bounds of any size, multiples, integers, exponents.

Does: exact decimal comparison and divisibility, as automata over digits. Bounds are `Decimal` values read from the
schema's text, so 0.1 means one tenth. Does not: read schemas.

All texts without an exponent are covered. `exponents` adds texts in normalised form (one digit other than 0 before the
point), for which comparison is regular too, and zeros; without bounds it adds all other texts up to the range of a
double. With `multiple_of` there are no exponents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np

from ..automata import (
    DEFAULT,
    AutomatonLimits,
    Dfa,
    concatenation,
    difference,
    encode,
    intersection,
    literal,
    union,
    union_all,
)
from ..automata.automaton_cache import automaton_bytes, size_bounded_cache
from ..automata.encode import Spelling
from ..contract.errors import ConstraintTooLarge
from ..regex import whole
from .divisible import POINT, SYMBOLS, digit_table, divisible, few_states, fewest_states

MOST_DIGITS: Final = 2000  # of a bound or divisor, written without an exponent
MOST_RESIDUES: Final = 1 << 17
MOST_MODULUS: Final = 1 << 21  # of integer divisors with a small automaton (`few_states`)

LESS: Final = 0
EQUAL: Final = 1
GREATER: Final = 2

# Numbers with exponents in the range of a double: below 1.7e308 in normalised form, else below 1e300.
_FINITE: Final = (
    r"-?(?:[1-9](?:\.\d+)?[eE](?:\+?0*(?:\d{1,2}|[12]\d\d|30[0-7])|-0*\d{1,3})|1(?:\.[0-6]\d*)?[eE]\+?0*308"
    r"|(?:0|[1-9]\d{0,199})(?:\.\d+)?[eE][-+]?0*\d{1,2})"
)
_ZEROS: Final = r"-?0(?:\.0+)?[eE][-+]?\d+"  # with exponents

Bound = tuple[Decimal, tuple[int, ...]]
"""A number and the relations (`LESS`, `EQUAL`, `GREATER`) that values may have to it."""


@dataclass(frozen=True, slots=True)
class NumberSpec:
    """The constraints on a number. `point_zero`: an integer may be written with a fraction of zeros, as in 1.0."""

    integer: bool = False
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    exclusive_minimum: Decimal | None = None
    exclusive_maximum: Decimal | None = None
    multiple_of: tuple[Decimal, ...] = ()
    exponents: bool = False
    point_zero: bool = False


@size_bounded_cache(8 << 20, automaton_bytes)
def number(spec: NumberSpec, limits: AutomatonLimits = DEFAULT) -> Dfa:
    """The texts of all numbers that meet the constraints; outcome 0. Empty if there are none.

    Raises:
        ConstraintTooLarge: a bound of more than `MOST_DIGITS` digits, or a divisor with too many residues.
    """
    fraction = r"(?:\.\d+)?"
    if spec.integer:
        fraction = r"(?:\.0+)?" if spec.point_zero else ""
    result = _ascii(r"-?(?:0|[1-9]\d*)" + fraction)
    for divisor in spec.multiple_of:
        result = intersection(result, multiples(divisor, limits), limits)
    bounded = [
        (spec.minimum, (EQUAL, GREATER)),
        (spec.exclusive_minimum, (GREATER,)),
        (spec.maximum, (EQUAL, LESS)),
        (spec.exclusive_maximum, (LESS,)),
    ]
    bounds = [(bound, relations) for bound, relations in bounded if bound is not None]
    for bound, relations in bounds:
        result = intersection(result, compare(bound).restrict(relations), limits)
    if not spec.exponents or spec.multiple_of:
        return result
    if not bounds and not spec.integer:
        return union(result, _ascii(_FINITE), limits)
    normalised = _normalised(spec.integer, bounds, limits)
    return union(result, intersection(normalised, _ascii(_FINITE), limits), limits)


def _ascii(pattern: str) -> Dfa:
    return encode(whole(pattern), Spelling.UTF8)


def _signed(plain: Dfa, negative: Dfa) -> Dfa:
    """Texts of `plain`, and texts of `negative` after a minus sign; both begin with a digit."""
    blocks = []
    for dfa, base in ((plain, 1), (negative, 1 + plain.states)):
        symbols = dfa.class_of[list(SYMBOLS)]
        block = np.append(dfa.table, np.full((dfa.states, 1), -1, np.int32), axis=1)[:, symbols]
        blocks.append(np.where(block >= 0, block + base, -1))
    start = blocks[0][:1].copy()
    start[0, -1] = 1 + plain.states
    outcome = np.concatenate((np.full(1, -1, np.int32), plain.outcome, negative.outcome))
    return digit_table(np.concatenate((start, *blocks)), outcome)


def _digits(value: Decimal) -> tuple[str, str]:
    """(digits of |value| before the point, "0" if there are none; digits after it), without redundant zeros.

    Raises:
        ConstraintTooLarge: more than `MOST_DIGITS`.
    """
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or len(digits) + abs(exponent) > MOST_DIGITS:
        raise ConstraintTooLarge(
            f"a number of more than {MOST_DIGITS} digits in a bound or multipleOf"
        )
    text = "".join(map(str, digits))
    whole_part = text + "0" * exponent if exponent >= 0 else text[:exponent]
    fraction = "" if exponent >= 0 else text[exponent:].rjust(-exponent, "0")
    return whole_part.lstrip("0") or "0", fraction.rstrip("0")


def _relation(digit: int, to: int) -> int:
    """The relation of a digit to another."""
    return LESS if digit < to else EQUAL if digit == to else GREATER


def _compare_unsigned(value: Decimal) -> Dfa:
    """Unsigned texts without an exponent; the outcome is the relation of their value to |value|.

    States: the start; before the point, the number of digits read with the relation so far, or more digits than the
    value has; after the point, the number of equal places read, or any number of places once the relation is decided.
    """
    before, after = [list(map(int, digits)) for digits in _digits(value)]
    # The start's row. Columns are those of `SYMBOLS`, without the minus sign.
    rows: list[list[int]] = [[-1] * 11]
    ends = [-1]

    def state(outcome: int) -> int:
        rows.append([-1] * 11)
        ends.append(outcome)
        return len(rows) - 1

    # By relation: (right after the point, where a digit must follow; after one or more digits).
    decided = [(state(-1), state(relation)) for relation in (LESS, EQUAL, GREATER)]
    for relation in (LESS, GREATER):
        for s in decided[relation]:
            rows[s][:10] = [decided[relation][1]] * 10
    places = max(len(after), 1)
    equal = [state(-1 if k == 0 else EQUAL if k >= len(after) else LESS) for k in range(places + 1)]
    for k, s in enumerate(equal):
        following = decided[LESS][1], equal[min(k + 1, places)], decided[GREATER][1]
        digit = after[k] if k < len(after) else 0
        rows[s][:10] = [following[_relation(d, digit)] for d in range(10)]
    longer = state(GREATER)
    rows[longer] = [longer] * 10 + [decided[GREATER][0]]
    read = []  # [digits read - 1][relation so far]
    for k in range(len(before)):
        last = k + 1 == len(before)
        ending = (LESS, EQUAL, GREATER) if last else (LESS, LESS, LESS)
        # If the value has a fraction, an equal integer part alone is less.
        read.append([state(LESS if e == EQUAL and after else e) for e in ending])
        for s, e in zip(read[-1], ending, strict=True):
            rows[s][POINT] = equal[0] if e == EQUAL else decided[e][0]
    for k, states in enumerate(read):
        for relation, s in enumerate(states):
            for d in range(10):
                if k + 1 == len(before):
                    rows[s][d] = longer
                else:
                    now = _relation(d, before[k + 1]) if relation == EQUAL else relation
                    rows[s][d] = read[k + 1][now]
    rows[0][:10] = [read[0][_relation(d, before[0])] for d in range(10)]
    # A leading zero takes no further digit.
    zero = state(ends[rows[0][0]])
    rows[zero][POINT] = rows[rows[0][0]][POINT]
    rows[0][0] = zero
    return digit_table(rows, ends)


_FLIP: Final = {LESS: GREATER, EQUAL: EQUAL, GREATER: LESS}


@size_bounded_cache(4 << 20, automaton_bytes)
def compare(value: Decimal) -> Dfa:
    """Signed texts without an exponent; the outcome is the relation of their value to `value`."""
    zero = _compare_unsigned(Decimal(0))
    if value >= 0:
        plain = _compare_unsigned(value)
        negative = zero.relabel({EQUAL: EQUAL if value == 0 else LESS, GREATER: LESS})
    else:
        plain = zero.relabel({EQUAL: GREATER, GREATER: GREATER})
        negative = _compare_unsigned(value).relabel(_FLIP)
    return _signed(plain, negative)


@size_bounded_cache(4 << 20, automaton_bytes)
def multiples(divisor: Decimal, limits: AutomatonLimits = DEFAULT) -> Dfa:
    """Signed texts without an exponent that are integer multiples of `divisor` (above 0); outcome 0.

    Raises:
        ConstraintTooLarge: the divisor, without its final zeros, needs more states than `MOST_RESIDUES`.
    """
    before, after = _digits(divisor)
    places, zeros = len(after), 0
    modulus = int(before + after)
    while places == 0 and modulus % 10 == 0:
        modulus, zeros = modulus // 10, zeros + 1
    few = fewest_states(modulus)[0] if places == 0 and modulus <= MOST_MODULUS else modulus
    if few < modulus and 2 * few <= MOST_RESIDUES:
        unsigned = few_states(modulus)
    elif modulus * (places + 2) <= MOST_RESIDUES:
        unsigned = divisible(modulus, places)
    else:
        raise ConstraintTooLarge(
            "multipleOf whose divisor has too many digits before its last zeros"
        )
    if zeros:
        unsigned = _with_zeros(unsigned, zeros, limits)
    return _signed(unsigned, unsigned)


def _with_zeros(quotients: Dfa, zeros: int, limits: AutomatonLimits) -> Dfa:
    """The integers of `quotients` times ten to the power `zeros`; a fraction of zeros may follow."""
    whole_part = intersection(quotients, difference(_ascii(r"[1-9]\d*"), literal(b"0")), limits)
    shifted = concatenation([whole_part, literal(b"0" * zeros)], limits)
    return concatenation([union(shifted, literal(b"0"), limits), _ascii(r"(?:\.0+)?")], limits)


def _normalised(integer: bool, bounds: Sequence[Bound], limits: AutomatonLimits) -> Dfa:
    """Texts such as -1.5e3 within the bounds; integers have one digit and an exponent of 0 or more."""
    mantissa = r"[1-9]" if integer else r"[1-9](?:\.\d+)?"
    result = _ascii(f"-?{mantissa}[eE]" + (r"\+?\d+" if integer else r"[-+]?\d+"))
    if not integer and _takes_zero(bounds):
        result = union(result, _ascii(_ZEROS), limits)
    for bound, relations in bounds:
        result = intersection(result, compare_normalised(bound, limits).restrict(relations), limits)
    return result


def _takes_zero(bounds: Sequence[Bound]) -> bool:
    relation = {-1: LESS, 0: EQUAL, 1: GREATER}
    return all(relation[int(Decimal(0).compare(bound))] in relations for bound, relations in bounds)


@size_bounded_cache(2 << 20, automaton_bytes)
def compare_normalised(value: Decimal, limits: AutomatonLimits) -> Dfa:
    """Signed texts in normalised form, and zeros with any exponent; the outcome is the relation to `value`."""
    zeros = _ascii(_ZEROS).relabel({0: GREATER if value < 0 else EQUAL if value == 0 else LESS})
    free = _ascii(r"[1-9](?:\.\d+)?[eE][-+]?\d+")
    less, greater = free.relabel({0: LESS}), free.relabel({0: GREATER})
    if value == 0:
        return union(_with_sign(greater, less, limits), zeros, limits)
    exponent = value.adjusted()
    digits = value.as_tuple().digits
    scaled = Decimal((0, digits, 1 - len(digits)))
    mantissas = intersection(_compare_unsigned(scaled), _ascii(r"[1-9](?:\.\d+)?"), limits)
    sized = compare(Decimal(exponent))
    mark = _ascii("[eE]")
    parts = []
    for size in sized.outcomes:
        written = _exponents(sized.restrict([size]), limits)
        for relation in mantissas.outcomes:
            texts = concatenation([mantissas.restrict([relation]), mark, written], limits)
            parts.append(texts.relabel({0: relation if size == EQUAL else size}))
    unsigned = union_all(parts, limits)
    if value > 0:
        return union(_with_sign(unsigned, less, limits), zeros, limits)
    return union(_with_sign(greater, unsigned.relabel(_FLIP), limits), zeros, limits)


def _with_sign(plain: Dfa, negative: Dfa, limits: AutomatonLimits) -> Dfa:
    """Like `_signed`, for arbitrary texts; slower."""
    after_minus = [
        concatenation([literal(b"-"), negative.restrict([o])], limits).relabel({0: o})
        for o in negative.outcomes
    ]
    return union_all([plain, *after_minus], limits)


def _exponents(integers: Dfa, limits: AutomatonLimits) -> Dfa:
    """The integers as exponents are written: with an optional plus sign and leading zeros."""
    plain = intersection(integers, _ascii(r"0|[1-9]\d*"), limits)
    minus = intersection(integers, _ascii(r"-(?:0|[1-9]\d*)"), limits)
    zeros = _ascii("0*")
    positive = concatenation([_ascii(r"\+?"), zeros, plain], limits)
    stripped = _without_minus(minus)
    return union(positive, concatenation([literal(b"-"), zeros, stripped], limits), limits)


def _without_minus(negative: Dfa) -> Dfa:
    """The texts that may follow the minus sign."""
    state = negative.step(0, ord("-"))
    return negative if state < 0 else negative.residual(state)
