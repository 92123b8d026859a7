"""Tokens that a row lets through because a text was taken to be new, and when that has to be looked at again.

Does: see from what an output has said whether such a text may have come before. Does not: decide it (`masking`).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from . import walk as w
from .automata.minimal import Ints
from .cursor import Cursor
from .tables import AS_WRITTEN, FLAGS, JUDGED, REMEMBERS

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

    def against(self, cursor: Cursor, numbers: list[int]) -> Ints:
        """The nodes that have to be decided, given what has been said in these versions of memories."""
        nodes = NO_NODES
        if len(self.inner):
            said = (said.text for number in numbers for said in cursor.memories.said(number))
            if self.texts is None or not self.texts.isdisjoint(said):
                nodes = self.inner
        if len(self.open) and _may_repeat(cursor):
            nodes = np.concatenate((nodes, self.open))
        return nodes


def doubts_of(inner: Ints, written: bool, opened: Ints, texts: list[bytes]) -> Doubts | None:
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


def _may_repeat(cursor: Cursor) -> bool:
    """Whether a text that is open may become equal, but for how it is written, to one that is remembered."""
    frames, tables = cursor.frames, cursor.machine.tables
    for frame in range(1, cursor.depth):
        flags = int(tables.sites[frames[frame, w.SITE], FLAGS])
        memory = int(frames[frames[frame, w.PARENT], w.MEMORY])
        if flags & (REMEMBERS | AS_WRITTEN | JUDGED) != REMEMBERS or memory <= 0:
            continue
        place = cursor.machine.sites[int(frames[frame, w.SITE])]
        assert place is not None
        alike, begun = place.call.alike, bytes(cursor.output[frames[frame, w.BEGUN] :])
        if alike is None or any(alike(begun, said.text) for said in cursor.memories.said(memory)):
            return True
    return False
