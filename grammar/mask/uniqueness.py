"""Selects the trie nodes of a row where a text was assumed to be new although the output may already hold it.

Does: compare the nodes with the texts that an output remembers. Does not: decide the nodes (`mask_fixup`).
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np

from ..base.array_types import Ints
from ..machine import byte_step as w
from ..machine.cursor import Cursor
from ..machine.open_texts import OpenTexts
from .token_texts import TextIndex


@dataclass(slots=True, eq=False)
class UniquenessChecks:
    """Nodes of the vocabulary's trie; the row is right at and below them only if a text is new there.

    `inner`: nodes where the text begins within the token. `written`: all texts of `inner` are compared byte by byte, so
    a repeated one is contained in the token. `open`: nodes where the text began before the token.
    """

    inner: Ints
    written: bool
    open: Ints
    _texts: list[bytes] | None = None  # of each of `inner`
    _blob: bytes = b""  # `_texts` joined
    _ahead: dict[int, bytes] = field(default_factory=dict)  # by index into `open`, on demand

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return (
            self.inner.nbytes
            + self.open.nbytes
            + 64 * (len(self.inner) * self.written + len(self.open))
        )

    def against(self, cursor: Cursor, open_texts: OpenTexts, texts: TextIndex) -> list[int]:
        """The nodes that have to be decided, given the texts that the cursor's stack remembers."""
        nodes = open_texts.answers.get(self)
        if nodes is None:
            nodes = open_texts.answers[self] = self._inner_repeats(open_texts.keys, texts)
        if open_texts.otherwise and len(self.open):
            nodes = nodes + self._open_repeats(cursor, open_texts, texts)
        return nodes

    def _inner_repeats(self, known: Iterable[Iterable[Hashable]], texts: TextIndex) -> list[int]:
        nodes: list[int] = self.inner.tolist()
        if not self.written:
            return nodes
        if self._texts is None:
            found = [texts.at_node(node).tobytes() for node in nodes]
            self._blob = b"\n".join(found)
            self._texts = found
        blob = self._blob
        seen = [key for keys in known for key in keys if type(key) is bytes and key in blob]
        if not seen:
            return []
        pairs = zip(nodes, self._texts, strict=True)
        return [node for node, text in pairs if any(key in text for key in seen)]

    def _open_repeats(self, cursor: Cursor, open_texts: OpenTexts, texts: TextIndex) -> list[int]:
        """The nodes of `open` at which an open text may become equal to a remembered one."""
        nodes: set[int] = set()
        for text in open_texts.otherwise:
            place = cursor.machine.sites[int(cursor.frames[text.frame, w.SITE])]
            assert place is not None
            comparison, same = place.call.comparison, place.call.same
            if comparison is None or same is None:
                return list(map(int, self.open))
            begun = bytes(cursor.output[text.begun :])
            near = [
                entry.text
                for entry in cursor.memories.texts(text.version)
                if comparison.alike(begun, entry.text)
            ]
            if near:
                rests = [comparison.rest(begun, seen) for seen in near]
                possible = self._on_path(rests, texts)
                ahead = (self._text_ahead(at, texts) for at in possible)
                ends = list(comparison.ends(begun, ahead))
                known, weights = (
                    open_texts.keys_of(text),
                    {comparison.weight(seen) for seen in near},
                )
                repeats = {
                    end: _may_weigh(comparison.weight(end), weights) and same(end) in known
                    for end in set(ends)
                    if end is not None
                }
                nodes.update(
                    self.open.item(at)
                    for at, end in zip(possible, ends, strict=True)
                    if end is not None and repeats[end]
                )
        return sorted(nodes)

    def _text_ahead(self, at: int, texts: TextIndex) -> bytes:
        text = self._ahead.get(at)
        if text is None:
            text = self._ahead[at] = texts.at_node(self.open.item(at)).tobytes()
        return text

    def _on_path(self, rests: list[bytes | None], texts: TextIndex) -> list[int]:
        """Indices into `open` of the nodes with a text that starts with one of `rests` or contains a backslash.

        A rest that is None may be spelled in any way: then all nodes count.
        """
        chosen = texts.escaped[self.open]
        for rest in rests:
            if rest is None:
                return list(range(len(self.open)))
            node = texts.prefixes.node_of(rest)
            if node >= 0:
                chosen |= (self.open >= node) & (self.open < texts.trie.skip[node])
        found: list[int] = np.flatnonzero(chosen).tolist()
        return found


def _may_weigh(weight: Hashable | None, others: set[Hashable | None]) -> bool:
    """Whether a value of this weight may equal one of `others`; the weight None is unknown."""
    return weight is None or None in others or weight in others


def checks_of(inner: Ints, written: bool, opened: Ints) -> UniquenessChecks | None:
    """The checks of a row; None where nothing was assumed. See `UniquenessChecks` for the arguments."""
    return UniquenessChecks(inner, written, opened) if len(inner) or len(opened) else None
