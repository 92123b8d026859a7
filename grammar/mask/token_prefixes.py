"""Tokens by how they begin.

Does: find the trie nodes of texts, and take the tokens out of a mask that begin with one; remembers what it was asked.
Does not: know what texts mean.
"""

from typing import Final

import numpy as np

from ..base.array_types import Ints, Words
from .leaf_walk import forbid
from .trie import Trie, find

_MOST_TEXTS: Final = 1 << 14  # texts whose nodes are remembered
_TEXT_BYTES: Final = 150  # of one of them
_COVER_BYTES: Final = 1_500  # ... and of its tokens, as bits of a mask
_WIDE: Final = 12  # tokens above which compiled code clears their bits faster

Cover = tuple[tuple[int, np.uint32], ...]
"""The words of a mask in which some tokens are, and all the other bits of these words."""


class Beginnings:
    """Of one vocabulary, for all its grammars."""

    def __init__(self, trie: Trie) -> None:
        self._trie = trie
        self._longest = int(trie.depth.max(initial=0))
        self._nodes_of: dict[bytes, int] = {}
        self._covers: dict[bytes, Cover] = {}

    @property
    def nbytes(self) -> int:
        """Memory of what is remembered, about."""
        return _TEXT_BYTES * len(self._nodes_of) + _COVER_BYTES * len(self._covers)

    def node_of(self, text: bytes) -> int:
        """The trie node of a text; -1 if no token begins with it."""
        node = self._nodes_of.get(text)
        if node is None:
            if len(text) > self._longest:
                return -1
            node = int(find(self._trie, np.frombuffer(text, np.uint8).copy()))
            if len(self._nodes_of) >= _MOST_TEXTS:
                self._nodes_of.clear()
            self._nodes_of[text] = node
        return node

    def nodes_of(self, texts: list[bytes]) -> list[tuple[bytes, int]]:
        """The texts with which a token begins, with their nodes."""
        known = self._nodes_of.get
        likely = [text for text in texts if known(text, 0) >= 0]
        return [(text, node) for text in likely if (node := self.node_of(text)) >= 0]

    def forbid(self, row: Words, text: bytes) -> None:
        """Clear the bits of all tokens that begin with a text."""
        cover = self._covers.get(text)
        if cover is None:
            node = self.node_of(text)
            if node < 0:
                return
            tokens = self._trie.tokens[
                self._trie.first[node] : self._trie.first[self._trie.skip[node]]
            ]
            if len(tokens) > _WIDE:
                forbid(self._trie, row, node)
                return
            if len(self._covers) >= _MOST_TEXTS:
                self._covers.clear()
            cover = self._covers[text] = _cover(tokens)
        for word, others in cover:
            row[word] &= others


def _cover(tokens: Ints) -> Cover:
    bits: dict[int, int] = {}
    for token in tokens.tolist():
        bits[token >> 5] = bits.get(token >> 5, 0) | 1 << (token & 31)
    return tuple((word, ~np.uint32(held)) for word, held in bits.items())
