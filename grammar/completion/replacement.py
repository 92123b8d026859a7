"""Replacement of the refused texts in a completion by alternatives, one after the other.

Does: read a completion as far as it is legal. Where a text is refused, because it was seen before or by a judge, put an
alternative in its place and go on with the rest. An alternative tried for one item of an array is not tried again for
the next item, so the work grows with the number of items. Does not: search rules (`search`), or change the completion
between these texts.

The leaves of an alternative end with the same outcomes: for `{"a":"","b":0}`, another string or another
number. So the rest of the completion is legal after it as well, apart from texts seen before.
"""

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count, islice
from typing import Final, NamedTuple

import numpy as np

from ..automata import Dfa
from ..base.array_types import Bytes
from ..base.parts import Parts
from ..machine import byte_step as w
from ..machine import walk_state as n
from ..machine.cursor import Cursor, reach_parts
from ..machine.lazy_tables import ALPHABET, CALLED, ENTRY, FINAL, ROW
from ..machine.seen_texts import SeenText
from ..machine.text_reader import Refused
from .rule_graph import RuleGraph
from .shortest_texts import in_order

_MOST_TRIES: Final = 4096  # alternatives, for all texts of a completion together
_MOST_OF_ITEM: Final = 64  # alternatives for one text, in addition to the number of seen texts
_MOST_OF_LEAF: Final = 4096  # texts of one leaf
_MOST_ITEM: Final = 2048  # bytes of a text that is replaced
_MOST_LEAVES: Final = 16  # of one text, counted from its end


class _LeafText(NamedTuple):
    """The text of a leaf within an item: its span, its automaton, and the number of its bytes already written."""

    start: int
    end: int
    dfa: Dfa
    written: int


class _Alternatives:
    """The alternatives to an item with the same first `written` bytes; shortest first, each once."""

    def __init__(self, item: bytes, replacement: "Replacement", written: int) -> None:
        self._replacement = replacement
        self._written = written
        self._known = {item}
        self._tick = count()
        self._heap: list[tuple[int, int, bytes, Iterator[bytes]]] = []
        self._unexpanded = deque([item])  # texts still to be varied

    def __iter__(self) -> Iterator[bytes]:
        while self._heap or self._unexpanded:
            if not self._heap:
                item = self._unexpanded.popleft()
                for piece in self._replacement.pieces(item, self._written):
                    self._next(self._replacement.alternatives_of(item, piece))
                continue
            _, _, text, more = heappop(self._heap)
            self._next(more)
            if text not in self._known:
                self._known.add(text)
                self._unexpanded.append(text)
                yield text

    def _next(self, more: Iterator[bytes]) -> None:
        for text in more:
            heappush(self._heap, (len(text), next(self._tick), text, more))
            return


def _outcome(dfa: Dfa, item: bytes, piece: _LeafText) -> int:
    state = 0
    for byte in item[piece.start : piece.end]:
        state = dfa.step(state, byte)
    return int(dfa.outcome[state])


class Replacement:
    """Replaces refused texts in completions from a cursor on, which is not moved.

    `distinct`: replaces also texts that may be repeated.
    """

    def __init__(self, cursor: Cursor, graph: RuleGraph, *, distinct: bool = False) -> None:
        self._cursor = cursor.fork()
        self._graph = graph
        self._distinct = distinct
        self._tries = _MOST_TRIES
        self._one_outcome: dict[tuple[Dfa, int], Dfa] = {}  # leaves with one outcome
        self._alternatives: dict[tuple[int, int, int, bytes], Iterator[bytes]] = {}

    def text(self, end: bytes) -> Parts[bytes | None]:
        """Bytes that complete the output: `end` with its refused texts replaced; None if no alternative was found."""
        cursor, origin = self._cursor, len(self._cursor.output)
        while True:
            memories = len(cursor.memories)
            done, refused = yield from reach_parts(cursor, _bytes(end), distinct=self._distinct)
            if done == len(end) and self._is_over(end, memories):
                cursor.memories.cut(memories)
                return bytes(cursor.output[origin:]) + end
            family = None if refused is None else self._family(refused)
            cursor.memories.cut(memories)
            if done == len(end) or refused is None or family is None:
                # A number at the end of the output may be refused there: no other place is known.
                return None
            offset = len(cursor.output)
            begun, until = refused.begun - offset, refused.until - offset
            replaced = yield from self._replaced(end, begun, until, family)
            if replaced is None:
                return None
            end = replaced

    def with_a_copy(self, end: bytes) -> Parts[bytes | None]:
        """`end` with one text replaced by an earlier one of its container, the last one that makes it legal."""
        cursor, offset = self._cursor, len(self._cursor.output)
        memories = len(cursor.memories)
        yield from reach_parts(cursor, _bytes(end))
        copies = [
            (seen.until - offset - len(seen.text), seen.until - offset, earlier.text)
            for seen, others in map(self._texts_of, range(memories, len(cursor.memories)))
            for earlier in others
        ]
        cursor.memories.cut(memories)
        for begun, until, text in islice(reversed(copies), _MOST_OF_ITEM):
            written = bytes(cursor.output[offset + begun :]) if begun < 0 else b""
            if not text.startswith(written):
                continue
            tried = end[: max(begun, 0)] + text[len(written) :] + end[until:]
            done, _ = yield from reach_parts(cursor, _bytes(tried))
            over = done == len(tried) and self._is_over(tried, memories)
            cursor.memories.cut(memories)
            if over:
                return tried
        return None

    def _texts_of(self, version: int) -> tuple[SeenText, list[SeenText]]:
        """The text that a version adds, and the texts before it."""
        memories = self._cursor.memories
        return memories.last(version), list(memories.texts(memories.parent(version)))

    def _family(self, refused: Refused) -> tuple[int, int]:
        """A key that is equal for all texts of one array or object that are read from the same state."""
        cursor = self._cursor
        begun = int(cursor.frames[refused.parent, w.BEGUN])
        return begun, int(cursor.machine.tables.sites[refused.site, ENTRY])

    def _is_over(self, end: bytes, memories: int) -> bool:
        """Whether the output is over, or may end, after `end`, which has just been read."""
        cursor = self._cursor
        if cursor.note[n.STATE] == FINAL:
            return True
        step = cursor.commit(_bytes(end), memories)
        over = cursor.can_end()
        cursor.undo(step)
        return over

    def _replaced(
        self, completion: bytes, begun: int, end: int, family: tuple[int, int]
    ) -> Parts[bytes | None]:
        """Replace `completion[begun:end]` and read up to the end of the new text; returns the rest of `completion`."""
        cursor = self._cursor
        if begun > 0:
            self._commit(completion[:begun])
            completion, end, begun = completion[begun:], end - begun, 0
        written = -begun
        item = bytes(cursor.output[len(cursor.output) - written :]) + completion[:end]
        rest = completion[end:]
        if len(item) > _MOST_ITEM:
            return None
        key = (*family, written, item)
        alternatives = self._alternatives.get(key)
        if alternatives is None:
            alternatives = self._alternatives[key] = iter(_Alternatives(item, self, written))
        before = bytes(cursor.output[-written - 1 :][:1])
        # An alternative that occurs later in the completion would be refused there.
        unused = (other for other in alternatives if before + other + rest[:1] not in rest)
        for other in islice(unused, _MOST_OF_ITEM + len(cursor.memories)):
            self._tries -= 1
            if self._tries < 0:
                return None
            yield
            text = other[written:]
            taken = yield from self._is_taken(text, rest)
            if taken:
                self._commit(text)
                return rest
            if taken is None:
                return None
        return None

    def _is_taken(self, text: bytes, rest: bytes) -> Parts[bool | None]:
        """Whether `text` and the byte after it are legal; None: that byte is illegal after any text."""
        cursor, memories = self._cursor, len(self._cursor.memories)
        tried = text + rest[:1]
        done, refused = yield from reach_parts(cursor, _bytes(tried), distinct=self._distinct)
        taken: bool | None = done == len(tried) and (rest != b"" or self._is_over(tried, memories))
        cursor.memories.cut(memories)
        return None if not taken and done >= len(text) and rest and refused is None else taken

    def _commit(self, text: bytes) -> None:
        cursor, memories = self._cursor, len(self._cursor.memories)
        cursor.reach(_bytes(text))
        cursor.commit(_bytes(text), memories)

    def pieces(self, item: bytes, written: int) -> list[_LeafText]:
        """The texts of leaves in an item, last first; its first `written` bytes are before the cursor."""
        cursor = self._cursor.fork()
        begun = len(cursor.output) - written
        found: dict[int, _LeafText] = {}
        leaf = self._graph.leaf(cursor.state)
        if leaf is not None:
            start = int(cursor.frames[cursor.depth - 1, w.BEGUN]) - begun
            if start >= 0:
                found[start] = _LeafText(
                    start, _end(leaf[0], item, start), leaf[0], written - start
                )
        for at in range(written, len(item)):
            dfa = self._entered(cursor.state, item[at])
            if dfa is not None:
                found[at] = _LeafText(at, _end(dfa, item, at), dfa, 0)
            memories = len(cursor.memories)
            byte = _bytes(item[at : at + 1])
            if cursor.reach(byte)[0] == 0:
                break
            cursor.commit(byte, memories)
        return [piece for _, piece in sorted(found.items(), reverse=True) if piece.end > 0][
            :_MOST_LEAVES
        ]

    def _entered(self, state: int, byte: int) -> Dfa | None:
        """The leaf that a byte enters from a state of a rule; None if it enters none."""
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

    def alternatives_of(self, item: bytes, piece: _LeafText) -> Iterator[bytes]:
        """Copies of `item` in which the text of one leaf is replaced by another text of the same outcome."""
        own = item[piece.start : piece.end]
        key = piece.dfa, _outcome(piece.dfa, item, piece)
        if key not in self._one_outcome:
            self._one_outcome[key] = piece.dfa.restrict([key[1]])
        dfa = self._one_outcome[key]
        longest = len(own) + _MOST_ITEM - len(item)
        for _, text in in_order(dfa, own[: piece.written], _MOST_OF_LEAF, longest):
            if text != own:
                yield item[: piece.start] + text + item[piece.end :]


def _bytes(text: bytes) -> Bytes:
    return np.frombuffer(text, np.uint8).copy()


def _end(dfa: Dfa, item: bytes, start: int) -> int:
    """The end of the longest text of a leaf that begins at `start`; 0 if there is none."""
    state, end = 0, 0
    for at in range(start, len(item)):
        state = dfa.step(state, item[at])
        if state < 0:
            break
        if dfa.outcome[state] >= 0:
            end = at + 1
    return end
