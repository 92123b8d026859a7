"""The order in which a scheduler started its sequences in one step, judged by plain rules.

Does: look at the sequences before and after each step. Does not: know how the scheduler chooses.
"""

from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.sequence import SeqState, Sequence


class WrongError(AssertionError):
    """The engine did not do what the plain engine does."""


def insist(holds: bool, what: object) -> None:
    if not holds:
        raise WrongError(what)


class OrderOfService:
    """`yielded` counts the bulk sequences that gave way to an interactive one."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._table = scheduler._sequences
        self._memory = scheduler._memory
        self._config = scheduler._config
        self._waiting: list[Sequence] = []
        self._running: list[Sequence] = []
        self._computed: dict[int, int] = {}
        self.yielded = 0

    def before(self) -> None:
        """Record the waiting and the running sequences."""
        self._waiting = list(self._table.waiting)
        self._running = list(self._table.running)
        self._computed = {seq.id: seq.computed for seq in self._running}

    def after(self) -> None:
        """Check the sequences that started.

        Raises:
            WrongError: somebody was overtaken who may not be.
        """
        started = [
            seq
            for seq in self._waiting
            if seq.state is SeqState.RUNNING and seq.record.preemptions == 0
        ]
        passed_over = [seq for seq in self._waiting if seq.state is SeqState.WAITING]
        for seq in started:
            for other in passed_over:
                self._judge(seq, other)
        preempted = [seq for seq in self._running if seq.state is SeqState.WAITING]
        for seq in preempted:
            self._judge_victim(seq)
        new = [seq for seq in started if not seq.request.bulk]
        self.yielded += len([seq for seq in preempted if seq.request.bulk]) if new else 0
        full = len(self._running) >= self._config.max_running
        if full and not preempted and self._has_room() and self._first_interactive(passed_over):
            first = self._first_interactive(passed_over)
            able = [
                seq
                for seq in self._running
                if first is not None
                and seq.state is SeqState.RUNNING
                and seq.request.bulk
                and seq.rank > first.rank
                and seq.record.preemptions < self._config.max_preemptions
                and len(self._table.running) == len(self._running)
            ]
            insist(
                not able or not self._would_suffice(able, first),
                f"bulk sequence {able and able[0].id} keeps an interactive one waiting",
            )

    def _takes_no_turns(self) -> bool:
        """Whether no tenant of an interactive sequence waited for its turn: then the best of them was first."""
        return not any(s.request.tenant for s in self._waiting if not s.request.bulk)

    def _would_suffice(self, able: list[Sequence], first: Sequence | None) -> bool:
        """Whether the blocks of all that may give way are enough: none gives way for nothing."""
        held = sum(self._memory.held(seq) for seq in able)
        needed = 0 if first is None else self._memory.groups.needed(first.known)
        return held + self._memory.free_blocks >= needed

    def _has_room(self) -> bool:
        """Whether the interactive sequences that ran before left tokens of the step to others."""
        spent = sum(
            seq.computed - self._computed[seq.id]
            for seq in self._running
            if not seq.request.bulk and seq.state is SeqState.RUNNING
        )
        return spent < self._config.max_batched_tokens

    def _first_interactive(self, passed_over: list[Sequence]) -> Sequence | None:
        """The interactive sequence that is first in any order; None where several tenants wait, or it waits again.

        None as well where a bulk sequence of better rank waits: that one is first, and nothing gives way to it.
        """
        found = sorted((s for s in passed_over if not s.request.bulk), key=lambda seq: seq.rank)
        if len({seq.request.tenant for seq in found}) != 1 or found[0].request.tenant:
            return None
        behind = any(s.request.bulk and s.rank < found[0].rank for s in passed_over)
        return None if behind else found[0]

    def _judge_victim(self, seq: Sequence) -> None:
        """Check that the preempted sequence has the lowest rank of those that may be preempted."""
        for other in self._running:
            later = other.rank > seq.rank and other.request.bulk == seq.request.bulk
            if later and other.state is SeqState.RUNNING:
                exempt = other.record.preemptions >= self._config.max_preemptions
                insist(exempt, f"sequence {seq.id} gave way before {other.id}")

    def _judge(self, seq: Sequence, other: Sequence) -> None:
        one, two = seq.request, other.request
        better = other.rank < seq.rank
        if one.tenant == two.tenant and one.bulk == two.bulk:
            insist(not better, f"sequence {other.id} was overtaken by {seq.id} of its tenant")
        if one.bulk and not two.bulk and self._takes_no_turns():
            insist(not better, f"interactive sequence {other.id} was overtaken by bulk {seq.id}")
