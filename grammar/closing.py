"""A short way to the end of an output, in bytes: what a budget is kept with.

Does: take the way that the rules' structure gives, have the machine read it, and go around texts that must not come
again. Every byte is read by the machine itself, so what comes out is legal. Does not: search rules (`ways`), or promise
the shortest way.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Final

import numpy as np

from . import walk as w
from .cursor import Cursor, Step
from .nearest import liked, openings
from .tables import FINAL, FLAGS, JUDGED, REMEMBERS
from .ways import MOST_BYTES, Search, Ways

_MOST_TRIES: Final = 1024  # beginnings of texts that are tried in the place of refused ones


class Closing:
    """A search for a way to the end, from a copy of a cursor."""

    def __init__(self, cursor: Cursor, ways: Ways) -> None:
        self._cursor = cursor.fork()
        self._ways = ways
        self._machine = cursor.machine
        self._origin = len(cursor.output)
        self._steps: list[Step] = []

    def text(self) -> bytes | None:
        """Bytes that complete the output; None if none were found within the bounds of the search."""
        way = Search(self._ways, self._cursor).text()
        if way is None or self._is_whole(way):
            return way
        return self._around(way)

    def _is_whole(self, way: bytes) -> bool:
        """Whether the output is over after `way`; the cursor has not moved."""
        cursor, memories = self._cursor, len(self._cursor.memories)
        text = np.frombuffer(way, np.uint8).copy()
        over = cursor.read(text)
        if over and cursor.note[w.STATE] != FINAL:
            step = cursor.commit(text, memories)
            over = cursor.can_end()
            cursor.undo(step)
        cursor.memories.cut(memories)
        return over

    def _around(self, way: bytes) -> bytes | None:
        """A way that comes by what is refused on `way`: texts are tried in its place, the shortest way first.

        Once a text has been passed, it stays.
        """
        text, fixed, tick = b"", 0, count()
        others: list[tuple[int, int, bytes]] = []
        for _ in range(_MOST_TRIES):
            if self._follow(way):
                return self._said
            begun = self._begun()
            if begun > fixed:
                others.clear()
                fixed, text = begun, self._said[:begun]
            whole = text + way
            for at, byte in self._turnings(max(fixed, len(text)), whole):
                heappush(others, (len(whole), next(tick), whole[:at] + byte))
            while others:
                far, _, text = heappop(others)
                found = self._way_from(text)
                if found is None or len(text) + len(found) > MOST_BYTES:
                    continue
                if len(text) + len(found) <= far or not others:
                    way = found
                    break
                heappush(others, (len(text) + len(found), next(tick), text))
            else:
                return None
        return None

    @property
    def _said(self) -> bytes:
        """What has been read on the way."""
        return bytes(self._cursor.output[self._origin :])

    def _read(self, byte: bytes) -> bool:
        """Read one byte, if it is legal."""
        cursor, memories = self._cursor, len(self._cursor.memories)
        text = np.frombuffer(byte, np.uint8).copy()
        if cursor.read(text):
            self._steps.append(cursor.commit(text, memories))
            return True
        cursor.memories.cut(memories)
        return False

    def _follow(self, way: bytes) -> bool:
        """Read as much of `way` as is legal; whether the output is over then."""
        whole = all(self._read(way[at : at + 1]) for at in range(len(way)))
        return whole and self._cursor.can_end()

    def _begun(self) -> int:
        """Where on the way the innermost open text begins that can be refused as a whole."""
        cursor = self._cursor
        flags = self._machine.tables.sites[cursor.frames[: cursor.depth, w.SITE], FLAGS]
        frames = np.flatnonzero(flags & (REMEMBERS | JUDGED))
        if not len(frames):
            return 0
        return max(int(cursor.frames[frames[-1], w.BEGUN]) - self._origin, 0)

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
        state, leaf = self._cursor.state, self._ways.leaf(self._cursor.state)
        if leaf is None:
            yield from (liked(taken) for _, taken in self._ways.moves(state))
        else:
            yield from openings(*leaf)

    def _way_from(self, text: bytes) -> bytes | None:
        """A way from where the cursor is after `text`; None if `text` is not legal or there is none."""
        same = 0
        said = self._said
        while same < min(len(said), len(text)) and said[same] == text[same]:
            same += 1
        while len(self._steps) > same:
            self._cursor.undo(self._steps.pop())
        if not all(self._read(text[at : at + 1]) for at in range(same, len(text))):
            return None
        return Search(self._ways, self._cursor).text()
