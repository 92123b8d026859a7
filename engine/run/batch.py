"""A plan as arrays on the host: every token of a step with its position and cache slot.

Does: update the state of the sequences, and concatenate the tokens of all works, with positions, slots, owners and the
rows of logits to make. Does not: compute, or send anything to a device.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import numpy.typing as npt
from intaglio.kernels.contracts import NULL_BLOCK
from torch import Tensor

from ..errors import InternalError
from ..plan import Admitted, Plan
from ..types import Failure, SamplingParams
from .compiled_loops import compiled
from .row_tables import Entries
from .sequence_faults import SamplingFault, guarded_sampling
from .slots import Ints, SlotState, check_fits

_GREEDY = SamplingParams(temperature=0)
_NOTHING_GROWN: Ints = np.zeros((2, 0), dtype=np.int64)
_NO_SLOTS: Ints = np.zeros((0, 0), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class ImageTokens:
    """The tokens of images in a step: their indices `at` [M], and their `states` [M, levels, hidden] on the device.

    `rope_positions` [3, N] are the rotary positions of all tokens of the step: time, row, column (M-RoPE).
    """

    rope_positions: Ints
    at: Ints
    states: Tensor


@dataclass(frozen=True, slots=True)
class Batch:
    """One step of N tokens of S sequences; a *row* is a sequence's row in `SlotState`.

    By token [N]: `tokens` int32; `sources`, the index of the sampled token on the device that replaces a placeholder,
    -1 for tokens that are known; `positions` in the sequence; `rope_positions`, by which query and key are rotated, the
    same unless images precede the token; `slots`, `owners` (rows). `other_slots` [groups - 1, N] are the slots in the
    other block groups. By sequence: `starts` [S + 1], `lengths` [S] (context lengths, this step included), `rows` [S].
    By row of logits [R]: `logits_indices`, the index of its token; `picking` and `sampling_rows`, its sequence and the
    row of that; `next_positions`, the position of the token sampled from it. A sequence occurs there once for each of
    its rows of logits, at most `most_logits` times. `grown` [2, n]: the entries of block tables that changed, as flat
    index (see `BatchBuilder`) and block. `longest`: the most tokens of one sequence. `failed`: sequences with discarded
    results, with the failures of their requests. `adapters` int32 [N]: the place of each token's adapter, `NO_ADAPTER`
    for none; None if no token has one. `images`: see `ImageTokens`; None for a step that computes text only.
    """

    tokens: npt.NDArray[np.int32]
    sources: Ints
    positions: Ints
    rope_positions: Ints
    slots: Ints
    owners: Ints
    starts: Ints
    lengths: Ints
    rows: Ints
    logits_indices: Ints
    picking: tuple[int, ...]
    sampling_rows: Ints
    next_positions: Ints
    grown: Ints
    longest: int
    most_logits: int = 1
    failed: Mapping[int, Failure] = field(default_factory=dict)
    adapters: npt.NDArray[np.int32] | None = None
    images: ImageTokens | None = None
    other_slots: Ints = field(default_factory=lambda: _NO_SLOTS)


class BatchBuilder:
    """Builds batches of at most `max_tokens` tokens of `max_running` sequences.

    The flat index of an entry of the block tables counts one more row in each block group, as the device has.
    """

    def __init__(self, rows: SlotState, max_tokens: int, max_running: int, block_size: int) -> None:
        self._rows = rows
        self._max_tokens = max_tokens
        self._max_running = max_running
        self._block_size = block_size
        self._failed: dict[int, Failure] = {}

    def build(self, plan: Plan) -> Batch:
        """The batch of `plan`, after updating the state of the sequences by it.

        Raises:
            InternalError: it does not fit, or has work for an unknown sequence.
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
        blocks = self._rows.blocks
        for row, work in zip(rows, works, strict=True):
            if blocks.has_windows:
                grown += blocks.drop(row, work.start)
            if work.new_blocks or work.other_blocks:
                grown += blocks.append(row, (work.new_blocks, *work.other_blocks))
        tokens = np.fromiter(chain.from_iterable([work.tokens for work in works]), np.int32, total)
        logits = [work.logits for work in works]
        if sum(logits) > self._max_running:
            raise InternalError(f"{sum(logits)} rows of logits do not fit the buffers")
        by_work = np.array((rows, [work.start for work in works], counts, logits), dtype=np.int64)
        by_token = np.empty((3, total), dtype=np.int64)
        ends = np.zeros((2, len(works) + 1), dtype=np.int64)
        by_sample = np.empty((3, sum(logits)), dtype=np.int64)
        held = self._rows
        memory = held.tables, held.tokens
        if not _lay_out(by_work, tokens, memory, self._block_size, by_token, ends, by_sample):
            raise InternalError(
                "a work lies past the end of its sequence's block table, or asks for too many logits"
            )
        positions, slots, owners = by_token
        return Batch(
            tokens=tokens,
            sources=held.sources(tokens, owners),
            positions=positions,
            rope_positions=positions,
            slots=slots,
            owners=owners,
            starts=ends[0],
            lengths=ends[1, 1:],
            rows=by_work[0],
            logits_indices=by_sample[0],
            picking=tuple([work.seq_id for work in works for _ in range(work.logits)]),
            sampling_rows=by_sample[1],
            next_positions=by_sample[2],
            grown=self._flat(grown),
            longest=max(counts),
            most_logits=max(logits),
            failed=self._failed.copy(),
            adapters=self._adapters(by_work[0], owners),
            other_slots=self._other_slots(owners, positions),
        )

    def _other_slots(self, owners: Ints, positions: Ints) -> Ints:
        """The slots of tokens in the other block groups [groups - 1, N]. Raises `InternalError` if one has none."""
        tables, size = self._rows.blocks.tables, self._block_size
        if len(tables) == 1:
            return _NO_SLOTS
        blocks = tables[1:, owners, positions // size].astype(np.int64)
        if (blocks == NULL_BLOCK).any():
            raise InternalError("a work lies outside of a block table of its sequence")
        slots: Ints = blocks * size + positions % size
        return slots

    def _adapters(self, rows: Ints, owners: Ints) -> npt.NDArray[np.int32] | None:
        places = self._rows.adapters
        return places[owners] if (places[rows] >= 0).any() else None

    def _admit(self, plan: Plan) -> list[Entries]:
        for seq_id in plan.released:
            self._rows.forget(seq_id)
            self._failed.pop(seq_id, None)
        grown: list[Entries] = []
        for new in plan.admitted:
            row = self._rows.admit(self._fit(new))
            for group, blocks in enumerate((new.blocks, *new.other_tables)):
                grown.append(Entries(group, row, 0, blocks))
        return grown

    def _fit(self, new: Admitted) -> Admitted:
        """`new`, with greedy options in place of options that do not fit the arrays; then its request fails."""
        try:
            guarded_sampling(check_fits, new.sampling)
        except SamplingFault as fault:
            self._failed[new.seq_id] = fault.failure
            return replace(new, sampling=_GREEDY)
        return new

    def _flat(self, grown: list[Entries]) -> Ints:
        if not grown:
            return _NOTHING_GROWN
        _, rows, width = self._rows.blocks.tables.shape
        begins = [(group * (rows + 1) + row) * width + first for group, row, first, _ in grown]
        counts = [len(entries.blocks) for entries in grown]
        at = [begin + i for begin, count in zip(begins, counts, strict=True) for i in range(count)]
        blocks = [block for entries in grown for block in entries.blocks]
        return np.array((at, blocks), dtype=np.int64).reshape(2, -1)


@compiled
def _lay_out(
    by_work: Ints,
    tokens: npt.NDArray[np.int32],
    memory: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]],
    block_size: int,
    by_token: Ints,
    ends: Ints,
    by_sample: Ints,
) -> bool:
    """Fill the arrays of a batch and store its tokens by row; False if a token has no slot.

    `by_work` [4, S]: row, first position, tokens, rows of logits. `memory`: block tables and tokens, by row. `by_token`
    [3, N]: position, slot, owner. `ends` [2, S + 1]: the starts of sequences and, after the first, their lengths.
    `by_sample` [3, R]: index of the token, row, and the position of the token to be sampled.
    """
    tables, learned = memory
    at = sample = 0
    for work in range(by_work.shape[1]):
        row, first, end = by_work[0, work], by_work[1, work], by_work[1, work] + by_work[2, work]
        logits = by_work[3, work]
        if first < 0 or end > learned.shape[1] or logits > by_work[2, work]:
            return False
        for position in range(first, end):
            block = np.int64(tables[row, position // block_size])
            by_token[0, at] = position
            by_token[1, at] = block * block_size + position % block_size
            by_token[2, at] = row
            learned[row, position] = tokens[at]
            at += 1
        ends[0, work + 1], ends[1, work + 1] = at, end
        for before in range(logits - 1, -1, -1):
            by_sample[0, sample], by_sample[1, sample] = at - 1 - before, row
            by_sample[2, sample] = end - before
            sample += 1
    return True


def load_loops() -> None:
    """Load the machine code that lays out batches, and the part of the compiler that runs it.

    The first step would wait for it, for a second on a busy machine.
    """
    memory = np.zeros((1, 1), dtype=np.int32), np.zeros((1, 1), dtype=np.int32)
    numbers = [np.zeros((count, 0), dtype=np.int64) for count in (4, 3, 3)]
    ends = np.zeros((2, 1), dtype=np.int64)
    _lay_out(numbers[0], memory[0][0, :0], memory, 1, numbers[1], ends, numbers[2])


def fresh_blocks(batch: Batch, tables: npt.NDArray[np.int32], block_size: int) -> list[int]:
    """Blocks that get their first tokens in this step and are not filled by it; `tables` [groups, rows, blocks]."""
    first = batch.lengths // block_size * block_size
    begun = batch.lengths - np.diff(batch.starts)
    entered = (first >= begun) & (first < batch.lengths)
    found = tables[:, batch.rows[entered], first[entered] // block_size]
    blocks: list[int] = found.reshape(-1).tolist()
    return blocks
