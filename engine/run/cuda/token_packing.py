"""The layout of a batch's tokens for the attention of captured passes: pieces of sequences, or packs of tokens.

Does: cut sequences into pieces, distribute tokens to packs of about equal work, and find the prefix that the tokens of
a pack share. Does not: know buffers or launch anything.
"""

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..compiled_loops import compiled
from ..slots import Ints

LONGEST_SHARED = 64
"""The most blocks of a prefix that are compared."""

PADDING = -1
"""Fills the places of a pack after its last token."""

Words = npt.NDArray[np.int32]


def cut(batch: Batch, most: int, owners: Words, lengths: Words, starts: Words) -> None:
    """Cut the batch's sequences into pieces of up to `most` tokens: rows [P], context lengths [P] and starts [P + 1].

    P is the size of `owners`. Pieces past the last have no tokens, row 0 and context length 0.
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
    batch: Batch,
    tables: Words,
    block_size: int,
    at_once: int,
    order: Words,
    leads: Words,
    shared: Words,
) -> None:
    """Distribute the batch's tokens to packs, sorted by the first blocks of their owners' `tables`.

    Fills `order` [packs, most] with the tokens of each pack, `PADDING` after the last; `shared` [packs] with the number
    of leading keys, in the same blocks, that all tokens of a pack share; `leads` [packs, most] with the place, within
    the pack, of the first token of each token's owner. `at_once` packs run together. There are places for all tokens.
    """
    known = np.take(tables[:, :LONGEST_SHARED], batch.owners, axis=0)
    # As byte strings, rows are compared at once; any order is good that has equal prefixes next to each other.
    near = np.argsort(known.view(f"S{known.strides[0]}")[:, 0], kind="stable")
    _deal(
        near,
        batch.owners[near],
        batch.positions[near] + 1,
        known,
        block_size,
        at_once,
        (order, leads, shared),
    )


def warm_up() -> None:
    """Compile the functions of this file, so that no batch waits for that."""
    none, one = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
    _cut(np.arange(2), one, one, 1, none, none.copy(), np.zeros(2, dtype=np.int32))
    packs = np.zeros((1, 1), dtype=np.int32), np.zeros((1, 1), dtype=np.int32), none
    _deal(one, one, one + 1, np.zeros((1, 1), dtype=np.int32), 1, 1, packs)


@compiled
def _deal(
    near: Ints,
    owners: Ints,
    keys: Ints,
    known: Words,
    block_size: int,
    at_once: int,
    packs: tuple[Words, Words, Words],
) -> None:
    """Fill packs with the tokens `near`, by their owners and numbers of keys; packs with the most work first."""
    order, leads, shared = packs
    order[:] = PADDING
    leads[:] = 0
    shared[:] = 0
    common = _common(near, owners, keys, known, block_size)
    used, ends, loads = _ends(owners, keys, common, order.shape, at_once)
    for to, which in enumerate(np.argsort(-loads[:used])):
        begin = ends[which - 1] if which > 0 else 0
        lead, same = 0, min(keys[begin], known.shape[1] * block_size)
        for i in range(begin, ends[which]):
            place = i - begin
            if place > 0:
                same = min(same, keys[i], common[i])
                if owners[i] != owners[i - 1]:
                    lead = place
            order[to, place], leads[to, place] = near[i], lead
        shared[to] = same


@compiled
def _common(near: Ints, owners: Ints, keys: Ints, known: Words, block_size: int) -> Ints:
    """The number of leading keys that each token shares with the token before."""
    common = np.zeros(near.size, np.int64)
    for i in range(1, near.size):
        common[i] = min(keys[i], keys[i - 1])
        if owners[i] != owners[i - 1]:
            blocks, width = 0, known.shape[1]
            while blocks < width and known[near[i], blocks] == known[near[i - 1], blocks]:
                blocks += 1
            common[i] = min(common[i], blocks * block_size)
    return common


@compiled
def _ends(
    owners: Ints, keys: Ints, common: Ints, shape: tuple[int, int], at_once: int
) -> tuple[int, Ints, Ints]:
    """The number of packs, the end of each, and the number of keys that each reads.

    The time at which the last pack ends counts, not the number of packs, as `at_once` run together. The candidates are
    the fewest possible packs, and the smallest packs that fit into one round, two rounds, ...; the candidate that ends
    first is taken.
    """
    packs, most = shape
    # `np.int64(0)` and not 0: the compiler types a literal on its own.
    used, ends, loads = _filled(owners, keys, common, shape, keys.sum(), np.int64(0))
    best = _end(loads[:used], at_once)
    for rounds in range(-(-used // at_once), packs // at_once + 1):
        some = rounds * at_once, most
        low, high = keys.max(), keys.max() * most
        while high - low > 32:
            middle = (low + high) // 2
            if _filled(owners, keys, common, some, middle, most)[0] > 0:
                high = middle
            else:
                low = middle
        count, there, work = _filled(owners, keys, common, some, high, most)
        end = _end(work[:count], at_once)
        if count > 0 and end < best:
            best, used, ends, loads = end, count, there, work
    return used, ends, loads


@compiled
def _filled(
    owners: Ints,
    keys: Ints,
    common: Ints,
    shape: tuple[int, int],
    limit: int,
    together: int | np.int64,
) -> tuple[int, Ints, Ints]:
    """Fill packs in order, each with up to `limit` keys to read: the number of packs, their ends and their keys.

    A pack reads the shared prefix once, then the rest of each sequence, for all tokens of the sequence together: so up
    to `together` tokens of a sequence stay in one pack. 0 packs if more than `shape[0]` would be needed.
    """
    packs, most = shape
    ends, loads = np.zeros(packs, np.int64), np.zeros(packs, np.int64)
    used = taken = sequences = total = same = 0
    for i in range(owners.size):
        begins = i == 0 or owners[i] != owners[i - 1]
        longest, run = keys[i], 1
        while begins and i + run < owners.size and owners[i + run] == owners[i]:
            longest, run = keys[i + run], run + 1
        full = taken == most
        if begins and taken > 0 and not full:
            then = total + longest - sequences * min(same, common[i])
            full = bool(then > limit or taken + min(run, together) > most)
        if taken == 0 or full:
            if used == packs:
                return 0, ends, loads
            used, taken, sequences, total, same = used + 1, 0, 0, 0, longest
        if begins or taken == 0:
            sequences, total = sequences + 1, total + longest
            same = same if taken == 0 else min(same, common[i])
        taken += 1
        ends[used - 1], loads[used - 1] = i + 1, total - (sequences - 1) * same
    return used, ends, loads


@compiled
def _end(loads: Ints, at_once: int) -> int:
    """The time at which packs with these loads are done, if each starts as soon as there is room, the largest first.

    The mean of two models: the speed of a pack does not depend on the number of packs that run with it, or all of them
    share a constant speed. Each is half true. Measured within 2% on an H200.
    """
    busy = np.zeros(at_once, np.int64)
    for load in -np.sort(-loads):
        busy[busy.argmin()] += load
    return int(busy.max() + loads.sum() // at_once) // 2
