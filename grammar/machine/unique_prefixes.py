"""Beginnings of a leaf's texts that only one of them completes, where all its outcomes count or some.

Does: find them. Does not: know which texts must not come again (`tails`).
"""

from collections.abc import Callable

import numpy as np

from ..automata import Dfa
from ..base.array_types import Bytes, Ints
from ..jit.kernel import kernel

Live = frozenset[int] | None
"""The outcomes that count; None: all."""
_Lives = tuple[Bytes, Bytes]
"""uint8 [outcomes]: 1 for those that count; uint8 [states]: 1 where one of them is in reach."""
_Parts = tuple[Ints, Ints, Ints]
"""The table of an automaton, its classes and its outcomes."""


@kernel
def _only_ending(dfa: _Parts, lives: _Lives, state: int, text: Bytes) -> int:
    """See `Endings.only`: the length of the beginning, or -1."""
    table, class_of, outcome = dfa
    counts, alive = lives
    size = len(text)
    forced = np.zeros(size + 1, np.bool_)
    for i in range(size + 1):
        ways = 0
        for byte in range(256):
            if class_of[byte] >= 0:
                t = table[state, class_of[byte]]
                ways += t >= 0 and alive[t] != 0
        ends = outcome[state] >= 0 and counts[outcome[state]] != 0
        if i == size and ends:
            break
        forced[i] = ways == 1 and not ends
        c = class_of[text[i]] if i < size else -1
        state = table[state, c] if c >= 0 else -1
        if state < 0 or alive[state] == 0:
            return -1
    begun = size
    while begun > 1 and forced[begun - 1]:
        begun -= 1
    if ways == 0:
        return begun if begun < size else -1
    for byte in (48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 46, 101, 69):
        if class_of[byte] >= 0:
            t = table[state, class_of[byte]]
            if t >= 0 and alive[t] != 0:
                return -1
    return begun


@kernel
def _tight(dfa: _Parts, lives: _Lives) -> bool:
    """See `Endings.tight`."""
    table, class_of, outcome = dfa
    counts, alive = lives
    ways, last = np.zeros(len(table), np.int32), np.full(len(table), -1, np.int32)
    for s in range(len(table)):
        for byte in range(256):
            t = table[s, class_of[byte]] if class_of[byte] >= 0 else -1
            if t >= 0 and alive[t] != 0:
                ways[s] += 1
                last[s] = t
    found = False
    for s in range(len(table)):
        ends = outcome[s] >= 0 and counts[outcome[s]] != 0
        forced = ways[s] == 1 and not ends and ways[last[s]] == 0
        if alive[s] != 0 and (forced or (ends and ways[s] > 0)):
            found = True
    state, steps = 0, 0
    while steps <= len(table) and ways[state] == 1:
        state = last[state]
        steps += 1
    return found and ways[state] > 0


class Endings:
    """Of one leaf."""

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

    def tight(self, outcome: int) -> bool:
        """Whether there are several texts with an outcome, and one of them may be all that completes a beginning."""
        if outcome not in self._tight:
            lives = self._lives(frozenset((outcome,)))
            self._tight[outcome] = bool(_tight(self._parts, lives))
        return self._tight[outcome]

    def only(self, state: int, text: bytes, live: Live) -> bytes | None:
        """The shortest beginning of a text, read from a state on, that nothing else completes; None: see `Tails`."""
        said = np.frombuffer(text, np.uint8).copy()
        size = int(_only_ending(self._parts, self._lives(live), state, said))
        return None if size < 0 else text[:size]
