"""Where a text may no longer be begun, because only one that was written before could end it.

Does: of a text that must not come again, find the shortest beginning after which all of it is forced, so that whoever
refuses the text refuses that beginning, and nobody is led into a dead end. Does not: look at several texts together:
where few are all there are, rules keep them in their states.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..base.array_types import Bytes, Ints
from . import byte_step as w
from . import walk_state as n
from .lazy_tables import ENTRY, FLAGS, JUDGED, LEAF, REMEMBERS
from .leaf import Leaf
from .seen_texts import SeenTexts
from .unique_prefixes import Live

if TYPE_CHECKING:  # cursors hold tails
    from .cursor import Cursor


class Tails:
    """The answers for the texts of one output and its forks, each found once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Live, bytes], bytes | None] = {}

    def beginning(self, cursor: "Cursor", entry: int, live: Live, text: bytes) -> bytes | None:
        """The shortest beginning of a text, read from state `entry` on, that nothing else completes.

        None: there is always another way, or the text is none of those that can be read there. `live`: the outcomes
        that count if it is a leaf's; None: all.
        """
        key = entry, live, text
        if key not in self._known:
            leaf = _leaf(cursor, entry)
            self._known[key] = (
                None if leaf is None else leaf.endings.only(entry - leaf.base, text, live)
            )
        return self._known[key]

    def _at_some_place(self, cursor: "Cursor", said: SeenTexts) -> bytes | None:
        """The shortest beginning that nothing else completes at some place that may come; None: there is none.

        At such a place fewer outcomes may count. Nothing completes less than where those of this text are all that
        count; but a text that is the only one with its outcome is never asked for twice, so it needs no beginning.
        """
        leaf = _leaf(cursor, said.entry)
        if leaf is None or not leaf.chosen:
            return self.beginning(cursor, said.entry, None, said.text)
        if not leaf.endings.tight(said.outcome):
            return None
        return self.beginning(cursor, said.entry, frozenset((said.outcome,)), said.text)

    def grow(self, cursor: "Cursor", before: int, number: int, said: SeenTexts) -> None:
        """Note how texts may not begin in a version of the memories that has grown from another by a text."""
        barred = cursor.memories.barred
        beginnings = barred.get(before, ())
        found = self._at_some_place(cursor, said) if said.entry >= 0 else None
        if found is not None:
            beginnings = (*beginnings, found)
        if beginnings:
            barred[number] = beginnings


def repeats(cursor: "Cursor", text: Bytes) -> bool:
    """Whether what was read ahead has begun a text that only one could complete, which must not come again."""
    kept, fresh = w.chain(cursor.frames, int(cursor.note[n.TOP]), cursor.depth)
    whole = bytes(cursor.output) + text.tobytes()
    return any(
        whole.startswith(beginning, begun)
        for begun, beginnings in barred_texts(cursor, np.concatenate((cursor.frames[:kept], fresh)))
        for beginning in beginnings
    )


def barred_texts(cursor: "Cursor", frames: Ints) -> Iterator[tuple[int, list[bytes]]]:
    """(where it begins, the beginnings it must not have) of each open text of a stack that must not come again."""
    sites, barred = cursor.machine.tables.sites, cursor.memories.barred
    flags = sites[frames[:, w.SITE], FLAGS] & (REMEMBERS | JUDGED)
    for frame in np.flatnonzero(flags == REMEMBERS).tolist():
        memory = int(frames[frames[frame, w.PARENT], w.MEMORY])
        site = int(frames[frame, w.SITE])
        if memory in barred:
            begun, entry = int(frames[frame, w.BEGUN]), int(sites[site, ENTRY])
            place = cursor.machine.sites[site]
            assert place is not None
            texts = [
                said.text
                for said in cursor.memories.said(memory)
                # Of what lies ahead, masks can only tell what is plain: see `Memories.barred`.
                if said.until <= len(cursor.output)
                and (begun < len(cursor.output) or said.entry == entry)
                and place.refuses_twin(said.outcome)
            ]
            live = place.call.live
            found = (cursor.tails.beginning(cursor, entry, live, text) for text in texts)
            yield begun, [beginning for beginning in found if beginning is not None]


def _leaf(cursor: "Cursor", entry: int) -> Leaf | None:
    machine = cursor.machine
    number = machine.tables.states.item(entry, LEAF)
    return None if number < 0 else machine.leaves[number]
