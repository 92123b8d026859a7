"""The texts of a vocabulary's tokens, indexed by token, by trie node and by substring.

Does: give the bytes of a token or a trie node, find the tokens that contain a text. Does not: know grammars or masks.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..base.array_types import Bytes, Flags, Ints, Longs
from ..base.bounded_cache import BoundedCache
from ..contract.vocabulary import Vocabulary
from .token_prefixes import TokenPrefixes
from .trie import Trie, build

# Bytes of the shortest array or object that has an item, without its last bracket.
_SHORT: Final = 3
_WHITESPACE: Final = b" \t\n\r"
_CROSSING: Final = re.compile(
    rb"""(?:\A|["0-9}\]]|(?:\A|[us])e|(?:\A|l)l)[ \t\n\r]*,[ \t\n\r]*(?:["\[{0-9-]|t(?:r|\Z)|f(?:a|\Z)|n(?:u|\Z))"""
)
_RESPELLED: Final = re.compile(rb",.*(?:\\|[\[{].*(?:[0-9][.eE]|-))", re.DOTALL)
_NEEDLESS_ESCAPE: Final = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|/)")
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


@dataclass(frozen=True, slots=True, eq=False)
class Crossings:
    """Tokens that may end an item of a JSON array and begin the next one.

    A comma that may end an item has others: texts that end no item where the token ends one. Where one of them is
    legal, the beginnings of that item can go on. `others` holds the texts of all commas, `commas` int64 [texts] the
    number of each one's comma, and `owners` int64 [commas] the place of its token in `matches`. `respelled` bool
    [tokens]: whether the next item begins in a spelling that may be exhausted where its plain text can go on.
    """

    matches: TokenMatches
    others: TokenMatches
    commas: Longs
    owners: Longs
    respelled: Flags

    @classmethod
    def of(cls, tokens: list[int], texts: Mapping[int, Bytes]) -> "Crossings":
        """The given tokens; `texts` has the text of each."""
        others: list[Bytes] = []
        commas: list[int] = []
        owners: list[int] = []
        for place, token in enumerate(tokens):
            for found in _others(texts[token].tobytes()):
                commas += [len(owners)] * len(found)
                owners.append(place)
                others += (np.frombuffer(other, np.uint8).copy() for other in found)
        matches = TokenMatches.of(tokens, [texts[token] for token in tokens])
        spelled = TokenMatches.of(commas, others)
        respelled = [_RESPELLED.search(texts[token].tobytes()) is not None for token in tokens]
        return cls(
            matches,
            spelled,
            spelled.tokens,
            np.array(owners, np.int64),
            np.array(respelled, np.bool_),
        )

    def kept(self, chosen: Flags, legal: Flags, *, with_respelled: bool) -> Flags:
        """bool [tokens]: the chosen tokens, without those that have a legal other for each of their commas.

        `chosen` bool [tokens], `legal` bool [texts]. `with_respelled`: keep those of `respelled` nevertheless.
        """
        open_commas = np.ones(len(self.owners), np.bool_)
        open_commas[self.commas[legal]] = False
        kept = np.zeros(len(chosen), np.bool_)
        kept[self.owners[open_commas]] = True
        if with_respelled:
            kept |= self.respelled
        return chosen & kept


def _others(text: bytes) -> Iterator[list[bytes]]:
    """For each comma within the text: texts in place of the beginning of `text` that ends an item there."""
    at = text.find(b",")
    while at >= 0:
        ended, begun = text[:at].rstrip(_WHITESPACE), text[at + 1 :].lstrip(_WHITESPACE)
        found = [ended + b"0"]
        if ended:
            found += (ended[:-1] + more for more in (b"a", b"0", b","))
        # The next item could only repeat the whole item but for its last bracket, which is longer than what is begun.
        inner = ended.rstrip(b"]}")
        if len(ended) - len(inner) == 1 and len(begun) < _SHORT and inner in (b"", b'"'):
            found += (inner[:-1] + more for more in (b"a", b"0"))
        if begun:
            yield found
        at = text.find(b",", at + 1)


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

    @cached_property
    def crossings(self) -> Crossings:
        """The tokens with an end and a beginning of JSON values about a comma."""
        return Crossings.of([*self._crossing()], self.by_token)

    @cached_property
    def opening_crossings(self) -> Crossings:
        """Those of them that have a bracket before a comma, and may begin the array as well."""
        tokens = (
            t for t in self._crossing() if b"[" in self.by_token[t].tobytes().rpartition(b",")[0]
        )
        return Crossings.of([*tokens], self.by_token)

    @cached_property
    def respelled(self) -> Longs:
        """int64 [n]: the tokens that contain a whole escape of a character that may be written as itself."""
        tokens = self.containing(b"\\").tokens.tolist()
        found = [t for t in tokens if _NEEDLESS_ESCAPE.search(self.by_token[t].tobytes())]
        return np.array(found, np.int64)

    def _crossing(self) -> Iterator[int]:
        for token in self.containing(b",").tokens.tolist():
            if _CROSSING.search(self.by_token[token].tobytes()):
                yield token

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
