"""Which of several places of a value is its source, decided by the places of its neighbours in the answer.

Does: minimise distances, exactly. Does not: ask the model, or read the document.

The rule. Values of one object are close together: their places are chosen so that the stretch of text from the first to
the last is the shortest. The items of an array follow the order of the array: each item begins after the one before it;
as few items as possible break this order, and then the sum of the stretches is minimal. An array within an item is
searched between the start of this item and the start of the next, as far as its values occur there. Equal values of one
object take successive places, as far as there are any before the next item. Of equally good choices the earlier one is
taken.
"""

import heapq
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from .data_leaves import LeafGroup

Range = tuple[int, int]
Places = Mapping[str, Sequence[Range]]

_STATES: Final = 512  # of the cheapest partial choices of an array that are kept
_OUT_OF_ORDER: Final = 1 << 40  # costs more than all stretches of a document


class Stretch(NamedTuple):
    """A part of the text with a place of each value of a record."""

    begin: int
    end: int

    @property
    def length(self) -> int:
        """In code points."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class _Partial:
    """Choices for the first items of an array: the start of the last one in order, and their cost."""

    begin: int
    cost: int
    stretch: Stretch | None = None  # of the last item; None if it is not in order
    previous: "_Partial | None" = None


def choose(root: LeafGroup, places: Places) -> dict[str, Range]:
    """One place for each scalar that has places; `places` are sorted, by JSON Pointer."""
    chosen = dict[str, Range]()
    everywhere = Stretch(0, 1 << 40)
    own = _within(root, places, everywhere)
    _take(own, shortest(stretches(own.values())), everywhere.end, chosen)
    waiting = [(items, everywhere) for items in root.arrays]
    while waiting:
        items, area = waiting.pop()
        found = [_within(item, places, area) for item in items]
        ordered = in_order([stretches(own.values()) for own in found])
        limit = area.end
        for item, own, stretch in zip(
            reversed(items), reversed(found), reversed(ordered), strict=True
        ):
            inner, end = area, 0
            if stretch is not None:
                inner, end = Stretch(stretch.begin, max(limit, stretch.end)), limit
                limit = stretch.begin
            _take(own, stretch or shortest(stretches(own.values())), end, chosen)
            waiting.extend((part, inner) for part in item.arrays)
    return chosen


def _within(record: LeafGroup, places: Places, area: Stretch) -> dict[str, Sequence[Range]]:
    """The places of a record's own scalars: those in the area, else all; without those that have none."""
    found = dict[str, Sequence[Range]]()
    for pointer in record.leaves:
        everywhere = places.get(pointer, ())
        inside = [p for p in everywhere if area.begin <= p[0] and p[1] <= area.end]
        if inside or everywhere:
            found[pointer] = inside or everywhere
    return found


def _take(own: Places, stretch: Stretch | None, end: int, chosen: dict[str, Range]) -> None:
    """Choose the first place of each scalar in the stretch; for equal ones the next place up to `end`, if any."""
    if stretch is None:
        return
    # By number, first and last place: the index taken last.
    last = dict[tuple[int, Range, Range], int]()
    for pointer, ranges in own.items():
        same = len(ranges), ranges[0], ranges[-1]
        if same in last:
            after = last[same] + 1
            is_free = after < len(ranges) and ranges[after][1] <= max(end, stretch.end)
            last[same] += is_free
        else:
            first = bisect_left(ranges, (stretch.begin, 0))
            last[same] = next(
                at for at in range(first, len(ranges)) if ranges[at][1] <= stretch.end
            )
        chosen[pointer] = ranges[last[same]]


def stretches(places: Iterable[Sequence[Range]]) -> list[Stretch]:
    """The stretches with a place of each value that contain no other such stretch, in order; none without values."""
    values = list(places)
    ordered = sorted(
        ((start, end, value) for value, ranges in enumerate(values) for start, end in ranges),
        key=lambda place: -place[0],
    )
    # From the last place to the first: by value, the least end of a place that has been passed.
    ends = [math.inf] * len(values)
    missing = len(values)
    latest: list[tuple[float, int]] = []
    found: list[Stretch] = []
    for at, (start, end, value) in enumerate(ordered):
        missing -= ends[value] == math.inf
        if end < ends[value]:
            ends[value] = end
            heapq.heappush(latest, (-end, value))
        if missing or (at + 1 < len(ordered) and ordered[at + 1][0] == start):
            continue
        while -latest[0][0] != ends[latest[0][1]]:
            heapq.heappop(latest)
        last = int(-latest[0][0])
        if not found or last < found[-1].end:
            found.append(Stretch(start, last))
    return found[::-1]


def shortest(found: Iterable[Stretch]) -> Stretch | None:
    """The shortest stretch, of equals the first; None if there is none."""
    return min(found, key=lambda stretch: stretch.length, default=None)


def in_order(items: Sequence[Sequence[Stretch]]) -> list[Stretch | None]:
    """One stretch for each item such that they begin one after another; None for an item out of order or without any.

    `items`: the possible stretches of each, in order.
    """
    states = [_Partial(-1, 0)]
    for found in items:
        penalty = _OUT_OF_ORDER if found else 0
        after = [_Partial(s.begin, s.cost + penalty, None, s) for s in states]
        begins = [state.begin for state in states]
        for stretch in found:
            # Later states are cheaper.
            before = states[bisect_left(begins, stretch.begin) - 1]
            if before.begin < stretch.begin:
                after.append(_Partial(stretch.begin, before.cost + stretch.length, stretch, before))
        states = _cheaper_and_cheaper(after)[-_STATES:]
    chosen: list[Stretch | None] = []
    state: _Partial | None = states[-1]
    while state is not None and state.previous is not None:
        chosen.append(state.stretch)
        state = state.previous
    return chosen[::-1]


def _cheaper_and_cheaper(states: list[_Partial]) -> list[_Partial]:
    """The states, by begin, that cost less than all with a smaller begin."""
    kept: list[_Partial] = []
    for state in sorted(states, key=lambda state: (state.begin, state.cost)):
        if not kept or state.cost < kept[-1].cost:
            kept.append(state)
    return kept
