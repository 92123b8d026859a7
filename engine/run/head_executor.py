"""Computes the rows of a draft head, as a runner of its own with a cache of its own.

Does: give each row its state: the merged streams of the target's token, or the output of the row before it. Does not:
decide what is drafted (`drafts/head.py`), or compute a row (`model/draft_head.py`).
"""

from dataclasses import dataclass

import torch
from intaglio.kernels.contracts import Weight

from ..config import CacheConfig
from ..model.draft_head import DraftHead, HeadRows
from ..plan import Masks, Plan, SampledToken
from .compute import HostCompute
from .kept_streams import KeptStreams
from .kv import KVCache, count_blocks
from .runner import ModelRunner, RunnerLimits
from .slots import Draws, Ints, SlotState


class HeadSlots(SlotState):
    """The state of sequences without their first token: the noise of a draw is that of the position after the row's."""

    def draws(self, rows: Ints, positions: Ints, count: int) -> Draws:
        """See `SlotState`."""
        return SlotState.draws(self, rows, positions + 1, count)


@dataclass(frozen=True, slots=True)
class HeadExecutor:
    """Executes plans with one work each, for the sequences of the target with streams in `kept`."""

    runner: ModelRunner
    merge: Weight
    rows: HeadRows
    kept: KeptStreams

    @property
    def num_blocks(self) -> int:
        """The blocks of the cache."""
        return self.runner.cache.num_blocks

    @torch.inference_mode()
    def run(
        self, plan: Plan, first: int, streams: range, masks: Masks | None = None
    ) -> SampledToken | None:
        """Compute the rows of a plan; with `masks`, the token drawn after the last one.

        There are no rows before position `first`. The rows at the positions `streams` have the streams of the target;
        where these are empty, the only row has the output of the row that was computed last.
        """
        self.rows.first = first
        self.rows.states = self.rows.output
        if streams:
            found = self.kept.rows(plan.works[0].seq_id, streams)
            self.rows.states = self.merge.matmul(found)
        handle = self.runner.forward(plan)
        if masks is None:
            return None
        self.runner.sample(handle, masks)
        return self.runner.sampled(handle).samples[0]


def head_executor(
    head: DraftHead, kept: KeptStreams, config: CacheConfig, limits: RunnerLimits
) -> HeadExecutor:
    """The executor of a head on a CPU. Raises `ConfigError` if not even one sequence fits the cache."""
    dtype = head.embedding.dtype
    num_blocks = count_blocks(
        config,
        head.spec,
        dtype=dtype,
        max_running=limits.max_running,
        max_context=limits.max_context,
        free_bytes=None,
    )
    cache = KVCache(head.spec, num_blocks, config.block_size, dtype)
    slots = HeadSlots(limits.max_running, limits.max_context, config.block_size)
    compute = HostCompute(head, cache, slots.blocks.tables, limits.vocab)
    runner = ModelRunner(head, cache, compute, slots, limits)
    runner.warm_up()
    return HeadExecutor(runner, head.merge, head.rows, kept)
