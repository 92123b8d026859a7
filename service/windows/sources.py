"""The places in a window's text from which the items of an array come.

Does: find the leaves of each item literally, beginning with the rarest, and give the range that they span. Does not:
understand values that are written differently in the document, except for the digits of numbers.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

MAX_LEAVES: Final = 32
"""Leaves of one item that are searched for."""

_UNSEPARATED: Final = "\u2e80"  # scripts from here on write words without spaces


@dataclass(frozen=True, slots=True)
class Source:
    """The range of the document that the leaves of an item span, in code points; `leaves` were found.

    Without any, `start` and `end` bound the range of the item by its neighbours.
    """

    start: int
    end: int
    leaves: int = 0

    @property
    def is_found(self) -> bool:
        """Whether a leaf of the item was found in the document."""
        return self.leaves > 0

    def meets(self, start: int, end: int) -> bool:
        """Whether the range has a character in common with another."""
        return self.start < end and start < self.end


class _Places:
    """The places of spellings in a text; each is searched once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, list[int]] = {}

    def of(self, spelling: str) -> list[int]:
        """The starts of a spelling, in order: whole words and numbers only."""
        if spelling not in self._found:
            self._found[spelling] = list(_occurrences(spelling, self._text))
        return self._found[spelling]

    def stated(self, value: Any) -> list[str]:
        """The leaves of a value that occur in the text, each in the spelling that occurs."""
        found = list[str]()
        for spellings in islice(_leaves(value), MAX_LEAVES):
            found += [spelling for spelling in spellings if self.of(spelling)][:1]
        return found

    def nearest(self, spelling: str, anchor: Source, start: int, end: int) -> Source | None:
        """The occurrence in `text[start:end]` that is nearest to the anchor: in its line, else in few lines; of two
        that are equally far the one before it, because text behind it may belong to the next item.
        """
        places, size = self.of(spelling), len(spelling)
        at = bisect_left(places, anchor.start)
        near = [
            Source(place, place + size)
            for place in places[max(0, at - 1) : at + 1]
            if start <= place and place + size <= end
        ]
        return min(near, key=lambda one: self._lines_between(one, anchor), default=None)

    def _lines_between(self, one: Source, other: Source) -> int:
        first, last = min(one.end, other.end), max(one.start, other.start)
        return self._text.count("\n", first, last)


def sources(items: Sequence[Any], text: str, offset: int) -> tuple[Source, ...]:
    """The source of each item of an array in `text`, which begins at `offset` in the document.

    Items are searched in order. Leaves that are further from the rarest one than two items of average length do not
    count as its neighbours.
    """
    places, cursor = _Places(text), 0
    reach = 2 * len(text) // max(1, len(items))
    found = list[Source | None]()
    for item in items:
        stated = places.stated(item)
        anchor = _anchor(stated, places, cursor)
        if anchor is None:
            found.append(None)
            continue
        begin = cursor if anchor.start >= cursor else 0
        near = [
            places.nearest(spelling, anchor, max(begin, anchor.start - reach), anchor.end + reach)
            for spelling in stated
        ]
        parts = [anchor, *(one for one in near if one is not None)]
        first, last = min(one.start for one in parts), max(one.end for one in parts)
        found.append(Source(first, last, max(1, len(parts) - 1)))
        cursor = max(cursor, last)
    return tuple(
        Source(offset + source.start, offset + source.end, source.leaves)
        for source in _placed(found, len(text))
    )


def _placed(found: Sequence[Source | None], end: int) -> Iterator[Source]:
    """The sources, with an estimate for each item that was not found: items in a row share the range between their
    neighbours evenly, and may be off by one.
    """
    at, previous = 0, 0
    while at < len(found):
        source = found[at]
        if source is not None:
            yield source
            previous, at = max(previous, source.end), at + 1
            continue
        until = next((other for other in range(at, len(found)) if found[other] is not None), None)
        row = (len(found) if until is None else until) - at
        following = None if until is None else found[until]
        limit = max(previous, end if following is None else following.start)
        for number in range(row):
            first, last = max(0, number - 1), min(row, number + 2)
            width = limit - previous
            yield Source(previous + width * first // row, previous + width * last // row)
        at += row


def stated_leaves(value: Any, text: str) -> int:
    """The number of leaves of a value that occur in `text`, of `MAX_LEAVES` at most."""
    return len(_Places(text).stated(value))


def _anchor(stated: Sequence[str], places: _Places, cursor: int) -> Source | None:
    """The place of the rarest leaf, of equal ones the longest: after the cursor, unless it is the only place."""
    ranked = sorted(stated, key=lambda spelling: (len(places.of(spelling)), -len(spelling)))
    for spelling in ranked:
        found = places.of(spelling)
        at = bisect_left(found, cursor)
        if len(found) == 1 or at < len(found):
            start = found[min(at, len(found) - 1)]
            return Source(start, start + len(spelling))
    if not ranked:
        return None
    start = places.of(ranked[0])[0]
    return Source(start, start + len(ranked[0]))


def _occurrences(spelling: str, text: str) -> Iterator[int]:
    """The places of a spelling that are not part of a longer word or number, in scripts that separate words."""
    at = text.find(spelling)
    while at >= 0:
        end = at + len(spelling)
        if not (_continues(text, at - 1, at, -1) or _continues(text, end, end - 1, 1)):
            yield at
        at = text.find(spelling, at + 1)


def _continues(text: str, outer: int, inner: int, step: int) -> bool:
    """Whether the characters at `outer` and `inner`, which are neighbours, belong to one word or number."""
    if not (0 <= outer < len(text) and _is_of_word(text[inner])):
        return False
    if _is_of_word(text[outer]):
        return True
    further = outer + step
    is_point = text[outer] in ".," and text[inner].isdigit()
    return is_point and 0 <= further < len(text) and text[further].isdigit()


def _is_of_word(character: str) -> bool:
    return character < _UNSEPARATED and (character.isalnum() or character == "_")


def _leaves(value: Any) -> Iterator[tuple[str, ...]]:
    """The leaves of a value that can occur in a text, each in its possible spellings."""
    if isinstance(value, dict):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, str):
        if value.strip():
            yield (value,)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield tuple(dict.fromkeys(_digits(value)))


def _digits(value: float) -> Iterator[str]:
    yield f"{value}"
    if abs(value) < 1e15:
        if isinstance(value, float):
            yield f"{value:.2f}"
            yield f"{value:,.2f}"
        yield f"{value:,}"
