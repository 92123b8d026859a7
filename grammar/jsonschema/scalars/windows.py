"""Windows: the possible next characters of a long string, as a leaf that ends at the edge of the window.

Does: choose the extent of a window; make its leaf once for all states and schemas with the same continuation. Does not:
bound the length of a string, or follow it (`counted_strings`).

Where characters are counted, the outcome at the edge of a window tells how many characters were read. Where they are
not, a window contains the states within a few arcs.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np

from ...automata import BYTES, CODE_POINTS, REFUSED, Dfa, Spelling, canonical, spelled
from ...automata.automaton_cache import size_bounded_cache
from ...base.array_types import Ints
from ...contract.work import making
from ...jit.kernel import kernel
from .shared_keys import SharedCache

CLOSED: Final = 0  # the outcome of a closed string; other outcomes are 1 + the exit
_CHARACTERS: Final = 128  # of a window, at most
_ROOM: Final = 12_000  # approximate states over bytes of a window
_MOST_STATES: Final = 3000  # over code points
_SMALL: Final = 1000  # states over code points up to which a window is minimised
_WIDE: Final = 2400  # states over bytes for one over code points, at most
_AHEAD: Final = 20  # characters that a window should contain at least
_FAR: Final = 40  # distance from the edge, in characters or arcs, at which the next window begins
_REACHES: Final = 1 << 20, 16, 8, 4  # arcs, tried in this order
_KEPT_BYTES: Final = 4 << 20  # of windows without their leaves; each takes some 10 KB


@dataclass(frozen=True, slots=True)
class WindowedText:
    """The text of a counted string; equal for the same language and spelling."""

    chars: Dfa = field(compare=False)
    fingerprint: bytes
    spelling: Spelling


@dataclass(frozen=True, slots=True)
class Window:
    """The continuations of a text from one of its states.

    `inside`: an automaton over code points, with one outcome per exit and `CLOSED`. `states`, `lengths`: per exit, the
    state of the text and the characters read (0: not counted). `depth`: per state of the text, the fewest characters
    to it, -1 if it cannot be reached. `fresh`, `deep`: the number of characters or arcs after which the next window
    should begin. `sight`: the number of remaining characters from which on the bound no longer affects the window.
    """

    inside: Dfa
    spelling: Spelling
    states: Ints
    lengths: Ints
    depth: Ints
    fresh: int
    deep: int
    sight: int

    @property
    def leaf(self) -> Dfa:
        """The automaton over bytes, with the closing quote."""
        known, key = leaves(), (self.inside.fingerprint, self.spelling)
        found = known.get(key)
        if found is None:
            with making(("windows", key)) as made:
                found = _closed(self.inside, self.spelling)
            known.put(key, found, found.size_bytes, made.price)
        return found


@cache
def leaves() -> SharedCache[Dfa]:
    """The leaves of all windows: far from bounds, many states and schemas share them."""
    return SharedCache()


def spread(chars: Dfa) -> int:
    """The approximate number of states over bytes for one over code points, at most."""
    wide = (np.append(chars.bounds[1:], CODE_POINTS) > 0x80) & (chars.classes >= 0)
    return 1 + 8 * int(wide.sum())


def _window_bytes(found: Window) -> int:
    arrays = found.states, found.lengths, found.depth
    return found.inside.size_bytes + sum(array.nbytes for array in arrays)


@size_bounded_cache(_KEPT_BYTES, _window_bytes)
def window(text: WindowedText, state: int, left: int | None, counted: bool) -> Window:
    """The window at a state, of at most `left` characters; `counted`: exits must have the number of characters."""
    chars = text.chars
    depth = _depths(chars.table, state)
    most = min(_ROOM // min(spread(chars), _WIDE), _MOST_STATES)
    if counted:
        table, ends, exits, longest, reach = _levelled(chars, state, depth, left, most)
        fresh, deep = max(1, longest - _FAR), max(1, reach - _AHEAD // 2)
    else:
        table, ends, exits, reach = _ball(chars, depth, most)
        longest, fresh, deep = 0, _CHARACTERS, max(1, reach - _FAR)
    small = len(table) <= _SMALL
    inside = canonical(CODE_POINTS, chars.bounds, chars.classes, table, ends, minimise=small)
    # Exits are numbered in order of occurrence, so that windows at different states may be equal.
    out = inside.outcome > CLOSED
    exits = exits[inside.outcome[out] - 1]
    outcome = np.where(out, np.cumsum(out), inside.outcome).astype(np.int32)
    inside = Dfa(CODE_POINTS, inside.bounds, inside.classes, inside.table, outcome)
    sight = longest + int(chars.distance.max())
    return Window(inside, text.spelling, exits[:, 0], exits[:, 1], depth, fresh, deep, sight)


@kernel
def _depths(table: Ints, state: int) -> Ints:
    """The fewest arcs from one state to each other state; -1 if there is no path."""
    depth, queue = np.full(len(table), -1, np.int32), np.empty(len(table), np.int32)
    depth[state], queue[0], at, count = 0, state, 0, 1
    while at < count:
        s = queue[at]
        at += 1
        for t in table[s]:
            if t >= 0 and depth[t] < 0:
                depth[t] = depth[s] + 1
                queue[count] = t
                count += 1
    return depth


def _ball(chars: Dfa, depth: Ints, most: int) -> tuple[Ints, Ints, Ints, int]:
    """(table, outcomes, exits as (state, 0), reach in arcs) of the states around one, within `most` states."""
    sizes = np.cumsum(np.bincount(depth[depth >= 0]))
    reach = max(1, int(np.searchsorted(sizes, most, "right")) - 2)
    order = np.argsort(np.where(depth < 0, len(depth), depth), kind="stable").astype(np.int32)
    order = order[: int(sizes[min(reach + 1, len(sizes) - 1)])]
    number = np.full(chars.states + 1, -1, np.int32)
    number[order] = np.arange(len(order))
    out = depth[order] > reach
    table = np.where(out[:, None], -1, number[chars.table[order]])
    ends = np.where(chars.outcome[order] == REFUSED, REFUSED, CLOSED)
    ends = np.where(out, np.cumsum(out), ends)
    exits = np.stack((order[out], np.zeros(int(out.sum()), np.int32)), 1)
    return table, ends, exits, reach


def _levelled(
    chars: Dfa, state: int, depth: Ints, left: int | None, most: int
) -> tuple[Ints, Ints, Ints, int, int]:
    """(table, outcomes, exits as (state, characters), characters, reach in arcs) of a window that counts characters.

    Each level repeats the states for one number of characters, so where they are many the reach is shorter.
    """
    longest = _CHARACTERS if left is None else min(left, _CHARACTERS)
    known = -1 if left is None else left
    best, levels, reach = None, -1, 0
    for tried in _REACHES:
        found = _levels(chars.table, chars.distance, depth, state, longest, known, most, tried)
        if len(found[1]) - 2 > levels:
            best, levels, reach = found, len(found[1]) - 2, tried
        if found[2] or levels >= min(longest, _AHEAD):
            break
    assert best is not None
    states, firsts, over = best
    edge = not over and levels != left
    table, ends, exits = _stacked(chars.table, chars.outcome, depth, states, firsts, edge, reach)
    return table, ends, exits, levels, reach


@kernel
def _levels(
    table: Ints,
    distance: Ints,
    depth: Ints,
    state: int,
    longest: int,
    left: int,
    most: int,
    reach: int,
) -> tuple[Ints, Ints, bool]:
    """(states by level, index of the first state of each level, whether no state follows the last level).

    At most `longest` levels, and `most` states after the first two levels. `left`: characters that may come, -1: any
    number. States deeper than `reach` are not followed.
    """
    states, firsts = np.empty(256, np.int32), np.zeros(longest + 2, np.int32)
    seen = np.full(len(table), -1, np.int32)
    states[0], begin, end, levels = state, 0, 1, 1
    firsts[1] = 1
    while levels <= longest:
        count = end
        for i in range(begin, end):
            if depth[states[i]] > reach:
                continue
            for t in table[states[i]]:
                if t >= 0 and seen[t] != levels and (left < 0 or distance[t] <= left - levels):
                    if count == len(states):
                        states = np.concatenate((states, states))
                    seen[t] = levels
                    states[count] = t
                    count += 1
        states[end:count].sort()
        if count == end or (levels > 1 and count > most):
            return states[:end].copy(), firsts[: levels + 1].copy(), count == end
        begin, end = end, count
        levels += 1
        firsts[levels] = end
    return states[:end].copy(), firsts[: levels + 1].copy(), False


@kernel
def _stacked(
    table: Ints, outcome: Ints, depth: Ints, states: Ints, firsts: Ints, edge: bool, reach: int
) -> tuple[Ints, Ints, Ints]:
    """(table, outcomes, exits) of the states of all levels; arcs lead to the next level.

    The last level, if it is an `edge`, and states deeper than `reach` end with outcome 1 + exit.
    """
    stacked = np.full((len(states), table.shape[1]), -1, np.int32)
    ends, exits, count = (
        np.full(len(states), REFUSED, np.int32),
        np.empty((len(states), 2), np.int32),
        0,
    )
    number, level = np.full(len(table), -1, np.int32), np.full(len(table), -1, np.int32)
    last = len(firsts) - 2
    for k in range(last + 1):
        if k < last:
            for i in range(firsts[k + 1], firsts[k + 2]):
                number[states[i]], level[states[i]] = i, k
        for i in range(firsts[k], firsts[k + 1]):
            s = states[i]
            if depth[s] > reach or (edge and k == last):
                exits[count, 0], exits[count, 1] = s, k
                count += 1
                ends[i] = count
                continue
            ends[i] = CLOSED if outcome[s] != REFUSED else REFUSED
            for c in range(table.shape[1]):
                t = table[s, c]
                if k < last and t >= 0 and level[t] == k:
                    stacked[i, c] = number[t]
    return stacked, ends, exits[:count].copy()


def _closed(inside: Dfa, spelling: Spelling) -> Dfa:
    """A window over bytes: in states with `CLOSED` it reads the closing quote; at exits it ends without."""
    classes, inner, ends = spelled(inside, spelling)
    size, width = inner.shape
    table = np.full((size + 1, width + 1), -1, np.int32)
    table[:size, :width] = inner
    quote = int(classes[ord('"')])  # the byte is also the end of an escape
    escaped = np.full(size, -1) if quote < 0 else inner[:, quote]
    table[:size, width] = np.where(ends == CLOSED, size, escaped)
    outcome = np.append(np.where(ends == CLOSED, REFUSED, ends), CLOSED)
    classes = classes.copy()
    classes[ord('"')] = width
    bounds = np.arange(BYTES, dtype=np.int32)
    return canonical(BYTES, bounds, classes, table, outcome, minimise=False)
