"""Windows: what can be read of a long string from one place in it, as a leaf that ends at the window's edge.

Does: choose how far a window reaches, make its leaf once for all places and schemas from which the same can be read.
Does not: know how long a string may be, or follow it (`counted`).

A window knows how many characters were read at each way out where these are counted; where they are not, it reaches as
far as a few other states are.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np

from ...automata import BYTES, CODE_POINTS, REFUSED, Dfa, Spelling, canonical, spelled
from ...automata.automaton_cache import size_bounded_cache
from ...base.array_types import Ints
from ...jit.kernel import kernel
from .shared_keys import SharedCache

CLOSED: Final = 0  # the outcome of a window at whose end the string is closed; else 1 + the way out
_CHARACTERS: Final = 128  # of a window at most
_ROOM: Final = 12_000  # states over bytes of a window, about
_MOST_STATES: Final = 3000  # over code points
_SMALL: Final = 1000  # states over code points, up to which equal ones are joined
_WIDE: Final = 70  # states over bytes that one over code points becomes, at most
_AHEAD: Final = 20  # characters that a window should show at least
_FAR: Final = 40  # characters or arcs from the edge, another window is looked through
_REACHES: Final = 1 << 20, 16, 8, 4  # arcs, to be tried in this order
_KEPT_BYTES: Final = 4 << 20  # of windows, without their leaves, some 10 KB each


@dataclass(frozen=True, slots=True)
class WindowedText:
    """What a counted string is made of; equal for the same language."""

    chars: Dfa = field(compare=False)
    fingerprint: bytes
    spelling: Spelling


@dataclass(frozen=True, slots=True)
class Window:
    """From a state of a text.

    `inside`: over code points, with an outcome for each way out, the characters there and `CLOSED`. `states`,
    `lengths`: the text's state at each way out, and the characters read (0: not counted). `depth`: of each of the
    text's states, the fewest characters to it, -1 if it cannot be reached. `fresh`: after so many characters, or `deep`
    arcs, another window should be looked through. `sight`: having room for more characters makes no difference.
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
        """Over bytes, with the closing quote."""
        known, key = leaves(), (self.inside.fingerprint, self.spelling)
        found = known.get(key)
        if found is None:
            found = _closed(self.inside, self.spelling)
            known.put(key, found, found.size_bytes)
        return found


@cache
def leaves() -> SharedCache[Dfa]:
    """The leaves of all windows: far from bounds they are the same for many places and schemas."""
    return SharedCache()


def spread(chars: Dfa) -> int:
    """About how many states over bytes one over code points becomes at most."""
    wide = (np.append(chars.bounds[1:], CODE_POINTS) > 0x80) & (chars.classes >= 0)
    return 1 + 8 * int(wide.sum())


def _window_bytes(found: Window) -> int:
    arrays = found.states, found.lengths, found.depth
    return found.inside.size_bytes + sum(array.nbytes for array in arrays)


@size_bounded_cache(_KEPT_BYTES, _window_bytes)
def window(text: WindowedText, state: int, left: int | None, counted: bool) -> Window:
    """What can come from a state, `left` characters at most; `counted`: each way out has to say how many were read."""
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
    # Ways out are numbered as they come, so that windows from other states may be equal.
    out = inside.outcome > CLOSED
    exits = exits[inside.outcome[out] - 1]
    outcome = np.where(out, np.cumsum(out), inside.outcome).astype(np.int32)
    inside = Dfa(CODE_POINTS, inside.bounds, inside.classes, inside.table, outcome)
    sight = longest + int(chars.distance.max())
    return Window(inside, text.spelling, exits[:, 0], exits[:, 1], depth, fresh, deep, sight)


@kernel
def _depths(table: Ints, state: int) -> Ints:
    """Fewest arcs from one state to each; -1 where there is no way."""
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
    """(table, outcomes, ways out as (state, 0), arcs within) of the states around one, as far as there is room."""
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
    """(table, outcomes, ways out as (state, characters), characters, arcs) of a window that counts.

    States beside one another come again for each number of characters, so where they are many it reaches less far among
    them.
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
    """(states in reach level by level, where each level begins, whether nothing can follow the last one).

    `longest`: levels at most, `most` states, but for the first two levels. `left`: characters that may come, -1: any.
    What is deeper than `reach` is not followed.
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
    """(table, outcome, ways out) of the states of each level, which lead to the next.

    The last level, if it is an `edge`, and what is deeper than `reach` end with 1 + their way out.
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
    """A window over bytes: where it may be `CLOSED`, the closing quote is read; else it ends without."""
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
