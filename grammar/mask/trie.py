"""The vocabulary as a byte trie in arrays, in depth-first order with skip pointers.

Does: index the bytes of all tokens. Does not: hold masks or tokenizers. Masks are computed by walking it.
"""

from typing import NamedTuple

import numpy as np

from ..base.addresses import line, octets
from ..base.array_types import Bytes, Ints, Longs
from ..contract.vocabulary import Vocabulary
from ..jit.kernel import kernel


class Trie(NamedTuple):
    """A byte trie. Node 0 is the empty text; the nodes below node n are n + 1 to `skip[n]` - 1.

    The tokens that end at node n are `tokens[first[n] : first[n + 1]]`; the tokens at and below it are
    `tokens[first[n] : first[skip[n]]]`.
    """

    byte: Bytes  # [nodes], the last byte of each node's text
    depth: Ints  # [nodes], the length of each node's text
    skip: Ints  # [nodes], the next node that is not below this one
    first: Ints  # [nodes + 1], offsets into `tokens`
    tokens: Ints  # [tokens that have text], ids


@kernel
def _build(data: Bytes, offsets: Longs, nodes: int) -> tuple[Bytes, Ints, Ints, Ints]:
    """(byte, depth, skip, first) of the trie of ascending texts; text i is `data[offsets[i] : offsets[i + 1]]`."""
    byte, depth = np.zeros(nodes, np.uint8), np.zeros(nodes, np.int32)
    skip, first = np.full(nodes, nodes, np.int32), np.zeros(nodes + 1, np.int32)
    longest = 0
    for i in range(len(offsets) - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    path = np.zeros(longest + 1, np.int32)
    height, count = 0, 1
    for i in range(len(offsets) - 1):
        begin, length = offsets[i], offsets[i + 1] - offsets[i]
        shared = 0
        while (
            shared < height and shared < length and byte[path[shared + 1]] == data[begin + shared]
        ):
            shared += 1
        while height > shared:
            skip[path[height]] = count
            height -= 1
        while height < length:
            byte[count] = data[begin + height]
            height += 1
            depth[count] = height
            path[height] = count
            first[count] = i
            count += 1
        first[count] = i + 1
    while height > 0:
        skip[path[height]] = count
        height -= 1
    skip[0] = count
    first[count] = len(offsets) - 1
    return byte[:count], depth[:count], skip[:count], first[: count + 1]


def build(vocabulary: Vocabulary) -> Trie:
    """Build the trie of all tokens that have text."""
    pairs = sorted(
        (text, token) for token, text in enumerate(vocabulary.tokens) if text is not None
    )
    data = np.frombuffer(b"".join(text for text, _ in pairs), np.uint8)
    offsets = np.zeros(len(pairs) + 1, np.int64)
    np.cumsum([len(text) for text, _ in pairs], out=offsets[1:])
    arrays = _build(data, offsets, len(data) + 1)
    return Trie(*arrays, np.array([token for _, token in pairs], np.int32))


@kernel
def trie_at(held: Longs, i: int) -> Trie:
    """The trie of the five arrays at numbers i to i + 4 of `held`."""
    return Trie(
        octets(held, i),
        line(held, i + 1),
        line(held, i + 2),
        line(held, i + 3),
        line(held, i + 4),
    )


class Heads(NamedTuple):
    """The children of the root, in ascending order of their bytes; `node` ends with the number of all nodes."""

    byte: Bytes  # [heads]
    node: Ints  # [heads + 1]


def heads(trie: Trie) -> Heads:
    """Collect the children of the root in one contiguous place: a walk reads them for each first byte."""
    nodes = np.flatnonzero(trie.depth == 1).astype(np.int32)
    return Heads(trie.byte[nodes], np.append(nodes, np.int32(len(trie.byte))))


class Children(NamedTuple):
    """The children of each node side by side: those of node n are at `first[n]` to `first[n + 1]` - 1.

    A walk that seeks one child of a node with many reads less memory than along skip pointers.
    """

    first: Ints  # [nodes + 1]
    byte: Bytes  # [nodes - 1], ascending below each node
    node: Ints  # [nodes - 1]


def children(trie: Trie) -> Children:
    """Collect the children of all nodes."""
    return Children(*_children(trie))


@kernel
def _children(trie: Trie) -> tuple[Ints, Bytes, Ints]:
    nodes = len(trie.byte)
    first = np.zeros(nodes + 1, np.int32)
    byte, found = np.empty(nodes - 1, np.uint8), np.empty(nodes - 1, np.int32)
    count = 0
    for node in range(nodes):
        first[node] = count
        child = node + 1
        while child < trie.skip[node]:
            byte[count], found[count] = trie.byte[child], child
            count += 1
            child = int(trie.skip[child])
    first[nodes] = count
    return first, byte, found


@kernel
def children_at(held: Longs, i: int) -> Children:
    """The children of the three arrays from number i of `held` on."""
    return Children(line(held, i), octets(held, i + 1), line(held, i + 2))


@kernel
def heads_at(held: Longs, i: int) -> Heads:
    """The heads of the two arrays at numbers i and i + 1 of `held`."""
    return Heads(octets(held, i), line(held, i + 1))


@kernel
def heights(trie: Trie) -> Ints:
    """int32 [nodes]: the height of each node, the most bytes that can follow it."""
    deepest = trie.depth.copy()
    for node in range(len(deepest) - 1, 0, -1):
        # Children come after their parent, so the values of all children are final here.
        child = node + 1
        while child < trie.skip[node]:
            deepest[node] = max(deepest[node], deepest[child])
            child = trie.skip[child]
    return deepest - trie.depth


@kernel
def find(trie: Trie, text: Bytes) -> int:
    """The node of `text`; -1 if there is none."""
    node = 0
    for i in range(len(text)):
        child, end = node + 1, trie.skip[node]
        while child < end and trie.byte[child] != text[i]:
            child = trie.skip[child]
        if child >= end:
            return -1
        node = child
    return node
