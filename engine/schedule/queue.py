"""The order in which sequences are served.

Does: rank them so that nobody starves, and keep them in that order. Does not: decide who may run.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from operator import attrgetter

from ..errors import InternalError
from ..sequence import Sequence
from ..types import Request

_rank = attrgetter("rank")


def rank(request: Request, seq_id: int, now: float, ageing_s: float) -> tuple[float, int]:
    """The place of a request that arrives at `now`; smaller is served first.

    First come, first served, where one step of priority is worth `ageing_s` seconds of arrival. That is priority with
    ageing: as everybody waiting ages alike, the order of two sequences never changes, so a rank is computed once. A
    request is passed over only by those that arrive before `now + ageing_s x (its priority - theirs)`.
    """
    return (now + request.priority * ageing_s, seq_id)


class Ranked:
    """Sequences, best rank first. Adding and discarding search by bisection and move pointers only."""

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
        """Put `seq`, which is not here, in its place."""
        insort(self._order, seq, key=_rank)

    def discard(self, seq: Sequence) -> None:
        """Take out `seq`, which is here."""
        index = bisect_left(self._order, seq.rank, key=_rank)
        if index == len(self._order) or self._order[index] is not seq:
            raise InternalError(f"sequence {seq.id} is not in this order")
        del self._order[index]
