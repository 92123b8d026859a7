"""Strings that would make too large an automaton over bytes: long ones that are counted, and large patterns.

Does: read such a string a window of characters at a time; each window is one leaf, and far from the bound all have the
same. Does not: take part in products: only what is plainly demanded is read this way.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from ..automata import BYTES, CODE_POINTS, REFUSED, Dfa, Spelling, canonical, encode
from ..automata.jit import kernel
from ..automata.minimal import Ints

# States over code points, times the characters to be counted, times the states that spell a character over bytes, up to
# which a string becomes one automaton.
UNROLLED = 12_000
_WINDOW: Final = 256  # characters, fewer where the automaton is large
_MOST_WINDOWS: Final = 64  # kept of all schemas, of some 300 KB each
_CLOSED: Final = (
    0  # the outcome of a window at whose end the string is closed; else 1 + the state at its end
)


@dataclass(frozen=True, slots=True)
class Chars:
    """Inside the quotes: the state of the automaton over code points, and how many characters were read."""

    state: int
    count: int


@dataclass(frozen=True, slots=True)
class _Text:
    """What a counted string is made of; equal for the same language."""

    chars: Dfa = field(compare=False)
    fingerprint: bytes
    spelling: Spelling


class Counted:
    """Texts of `chars` (over code points) of at most `most` characters; None: of any length."""

    def __init__(self, chars: Dfa, most: int | None, spelling: Spelling) -> None:
        self.chars = chars
        self.most = most
        self._text = _Text(chars, chars.fingerprint, spelling)

    @property
    def needed(self) -> bool:
        """Whether one automaton over bytes would be too large."""
        return (self.most or 1) * self.chars.states * _spread(self.chars) >= UNROLLED

    @property
    def start(self) -> Chars | None:
        """After the opening quote; None if no text is short enough."""
        if self.chars.empty or (self.most is not None and self.chars.distance[0] > self.most):
            return None
        return Chars(0, 0)

    def following(self, at: Chars) -> Dfa:
        """The next window of characters, or the rest of the string with the closing quote."""
        return self._window(at)[0]

    def after(self, at: Chars, outcome: int) -> Chars | None:
        """After a window that ended with an outcome; None: the string is over."""
        if outcome == _CLOSED:
            return None
        count = 0 if self.most is None else at.count + self._window(at)[1]
        return Chars(outcome - 1, count)

    def least(self, at: Chars) -> int:
        """Bytes that suffice for the rest and the closing quote."""
        return int(self.chars.distance[at.state]) * self._widest + 1

    @cached_property
    def _widest(self) -> int:
        """Bytes that some character of each class takes at most."""
        bounds = [*self.chars.bounds.tolist(), CODE_POINTS]
        least: dict[int, int] = {}
        for kind, low, past in zip(self.chars.classes.tolist(), bounds, bounds[1:], strict=False):
            least[kind] = min(least.get(kind, 6), _bytes(low, past))
        return max((size for kind, size in least.items() if kind >= 0), default=1)

    def _window(self, at: Chars) -> tuple[Dfa, int]:
        """(leaf, its length in characters)."""
        left = None if self.most is None else self.most - at.count
        if left is not None and left > _WINDOW + int(self.chars.distance.max()):
            left = None  # the bound is out of sight
        return _window(self._text, at.state, left)


def _spread(chars: Dfa) -> int:
    """About how many states over bytes one over code points becomes."""
    wide = (np.append(chars.bounds[1:], CODE_POINTS) > 0x80) & (chars.classes >= 0)
    return 1 + 8 * int(wide.sum())


@lru_cache(_MOST_WINDOWS)
def _window(text: _Text, state: int, left: int | None) -> tuple[Dfa, int]:
    """(leaf of the next characters from a state, its length in characters); `left`: how many may come at most."""
    chars, length = _unrolled(text.chars, state, left)
    return _closed(encode(chars, text.spelling)), length


@kernel
def _levels(
    table: Ints, distance: Ints, state: int, longest: int, left: int, most: int
) -> tuple[Ints, Ints, bool]:
    """(states in reach level by level, where each level begins, whether nothing can follow the last one).

    `longest`: levels at most, `most` states, but for the first two levels. `left`: characters that may come, -1: any.
    """
    states, firsts = np.empty(256, np.int32), np.zeros(longest + 2, np.int32)
    seen = np.full(len(table), -1, np.int32)
    states[0], begin, end, levels = state, 0, 1, 1
    firsts[1] = 1
    while levels <= longest:
        for i in range(begin, end):
            for t in table[states[i]]:
                if t >= 0 and seen[t] != levels and (left < 0 or distance[t] <= left - levels):
                    seen[t] = levels
        count = end
        for t in range(len(table)):
            if seen[t] == levels:
                if count == len(states):
                    states = np.concatenate((states, states))
                states[count] = t
                count += 1
        if count == end or (levels > 1 and count > most):
            return states[:end].copy(), firsts[: levels + 1].copy(), count == end
        begin, end = end, count
        levels += 1
        firsts[levels] = end
    return states[:end].copy(), firsts[: levels + 1].copy(), False


def _unrolled(chars: Dfa, state: int, left: int | None) -> tuple[Dfa, int]:
    """The automaton of so many characters, as far as there is room for its states."""
    longest = _WINDOW if left is None else min(left, _WINDOW)
    most = 2 * UNROLLED // _spread(chars)
    known = -1 if left is None else left
    states, firsts, over = _levels(chars.table, chars.distance, state, longest, known, most)
    levels = len(firsts) - 1
    table, outcome = _stacked(chars.table, chars.outcome, states, firsts)
    if over or levels - 1 == left:
        ends = chars.outcome[states[firsts[-2] :]] != REFUSED
        outcome[-len(ends) :] = np.where(ends, _CLOSED, REFUSED)
    unrolled = canonical(CODE_POINTS, chars.bounds, chars.classes, table, outcome, minimise=False)
    return unrolled, levels - 1


def _bytes(low: int, past: int) -> int:
    """Bytes of the shortest way to write a character of an interval."""
    if low < 0x80 and past > 0x20:
        return 2 if past - low == 1 and chr(low) in '"\\' else 1
    return 6 if low < 0x20 else 2 if low < 0x800 else 3 if low < 0x10000 else 4


@kernel
def _stacked(table: Ints, outcome: Ints, states: Ints, firsts: Ints) -> tuple[Ints, Ints]:
    """(table, outcome) of the states of each level: they lead to the next, and the last end with 1 + their state."""
    stacked = np.full((len(states), table.shape[1]), -1, np.int32)
    ends = np.full(len(states), REFUSED, np.int32)
    number, level = np.full(len(table), -1, np.int32), np.full(len(table), -1, np.int32)
    last = len(firsts) - 2
    for k in range(last + 1):
        if k < last:
            for i in range(firsts[k + 1], firsts[k + 2]):
                number[states[i]], level[states[i]] = i, k
        for i in range(firsts[k], firsts[k + 1]):
            s = states[i]
            ends[i] = 1 + s if k == last else _CLOSED if outcome[s] != REFUSED else REFUSED
            for c in range(table.shape[1]):
                t = table[s, c]
                if k < last and t >= 0 and level[t] == k:
                    stacked[i, c] = number[t]
    return stacked, ends


def _closed(inside: Dfa) -> Dfa:
    """A window over bytes: where it may be `_CLOSED`, the closing quote is read; else it ends without."""
    size, width = inside.table.shape
    table = np.full((size + 1, width + 1), -1, np.int32)
    table[:size, :width] = inside.table
    quote = int(inside.class_of[ord('"')])  # the byte is also the end of an escape
    escaped = np.full(size, -1) if quote < 0 else inside.table[:, quote]
    table[:size, width] = np.where(inside.outcome == _CLOSED, size, escaped)
    outcome = np.append(np.where(inside.outcome == _CLOSED, REFUSED, inside.outcome), _CLOSED)
    classes = inside.class_of.copy()
    classes[ord('"')] = width
    bounds = np.arange(BYTES, dtype=np.int32)
    return canonical(BYTES, bounds, classes, table, outcome, minimise=False)
