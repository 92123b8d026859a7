"""Sets of code points as ascending, disjoint, closed ranges.

Does: the set operations that patterns need, the named sets of ECMA-262, Unicode general categories. Does not: parse.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import numpy as np

from ..automata import CODE_POINTS, DEFAULT, AutomatonLimits
from ..base.array_types import Ints

Charset = tuple[tuple[int, int], ...]

_LAST: Final = CODE_POINTS - 1
_MOST_FLAGS: Final = 256  # product of the numbers of sets and intervals, per allowed state
_BITS: Final = 32  # sets per pass over the intervals


def of(ranges: Iterable[tuple[int, int]]) -> Charset:
    """The union of closed ranges in any order."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


@lru_cache(maxsize=256)
def complement(charset: Charset) -> Charset:
    """All other code points."""
    result, low = [], 0
    for first, last in charset:
        if first > low:
            result.append((low, first - 1))
        low = last + 1
    if low <= _LAST:
        result.append((low, _LAST))
    return tuple(result)


ANY: Final[Charset] = ((0, _LAST),)
SURROGATES: Final[Charset] = ((0xD800, 0xDFFF),)
DIGIT: Final[Charset] = ((0x30, 0x39),)
WORD: Final[Charset] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
LINE_END: Final[Charset] = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
DOT: Final = complement(LINE_END)
# WhiteSpace and LineTerminator of ECMA-262: the category Zs, tab, line and form feeds, the byte order mark.
SPACE: Final[Charset] = (
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
_HEX: Final[Charset] = ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66))
_BLANK: Final = of([*SPACE[:-1], (0x85, 0x85)])  # the property White_Space

_LONG_NAMES: Final = {
    "Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Unassigned": "Cn", "Private_Use": "Co",
    "Surrogate": "Cs", "Letter": "L", "Cased_Letter": "LC", "Lowercase_Letter": "Ll", "Modifier_Letter": "Lm",
    "Other_Letter": "Lo", "Titlecase_Letter": "Lt", "Uppercase_Letter": "Lu", "Mark": "M", "Combining_Mark": "M",
    "Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Nonspacing_Mark": "Mn", "Number": "N", "Decimal_Number": "Nd",
    "digit": "Nd", "Letter_Number": "Nl", "Other_Number": "No", "Punctuation": "P", "punct": "P",
    "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd", "Close_Punctuation": "Pe", "Final_Punctuation": "Pf",
    "Initial_Punctuation": "Pi", "Other_Punctuation": "Po", "Open_Punctuation": "Ps", "Symbol": "S",
    "Currency_Symbol": "Sc", "Modifier_Symbol": "Sk", "Math_Symbol": "Sm", "Other_Symbol": "So", "Separator": "Z",
    "Line_Separator": "Zl", "Paragraph_Separator": "Zp", "Space_Separator": "Zs",
}  # fmt: skip
_CATEGORIES: Final = (
    "Cc", "Cf", "Cn", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl",
    "No", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs",
)  # fmt: skip


def prop(text: str) -> Charset | None:
    """The set that `\\p{text}` names, or None for an unknown property.

    Known: general categories (short and long names, alone or after `General_Category=` or `gc=`), and the binary
    properties Any, ASCII, Assigned, ASCII_Hex_Digit, White_Space, Lowercase, Uppercase.
    """
    name, equals, value = text.partition("=")
    if equals:
        return _category(value) if name in ("General_Category", "gc") else None
    if name in ("Lowercase", "Lower"):
        return _lower()
    if name in ("Uppercase", "Upper"):
        return _upper()
    fixed = {"Any": ANY, "ASCII": ((0, 0x7F),), "ASCII_Hex_Digit": _HEX, "AHex": _HEX}
    fixed |= {"White_Space": _BLANK, "space": _BLANK}
    if name == "Assigned":
        return complement(_category("Cn") or ())
    return fixed[name] if name in fixed else _category(name)


@cache
def _lower() -> Charset:
    return _where(tuple(map(str.islower, map(chr, range(CODE_POINTS)))))


@cache
def _upper() -> Charset:
    return _where(tuple(map(str.isupper, map(chr, range(CODE_POINTS)))))


def _category(name: str) -> Charset | None:
    short = _LONG_NAMES.get(name, name)
    categories = (
        ("Ll", "Lt", "Lu") if short == "LC" else tuple(c for c in _CATEGORIES if short in (c, c[0]))
    )
    return _union_of(categories) if categories else None


@cache
def _union_of(categories: tuple[str, ...]) -> Charset:
    return _where(np.isin(_table(), [_CATEGORIES.index(c) for c in categories]).tolist())


@cache
def _table() -> Ints:
    """For every code point, the index of its category in `_CATEGORIES`."""
    number = {c: i for i, c in enumerate(_CATEGORIES)}
    category = unicodedata.category
    return np.array([number[category(chr(c))] for c in range(CODE_POINTS)], np.int32)


def _where(flags: Sequence[bool]) -> Charset:
    padded = np.zeros(len(flags) + 2, np.int8)
    padded[1:-1] = flags
    edges = np.flatnonzero(np.diff(padded))
    return tuple((int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class Alphabet:
    """A partition of the code points into classes. `sets` maps each character set to the classes it consists of."""

    bounds: Ints
    classes: Ints
    sets: Mapping[Charset, frozenset[int]]

    @property
    def width(self) -> int:
        """Number of classes."""
        return int(self.classes.max()) + 1


def alphabet(charsets: Iterable[Charset], limits: AutomatonLimits = DEFAULT) -> Alphabet:
    """The coarsest partition of all code points in which every set is a union of classes.

    Raises:
        ConstraintTooLarge: too many different sets.
    """
    distinct = sorted(set(charsets))
    cuts = {0} | {cut for charset in distinct for low, high in charset for cut in (low, high + 1)}
    bounds = np.array(sorted(cuts - {CODE_POINTS}), np.int32)
    limits.check(len(distinct) * len(bounds) // _MOST_FLAGS)
    flags = np.zeros((len(distinct), len(bounds) + 1), np.int8)
    for row, charset in zip(flags, distinct, strict=True):
        edges = np.array(charset, np.int64).reshape(-1, 2)
        row[np.searchsorted(bounds, edges[:, 0])] += 1
        row[np.searchsorted(bounds, edges[:, 1] + 1)] -= 1
    inside = np.cumsum(flags[:, :-1], axis=1, dtype=np.int8) > 0
    classes = np.zeros(len(bounds), np.int64)
    for first in range(0, len(distinct), _BITS):
        some = inside[first : first + _BITS]
        number = np.unique((1 << np.arange(len(some))) @ some, return_inverse=True)[1]
        classes = np.unique(classes * (number.max() + 1) + number, return_inverse=True)[1]
    sets = {
        charset: frozenset(np.unique(classes[row]).tolist())
        for charset, row in zip(distinct, inside, strict=True)
    }
    return Alphabet(bounds, classes.astype(np.int32), sets)
