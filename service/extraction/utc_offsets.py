"""Warnings for times with a UTC offset that the document does not state.

Does: find the offsets of `date-time`, `time` and their `iso-` forms in an answer, and the offsets in a document: as
numbers, as `Z`, as abbreviations after a time, as names of zones. Does not: know the zones of places, or judge the
times themselves.

The formats of RFC 3339 require an offset, so a model writes one for "3 June 2026, 14:30" as well, and invents it. An
offset counts as stated if the document has it anywhere, or if another stated offset gives the same instant for a time
in the document.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from intaglio.schemas.extraction.results import AnswerWarning
from intaglio.schemas.json_pointer import pointer_of

from .validate import values_of_formats

OFFSET_NOT_STATED: Final = "offset_not_stated"
_FORMATS: Final = frozenset({"date-time", "time", "iso-date-time", "iso-time"})
_ZONED: Final = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d)[Tt ])?(\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?(?:([Zz])|([+-])(\d\d):(\d\d))"
)
_MOST_MINUTES: Final = 14 * 60

# By abbreviation, the offsets that it may stand for, in minutes.
_ABBREVIATIONS: Final[Mapping[str, tuple[int, ...]]] = {
    **dict.fromkeys(("WET",), (0,)),
    **dict.fromkeys(("BST",), (60, 360)),
    **dict.fromkeys(("CET", "MEZ", "WEST"), (60,)),
    **dict.fromkeys(("CEST", "MESZ", "EET", "SAST", "CAT"), (120,)),
    **dict.fromkeys(("EEST", "MSK", "TRT", "EAT"), (180,)),
    **dict.fromkeys(("GST",), (240,)),
    **dict.fromkeys(("PKT",), (300,)),
    **dict.fromkeys(("IST",), (330, 60, 120)),
    **dict.fromkeys(("ICT", "WIB"), (420,)),
    **dict.fromkeys(("HKT", "SGT", "AWST"), (480,)),
    **dict.fromkeys(("JST", "KST"), (540,)),
    **dict.fromkeys(("AEST",), (600,)),
    **dict.fromkeys(("AEDT",), (660,)),
    **dict.fromkeys(("NZST",), (720,)),
    **dict.fromkeys(("NZDT",), (780,)),
    **dict.fromkeys(("BRT", "ART"), (-180,)),
    **dict.fromkeys(("EDT", "AST"), (-240,)),
    **dict.fromkeys(("EST", "CDT"), (-300,)),
    **dict.fromkeys(("CST",), (-360, 480)),
    **dict.fromkeys(("MDT",), (-360,)),
    **dict.fromkeys(("MST", "PDT"), (-420,)),
    **dict.fromkeys(("PST", "AKDT"), (-480,)),
    **dict.fromkeys(("AKST",), (-540,)),
    **dict.fromkeys(("HST",), (-600,)),
    **dict.fromkeys(("ET",), (-300, -240)),
    **dict.fromkeys(("CT",), (-360, -300)),
    **dict.fromkeys(("MT",), (-420, -360)),
    **dict.fromkeys(("PT",), (-480, -420)),
}
_NAMES: Final[Mapping[str, tuple[int, ...]]] = {
    "central european": (60, 120),
    "eastern european": (120, 180),
    "western european": (0, 60),
    "british": (0, 60),
    "eastern": (-300, -240),
    "central": (-360, -300),
    "mountain": (-420, -360),
    "pacific": (-480, -420),
    "japan": (540,),
    "india": (330,),
}
_ABBREVIATED: Final = re.compile(
    rf"\d\s?(?:[ap]\.?m\.?|uhr|hrs?|h)?\s?\(?({'|'.join(_ABBREVIATIONS)})\b", re.IGNORECASE
)
_NAMED: Final = re.compile(
    rf"\b({'|'.join(_NAMES)})\s+(?:(?:standard|summer|daylight)\s+)?time\b", re.IGNORECASE
)
# A second time after a dash, as in "09:00-10:00" or "09:00 -10:00", is the end of a range and no offset.
_NUMBERED: Final = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"\b(?:UTC|GMT)\s?([+\u2212-])(\d\d?)(?::?(\d\d))?(?![\d:])",
        r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\s?([+\u2212-])(\d\d)(?::?(\d\d))?(?![\d:])",
        r"\dT\d\d:\d\d([+\u2212-])(\d\d):?(\d\d)(?![\d:])",
        r"\d:\d\d\s?(\+)(\d\d):?(\d\d)(?![\d:])",
        r"\d:\d\d\s([\u2212-])(\d\d)(\d\d)(?![\d:])",
        r"(?:\(|(?:zone|offset)\W{1,3})([+\u2212-])(\d\d):?(\d\d)(?![\d:])",
    )
)
_ZERO: Final = re.compile(
    r"\b(?:UTC|GMT)\b(?!\s?[+\u2212-]\s?\d)|\d\d:?\d\d(?::\d\d(?:\.\d+)?)?\s?Z\b"
)
_ZONE: Final = re.compile(
    r"\b(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Z]\w+(?:/[A-Z]\w+)?"
)


class _Time(NamedTuple):
    """A time with an offset, in minutes; `day` is None where the value has no date."""

    day: datetime | None
    minutes: int
    offset: int


def offset_warnings(
    data: Any, schema: Mapping[str, Any] | bool, document: str
) -> tuple[AnswerWarning, ...]:
    """A warning for each time in `data` with an offset that the document does not state."""
    if not _has_offset(data):
        return ()
    return tuple(
        AnswerWarning(
            pointer=pointer_of(place),
            kind=OFFSET_NOT_STATED,
            message="the format requires a UTC offset, and the document states none that gives this one",
            hint="the offset is the model's guess; for times as written use the format iso-date-time or iso-time, or "
            "date-time-local or time-local without an offset",
        )
        for place, text in values_of_formats(data, schema, _FORMATS)
        if (time := _parsed(text)) is not None and not _is_stated(time, document)
    )


def _has_offset(data: Any) -> bool:
    todo = [data]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            if _ZONED.fullmatch(value) is not None:
                return True
        elif isinstance(value, Mapping):
            todo += value.values()
        elif isinstance(value, list):
            todo += value
    return False


def _parsed(text: str) -> _Time | None:
    found = _ZONED.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, zulu, sign, hours, minutes = found.groups()
    offset = 0 if zulu else _minutes(sign, hours, minutes)
    try:
        date = None if year is None else datetime(int(year), int(month), int(day), tzinfo=UTC)
    except ValueError:
        date = None
    return _Time(date, 60 * int(hour) + int(minute), offset)


def _minutes(sign: str, hours: str, minutes: str | None) -> int:
    size = 60 * int(hours) + int(minutes or 0)
    return size if sign == "+" else -size


def _is_stated(time: _Time, document: str) -> bool:
    for stated in _offsets(document, time.day):
        if stated == time.offset:
            return True
        hour, minute = divmod((time.minutes - time.offset + stated) % (24 * 60), 60)
        written = rf"(?<!\d)0?(?:{hour}|{hour % 12 or 12})[:.h]{minute:02}(?!\d)"
        if re.search(written, document):
            return True
    return False


def _offsets(document: str, day: datetime | None) -> Iterator[int]:
    """The offsets that a document states, in minutes."""
    for form in _NUMBERED:
        for found in form.finditer(document):
            offset = _minutes(*found.groups())
            if abs(offset) <= _MOST_MINUTES:
                yield offset
    if _ZERO.search(document):
        yield 0
    for found in _ABBREVIATED.finditer(document):
        yield from _ABBREVIATIONS[found[1].upper()]
    for found in _NAMED.finditer(document):
        yield from _NAMES[found[1].lower()]
    for name in {found[0] for found in _ZONE.finditer(document)}:
        try:
            zone = ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError):
            continue
        for at in [day] if day else [datetime(2026, month, 1, tzinfo=UTC) for month in (1, 7)]:
            yield round((at.astimezone(zone).utcoffset() or timedelta()).total_seconds() / 60)
