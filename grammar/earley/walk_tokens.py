"""Compiled loops that walk the tokens of a vocabulary, or one text, through columns.

Does: find the tokens that can be read from a column; read a text; find the bytes that must come next. Does not: make
columns (`close_items`) or keep masks (`chart`).
"""

from typing import Final, NamedTuple

import numpy as np

from ..base.addresses import line, longs, words
from ..base.array_types import Bytes, Ints, Longs, Words
from ..jit.kernel import kernel
from ..mask.trie import Trie, trie_at
from .close_items import cut_at, step, what
from .column_store import (
    ASKED,
    CUT,
    DEAD,
    DEPTH,
    DONE,
    NO_ROOM,
    UNKNOWN,
    Columns,
    columns_at,
)
from .rule_arrays import FAR, RuleArrays, rules_at

NO_END: Final = 2 * FAR


class WalkArrays(NamedTuple):
    """A vocabulary's trie, and working arrays of one walk."""

    trie: Trie
    parent: Ints  # [nodes]
    path: Ints  # [longest token + 1], the column at each depth
    asks: Ints  # [nodes], nodes below which the cut column does not know everything
    content: Longs  # [nodes], the kinds of the bytes below each node, as bits
    kind_of: Ints  # [256], the kind of each byte
    row: Words  # the mask


@kernel
def walk_at(held: Longs) -> WalkArrays:
    """The arrays at the addresses `held`."""
    return WalkArrays(
        trie_at(held, 0),
        line(held, 5),
        line(held, 6),
        line(held, 7),
        longs(held, 8),
        line(held, 9),
        words(held, 10),
    )


@kernel
def _allow(walk: WalkArrays, node: int | np.int64, end: int | np.int64) -> None:
    """Allow the tokens at nodes from `node` to before `end`."""
    trie = walk.trie
    for i in range(trie.first[node], trie.first[end]):
        token = trie.tokens[i]
        walk.row[token >> 5] |= np.uint32(1) << np.uint32(token & 31)


@kernel
def _loops(rules: RuleArrays, columns: Columns, walk: WalkArrays, c: int | np.int64) -> int:
    """The kinds of bytes, as bits, after which the column is still c; `NO_ROOM`."""
    if columns.loops[c] == UNKNOWN:
        found = np.int64((1 << 62) - 1)
        for byte in range(256):
            moved = step(rules, columns, c, rules.class_of[byte])
            if moved == NO_ROOM:
                return NO_ROOM
            if moved != c:
                found &= ~(np.int64(1) << walk.kind_of[byte])
        columns.loops[c] = found
    return int(columns.loops[c])


@kernel
def _below(
    rules: RuleArrays, columns: Columns, walk: WalkArrays, root: int | np.int64, ask: bool
) -> int:
    """Allow the tokens below a node; `path` has its column. Returns `NO_ROOM` or 0. `ask`: note nodes with `CUT`."""
    trie, path = walk.trie, walk.path
    node, end = np.int64(root) + 1, trie.skip[root]
    while node < end:
        depth = trie.depth[node]
        c = step(rules, columns, path[depth - 1], rules.class_of[trie.byte[node]])
        if c == NO_ROOM:
            return NO_ROOM
        if c == DEAD:
            node = np.int64(trie.skip[node])
            continue
        if c == path[depth - 1] and trie.skip[node] > node + 1:
            loops = _loops(rules, columns, walk, c)
            if loops == NO_ROOM:
                return NO_ROOM
            if walk.content[node] & ~loops == 0:
                _allow(walk, node, trie.skip[node])
                node = np.int64(trie.skip[node])
                continue
        path[depth] = c
        _allow(walk, node, node + 1)
        if ask and columns.flags[c] & CUT and trie.skip[node] > node + 1:
            walk.asks[columns.note[ASKED]] = node
            columns.note[ASKED] += 1
        node += 1
    return 0


@kernel
def cut(held: Longs, c: int) -> int:
    """Column c cut at `DEPTH`, or `NO_ROOM`."""
    return cut_at(rules_at(held), columns_at(held), c, DEPTH)


@kernel
def fill(held: Longs, walked: Longs, c: int) -> int:
    """Write the mask of a column to `row`, without end tokens; the number of `asks`, or `NO_ROOM`."""
    rules, columns, walk = rules_at(held), columns_at(held), walk_at(walked)
    walk.row[:] = 0
    columns.note[ASKED] = 0
    walk.path[0] = c
    if _below(rules, columns, walk, 0, ask=True) == NO_ROOM:
        return NO_ROOM
    return int(columns.note[ASKED])


@kernel
def resolve(held: Longs, walked: Longs, c: int, asks: Ints) -> int:
    """Allow the tokens below the nodes `asks` that can be read from column c as well; `NO_ROOM` or 0."""
    rules, columns, walk = rules_at(held), columns_at(held), walk_at(walked)
    trie, path = walk.trie, walk.path
    walk.path[0] = c
    over = np.int32(0)
    for i in range(len(asks)):
        root = asks[i]
        if root < over:  # within the subtree of an earlier one
            continue
        over = trie.skip[root]
        node, depth = root, trie.depth[root]
        for at in range(depth, 0, -1):
            path[at] = node
            node = walk.parent[node]
        for at in range(1, depth + 1):
            byte = trie.byte[path[at]]
            path[at] = step(rules, columns, path[at - 1], rules.class_of[byte])
            if path[at] < 0:
                break
        if depth and path[depth] == NO_ROOM:
            return NO_ROOM
        if path[depth] >= 0 and _below(rules, columns, walk, root, ask=False) == NO_ROOM:
            return NO_ROOM
    return 0


@kernel
def read(held: Longs, c: int, text: Bytes) -> int:
    """The column after a text; `DEAD` or `NO_ROOM`."""
    rules, columns = rules_at(held), columns_at(held)
    for byte in text:
        c = step(rules, columns, c, rules.class_of[byte])
        if c < 0:
            return c
    return c


@kernel
def force(held: Longs, c: int, text: Bytes) -> int:
    """Write the bytes that must come next to `text`, as many as it holds; their number, or `NO_ROOM`."""
    rules, columns = rules_at(held), columns_at(held)
    for count in range(len(text)):
        if columns.flags[c] & DONE:
            return count
        only, then = -1, DEAD
        for kind in range(len(rules.only)):
            moved = step(rules, columns, c, kind)
            if moved == NO_ROOM:
                return NO_ROOM
            if moved != DEAD:
                if only >= 0 or rules.only[kind] < 0:
                    return count
                only, then = rules.only[kind], moved
        if only < 0:
            return count
        text[count], c = only, then
    return len(text)


@kernel
def least(held: Longs, c: int) -> int:
    """The fewest bytes that complete an output in column c."""
    rules, columns = rules_at(held), columns_at(held)
    if columns.flags[c] & DONE:
        return 0
    found = NO_END
    for i in range(columns.first[c], columns.waiting[c]):
        found = min(found, rules.distance[what(columns.items[i])] + columns.cost[i])
    return found


@kernel
def close_with(held: Longs, c: int, text: Bytes) -> int:
    """Write a shortest text that completes an output in column c to `text`, which is long enough.

    Returns the number of bytes; `DEAD` if the text leads through columns with too many items; `NO_ROOM`.
    """
    rules, columns = rules_at(held), columns_at(held)
    count, wanted = 0, least(held, c)
    while wanted > 0:
        if count >= len(text):
            return DEAD
        found, then = -1, DEAD
        for kind in range(len(rules.only)):
            if not _brings(rules, columns, c, kind, wanted - 1):
                continue
            moved = step(rules, columns, c, kind)
            if moved == NO_ROOM:
                return NO_ROOM
            if moved != DEAD and least(held, moved) == wanted - 1:
                found, then = kind, moved
                break
        if found < 0:
            return DEAD
        for byte in range(256):
            if rules.class_of[byte] == found:
                text[count] = byte
                break
        count, c, wanted = count + 1, then, wanted - 1
    return count


@kernel
def _brings(
    rules: RuleArrays,
    columns: Columns,
    c: int | np.int64,
    kind: int | np.int64,
    wanted: int | np.int64,
) -> bool:
    """Whether a byte of a class leads an item of column c to where `wanted` more bytes complete the output."""
    for i in range(columns.first[c], columns.waiting[c]):
        leaf = rules.following[what(columns.items[i]) * len(rules.only) + kind]
        if leaf >= 0 and rules.distance[leaf] + columns.cost[i] == wanted:
            return True
    return False
