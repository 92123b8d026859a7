"""A plan as arrays: every token of a step with its place, on the host.

Does: bring the rows of the sequences up to date, and lay the works' tokens out one after the other, with positions,
slots, owners and the rows that want logits. Does not: compute, or send anything to a device.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from ..errors import InternalError
from ..plan import AHEAD, Plan
from .rows import Ints, SequenceRows

LONGEST_SHARED = 64
"""Blocks of a beginning that are compared."""

_NOTHING_GROWN: Ints = np.zeros((2, 0), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Batch:
    """One step of N tokens of S sequences; a *row* is a sequence's row in `SequenceRows`.

    By token [N]: `tokens` int32, of which some are `AHEAD`; `positions`, `slots`, `owners` (rows). By sequence:
    `starts` [S + 1], `lengths` [S] (context, those of this step included), `rows` [S]. `wanted` [R] are the tokens
    whose logits are wanted, `picking` and `picking_rows` their sequences and rows, `next_positions` [R] where what is
    picked will stand. `grown` are the entries of block tables that changed: flat index and block, [2, n]. `longest`:
    most tokens of one sequence.
    """

    tokens: npt.NDArray[np.int32]
    positions: Ints
    slots: Ints
    owners: Ints
    starts: Ints
    lengths: Ints
    rows: Ints
    wanted: Ints
    picking: tuple[int, ...]
    picking_rows: Ints
    next_positions: Ints
    grown: Ints
    longest: int


class BatchBuilder:
    """Builds batches of at most `max_tokens` tokens of `max_running` sequences."""

    def __init__(
        self, rows: SequenceRows, max_tokens: int, max_running: int, block_size: int
    ) -> None:
        self._rows = rows
        self._max_tokens = max_tokens
        self._max_running = max_running
        self._block_size = block_size

    def build(self, plan: Plan) -> Batch:
        """The batch of `plan`, which is carried out in the rows first.

        Raises:
            InternalError: it does not fit, or is for a sequence that is not known.
        """
        works = plan.works
        grown = self._admit(plan)
        row_of = self._rows.row_of
        try:
            rows = [row_of[work.seq_id] for work in works]
        except KeyError as unknown:
            raise InternalError(f"work for sequence {unknown}, which was not admitted") from None
        counts = [len(work.tokens) for work in works]
        total = sum(counts)
        if total > self._max_tokens or len(works) > self._max_running:
            raise InternalError(f"{len(works)} works of {total} tokens do not fit the buffers")
        for row, work in zip(rows, works, strict=True):
            if work.new_blocks:
                grown.append((row, self._rows.hold(row, work.new_blocks), work.new_blocks))
        each = np.array(counts, dtype=np.int64)
        starts = np.zeros(len(works) + 1, dtype=np.int64)
        each.cumsum(out=starts[1:])
        first = np.array([work.start for work in works], dtype=np.int64)
        tokens = np.fromiter(chain.from_iterable(work.tokens for work in works), np.int32, total)
        by_work = np.array(rows, dtype=np.int64)
        if total == len(works):
            positions, owners = first, by_work
        else:
            positions = np.arange(total) + (first - starts[:-1]).repeat(each)
            owners = by_work.repeat(each)
        self._rows.learn(owners, positions, tokens)
        size = self._block_size
        slots = self._rows.tables[owners, positions // size] * np.int64(size) + positions % size
        wants = np.array([work.wants_logits for work in works], dtype=np.bool_)
        lengths = first + each
        return Batch(
            tokens=tokens,
            positions=positions,
            slots=slots,
            owners=owners,
            starts=starts,
            lengths=lengths,
            rows=by_work,
            wanted=starts[1:][wants] - 1,
            picking=tuple(work.seq_id for work in works if work.wants_logits),
            picking_rows=by_work[wants],
            next_positions=lengths[wants],
            grown=self._flat(grown),
            longest=max(counts),
        )

    def _admit(self, plan: Plan) -> list[tuple[int, int, tuple[int, ...]]]:
        for seq_id in plan.released:
            self._rows.forget(seq_id)
        return [(self._rows.admit(new), 0, new.blocks) for new in plan.admitted]

    def _flat(self, grown: list[tuple[int, int, tuple[int, ...]]]) -> Ints:
        if not grown:
            return _NOTHING_GROWN
        width = self._rows.tables.shape[1]
        at = [row * width + held + i for row, held, new in grown for i in range(len(new))]
        blocks = [block for _, _, new in grown for block in new]
        return np.array((at, blocks), dtype=np.int64).reshape(2, -1)


def cut(batch: Batch, most: int) -> tuple[Ints, Ints, Ints]:
    """The batch's sequences in pieces of up to `most` tokens: starts [P + 1], context lengths [P] and rows [P]."""
    if batch.tokens.size == batch.rows.size:
        return batch.starts, batch.lengths, batch.rows
    pieces = -(-np.diff(batch.starts) // most)
    which = np.repeat(np.arange(pieces.size), pieces)
    nth = np.arange(which.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = np.append(batch.starts[which] + nth * most, batch.starts[-1])
    return starts, batch.lengths[which] - (batch.starts[which + 1] - starts[1:]), batch.rows[which]


def packs(
    batch: Batch, tables: npt.NDArray[np.int32], most: int, block_size: int
) -> tuple[Ints, Ints, Ints]:
    """The batch's tokens in packs of `most`, neighbours by the beginnings of their owners' `tables`.

    Returns their order [N], with how many keys in the same blocks all tokens of a pack begin [packs], and the place
    within its pack of the first token of each one's owner [N].
    """
    known = np.take(tables[:, :LONGEST_SHARED], batch.owners, axis=0)
    # As bytes rows are compared at once; any order will do that has equal beginnings side by side.
    order = np.argsort(known.view(f"S{known.strides[0]}")[:, 0], kind="stable")
    first = np.arange(0, order.size, most)
    last = np.minimum(first + most, order.size) - 1
    differ = known[order[first]] != known[order[last]]
    blocks = np.where(differ.any(axis=1), differ.argmax(axis=1), known.shape[1])
    least = np.minimum.reduceat(batch.positions[order], first) + 1
    owners, places = batch.owners[order], np.arange(order.size)
    begins = np.ones(order.size, dtype=np.bool_)
    begins[1:] = owners[1:] != owners[:-1]
    begins[first] = True
    leads = np.maximum.accumulate(np.where(begins, places, 0)) % most
    return order, np.minimum(blocks * block_size, least), leads


def fresh_blocks(batch: Batch, tables: npt.NDArray[np.int32], block_size: int) -> list[int]:
    """Blocks whose first tokens are written in this step and whose rest is not."""
    first = batch.lengths // block_size * block_size
    begun = batch.lengths - np.diff(batch.starts)
    entered = (first >= begun) & (first < batch.lengths)
    blocks: list[int] = tables[batch.rows[entered], first[entered] // block_size].tolist()
    return blocks


def is_ahead(batch: Batch) -> npt.NDArray[np.bool_]:
    """Which tokens of a batch only the executor knows."""
    return np.equal(batch.tokens, AHEAD)
