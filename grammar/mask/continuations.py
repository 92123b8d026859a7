"""Merges the continuations after the exits of a leaf: one small tree per outcome replaces thousands of trie nodes.

Does: merge the subtrees below exits, so that equal continuations are walked once for all tokens that share them. Does
not: walk them (`trie_walk`).
"""

import numpy as np

from ..base.array_types import Ints
from ..jit.kernel import kernel
from .trie import Trie


@kernel
def _sizes(trie: Trie, exits: Ints) -> tuple[int, int]:
    """(nodes, tokens) at and below the exits."""
    nodes, tokens = 0, 0
    for i in range(len(exits)):
        node = exits[i, 0]
        nodes += trie.skip[node] - node
        tokens += trie.first[trie.skip[node]] - trie.first[node]
    return nodes, tokens


@kernel
def _spread(
    trie: Trie,
    pool: Ints,
    begin: int | np.int64,
    end: int | np.int64,
    below: bool,
    todo: Ints,
    used: int,
    waiting: int,
) -> tuple[int, int]:
    """Group the children of a segment of `pool` by byte (`below`; else the nodes themselves), and append the groups.

    Each group becomes a segment of `pool` with an entry in `todo`. Returns the new lengths (`used`, `waiting`) of both.
    """
    counts = np.zeros(256, np.int32)
    for i in range(begin, end):
        node = pool[i] + 1 if below else pool[i]
        past = trie.skip[pool[i]] if below else pool[i] + 1
        while node < past:
            counts[trie.byte[node]] += 1
            node = trie.skip[node]
    depth = todo[waiting, 3] + 1
    for byte in range(255, -1, -1):
        if counts[byte] > 0:
            todo[waiting, 0], todo[waiting, 1] = used, used + counts[byte]
            todo[waiting, 2], todo[waiting, 3] = byte, depth
            used, counts[byte] = used + counts[byte], used
            waiting += 1
    for i in range(begin, end):
        node = pool[i] + 1 if below else pool[i]
        past = trie.skip[pool[i]] if below else pool[i] + 1
        while node < past:
            pool[counts[trie.byte[node]]] = node
            counts[trie.byte[node]] += 1
            node = trie.skip[node]
    return used, waiting


@kernel
def _grow(trie: Trie, exits: Ints, merged: Trie, count: int, ended: int) -> tuple[int, int]:
    """Append the tree of the exits of one outcome to `merged`; returns the new numbers of (nodes, tokens)."""
    byte, depth, skip, first, tokens = merged
    room = len(byte)
    # A segment of `pool` holds the nodes of `trie` that become one node. `todo` is a stack of segments: (begin, end,
    # byte, depth).
    pool, todo = np.empty(room, np.int32), np.empty((room, 4), np.int32)
    path = np.zeros(room, np.int32)
    pool[: len(exits)] = exits[:, 0]
    todo[0, 0], todo[0, 1], todo[0, 2], todo[0, 3] = 0, len(exits), 0, 0
    used, waiting, height = len(exits), 1, -1
    while waiting > 0:
        waiting -= 1
        begin, end, d = np.int64(todo[waiting, 0]), np.int64(todo[waiting, 1]), todo[waiting, 3]
        while height >= d:
            skip[path[height]] = count
            height -= 1
        height = d
        path[d] = count
        byte[count], depth[count], first[count] = todo[waiting, 2], d, ended
        count += 1
        below = d > 0 or exits[0, 2] != 0
        if below:
            for i in range(begin, end):
                for k in range(trie.first[pool[i]], trie.first[pool[i] + 1]):
                    tokens[ended] = trie.tokens[k]
                    ended += 1
        used, waiting = _spread(trie, pool, begin, end, below, todo, used, waiting)
    while height >= 0:
        skip[path[height]] = count
        height -= 1
    return count, ended


@kernel
def _merge(trie: Trie, exits: Ints) -> tuple[Trie, Ints]:
    """See `merge`; `exits` in ascending order of (outcome, whether read)."""
    nodes, ends = _sizes(trie, exits)
    room = nodes + len(exits) + 1
    merged = Trie(
        np.zeros(room, np.uint8),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room + 1, np.int32),
        np.empty(ends, np.int32),
    )
    roots = np.empty((len(exits), 3), np.int32)
    count, ended, trees, at = 0, 0, 0, 0
    while at < len(exits):
        past = at
        while (
            past < len(exits) and exits[past, 1] == exits[at, 1] and exits[past, 2] == exits[at, 2]
        ):
            past += 1
        roots[trees, 0], roots[trees, 1], roots[trees, 2] = count, exits[at, 1], exits[at, 2]
        trees += 1
        count, ended = _grow(trie, exits[at:past], merged, count, ended)
        at = past
    merged.first[count] = ended
    small = Trie(
        merged.byte[:count].copy(),
        merged.depth[:count].copy(),
        merged.skip[:count].copy(),
        merged.first[: count + 1].copy(),
        merged.tokens,
    )
    return small, roots[:trees].copy()


def merge(trie: Trie, exits: Ints) -> tuple[Trie, Ints]:
    """Merge what follows `exits` int32 [n, 3]: (node, outcome, whether its byte was read).

    Returns (trees, int32 [trees, 3]: root, outcome, whether read). A node of a tree has the tokens of `trie` that
    continue one of the exits of that outcome with the text of the node.
    """
    order = np.lexsort((exits[:, 2], exits[:, 1]))
    merged, roots = _merge(trie, np.ascontiguousarray(exits[order]))
    return merged, roots
