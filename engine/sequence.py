"""One request on its way through the engine: its known, computed and in-flight tokens, and its state.

Does: keep counts and times, resolve the picks of plans that are in flight, refuse illegal moves. Does not: decide;
only the scheduler changes a sequence, through the methods here. The blocks that hold its keys and values belong to
`memory.manager`.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from .errors import InternalError
from .plan import PLACEHOLDER
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

    def picked(self, now: float) -> None:
        """A pick was accepted; the first one ends the prefill."""
        if self.first_pick is None:
            self.first_pick = now

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


class Resolution(Enum):
    """The fate of a pick once it is read."""

    ACCEPTED = auto()  # the next token of its sequence
    STALE = auto()  # its position became known otherwise: it is dropped


ACCEPTED, STALE = Resolution  # looked up for every pick
_PLACEHOLDERS = (PLACEHOLDER,)


@dataclass(slots=True)
class InFlight:
    """The picks of one sequence that plans ask for and that are not read yet.

    `picks` counts them, stale ones included. `end` is the number of tokens known or in flight: a plan takes each pick
    in flight for the only token that its step adds. Where a step adds more (tokens that the grammar forces), a later
    pick in flight stands at a position that is known by the time it is read: it is stale.
    """

    end: int
    picks: int = 0


class Sequence:
    """Known tokens, and how many of them are computed: their keys and values are in the cache, or will be once the
    plans made so far are carried out.

    There is no prefill and no decode: a step computes some of `pending`, and when nothing is left to compute one more
    token is picked. `rank` orders sequences, best first. `most_computed` is the most tokens that may ever be computed:
    the last one is answered, not computed. Neither ever changes.
    """

    __slots__ = (
        "computed",
        "id",
        "in_flight",
        "most_computed",
        "rank",
        "record",
        "request",
        "state",
        "tokens",
    )

    def __init__(self, seq_id: int, request: Request, rank: tuple[float, int], now: float) -> None:
        self.id = seq_id
        self.request = request
        self.rank = rank
        self.most_computed = len(request.prompt) + request.sampling.max_tokens - 1
        self.state = SeqState.WAITING if request.constraint is None else SeqState.WAIT_GRAMMAR
        self.tokens = list(request.prompt)
        self.computed = 0
        self.in_flight = InFlight(len(self.tokens))
        self.record = Record(now, budget=request.sampling.max_tokens)

    @property
    def known(self) -> int:
        """Tokens known: prompt, picked and forced."""
        return len(self.tokens)

    @property
    def pending(self) -> int:
        """Tokens known or in flight that may be computed and are not; 0 while the last pick is in flight."""
        end, most = self.in_flight.end, self.most_computed
        return (end if end < most else most) - self.computed

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

    def upcoming(self, count: int) -> tuple[tuple[int, ...], int]:
        """The next `count` tokens to compute, and how many rows of logits to make of the last ones.

        The last token is `PLACEHOLDER` where its pick is in flight. One row is made where nothing is left to compute
        after these tokens, so that the next one is to be picked.
        """
        start = self.computed
        end = start + count
        tokens = tuple(self.tokens[start:end])
        if end > len(self.tokens):
            tokens += _PLACEHOLDERS
        return tokens, 1 if end == self.in_flight.end else 0

    def compute(self, count: int) -> None:
        """A plan computes `count` more tokens; where none is left after them, a pick is in flight from now on."""
        end, in_flight = self.computed + count, self.in_flight
        if end > in_flight.end or end > self.most_computed:
            raise InternalError(
                f"sequence {self.id}: {count} tokens computed, {self.pending} pending"
            )
        self.computed = end
        if end == in_flight.end:
            in_flight.end += 1
            in_flight.picks += 1

    def resolve(self, position: int) -> Resolution:
        """Read the pick that is longest in flight: the token at `position`.

        Raises:
            InternalError: no pick is in flight there.
        """
        known, in_flight = len(self.tokens), self.in_flight
        if not in_flight.picks or position > known:
            raise InternalError(
                f"sequence {self.id}: a token was picked in the middle of the known"
            )
        in_flight.picks -= 1
        return ACCEPTED if position == known else STALE

    def append(self, token: int) -> None:
        """One more token is known."""
        tokens, in_flight = self.tokens, self.in_flight
        tokens.append(token)
        if in_flight.end < len(tokens):
            in_flight.end += 1

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

    def check(self) -> None:
        """Counts agree with one another and with the state.

        Raises:
            InternalError: they do not.
        """
        ahead, picks = self.in_flight.end - self.known, self.in_flight.picks
        if (
            not 0 <= ahead <= picks
            or self.pending < (0 if ahead else 1)
            or (self.computed and self.state is not SeqState.RUNNING)
        ):
            raise InternalError(
                f"sequence {self.id}: {self.computed} of {self.known} computed, {picks} in flight"
            )
