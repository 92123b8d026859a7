"""The text of a document as the source of verbatim strings: its suffixes in order, so that substrings can be followed.

Does: sort the suffixes of a document, decide whether a text is a substring, and find how far the substrings from each
place reach if they must match an automaton. Does not: write JSON (`jsonschema.scalars.verbatim_strings`).

A run of white space may be written as one space: a name that a line break divides is still that name. So a substring of
the document is a substring of its text, or of the text with every such run folded. Both texts are sorted together.
"""

import re
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from ..automata import CODE_POINTS, REFUSED, Dfa
from ..base.array_types import Flags, Ints
from ..contract.errors import ConstraintTooLarge

MOST_CHARACTERS: Final = 1 << 20  # the longest document with verbatim strings
_END: Final = -1  # in place of a character: no substring continues here
_MOST_STEPS: Final = 8_000_000  # characters read by `reach`, over all places
_KEPT: Final = 16  # documents
_SURROGATES: Final = 0xD800, 0xE000
_RUN: Final = re.compile(r"\s+")


class DocumentText:
    """One document. Made by `document_text`, and shared by all verbatim strings of a request.

    Attributes:
        codes: int32 [n], the code points of the text and of the folded text, with -1 after each of them.
        order: int32 [m], the places in `codes` of all characters, sorted by the text that begins there.
        room: int32 [m], for each entry of `order`: the characters from there to the end of its text.
    """

    def __init__(self, text: str) -> None:
        """Raises ConstraintTooLarge if the text is longer than `MOST_CHARACTERS`."""
        if len(text) > MOST_CHARACTERS:
            raise ConstraintTooLarge(
                f"verbatim strings need a document of at most {MOST_CHARACTERS} characters"
            )
        folded = _RUN.sub(" ", text)
        self._texts = (text,) if folded == text else (text, folded)
        self.codes = _codes(self._texts)
        order = _sorted_suffixes(self.codes)
        ends = np.flatnonzero(self.codes == _END)
        room = ends[np.searchsorted(ends, order)] - order
        self.order: Ints = order[room > 0]
        self.room: Ints = room[room > 0].astype(np.int32)

    def has(self, text: str) -> bool:
        """Whether `text` is a substring of the document, as written or with its white space folded."""
        return any(text in each for each in self._texts)

    @cached_property
    def nbytes(self) -> int:
        """Memory of the arrays and texts, in bytes."""
        arrays = self.codes.nbytes + self.order.nbytes + self.room.nbytes
        return arrays + 4 * sum(map(len, self._texts))

    def reach(self, chars: Dfa, least: int, most: int | None) -> Ints:
        """int32 [m]: for each entry of `order`, the length of the longest legal substring from there; -1: none is.

        Legal are the texts of `chars` (over code points) of `least` to `most` characters (None: of any length). The
        empty text does not count.

        Raises:
            ConstraintTooLarge: too many characters would have to be read.
        """
        limit = self.room if most is None else np.minimum(self.room, most)
        found = np.full(len(limit), -1, np.int32)
        places, state = np.arange(len(limit)), np.zeros(len(limit), np.int32)
        goes_on, steps, length = _accepts_everything(chars), 0, 0
        while len(places):
            if length > 0:
                found[places[(chars.outcome[state] != REFUSED) & (length >= least)]] = length
            free = goes_on[state] & (limit[places] >= max(least, 1))
            found[places[free]] = limit[places[free]]
            kept = ~free & (limit[places] > length)
            places, state = places[kept], state[kept]
            kind = chars.classes[
                np.searchsorted(chars.bounds, self.codes[self.order[places] + length], "right") - 1
            ]
            places, state = places[kind >= 0], state[kind >= 0]
            state = chars.table[state, kind[kind >= 0]]
            places, state = places[state >= 0], state[state >= 0]
            length += 1
            steps += len(places)
            if steps > _MOST_STEPS:
                raise ConstraintTooLarge(
                    "too many substrings of the document match the pattern of a verbatim string; bound its length"
                )
        return found


@lru_cache(maxsize=_KEPT)
def document_text(text: str) -> DocumentText:
    """The document with this text; the most recent ones are kept.

    Raises:
        ConstraintTooLarge: the text is longer than `MOST_CHARACTERS`.
    """
    return DocumentText(text)


def _codes(texts: tuple[str, ...]) -> Ints:
    """The code points of some texts, each followed by `_END`; surrogates, which have no UTF-8 form, become `_END`."""
    parts = []
    for text in texts:
        parts.append(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32))
        parts.append(np.array([_END], np.int32))
    codes = np.concatenate(parts)
    low, high = _SURROGATES
    return np.where((codes >= low) & (codes < high), np.int32(_END), codes).astype(np.int32)


def _sorted_suffixes(codes: Ints) -> Ints:
    """The places of `codes`, sorted by the codes from there on; by doubling (Manber and Myers 1993)."""
    count = len(codes)
    rank = np.searchsorted(np.unique(codes), codes).astype(np.int64)
    order = np.argsort(rank, kind="stable")
    width = 1
    while width < count:
        second = np.zeros(count, np.int64)
        second[:-width] = rank[width:] + 1
        key = rank * (count + 1) + second
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        rank[order] = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))
        if rank[order[-1]] == count - 1:
            break
        width *= 2
    return order.astype(np.int32)


def _accepts_everything(chars: Dfa) -> Flags:
    """bool [states]: whether every text is accepted from there on, the empty one included."""
    if chars.top != CODE_POINTS or bool((chars.classes < 0).any()):
        return np.zeros(chars.states, np.bool_)
    own = np.arange(chars.states)[:, None]
    found: Flags = (chars.outcome != REFUSED) & (chars.table == own).all(axis=1)
    return found
