"""Plans one step: the tokens that each sequence computes, and their blocks.

Does: continue running sequences, start waiting ones, preempt. Does not: end sequences, or read sampled tokens.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from ..config import SchedulerConfig
from ..errors import InternalError
from ..memory.manager import KVManager
from ..plan import Admitted, Work
from ..sequence import SeqState, Sequence
from .batch_sizing import BatchSizer
from .draft_rounds import room_for_drafts
from .drafting import Drafter
from .queue import victim_of
from .sequence_table import SequenceTable
from .starting import Starting, StartRound


@dataclass(slots=True)
class Step:
    """A step in the making: `left` tokens of its budget; `computed` are the sequences of `works`."""

    left: int
    works: list[Work] = field(default_factory=list)
    computed: list[Sequence] = field(default_factory=list)
    admitted: list[Admitted] = field(default_factory=list)

    def add(self, seq: Sequence, work: Work) -> None:
        self.works.append(work)
        self.computed.append(seq)
        self.left -= len(work.tokens)


class StepPlanner:
    """Plans the steps of one scheduler. `preemptions` counts them since the start."""

    def __init__(
        self,
        config: SchedulerConfig,
        memory: KVManager,
        table: SequenceTable,
        sizer: BatchSizer,
        drafter: Drafter,
    ) -> None:
        self._config = config
        self._memory = memory
        self._sequences = table
        self._sizer = sizer
        self._drafter = drafter
        self._starting = Starting(config, memory, table, self._preempt)
        self._preempted: list[Sequence] = []  # in this step
        self._held: frozenset[Sequence] = frozenset()  # in this step
        # Preempted; they cannot start before their last token is read.
        self._blocked: Collection[Sequence] = ()
        self._released: list[int] = []  # to be reported to the executor by the next plan with work
        self.preemptions = 0

    def step(self, now: float, refused: Callable[[Sequence], bool]) -> Step:
        """The next step: running sequences, then those that start, each in order of rank; then bulk ones likewise.

        `refused` ends a sequence that is about to start, if it has to, and returns whether it did.
        """
        self._preempted = []
        self._held = self._sizer.held(self._sequences.running)
        self._blocked = self._sizer.held(
            seq for seq in self._blocked if seq.state is SeqState.WAITING
        )
        step = Step(self._config.max_batched_tokens)
        runnable, later = self._runnable()
        if self._drafter.awaits_tokens(runnable):
            return step
        room = partial(room_for_drafts, self._memory, self._config, self._sequences, runnable)
        proposed = self._drafter.propose(runnable, room)
        before_starts = [seq for seq in runnable if seq not in later] if later else runnable
        self._continue(before_starts, proposed, step)
        self._start(step, now, refused)
        if later:
            self._continue(later, {}, step)  # the room for drafts may be taken by now
            self._start(step, now, refused)
        return step

    @property
    def is_blocked(self) -> bool:
        """Whether a waiting sequence starts in a later step: its last token is in flight, or this step preempted it.

        A step may preempt a bulk sequence for one that is then refused, because its deadline cannot be met any more.
        """
        return bool(self._blocked or self._preempted)

    def ended(self, seq: Sequence) -> None:
        """Note that a running sequence has ended: the executor is to forget it."""
        self._released.append(seq.id)

    def take_released(self) -> tuple[int, ...]:
        """The sequences that the executor is to forget, each once."""
        released, self._released = tuple(self._released), []
        return released

    def _runnable(self) -> tuple[list[Sequence], list[Sequence]]:
        """The running sequences to compute in this step, and those of them that come after the first waiting one."""
        running, first = self._sequences.running, self._sequences.waiting.first()
        growing = (
            first is not None
            and len(running) < self._config.max_running
            and self._memory.groups.needed(first.known) <= self._memory.free_blocks
        )
        runnable = list(running) if growing else self._sizer.of(running)
        if self._held:
            runnable = [seq for seq in runnable if seq not in self._held]
        if first is None or first.request.bulk:
            return runnable, []
        return runnable, [seq for seq in runnable if seq.request.bulk and seq.rank > first.rank]

    def _continue(
        self, runnable: list[Sequence], proposed: Mapping[int, tuple[int, ...]], step: Step
    ) -> None:
        """Add the work of running sequences to `step`. May preempt sequences.

        The victim has no work in this step yet: it is the sequence itself or another one of the last in rank.
        """
        for seq in runnable:
            if not step.left:
                break
            if seq.state is not SeqState.RUNNING:  # it was preempted in this step
                continue
            pending = seq.pending
            count = min(pending, step.left)
            if not count:  # its last token is not computed
                continue
            drafts: tuple[int, ...] = ()
            if proposed and count == pending:
                drafts = proposed.get(seq.id, ())[: step.left - count]
            reservation = self._memory.reserve(seq, count + len(drafts))
            while reservation is None and seq.state is SeqState.RUNNING:
                idle = [other for other in self._sequences.running if other not in step.computed]
                victim = victim_of(idle, self._config.max_preemptions)
                if victim is None:
                    raise InternalError(
                        f"sequence {seq.id} has all the room it needs and asks for more"
                    )
                self._preempt(victim)
                if victim is not seq:
                    reservation = self._memory.reserve(seq, count + len(drafts))
            if reservation is not None:
                work = compute(self._memory, seq, count, reservation.blocks)
                if reservation.others:
                    work = replace(work, other_blocks=reservation.others)
                step.add(seq, work.with_drafts(drafts) if drafts else work)

    def _start(self, step: Step, now: float, refused: Callable[[Sequence], bool]) -> None:
        """Add the waiting sequences that start now to `step`, best first; none in a step without room for all.

        Room is reserved for all known tokens at once, so that a long prompt is not started and then preempted halfway.
        """
        if not self._sequences.waiting or any(not seq.request.bulk for seq in self._preempted):
            return
        starts = StartRound(
            self._sequences.running, [*step.computed, *self._preempted, *self._blocked]
        )
        while step.left > 0:
            found = self._starting.next(starts)
            if found is None:
                return
            seq, room = found
            if refused(seq):
                continue
            self._sequences.admit(seq, now, room.computed, room.reused)
            starts.started(seq)
            step.admitted.append(_admitted(seq, self._memory))
            step.add(seq, compute(self._memory, seq, min(seq.pending, step.left)))

    def _preempt(self, victim: Sequence) -> None:
        """Preempt a running sequence."""
        self._sequences.preempt(victim)
        self._memory.release(victim)
        self._released.append(victim.id)
        self._preempted.append(victim)
        if self._held:
            self._blocked = (*self._blocked, victim)
        self.preemptions += 1


def compute(memory: KVManager, seq: Sequence, count: int, new_blocks: tuple[int, ...] = ()) -> Work:
    """Plan the next `count` tokens of `seq`."""
    work = _work(seq, count, new_blocks)
    seq.compute(count)
    memory.computed(seq)
    return work


def _work(seq: Sequence, count: int, new_blocks: tuple[int, ...] = ()) -> Work:
    """The work for the next `count` tokens of `seq`, with a row of logits where its next token is to be sampled."""
    tokens, logits = seq.upcoming(count)
    return Work(seq.id, seq.computed, tokens, new_blocks, logits)


def _admitted(seq: Sequence, memory: KVManager) -> Admitted:
    """The message that introduces a sequence to an executor."""
    request = seq.request
    return Admitted(
        seq.id,
        tuple(seq.tokens),
        len(request.prompt),
        memory.table(seq),
        request.sampling,
        memory.adapters.place(seq.id),
        request.images,
        memory.other_tables(seq),
    )
