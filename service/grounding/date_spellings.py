"""The dates and times of day that a text writes, in the spellings of several languages.

Does: find them in linear time, and name the places where day and month may be exchanged. Does not: read relative dates,
dates without a year, or time zones.

A date is (year, month, day), with day 0 for a month of a year; a time is (hour, minute, second).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

Triple = tuple[int, int, int]
Range = tuple[int, int]
Patterns = tuple[re.Pattern[str], ...]

_MONTHS: Final = (
    "jan january januar janvier enero ene gennaio gen janeiro januari jänner",
    "feb february februar février fév fevrier febrero febbraio fevereiro fev februari",
    "mar march märz mär mrz mars marzo março marco maart mrt",
    "apr april avril avr abril abr aprile",
    "may mai mayo maggio mag maio mei",
    "jun june juni juin junio giugno giu junho",
    "jul july juli juillet juil julio luglio lug julho",
    "aug august août aout agosto ago augustus",
    "sep sept september septembre septiembre settembre set setembro",
    "oct october okt oktober octobre octubre ottobre ott outubro out",
    "nov november novembre noviembre novembro",
    "dec december dez dezember décembre déc diciembre dic dicembre dezembro",
)
_MONTH_OF: Final = {
    name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()
}
_NAMES: Final = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_NAME: Final = rf"(?<![^\W\d_])(?P<name>{_NAMES})(?![^\W\d_])\.?"
_YEAR: Final = r"(?P<year>\d{4}|['\u2019]?\d\d)(?!\d)"
_OF: Final = r"(?:of |de |del |do |d')?"
_MARKS: Final = ("-", "/", ".")
_NOT_WITHIN: Final = r"(?<![\d/.-])"


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


# Patterns by how they begin. A search for each of them would read the document as often.
_DIGITS: Final = re.compile(r"(?<!\d)\d{1,8}(?!\d)")
_MARKED: Final = _compiled(
    _NOT_WITHIN + r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)(?!\d)",
    _NOT_WITHIN
    + r"(?P<first>\d\d?)(?P<mark>[-/.]\s?)(?P<second>\d\d?)(?P=mark)(?P<year>\d{4}|\d\d)(?!\d)(?![/-]\d|\.\d)",
    _NOT_WITHIN + r"(?P<month>\d\d?)[/.](?P<year>\d{4})(?![\d/]|[.-]\d)",
    _NOT_WITHIN + r"(?P<year>\d{4})-(?P<month>\d\d)(?![\d-])",
)
_COMPACT: Final = _compiled(_NOT_WITHIN + r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?!\d)")
_DAY_FIRST: Final = _compiled(
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|[.º°])?[\s-]{{0,3}}{_OF}{_NAME},?[\s-]{{0,3}}{_OF}{_YEAR}"
)
_YEAR_FIRST: Final = _compiled(
    r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d\d?)\s?[月월](?:\s?(?P<day>\d\d?)\s?[日일])?",
    rf"(?P<year>\d{{4}})[\s,-]{{1,2}}{_NAME}[\s-]{{1,3}}(?P<day>\d\d?)(?!\d)",
)
_WORD: Final = re.compile(r"[^\W\d_]{3,10}")
_NAME_FIRST: Final = _compiled(
    _NAME + r"\s{0,3}(?P<day>\d{1,2})(?:st|nd|rd|th)?(?!\d),?\s{0,3}(?P<year>\d{4})(?!\d)",
    _NAME + rf",?\s{{0,3}}{_OF}(?P<year>\d{{4}})(?!\d)",
)
_TIME: Final = re.compile(
    r"(?<![\d:.,])(?P<hour>\d\d?)(?:(?P<mark>[:.h])(?P<minute>\d\d)(?:[:.](?P<second>\d\d)(?:[.,]\d+)?)?|(?P<hours>h))?"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?|\s?(?P<clock>uhr|o'clock)\b)?(?![\d:]|\.\d)",
    re.IGNORECASE,
)
_TIMESTAMP: Final = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[Tt ](?P<time>\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?\s?(?:[Zz]|[-+]\d\d:?\d\d)?"
)


@dataclass(frozen=True, slots=True)
class DatePlace:
    """A date in a text. `other` is the date with day and month exchanged, if the spelling allows both."""

    date: Triple
    range: Range
    other: Triple | None = None


def dates_in(text: str) -> Iterator[DatePlace]:
    """Every date of the text. A place with two readings is yielded once for each."""
    for found in _matches(text):
        read = [triple for triple in _readings(found.groupdict()) if _exists(triple)]
        for triple in read:
            year = triple[0]
            other = next((r for r in read if r[0] == year and r != triple), None)
            yield DatePlace(triple, found.span(), other)


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Every match of a pattern."""
    for begin, patterns in _begins(text):
        for pattern in patterns:
            if found := pattern.match(text, begin):
                yield found


def _begins(text: str) -> Iterator[tuple[int, Patterns]]:
    """The places where a date may begin, and the patterns that begin like that."""
    for digits in _DIGITS.finditer(text):
        begin, end = digits.span()
        if text[end : end + 1] in _MARKS:
            yield begin, _MARKED
        if end - begin <= 2:
            yield begin, _DAY_FIRST
        elif end - begin == 4:
            yield begin, _YEAR_FIRST
        elif end - begin == 8:
            yield begin, _COMPACT
    for word in _WORD.finditer(text):
        if word.group().casefold() in _MONTH_OF:
            yield word.start(), _NAME_FIRST


def times_in(text: str) -> Iterator[tuple[Triple, Range]]:
    """Every time of day in the text, with its range."""
    for found in _TIME.finditer(text):
        hour, half = int(found["hour"]), (found["half"] or "").lower()
        # A number alone is not a time, and one with a point is a decimal number.
        if not (half or found["clock"] or found["hours"] or (found["mark"] or ".") != "."):
            continue
        if half:
            if not 1 <= hour <= 12:
                continue
            hour = hour % 12 + (12 if half == "p" else 0)
        minute, second = int(found["minute"] or 0), int(found["second"] or 0)
        if hour < 24 and minute < 60 and second < 60:
            yield (hour, minute, second), found.span()


def read_date(value: str) -> tuple[Triple, ...]:
    """The dates that a whole string may mean; none if it is not one date."""
    whole = (0, len(value))
    return tuple(dict.fromkeys(p.date for p in dates_in(value) if p.range == whole))


def read_time(value: str) -> Triple | None:
    """The time of day that a whole string means; None if it is not one."""
    return next((found for found, place in times_in(value) if place == (0, len(value))), None)


def read_timestamp(value: str) -> tuple[Triple, Triple] | None:
    """Date and time of a string in the format `date-time`, without its zone; None for any other."""
    found = _TIMESTAMP.fullmatch(value)
    if found is None:
        return None
    day, clock = read_date(found["date"]), read_time(found["time"])
    return (day[0], clock) if day and clock else None


def written(triple: Triple) -> str:
    """A date as ISO 8601 writes it."""
    year, month, day = triple
    return f"{year:04}-{month:02}-{day:02}" if day else f"{year:04}-{month:02}"


def _readings(parts: dict[str, str | None]) -> list[Triple]:
    """The dates that the parts of a match may mean."""
    years = _years(parts["year"] or "")
    if parts.get("first"):
        first, second = int(parts["first"] or 0), int(parts["second"] or 0)
        pairs = [(second, first), (first, second)] if first != second else [(first, second)]
    else:
        name = parts.get("name")
        month = _MONTH_OF.get(name.casefold(), 0) if name else int(parts["month"] or 0)
        pairs = [(month, int(parts.get("day") or 0))]
    return [(year, month, day) for year in years for month, day in pairs]


def _years(digits: str) -> tuple[int, ...]:
    """A year, or the two that its last digits leave open."""
    number = int(digits.lstrip("'\u2019"))
    return (number,) if len(digits) == 4 else (2000 + number, 1900 + number)


def _exists(triple: Triple) -> bool:
    year, month, day = triple
    try:
        date(year, month, day or 1)
    except ValueError:
        return False
    return True
