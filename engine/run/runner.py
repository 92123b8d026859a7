"""One device: a model, its KV cache, and the steps computed on it.

Does: implement `dist.executor.Executor` in process. Does not: schedule, match grammars, or talk to clients.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from ...grammar.api import empty_rows
from ...kernels.contracts import Kernels
from ..model.decoder import Decoder
from ..model.layers import StepContext
from ..plan import Admitted, Masks, Picked, Plan, Work
from ..types import SamplingParams
from .batch import Batch, BatchBuilder
from .kv import KVCache
from .rows import SequenceRows
from .sampler import Sampler


@dataclass(frozen=True, slots=True)
class RunnerLimits:
    """The largest step: tokens, sequences, tokens of one sequence, and `vocab`, the number of tokens that exist."""

    max_batched_tokens: int
    max_running: int
    max_context: int
    vocab: int


@dataclass(frozen=True, slots=True)
class Forward:
    """A pass whose logits are there: `logits` [R or more, vocab] float32, None where nobody wants any."""

    batch: Batch
    logits: Tensor | None


class ModelRunner:
    """Executes plans one after the other. `sample` takes the newest `forward`'s handle."""

    def __init__(
        self, decoder: Decoder, cache: KVCache, kernels: Kernels, limits: RunnerLimits
    ) -> None:
        self._decoder = decoder
        self._cache = cache
        self._kernels = kernels
        self._limits = limits
        self._rows = SequenceRows(limits.max_running, limits.max_context, cache.block_size)
        self._builder = BatchBuilder(
            self._rows, limits.max_batched_tokens, limits.max_running, cache.block_size
        )
        self._sampler = Sampler(kernels, self._rows, limits.vocab)

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

    @torch.inference_mode()
    def forward(self, plan: Plan) -> Forward:
        """Forget, learn, compute: logits of the works that want them."""
        for seq_id in plan.released:
            self._rows.forget(seq_id)
        for admitted in plan.admitted:
            self._rows.admit(admitted)
        batch = self._builder.build(plan)
        # What a former owner left in a block, a NaN included, must not reach the new one through masked keys.
        self._cache.clear(batch.fresh)
        step = StepContext(
            rope=self._decoder.rope.rows(batch.positions),
            attention=self._kernels.attend(
                batch.ragged, self._decoder.spec.heads, self._cache.layers[0].shape
            ),
            slots=batch.slots,
        )
        hidden = self._decoder.hidden(batch.tokens, self._cache.layers, step)
        if not batch.picking:
            return Forward(batch, None)
        return Forward(batch, self._decoder.logits(hidden.index_select(0, batch.logit_rows)))

    @torch.inference_mode()
    def sample(self, handle: Forward, masks: Masks) -> Picked:
        """One pick for each work of the plan that wanted logits, in the plan's order."""
        if handle.logits is None:
            return Picked()
        batch = handle.batch
        return self._sampler.pick(handle.logits, batch.picking, batch.picking_rows, masks)

    def warm_up(self) -> None:
        """Run one small step, so that the first request does not pay for what libraries set up on first use."""
        tokens = (0, 0, 0)
        seq_id = -1
        admitted = Admitted(seq_id, tokens, len(tokens), (1,), SamplingParams(temperature=0))
        plan = Plan(0, (admitted,), (Work(seq_id, 0, tokens, wants_logits=True),))
        self.sample(self.forward(plan), Masks(empty_rows(0, 1), {}))
        self._rows.forget(seq_id)

    def check(self) -> None:
        """Rows add up. Raises `InternalError`."""
        self._rows.check()
