"""The numbers that a text writes, in the spellings of several countries.

Does: find them in linear time: grouped digits, decimal comma or point, signs, accounting parentheses, per cent. Does
not: read number words.

A spelling that means different numbers in different countries counts as each of them: `1.234` is 1234 and 1.234.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final
from unicodedata import category

Range = tuple[int, int]

_LONGEST: Final = 64  # characters; a longer row of digits is not a number that an answer has
_SPACES: Final = " \u00a0\u2009\u202f"
_TOKEN: Final = re.compile(r"\d+(?:[.,'\u2019]\d+)*(?:[eE][-+]?\d{1,4}(?![^\W_]))?")
_PLAIN: Final = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_GROUPED: Final = re.compile(r"(\d{1,3}(?:([.,'\u2019])\d{3})(?:\2\d{3})*)(?:(?!\2)[.,](\d+))?")
_INDIAN: Final = re.compile(r"(\d{1,2}(?:,\d{2})+,\d{3})(?:\.(\d+))?")
_DECIMAL: Final = re.compile(r"(\d+)[.,](\d+)")
_RUN: Final = re.compile(r"\d+")
_PERCENT: Final = re.compile(rf"[{_SPACES}]?[%\uff05]")
_SIGNS: Final = "-\u2212\u2013"


def numbers_in(text: str) -> Iterator[tuple[Decimal, Range]]:
    """Every number of the text with its range, in order of the ranges' tokens."""
    tokens = [found.span() for found in _TOKEN.finditer(text)]
    for at, (start, end) in enumerate(tokens):
        if end - start > _LONGEST:
            continue
        values = readings(text[start:end])
        if not values:
            for run in _RUN.finditer(text, start, end):
                yield Decimal(run.group()), run.span()
        for value in values:
            yield from _signed(text, value, start, end)
        yield from _spaced(text, tokens, at)


def readings(token: str) -> list[Decimal]:
    """The numbers that a token of digits and separators may mean; none if it is not one number."""
    found = list[Decimal]()
    if _PLAIN.fullmatch(token):
        found.append(Decimal(token))
    elif match := _DECIMAL.fullmatch(token):
        found.append(Decimal(f"{match[1]}.{match[2]}"))
    for pattern, decimals in ((_GROUPED, 3), (_INDIAN, 2)):
        if match := pattern.fullmatch(token):
            digits = "".join(_RUN.findall(match[1]))
            found.append(Decimal(f"{digits}.{match[decimals] or 0}"))
            break
    return found


def _spaced(text: str, tokens: list[Range], first: int) -> Iterator[tuple[Decimal, Range]]:
    """The numbers that begin with token `first` and have spaces between groups of three digits."""
    start, end = tokens[first]
    digits = text[start:end]
    if not digits.isdecimal() or len(digits) > 3:
        return
    for begin, stop in tokens[first + 1 : first + 8]:
        if begin != end + 1 or text[end] not in _SPACES:
            return
        group, point, fraction = _parts(text[begin:stop])
        if len(group) != 3 or not group.isdecimal() or not (fraction.isdecimal() or not point):
            return
        digits, end = digits + group, stop
        yield from _signed(text, Decimal(f"{digits}.{fraction or 0}"), start, end)
        if point:
            return


def _parts(token: str) -> tuple[str, str, str]:
    """Digits before the decimal separator, the separator, and those after it."""
    before, point, after = token.partition(",")
    return (before, point, after) if point else token.partition(".")


def _signed(text: str, value: Decimal, start: int, end: int) -> Iterator[tuple[Decimal, Range]]:
    """A number as written, negated if there is a sign, and as a share if a per cent sign follows."""
    head = _before_currency(text, start)
    before = text[head - 1] if head else ""
    is_signed = before != "" and before in _SIGNS and not text[head - 2 : head - 1].isalnum()
    begin = head - 1 if is_signed else start
    number = value.copy_negate() if is_signed else value
    yield number, (begin, end)
    if before == "(" and text[end : end + 1] == ")":
        yield value.copy_negate(), (head - 1, end + 1)
    percent = _PERCENT.match(text, end)
    if percent is not None:
        sign, digits, exponent = number.as_tuple()
        assert isinstance(exponent, int)  # no token reads as an infinity
        yield Decimal((sign, digits, exponent - 2)), (begin, percent.end())


def _before_currency(text: str, start: int) -> int:
    """The place before a currency sign, and one space after it, that precede `start`; else `start`."""
    at = start - 1 if start and text[start - 1] in _SPACES else start
    return at - 1 if at and category(text[at - 1]) == "Sc" else start
