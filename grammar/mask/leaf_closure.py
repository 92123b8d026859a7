"""Finds the trie subtrees that are legal in a leaf state without walking them.

Does: summarise the kinds of characters in each subtree of a trie; find the kinds of characters that each state of a
leaf takes, and for how many characters the leaf is surely not left. Does not: walk (`leaf_walk`).

Kinds are bits: groups of letters, digits, each ASCII sign, and groups of characters of several bytes (UTF-8). The
summary of a subtree also says whether it contains bytes that form no whole character, counted from the node.
"""

from functools import cache
from typing import Final

import numpy as np

from ..base.array_types import Flags, Ints, Longs
from ..jit.kernel import kernel
from .leaf_walk import LeafTables, StayBounds, Subtrees, visited
from .trie import Trie

_ASCII: Final = 128
_FURTHER: Final = 1 << 60  # continuation bytes of a character
_BROKEN: Final = 1 << 61  # bytes that belong to no whole character
_ROUNDS: Final = 2  # of narrowing the kinds of states
_EVER: Final = 1 << 20  # characters; longer than any token
_GROUPS: Final = (
    b"abcdef",
    b"ghijklmnopqrstuvwxyz",
    b"ABCDEF",
    b"GHIJKLMNOPQRSTUVWXYZ",
    b"0123456789",
)
# Forms of characters of several bytes, one kind each: first bytes (from, to), the range of the second byte (an index
# into `_SECOND`), the number of bytes after that. First bytes with which white space begins are forms of their own.
_FIRST: Final = (
    (0xC2, 0xC2, 0, 0),
    (0xC3, 0xDF, 0, 0),
    (0xE0, 0xE0, 1, 1),
    (0xE1, 0xE1, 0, 1),
    (0xE2, 0xE2, 0, 1),
    (0xE3, 0xE3, 0, 1),
    (0xE4, 0xEC, 0, 1),
    (0xED, 0xED, 2, 1),
    (0xEE, 0xEE, 0, 1),
    (0xEF, 0xEF, 0, 1),
    (0xF0, 0xF0, 3, 2),
    (0xF1, 0xF3, 0, 2),
    (0xF4, 0xF4, 4, 2),
)
_SECOND: Final = (0x80, 0xBF), (0xA0, 0xBF), (0x80, 0x9F), (0x90, 0xBF), (0x80, 0x8F)


@cache
def _kinds() -> Longs:
    """int64 [256]: the kind bit of each byte."""
    kinds = np.full(256, _FURTHER, np.int64)
    signs = [byte for byte in range(ord(" "), _ASCII - 1) if not chr(byte).isalnum()]
    controls = bytes([*range(ord(" ")), _ASCII - 1])
    wide = [bytes(range(low, high + 1)) for low, high, _, _ in _FIRST]
    groups = (*wide, *_GROUPS, controls, *(bytes([sign]) for sign in signs))
    for number, group in enumerate(groups):
        kinds[list(group)] = 1 << number
    return kinds


@kernel
def _follows(byte: int, left: int, low: int, high: int) -> tuple[int, int, int]:
    """(bytes left of a character, range of the next byte: from, to) after one byte; -1 left: it fits no character."""
    if left > 0:
        return (left - 1, 0x80, 0xBF) if low <= byte <= high else (-1, 0, 0)
    if byte < _ASCII:
        return 0, 0, 0
    for start, end, second, more in _FIRST:
        if start <= byte <= end:
            return more + 1, _SECOND[second][0], _SECOND[second][1]
    return -1, 0, 0


@kernel
def _subtrees(trie: Trie, kind_of: Longs) -> Subtrees:
    size = len(trie.byte)
    kinds, chars = np.zeros(size, np.int64), np.zeros(size, np.int32)
    for node in range(size - 1, 0, -1):
        kinds[node] = kind_of[trie.byte[node]]
        child = node + 1
        while child < trie.skip[node]:
            kinds[node] |= kinds[child]
            chars[node] = max(chars[node], chars[child])
            child = trie.skip[child]
        chars[node] += not _SECOND[0][0] <= trie.byte[node] <= _SECOND[0][1]
    begun, lengths = np.zeros(size, np.int32), np.empty(len(trie.tokens), np.int32)
    above = np.zeros(trie.depth.max() + 1, np.int32)
    for node in range(1, size):
        first = not _SECOND[0][0] <= trie.byte[node] <= _SECOND[0][1]
        begun[node] = above[trie.depth[node] - 1] + first
        above[trie.depth[node]] = begun[node]
        lengths[trie.first[node] : trie.first[node + 1]] = begun[node]
    path = np.zeros((trie.depth.max() + 1, 3), np.int64)
    for node in range(1, size):
        at, end = node, trie.skip[node] if kinds[node] & _FURTHER != 0 else node
        path[trie.depth[node] - 1] = 0
        while at < end:
            d = trie.depth[at]
            left, low, high = _follows(
                trie.byte[at], path[d - 1, 0], path[d - 1, 1], path[d - 1, 2]
            )
            path[d, 0], path[d, 1], path[d, 2] = left, low, high
            if left < 0:
                kinds[node] |= _BROKEN
                break
            at += 1
    return Subtrees(kinds, chars, begun, lengths)


def subtrees(trie: Trie) -> Subtrees:
    """Summarise the subtree of each node of a trie."""
    return _subtrees(trie, _kinds())


@kernel
def _classes(class_of: Ints, low: int, high: int) -> Ints:
    """The distinct byte classes in a range of bytes, -1 for bytes without a class."""
    found, count = np.empty(high - low + 1, np.int32), 0
    for byte in range(low, high + 1):
        known = False
        for i in range(count):
            known = known or found[i] == class_of[byte]
        if not known:
            found[count] = class_of[byte]
            count += 1
    return found[:count].copy()


@kernel
def _inner(leaf: LeafTables, order: Ints, number: Ints) -> Ints:
    """int32 [states, classes]: the transitions that stay inside a leaf; states are numbered by their place in `order`.

    -1: the byte is refused; -2: it ends the leaf, or leads to a state that is not in `order`.
    """
    inner = np.empty((len(order), leaf.table.shape[1]), np.int32)
    for i in range(len(order)):
        for c in range(inner.shape[1]):
            t = leaf.table[order[i], c]
            if t < 0:
                inner[i, c] = -1 if leaf.outcome[order[i]] < 0 else -2
            elif leaf.alive[t] == 0:
                inner[i, c] = -1
            else:
                inner[i, c] = -2 if leaf.over[t] or number[t] < 0 else number[t]
    return inner


@kernel
def _then(inner: Ints, classes: Ints, after: Ints) -> Ints:
    """int32 [states]: where one byte of any of `classes` and then `after` lead; -1 if not all to one state."""
    found = np.full(len(inner), -1, np.int32)
    for s in range(len(inner)):
        for k in range(len(classes)):
            t = inner[s, classes[k]] if classes[k] >= 0 else -1
            target = after[t] if t >= 0 else -1
            found[s] = target if k == 0 or found[s] == target else -1
            if found[s] < 0:
                break
    return found


@kernel
def _moves(inner: Ints, class_of: Ints, kind_of: Longs) -> tuple[Ints, Longs]:
    """(int32 [states, columns]: the target of each ASCII class and of each form of characters; the kinds per column).

    -1: all are refused; -2: some leave the leaf, or the targets differ.
    """
    width = inner.shape[1]
    moves = np.full((len(inner), width + len(_FIRST)), -1, np.int32)
    kinds_of = np.zeros(width + len(_FIRST), np.int64)
    for byte in range(_ASCII):
        if class_of[byte] >= 0:
            kinds_of[class_of[byte]] |= kind_of[byte]
    moves[:, :width] = inner
    any_byte = _classes(class_of, _SECOND[0][0], _SECOND[0][1])
    here = np.arange(len(inner)).astype(np.int32)
    after_one = _then(inner, any_byte, here)
    after_two = _then(inner, any_byte, after_one)
    for k in range(len(_FIRST)):
        low, high, second, more = _FIRST[k]
        after = after_one if more == 1 else after_two if more else here
        after = _then(inner, _classes(class_of, _SECOND[second][0], _SECOND[second][1]), after)
        firsts = _classes(class_of, low, high)
        moves[:, width + k] = _then(inner, firsts, after)
        kinds_of[width + k] = kind_of[low]
        for s in range(len(inner)):
            refused = True
            for c in firsts:
                refused = refused and (c < 0 or inner[s, c] == -1)
            if moves[s, width + k] < 0:
                moves[s, width + k] = -1 if refused else -2
    return moves, kinds_of


@kernel
def _taken(moves: Ints, kinds_of: Longs, class_of: Ints, kind_of: Longs) -> Longs:
    """int64 [states]: the kinds that each state takes."""
    every, none = np.int64(0), np.int64(0)
    for kinds in kinds_of:
        every |= kinds
    for byte in range(_ASCII):
        if class_of[byte] < 0:
            none |= kind_of[byte]
    taken = np.empty(len(moves), np.int64)
    for s in range(len(moves)):
        gone = none
        for c in range(len(kinds_of)):
            if moves[s, c] < 0:
                gone |= kinds_of[c]
        taken[s] = every & ~gone
    return taken


@kernel
def _count(bits: int) -> int:
    count = 0
    while bits != 0:
        bits &= bits - 1
        count += 1
    return count


@kernel
def _main_kinds(moves: Ints, kinds: Longs, kinds_of: Longs) -> Longs:
    """int64 [states]: the kinds of each state that its main successor takes as well.

    Leaves out the kinds that most successors refuse, and the kinds after which other kinds are refused.
    """
    main, incoming = kinds.copy(), np.zeros(len(moves), np.int64)
    for s in range(len(moves)):
        best, most = -1, 0
        for c in range(len(kinds_of)):
            t = moves[s, c]
            if t >= 0:
                incoming[t] |= kinds_of[c] & kinds[s]
                count = _count(incoming[t])
                if count > most:
                    best, most = t, count
        if best >= 0 and 2 * _count(kinds[s] & kinds[best]) >= _count(kinds[s]):
            main[s] &= kinds[best]
        for c in range(len(kinds_of)):
            t = moves[s, c]
            if t >= 0:
                incoming[t] = 0
                if t != best and main[s] & ~kinds[t] != 0:
                    main[s] &= ~kinds_of[c]
    return main


@kernel
def _distances(moves: Ints, kinds: Longs, kinds_of: Longs) -> Ints:
    """int32 [states]: for how many characters of its kinds each state surely does not leave the leaf."""
    far = np.full(len(moves), _EVER, np.int32)
    changed = True
    while changed:
        changed = False
        for s in range(len(moves) - 1, -1, -1):
            least = _EVER if kinds[s] != 0 else 0
            for c in range(len(kinds_of)):
                t = moves[s, c]
                if t != s and kinds_of[c] & kinds[s] != 0:
                    least = min(least, far[t] + 1 if kinds[s] & ~kinds[t] == 0 else 1)
            if least < far[s]:
                far[s] = least
                changed = True
    return far


@kernel
def _certain(moves: Ints, bounds: StayBounds, kinds_of: Longs) -> Flags:
    """bool [states]: whether any character after `far` characters is refused; see `StayBounds`."""
    kinds, far, _ = bounds
    sure = np.zeros(len(moves), np.bool_)
    for s in range(len(moves) - 1, -1, -1):
        sure[s] = 0 < far[s] < _EVER
        for c in range(len(kinds_of)):
            if not sure[s] or kinds_of[c] & kinds[s] == 0:
                continue
            t = moves[s, c]
            if far[s] == 1:
                for k in range(len(kinds_of)):
                    sure[s] = sure[s] and (kinds_of[k] & kinds[s] == 0 or moves[t, k] == -1)
            else:
                sure[s] = kinds[s] & ~kinds[t] == 0 and far[t] == far[s] - 1 and sure[t]
    return sure


@kernel
def _stay_bounds(leaf: LeafTables, state: int, depth: int, kind_of: Longs) -> StayBounds:
    order, number = visited(leaf, state, depth)
    moves, kinds_of = _moves(_inner(leaf, order, number), leaf.class_of, kind_of)
    own = _taken(moves, kinds_of, leaf.class_of, kind_of)
    for _ in range(_ROUNDS):
        own = _main_kinds(moves, own, kinds_of)
    near = _distances(moves, own, kinds_of)
    certain = _certain(moves, StayBounds(own, near, near > 0), kinds_of)
    size = len(leaf.outcome)
    kinds, far, sure = np.zeros(size, np.int64), np.zeros(size, np.int32), np.zeros(size, np.bool_)
    kinds[order], far[order], sure[order] = own | _FURTHER, near, certain
    return StayBounds(kinds, far, sure)


def stay_bounds(leaf: LeafTables, state: int, depth: int) -> StayBounds:
    """The stay bounds of all states within `depth` bytes of `state`; the entries of other states mean nothing."""
    return _stay_bounds(leaf, state, depth, _kinds())
