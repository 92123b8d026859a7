"""Drafts inside a plan: their room, and how many of them equal the known tokens.

Does: compute on plans and sequences. Does not: change a sequence (`scheduler`), or make drafts (`engine/drafts`).
"""

from collections.abc import Iterator

from ..config import SchedulerConfig
from ..memory.manager import KVManager
from ..plan import Plan, SampledBatch, SampledToken, Work
from ..sequence import Sequence
from .sequence_table import SequenceTable


def room_for_drafts(
    memory: KVManager, config: SchedulerConfig, table: SequenceTable, going: list[Sequence]
) -> int:
    """The most drafts of a step that computes `going`, so that drafts never preempt a sequence or keep one waiting.

    They take no block that a sequence may need for its pending tokens, and no row of logits of one that may start.
    """
    pending, size = sum([seq.pending for seq in going]), memory.block_size
    # In each group; a sequence may begin two blocks.
    free = memory.free_blocks // memory.groups.count - 2 * len(going) - pending // size
    rows = config.max_running - len(table.running) - len(table.waiting)
    return max(0, min(free * size, rows, config.max_batched_tokens - pending))


def drafted(plan: Plan, sampled: SampledBatch) -> Iterator[tuple[Work, SampledToken]]:
    """The works with drafts, each with the tokens that were sampled for it."""
    if all(work.logits <= 1 for work in plan.works):
        return
    of_work = {sample.seq_id: sample for sample in sampled.samples}
    for work in plan.works:
        if work.logits > 1:
            yield work, of_work[work.seq_id]


def count_equal(work: Work, seq: Sequence) -> int:
    """The number of leading pending tokens of `seq` that `work` computed as drafts."""
    begin = seq.computed
    computed = work.tokens[begin - work.start :]
    count = 0
    for known, draft in zip(seq.tokens[begin : begin + seq.pending], computed, strict=False):
        if known != draft:
            break
        count += 1
    return count
