"""Strings that would make too large an automaton over bytes: long ones that are counted, and large patterns.

Does: read such a string character by character in lazily made states, an automaton over code points beside a count.
Does not: take part in products: only what is plainly demanded is read this way.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..automata import CODE_POINTS, REFUSED, Dfa, Spelling, canonical, encode

# States over code points, times the characters to be counted, times the states that spell a character over bytes, up to
# which a string becomes one automaton.
UNROLLED = 12_000


@dataclass(frozen=True, slots=True)
class Chars:
    """Inside the quotes: the state of the automaton over code points, and how many characters were read."""

    state: int
    count: int


class Counted:
    """Texts of `chars` (over code points) of at most `most` characters; None: of any length."""

    def __init__(self, chars: Dfa, most: int | None, spelling: Spelling) -> None:
        self.chars = chars
        self.most = most
        self._spelling = spelling
        self._among: dict[tuple[int, ...], Dfa] = {}

    @property
    def needed(self) -> bool:
        """Whether one automaton over bytes would be too large."""
        wide = (self.chars.bounds >= 0x80) & (self.chars.classes >= 0)
        return (self.most or 1) * self.chars.states * (1 + 8 * int(wide.sum())) >= UNROLLED

    @property
    def start(self) -> Chars | None:
        """After the opening quote; None if no text is short enough."""
        if self.chars.empty or (self.most is not None and self.chars.distance[0] > self.most):
            return None
        return Chars(0, 0)

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
        fits = row >= 0
        if self.most is not None:
            fits &= self.chars.distance[np.maximum(row, 0)] < self.most - at.count
        return self._restricted(np.flatnonzero(fits).tolist()) if fits.any() else None

    def _restricted(self, classes: Iterable[int]) -> Dfa:
        key = tuple(classes)
        if key not in self._among:
            self._among[key] = self._one.restrict(key)
        return self._among[key]

    def after(self, at: Chars, kind: int) -> Chars:
        """After a character of a class."""
        count = 0 if self.most is None else at.count + 1
        return Chars(int(self.chars.table[at.state, kind]), count)

    def least(self, at: Chars) -> int:
        """Bytes that suffice for the rest and the closing quote."""
        widest = max(self._one.least().values())
        return int(self.chars.distance[at.state]) * widest + 1
