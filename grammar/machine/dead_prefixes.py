"""Dead prefixes: beginnings of a text that only a text seen before could complete, where no text may come twice.

Does: find, for each seen text, its shortest beginning after which all the rest is forced. That beginning is refused
already, so no output runs into a dead end. Does not: consider several texts together; where there are only few texts
at all, rules keep them in their states.
"""

from collections.abc import Iterator

import numpy as np

from ..base.array_types import Bytes, Ints
from . import byte_step as w
from . import walk_state as n
from .lazy_tables import ENTRY, FLAGS, JUDGED, LEAF, REMEMBERS
from .leaf import Leaf
from .machine import Machine
from .seen_texts import SeenText, SeenTexts
from .text_reader import TextReader
from .text_step import new_frames
from .unique_prefixes import Live


class DeadPrefixes:
    """The dead prefixes of the texts of one output and its forks; each is computed once."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._known: dict[tuple[int, Live, bytes], bytes | None] = {}

    def may_bar(self, memories: SeenTexts, seen: SeenText) -> bool:
        """Whether `record` may have something to do for a text; mostly it has not."""
        return bool(memories.barred) or (
            seen.entry >= 0 and (seen.entry, seen.outcome) not in self._machine.special.prefixless
        )

    def record(self, memories: SeenTexts, before: int, number: int, seen: SeenText) -> None:
        """Bar the dead prefixes of version `number`, which has grown from version `before` by one text."""
        barred = memories.barred
        beginnings = barred.get(before, ())
        found = self._anywhere(seen) if seen.entry >= 0 else None
        if found is not None:
            beginnings = (*beginnings, found)
        if beginnings:
            barred[number] = beginnings

    def begun(self, reader: TextReader, text: Bytes) -> bool:
        """Whether the text that was read ahead begins an open text with one of its dead prefixes."""
        kept, fresh = new_frames(reader.frames, int(reader.note[n.TOP]), reader.depth)
        whole = bytes(reader.output) + text.tobytes()
        frames = np.concatenate((reader.frames[:kept], fresh))
        return any(
            whole.startswith(beginning, begun)
            for begun, beginnings in self.of_open_texts(reader, frames)
            for beginning in beginnings
        )

    def of_open_texts(self, reader: TextReader, frames: Ints) -> Iterator[tuple[int, list[bytes]]]:
        """(offset of its first byte, its dead prefixes) of each open text of a stack that must not come twice."""
        sites, barred = self._machine.tables.sites, reader.memories.barred
        flags = sites[frames[:, w.SITE], FLAGS] & (REMEMBERS | JUDGED)
        for frame in np.flatnonzero(flags == REMEMBERS).tolist():
            memory = int(frames[frames[frame, w.PARENT], w.MEMORY])
            site = int(frames[frame, w.SITE])
            if memory in barred:
                begun, entry = int(frames[frame, w.BEGUN]), int(sites[site, ENTRY])
                place = self._machine.sites[site]
                assert place is not None
                texts = [
                    seen.text
                    for seen in reader.memories.texts(memory)
                    # Masks cannot look up texts that were only read ahead: see `SeenTexts.barred`.
                    if seen.until <= len(reader.output)
                    and (begun < len(reader.output) or seen.entry == entry)
                    and place.refuses_twin(seen.outcome)
                ]
                live = place.call.live
                found = (self._prefix(entry, live, text) for text in texts)
                yield begun, [beginning for beginning in found if beginning is not None]

    def _prefix(self, entry: int, live: Live, text: bytes) -> bytes | None:
        """The shortest beginning that no other text completes, of a text read from state `entry` on.

        None: some other text always completes it, or the text cannot be read there. `live`: the outcomes of the leaf
        that count; None: all.
        """
        key = entry, live, text
        if key not in self._known:
            leaf = self._leaf(entry)
            self._known[key] = (
                None if leaf is None else leaf.unique_prefixes.find(entry - leaf.base, text, live)
            )
        return self._known[key]

    def _anywhere(self, seen: SeenText) -> bytes | None:
        """The shortest dead prefix of a seen text at any call site that may read its leaf later; None if none.

        Fewer outcomes may count at another call site. The prefix is shortest where the outcome of this text alone
        counts. A text that is the only one with its outcome is never asked for twice, so it needs no prefix.
        """
        leaf = self._leaf(seen.entry)
        if leaf is None or not leaf.chosen:
            return self._prefix(seen.entry, None, seen.text)
        if not leaf.unique_prefixes.exist(seen.outcome):
            self._machine.special.prefixless.add((seen.entry, seen.outcome))
            return None
        return self._prefix(seen.entry, frozenset((seen.outcome,)), seen.text)

    def _leaf(self, entry: int) -> Leaf | None:
        number = self._machine.tables.states.item(entry, LEAF)
        return None if number < 0 else self._machine.leaves[number]
