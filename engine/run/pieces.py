"""A batch's tokens as the attention of captured passes takes them: in pieces of sequences, or in packs of tokens.

Does: cut sequences, deal tokens out to packs of about equal work, and say what the tokens of a pack share. Does not:
know buffers or launch anything.
"""

import numpy as np
import numpy.typing as npt

from .batch import Batch
from .compiled import compiled
from .rows import Ints

LONGEST_SHARED = 64
"""Blocks of a beginning that are compared."""

NOBODY = -1
"""In the place of a token that a pack has no more."""

Words = npt.NDArray[np.int32]


def cut(batch: Batch, most: int, owners: Words, lengths: Words, starts: Words) -> None:
    """The batch's sequences in pieces of up to `most` tokens: rows [P], context lengths [P] and starts [P + 1].

    P is what `owners` has room for. Pieces past the last have no tokens, row 0 and no context.
    """
    _cut(batch.starts, batch.lengths, batch.rows, most, owners, lengths, starts)


@compiled
def _cut(
    begins: Ints,
    contexts: Ints,
    rows: Ints,
    most: int,
    owners: Words,
    lengths: Words,
    starts: Words,
) -> None:
    piece = 0
    for sequence in range(rows.size):
        begin, end = begins[sequence], begins[sequence + 1]
        while begin < end:
            stop = min(begin + most, end)
            owners[piece], starts[piece] = rows[sequence], begin
            lengths[piece] = contexts[sequence] - (end - stop)
            piece, begin = piece + 1, stop
    owners[piece:] = 0
    lengths[piece:] = 0
    starts[piece:] = begins[rows.size]


def pack(
    batch: Batch, tables: Words, block_size: int, order: Words, leads: Words, shared: Words
) -> None:
    """The batch's tokens in packs, neighbours by the beginnings of their owners' `tables`, about equal in work.

    Fills `order` [packs, most] with the tokens of each pack, `NOBODY` after its last; `shared` [packs] with how many
    keys, in the same blocks, all of them begin; `leads` [packs, most] with the place, within its pack, of the first
    token of each one's owner. There are places for all tokens.
    """
    known = np.take(tables[:, :LONGEST_SHARED], batch.owners, axis=0)
    # As bytes rows are compared at once; any order will do that has equal beginnings side by side.
    near = np.argsort(known.view(f"S{known.strides[0]}")[:, 0], kind="stable")
    _deal(near, batch.owners, batch.positions, known, block_size, order, leads, shared)


@compiled
def _deal(
    near: Ints,
    owners: Ints,
    positions: Ints,
    known: Words,
    block_size: int,
    order: Words,
    leads: Words,
    shared: Words,
) -> None:
    """Packs of the tokens `near`, those with the most work first."""
    common = _common(near, owners, positions, known, block_size)
    ends, loads = _ends(near, owners, positions[near] + 1 - common, *order.shape)
    order[:] = NOBODY
    leads[:] = 0
    shared[:] = 0
    for to, which in enumerate(np.argsort(-loads)):
        begin = ends[which - 1] if which > 0 else 0
        lead = 0
        for i in range(begin, ends[which]):
            place, here, keys = i - begin, near[i], positions[near[i]] + 1
            if place > 0 and owners[here] != owners[near[i - 1]]:
                lead = place
            order[to, place], leads[to, place] = here, lead
            shared[to] = keys if place == 0 else min(shared[to], keys, common[i])
        shared[to] = min(shared[to], known.shape[1] * block_size)


@compiled
def _common(near: Ints, owners: Ints, positions: Ints, known: Words, block_size: int) -> Ints:
    """How many keys each token shares with the one before."""
    common = np.zeros(near.size, np.int64)
    for i in range(1, near.size):
        here, before = near[i], near[i - 1]
        common[i] = min(positions[here], positions[before]) + 1
        if owners[here] != owners[before]:
            blocks, width = 0, known.shape[1]
            while blocks < width and known[here, blocks] == known[before, blocks]:
                blocks += 1
            common[i] = min(common[i], blocks * block_size)
    return common


@compiled
def _ends(near: Ints, owners: Ints, work: Ints, packs: int, most: int) -> tuple[Ints, Ints]:
    """Where each pack ends, and its work: of what is left each takes its part.

    `work` are the keys that a token has to read; those that it shares with the one before come from a cache. Tokens of
    a sequence read theirs together, so they are parted only where there is no room otherwise.
    """
    count = near.size
    run = np.ones(count, np.int64)  # tokens of the same sequence, from this one on
    for i in range(count - 2, -1, -1):
        if owners[near[i]] == owners[near[i + 1]]:
            run[i] = run[i + 1] + 1
    ends, loads = np.zeros(packs, np.int64), np.zeros(packs, np.int64)
    i, left = 0, work.sum()
    for p in range(packs):
        begin, spare = i, most * (packs - p - 1)
        while i < count and i - begin < most:
            if i > begin and owners[near[i]] != owners[near[i - 1]] and count - i <= spare:
                much = loads[p] + work[i] / 2 > left / (packs - p)
                if much or i - begin + min(run[i], most) > most:
                    break
            loads[p] += work[i]
            i += 1
        ends[p] = i
        left -= loads[p]
    return ends, loads
