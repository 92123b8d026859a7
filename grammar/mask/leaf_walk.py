"""Compiled loops that walk all tokens inside one leaf.

Does: find the tokens that stay inside a leaf and its exits, from scratch or as the difference from a state with a known
row; give states a canonical form that is equal where no token can tell them apart. Does not: know stacks
(`trie_walk`).

An *exit* is a trie node where the leaf ends: (node, outcome, whether the node's byte was read). Its subtree is left
out.
"""

from typing import NamedTuple

import numpy as np

from ..base.array_types import Bytes, Flags, Ints, Longs, Words
from ..jit.kernel import kernel
from .trie import Trie


class LeafTables(NamedTuple):
    """The automaton of a leaf. `over`: states in which the text has ended; `alive`: states that may be entered."""

    table: Ints  # [states, classes], the next state or -1
    outcome: Ints  # [states], -1 where no text ends
    class_of: Ints  # [256], -1 for bytes that never occur
    over: Flags  # [states]
    alive: Bytes  # [states]


@kernel
def allow(trie: Trie, row: Words, node: int) -> None:
    """Set the bits of the tokens at a node."""
    for i in range(trie.first[node], trie.first[node + 1]):
        token = trie.tokens[i]
        row[token >> 5] |= np.uint32(1) << np.uint32(token & 31)


@kernel
def forbid(trie: Trie, row: Words, node: int) -> None:
    """Clear the bits of all tokens at and below a node."""
    for i in range(trie.first[node], trie.first[trie.skip[node]]):
        token = trie.tokens[i]
        row[token >> 5] &= ~(np.uint32(1) << np.uint32(token & 31))


@kernel
def common_target(table: Ints, class_of: Ints, state: int) -> int:
    """The target of most bytes of a state; -1 if more than three quarters of the bytes are refused."""
    bytes_of = np.zeros(table.shape[1], np.int32)
    for byte in range(256):
        if class_of[byte] >= 0:
            bytes_of[class_of[byte]] += 1
    best, most, alive = -1, 0, 0
    for c in range(table.shape[1]):
        if table[state, c] < 0:
            continue
        alive += bytes_of[c]
        total = 0
        for b in range(table.shape[1]):
            if table[state, b] == table[state, c]:
                total += bytes_of[b]
        if total > most:
            best, most = table[state, c], total
    return best if 4 * alive >= 256 else -1


@kernel
def visited(leaf: LeafTables, state: int, depth: int) -> tuple[Ints, Ints]:
    """(the states within `depth` bytes, in order of their first text; the index of each state among them or -1)."""
    order, number = np.empty(len(leaf.outcome), np.int32), np.full(len(leaf.outcome), -1, np.int32)
    order[0], number[state], count, begin = state, 0, 1, 0
    seen = np.zeros(leaf.table.shape[1], np.bool_)
    classes, width = np.empty(leaf.table.shape[1], np.int32), 0
    for byte in range(256):
        c = leaf.class_of[byte]
        if c >= 0 and not seen[c]:
            seen[c] = True
            classes[width] = c
            width += 1
    for _ in range(depth):
        end = count
        for i in range(begin, end):
            for k in range(width):
                t = leaf.table[order[i], classes[k]]
                if t >= 0 and leaf.alive[t] != 0 and number[t] < 0:
                    order[count], number[t] = t, count
                    count += 1
        begin = end
    return order[:count].copy(), number


@kernel
def _equal(one: Ints, other: Ints) -> bool:
    i = 0
    while i < len(one) and one[i] == other[i]:
        i += 1
    return i == len(one)


@kernel
def neighbourhood(leaf: LeafTables, state: int, depth: int) -> tuple[Ints, Ints]:
    """(canonical form of the automaton within `depth` bytes of a state, the outcomes in reach in order).

    The form int32 [n] is equal for states that treat all texts of at most `depth` bytes alike. Outcomes are numbered in
    the order in which they are reached, so leaves that differ only in outcome numbers have equal forms.
    """
    order, number = visited(leaf, state, depth)
    size, width = len(order), leaf.table.shape[1]
    ends = np.empty(size, np.int32)
    outcomes, known = np.empty(size, np.int32), np.full(leaf.outcome.max() + 2, -1, np.int32)
    count = 0
    for i in range(size):
        ending = leaf.outcome[order[i]]
        if ending >= 0 and known[ending] < 0:
            known[ending] = count
            outcomes[count] = ending
            count += 1
        ends[i] = 2 * known[ending] + leaf.over[order[i]] if ending >= 0 else -1
    columns = np.full((width + 1, size), -1, np.int32)
    for c in range(width):
        for i in range(size):
            t = leaf.table[order[i], c]
            columns[c, i] = number[t] if t >= 0 and leaf.alive[t] != 0 else -1
    first, kept = np.full(width + 1, -1, np.int32), np.empty(width + 1, np.int32)
    same = np.empty(256, np.int32)
    used = 0
    for byte in range(256):
        c = leaf.class_of[byte] if leaf.class_of[byte] >= 0 else width
        if first[c] < 0:
            k = 0
            while k < used and not _equal(columns[kept[k]], columns[c]):
                k += 1
            if k == used:
                kept[used] = c
                used += 1
            first[c] = k
        same[byte] = first[c]
    result = np.empty(256 + size * (used + 1), np.int32)
    result[:256] = same
    result[256 : 256 + size] = ends
    for k in range(used):
        result[256 + size * (k + 1) : 256 + size * (k + 2)] = columns[kept[k]]
    return result, outcomes[:count].copy()


class Subtrees(NamedTuple):
    """Summary of the subtree of each node of a trie, in kinds of bytes (see `leaf_closure`) and characters."""

    kinds: Longs  # [nodes], bit set of the kinds of bytes at and below the node
    chars: Ints  # [nodes], most characters on a path from the node down, itself included
    begun: Ints  # [nodes], characters that begin on the path from the root to the node
    lengths: Ints  # [tokens], characters that begin in each token, in the order of the trie


class StayBounds(NamedTuple):
    """For how long texts of given kinds of characters surely stay inside a leaf, by state."""

    kinds: Longs  # [states], bit set of the kinds
    far: Ints  # [states], number of characters of these kinds that do not leave the leaf
    sure: Flags  # [states], whether any further character of these kinds is refused


@kernel
def walk_leaf(
    leaf: LeafTables,
    bounds: StayBounds,
    trie: Trie,
    subtrees: Subtrees,
    path: Ints,
    row: Words,
    exits: Ints,
) -> int:
    """Walk from the state `path[0, 0]` and allow the tokens that stay inside; returns the number of `exits` written."""
    node, count, begin = 1, 0, 1  # nodes from `begin` to `node` stay inside
    while begin < len(trie.byte):
        # Allow all tokens from `begin` to `node`, and the tokens from `node` to `end` of at most `far` characters.
        end, far = len(trie.byte), 0
        if node < end:
            at, c = path[trie.depth[node] - 1, 0], leaf.class_of[trie.byte[node]]
            target = leaf.table[at, c] if c >= 0 else -1
            dead = target >= 0 and leaf.alive[target] == 0
            inside = target >= 0 and not dead and not leaf.over[target]
            plain = inside and subtrees.kinds[node] & ~bounds.kinds[at] == 0
            if plain and subtrees.chars[node] <= bounds.far[at]:
                node = trie.skip[node]
                continue
            plain = plain and bounds.sure[at]
            if inside and not plain:
                path[trie.depth[node], 0] = target
                node += 1
                continue
            end = trie.skip[node]
            ending = leaf.outcome[target] if target >= 0 else leaf.outcome[at]
            if plain:
                far = bounds.far[at] + subtrees.begun[node] - 1
            elif ending >= 0 and not dead:
                exits[count, 0], exits[count, 1], exits[count, 2] = node, ending, target >= 0
                count += 1
        for i in range(trie.first[begin], trie.first[node]):
            token = trie.tokens[i]
            row[token >> 5] |= np.uint32(1) << np.uint32(token & 31)
        if far > 0:
            for i in range(trie.first[node], trie.first[end]):
                token = trie.tokens[i]
                row[token >> 5] |= np.uint32(subtrees.lengths[i] <= far) << np.uint32(token & 31)
        node = begin = end
    return count


class ReferenceLeaf(NamedTuple):
    """A leaf with a known row, and how the states of another leaf (the derived one) correspond to its states."""

    leaf: LeafTables
    partner: Ints  # [states of the derived leaf], the corresponding state here
    bytes: Ints  # [states of the derived leaf], bytes for which both behave alike
    meaning: Ints  # [outcomes here], the outcome of the derived leaf
    heights: Ints  # [nodes of the trie], the most bytes that can follow


@kernel
def walk_difference(
    leaf: LeafTables,
    known: ReferenceLeaf,
    trie: Trie,
    path: Ints,
    dropped: Ints,
    added: Ints,
    exits: Ints,
) -> tuple[int, int, int]:
    """Walk the differences between the state `path[0, 0]` of a leaf and the state `path[0, 1]` of the reference leaf.

    Returns the numbers of entries written to `dropped` (nodes at and below which the reference row does not hold),
    `added` (nodes with tokens that stay inside nevertheless) and `exits`.
    """
    other_leaf = known.leaf
    node, drops, adds, count = 1, 0, 0, 0
    while node < len(trie.byte):
        d, c, e = (
            trie.depth[node],
            leaf.class_of[trie.byte[node]],
            other_leaf.class_of[trie.byte[node]],
        )
        at, reference = path[d - 1, 0], path[d - 1, 1]
        target = leaf.table[at, c] if c >= 0 else -1
        other = other_leaf.table[reference, e] if e >= 0 and reference >= 0 else -1
        # Both behave alike from here on; or both refuse the byte and have ended with the same outcome.
        alike = target >= 0 and other >= 0 and known.partner[target] == other
        alike = alike and known.bytes[target] >= known.heights[node]
        if reference >= 0 and target < 0 and other < 0:
            ending = other_leaf.outcome[reference]
            alike = leaf.outcome[at] == (known.meaning[ending] if ending >= 0 else ending)
        if alike:
            node = trie.skip[node]
            continue
        dead = target >= 0 and leaf.alive[target] == 0
        inside = target >= 0 and not leaf.over[target] and not dead
        if reference >= 0 and (other < 0 or other_leaf.over[other] or not inside):
            dropped[drops] = node
            drops += 1
            other = -1
        if inside:
            path[d, 0], path[d, 1] = target, other
            if other < 0:
                added[adds] = node
                adds += 1
            node += 1
            continue
        ending = leaf.outcome[target] if target >= 0 else leaf.outcome[at]
        if ending >= 0 and not dead:
            exits[count, 0], exits[count, 1], exits[count, 2] = node, ending, target >= 0
            count += 1
        node = trie.skip[node]
    return drops, adds, count
