"""The order in which sequences are served, and preempted when memory runs out.

Does: rank sequences so that none starves, keep them in that order, and choose the sequence to preempt. Does not: admit
or preempt. Preemption is by recomputation: known tokens stay known, computed keys and values are given up.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Reversible
from operator import attrgetter

from ..config import SchedulerConfig
from ..errors import InternalError
from ..sequence import Sequence
from ..types import Request

_rank = attrgetter("rank")


def rank(request: Request, seq_id: int, now: float, config: SchedulerConfig) -> tuple[float, int]:
    """The rank of a request that arrives at `now`: the time by which it is to start. Smaller is served first.

    Its deadline, or `patience_s` after its arrival where that is earlier: earliest deadline first, where a request
    without one has a deadline, too. One step of priority equals `ageing_s` seconds, bulk requests have
    `bulk_patience_s`. A rank is computed once, and bounds the wait: a request is overtaken only by those that arrive
    before the time of its rank, plus `ageing_s` for each step of priority that they are ahead of 0.
    """
    patience = config.bulk_patience_s if request.bulk else config.patience_s
    start_by = now + patience + request.priority * config.ageing_s
    if request.deadline is not None:
        start_by = min(start_by, now + request.deadline)
    return start_by, seq_id


class Ranked:
    """Sequences, best rank first. `add` and `discard` search by bisection and move pointers only."""

    def __init__(self) -> None:
        self._order: list[Sequence] = []

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Sequence]:
        return iter(self._order)

    def __getitem__(self, index: int) -> Sequence:
        return self._order[index]

    def __reversed__(self) -> Iterator[Sequence]:
        return reversed(self._order)

    def add(self, seq: Sequence) -> None:
        """Insert `seq`, which must not be contained, by its rank."""
        insort(self._order, seq, key=_rank)

    def discard(self, seq: Sequence) -> None:
        """Remove `seq`, which must be contained."""
        index = bisect_left(self._order, seq.rank, key=_rank)
        if index == len(self._order) or self._order[index] is not seq:
            raise InternalError(f"sequence {seq.id} is not in this order")
        del self._order[index]


def is_exempt(seq: Sequence, max_preemptions: int) -> bool:
    """Whether `seq` was preempted so often that it is admitted with all the room it may need, and keeps it."""
    return seq.record.preemptions >= max_preemptions


def victim_of(running: Reversible[Sequence], max_preemptions: int) -> Sequence | None:
    """The one of `running`, in order of rank, to preempt: the last that is not exempt; None if all are exempt.

    The first in rank is never preempted while another one can be, so one sequence always reaches its end; and no
    sequence is preempted more than `max_preemptions` times. Together these exclude a livelock.
    """
    for seq in reversed(running):
        if not is_exempt(seq, max_preemptions):
            return seq
    return None
