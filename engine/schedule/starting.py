"""Chooses the waiting sequence that starts now, and the running ones to preempt for it.

Does: choose the next sequence for which there are a place and room, now and for the likely lengths of the running
ones. Does not: change anything but reservations of memory; the scheduler moves sequences.
"""

from collections import Counter
from collections.abc import Callable, Iterable

from ..config import SchedulerConfig
from ..memory.manager import KVManager, Reservation
from ..sequence import Sequence
from .queue import Ranked, is_exempt
from .sequence_table import SequenceTable

RESERVED = 8
"""One place in this many is reserved for tenants that hold less than an equal share of the places."""


class StartRound:
    """The starts of one step, one after the other. What it counts over all running sequences, it counts once.

    `excluded` have work in this step or were preempted in it: they neither start nor are preempted.
    """

    def __init__(self, running: Ranked, excluded: Iterable[Sequence]) -> None:
        self._running = running
        self.busy = {seq.id for seq in excluded}
        self._growth: int | None = None
        self._held: Counter[str] | None = None

    @property
    def most_growth(self) -> int:
        """An upper bound of `likely_growth` of the running sequences, in tokens: no room is released."""
        if self._growth is None:
            self._growth = sum([_likely_left(seq) for seq in self._running])
        return self._growth

    @property
    def held(self) -> Counter[str]:
        """The places that tenants hold, bulk requests apart."""
        if self._held is None:
            self._held = Counter(s.request.tenant for s in self._running if not s.request.bulk)
        return self._held

    def started(self, seq: Sequence) -> None:
        """Count a sequence that runs now."""
        self.busy.add(seq.id)
        if self._growth is not None:
            self._growth += _likely_left(seq)
        if self._held is not None and not seq.request.bulk:
            self._held[seq.request.tenant] += 1

    def preempted(self, seq: Sequence) -> None:
        """Count a sequence that was preempted. `most_growth` remains a bound without it."""
        self.busy.add(seq.id)
        self._held = None


class Starting:
    """Grants starts in one scheduler. `preempt` preempts a running sequence."""

    def __init__(
        self,
        config: SchedulerConfig,
        memory: KVManager,
        table: SequenceTable,
        preempt: Callable[[Sequence], None],
    ) -> None:
        self._config = config
        self._memory = memory
        self._table = table
        self._preempt = preempt

    def next(self, starts: StartRound) -> tuple[Sequence, Reservation] | None:
        """The sequence that starts now, with the room that is reserved for it. None for none.

        A sequence without room blocks all behind it.
        """
        seq = self._table.waiting.first(self._may_start(starts))
        if seq is None or seq.id in starts.busy:
            return None
        yielding = self._yielding(seq, starts.busy)
        while True:
            if len(self._table.running) < self._config.max_running and self._has_future(
                seq, starts
            ):
                exempt = is_exempt(seq, self._config.max_preemptions)
                room = seq.most_computed if exempt else seq.known
                reservation = self._memory.reserve(seq, room)
                if reservation is not None:
                    return seq, reservation
            if not yielding:
                return None
            victim = yielding.pop()
            self._preempt(victim)
            starts.preempted(victim)

    def _yielding(self, seq: Sequence, busy: set[int]) -> list[Sequence]:
        """The running bulk sequences to preempt for `seq`, the last one first; none if they do not suffice."""
        if seq.request.bulk:
            return []
        found = [
            other
            for other in self._table.running
            if other.request.bulk
            and other.rank > seq.rank
            and other.id not in busy
            and not is_exempt(other, self._config.max_preemptions)
        ]
        held = sum([self._memory.held(other) for other in found])
        needed = self._memory.groups.needed(seq.known)
        return found if held + self._memory.free_blocks >= needed else []

    def _may_start(self, starts: StartRound) -> Callable[[str], bool]:
        """Whether a tenant may start one more sequence: the last places are for those that hold few.

        Requests without a tenant may use all places.
        """
        running, most = self._table.running, self._config.max_running
        if len(running) < most - most // RESERVED:
            return lambda _: True
        held = starts.held
        active = len(held) + self._table.waiting.tenants
        return lambda tenant: not tenant or held[tenant] < most // (active + 1)

    def _has_future(self, seq: Sequence, starts: StartRound) -> bool:
        """Whether the running sequences and `seq` are likely to end without a preemption for lack of memory."""
        running = self._table.running
        if not running:
            return True
        room = self._memory.groups.growth_room(self._memory.free_blocks, seq.known)
        if starts.most_growth + _likely_left(seq) <= room:
            return True
        return likely_growth([*running, seq]) <= room


def likely_growth(sequences: Iterable[Sequence]) -> int:
    """The most tokens of room that sequences will need beyond the present ones until they end, by likely lengths.

    Each grows by one token a step, and releases the room of its output when it ends; one of unknown length does not
    grow.
    """
    ends = sorted([(_likely_left(seq), seq.output_tokens) for seq in sequences], reverse=True)
    most, freed = 0, sum([output for _, output in ends])
    for running, (left, output) in enumerate(ends, start=1):
        freed -= output  # by the sequences that end before this one
        most = max(most, running * left - freed)
    return most


def _likely_left(seq: Sequence) -> int:
    """Tokens until the likely end of an output; 0 if it is not known."""
    likely = seq.record.likely
    return max(0, likely - seq.output_tokens) if likely else 0
