"""A short end of an output, in bytes: the completion that budgets are kept with.

Does: search a completion over the rules and replace the texts in it that must not come twice; if that fails, try other
beginnings of these texts byte by byte. The machine reads every byte, so the result is legal. Does not: search rules
(`search`), replace texts (`replacement`), or guarantee the shortest end.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

import numpy as np

from ..base.parts import Parts
from ..contract.work import BYTE, spend
from ..machine import byte_step as w
from ..machine.cursor import Cursor, reach_parts
from ..machine.lazy_tables import CALLED, ENTRY, FLAGS, JUDGED, REMEMBERS
from ..machine.text_reader import Step
from .replacement import Replacement
from .rule_graph import MOST_BYTES, RuleGraph
from .search import CompletionSearch
from .shortest_texts import next_bytes, preferred_byte

_LONGER: Final = 2  # bytes by which a completion may exceed the estimate and is still taken at once
# Bytes added to the length of a completion that again ends with the refused text, after another item.
_POSTPONED: Final = 1 << 12
_MOST_TRIES: Final = 1024  # beginnings tried in the place of refused texts
_MOST_SEARCHES: Final = 8  # that begin after the legal part of a completion
_BYTES_OF_PART: Final = 16
_MOST_READ: Final = 1 << 14  # bytes read one by one in all these tries


class _Place(NamedTuple):
    """Where a text begins in a completion, and a key that is equal for texts read alike in one activation."""

    begun: int
    family: tuple[int, int] | None = None

    def has_same_texts(self, other: "_Place") -> bool:
        """Whether the same texts are possible at both places."""
        return self.family is not None and self.family == other.family


class ShortestEnd:
    """A search for a short end, from a copy of a cursor."""

    def __init__(self, cursor: Cursor, graph: RuleGraph) -> None:
        self._cursor = cursor.fork()
        self._graph = graph
        self._machine = cursor.machine
        self._origin = len(cursor.output)
        self._steps: list[Step] = []
        self._reads = 0

    def text(self) -> Parts[bytes | None]:
        """Bytes that complete the output; None if the search finds none within its bounds."""
        completion = yield from CompletionSearch(self._graph, self._cursor).text()
        if completion is None:
            return None
        found = yield from self._mended(self._cursor, completion)
        if found is None:
            found = yield from self._searched_again(completion)
        return (yield from self._avoid_refused(completion)) if found is None else found

    def _mended(self, cursor: Cursor, completion: bytes) -> Parts[bytes | None]:
        """A completion with other texts in place of those that are refused, or wrongly new or repeated."""
        found = yield from Replacement(cursor, self._graph).text(completion)
        if found is None:
            found = yield from Replacement(cursor, self._graph, distinct=True).text(completion)
        if found is None:
            found = yield from Replacement(cursor, self._graph).with_a_copy(completion)
        return found

    def _searched_again(self, completion: bytes) -> Parts[bytes | None]:
        """A completion that begins with the legal part of one: there it is known which texts in it are repeated."""
        cursor, read = self._cursor.fork(), b""
        for _ in range(_MOST_SEARCHES):
            memories = len(cursor.memories)
            text = np.frombuffer(completion, np.uint8).copy()
            done, _ = yield from reach_parts(cursor, text)
            cursor.memories.cut(memories)
            if not (0 < done < len(completion)) or not cursor.read(text[:done]):
                cursor.memories.cut(memories)
                return None
            cursor.commit(text[:done], memories)
            read += completion[:done]
            more = yield from CompletionSearch(self._graph, cursor).text()
            found = None if more is None else (yield from self._mended(cursor, more))
            if more is None or found is not None:
                return None if found is None else read + found
            completion = more
        return None

    def _avoid_refused(self, completion: bytes) -> Parts[bytes | None]:
        """A completion without the texts refused in `completion`: other beginnings are tried, the shortest first.

        A text that was read is not changed again; beginnings not tried in its place are tried for its next sibling.
        """
        text, here, tick = b"", _Place(0), count()
        waiting: list[tuple[int, int, bytes]] = []
        known: set[bytes] = set()
        for _ in range(_MOST_TRIES):
            if self._reads > _MOST_READ:
                return None
            if (yield from self._read_all(completion)):
                return self._read_so_far
            whole, first, place = text + completion, len(text), self._place()
            refused = whole[place.begun :]
            if place.begun > here.begun:
                if not place.has_same_texts(here):
                    waiting.clear()
                    known.clear()
                elif text[here.begun :]:  # longer texts with the beginning of the last one
                    heappush(waiting, (len(text) - here.begun, next(tick), text[here.begun :]))
                first, here = place.begun, place
            for at, byte in self._other_bytes(first, whole):
                yield
                beginning = whole[here.begun : at] + byte
                if beginning not in known:
                    known.add(beginning)
                    heappush(waiting, (len(beginning), next(tick), beginning))
            while waiting and self._reads <= _MOST_READ:
                late, _, beginning = heappop(waiting)
                text = whole[: here.begun] + beginning
                found = yield from self._completion_after(text)
                if found is None or len(text) + len(found) > MOST_BYTES:
                    continue
                more = len(text) + len(found) - len(whole) + _POSTPONED * found.endswith(refused)
                if more <= _LONGER or not waiting or late > len(beginning):
                    completion = found
                    break
                heappush(waiting, (len(beginning) + more, next(tick), beginning))
            else:
                return None
        return None

    @property
    def _read_so_far(self) -> bytes:
        """The bytes read since the start of the search."""
        return bytes(self._cursor.output[self._origin :])

    def _read(self, byte: bytes) -> bool:
        """Read one byte, if it is legal."""
        cursor, memories = self._cursor, len(self._cursor.memories)
        text = np.frombuffer(byte, np.uint8).copy()
        self._reads += 1
        spend(BYTE)
        if cursor.read(text):
            self._steps.append(cursor.commit(text, memories))
            return True
        cursor.memories.cut(memories)
        return False

    def _read_all(self, completion: bytes) -> Parts[bool]:
        """Read `completion` as far as it is legal; whether that was all, and the output may end."""
        whole = yield from self._read_legal(completion)
        return whole and self._cursor.can_end()

    def _read_legal(self, text: bytes) -> Parts[bool]:
        """Read `text` byte by byte as far as it is legal; whether that was all."""
        for at in range(len(text)):
            if not self._read(text[at : at + 1]):
                return False
            if at % _BYTES_OF_PART == 0:
                yield
        return True

    def _place(self) -> "_Place":
        """The place of the innermost text, open or about to begin, that can be refused as a whole."""
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

    def _other_bytes(self, first: int, whole: bytes) -> Iterator[tuple[int, bytes]]:
        """(place, byte) for other legal bytes at the places of `whole`, from the last legal one back to `first`."""
        while True:
            at = len(self._steps)
            for byte in self._possible_bytes():
                if byte != whole[at : at + 1] and self._read(byte):
                    self._cursor.undo(self._steps.pop())
                    yield at, byte
            if at <= first:
                return
            self._cursor.undo(self._steps.pop())

    def _possible_bytes(self) -> Iterator[bytes]:
        """Bytes that may be legal; a few represent all bytes of a class."""
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

    def _completion_after(self, text: bytes) -> Parts[bytes | None]:
        """A completion after `text`; None if `text` is illegal or no completion was found."""
        same = 0
        read = self._read_so_far
        while same < min(len(read), len(text)) and read[same] == text[same]:
            same += 1
        while len(self._steps) > same:
            self._cursor.undo(self._steps.pop())
        if not (yield from self._read_legal(text[same:])):
            return None
        return (yield from CompletionSearch(self._graph, self._cursor).text())
