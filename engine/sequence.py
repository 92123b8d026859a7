"""One request on its way through the engine: what is known, what is computed, and where it stands.

Does: keep the counts and the times, and refuse moves that make no sense. Does not: decide anything; only the scheduler
changes a sequence, through the methods here. The blocks that hold its keys and values belong to `memory.manager`.
"""

from dataclasses import dataclass
from enum import StrEnum

from .errors import InternalError
from .types import Cut, CutReason, Request, Usage


class SeqState(StrEnum):
    """Where a sequence stands. Which moves are legal is said by `MOVES`."""

    WAIT_GRAMMAR = "wait_grammar"  # its constraint is still being compiled
    WAITING = "waiting"  # it can run and holds no blocks
    RUNNING = "running"  # it holds blocks
    FINISHED = "finished"

    def to(self, state: "SeqState") -> "SeqState":
        """`state`, if that move is legal. Raises `InternalError` if not."""
        if state not in MOVES[self]:
            raise InternalError(f"a sequence cannot go from {self} to {state}")
        return state


MOVES: dict[SeqState, frozenset[SeqState]] = {
    SeqState.WAIT_GRAMMAR: frozenset({SeqState.WAITING, SeqState.FINISHED}),
    SeqState.WAITING: frozenset({SeqState.RUNNING, SeqState.FINISHED}),
    SeqState.RUNNING: frozenset({SeqState.WAITING, SeqState.FINISHED}),
    SeqState.FINISHED: frozenset(),
}


@dataclass(slots=True)
class Record:
    """What has happened to a sequence so far: counts, and times in seconds of the engine's clock."""

    arrived: float
    admitted: float | None = None
    first_pick: float | None = None
    cached: int = 0
    preemptions: int = 0
    forced: int = 0
    budget: int = 0
    cuts: tuple[Cut, ...] = ()

    def force(self, count: int) -> None:
        """The last `count` tokens were not picked."""
        self.forced += count

    def cut(self, reason: CutReason, begin: int, end: int) -> None:
        """The tokens of the output from `begin` up to `end` have ended values early."""
        self.cuts += (Cut(reason, begin, end),)

    def usage(self, prompt_tokens: int, output_tokens: int, now: float) -> Usage:
        """Counts and times. A phase that was not reached took 0 seconds."""
        admitted = now if self.admitted is None else self.admitted
        first_pick = now if self.first_pick is None else self.first_pick
        return Usage(
            prompt_tokens=prompt_tokens,
            output_tokens=output_tokens,
            forced_tokens=self.forced,
            preemptions=self.preemptions,
            budget_forced=any(cut.reason is CutReason.BUDGET for cut in self.cuts),
            queue_s=admitted - self.arrived,
            prefill_s=first_pick - admitted,
            decode_s=now - first_pick,
            cached_tokens=self.cached,
            budget=self.budget,
            cuts=self.cuts,
        )


class Sequence:
    """Known tokens, and how many of them are computed: their keys and values are in the cache, or will be once the
    plans made so far are carried out.

    There is no prefill and no decode: a step computes some of `pending`, and when nothing is left to compute one more
    token is picked. `awaited` of the picks are not known yet: a device that runs ahead computes them meanwhile.
    `rank` orders sequences, best first. `most_computed` is the most tokens that may ever be computed: the last one is
    answered, not computed. Neither ever changes.
    """

    __slots__ = (
        "awaited",
        "computed",
        "id",
        "most_computed",
        "rank",
        "record",
        "request",
        "state",
        "tokens",
        "void",
    )

    def __init__(self, seq_id: int, request: Request, rank: tuple[float, int], now: float) -> None:
        self.id = seq_id
        self.request = request
        self.rank = rank
        self.most_computed = len(request.prompt) + request.sampling.max_tokens - 1
        self.state = SeqState.WAITING if request.constraint is None else SeqState.WAIT_GRAMMAR
        self.tokens = list(request.prompt)
        self.computed = 0
        self.awaited = 0
        self.void = 0
        self.record = Record(now, budget=request.sampling.max_tokens)

    @property
    def known(self) -> int:
        """Tokens known: prompt, picked and forced."""
        return len(self.tokens)

    @property
    def pending(self) -> int:
        """Tokens known or awaited, and not computed."""
        return len(self.tokens) + self.awaited - self.computed

    @property
    def output_tokens(self) -> int:
        """Tokens after the prompt, an end token included."""
        return len(self.tokens) - len(self.request.prompt)

    def grammar_arrived(self) -> None:
        """The constraint is compiled: from now on the sequence may run."""
        self.state = self.state.to(SeqState.WAITING)

    def admit(self, now: float, computed: int) -> None:
        """Start to run, with the first `computed` tokens already in the cache."""
        self.state = self.state.to(SeqState.RUNNING)
        self.computed = computed
        if self.record.admitted is None:
            self.record.admitted = now
            self.record.cached = computed

    def compute(self, count: int) -> None:
        """A plan computes `count` more tokens; where none is left after them, a pick is awaited."""
        end, last = self.computed + count, len(self.tokens) + self.awaited
        if end > last:
            raise InternalError(
                f"sequence {self.id}: {count} tokens computed, {self.pending} pending"
            )
        self.computed = end
        if end == last:
            self.awaited += 1

    def append(self, token: int) -> None:
        """One more token is known."""
        self.tokens.append(token)

    def picked(self, now: float) -> None:
        """The pick that was awaited longest is there; the first time ends the prefill."""
        self.awaited -= 1
        if self.record.first_pick is None:
            self.record.first_pick = now

    def overtake(self) -> None:
        """More became known than one pick: what is being picked after that pick alone will be void."""
        self.void += self.awaited
        self.awaited = 0

    def dismiss(self) -> None:
        """A void pick is there."""
        if not self.void:
            raise InternalError(
                f"sequence {self.id}: a token was picked in the middle of the known"
            )
        self.void -= 1

    def preempt(self) -> None:
        """Give up everything computed, keep everything known, and wait again."""
        self.state = self.state.to(SeqState.WAITING)
        self.computed = 0
        self.record.preemptions += 1

    def finish(self) -> None:
        """Nothing more will happen to this sequence."""
        self.state = self.state.to(SeqState.FINISHED)

    def usage(self, now: float) -> Usage:
        """Counts and times so far; see `Record.usage`."""
        return self.record.usage(len(self.request.prompt), self.output_tokens, now)
