"""The order in which sequences are served, and preempted when memory runs out.

Does: rank sequences so that none starves, keep them in that order, and choose the sequence to preempt. Does not: admit
or preempt. Preemption is by recomputation: known tokens stay known, computed keys and values are given up.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from operator import attrgetter

from ..errors import InternalError
from ..sequence import Sequence
from ..types import Request

_rank = attrgetter("rank")


def rank(request: Request, seq_id: int, now: float, ageing_s: float) -> tuple[float, int]:
    """The rank of a request that arrives at `now`; smaller is served first.

    First come, first served, where one step of priority equals `ageing_s` seconds of arrival. This is priority with
    ageing: as all waiting requests age at the same rate, the order of two sequences never changes, so a rank is
    computed once. A later request goes first only if it arrives before `now + ageing_s x d`, where `d` is the priority
    of this request minus that of the later one.
    """
    return (now + request.priority * ageing_s, seq_id)


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


def victim_of(running: Ranked, max_preemptions: int) -> Sequence | None:
    """The running sequence to preempt: the last in rank that is not exempt; None if all are exempt.

    The first in rank is never preempted while another one can be, so one sequence always reaches its end; and no
    sequence is preempted more than `max_preemptions` times. Together these exclude a livelock.
    """
    for seq in reversed(running):
        if not is_exempt(seq, max_preemptions):
            return seq
    return None
