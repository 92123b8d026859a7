"""Estimates for a sequence before it runs: the length of its output, and a lower bound on its time.

Does: set the expected lengths of a sequence and the charge of its start; find deadlines that cannot be met. Does not:
end a sequence.
"""

from ..sequence import Sequence
from ..types import Failure, Usage
from .output_lengths import UNKNOWN, OutputLengths
from .pace import Pace
from .tenant_turns import cost

DEADLINE_EXCEEDED = "deadline_exceeded"


class Expectations:
    """The estimates of one engine, learned from the sequences that ended by themselves."""

    def __init__(self) -> None:
        self._lengths = OutputLengths()
        self._pace = Pace()

    def of(self, seq: Sequence, least: int) -> None:
        """Set the estimates of `seq`; its shortest legal output has `least` tokens, 0 if unknown."""
        request, record = seq.request, seq.record
        record.least, record.likely = least, self._lengths.likely(request, least)
        output = UNKNOWN if record.likely is None else record.likely
        record.charge = cost(len(request.prompt), min(output, request.sampling.max_tokens))

    def ended(self, seq: Sequence, usage: Usage) -> None:
        """Learn from `seq`, which ended by itself."""
        self._lengths.ended(seq)
        self._pace.ended(usage)

    def missed_deadline(self, seq: Sequence, now: float) -> Failure | None:
        """The reason why `seq` cannot end before its deadline, at any speed; None if it can."""
        deadline = seq.request.deadline
        if deadline is None:
            return None
        left = seq.record.arrived + deadline - now
        needed = self._pace.least_s(seq.record.least - seq.output_tokens)
        if needed <= left:
            return None
        return Failure(
            DEADLINE_EXCEEDED,
            f"the shortest answer, {seq.record.least} tokens, takes {needed:.3g} s at least, and "
            f"{max(0.0, left):.3g} s are left of the deadline of {deadline:g} s",
            hint="allow more time, or ask for a shorter answer",
        )
