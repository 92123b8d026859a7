"""Unique prefixes of a leaf: beginnings that exactly one of its texts completes.

Does: find the shortest unique prefix of a text, for all outcomes of the leaf or some. Does not: know which texts must
not come twice (`dead_prefixes`).
"""

from collections.abc import Callable
from functools import cached_property
from typing import Final

import numpy as np

from ..automata import Dfa
from ..base.array_types import Bytes, Flags, Ints
from ..jit.kernel import kernel

Live = frozenset[int] | range | None
"""The outcomes that count; None: all."""
_Lives = tuple[Bytes, Bytes]
"""uint8 [outcomes]: 1 if the outcome counts; uint8 [states]: 1 if an outcome that counts can be reached."""
_MOST_PASSES: Final = 8
_Parts = tuple[Ints, Ints, Ints]
"""`table`, `class_of` and `outcome` of an automaton."""


@kernel
def _unique_prefix(dfa: _Parts, lives: _Lives, state: int, text: Bytes) -> int:
    """The length of the prefix that `UniquePrefixes.find` returns, or -1."""
    table, class_of, outcome = dfa
    counts, alive = lives
    size = len(text)
    forced = np.zeros(size + 1, np.bool_)
    for i in range(size + 1):
        arcs = 0
        for byte in range(256):
            if class_of[byte] >= 0:
                t = table[state, class_of[byte]]
                arcs += t >= 0 and alive[t] != 0
        ends = outcome[state] >= 0 and counts[outcome[state]] != 0
        if i == size and ends:
            break
        forced[i] = arcs == 1 and not ends
        c = class_of[text[i]] if i < size else -1
        state = table[state, c] if c >= 0 else -1
        if state < 0 or alive[state] == 0:
            return -1
    begun = size
    while begun > 1 and forced[begun - 1]:
        begun -= 1
    if arcs == 0:
        return begun if begun < size else -1
    # A number ends only with the byte after it: if a digit, `.` or `e` can follow, the prefix is not unique.
    for byte in (48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 46, 101, 69):
        if class_of[byte] >= 0:
            t = table[state, class_of[byte]]
            if t >= 0 and alive[t] != 0:
                return -1
    return begun


@kernel
def _has_unique_prefix(dfa: _Parts, lives: _Lives) -> bool:
    """The answer of `UniquePrefixes.exist`."""
    table, class_of, outcome = dfa
    counts, alive = lives
    arcs, last = np.zeros(len(table), np.int32), np.full(len(table), -1, np.int32)
    sizes = np.zeros(table.shape[1], np.int32)  # bytes of each class
    for byte in range(256):
        if class_of[byte] >= 0:
            sizes[class_of[byte]] += 1
    for s in range(len(table)):
        for c in range(len(sizes)):
            t = table[s, c]
            if sizes[c] > 0 and t >= 0 and alive[t] != 0:
                arcs[s] += sizes[c]
                last[s] = t
    found = False
    for s in range(len(table)):
        ends = outcome[s] >= 0 and counts[outcome[s]] != 0
        forced = arcs[s] == 1 and not ends and arcs[last[s]] == 0
        if alive[s] != 0 and (forced or (ends and arcs[s] > 0)):
            found = True
    state, steps = 0, 0
    while steps <= len(table) and arcs[state] == 1:
        state = last[state]
        steps += 1
    return found and arcs[state] > 0


@kernel
def _has_one_text(dfa: _Parts) -> Flags:
    """bool [outcomes]: whether at most one text has the outcome, as with the name of a property.

    False also where that is not known after `_MOST_PASSES`: each follows the arcs to states with larger numbers.
    """
    table, class_of, outcome = dfa
    sizes = np.zeros(table.shape[1] + 1, np.int64)
    for c in class_of:
        sizes[c] += 1  # class -1 is counted in the last element, which is not used
    texts = np.zeros(len(table), np.int64)  # that lead to a state: none, one, or 2 for more
    changed, passes = True, 0
    while changed and passes < _MOST_PASSES:
        changed = False
        passes += 1
        found = np.zeros(len(table), np.int64)
        found[0] = 1
        for s in range(len(table)):
            for c in range(table.shape[1]):
                t = table[s, c]
                if 0 <= t <= s:
                    found[t] += texts[s] * sizes[c]
        for s in range(len(table)):
            more = min(found[s], 2)
            changed |= more != texts[s]
            texts[s] = more
            for c in range(table.shape[1]):
                if table[s, c] > s:
                    found[table[s, c]] += more * sizes[c]
    ends = np.zeros(outcome.max() + 1, np.int64)
    for s in range(len(table)):
        if outcome[s] >= 0:
            ends[outcome[s]] += 2 if changed else texts[s]
    return ends < 2


class UniquePrefixes:
    """The unique prefixes of one leaf."""

    def __init__(self, dfa: Dfa, alive: Callable[[Bytes], Bytes]) -> None:
        """`alive`: see `Leaf.alive`."""
        self._dfa = dfa
        self._parts = dfa.table, dfa.class_of, dfa.outcome
        self._alive = alive
        self._tight: dict[int, bool] = {}
        self._last: tuple[Live, _Lives] | None = None

    def _lives(self, live: Live) -> _Lives:
        last = self._last
        if last is None or last[0] != live:
            counts = np.full(self._dfa.outcomes[-1] + 1, live is None, np.uint8)
            alive = np.ones(self._dfa.states, np.uint8)
            if live is not None:
                counts[list(live)] = 1
                alive = self._alive(counts)
            last = self._last = live, (counts, alive)
        return last[1]

    def exist(self, outcome: int) -> bool:
        """Whether several texts have this outcome, and some beginning is completed by one of them only."""
        if self._has_one_text[outcome]:
            return False
        if outcome not in self._tight:
            lives = self._lives(frozenset((outcome,)))
            self._tight[outcome] = bool(_has_unique_prefix(self._parts, lives))
        return self._tight[outcome]

    @cached_property
    def _has_one_text(self) -> Flags:
        return _has_one_text(self._parts)

    def find(self, state: int, text: bytes, live: Live) -> bytes | None:
        """The shortest beginning of a text read from `state` on that no other text completes; None if there is none."""
        array = np.frombuffer(text, np.uint8).copy()
        size = int(_unique_prefix(self._parts, self._lives(live), state, array))
        return None if size < 0 else text[:size]
