"""One device: a model, its KV cache, and the steps computed on it.

Does: implement `dist.executor.Executor` in process. Does not: schedule, match grammars, or talk to clients.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ...grammar.api import MaskRows, empty_rows
from ...kernels.contracts import Sampled
from ..errors import InternalError
from ..model.decoder import Decoder
from ..plan import Admitted, Masks, Picked, Plan, Work
from ..types import SamplingParams
from .batch import Batch, BatchBuilder, is_ahead
from .compute import Compute
from .kv import KVCache
from .rows import PENALISED, SequenceRows
from .sampler import Sampler, Wanted, picks


@dataclass(frozen=True, slots=True)
class RunnerLimits:
    """The largest step: tokens, sequences, tokens of one sequence, and `vocab`, the number of tokens that exist."""

    max_batched_tokens: int
    max_running: int
    max_context: int
    vocab: int


@dataclass(slots=True, eq=False)
class Pass:
    """A plan under way: `hidden` [R or more, hidden] once `forward` returned, None where nobody wants a token; the
    other fields once `sample` did."""

    batch: Batch
    hidden: Tensor | None
    drawn: Callable[[], Sampled] | None = None
    wanted: Wanted | None = None


class ModelRunner:
    """Executes plans one after the other."""

    def __init__(
        self,
        decoder: Decoder,
        cache: KVCache,
        compute: Compute,
        rows: SequenceRows,
        limits: RunnerLimits,
    ) -> None:
        self._decoder = decoder
        self._cache = cache
        self._compute = compute
        self._limits = limits
        self._rows = rows
        self._builder = BatchBuilder(
            rows, limits.max_batched_tokens, limits.max_running, cache.block_size
        )
        self._sampler = Sampler(rows)
        self._places = np.full(limits.max_running, -1)  # by row: where its last pick was kept

    @property
    def decoder(self) -> Decoder:
        """The model."""
        return self._decoder

    @property
    def cache(self) -> KVCache:
        """The keys and values."""
        return self._cache

    @property
    def limits(self) -> RunnerLimits:
        """The largest step."""
        return self._limits

    def mask_memory(self, count: int, width: int) -> MaskRows:
        """Memory for mask rows that reaches the device fastest."""
        return self._compute.mask_memory(count, width)

    @torch.inference_mode()
    def forward(self, plan: Plan) -> Pass:
        """Forget, learn, compute: states of the works that want a token."""
        batch = self._builder.build(plan)
        return Pass(batch, self._compute.hidden(batch, self._places))

    def can_sample_ahead(self, handle: Pass) -> bool:
        """See `Executor`. Penalties count the tokens before."""
        penalised = self._rows.asks(handle.batch.picking_rows) & PENALISED
        return not (penalised and is_ahead(handle.batch).any())

    @torch.inference_mode()
    def sample(self, handle: Pass, masks: Masks) -> None:
        """Start to draw for each work of the plan that wanted logits."""
        if handle.hidden is None:
            return
        batch = handle.batch
        choice = self._sampler.choice(batch, masks, handle.hidden.shape[0])
        handle.drawn = self._compute.choose(handle.hidden, choice)
        self._places[batch.picking_rows] = np.arange(len(batch.picking))
        handle.wanted = self._sampler.wanted(batch, choice)
        handle.hidden = None  # its memory serves the next pass

    def picked(self, handle: Pass) -> Picked:
        """One pick for each work of the plan that wanted logits, in the plan's order."""
        batch = handle.batch
        if handle.drawn is None:
            if batch.picking:
                raise InternalError("picks are read before they were drawn")
            return Picked()
        drawn = handle.drawn()
        self._rows.read(
            batch.picking, batch.picking_rows, batch.next_positions, drawn.tokens.numpy()
        )
        return picks(batch.picking, drawn, handle.wanted, batch.failed)

    def warm_up(self) -> None:
        """Run one small step, so that the first request does not pay for what libraries set up on first use."""
        tokens = (0, 0, 0)
        seq_id = -1
        admitted = Admitted(seq_id, tokens, len(tokens), (1,), SamplingParams(temperature=0))
        plan = Plan(0, (admitted,), (Work(seq_id, 0, tokens, wants_logits=True),))
        handle = self.forward(plan)
        self.can_sample_ahead(handle)
        self.sample(handle, Masks(empty_rows(0, 1), {}))
        self.picked(handle)
        self._rows.forget(seq_id)

    def check(self) -> None:
        """Rows add up. Raises `InternalError`."""
        self._rows.check()
