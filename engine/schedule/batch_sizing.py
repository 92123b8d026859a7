"""Batch sizing: leaves sequences out of a step where a smaller step costs less per token.

Does: choose the size of a step by the measured costs of steps, and the sequences that wait for the next step. Does not:
plan, or change a sequence.

A device multiplies in tiles, so 577 tokens may cost a quarter more than 512: then it is better to defer 65 of them.
Where the cost of a step hardly depends on its size, no sequence waits.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import chain
from operator import attrgetter

from ..plan import StepCosts
from ..sequence import Sequence

_rank = attrgetter("rank")

_NONE: frozenset[Sequence] = frozenset()

GAIN = 0.005
"""The share of the best rate by which a step must be slower before a sequence waits."""

LEAST = 0.8
"""The least share of the available tokens that is computed, so that no sequence waits often."""

FIXED = 0.4
"""The assumed share of the unmeasured cost of a step (mostly attention) that does not depend on its number of tokens,
for example the reading of shared prefixes. The unmeasured cost is assumed to equal the measured pass. On an H200 this
defers 65 of 577 tokens of a large model, which makes it 2% faster, and none of a small model, where attention takes
three times as long as matrix products: deferring 128 of 512 tokens cost that model a quarter of its speed."""


class BatchSizer:
    """Chooses the sequences that wait, in turn by rank. No sequence waits in two consecutive steps."""

    def __init__(self, costs: StepCosts | None = None, least: float = LEAST) -> None:
        """Without `costs` no sequence waits; for `least` see `best_sizes`."""
        found = () if costs is None else best_sizes(costs, least)
        self._sizes = found if found != tuple(range(len(found))) else ()
        self._longest = 0 if costs is None else costs.longest
        self._waited: frozenset[int] = frozenset()  # deferred by the last call
        self._last = (float("-inf"), 0)  # the rank of the sequence that was deferred last

    def held(self, _sequences: Iterable[Sequence]) -> frozenset[Sequence]:
        """The sequences among these that can be neither computed nor started now: none."""
        return _NONE

    def of(self, running: Iterable[Sequence]) -> list[Sequence]:
        """The sequences of `running` to compute now, in their order: all, or some that make a step of a better size."""
        candidates = list(running)
        if not self._sizes:
            return candidates
        waited, self._waited = self._waited, frozenset()
        pending = [seq.pending for seq in candidates]
        total = sum(pending)
        if total >= len(self._sizes) or max(pending, default=0) > self._longest:
            return candidates
        excess = total - self._sizes[total]
        if not excess:
            return candidates
        left_out: set[int] = set()
        begin = bisect_right(candidates, self._last, key=_rank)
        for at in chain(range(begin, len(candidates)), range(begin)):
            seq = candidates[at]
            if 0 < pending[at] <= excess and seq.id not in waited:
                left_out.add(seq.id)
                excess -= pending[at]
                if not excess:
                    break
        else:  # no set of whole sequences has `excess` tokens
            return candidates
        self._last, self._waited = seq.rank, frozenset(left_out)
        return [seq for seq in candidates if seq.id not in left_out]


def best_sizes(costs: StepCosts, least: float = LEAST) -> tuple[int, ...]:
    """The number of tokens to compute in a step, by the number available, from 0 to the largest measured size.

    The largest number with a rate, in tokens per second, within `GAIN` of the best rate of all candidates. Candidates
    are the number available and the measured sizes from its share `least` on: other sizes are padded.
    """
    sizes = [size for size, _ in costs.seconds]
    found = [0]
    for available in range(1, sizes[-1] + 1):
        all_of_them = costs.seconds[bisect_left(sizes, available)][1]
        begin, end = bisect_left(sizes, least * available), bisect_right(sizes, available)
        rates = [
            (number, number / (seconds + all_of_them * (FIXED + (1 - FIXED) * number / available)))
            for number, seconds in (*costs.seconds[begin:end], (available, all_of_them))
        ]
        enough = (1 - GAIN) * max([rate for _, rate in rates])
        found.append(max([number for number, rate in rates if rate >= enough]))
    return tuple(found)
