"""Tokens that a row lets through because a text was taken to be new, and when that has to be looked at again.

Does: see from what an output has said whether such a text may have come before. Does not: decide it (`corrections`).
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..base.array_types import Ints
from ..machine import byte_step as w
from ..machine.cursor import Cursor
from ..machine.open_texts import OpenTexts

if TYPE_CHECKING:  # which makes them
    from .compute_masks import TokenIndex


@dataclass(slots=True, eq=False)
class UniquenessChecks:
    """Nodes of the vocabulary's trie, at and below which a text was taken to be new.

    `inner`: the text begins within the token. `written`: all of these are compared byte by byte, so what was said
    before has to stand in the token. `open`: it began before the token.
    """

    inner: Ints
    written: bool
    open: Ints
    _texts: list[bytes] | None = None  # to each of `inner`
    _blob: bytes = b""  # all of them
    _ahead: dict[int, bytes] = field(default_factory=dict)  # to those of `open` that were asked for

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return (
            self.inner.nbytes
            + self.open.nbytes
            + 64 * (len(self.inner) * self.written + len(self.open))
        )

    def against(self, cursor: Cursor, recalled: OpenTexts, index: "TokenIndex") -> list[int]:
        """The nodes that have to be decided, given what the stack of the cursor remembers."""
        nodes = recalled.answers.get(self)
        if nodes is None:
            nodes = recalled.answers[self] = self._within(recalled.keys, index)
        if recalled.otherwise and len(self.open):
            nodes = nodes + self._repeating(cursor, recalled, index)
        return nodes

    def _within(self, known: Iterable[Iterable[Hashable]], index: "TokenIndex") -> list[int]:
        nodes: list[int] = self.inner.tolist()
        if not self.written:
            return nodes
        if self._texts is None:
            texts = [index.text_to(node).tobytes() for node in nodes]
            self._blob = b"\n".join(texts)
            self._texts = texts
        blob = self._blob
        said = [key for keys in known for key in keys if type(key) is bytes and key in blob]
        if not said:
            return []
        pairs = zip(nodes, self._texts, strict=True)
        return [node for node, text in pairs if any(key in text for key in said)]

    def _repeating(self, cursor: Cursor, recalled: OpenTexts, index: "TokenIndex") -> list[int]:
        """Of `open`, the nodes by which an open text may become equal to one that is remembered."""
        nodes: set[int] = set()
        for text in recalled.otherwise:
            place = cursor.machine.sites[int(cursor.frames[text.frame, w.SITE])]
            assert place is not None
            comparison, same = place.call.comparison, place.call.same
            if comparison is None or same is None:
                return list(map(int, self.open))
            begun = bytes(cursor.output[text.begun :])
            near = [
                said.text
                for said in cursor.memories.texts(text.version)
                if comparison.alike(begun, said.text)
            ]
            if near:
                rests = [comparison.rest(begun, said) for said in near]
                possible = self._followed(rests, index)
                ahead = (self._text_ahead(at, index) for at in possible)
                ends = list(comparison.ends(begun, ahead))
                known, weights = recalled.keys_of(text), {comparison.weight(said) for said in near}
                twins = {
                    end: _may_weigh(comparison.weight(end), weights) and same(end) in known
                    for end in set(ends)
                    if end is not None
                }
                nodes.update(
                    self.open.item(at)
                    for at, end in zip(possible, ends, strict=True)
                    if end is not None and twins[end]
                )
        return sorted(nodes)

    def _text_ahead(self, at: int, index: "TokenIndex") -> bytes:
        text = self._ahead.get(at)
        if text is None:
            text = self._ahead[at] = index.text_to(self.open.item(at)).tobytes()
        return text

    def _followed(self, rests: list[bytes | None], index: "TokenIndex") -> list[int]:
        """Where in `open` the nodes are on whose way one of some texts comes first, or a backslash."""
        chosen = index.escaped[self.open]
        for rest in rests:
            if rest is None:
                return list(range(len(self.open)))
            node = index.beginnings.node_of(rest)
            if node >= 0:
                chosen |= (self.open >= node) & (self.open < index.trie.skip[node])
        followed: list[int] = np.flatnonzero(chosen).tolist()
        return followed


def _may_weigh(weight: Hashable | None, others: set[Hashable | None]) -> bool:
    return weight is None or None in others or weight in others


def doubts_of(inner: Ints, written: bool, opened: Ints) -> UniquenessChecks | None:
    """Doubts about nodes, None where there are none. `written`: those of `inner` compare bytes."""
    return UniquenessChecks(inner, written, opened) if len(inner) or len(opened) else None
