"""One array of the whole document, joined from the items of its windows.

Does: append the items of each window in the order of the document, and recognise items that two windows read in the
text they share: by their source, or by equality where a source was not found. Does not: look at anything but items.

Two items are the same if the ranges of their leaves in the document meet. The one with more leaves in the text is kept,
the first of equal ones: a record that a window cuts off has fewer.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..extraction.decimals import key
from .sources import Source
from .split import Window


@dataclass(frozen=True, slots=True)
class ReadItem:
    """An item of one window: the `number` of the window, and its `index` in the array of that window."""

    value: Any
    source: Source
    number: int
    index: int


class JoinedItems:
    """Joins the items of one array. Windows are added in order.

    An item is settled when no later window can give it again. `most` items are kept, the first of the document, and
    equal ones once if they must be `unique`.
    """

    def __init__(self, most: int | None = None, *, unique: bool = False) -> None:
        self._most = most
        self._seen: set[Hashable] | None = set() if unique else None
        self._tail: list[ReadItem] = []
        self._tail_end = 0
        self.settled: list[ReadItem] = []
        self.dropped = 0

    def add(
        self, items: Sequence[ReadItem], window: Window, next_start: int | None
    ) -> Sequence[ReadItem]:
        """Add the items of a window; the items that this settles. `next_start` is where the next window begins."""
        shared = _shared_head(items, self._tail_end)
        joined = [*_joined(self._tail, items[:shared]), *items[shared:]]
        end = len(joined) if next_start is None else _first_in(joined, next_start)
        self._tail, self._tail_end = joined[end:], window.end
        return self._settle(joined[:end])

    def finish(self) -> Sequence[ReadItem]:
        """Settle the rest, after the last window."""
        rest, self._tail = self._tail, []
        return self._settle(rest)

    def _settle(self, items: Sequence[ReadItem]) -> Sequence[ReadItem]:
        kept = list(self._admitted(items))
        self.settled += kept
        return kept

    def _admitted(self, items: Sequence[ReadItem]) -> Iterator[ReadItem]:
        count = len(self.settled)
        for item in items:
            if self._seen is not None:
                known = key(item.value)
                if known in self._seen:
                    continue
                self._seen.add(known)
            if self._most is not None and count >= self._most:
                self.dropped += 1
                continue
            count += 1
            yield item


def _shared_head(items: Sequence[ReadItem], end: int) -> int:
    """The number of leading items that may come from the text before `end`, which the last window read too."""
    numbers = [number for number, item in enumerate(items) if item.source.start < end]
    return numbers[-1] + 1 if numbers else 0


def _first_in(items: Sequence[ReadItem], start: int) -> int:
    """The first item that may come from the text after `start`."""
    return next(
        (number for number, item in enumerate(items) if item.source.end > start), len(items)
    )


def _joined(tail: Sequence[ReadItem], head: Sequence[ReadItem]) -> list[ReadItem]:
    """The items of the text that two windows share, each once, in the order of the document."""
    joined, taken = list(tail), set[int]()
    for item in head:
        same = next(
            (
                at
                for at, other in enumerate(joined)
                if at not in taken and other.number != item.number and _are_same(other, item)
            ),
            None,
        )
        if same is not None:
            taken.add(same)
            if item.source.leaves > joined[same].source.leaves:
                joined[same] = item
            continue
        at = _place(joined, item)
        taken = {number + (number >= at) for number in taken}
        joined.insert(at, item)
    return joined


def _are_same(first: ReadItem, second: ReadItem) -> bool:
    if first.source.is_found and second.source.is_found:
        return first.source.meets(second.source.start, second.source.end)
    return key(first.value) == key(second.value)


def _place(items: Sequence[ReadItem], item: ReadItem) -> int:
    """The index of an item: before the first one with a later source, but after those of its own window."""
    own = [at for at, other in enumerate(items) if other.number == item.number]
    begin = own[-1] + 1 if own else 0
    if not item.source.is_found:
        return begin or len(items)
    return next(
        (
            at
            for at in range(begin, len(items))
            if items[at].source.is_found and items[at].source.start > item.source.start
        ),
        len(items),
    )
