"""Numbers between bounds, as patterns over their digits.

Does: say which decimal numerals are integers or numbers within bounds, or multiples of an integer. Does not: write
exponents where there are bounds, nor `1.0` for an integer.

Every numeral of a number denotes a finite double: whole parts have at most 64 digits and exponents at most 239. Where
there are bounds, numerals near them keep to 15 significant digits, so that reading them as doubles changes nothing.
"""

from fractions import Fraction

from .chardfa import Arcs, CharDfa, determinise
from .chars import union
from .ecma import EMPTY, Chars, Choice, Node, Repeat, Sequence

MOST_DIGITS = 64
_SIGNIFICANT = 15
_MOST_LISTED = 2_000
_MOST_RESIDUES = 500
_NOTHING = Chars(())

Bound = tuple[Fraction, bool]  # the value, and whether it is itself left out


def literal(text: str) -> Node:
    """The pattern of one text."""
    return Sequence(tuple(Chars(((ord(char), ord(char)),)) for char in text))


def _digits(low: int, high: int) -> Node:
    return Chars(((0x30 + low, 0x30 + high),)) if low <= high else _NOTHING


_ANY = _digits(0, 9)
_MINUS = literal("-")


def _choice(*parts: Node) -> Node:
    kept = tuple(part for part in parts if part != _NOTHING)
    return kept[0] if len(kept) == 1 else Choice(kept) if kept else _NOTHING


def _then(*parts: Node) -> Node:
    return _NOTHING if _NOTHING in parts else Sequence(parts)


def integer(least: Bound | None, most: Bound | None, multiple: int | None) -> Node | CharDfa | None:
    """Integers between the bounds that are multiples of `multiple`; None if that cannot be said.

    A pattern with an empty class matches nothing: there is no such integer.
    """
    low = None if least is None else _ceiling(*least)
    high = None if most is None else -_ceiling(-most[0], most[1])
    if multiple is not None and multiple > 1:
        return _multiples(low, high, multiple)
    if low is None and high is None:
        return Sequence((Repeat(_MINUS, 0, 1), _magnitude(0, None)))
    positive = _magnitude(max(low or 0, 0), high)
    if low is not None and low >= 0:
        return positive
    if high is not None and high < 0:
        positive = _NOTHING
    top = None if low is None else -low
    negative = _magnitude(1 if high is None else max(-high, 1), top)
    return _choice(positive, _then(_MINUS, negative))


def _ceiling(value: Fraction, left_out: bool) -> int:
    """The least integer not below `value` (above it, if it is left out)."""
    number = -((-value.numerator) // value.denominator)
    return number + 1 if left_out and number == value else number


def _magnitude(low: int, high: int | None) -> Node:
    """Numerals without leading zeros of the integers from `low` up to `high`."""
    longest = 10**MOST_DIGITS - 1
    high = longest if high is None else min(high, longest)
    if low > high:
        return _NOTHING
    parts: list[Node] = []
    for size in range(len(str(low)), len(str(high)) + 1):
        start = max(low, 10 ** (size - 1) if size > 1 else 0)
        stop = min(high, 10**size - 1)
        if start == 10 ** (size - 1) and stop == 10**size - 1 and size > 1:
            if stop == 10 ** len(str(high)) - 1:  # this length and all up to the longest are whole
                rest = Repeat(_ANY, size - 1, len(str(high)) - 1)
                parts.append(Sequence((_digits(1, 9), rest)))
                break
            if high == longest:
                parts.append(Sequence((_digits(1, 9), Repeat(_ANY, size - 1, MOST_DIGITS - 1))))
                break
            parts.append(Sequence((_digits(1, 9), Repeat(_ANY, size - 1, size - 1))))
        else:
            parts.append(_between(str(start), str(stop)))
    return _choice(*parts)


def _between(low: str, high: str) -> Node:
    """Digit strings of one length from `low` to `high`, both included."""
    if not low:
        return EMPTY
    size = len(low) - 1
    if low == "0" * (size + 1) and high == "9" * (size + 1):
        return Repeat(_ANY, size + 1, size + 1)
    a, b = int(low[0]), int(high[0])
    if a == b:
        return Sequence((_digits(a, a), _between(low[1:], high[1:])))
    zeros, nines = "0" * size, "9" * size
    parts = []
    if low[1:] != zeros:
        parts.append(Sequence((_digits(a, a), _between(low[1:], nines))))
        a += 1
    last = []
    if high[1:] != nines:
        last.append(Sequence((_digits(b, b), _between(zeros, high[1:]))))
        b -= 1
    if a <= b:
        parts.append(Sequence((_digits(a, b), Repeat(_ANY, size, size))))
    return _choice(*parts, *last)


def _multiples(low: int | None, high: int | None, multiple: int) -> Node | CharDfa | None:
    if low is not None and high is not None:
        first = -(-low // multiple) * multiple
        if high < first:
            return _NOTHING
        if (high - first) // multiple < _MOST_LISTED:
            return _choice(*(literal(str(value)) for value in range(first, high + 1, multiple)))
    if multiple > _MOST_RESIDUES:
        return None
    whole = _residues(multiple)
    if low is None and high is None:
        return whole
    bounds = integer(
        (Fraction(low), False) if low is not None else None,
        (Fraction(high), False) if high is not None else None,
        None,
    )
    return (
        None if isinstance(bounds, CharDfa) or bounds is None else whole.both(determinise(bounds))
    )


def _residues(multiple: int) -> CharDfa:
    """Integers that are multiples: one state a residue, after a start, a minus sign and a lone zero."""
    minus, zero, first = 1, 2, 3

    def digits(least: int, residue: int) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for digit in range(least, 10):
            found.setdefault(first + (residue * 10 + digit) % multiple, []).append(digit)
        return found

    def arcs(found: dict[int, list[int]]) -> Arcs:
        return tuple(
            (union(tuple((0x30 + digit, 0x30 + digit) for digit in some)), target)
            for target, some in found.items()
        )

    lead = arcs(digits(1, 0))
    sign, nought = ((0x2D, 0x2D),), ((0x30, 0x30),)
    table = ((*lead, (sign, minus), (nought, zero)), (*lead, (nought, zero)), ())
    return CharDfa(
        (*table, *(arcs(digits(0, r)) for r in range(multiple))), frozenset((zero, first))
    )


def decimal(least: Bound | None, most: Bound | None) -> Node | None:
    """Numbers between the bounds; None if the bounds have too many digits to be compared as doubles."""
    if least is None and most is None:
        size = _choice(
            Sequence((Repeat(literal("0"), 0, 1), Repeat(_ANY, 1, 2))),
            Sequence((literal("1"), Repeat(_ANY, 2, 2))),
            Sequence((literal("2"), _digits(0, 3), _ANY)),
        )
        sign = Repeat(Chars(((0x2B, 0x2B), (0x2D, 0x2D))), 0, 1)
        exponent = Sequence((Chars(((0x45, 0x45), (0x65, 0x65))), sign, size))
        fraction = Sequence((literal("."), Repeat(_ANY, 1, MOST_DIGITS)))
        return Sequence(
            (
                Repeat(_MINUS, 0, 1),
                _magnitude(0, None),
                Repeat(fraction, 0, 1),
                Repeat(exponent, 0, 1),
            )
        )
    bounds = [bound[0] for bound in (least, most) if bound is not None]
    places = _SIGNIFICANT - max(len(str(abs(int(value)))) for value in bounds)
    if places < 1 or any((value * 10**places).denominator != 1 for value in bounds):
        return None
    zero = (Fraction(0), False)
    parts = []
    if most is None or most[0] > 0 or most == zero:
        floor = zero if least is None or least[0] < 0 else least
        parts.append(_unsigned(floor, most, places))
    if least is None or least[0] < 0:
        floor = (Fraction(0), True) if most is None or most[0] >= 0 else (-most[0], most[1])
        top = None if least is None else (-least[0], least[1])
        parts.append(_then(_MINUS, _unsigned(floor, top, places)))
    return _choice(*parts)


def _unsigned(least: Bound, most: Bound | None, places: int) -> Node:
    """Numerals of numbers from `least` (0 or more) to `most`, with at most `places` digits after the point."""
    fraction = Repeat(Sequence((literal("."), Repeat(_ANY, 1, places))), 0, 1)
    unit = 10**places
    low = int(least[0] * unit) + least[1]
    high = None if most is None else int(most[0] * unit) - most[1]
    if high is not None and high < low:
        return _NOTHING
    first, first_rest = divmod(low, unit)
    full = unit - 1
    if high is None:
        if not first_rest:
            return _then(_magnitude(first, None), fraction)
        return _choice(
            _then(literal(str(first)), _fraction(first_rest, full, places)),
            _then(_magnitude(first + 1, None), fraction),
        )
    last, last_rest = divmod(high, unit)
    if first == last:
        return _then(literal(str(first)), _fraction(first_rest, last_rest, places))
    return _choice(
        _then(literal(str(first)), _fraction(first_rest, full, places)),
        _then(_magnitude(first + 1, last - 1), fraction),
        _then(literal(str(last)), _fraction(0, last_rest, places)),
    )


def _fraction(low: int, high: int, places: int) -> Node:
    """What may stand after a whole part: `.` and digits that count from `low` to `high` units of the last place."""
    if low > high:
        return _NOTHING
    digits = _some_digits(str(low).zfill(places), str(high).zfill(places))
    tail = _NOTHING if digits == _NOTHING else Sequence((literal("."), digits))
    return _choice(*((EMPTY,) if low == 0 else ()), tail)


def _some_digits(low: str, high: str) -> Node:
    """One to `len(low)` digits whose value, filled with zeros, is from `low` to `high`."""
    size = len(low) - 1
    zeros, nines = "0" * size, "9" * size
    parts: list[Node] = []
    start, stop = int(low[0]), int(high[0])
    if start == stop:
        return _then(_digits(start, start), _more(low[1:], high[1:]))
    if low[1:] != zeros:
        parts.append(_then(_digits(start, start), _more(low[1:], nines)))
        start += 1
    if high[1:] != nines:
        parts.append(_then(_digits(stop, stop), _more(zeros, high[1:])))
        stop -= 1
    if start <= stop:
        parts.append(_then(_digits(start, stop), Repeat(_ANY, 0, size)))
    return _choice(*parts)


def _more(low: str, high: str) -> Node:
    """Up to `len(low)` digits whose value is from `low` to `high`; none, where zero is within."""
    if not low:
        return EMPTY
    rest = _some_digits(low, high)
    return _choice(EMPTY, rest) if not low.strip("0") else rest
