"""Tokens by prefix: the trie node of a prefix, and masks without the tokens that start with it.

Does: find nodes, clear tokens in masks, and cache both. Does not: know what texts mean.
"""

from typing import Final

import numpy as np

from ..base.array_types import Ints, Words
from .leaf_walk import forbid
from .trie import Trie, find

_MOST_TEXTS: Final = 1 << 14  # entries of each cache
_TEXT_BYTES: Final = 150  # estimate for an entry of `_nodes`
_COVER_BYTES: Final = 1_500  # estimate for an entry of `_covers`
_WIDE: Final = 12  # above this number of tokens the compiled `forbid` is faster than a cover

Cover = tuple[tuple[int, np.uint32], ...]
"""Tokens as (word of a mask, the bits of that word without the tokens) pairs."""


class TokenPrefixes:
    """Prefix lookups of one vocabulary, shared by all its grammars."""

    def __init__(self, trie: Trie) -> None:
        self._trie = trie
        self._longest = int(trie.depth.max(initial=0))
        self._nodes: dict[bytes, int] = {}
        self._covers: dict[bytes, Cover] = {}

    @property
    def nbytes(self) -> int:
        """Memory of the caches, by estimate."""
        return _TEXT_BYTES * len(self._nodes) + _COVER_BYTES * len(self._covers)

    def node_of(self, text: bytes) -> int:
        """The trie node of a text; -1 if no token starts with it."""
        node = self._nodes.get(text)
        if node is None:
            if len(text) > self._longest:
                return -1
            node = int(find(self._trie, np.frombuffer(text, np.uint8).copy()))
            if len(self._nodes) >= _MOST_TEXTS:
                self._nodes.clear()
            self._nodes[text] = node
        return node

    def nodes_of(self, texts: list[bytes]) -> list[tuple[bytes, int]]:
        """(text, node) of each of `texts` that some token starts with."""
        known = self._nodes.get
        likely = [text for text in texts if known(text, 0) >= 0]
        return [(text, node) for text in likely if (node := self.node_of(text)) >= 0]

    def allowed(self, row: Words, text: bytes) -> bool:
        """Whether the token `text` is allowed; of a text that is no token, whether some token starts with it."""
        node, trie = self.node_of(text), self._trie
        if node < 0:
            return False
        tokens = trie.tokens[trie.first[node] : trie.first[node + 1]].tolist()
        return not tokens or any(row.item(token >> 5) >> (token & 31) & 1 for token in tokens)

    def forbid(self, row: Words, text: bytes) -> None:
        """Clear the bits of all tokens that start with `text`."""
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
