"""A plan as tensors, in buffers that are allocated once.

Does: lay the works' tokens out one after the other, with positions, slots, block tables and the rows that want logits.
Does not: compute, or keep anything from one step to the next.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...kernels.contracts import Ragged
from ..errors import InternalError
from ..plan import Plan
from .rows import SequenceRows

LEAST_ROWS = 2
"""A product of one row is summed in another order than one of several, so a lone row gets company: `reference.pack`."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One step, N rows of tokens (padding included) of S sequences; tensors are views of the buffers.

    `tokens`, `positions` int64 [N]; `slots` int64 [M], M real rows, which come first. `logit_rows` int64 [R or more]
    are the rows whose logits are wanted, repeated up to `LEAST_ROWS`; `picking` are their R sequence ids,
    `picking_rows` int64 [R] their rows in `SequenceRows`. `fresh` are blocks whose first tokens are written in this
    step and whose rest is not.
    """

    tokens: Tensor
    positions: Tensor
    slots: Tensor
    ragged: Ragged
    logit_rows: Tensor
    picking: tuple[int, ...]
    picking_rows: npt.NDArray[np.int64]
    fresh: list[int]


class BatchBuilder:
    """Builds batches of at most `max_tokens` tokens of `max_running` sequences; each lives until the next is built."""

    def __init__(
        self, rows: SequenceRows, max_tokens: int, max_running: int, block_size: int
    ) -> None:
        self._rows = rows
        self._block_size = block_size
        size = max(max_tokens, LEAST_ROWS)
        self._tokens = torch.zeros(size, dtype=torch.int64)
        self._positions = torch.zeros(size, dtype=torch.int64)
        self._slots = torch.zeros(size, dtype=torch.int64)
        self._owners = np.zeros(size, dtype=np.int64)
        self._starts = torch.zeros(max_running + 1, dtype=torch.int32)
        self._lengths = torch.zeros(max_running, dtype=torch.int32)
        self._tables = torch.zeros((max_running, rows.tables.shape[1]), dtype=torch.int32)
        self._logit_rows = torch.zeros(max(max_running, LEAST_ROWS), dtype=torch.int64)

    def build(self, plan: Plan) -> Batch:
        """The batch of `plan`, whose sequences have been admitted. Raises `InternalError` if it does not fit."""
        count, works = plan.token_count, plan.works
        if count > self._tokens.shape[0] or len(works) > self._lengths.shape[0]:
            raise InternalError(f"{len(works)} works of {count} tokens do not fit the buffers")
        tokens, positions = self._tokens.numpy(), self._positions.numpy()
        starts, lengths = self._starts.numpy(), self._lengths.numpy()
        table_rows, picking, wanted, fresh = [], [], [], []
        at = 0
        for i, work in enumerate(works):
            if work.drafted:
                raise InternalError("this executor does not verify drafts")
            row = self._rows.extend(work)
            end = at + len(work.tokens)
            tokens[at:end] = work.tokens
            positions[at:end] = np.arange(work.start, work.start + len(work.tokens))
            self._owners[at:end] = row
            starts[i + 1] = end
            lengths[i] = work.start + len(work.tokens)
            table_rows.append(row)
            fresh += self._fresh(row, work.start, work.start + len(work.tokens))
            if work.wants_logits:
                picking.append(work.seq_id)
                wanted.append(end - 1)
            at = end
        padded = max(count, LEAST_ROWS)
        tokens[count:padded] = 0
        positions[count:padded] = 0
        where = positions[:count]
        blocks = self._rows.tables[self._owners[:count], where // self._block_size]
        self._slots.numpy()[:count] = blocks * np.int64(self._block_size) + where % self._block_size
        width = -(-int(lengths[: len(works)].max()) // self._block_size)
        self._tables.numpy()[: len(works), :width] = self._rows.tables[table_rows, :width]
        logit_rows = self._logit_rows.numpy()
        kept = max(len(wanted), LEAST_ROWS) if wanted else 0
        logit_rows[:kept] = wanted + wanted[-1:] * (kept - len(wanted))
        return Batch(
            tokens=self._tokens[:padded],
            positions=self._positions[:padded],
            slots=self._slots[:count],
            ragged=Ragged(
                self._starts[: len(works) + 1],
                self._lengths[: len(works)],
                self._tables[: len(works), :width],
            ),
            logit_rows=self._logit_rows[:kept],
            picking=tuple(picking),
            picking_rows=np.array(
                [self._rows.row_of[seq_id] for seq_id in picking], dtype=np.int64
            ),
            fresh=fresh,
        )

    def _fresh(self, row: int, start: int, end: int) -> list[int]:
        """The block of `row` that tokens `start:end` enter first and do not fill, if there is one."""
        first = end // self._block_size * self._block_size
        if first < start or first == end:
            return []
        return [int(self._rows.tables[row, first // self._block_size])]
