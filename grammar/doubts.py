"""Tokens that a row lets through because a text was taken to be new, and when that has to be looked at again.

Does: see from what an output has said whether such a text may have come before. Does not: decide it (`masking`).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from . import walk as w
from .automata.minimal import Ints
from .cursor import Cursor
from .rule import Call
from .tables import AS_WRITTEN, FLAGS, JUDGED, REMEMBERS, Bytes

_FEW: Final = 16  # nodes up to which the texts within them are listed
NO_NODES: Final = np.empty(0, np.int32)


@dataclass(slots=True, eq=False)
class Doubts:
    """Nodes of the vocabulary's trie, at and below which a text was taken to be new.

    `inner`: the text begins within the token. If it is compared as written it is one of `texts`; None: they do not
    tell. `open`: it began before the token.
    """

    inner: Ints
    texts: frozenset[bytes] | None
    open: Ints

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.inner.nbytes + self.open.nbytes + 64 * len(self.texts or ())

    def against(self, cursor: Cursor, numbers: list[int], text_to: Callable[[int], Bytes]) -> Ints:
        """The nodes that have to be decided, given what has been said in these versions of memories.

        `text_to`: the bytes that lead to a node.
        """
        nodes = NO_NODES
        if len(self.inner):
            keys = map(cursor.memories.keys, numbers)
            if self.texts is None or not all(map(self.texts.isdisjoint, keys)):
                nodes = self.inner
        if len(self.open):
            nodes = np.concatenate((nodes, self._repeating(cursor, text_to)))
        return nodes

    def _repeating(self, cursor: Cursor, text_to: Callable[[int], Bytes]) -> Ints:
        """Of `open`, the nodes by which an open text may become equal to one that is remembered."""
        nodes: set[int] = set()
        for call, begun, said in _open_texts(cursor):
            if call.alike is None:
                return self.open
            near = [text for text in said if call.alike(begun, text)]
            for node in self.open.tolist() if near else ():
                # The text may end within the token: only its next byte is known to be part of it, or behind it.
                piece = begun + text_to(node)[:1].tobytes()
                if any(call.alike(piece, text) for text in near):
                    nodes.add(node)
        return np.array(sorted(nodes), np.int32)


def doubts_of(inner: Ints, written: bool, opened: Ints, texts: Iterable[bytes]) -> Doubts | None:
    """Doubts about nodes, None where there are none. `written`: those of `inner`, with these `texts`, compare bytes."""
    if not len(inner) and not len(opened):
        return None
    within = None
    if written and len(inner) <= _FEW:
        within = frozenset(
            text[i:k]
            for text in texts
            for i in range(len(text))
            for k in range(i + 1, len(text) + 1)
        )
    return Doubts(inner, within, opened)


def _open_texts(cursor: Cursor) -> Iterator[tuple[Call, bytes, list[bytes]]]:
    """Of each text that is open and not compared as written: its call, how it begins, what was said before."""
    frames, tables = cursor.frames, cursor.machine.tables
    for frame in range(1, cursor.depth):
        flags = int(tables.sites[frames[frame, w.SITE], FLAGS])
        memory = int(frames[frames[frame, w.PARENT], w.MEMORY])
        if flags & (REMEMBERS | AS_WRITTEN | JUDGED) != REMEMBERS or memory <= 0:
            continue
        place = cursor.machine.sites[int(frames[frame, w.SITE])]
        assert place is not None
        begun = bytes(cursor.output[frames[frame, w.BEGUN] :])
        yield place.call, begun, [said.text for said in cursor.memories.said(memory)]
