"""All tokens walked inside one leaf, compiled.

Does: find the tokens that stay inside a leaf and the trie nodes where it is left, from scratch or by the difference to
a state whose answer is known; tell states apart as far as tokens can. Does not: know stacks (`trie_walk`).

An *exit* is (node, outcome, whether the node's byte was read): where the leaf ends. What is below it is left out.
"""

from typing import NamedTuple

import numpy as np

from ..base.array_types import Bytes, Flags, Ints, Longs, Words
from ..jit.kernel import kernel
from .trie import Trie


class LeafTables(NamedTuple):
    """An automaton for walking. `over`: states where a text has ended for good, `alive`: those that may be entered."""

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
    """The state that most bytes lead to; -1 if more than three in four lead nowhere."""
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
    """(states in reach by `depth` bytes, in order of their first text; number of each state among them or -1)."""
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
def ball(leaf: LeafTables, state: int, depth: int) -> tuple[Ints, Ints]:
    """(numbers that are equal for states whose texts of at most `depth` bytes fare alike, their outcomes in order).

    Outcomes are numbered by the order in which they are first in reach, so leaves that differ in these alone fare
    alike.
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


class Parts(NamedTuple):
    """Of each node of a trie, what is at and below it: the kinds of bytes (see `staying`), characters at most.

    `begun`: characters that begin on the way to each node, `lengths`: in each token, in the order of the trie.
    """

    kinds: Longs  # [nodes]
    chars: Ints  # [nodes]
    begun: Ints  # [nodes]
    lengths: Ints  # [tokens]


class Stays(NamedTuple):
    """Of each state of a leaf: kinds that it takes, and for how many characters of them the leaf is not left.

    `sure`: one more, whichever it is, is refused.
    """

    kinds: Longs  # [states]
    far: Ints  # [states]
    sure: Flags  # [states]


@kernel
def walk_leaf(
    leaf: LeafTables, stays: Stays, trie: Trie, parts: Parts, path: Ints, row: Words, exits: Ints
) -> int:
    """Walk from the state `path[0, 0]`, allowing the tokens that stay inside; the number of `exits` written."""
    node, count, begin = 1, 0, 1  # from `begin` on, nodes stay inside
    while begin < len(trie.byte):
        # Tokens from `begin` on are allowed before `node`, and between it and `end` if they have so many characters.
        end, far = len(trie.byte), 0
        if node < end:
            at, c = path[trie.depth[node] - 1, 0], leaf.class_of[trie.byte[node]]
            target = leaf.table[at, c] if c >= 0 else -1
            dead = target >= 0 and leaf.alive[target] == 0
            inside = target >= 0 and not dead and not leaf.over[target]
            plain = inside and parts.kinds[node] & ~stays.kinds[at] == 0
            if plain and parts.chars[node] <= stays.far[at]:
                node = trie.skip[node]
                continue
            plain = plain and stays.sure[at]
            if inside and not plain:
                path[trie.depth[node], 0] = target
                node += 1
                continue
            end = trie.skip[node]
            ending = leaf.outcome[target] if target >= 0 else leaf.outcome[at]
            if plain:
                far = stays.far[at] + parts.begun[node] - 1
            elif ending >= 0 and not dead:
                exits[count, 0], exits[count, 1], exits[count, 2] = node, ending, target >= 0
                count += 1
        for i in range(trie.first[begin], trie.first[node]):
            token = trie.tokens[i]
            row[token >> 5] |= np.uint32(1) << np.uint32(token & 31)
        if far > 0:
            for i in range(trie.first[node], trie.first[end]):
                token = trie.tokens[i]
                row[token >> 5] |= np.uint32(parts.lengths[i] <= far) << np.uint32(token & 31)
        node = begin = end
    return count


class ReferenceLeaf(NamedTuple):
    """A leaf whose answer is known, and how another fares beside it.

    Of the other's states: `twin` is the one here that they are like, for so many `bytes`. `meaning`: of each outcome
    here, the other's. `heights`: of the trie's nodes, how many bytes can follow.
    """

    leaf: LeafTables
    twin: Ints  # [states of the other]
    bytes: Ints  # [states of the other]
    meaning: Ints  # [outcomes]
    heights: Ints  # [nodes]


@kernel
def walk_beside(
    leaf: LeafTables,
    known: ReferenceLeaf,
    trie: Trie,
    path: Ints,
    dropped: Ints,
    added: Ints,
    exits: Ints,
) -> tuple[int, int, int]:
    """Walk from the state `path[0, 0]` where it differs from `path[0, 1]` of the known leaf, whose answer is known.

    Returns how many were written of `dropped` (nodes at and below which the known answer does not count), `added`
    (nodes whose tokens stay inside, after all), `exits`.
    """
    other_leaf = known.leaf
    node, drops, adds, count = 1, 0, 0, 0
    while node < len(trie.byte):
        d, c, e = (
            trie.depth[node],
            leaf.class_of[trie.byte[node]],
            other_leaf.class_of[trie.byte[node]],
        )
        at, beside = path[d - 1, 0], path[d - 1, 1]
        target = leaf.table[at, c] if c >= 0 else -1
        other = other_leaf.table[beside, e] if e >= 0 and beside >= 0 else -1
        # Alike from here on; or neither text can be read further, and both have ended alike.
        alike = target >= 0 and other >= 0 and known.twin[target] == other
        alike = alike and known.bytes[target] >= known.heights[node]
        if beside >= 0 and target < 0 and other < 0:
            ending = other_leaf.outcome[beside]
            alike = leaf.outcome[at] == (known.meaning[ending] if ending >= 0 else ending)
        if alike:
            node = trie.skip[node]
            continue
        dead = target >= 0 and leaf.alive[target] == 0
        inside = target >= 0 and not leaf.over[target] and not dead
        if beside >= 0 and (other < 0 or other_leaf.over[other] or not inside):
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
