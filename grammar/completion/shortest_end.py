"""A short way to the end of an output, in bytes: what a budget is kept with.

Does: take the way that the rules' structure gives, have it mended where a text must not come again, or else go around
such texts byte by byte. Every byte is read by the machine itself, so what comes out is legal. Does not: search rules
(`ways`), replace texts (`mending`), or promise the shortest way.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

import numpy as np

from ..machine import byte_step as w
from ..machine.cursor import Cursor
from ..machine.lazy_tables import CALLED, ENTRY, FLAGS, JUDGED, REMEMBERS
from ..machine.text_reader import Step
from .replacement import Replacement
from .search import MOST_BYTES, CompletionSearch, RuleGraph
from .shortest_texts import next_bytes, preferred_byte

_LONGER: Final = 2  # bytes by which a way may be longer than hoped for and is still taken at once
_POSTPONED: Final = (
    1 << 12
)  # ... for one that still ends with all that was refused, after another item
_MOST_TRIES: Final = 1024  # beginnings of texts that are tried in the place of refused ones
_MOST_READ: Final = 1 << 14  # bytes that are read one by one in all of these tries


class _Place(NamedTuple):
    """Where on a way a text begins; what it has in common with others of its activation that are read alike."""

    begun: int
    family: tuple[int, int] | None = None

    def has_same_texts(self, other: "_Place") -> bool:
        """Whether the same texts come into question."""
        return self.family is not None and self.family == other.family


class ShortestEnd:
    """A search for a way to the end, from a copy of a cursor."""

    def __init__(self, cursor: Cursor, graph: RuleGraph) -> None:
        self._cursor = cursor.fork()
        self._graph = graph
        self._machine = cursor.machine
        self._origin = len(cursor.output)
        self._steps: list[Step] = []
        self._reads = 0

    def text(self) -> bytes | None:
        """Bytes that complete the output; None if none were found within the bounds of the search."""
        way = CompletionSearch(self._graph, self._cursor).text()
        if way is None:
            return None
        mended = Replacement(self._cursor, self._graph).text(way)
        return self._around(way) if mended is None else mended

    def _around(self, way: bytes) -> bytes | None:
        """A way that comes by what is refused on `way`: beginnings are tried in its place, the shortest way first.

        Once a text has been passed, it stays; what was not tried in its place is tried for its next sibling.
        """
        text, here, tick = b"", _Place(0), count()
        others: list[tuple[int, int, bytes]] = []
        known: set[bytes] = set()
        for _ in range(_MOST_TRIES):
            if self._reads > _MOST_READ:
                return None
            if self._follow(way):
                return self._read_so_far
            whole, first, place = text + way, len(text), self._place()
            refused = whole[place.begun :]
            if place.begun > here.begun:
                if not place.has_same_texts(here):
                    others.clear()
                    known.clear()
                elif text[here.begun :]:  # longer ones that begin like the one just passed
                    heappush(others, (len(text) - here.begun, next(tick), text[here.begun :]))
                first, here = place.begun, place
            for at, byte in self._turnings(first, whole):
                turned = whole[here.begun : at] + byte
                if turned not in known:
                    known.add(turned)
                    heappush(others, (len(turned), next(tick), turned))
            while others and self._reads <= _MOST_READ:
                late, _, turned = heappop(others)
                text = whole[: here.begun] + turned
                found = self._way_from(text)
                if found is None or len(text) + len(found) > MOST_BYTES:
                    continue
                more = len(text) + len(found) - len(whole) + _POSTPONED * found.endswith(refused)
                if more <= _LONGER or not others or late > len(turned):
                    way = found
                    break
                heappush(others, (len(turned) + more, next(tick), turned))
            else:
                return None
        return None

    @property
    def _read_so_far(self) -> bytes:
        """What has been read on the way."""
        return bytes(self._cursor.output[self._origin :])

    def _read(self, byte: bytes) -> bool:
        """Read one byte, if it is legal."""
        cursor, memories = self._cursor, len(self._cursor.memories)
        text = np.frombuffer(byte, np.uint8).copy()
        self._reads += 1
        if cursor.read(text):
            self._steps.append(cursor.commit(text, memories))
            return True
        cursor.memories.cut(memories)
        return False

    def _follow(self, way: bytes) -> bool:
        """Read as much of `way` as is legal; whether the output is over then."""
        whole = all(self._read(way[at : at + 1]) for at in range(len(way)))
        return whole and self._cursor.can_end()

    def _place(self) -> "_Place":
        """Where the innermost text is, open or about to be, that can be refused as a whole."""
        cursor, tables = self._cursor, self._machine.tables
        frames = cursor.frames[: cursor.depth]
        if self._graph.leaf(cursor.state) is None:
            sites = [CALLED - move for move, _ in self._graph.moves(cursor.state) if move <= CALLED]
            for site in sites:
                if tables.sites[site, FLAGS] & (REMEMBERS | JUDGED):
                    begun = int(frames[-1, w.BEGUN])
                    return _Place(len(self._steps), (begun, int(tables.sites[site, ENTRY])))
        flagged = np.flatnonzero(tables.sites[frames[:, w.SITE], FLAGS] & (REMEMBERS | JUDGED))
        if not len(flagged):
            return _Place(0)
        frame = frames[flagged[-1]]
        begun = int(frames[frame[w.PARENT], w.BEGUN])
        entry = int(tables.sites[frame[w.SITE], ENTRY])
        return _Place(max(int(frame[w.BEGUN]) - self._origin, 0), (begun, entry))

    def _turnings(self, first: int, whole: bytes) -> Iterator[tuple[int, bytes]]:
        """(place, byte) of what else can be read in the places of `whole` from the last legal one back to `first`."""
        while True:
            at = len(self._steps)
            for byte in self._openings():
                if byte != whole[at : at + 1] and self._read(byte):
                    self._cursor.undo(self._steps.pop())
                    yield at, byte
            if at <= first:
                return
            self._cursor.undo(self._steps.pop())

    def _openings(self) -> Iterator[bytes]:
        """Bytes that may be legal; some stand for all that are alike."""
        graph, todo, seen = self._graph, [self._cursor.state], set[int]()
        while todo:
            state = todo.pop()
            leaf = graph.leaf(state)
            if state in seen:
                continue
            seen.add(state)
            if leaf is not None:
                yield from next_bytes(*leaf)
                continue
            for move, taken in graph.moves(state):
                if move <= CALLED:
                    todo.append(int(self._machine.tables.sites[CALLED - move, ENTRY]))
                else:
                    yield preferred_byte(taken)

    def _way_from(self, text: bytes) -> bytes | None:
        """A way from where the cursor is after `text`; None if `text` is not legal or there is none."""
        same = 0
        said = self._read_so_far
        while same < min(len(said), len(text)) and said[same] == text[same]:
            same += 1
        while len(self._steps) > same:
            self._cursor.undo(self._steps.pop())
        if not all(self._read(text[at : at + 1]) for at in range(same, len(text))):
            return None
        return CompletionSearch(self._graph, self._cursor).text()
