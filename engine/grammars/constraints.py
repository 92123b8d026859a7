"""The matchers of the constrained sequences.

Does: own the matchers, fill mask rows, advance by sampled tokens, and return the tokens that the grammar forces next;
delegate all of this to `DeviceConstraints` for sequences with masks made on the device. Does not: compile (a `Compiler`
does, outside the step), change a sequence, or touch a device. A matcher that fails ends its own request and no other;
no failure is only logged.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

import numpy as np
from intaglio.grammar.api import CompiledGrammar, Constraint, MaskRow, MaskRows, allow

from ..errors import InternalError
from ..plan import Changes, Forced, Masks, Plan, SampledBatch, SampledToken, Work
from ..types import Failure, OutputLimits
from .budgeted_matcher import BudgetedMatcher
from .device_constraints import NOT_ON_DEVICE, DeviceConstraints
from .draft_walk import Cursor, DraftOrigin, LegalDrafts, legal_drafts
from .grammar_faults import MatcherFault, broken, failure, guarded
from .loop_detection import LoopWatch


class Compiler(Protocol):
    """Compiles constraints outside the step. The future raises `GrammarError` if a constraint cannot be used."""

    def submit(self, constraint: Constraint) -> Future[CompiledGrammar]:
        """Start a compilation, or join one of the same constraint in progress. Returns at once."""
        ...


@dataclass(frozen=True, slots=True)
class Opening:
    """Facts about every output of a grammar: the least number of tokens, if known, and the tokens it begins with.

    `budget`: the tokens within which the output will be completed, if its limits make them fewer than requested.
    """

    least_tokens: int | None
    forced: tuple[int, ...]
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class _Compiling:
    """A compilation in progress, and the limits of its output."""

    constraint: Constraint
    grammar: Future[CompiledGrammar]
    budget: int
    limits: OutputLimits | None
    prompt: Sequence[int]


class Constraints:
    """Matchers by sequence.

    `rows` is the memory of the mask rows: as wide as the logits, and twice as many as sequences may run, since the rows
    of a step may still be read while the next ones are written. A grammar may end only with one of `end_tokens`, which
    also end a sequence. `texts`: the bytes of each token, None for tokens without; without them no output is checked
    for loops. `device`: the part for sequences with masks made by the executor; None if it makes none. `clock` gives
    seconds of processor time; outputs of grammars that take too many are ended (`BudgetedMatcher`). `search_s`: the
    most seconds that the search for the end of one output may take in a step; after that, the output waits, and the
    search continues in the next step. Only a pipeline that reads a step before it starts the next one can let an output
    wait.
    """

    def __init__(
        self,
        compiler: Compiler,
        *,
        end_tokens: frozenset[int],
        rows: MaskRows,
        texts: Sequence[bytes | None] = (),
        device: DeviceConstraints | None = None,
        clock: Callable[[], float] = time.thread_time,
        search_s: float = math.inf,
    ) -> None:
        self._search_s = search_s
        self._waiting: dict[int, SampledToken] = {}  # tokens that are not accepted yet
        self._compiler = compiler
        self._end_tokens = end_tokens
        self._texts = texts
        self._device = device
        self._clock = clock
        self._halves = deque(np.split(rows, 2))  # for this step, and for the one before
        self._compiling: dict[int, _Compiling] = {}
        self._matchers: dict[int, BudgetedMatcher] = {}
        self._failures: dict[int, Failure] = {}  # of sequences without a usable last mask
        self._drafted: dict[int, MaskRows] = {}  # the masks after the last drafts of sequences

    def compile(
        self,
        seq_id: int,
        constraint: Constraint,
        budget: int,
        ready: Callable[[int], None],
        limits: OutputLimits | None = None,
        prompt: Sequence[int] = (),
    ) -> None:
        """Start to compile; `ready(seq_id)` is called, from any thread, once `open` may be called.

        `budget` is the most tokens of the output, which `limits` may reduce; `prompt` is the prompt of the output.
        """
        try:
            future = guarded(self._compiler.submit, constraint)
        except MatcherFault as fault:
            future = Future()
            future.set_exception(MatcherFault(fault.failure))
        self._compiling[seq_id] = _Compiling(constraint, future, budget, limits, prompt)
        future.add_done_callback(lambda _: ready(seq_id))

    def open(self, seq_id: int) -> Opening | Failure | None:
        """Create the matcher of a sequence's output, which has accepted the tokens that every output begins with.

        None if the sequence has ended; a failure if its constraint cannot be used.
        """
        compiling = self._compiling.pop(seq_id, None)
        if compiling is None:
            return None
        try:
            # Not raised: the traceback would hold this frame, and with it the future that holds the error, a cycle.
            refused = guarded(compiling.grammar.exception)
            if refused is not None:
                return failure(refused)
            grammar = compiling.grammar.result()
            least = guarded(lambda: grammar.least_tokens)
            budget, watch = _limited(compiling, least, self._texts)
            matcher = BudgetedMatcher(guarded(grammar.matcher), budget, watch, self._clock)
            forced = guarded(matcher.start)
            guarded(_check, matcher, forced, forced, self._end_tokens, self._rows)
            if self._device is not None:
                guarded(self._device.open, seq_id, compiling.constraint, matcher)
            opening = Opening(least, forced, budget if budget < compiling.budget else None)
        except MatcherFault as fault:
            return fault.failure
        self._matchers[seq_id] = matcher
        return opening

    def can_draft(self, seq_id: int) -> bool:
        """Whether `draft` may find drafts: not with masks made on a device, nor for an output that waits."""
        on_device = self._device is not None and seq_id in self._device.sequences
        return not on_device and seq_id not in self._waiting

    def draft(self, seq_id: int, guess: Sequence[int], most: int) -> LegalDrafts:
        """The drafts of a guess of the next tokens of a sequence, at most `most`; none on a device.

        The masks after them are kept for the next plan. A sequence without a constraint may go on by any token but an
        end token.
        """
        matcher = self._matchers.get(seq_id)
        if matcher is None:
            tokens = tuple(takewhile(lambda token: token not in self._end_tokens, guess[:most]))
            return LegalDrafts(tokens, (DraftOrigin.GUESS,) * len(tokens), self._rows[:0])
        if not self.can_draft(seq_id):
            return LegalDrafts((), (), self._rows[:0])
        words, ends = self._rows.shape[1], self._end_tokens
        try:
            found = guarded(
                matcher.charged, legal_drafts, matcher.matcher, guess, most, ends, words
            )
        except MatcherFault as fault:
            self._failures[seq_id] = fault.failure
            return LegalDrafts((), (), self._rows[:0])
        self._drafted[seq_id] = found.rows
        return found

    @contextmanager
    def ahead(self, seq_id: int) -> Iterator[Cursor | None]:
        """A cursor that runs ahead of a sequence's output in its grammar; None without a constraint.

        Not for sequences with masks made on a device. It returns to the end of the output. If that fails, the sequence
        fails in `advance`.
        """
        matcher = self._matchers.get(seq_id)
        cursor = None if matcher is None else Cursor(matcher.matcher)
        try:
            yield cursor
        finally:
            try:
                if cursor is not None:
                    cursor.close()
            except MatcherFault as fault:
                self._failures[seq_id] = fault.failure

    @property
    def hosted(self) -> Set[int]:
        """The sequences with mask rows filled here, by matchers that have accepted all their tokens."""
        device = self._device
        if device is None or not device.sequences:
            return self._matchers.keys()
        return self._matchers.keys() - device.sequences

    def masks(self, plan: Plan) -> Masks:
        """The masks of all constrained sequences that get a token in this step.

        The rows are valid until the step after the next. A sequence with a row that cannot be filled, or allows no
        token, fails in `advance`; its row allows token 0, so that a sampler needs no special case.

        Raises:
            InternalError: a constrained sequence asks for more rows of logits than it has masks after drafts.
        """
        device = NOT_ON_DEVICE if self._device is None else self._device.masks(plan)
        row_of: dict[int, int] = {}
        filled = 0
        self._halves.rotate()
        hosted = self.hosted
        for work in plan.works if hosted else ():
            if work.seq_id not in hosted or not work.logits:
                continue
            after_drafts = self._after_drafts(work)
            row = self._rows[filled]
            row_of[work.seq_id] = filled
            filled += work.logits
            self._rows[filled - len(after_drafts) : filled] = after_drafts
            waits = self._waiting.get(work.seq_id)
            if waits is not None:  # the token sampled next does not count
                row.fill(0)
                allow(row, waits.tokens[0])
                continue
            try:
                guarded(_fill, self._matchers[work.seq_id], row)
            except MatcherFault as fault:
                self._failures[work.seq_id] = fault.failure
                row.fill(0)
                allow(row, 0)
        return Masks(self._rows[:filled], row_of, device.sequences, device.replays)

    def advance(self, sampled: SampledBatch) -> Forced:
        """Advance by the sampled tokens, end tokens included; the forced tokens after them, which are accepted as well.

        A sequence is among the failures if its matcher fails, or refuses a token that its mask allowed. Sequences that
        are not in `sampled` are not advanced: they continue as if no token had been sampled.
        """
        if self._device is None:
            return self._follow(sampled.samples)
        forced, rest = self._device.advance(sampled)
        others = self._follow(rest)
        self._device.retire()
        return Forced(
            {**others.tokens, **forced.tokens},
            {**others.failures, **forced.failures},
            others.instead | forced.instead,
            {**others.looped, **forced.looped},
            others.waiting,
            others.kept,
        )

    def forget(self, changes: Changes) -> None:
        """Drop the matchers of sequences that ended."""
        for change in changes.items:
            if change.finish is not None:
                self._compiling.pop(change.seq_id, None)
                self._matchers.pop(change.seq_id, None)
                self._failures.pop(change.seq_id, None)
                self._drafted.pop(change.seq_id, None)
                self._waiting.pop(change.seq_id, None)
                if self._device is not None:
                    self._device.forget(change.seq_id)

    def check(self, live: set[int]) -> None:
        """Check that only live sequences have a matcher or wait for one.

        Raises:
            InternalError: that is not the case.
        """
        if not self._matchers.keys() | self._compiling.keys() <= live:
            raise InternalError("a sequence that has ended still has a grammar")
        if self._device is not None:
            self._device.check(self._matchers.keys())

    def _follow(self, samples: Sequence[SampledToken]) -> Forced:
        """See `advance`, for the sequences with a matcher here."""
        failures: dict[int, Failure] = {}
        forced: dict[int, tuple[int, ...]] = {}
        instead: set[int] = set()
        looped: dict[int, tuple[int, int]] = {}
        waiting: set[int] = set()
        kept: dict[int, SampledToken] = {}
        for sample in samples:
            matcher = self._matchers.get(sample.seq_id)
            if matcher is None or sample.failure:
                continue
            unmasked = self._failure(sample.seq_id)
            if unmasked is not None:
                failures[sample.seq_id] = unmasked
                continue
            first = self._waiting.pop(sample.seq_id, None)
            sample = first or sample
            try:
                followed = guarded(matcher.follow_for, sample.tokens, self._search_s)
                if followed is not None:
                    after = sample.tokens + followed.tokens
                    guarded(_check, matcher, after, followed.tokens, self._end_tokens, self._rows)
            except MatcherFault as fault:
                failures[sample.seq_id] = fault.failure
                continue
            if followed is None:
                self._waiting[sample.seq_id] = sample
                waiting.add(sample.seq_id)
                continue
            if first is not None:
                kept[sample.seq_id] = first
            if followed.tokens:
                forced[sample.seq_id] = followed.tokens
            if followed.instead:
                instead.add(sample.seq_id)
            if followed.looped is not None:
                looped[sample.seq_id] = followed.looped
        return Forced(forced, failures, frozenset(instead), looped, frozenset(waiting), kept)

    @property
    def _rows(self) -> MaskRows:
        """The memory of the mask rows of this step."""
        return self._halves[0]

    def _after_drafts(self, work: Work) -> MaskRows:
        """The masks of the rows of logits after the first."""
        count = work.logits - 1
        rows = self._drafted.get(work.seq_id, self._rows[:0]) if count else self._rows[:0]
        if len(rows) < count:
            raise InternalError(f"sequence {work.seq_id} asks for {work.logits} masks")
        return rows[:count]

    def _failure(self, seq_id: int) -> Failure | None:
        """Why a sequence had no mask, or could not return from the device; returned once."""
        if self._failures and seq_id in self._failures:
            return self._failures.pop(seq_id)
        return None if self._device is None else self._device.failure(seq_id)


def _check(
    matcher: BudgetedMatcher,
    tokens: tuple[int, ...],
    forced: tuple[int, ...],
    end_tokens: frozenset[int],
    rows: MaskRows,
) -> None:
    """Check that forced tokens exist in mask rows like these, and that a grammar ends with an end token.

    `tokens` are the last ones that the matcher has accepted, `forced` those of them that were forced.
    """
    width = 8 * rows.itemsize * rows.shape[1]
    if forced and not 0 <= min(forced) <= max(forced) < width:
        raise MatcherFault(broken("the grammar forced a token that does not exist"))
    if matcher.matcher.finished and not (tokens and tokens[-1] in end_tokens):
        raise MatcherFault(broken("the grammar ended without an end token"))


def _fill(matcher: BudgetedMatcher, row: MaskRow) -> None:
    matcher.fill(row)
    if not row.any():
        raise MatcherFault(broken("no token is legal, and the output is not complete"))


def _limited(
    compiling: _Compiling, least: int | None, texts: Sequence[bytes | None]
) -> tuple[int, LoopWatch | None]:
    """The budget of an output of at least `least` tokens, and its loop detection."""
    budget, limits = compiling.budget, compiling.limits
    if limits is None:
        return budget, None
    if limits.room is not None and least is not None:
        budget = min(budget, least + limits.room)
    return budget, LoopWatch(texts, compiling.prompt) if texts else None
