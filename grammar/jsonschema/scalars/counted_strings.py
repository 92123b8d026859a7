"""Strings with too large an automaton over bytes: long counted strings, and large patterns.

Does: read such a string in windows (`windows`); each window is one leaf, and windows far from all bounds are equal.
Does not: take part in products: only plain conjunctions are read this way.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ...automata import CODE_POINTS, Dfa, Spelling
from ...base.array_types import Ints
from ...jit.kernel import kernel
from .string_escapes import FREELY_SPELLED, spelling_of
from .windows import CLOSED, Window, WindowedText, spread, window

# Bound for one automaton per string: states over code points, times the characters to be counted, times the states that
# spell a character over bytes. Where characters are counted, the bound is lower.
UNROLLED = 12_000
_COUNTED: Final = 4_000
_LONG: Final = 256  # bytes within one window after which the next one is opened


@dataclass(frozen=True, slots=True)
class CountedChars:
    """Inside the quotes: the state of the automaton over code points, and how many characters were read."""

    state: int
    count: int


class CountedString:
    """The texts of `chars` (over code points) of at most `most` characters; None: of any length."""

    def __init__(self, chars: Dfa, most: int | None) -> None:
        self.chars = chars
        self.most = None if most is not None and 0 <= _longest(chars.table) <= most else most
        self._size = (self.most or 1) * chars.states * spread(chars)
        spelling = spelling_of(chars)
        if self._size < UNROLLED and (self.most or 0) > FREELY_SPELLED:
            spelling = Spelling.JSON_CANONICAL  # as one automaton would be
        self._text = WindowedText(chars, chars.fingerprint, spelling)

    @property
    def needed(self) -> bool:
        """Whether one automaton over bytes would be too large."""
        return self._size >= (UNROLLED if self.most is None else _COUNTED)

    @property
    def start(self) -> CountedChars | None:
        """The state after the opening quote; None if no text is short enough."""
        if self.chars.empty or (self.most is not None and self.chars.distance[0] > self.most):
            return None
        return CountedChars(0, 0)

    def following(self, at: CountedChars) -> Dfa:
        """The leaf of the next window, or of the rest of the string with its closing quote."""
        return self._window(at).leaf

    def after(self, at: CountedChars, outcome: int) -> CountedChars | None:
        """The state after a window with this outcome; None if the string has ended."""
        if outcome == CLOSED:
            return None
        states, lengths = self._window(at).states, self._window(at).lengths
        return CountedChars(int(states[outcome - 1]), at.count + int(lengths[outcome - 1]))

    def renewed(self, at: CountedChars, text: bytes) -> CountedChars | None:
        """The state after `text`, read within the window at `at`, if a new window should begin; else None."""
        seen = self._window(at)
        if not len(seen.states):
            return None
        points = _points(text)
        if points is None:
            return None
        chars = self.chars
        state = _read(chars.bounds, chars.classes, chars.table, at.state, points)
        far = len(points) >= seen.fresh or seen.depth[state] >= seen.deep
        if not far and len(text) < _LONG:
            return None
        return CountedChars(int(state), 0 if self.most is None else at.count + len(points))

    def least(self, at: CountedChars) -> int:
        """An upper bound on the bytes of the rest and the closing quote."""
        return int(self.chars.distance[at.state]) * self._widest + 1

    @cached_property
    def _widest(self) -> int:
        """The largest, over all classes, of the fewest bytes of a character."""
        bounds = [*self.chars.bounds.tolist(), CODE_POINTS]
        least: dict[int, int] = {}
        for kind, low, past in zip(self.chars.classes.tolist(), bounds, bounds[1:], strict=False):
            least[kind] = min(least.get(kind, 6), _bytes(low, past))
        return max((size for kind, size in least.items() if kind >= 0), default=1)

    def _window(self, at: CountedChars) -> Window:
        if self.most is None:
            return window(self._text, at.state, None, counted=False)
        far, left = window(self._text, at.state, None, counted=True), self.most - at.count
        return far if left >= far.sight else window(self._text, at.state, left, counted=True)


def _points(text: bytes) -> Ints | None:
    """The code points of a text within quotes; None if the last one is incomplete."""
    try:
        found: str = json.loads(b'"%b"' % text) if b"\\" in text else text.decode()
        return np.frombuffer(found.encode("utf-32-le"), np.int32)
    except ValueError:
        return None


@kernel
def _longest(table: Ints) -> int:
    """The length of the longest path through a trimmed table; -1 if it is unbounded."""
    count, width = table.shape
    waiting, way = np.zeros(count, np.int32), np.zeros(count, np.int32)
    for s in range(count):
        for c in range(width):
            if table[s, c] >= 0:
                waiting[table[s, c]] += 1
    if waiting[0] > 0:
        return -1
    queue, at, found = np.zeros(count, np.int32), 0, 1
    while at < found:
        s = queue[at]
        at += 1
        for c in range(width):
            t = table[s, c]
            if t >= 0:
                way[t] = max(way[t], way[s] + 1)
                waiting[t] -= 1
                if waiting[t] == 0:
                    queue[found] = t
                    found += 1
    return way.max() if found == count else -1


@kernel
def _read(bounds: Ints, classes: Ints, table: Ints, state: int, points: Ints) -> int:
    """The state after some characters."""
    for point in points:
        c = classes[np.searchsorted(bounds, point, "right") - 1]
        state = table[state, c]
    return state


def _bytes(low: int, past: int) -> int:
    """The bytes of the shortest spelling of a character in [low, past)."""
    if low < 0x80 and past > 0x20:
        return 2 if past - low == 1 and chr(low) in '"\\' else 1
    return 6 if low < 0x20 else 2 if low < 0x800 else 3 if low < 0x10000 else 4
