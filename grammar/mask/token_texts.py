"""The texts of a vocabulary's tokens, indexed by token, by trie node and by substring.

Does: give the bytes of a token or a trie node, find the tokens that contain a text. Does not: know grammars or masks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..base.array_types import Bytes, Flags, Ints, Longs
from ..base.bounded_cache import BoundedCache
from ..contract.vocabulary import Vocabulary
from .token_prefixes import TokenPrefixes
from .trie import Trie, build

_MATCHES_BYTES: Final = 8 << 20  # bound on the cached results of `containing`


@dataclass(frozen=True, slots=True, eq=False)
class TokenMatches:
    """Tokens with their texts joined into one array.

    The text of `tokens[i]` is `blob[starts[i] : starts[i + 1]]`.
    """

    tokens: Longs  # [tokens], ids
    blob: Bytes
    starts: Longs  # [tokens + 1]

    @classmethod
    def of(cls, tokens: list[int], texts: list[Bytes]) -> "TokenMatches":
        """The given tokens; `texts[i]` is the text of `tokens[i]`."""
        starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        blob = np.concatenate(texts) if texts else np.empty(0, np.uint8)
        return cls(np.array(tokens, np.int64), blob, starts)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.tokens.nbytes + self.blob.nbytes + self.starts.nbytes


class TextIndex:
    """The texts of one vocabulary, shared by all its grammars.

    `by_token`: the bytes of each token that has text. `longest`: the length of the longest text in bytes.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.trie: Trie = build(vocabulary)
        self.longest = int(self.trie.depth.max(initial=0))
        self.by_token = _slices(vocabulary)
        self.prefixes = TokenPrefixes(self.trie)
        self._width = vocabulary.width
        self._matches: BoundedCache[bytes, TokenMatches] = BoundedCache(_MATCHES_BYTES)

    @property
    def nbytes(self) -> int:
        """Memory of the cached searches."""
        return self._matches.nbytes + self.prefixes.nbytes

    @cached_property
    def nodes(self) -> Ints:
        """int32 [width]: the trie node of each token's text, 0 for a token without text."""
        nodes = np.zeros(self._width, np.int32)
        counts = np.diff(self.trie.first)
        nodes[self.trie.tokens] = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        return nodes

    @cached_property
    def escaped(self) -> Flags:
        """bool [nodes]: whether the text of the node contains a backslash."""
        found = np.zeros(len(self.trie.byte), np.bool_)
        for node in np.flatnonzero(self.trie.byte == ord("\\")).tolist():
            found[node : self.trie.skip[node]] = True
        return found

    def at_node(self, node: int) -> Bytes:
        """The text of a trie node other than the root."""
        token = int(self.trie.tokens[self.trie.first[node]])
        return self.by_token[token][: self.trie.depth[node]]

    def containing(self, text: bytes) -> TokenMatches:
        """The tokens that contain `text`."""
        known = self._matches.get(text)
        if known is None:
            found = list(self._search(text)) if len(text) <= self.longest else []
            known = TokenMatches.of(found, [self.by_token[token] for token in found])
            self._matches.put(text, known, len(text) + known.nbytes)
        return known

    def _search(self, text: bytes) -> Iterator[int]:
        blob, starts, tokens = self._joined
        at = blob.find(text)
        while at >= 0:
            piece = int(starts.searchsorted(at, "right")) - 1
            end = int(starts[piece + 1])
            if at + len(text) <= end:
                yield int(tokens[piece])
                at = blob.find(text, end)  # each token only once
            else:
                at = blob.find(text, at + 1)

    @cached_property
    def _joined(self) -> tuple[bytes, Longs, Longs]:
        """(all texts joined, the offset of each and of the end, the token of each)."""
        sizes = np.fromiter(map(len, self.by_token.values()), np.int64)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        blob = b"".join(text.tobytes() for text in self.by_token.values())
        return blob, starts, np.fromiter(self.by_token, np.int64)


def _slices(vocabulary: Vocabulary) -> dict[int, Bytes]:
    """The bytes of each token that has text.

    All are slices of one writable array: loops are compiled for writable arrays only.
    """
    whole = np.frombuffer(b"".join(text or b"" for text in vocabulary.tokens), np.uint8).copy()
    texts, at = {}, 0
    for token, text in enumerate(vocabulary.tokens):
        if text is not None:
            texts[token] = whole[at : at + len(text)]
            at += len(text)
    return texts
