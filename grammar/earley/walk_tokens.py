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
from .close_items import cost, cut_at, leaf_state, new_step, step
from .column_store import (
    CUT,
    DEAD,
    DONE,
    NO_ROOM,
    UNKNOWN,
    UNRESOLVED,
    columns_at,
)
from .rule_arrays import INFINITE, rules_at

NO_END: Final = 2 * INFINITE


class WalkArrays(NamedTuple):
    """A vocabulary's trie, and working arrays of one walk."""

    trie: Trie
    parent: Ints  # [nodes]
    path: Ints  # [longest token + 1], the column at each depth
    unresolved: Ints  # [nodes], nodes below which the cut column does not know everything
    content: Longs  # [nodes], the kinds of the bytes below each node, as bits
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
        words(held, 9),
    )


@kernel
def _loops(held: Longs, c: int | np.int64) -> int:
    """The kinds of bytes, as bits, of which any text can be read from column c, because a leaf loops on them."""
    rules, columns = rules_at(held), columns_at(held)
    if columns.loops[c] == UNKNOWN:
        found, most = np.int64(0), 0
        for i in range(columns.first[c], columns.first[c + 1]):
            kinds = rules.stable[leaf_state(columns.items[i])]
            if kinds == found:
                continue
            count, left = 0, kinds
            while left:
                count, left = count + 1, left & (left - 1)
            if count > most:
                found, most = kinds, count
        columns.loops[c] = found
    return int(columns.loops[c])


@kernel
def _below(held: Longs, walk: WalkArrays, root: int | np.int64) -> int:
    """Allow the tokens below a node; `path` has its column. Returns `NO_ROOM` or 0.

    Nodes with `CUT` are noted in `unresolved`, and their subtrees left out: these are walked again, from a column that
    is cut further down.

    A call between compiled functions copies all arrays, 0.2 us: there is none for a move that is known.
    """
    rules, columns = rules_at(held), columns_at(held)
    byte_of, depth_of, skip = walk.trie.byte, walk.trie.depth, walk.trie.skip
    first, tokens, content, path, row = (
        walk.trie.first,
        walk.trie.tokens,
        walk.content,
        walk.path,
        walk.row,
    )
    class_of, width = rules.class_of, np.int64(len(rules.only))
    moves, flags, loops = columns.moves, columns.flags, columns.loops
    node, end = np.int64(root) + 1, np.int64(skip[root])
    while node < end:
        depth, over = depth_of[node], np.int64(skip[node])
        before, kind = np.int64(path[depth - 1]), np.int64(class_of[byte_of[node]])
        c = np.int64(moves[before * width + kind])
        if c == UNKNOWN:
            c = np.int64(new_step(held, before, kind))
            if c == NO_ROOM:
                return NO_ROOM
        if c == DEAD:
            node = over
            continue
        last = then = node + 1
        if over > last:
            read = loops[c]
            if read == UNKNOWN:
                read = np.int64(_loops(held, c))
            if content[node] & ~read == 0:
                last = then = over
            elif flags[c] & CUT:
                walk.unresolved[columns.note[UNRESOLVED]] = node
                columns.note[UNRESOLVED] += 1
                then = over
            else:
                path[depth] = c
        for i in range(first[node], first[last]):
            token = tokens[i]
            row[token >> 5] |= np.uint32(1) << np.uint32(token & 31)
        node = then
    return 0


@kernel
def cut(held: Longs, c: int, level: int) -> int:
    """Column c cut at a level, or `NO_ROOM`."""
    return cut_at(held, c, level)


@kernel
def fill(held: Longs, walked: Longs, c: int) -> int:
    """Write the mask of a column to `row`, without end tokens; the number of `unresolved`, or `NO_ROOM`."""
    columns, walk = columns_at(held), walk_at(walked)
    walk.row[:] = 0
    columns.note[UNRESOLVED] = 0
    walk.path[0] = c
    if _below(held, walk, 0) == NO_ROOM:
        return NO_ROOM
    return int(columns.note[UNRESOLVED])


@kernel
def resolve(held: Longs, walked: Longs, c: int, roots: Ints) -> int:
    """Allow the tokens below the nodes `roots` that can be read from column c as well; the number of `unresolved`."""
    rules, columns, walk = rules_at(held), columns_at(held), walk_at(walked)
    trie, path = walk.trie, walk.path
    columns.note[UNRESOLVED] = 0
    path[0] = c
    over = np.int32(0)
    for i in range(len(roots)):
        root = roots[i]
        if root < over:  # within the subtree of an earlier one
            continue
        over = trie.skip[root]
        node, depth = root, trie.depth[root]
        for at in range(depth, 0, -1):
            path[at] = node
            node = walk.parent[node]
        reached = np.int64(c)
        for at in range(1, depth + 1):
            reached = np.int64(step(held, reached, rules.class_of[trie.byte[path[at]]]))
            if reached < 0:
                break
        if reached == NO_ROOM:
            return NO_ROOM
        if reached == DEAD:
            continue
        path[depth] = reached
        if columns.flags[reached] & CUT:
            walk.unresolved[columns.note[UNRESOLVED]] = root
            columns.note[UNRESOLVED] += 1
        elif _below(held, walk, root) == NO_ROOM:
            return NO_ROOM
    return int(columns.note[UNRESOLVED])


@kernel
def read(held: Longs, c: int, text: Bytes) -> int:
    """The column after a text; `DEAD` or `NO_ROOM`."""
    rules = rules_at(held)
    for byte in text:
        c = step(held, c, rules.class_of[byte])
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
            moved = step(held, c, kind)
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
    for i in range(columns.first[c], columns.first[c + 1]):
        item = columns.items[i]
        found = min(found, rules.distance[leaf_state(item)] + cost(held, item))
    return found


@kernel
def close_with(held: Longs, c: int, text: Bytes) -> int:
    """Write a shortest text that completes an output in column c to `text`, which is long enough.

    Returns the number of bytes; `DEAD` if the text leads through columns with too many items; `NO_ROOM`.
    """
    rules = rules_at(held)
    count, remaining = 0, least(held, c)
    while remaining > 0:
        if count >= len(text):
            return DEAD
        found, then = -1, DEAD
        for kind in range(len(rules.only)):
            if not _leads_to(held, c, kind, remaining - 1):
                continue
            moved = step(held, c, kind)
            if moved == NO_ROOM:
                return NO_ROOM
            if moved != DEAD and least(held, moved) == remaining - 1:
                found, then = kind, moved
                break
        if found < 0:
            return DEAD
        for byte in range(256):
            if rules.class_of[byte] == found:
                text[count] = byte
                break
        count, c, remaining = count + 1, then, remaining - 1
    return count


@kernel
def _leads_to(
    held: Longs,
    c: int | np.int64,
    kind: int | np.int64,
    remaining: int | np.int64,
) -> bool:
    """Whether a byte of a class leads an item of column c to a state from which `remaining` bytes end the output."""
    rules, columns = rules_at(held), columns_at(held)
    for i in range(columns.first[c], columns.first[c + 1]):
        item = columns.items[i]
        leaf = rules.following[leaf_state(item) * len(rules.only) + kind]
        if leaf >= 0 and rules.distance[leaf] + cost(held, item) == remaining:
            return True
    return False
