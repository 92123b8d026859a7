"""All tokens walked inside one leaf, compiled.

Does: find the tokens that stay inside a leaf and the trie nodes where it is left, from scratch or by the difference to
a state whose answer is known. Does not: know stacks (`walk`).

An *exit* is (node, outcome, whether the node's byte was read): where the leaf ends. What is below it is left out.
"""

import numpy as np

from .automata.jit import kernel
from .automata.minimal import Flags, Ints
from .trie import Trie
from .walk import Words, allow, forbid

Leaf = tuple[Ints, Ints, Ints]  # table, outcome, class of each byte


@kernel
def finals(table: Ints, outcome: Ints) -> Flags:
    """States where a text has ended and cannot go on."""
    over = outcome >= 0
    for s in range(len(table)):
        for c in range(table.shape[1]):
            over[s] = over[s] and table[s, c] < 0
    return over


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
def walk_leaf(dfa: Leaf, trie: Trie, path: Ints, row: Words, exits: Ints) -> int:
    """Walk from the state `path[0, 0]`, allowing the tokens that stay inside; the number of `exits` written."""
    table, outcome, class_of = dfa
    over = finals(table, outcome)
    node, count = 1, 0
    while node < len(trie.byte):
        at, c = path[trie.depth[node] - 1, 0], class_of[trie.byte[node]]
        target = table[at, c] if c >= 0 else -1
        if target >= 0 and not over[target]:
            path[trie.depth[node], 0] = target
            allow(trie, row, node)
            node += 1
            continue
        ending = outcome[target] if target >= 0 else outcome[at]
        if ending >= 0:
            exits[count, 0], exits[count, 1], exits[count, 2] = node, ending, target >= 0
            count += 1
        node = trie.skip[node]
    return count


@kernel
def walk_beside(
    dfa: Leaf, trie: Trie, path: Ints, row: Words, exits: Ints, dropped: Ints
) -> tuple[int, int]:
    """Make `row`, which holds the answer for state `path[0, 1]`, that of `path[0, 0]`, walking where the two differ.

    Returns the number of `exits` written and of `dropped`: ranges of nodes (first, past) whose known exits do not count
    any more.
    """
    table, outcome, class_of = dfa
    over = finals(table, outcome)
    node, count, drops = 1, 0, 0
    while node < len(trie.byte):
        d, c = trie.depth[node], class_of[trie.byte[node]]
        at, beside = path[d - 1, 0], path[d - 1, 1]
        target = table[at, c] if c >= 0 else -1
        other = table[beside, c] if c >= 0 and beside >= 0 else -1
        ending = outcome[target] if target >= 0 else outcome[at]
        if target == other and (target >= 0 or (beside >= 0 and outcome[at] == outcome[beside])):
            node = trie.skip[node]
            continue
        inside = target >= 0 and not over[target]
        if other < 0 or over[other] or not inside:
            dropped[drops, 0] = node
            dropped[drops, 1] = trie.skip[node]
            drops += 1
            other = -1
        if inside:
            path[d, 0], path[d, 1] = target, other
            allow(trie, row, node)
            node += 1
            continue
        forbid(trie, row, node)
        if ending >= 0:
            exits[count, 0], exits[count, 1], exits[count, 2] = node, ending, target >= 0
            count += 1
        node = trie.skip[node]
    return count, drops
