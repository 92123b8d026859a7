"""The executor of one device: a model, its KV cache, and the steps computed on it.

Does: implement `executor.Executor` in this process. Does not: schedule, match grammars, or communicate with clients.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import torch
from intaglio.grammar.api import DeviceTables, MaskRows, empty_rows
from intaglio.kernels.sampling_contracts import Sampled
from torch import Tensor

from ..errors import InternalError
from ..model.decoder import Decoder
from ..plan import Admitted, Masks, Plan, SampledBatch, Work
from ..types import SamplingParams
from .adapter_store import AdapterStore
from .batch import Batch, BatchBuilder
from .compute import Compute
from .image_rows import ImageRows
from .kv import KVCache
from .sampler import ReportOptions, Sampler, sampled_batch
from .slots import SlotState


@dataclass(frozen=True, slots=True)
class RunnerLimits:
    """The largest step: tokens, sequences, tokens of one sequence; and `vocab`, the number of tokens that exist."""

    max_batched_tokens: int
    max_running: int
    max_context: int
    vocab: int


@dataclass(slots=True, eq=False)
class Pass:
    """A started plan.

    `hidden` [R or more, hidden] is set by `forward`, None without rows of logits; the other fields are set by `sample`.
    """

    batch: Batch
    hidden: Tensor | None
    drawn: Callable[[], Sampled] | None = None
    report_options: ReportOptions | None = None


class ModelRunner:
    """Executes plans in order. Implements `Executor`."""

    def __init__(
        self,
        decoder: Decoder,
        cache: KVCache,
        compute: Compute,
        rows: SlotState,
        limits: RunnerLimits,
        adapters: AdapterStore | None = None,
        images: ImageRows | None = None,
    ) -> None:
        """`images`: those of the sequences; None for a model that reads none."""
        self._decoder = decoder
        self._cache = cache
        self._compute = compute
        self._limits = limits
        self._rows = rows
        self._builder = BatchBuilder(
            rows, limits.max_batched_tokens, limits.max_running, cache.block_size
        )
        self._sampler = Sampler(rows)
        self._adapters = adapters
        self.images: Final = images

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

    @property
    def makes_masks(self) -> bool:
        """See `Executor`."""
        return self._compute.makes_masks

    def hold(self, key: str, tables: DeviceTables) -> bool:
        """See `Executor`."""
        return self._compute.hold(key, tables)

    def drop(self, key: str) -> None:
        """See `Executor`."""
        self._compute.drop(key)

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        """See `Executor`."""
        return self._compute.mask_buffer(count, width)

    @torch.inference_mode()
    def forward(self, plan: Plan) -> Pass:
        """See `Executor`: update the state of the sequences, and start the pass of the model."""
        for load in plan.loads:
            if self._adapters is None:
                raise InternalError("adapters are planned, and this runner has no places for them")
            self._adapters.copy(load.place, load.digest)
        batch = self._builder.build(plan)
        if self.images is not None:
            batch = self.images.placed(plan, batch)
        return Pass(batch, self._compute.hidden(batch))

    @torch.inference_mode()
    def sample(self, handle: Pass, masks: Masks) -> None:
        """See `Executor`."""
        if handle.hidden is None:
            return
        batch = handle.batch
        inputs = self._sampler.inputs(batch, masks, handle.hidden.shape[0])
        handle.drawn = self._compute.sample(handle.hidden, inputs)
        self._rows.note_samples(batch.sampling_rows)
        handle.report_options = self._sampler.report_options(batch, inputs)
        handle.hidden = None  # the next pass reuses its memory

    def sampled(self, handle: Pass) -> SampledBatch:
        """See `Executor`."""
        batch = handle.batch
        if handle.drawn is None:
            if batch.picking:
                raise InternalError("tokens are read before they were sampled")
            return SampledBatch()
        drawn = handle.drawn()
        self._rows.read(
            batch.picking, batch.sampling_rows, batch.next_positions, drawn.tokens.numpy()
        )
        return sampled_batch(batch, drawn, handle.report_options)

    def warm_up(self) -> None:
        """Run one small step, so that the first request does not wait for what libraries initialise on first use."""
        tokens = (0, 0, 0)
        seq_id = -1
        sampling, others = SamplingParams(temperature=0), len(self._rows.blocks.tables) - 1
        admitted = Admitted(
            seq_id, tokens, len(tokens), (1,), sampling, other_tables=((1,),) * others
        )
        logits = int(self._decoder.samples)
        plan = Plan(0, (admitted,), (Work(seq_id, 0, tokens, logits=logits),))
        handle = self.forward(plan)
        self.sample(handle, Masks(empty_rows(0, 1), {}))
        self.sampled(handle)
        self.forget(seq_id)

    def forget(self, seq_id: int) -> None:
        """Drop a sequence outside of a plan. Raises `InternalError` if there is none of that number."""
        self._rows.forget(seq_id)
        if self.images is not None:
            self.images.forget(seq_id)

    def close(self) -> None:
        """See `Compute`."""
        self._compute.close()
        if self._adapters is not None:
            self._adapters.close()

    def check(self) -> None:
        """Check the rows of the sequences. Raises `InternalError`."""
        self._rows.check()
