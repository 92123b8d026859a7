"""Strings whose greatest length, multiplied with the rest of what is asked of them, is too much for one automaton.

Does: read such a string character by character, counting in lazily made states. Does not: take part in products: only a
plain demand for a greatest length is counted here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..automata import CODE_POINTS, REFUSED, Dfa, Spelling, canonical, encode

# Characters times states from which on a string is counted and not unrolled.
UNROLLED = 20_000


@dataclass(frozen=True, slots=True)
class Chars:
    """Inside the quotes: the state of the automaton over code points, and how many characters were read."""

    state: int
    count: int


class Counted:
    """Texts of `chars` (over code points) of at most `most` characters."""

    def __init__(self, chars: Dfa, most: int, spelling: Spelling) -> None:
        self.chars = chars
        self.most = most
        self._spelling = spelling
        self._among: dict[tuple[int, ...], Dfa] = {}

    @property
    def start(self) -> Chars | None:
        """After the opening quote; None if no text is short enough."""
        alive = not self.chars.empty and self.chars.distance[0] <= self.most
        return Chars(0, 0) if alive else None

    @cached_property
    def _one(self) -> Dfa:
        """One character; its class in `chars` is the outcome."""
        classes = int(self.chars.classes.max()) + 1
        table = np.full((1 + classes, classes), -1, np.int32)
        table[0] = np.arange(1, classes + 1)
        outcome = np.arange(-1, classes, dtype=np.int32)
        one = canonical(CODE_POINTS, self.chars.bounds, self.chars.classes, table, outcome)
        return encode(one, self._spelling)

    def ends(self, at: Chars) -> bool:
        """Whether the closing quote may come."""
        return bool(self.chars.outcome[at.state] != REFUSED)

    def following(self, at: Chars) -> Dfa | None:
        """The next character, by class; only such as leave enough room for the rest."""
        row = self.chars.table[at.state]
        left = self.most - at.count - 1
        fits = (row >= 0) & (self.chars.distance[np.maximum(row, 0)] <= left)
        return self._restricted(np.flatnonzero(fits).tolist()) if fits.any() else None

    def _restricted(self, classes: Iterable[int]) -> Dfa:
        key = tuple(classes)
        if key not in self._among:
            self._among[key] = self._one.restrict(key)
        return self._among[key]

    def after(self, at: Chars, kind: int) -> Chars:
        """After a character of a class."""
        return Chars(int(self.chars.table[at.state, kind]), at.count + 1)

    def least(self, at: Chars) -> int:
        """Bytes that suffice for the rest and the closing quote."""
        widest = max(self._one.least().values())
        return int(self.chars.distance[at.state]) * widest + 1
