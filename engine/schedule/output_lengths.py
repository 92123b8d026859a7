"""The likely lengths of outputs, by their constraint.

Does: learn the mean length of the outputs under each constraint. Does not: read constraints; the grammar knows the
shortest output.
"""

from collections import OrderedDict

from ..sequence import Sequence
from ..types import Request

MOST = 512
"""Constraints that are remembered, the last used ones."""

UNKNOWN = 64
"""The length that an output of unknown length is charged with, in tokens."""

_SMOOTHING = 0.2


class OutputLengths:
    """Mean lengths by constraint."""

    def __init__(self) -> None:
        self._means: OrderedDict[int, float] = OrderedDict()

    def likely(self, request: Request, least: int = 0) -> int | None:
        """The tokens that the output of `request` is likely to have; None if nothing is known of it.

        `least`: the length of the shortest legal output, 0 if unknown.
        """
        mean = self._means.get(hash(request.constraint))
        if request.constraint is None or (mean is None and not least):
            return None
        return min(max(least, round(mean or 0)), request.sampling.max_tokens)

    def ended(self, seq: Sequence) -> None:
        """Learn from the output of `seq`, which ended by itself."""
        constraint = seq.request.constraint
        if constraint is None:
            return
        key, found = hash(constraint), float(seq.output_tokens)
        mean = self._means.pop(key, found)
        self._means[key] = mean + _SMOOTHING * (found - mean)
        if len(self._means) > MOST:
            self._means.popitem(last=False)
