"""One request on its way through the engine: what is known, what is computed, and where it stands.

Does: keep the counts and the times, and refuse moves that make no sense. Does not: decide anything; only the scheduler
changes a sequence, through the methods here. The blocks that hold its keys and values belong to `memory.manager`.
"""

from enum import StrEnum

from .errors import InternalError
from .types import Request, Usage


class SeqState(StrEnum):
    """Where a sequence stands. Which moves are legal is said by `MOVES`."""

    WAIT_GRAMMAR = "wait_grammar"  # its constraint is still being compiled
    WAITING = "waiting"  # it can run and holds no blocks
    RUNNING = "running"  # it holds blocks
    FINISHED = "finished"


MOVES: dict[SeqState, frozenset[SeqState]] = {
    SeqState.WAIT_GRAMMAR: frozenset({SeqState.WAITING, SeqState.FINISHED}),
    SeqState.WAITING: frozenset({SeqState.RUNNING, SeqState.FINISHED}),
    SeqState.RUNNING: frozenset({SeqState.WAITING, SeqState.FINISHED}),
    SeqState.FINISHED: frozenset(),
}


class Sequence:
    """Known tokens, and how many of them are computed: their keys and values are in the cache, or will be once the
    plans made so far are carried out.

    There is no prefill and no decode: a step computes some of `pending`, and when nothing is left to compute one more
    token is picked. `awaited` of the picks are not known yet: a device that runs ahead computes them meanwhile.
    `rank` orders sequences, best first; it never changes. Times are seconds of the engine's clock.
    """

    __slots__ = (
        "_admitted",
        "_arrived",
        "_first_pick",
        "awaited",
        "budget_forced",
        "cached",
        "computed",
        "forced",
        "id",
        "preemptions",
        "rank",
        "request",
        "state",
        "tokens",
        "void",
    )

    def __init__(self, seq_id: int, request: Request, rank: tuple[float, int], now: float) -> None:
        self.id = seq_id
        self.request = request
        self.rank = rank
        self.state = SeqState.WAITING if request.constraint is None else SeqState.WAIT_GRAMMAR
        self.tokens = list(request.prompt)
        self.computed = 0
        self.awaited = 0
        self.void = 0
        self.cached = 0
        self.preemptions = 0
        self.forced = 0
        self.budget_forced = False
        self._arrived = now
        self._admitted: float | None = None
        self._first_pick: float | None = None

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

    @property
    def most_computed(self) -> int:
        """The most tokens that may ever be computed: the last one is answered, not computed."""
        return len(self.request.prompt) + self.request.sampling.max_tokens - 1

    def grammar_arrived(self) -> None:
        """The constraint is compiled: from now on the sequence may run."""
        self._move(SeqState.WAITING)

    def admit(self, now: float, computed: int) -> None:
        """Start to run, with the first `computed` tokens already in the cache."""
        self._move(SeqState.RUNNING)
        self.computed = computed
        if self._admitted is None:
            self._admitted = now
            self.cached = computed

    def compute(self, count: int) -> None:
        """A plan computes `count` more tokens; where none is left after them, a pick is awaited."""
        if count > self.pending:
            raise InternalError(
                f"sequence {self.id}: {count} tokens computed, {self.pending} pending"
            )
        self.computed += count
        if self.computed == len(self.tokens) + self.awaited:
            self.awaited += 1

    def append(self, token: int) -> None:
        """One more token is known."""
        self.tokens.append(token)

    def force(self, count: int, *, instead: bool = False) -> None:
        """The last `count` tokens were not picked: the grammar left no choice, or `instead` of a pick, the budget."""
        self.forced += count
        self.budget_forced |= instead

    def picked(self, now: float) -> None:
        """The pick that was awaited longest is there; the first time ends the prefill."""
        self.awaited -= 1
        if self._first_pick is None:
            self._first_pick = now

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
        self._move(SeqState.WAITING)
        self.computed = 0
        self.preemptions += 1

    def finish(self) -> None:
        """Nothing more will happen to this sequence."""
        self._move(SeqState.FINISHED)

    def usage(self, now: float) -> Usage:
        """Counts and times so far. A phase that was not reached took 0 seconds."""
        admitted = now if self._admitted is None else self._admitted
        first_pick = now if self._first_pick is None else self._first_pick
        return Usage(
            prompt_tokens=len(self.request.prompt),
            output_tokens=self.output_tokens,
            forced_tokens=self.forced,
            preemptions=self.preemptions,
            budget_forced=self.budget_forced,
            queue_s=admitted - self._arrived,
            prefill_s=first_pick - admitted,
            decode_s=now - first_pick,
            cached_tokens=self.cached,
        )

    def _move(self, state: SeqState) -> None:
        if state not in MOVES[self.state]:
            raise InternalError(f"sequence {self.id} cannot go from {self.state} to {state}")
        self.state = state
