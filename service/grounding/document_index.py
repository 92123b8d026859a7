"""Finds the places of a value in a document.

Does: look a value up as text, as a number or as a date or time, by the kind of the value. Does not: choose among
several places (`place_choice`).

Each form of the document is made once, when the first value needs it, in time linear in the document. Numbers and dates
are then one look-up each; text is searched.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Final, TypeVar

from intaglio.schemas.extraction.grounding import MatchKind

from .date_spellings import (
    DatePlace,
    Triple,
    dates_in,
    read_date,
    read_time,
    read_timestamp,
    times_in,
)
from .folded_text import FoldedText, fold
from .number_spellings import numbers_in

K = TypeVar("K")
V = TypeVar("V")
Range = tuple[int, int]
Ranges = tuple[Range, ...]

MAX_PLACES: Final = 1024
"""The most places of one value that are considered."""

_WITHIN_WORDS: Final = 4  # characters; a shorter text within a longer word is chance
_LONGEST_DATE: Final = 64  # characters of a date, time or number
_NEAR: Final = 40  # characters between a date and its time
_MIDNIGHT: Final = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Found:
    """The places of a value, in order, and the kind of match. `others`: by place, another date that it may mean."""

    match: MatchKind = "none"
    places: Ranges = ()
    others: Mapping[Range, Triple] = field(default_factory=dict)


_NOTHING: Final = Found()


class DocumentIndex:
    """A document in the forms in which values are looked up. For one thread."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, value: object) -> Found:
        """Find a scalar: a str, bool, int, float, `Decimal` or None."""
        if isinstance(value, bool):
            free, _ = self._exact("true" if value else "false")
            return Found("exact", free) if free else _NOTHING
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, int | float | Decimal):
            return self._number(Decimal(str(value)), str(value))
        return _NOTHING

    @cached_property
    def _folded(self) -> FoldedText:
        return fold(self.text)

    @cached_property
    def _numbers(self) -> Mapping[Decimal, list[Range]]:
        return _by_value(numbers_in(self.text))

    @cached_property
    def _dates(self) -> Mapping[Triple, list[DatePlace]]:
        return _by_value((place.date, place) for place in dates_in(self.text))

    @cached_property
    def _times(self) -> Mapping[Triple, list[Range]]:
        return _by_value(times_in(self.text))

    def _string(self, value: str) -> Found:
        """The places of a text, else of the date, time or number that it writes, else those within longer words."""
        if not value.strip():
            return _NOTHING
        exact, exact_within = self._exact(value)
        if exact:
            return Found("exact", exact)
        folded, folded_within = self._as_folded(value)
        if folded:
            return Found("folded", folded)
        if len(value) <= _LONGEST_DATE and any(map(str.isdecimal, value)):
            for find in (self._date_or_time, self._number_text):
                found = find(value)
                if found.places:
                    return found
        if len(value) < _WITHIN_WORDS:
            return _NOTHING
        if exact_within:
            return Found("exact", exact_within)
        return Found("folded", folded_within) if folded_within else _NOTHING

    def _exact(self, value: str) -> tuple[Ranges, Ranges]:
        """The places of an exact text: those of whole words, and those within longer words."""
        places = _occurrences(self.text, value)
        free = tuple(place for place in places if _is_separate(self.text, *place))
        return free, tuple(places)

    def _as_folded(self, value: str) -> tuple[Ranges, Ranges]:
        """The same for the folded text."""
        folded, needle = self._folded, fold(value).text.strip()
        found = [
            (folded.original(*place), _is_separate(folded.text, *place))
            for place in (_occurrences(folded.text, needle) if needle else ())
        ]
        free = tuple(place for place, is_free in found if place is not None and is_free)
        return free, tuple(place for place, _ in found if place is not None)

    def _number(self, value: Decimal, spelling: str) -> Found:
        """The places of a number: as JSON writes it, else in any spelling."""
        places = sorted(set(self._numbers.get(value, ())))[:MAX_PLACES]
        exact = tuple(p for p in places if self.text[p[0] : p[1]] == spelling)
        if exact:
            return Found("exact", exact)
        return Found("number", tuple(places)) if places else _NOTHING

    def _number_text(self, value: str) -> Found:
        """The places of the number that a whole string writes, if it does."""
        whole = (0, len(value))
        for number, place in numbers_in(value):
            if place == whole:
                found = self._number(number, value)
                if found.places:
                    return found
        return _NOTHING

    def _date_or_time(self, value: str) -> Found:
        stamp = read_timestamp(value)
        if stamp is not None:
            return self._timestamp(*stamp)
        clock = read_time(value)
        if clock is not None:
            return _found_dates(self._times.get(clock, ()))
        days = [place for day in read_date(value) for place in self._dates.get(day, ())]
        others = {place.range: place.other for place in days if place.other is not None}
        return _found_dates((place.range for place in days), others)

    def _timestamp(self, day: Triple, clock: Triple) -> Found:
        """The places of a date with its time near it. A time of midnight may be absent."""
        times = sorted(self._times.get(clock, ()))
        ranges, others = list[Range](), dict[Range, Triple]()
        for place in self._dates.get(day, ()):
            near = _nearest(times, place.range)
            if near is None and clock != _MIDNIGHT:
                continue
            start, end = place.range
            joined = (start, end) if near is None else (min(start, near[0]), max(end, near[1]))
            ranges.append(joined)
            if place.other is not None:
                others[joined] = place.other
        return _found_dates(ranges, others)


def _by_value(pairs: Iterable[tuple[K, V]]) -> Mapping[K, list[V]]:
    found = defaultdict[K, list[V]](list)
    for key, value in pairs:
        found[key].append(value)
    return found


def _found_dates(ranges: Iterable[Range], others: Mapping[Range, Triple] | None = None) -> Found:
    places = tuple(sorted(set(ranges))[:MAX_PLACES])
    return Found("date", places, others or {}) if places else _NOTHING


def _nearest(times: list[Range], day: Range) -> Range | None:
    """The time nearest to a date, at most `_NEAR` characters away."""
    at = bisect_left(times, day)
    near = [
        (max(time[0] - day[1], day[0] - time[1]), time) for time in times[max(0, at - 1) : at + 2]
    ]
    close = [pair for pair in near if pair[0] <= _NEAR]
    return min(close)[1] if close else None


def _occurrences(text: str, value: str) -> list[Range]:
    """The first places of `value`, at most `MAX_PLACES`, in order; overlapping ones too."""
    found = list[Range]()
    at = text.find(value)
    while at >= 0 and len(found) < MAX_PLACES:
        found.append((at, at + len(value)))
        at = text.find(value, at + 1)
    return found


def _is_separate(text: str, start: int, end: int) -> bool:
    """Whether neither end of a place cuts through a word or a row of digits."""
    return not (_is_within(text, start) or _is_within(text, end))


def _is_within(text: str, at: int) -> bool:
    """Whether the characters around a place belong to one word or one row of digits."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before.isdecimal() and after.isdecimal():
        return True
    return (
        before.isalpha() and after.isalpha() and not (_is_unspaced(before) or _is_unspaced(after))
    )


def _is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words: Thai to Khmer, and of East Asia."""
    code = ord(character)
    return (
        0x0E00 <= code < 0x1100
        or 0x1780 <= code < 0x1800
        or 0x2E80 <= code < 0xD800
        or code >= 0xF900
    )
