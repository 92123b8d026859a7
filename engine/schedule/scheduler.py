"""The scheduler: plans the tokens and blocks of each step, and commits the sampled tokens.

Does: admit, plan, preempt, commit and end sequences. Does not: know texts, masks, matchers or tensors. One rule governs
all progress: a sequence computes the smaller of its pending tokens and the rest of the step's token budget.
"""

from collections.abc import Callable, Collection
from itertools import chain
from typing import Final

from ..config import SchedulerConfig
from ..errors import BudgetTooSmall, InternalError, QueueFull
from ..memory.manager import KVManager
from ..plan import Change, Changes, Forced, Plan, SampledBatch, SampledToken, Work
from ..sequence import ACCEPTED, SeqState, Sequence, finish_after
from ..types import CutReason, Failure, Finish, Request, TokenLogprob, Usage
from .admission import RequestLimits, admit
from .batch_sizing import BatchSizer
from .draft_rounds import count_equal, drafted
from .drafting import Drafter, NoDrafter
from .engine_load import Load
from .expectations import Expectations
from .sequence_table import SequenceTable
from .step_planner import StepPlanner, compute


class Scheduler:
    """The scheduler of one engine: its sequences, and the order in which they run.

    `clock` gives seconds and is monotonic. `sizer` chooses the sequences of a step in which none can be admitted;
    without it all running sequences are computed. `drafter` proposes drafts; without it there are none.
    """

    def __init__(
        self,
        config: SchedulerConfig,
        memory: KVManager,
        limits: RequestLimits,
        clock: Callable[[], float],
        sizer: BatchSizer | None = None,
        drafter: Drafter | None = None,
    ) -> None:
        self._config = config
        self._memory = memory
        self._limits = limits
        self._clock = clock
        self._drafter = drafter or NoDrafter()
        self._sequences = SequenceTable(config)
        self.penalised: Final[Collection[int]] = self._sequences.penalised
        """The live sequences with a penalty: each of their draws depends on all tokens before it."""
        self._expectations = Expectations()
        self._planner = StepPlanner(
            config, memory, self._sequences, sizer or BatchSizer(), self._drafter
        )
        self._changes: list[Change] = []  # since the last commit
        self._steps = 0

    # Requests.

    def add(self, request: Request, arrived: Callable[[], None] = lambda: None) -> int:
        """Accept a request; the number of its sequence. With a constraint it waits for `grammar_ready`.

        Where another engine computes its prompt, it waits for the keys and values as well; when they have arrived, or
        will not, `arrived` is called in another thread, and the next plan lets it run.

        Raises:
            InvalidRequest: a field is invalid, or a live request has that id.
            TooLong: it can never fit.
            QueueFull: `max_waiting` requests are not running yet.
        """
        admit(request, self._limits, self._memory.capacity)
        if len(self._sequences) - len(self._sequences.running) >= self._config.max_waiting:
            raise QueueFull(
                f"{self._config.max_waiting} requests wait already", hint="try again later"
            )
        seq = self._sequences.add(request, self._clock())

        def note_arrival() -> None:
            self._sequences.fetched.append(seq.id)
            arrived()

        seq.fetching = self._memory.fetch(seq, note_arrival)
        if request.constraint is None:
            self._expectations.of(seq, 1)
            self._sequences.wait(seq)
            self._end_if_late(seq)
        return seq.id

    def grammar_ready(
        self,
        seq_id: int,
        least_tokens: int | None,
        forced: tuple[int, ...] = (),
        budget: int | None = None,
    ) -> None:
        """Let a sequence run: its constraint is compiled, and every legal output begins with the tokens `forced`.

        `budget`: the tokens within which the output will be completed, if fewer than `max_tokens`. No effect if the
        sequence has ended.
        """
        seq = self._sequences.get(seq_id)
        if seq is None:
            return
        most = seq.request.sampling.max_tokens
        seq.record.budget = most if budget is None else budget
        if least_tokens is not None and least_tokens > most:
            self._end(
                seq,
                Finish.ERROR,
                Failure(
                    BudgetTooSmall.code,
                    f"the shortest legal output needs {least_tokens} tokens, max_tokens is {most}",
                    hint=f"set max_tokens to {least_tokens} at least",
                ),
            )
            return
        self._expectations.of(seq, least_tokens or 0)
        if self._end_if_late(seq):
            return
        self._sequences.wait(seq)
        if forced:
            self._append(seq, (), (), forced)

    def grammar_failed(self, seq_id: int, failure: Failure) -> None:
        """End a sequence with a constraint that cannot be used. No effect if the sequence has ended."""
        seq = self._sequences.get(seq_id)
        if seq is not None:
            self._end(seq, Finish.ERROR, failure)

    def abort(self, request_id: str) -> bool:
        """End a request in any state; False if it has already ended."""
        seq = self._sequences.find(request_id)
        if seq is not None:
            self._end(seq, Finish.ABORT)
        return seq is not None

    # One step.

    def plan(self) -> Plan:
        """The next step: running sequences, then those that start, each in order of rank; then bulk ones likewise."""
        now = self._clock()
        for seq in self._sequences.take_fetched():
            self._end_if_late(seq)
        for seq in self._sequences.expired(now):
            self._end(seq, Finish.DEADLINE)
        step = self._planner.step(now, self._end_if_late)
        if not step.works:
            stuck = self._sequences.waiting and not self._sequences.running
            if stuck and not self._planner.is_blocked:
                raise InternalError("sequences wait, none runs, and none can be admitted")
            return Plan(self._steps)
        self._steps += 1
        return Plan(
            self._steps,
            tuple(step.admitted),
            tuple(step.works),
            self._planner.take_released(),
            self._memory.adapters.take_loads(),
        )

    def commit(self, plan: Plan, sampled: SampledBatch, forced: Forced) -> Changes:
        """Append sampled and forced tokens, end the sequences that are done, and report all changes.

        The changes include those since the last commit: aborts, deadlines, constraints that were refused. Later plans
        may have been made since `plan`; `Sequence.resolve` finds their tokens that have become stale.

        Raises:
            InternalError: `sampled` does not match `plan`.
        """
        now = self._clock()
        samples = iter(sampled.samples)
        for work in plan.works:
            if not work.logits:
                continue
            sample = next(samples, None)
            if sample is None or sample.seq_id != work.seq_id:
                raise InternalError(
                    f"the plan asks for a token of sequence {work.seq_id}, not {sample}"
                )
            seq = self._sequences.get(work.seq_id)
            if seq is None:  # it has ended since
                continue
            if seq.resolve(work.end) is not ACCEPTED:
                continue
            failure = sample.failure or forced.failures.get(seq.id)
            if failure is None and not sample.tokens:
                failure = Failure(InternalError.code, "no token was sampled for this request")
            if failure is not None:
                self._end(seq, Finish.ERROR, failure)
                continue
            if seq.id in forced.waiting:
                seq.sample_again()
                continue
            sample = forced.kept.get(seq.id, sample)
            seq.record.token_sampled(now)
            after = forced.tokens.get(seq.id, ())
            at = seq.output_tokens
            if seq.id in forced.instead:
                seq.record.cut(CutReason.BUDGET, at, at + len(after))
                self._append(seq, (), (), after)
                continue
            if seq.id in forced.looped:
                at += len(sample.tokens)
                begin, end = forced.looped[seq.id]
                seq.record.cut(CutReason.LOOPED, at + begin, at + end)
            self._append(seq, sample.tokens, sample.logprobs, after)
        if next(samples, None) is not None:
            raise InternalError("more tokens were sampled than the plan asks for")
        changes, self._changes = tuple(self._changes), []
        return Changes(changes)

    def accept_drafts(self, plan: Plan, sampled: SampledBatch) -> tuple[Plan, SampledBatch]:
        """Accept the drafts in `plan` that equal the tokens known now: a plan of them, and the tokens after.

        To be called after the first tokens of `sampled` were committed, and again after those that it returns. The
        result is the next plan as it would be without drafts, limited to tokens that are computed already. It has no
        works where no draft is accepted.
        """
        works: list[Work] = []
        samples: list[SampledToken] = []
        for work, sample in drafted(plan, sampled):
            seq = self._sequences.get(work.seq_id)
            if seq is None:  # it has ended
                continue
            first = work.end - len(work.drafts)  # the position of the first sampled token
            count = count_equal(work, seq)
            if count == seq.pending and seq.known - first >= len(sample.tokens):
                count -= 1  # no token was sampled there, so that its last token is computed again
            if not count:
                continue
            seq.record.accept(count)
            works.append(compute(self._memory, seq, count))
            if works[-1].logits:
                at = slice(seq.computed - first, seq.computed - first + 1)
                samples.append(SampledToken(seq.id, sample.tokens[at], sample.logprobs[at]))
        return Plan(plan.step, (), tuple(works)), SampledBatch(tuple(samples))

    # Queries.

    def load(self) -> Load:
        """The present load."""
        waiting, running = len(self._sequences.waiting), len(self._sequences.running)
        return Load(
            parked=len(self._sequences) - waiting - running,
            waiting=waiting,
            running=running,
            unreported=len(self._changes),
            blocks=self._memory.blocks,
            free_blocks=self._memory.free_blocks,
            preemptions=self._planner.preemptions,
            next_deadline=self._sequences.next_deadline(),
            drafts=self._drafter.counts,
            offloaded=self._memory.offloaded,
        )

    def live(self) -> set[int]:
        """The numbers of the sequences that have not ended."""
        return self._sequences.live()

    def usage(self, request_id: str) -> Usage | None:
        """The usage of a live request so far."""
        seq = self._sequences.find(request_id)
        return None if seq is None else seq.usage(self._clock())

    def check(self) -> None:
        """Check the table of sequences, the limits, and the memory.

        Raises:
            InternalError: an invariant does not hold.
        """
        self._sequences.check()
        running = list(self._sequences.running)
        if len(running) > self._config.max_running:
            raise InternalError(f"{len(running)} sequences run")
        for seq in chain(running, self._sequences.waiting):
            if seq.record.preemptions > self._config.max_preemptions:
                raise InternalError(
                    f"sequence {seq.id} was preempted {seq.record.preemptions} times"
                )
        self._memory.check(running)

    # The parts of a step.

    def _end_if_late(self, seq: Sequence) -> bool:
        """End `seq` if it cannot end before its deadline; returns whether it did."""
        missed = self._expectations.missed_deadline(seq, self._clock())
        if missed is not None:
            self._end(seq, Finish.DEADLINE, missed)
        return missed is not None

    def _append(
        self,
        seq: Sequence,
        sampled: tuple[int, ...],
        logprobs: tuple[TokenLogprob, ...],
        forced: tuple[int, ...],
    ) -> None:
        """Append tokens, up to the first that ends the sequence."""
        tokens = sampled + forced
        finish: Finish | None = None
        known = 0
        for token in tokens:
            seq.append(token)
            known += 1
            finish = finish_after(seq, token, self._limits.end_tokens)
            if finish is not None:
                break
        if forced:
            seq.record.force(max(0, known - len(sampled)))
            if seq.request.sampling.logprobs is not None:  # a forced token has probability 1
                logprobs += tuple(TokenLogprob(token, 0.0) for token in forced)
        if finish is None:
            self._changes.append(Change(seq.id, seq.request.id, tokens, logprobs))
        else:
            shown = known - (finish is Finish.STOP)  # an end token is not part of the text
            self._end(seq, finish, tokens=tokens[:shown], logprobs=logprobs[:shown])

    def _end(
        self,
        seq: Sequence,
        finish: Finish,
        failure: Failure | None = None,
        *,
        tokens: tuple[int, ...] = (),
        logprobs: tuple[TokenLogprob, ...] = (),
    ) -> None:
        """End `seq` in any state, and release its blocks."""
        if seq.state is SeqState.RUNNING:
            self._planner.ended(seq)
        self._sequences.remove(seq)
        self._memory.release(seq, spoiled=finish is Finish.ERROR)
        usage = seq.usage(self._clock())
        if finish in (Finish.STOP, Finish.LENGTH):
            self._expectations.ended(seq, usage)
        self._changes.append(
            Change(seq.id, seq.request.id, tokens, logprobs, finish, failure, usage)
        )
