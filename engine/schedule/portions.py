"""Who goes on in a step, where a step that leaves some out is cheaper for each of its tokens.

Does: weigh how many of the tokens that could be computed should be, by what steps were measured to cost, and say whose
turn it is to wait for the next step. Does not: plan, or change a sequence.

A device multiplies in tiles, so 577 tokens may cost a quarter more than 512: then 65 of them do better to wait. Where
a step costs much the same whatever its size, nobody waits.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import chain
from operator import attrgetter

from ..plan import StepCosts
from ..sequence import Sequence

_rank = attrgetter("rank")

GAIN = 0.005
"""The share of its rate that a step must lack before anybody waits."""

LEAST = 0.8
"""The share of the tokens that is computed at least, so that nobody waits often."""

FIXED = 0.4
"""How much of what is not measured, attention above all, is taken to cost the same however many tokens there are: what
beginnings that sequences share cost, for one. It is taken to last as long as the pass that is measured. On an H200 that
holds 65 of 577 tokens of a large model back, which makes them 2% faster, and none of a small one, whose attention takes
three times as long as its products: to hold back 128 of 512 cost it a quarter of its speed."""


class BatchSizer:
    """Turns to wait, dealt one after the other by rank and round again. Nobody waits twice running."""

    def __init__(self, costs: StepCosts | None = None, least: float = LEAST) -> None:
        """Without `costs` nobody ever waits; see `portions`."""
        found = () if costs is None else portions(costs, least)
        self._portions = found if found != tuple(range(len(found))) else ()
        self._longest = 0 if costs is None else costs.longest
        self._waited: frozenset[int] = frozenset()  # left out when asked last
        self._last = (float("-inf"), 0)  # the rank of who was left out last

    def of(self, running: Iterable[Sequence]) -> list[Sequence]:
        """Those of `running` that go on now, in their order: all, or those whose tokens make the better step."""
        everyone = list(running)
        if not self._portions:
            return everyone
        waited, self._waited = self._waited, frozenset()
        pending = [seq.pending for seq in everyone]
        total = sum(pending)
        if total >= len(self._portions) or max(pending, default=0) > self._longest:
            return everyone
        excess = total - self._portions[total]
        if not excess:
            return everyone
        left_out: set[int] = set()
        begin = bisect_right(everyone, self._last, key=_rank)
        for at in chain(range(begin, len(everyone)), range(begin)):
            seq = everyone[at]
            if 0 < pending[at] <= excess and seq.id not in waited:
                left_out.add(seq.id)
                excess -= pending[at]
                if not excess:
                    break
        else:  # whole sequences do not add up to it
            return everyone
        self._last, self._waited = seq.rank, frozenset(left_out)
        return [seq for seq in everyone if seq.id not in left_out]


def portions(costs: StepCosts, least: float = LEAST) -> tuple[int, ...]:
    """How many of `available` tokens to compute now, by `available`, from 0 to the largest size that was measured.

    The most whose rate, tokens by seconds, is within `GAIN` of the best of all numbers from the share `least` on.
    StreamSet all of them only whole sizes can be it: others pay for padding.
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
