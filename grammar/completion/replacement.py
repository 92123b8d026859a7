"""A way to the end in which refused texts are replaced by others, one after the other.

Does: read a way as far as it is legal; where a text is refused because it came before, or by a judge, put another of
the same kind in its place, and go on with the rest of the way. What was tried for one item of an array is not tried
again for the next, so the work grows with the number of items. Does not: search rules (`ways`), or change the way
between such texts.

Another text of the same kind is one whose leaves end with the same outcomes: in `{"a":"","b":0}` another string or
another number. So whatever follows the text is legal after the other one, too, but for texts that came before.
"""

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count, islice
from typing import Final, NamedTuple

import numpy as np

from ..automata import Dfa
from ..base.array_types import Bytes
from ..machine import byte_step as w
from ..machine import walk_state as n
from ..machine.cursor import Cursor
from ..machine.lazy_tables import ALPHABET, CALLED, ENTRY, FINAL, ROW
from ..machine.text_reader import Refused
from .search import RuleGraph
from .shortest_texts import in_order

_MOST_TRIES: Final = 4096  # texts, of all items of a way together
_MOST_OF_ITEM: Final = 64  # ... of one, besides as many as were said before
_MOST_OF_LEAF: Final = 4096  # texts of one leaf
_MOST_ITEM: Final = 2048  # bytes of a text that is replaced
_MOST_LEAVES: Final = 16  # of one text, the last ones


class _Piece(NamedTuple):
    """The text of a leaf within an item: its place, its automaton, and how many of its bytes have been written."""

    start: int
    end: int
    dfa: Dfa
    written: int


class _Others:
    """Texts of the same kind as one, of which `written` bytes stay; the shortest first, and each comes once."""

    def __init__(self, item: bytes, mending: "Replacement", written: int) -> None:
        self._mending = mending
        self._written = written
        self._known = {item}
        self._tick = count()
        self._heap: list[tuple[int, int, bytes, Iterator[bytes]]] = []
        self._later = deque([item])  # texts whose own others have not been looked at

    def __iter__(self) -> Iterator[bytes]:
        while self._heap or self._later:
            if not self._heap:
                item = self._later.popleft()
                for piece in self._mending.pieces(item, self._written):
                    self._next(self._mending.others_of(item, piece))
                continue
            _, _, text, more = heappop(self._heap)
            self._next(more)
            if text not in self._known:
                self._known.add(text)
                self._later.append(text)
                yield text

    def _next(self, more: Iterator[bytes]) -> None:
        for text in more:
            heappush(self._heap, (len(text), next(self._tick), text, more))
            return


def _outcome(dfa: Dfa, item: bytes, piece: _Piece) -> int:
    state = 0
    for byte in item[piece.start : piece.end]:
        state = dfa.step(state, byte)
    return int(dfa.outcome[state])


class Replacement:
    """From a cursor on, which is not moved."""

    def __init__(self, cursor: Cursor, graph: RuleGraph) -> None:
        self._cursor = cursor.fork()
        self._graph = graph
        self._tries = _MOST_TRIES
        self._alone: dict[tuple[Dfa, int], Dfa] = {}  # leaves with one outcome
        self._others: dict[tuple[int, int, int, bytes], Iterator[bytes]] = {}

    def text(self, way: bytes) -> bytes | None:
        """`way`, or one like it, that completes the output; None if none was found."""
        cursor, origin = self._cursor, len(self._cursor.output)
        while True:
            memories = len(cursor.memories)
            done, refused = cursor.reach(_bytes(way))
            if done == len(way) and self._is_over(way, memories):
                cursor.memories.cut(memories)
                return bytes(cursor.output[origin:]) + way
            family = None if refused is None else self._family(refused)
            cursor.memories.cut(memories)
            if done == len(way) or refused is None or family is None:
                return None  # a number that ends the output may be refused there: there is no other place for it
            offset = len(cursor.output)
            replaced = self._replaced(way, refused.begun - offset, refused.until - offset, family)
            if replaced is None:
                return None
            way = replaced

    def _family(self, refused: Refused) -> tuple[int, int]:
        """The same for all texts of one array or object that are read alike."""
        cursor = self._cursor
        begun = int(cursor.frames[refused.parent, w.BEGUN])
        return begun, int(cursor.machine.tables.sites[refused.site, ENTRY])

    def _is_over(self, way: bytes, memories: int) -> bool:
        """Whether the output is over, or may be, after `way`, which has just been read."""
        cursor = self._cursor
        if cursor.note[n.STATE] == FINAL:
            return True
        step = cursor.commit(_bytes(way), memories)
        over = cursor.can_end()
        cursor.undo(step)
        return over

    def _replaced(self, way: bytes, begun: int, end: int, family: tuple[int, int]) -> bytes | None:
        """The rest of `way` after another text in the place of that from `begun` to `end`, which has been read then."""
        cursor = self._cursor
        if begun > 0:
            self._commit(way[:begun])
            way, end, begun = way[begun:], end - begun, 0
        written = -begun
        item, rest = bytes(cursor.output[len(cursor.output) - written :]) + way[:end], way[end:]
        if len(item) > _MOST_ITEM:
            return None
        key = (*family, written, item)
        others = self._others.get(key)
        if others is None:
            others = self._others[key] = iter(_Others(item, self, written))
        before = bytes(cursor.output[-written - 1 :][:1])
        # A text that stands further along the way would be refused there, and its own replacement after it.
        unused = (other for other in others if before + other + rest[:1] not in rest)
        for other in islice(unused, _MOST_OF_ITEM + len(cursor.memories)):
            self._tries -= 1
            if self._tries < 0:
                return None
            text = other[written:]
            taken = self._is_taken(text, rest)
            if taken:
                self._commit(text)
                return rest
            if taken is None:
                return None
        return None

    def _is_taken(self, text: bytes, rest: bytes) -> bool | None:
        """Whether `text` is legal, and what follows it; None: what follows is not, whatever the text."""
        cursor, memories = self._cursor, len(self._cursor.memories)
        tried = text + rest[:1]
        done, refused = cursor.reach(_bytes(tried))
        taken: bool | None = done == len(tried) and (rest != b"" or self._is_over(tried, memories))
        cursor.memories.cut(memories)
        return None if not taken and done >= len(text) and rest and refused is None else taken

    def _commit(self, text: bytes) -> None:
        cursor, memories = self._cursor, len(self._cursor.memories)
        cursor.reach(_bytes(text))
        cursor.commit(_bytes(text), memories)

    def pieces(self, item: bytes, written: int) -> list[_Piece]:
        """The leaves in an item of which so many bytes stand before the cursor, the last ones first."""
        cursor = self._cursor.fork()
        begun = len(cursor.output) - written
        found: dict[int, _Piece] = {}
        leaf = self._graph.leaf(cursor.state)
        if leaf is not None:
            start = int(cursor.frames[cursor.depth - 1, w.BEGUN]) - begun
            if start >= 0:
                found[start] = _Piece(start, _end(leaf[0], item, start), leaf[0], written - start)
        for at in range(written, len(item)):
            dfa = self._entered(cursor.state, item[at])
            if dfa is not None:
                found[at] = _Piece(at, _end(dfa, item, at), dfa, 0)
            memories = len(cursor.memories)
            byte = _bytes(item[at : at + 1])
            if cursor.reach(byte)[0] == 0:
                break
            cursor.commit(byte, memories)
        return [piece for _, piece in sorted(found.items(), reverse=True) if piece.end > 0][
            :_MOST_LEAVES
        ]

    def _entered(self, state: int, byte: int) -> Dfa | None:
        """The leaf that begins with a byte read in a state."""
        machine = self._cursor.machine
        if self._graph.leaf(state) is not None or state == FINAL:
            return None
        while True:
            if machine.tables.states[state, ROW] < 0:
                machine.expand(state)
            tables = machine.tables
            part = tables.alphabets[tables.states[state, ALPHABET], byte]
            move = int(tables.cells[tables.states[state, ROW] + part])
            if move > CALLED:
                return None
            state = int(tables.sites[CALLED - move, ENTRY])
            leaf = self._graph.leaf(state)
            if leaf is not None:
                return leaf[0]

    def others_of(self, item: bytes, piece: _Piece) -> Iterator[bytes]:
        """`item` with another text of the same outcome in the place of one of its leaves."""
        own = item[piece.start : piece.end]
        key = piece.dfa, _outcome(piece.dfa, item, piece)
        if key not in self._alone:
            self._alone[key] = piece.dfa.restrict([key[1]])
        dfa = self._alone[key]
        longest = len(own) + _MOST_ITEM - len(item)
        for _, text in in_order(dfa, own[: piece.written], _MOST_OF_LEAF, longest):
            if text != own:
                yield item[: piece.start] + text + item[piece.end :]


def _bytes(text: bytes) -> Bytes:
    return np.frombuffer(text, np.uint8).copy()


def _end(dfa: Dfa, item: bytes, start: int) -> int:
    """Where the longest text of a leaf ends that begins at `start`; 0: there is none."""
    state, end = 0, 0
    for at in range(start, len(item)):
        state = dfa.step(state, item[at])
        if state < 0:
            break
        if dfa.outcome[state] >= 0:
            end = at + 1
    return end
