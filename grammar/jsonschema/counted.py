"""Strings that would make too large an automaton over bytes: long ones that are counted, and large patterns.

Does: read such a string a window of characters at a time; each window is one leaf, and far from the bound all have the
same. Does not: take part in products: only what is plainly demanded is read this way.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from ..automata import BYTES, CODE_POINTS, REFUSED, Dfa, Spelling, canonical, encode
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


def _unrolled(chars: Dfa, state: int, left: int | None) -> tuple[Dfa, int]:
    """The automaton of so many characters, as far as there is room for its states."""
    levels, spread = [np.array([state])], _spread(chars)
    total, longest, over = 1, _WINDOW if left is None else min(left, _WINDOW), False
    while len(levels) <= longest:
        reached = np.unique(chars.table[levels[-1]])
        reached = reached[reached >= 0]
        if left is not None:
            reached = reached[chars.distance[reached] <= left - len(levels)]
        total += len(reached)
        over = not len(reached)  # nothing can follow the last character
        if over or (len(levels) > 1 and total * spread > 2 * UNROLLED):
            break
        levels.append(reached)
    table, outcome = _stacked(chars, levels)
    if over or len(levels) - 1 == left:
        ends = chars.outcome[levels[-1]] != REFUSED
        outcome[-len(ends) :] = np.where(ends, _CLOSED, REFUSED)
    unrolled = canonical(CODE_POINTS, chars.bounds, chars.classes, table, outcome, minimise=False)
    return unrolled, len(levels) - 1


def _bytes(low: int, past: int) -> int:
    """Bytes of the shortest way to write a character of an interval."""
    if low < 0x80 and past > 0x20:
        return 2 if past - low == 1 and chr(low) in '"\\' else 1
    return 6 if low < 0x20 else 2 if low < 0x800 else 3 if low < 0x10000 else 4


def _stacked(chars: Dfa, levels: list[Ints]) -> tuple[Ints, Ints]:
    """(table, outcome) of the states of each level: they lead to the next, and the last end with 1 + their state."""
    firsts = np.cumsum([0, *map(len, levels)])
    table = np.full((int(firsts[-1]), chars.table.shape[1]), -1, np.int32)
    outcome = np.full(len(table), REFUSED, np.int32)
    number = np.full(chars.states + 1, -1, np.int32)
    for i, level in enumerate(levels):
        rows = slice(int(firsts[i]), int(firsts[i + 1]))
        if i + 1 == len(levels):
            outcome[rows] = 1 + level
            break
        number[:] = -1
        number[levels[i + 1]] = firsts[i + 1] + np.arange(len(levels[i + 1]))
        table[rows] = number[chars.table[level]]
        outcome[rows] = np.where(chars.outcome[level] == REFUSED, REFUSED, _CLOSED)
    return table, outcome


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
