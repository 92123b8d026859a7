"""Verbatim strings: strings that must be substrings of the document.

Does: follow such a string byte by byte along the sorted suffixes of the document, so that it can be closed where it is
legal, and continues only where a legal string follows. Does not: sort the suffixes (`leaves.document_text`).

The states are made when text reaches them, and only the order of the suffixes is kept for all of them, so the memory
is linear in the length of the document.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from ...automata import Dfa
from ...base.array_types import Ints
from ...leaves.document_text import DocumentText
from ...machine.copied_texts import (
    ANYWHERE,
    CopiedPattern,
    CopiedPlace,
    CopiedTexts,
    next_end,
)
from ...machine.rule import Block, Goto
from .string_escapes import spell
from .suffix_ranges import InDocument, SuffixRange, spelled, written_document
from .verbatim_blocks import block_after

_BYTES: Final = tuple(bytes([byte]) for byte in range(256))
_QUOTE: Final = ord('"')
_RAW: Final = 0x80  # characters from here on are written without an escape

Arc = tuple[bytes, Goto]


class VerbatimString:
    """The substrings of a document with `least` to `most` characters (None: any number) that are texts of `chars`."""

    def __init__(
        self, document: DocumentText, chars: Dfa | None, least: int, most: int | None
    ) -> None:
        """`chars`: an automaton over code points; None: every text.

        Raises:
            ConstraintTooLarge: too many substrings are texts of `chars`.
        """
        self._document = document
        self._codes = document.codes
        self._chars = chars
        self._least = least
        if chars is None:
            reach = document.room if most is None else np.minimum(document.room, most)
            reach = np.where(reach >= max(least, 1), reach, -1)
        else:
            reach = document.reach(chars, least, most)
        kept = reach > 0
        self._order, self._reach = document.order[kept], reach[kept]
        self._suffixes = SuffixRange(self._codes, self._order, least, most)
        self._uniform = chars is None and most is None  # then every character that follows is legal

    @property
    def start(self) -> InDocument | None:
        """The state after the opening quote; None if no string is legal."""
        at = InDocument(0, len(self._order), 0)
        return at if len(self._order) or self.may_end(at) else None

    def arcs(self, at: InDocument) -> tuple[Arc, ...]:
        """The legal bytes within the quotes, each with the state after it."""
        found: dict[int, InDocument] = {}
        skipped = len(at.begun)
        for code, low, high in self._next_characters(at):
            text = spelled(code)
            if not text.startswith(at.begun):
                continue
            byte = text[skipped]
            if len(text) == skipped + 1:
                found[byte] = InDocument(low, high, at.length + 1)
            elif code < _RAW:  # escapes with one beginning are not neighbours in the order
                found[byte] = InDocument(at.low, at.high, at.length, text[: skipped + 1])
            else:
                first = found[byte].low if byte in found else low
                found[byte] = InDocument(first, high, at.length, text[: skipped + 1])
        return tuple((_BYTES[byte], Goto(key, sure=True)) for byte, key in found.items())

    def block(self, at: InDocument) -> Block | None:
        """States after `at` that are best expanded with it, where every string has outcome 0; None: there are none."""
        return None if self._chars is not None else block_after(at, self._suffixes)

    def copied(self, at: InDocument) -> CopiedPlace:
        """The place in the document that a state stands for, where every string has outcome 0."""
        low, high, length, begun = at
        number = int.from_bytes(begun, "little")
        return CopiedPlace(
            self._copies, low, high, length, number, len(begun), self._least, _QUOTE, 0
        )

    @cached_property
    def _copies(self) -> CopiedTexts:
        text, begins = written_document(self._document)
        arrays = text, begins, self._order, self._reach, self._codes
        return CopiedTexts.of(*arrays, self._pattern, InDocument)

    @cached_property
    def _pattern(self) -> CopiedPattern:
        return ANYWHERE if self._chars is None else _pattern(self._chars, self._codes)

    def may_end(self, at: InDocument) -> bool:
        """Whether the string may end here."""
        if at.begun or at.length < self._least:
            return False
        if self._chars is None:
            return True
        begin = int(self._order[at.low]) if at.length else 0
        return next_end(self._pattern, begin, at.length, at.length) >= 0

    def text(self, at: InDocument) -> str:
        """The whole characters so far."""
        return self._text(at.low, 0, at.length)

    def least(self, at: InDocument) -> int:
        """An upper bound on the bytes of the rest and the closing quote."""
        if self.may_end(at):
            return 1
        low, high = at.low, at.high
        if at.begun:
            low, high = next(
                (low, high)
                for code, low, high in self._next_characters(at)
                if spelled(code).startswith(at.begun)
            )
        length = max(self._least, at.length + bool(at.begun))
        if self._chars is not None:
            low += int(self._reach[low:high].argmax())
            begin, most = int(self._order[low]), int(self._reach[low])
            length = next_end(self._pattern, begin, length, most)
        return len(spell(self._text(low, at.length, length))) - 1 - len(at.begun)

    def texts(self, most: int) -> tuple[str, ...] | None:
        """All the strings; None if there are more than `most`."""
        found: list[str] = []
        todo = [self.start]
        while todo:
            at = todo.pop()
            if at is None:
                continue
            if self.may_end(at):
                found.append(self._text(at.low, 0, at.length))
            for _, low, high in self._next_characters(at):
                todo.append(InDocument(low, high, at.length + 1))
            if len(found) + len(todo) > most:
                return None
        return tuple(found)

    def _next_characters(self, at: InDocument) -> Iterator[tuple[int, int, int]]:
        """(code point, low, high) of each character that may follow, with the suffixes that continue with it."""
        length = at.length
        if at.high - at.low == 1:
            if self._reach[at.low] > length:
                yield int(self._codes[self._order[at.low] + length]), at.low, at.high
            return
        if at.high == at.low:
            return
        column = self._codes[self._order[at.low : at.high] + length]
        cuts = np.flatnonzero(column[1:] != column[:-1]) + (at.low + 1)
        ends = [at.low, *cuts.tolist(), at.high]
        for low, high in pairwise(ends):
            code = int(column[low - at.low])
            if code >= 0 and (self._uniform or self._reach[low:high].max() > length):
                yield code, low, high

    def _text(self, low: int, begin: int, end: int) -> str:
        """Characters `begin` to `end` - 1 of the suffix of rank `low`."""
        if begin == end:
            return ""
        place = int(self._order[low])
        return self._codes[place + begin : place + end].tobytes().decode("utf-32-le")


def _pattern(chars: Dfa, codes: Ints) -> CopiedPattern:
    """An automaton over code points, for the characters of a document; the ends of texts have no class."""
    kinds = chars.classes[np.searchsorted(chars.bounds, codes, "right") - 1].astype(np.int32)
    kinds[codes < 0] = -1
    table, outcome = (np.ascontiguousarray(each, np.int32) for each in (chars.table, chars.outcome))
    return CopiedPattern(kinds, table, outcome)
