"""A sequence: one request in the engine, with its known, computed and in-flight tokens and its state.

Does: keep counts and times, resolve the sampled tokens of plans in flight, refuse illegal transitions. Does not:
decide; only the scheduler changes a sequence, through the methods here. The blocks that hold its keys and values belong
to `memory.manager`.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from .errors import InternalError
from .plan import PLACEHOLDER
from .types import Cut, CutReason, Finish, Request, Usage


class SeqState(StrEnum):
    """The state of a sequence. `MOVES` lists the legal transitions."""

    WAIT_GRAMMAR = "wait_grammar"  # its constraint is still being compiled
    WAIT_KV = "wait_kv"  # another engine computes its prompt, or sends the keys and values
    WAITING = "waiting"  # it can run and holds no blocks
    RUNNING = "running"  # it holds blocks
    FINISHED = "finished"

    def to(self, state: "SeqState") -> "SeqState":
        """`state`, if that transition is legal. Raises `InternalError` if not."""
        if state not in MOVES[self]:
            raise InternalError(f"a sequence cannot go from {self} to {state}")
        return state


MOVES: dict[SeqState, frozenset[SeqState]] = {
    SeqState.WAIT_GRAMMAR: frozenset({SeqState.WAIT_KV, SeqState.WAITING, SeqState.FINISHED}),
    SeqState.WAIT_KV: frozenset({SeqState.WAITING, SeqState.FINISHED}),
    SeqState.WAITING: frozenset({SeqState.WAIT_KV, SeqState.RUNNING, SeqState.FINISHED}),
    SeqState.RUNNING: frozenset({SeqState.WAITING, SeqState.FINISHED}),
    SeqState.FINISHED: frozenset(),
}


@dataclass(slots=True)
class Record:
    """The history of a sequence: counts, and times in seconds of the engine's clock.

    `accepted` counts output tokens computed as drafts. `least` and `likely` are lengths of its output, shortest and
    expected; 0 and None if unknown. `charge` is what its tenant pays for its start (`schedule.tenant_turns`).
    """

    arrived: float
    admitted: float | None = None
    first_sample: float | None = None
    cached: int = 0
    preemptions: int = 0
    forced: int = 0
    budget: int = 0
    cuts: tuple[Cut, ...] = ()
    least: int = 0
    likely: int | None = None
    charge: float = 0.0
    accepted: int = 0

    def token_sampled(self, now: float) -> None:
        """Record that a sampled token was accepted; the first one ends the prefill."""
        if self.first_sample is None:
            self.first_sample = now

    def force(self, count: int) -> None:
        """Record that the last `count` tokens were forced."""
        self.forced += count

    def accept(self, count: int) -> None:
        """Record that `count` drafts were accepted."""
        self.accepted += count

    def cut(self, reason: CutReason, begin: int, end: int) -> None:
        """Record that the output tokens from `begin` up to `end` ended values early."""
        self.cuts += (Cut(reason, begin, end),)

    def usage(self, prompt_tokens: int, output_tokens: int, now: float) -> Usage:
        """Counts and times. A phase that was not reached took 0 seconds."""
        admitted = now if self.admitted is None else self.admitted
        first_sample = now if self.first_sample is None else self.first_sample
        return Usage(
            prompt_tokens=prompt_tokens,
            output_tokens=output_tokens,
            forced_tokens=self.forced,
            preemptions=self.preemptions,
            budget_forced=any(cut.reason is CutReason.BUDGET for cut in self.cuts),
            queue_s=admitted - self.arrived,
            prefill_s=first_sample - admitted,
            decode_s=now - first_sample,
            cached_tokens=self.cached,
            budget=self.budget,
            cuts=self.cuts,
            accepted_tokens=self.accepted,
        )


class Resolution(Enum):
    """The fate of a sampled token when it is read."""

    ACCEPTED = auto()  # the next token of its sequence
    STALE = auto()  # another token is known at its position: it is dropped


ACCEPTED, STALE = Resolution  # bound once: they are compared for every sampled token
_PLACEHOLDERS = (PLACEHOLDER,)


@dataclass(slots=True)
class InFlight:
    """The tokens of one sequence that plans sample and that are not read yet.

    `samples` counts them, stale ones included. `end` is the number of tokens known or in flight: a plan assumes that
    each step in flight adds one token. Where a step adds more (tokens that the grammar forces), a later token in flight
    has a position that is known by the time it is read: it is stale.
    """

    end: int
    samples: int = 0


class Sequence:
    """The known tokens of a request, and the number of computed ones.

    The keys and values of computed tokens are in the cache, or will be once the plans made so far are carried out.
    There is no distinction of prefill and decode: a step computes some of the `pending` tokens, and when none is left
    to compute, one more token is sampled. `rank` orders sequences, best first. `most_computed` is the most tokens that
    may ever be computed: the last token of an output is returned and never computed. Both are constant. With `fetching`
    keys and values of its prompt are on their way from another engine.
    """

    __slots__ = (
        "computed",
        "fetching",
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
        self.fetching = False
        self.record = Record(now, budget=request.sampling.max_tokens)

    @property
    def known(self) -> int:
        """The number of known tokens: prompt, sampled and forced."""
        return len(self.tokens)

    @property
    def pending(self) -> int:
        """Tokens known or in flight that are still to compute; 0 while the last token of the output is in flight."""
        end, most = self.in_flight.end, self.most_computed
        return (end if end < most else most) - self.computed

    @property
    def output_tokens(self) -> int:
        """The number of tokens after the prompt, an end token included."""
        return len(self.tokens) - len(self.request.prompt)

    def wait(self) -> None:
        """Wait to run, or first for contents on their way; its grammar, or its contents, have arrived."""
        self.state = self.state.to(SeqState.WAIT_KV if self.fetching else SeqState.WAITING)

    def admit(self, now: float, computed: int, reused: int | None = None) -> None:
        """Start to run, with the first `computed` tokens already in the cache.

        `reused` of them come from an earlier request, None for all: the others were computed for this one elsewhere.
        """
        self.state = self.state.to(SeqState.RUNNING)
        self.computed = computed
        if self.record.admitted is None:
            self.record.admitted = now
            # Tokens that the grammar forces at the start may be found there, too.
            found = computed if reused is None else reused
            self.record.cached = min(found, len(self.request.prompt))

    def upcoming(self, count: int) -> tuple[tuple[int, ...], int]:
        """The next `count` tokens to compute, and how many rows of logits to make of the last ones.

        The last token is `PLACEHOLDER` where it is in flight. One row is made where nothing is left to compute after
        these tokens, so that the next token is sampled.
        """
        start = self.computed
        end = start + count
        tokens = tuple(self.tokens[start:end])
        if end > len(self.tokens):
            tokens += _PLACEHOLDERS
        return tokens, 1 if end == self.in_flight.end else 0

    def compute(self, count: int) -> None:
        """Count `count` more tokens as computed by a plan; where none is left after them, a token is in flight."""
        end, in_flight = self.computed + count, self.in_flight
        if end > in_flight.end or end > self.most_computed:
            raise InternalError(
                f"sequence {self.id}: {count} tokens computed, {self.pending} pending"
            )
        self.computed = end
        if end == in_flight.end:
            in_flight.end += 1
            in_flight.samples += 1

    def resolve(self, position: int) -> Resolution:
        """Read the oldest token in flight, which was sampled for `position`.

        Raises:
            InternalError: no token is in flight there.
        """
        known, in_flight = len(self.tokens), self.in_flight
        if not in_flight.samples or position > known:
            raise InternalError(
                f"sequence {self.id}: a token was sampled for a position that no plan asked for"
            )
        in_flight.samples -= 1
        return ACCEPTED if position == known else STALE

    def sample_again(self) -> None:
        """Compute the last known token again: the token sampled after it was read, and is not accepted yet.

        A sequence that was preempted meanwhile computes all of them again anyway.

        Raises:
            InternalError: another token is in flight, for a position after it.
        """
        if self.in_flight.samples:
            raise InternalError(f"sequence {self.id}: {self.in_flight.samples} tokens in flight")
        if self.state is SeqState.RUNNING:
            self.computed -= 1
        self.in_flight.end = self.known

    def append(self, token: int) -> None:
        """Add a known token."""
        tokens, in_flight = self.tokens, self.in_flight
        tokens.append(token)
        if in_flight.end < len(tokens):
            in_flight.end += 1

    def preempt(self) -> None:
        """Drop the computed keys and values, keep the known tokens, and wait again."""
        self.state = self.state.to(SeqState.WAITING)
        self.computed = 0
        self.record.preemptions += 1

    def finish(self) -> None:
        """Make the state final."""
        self.state = self.state.to(SeqState.FINISHED)

    def usage(self, now: float) -> Usage:
        """Counts and times so far; see `Record.usage`."""
        return self.record.usage(len(self.request.prompt), self.output_tokens, now)

    def check(self) -> None:
        """Check that the counts agree with one another and with the state.

        Raises:
            InternalError: they do not agree.
        """
        ahead, samples = self.in_flight.end - self.known, self.in_flight.samples
        if (
            not 0 <= ahead <= samples
            or self.pending < (0 if ahead else 1)
            or (self.computed and self.state is not SeqState.RUNNING)
            or (self.state is SeqState.WAIT_KV and not self.fetching)
        ):
            raise InternalError(
                f"sequence {self.id}: {self.computed} of {self.known} computed, {samples} in flight"
            )


def awaits_token(seq: Sequence) -> bool:
    """Whether a plan samples a token of `seq` that is not read yet."""
    return seq.in_flight.samples > 0


def finish_after(seq: Sequence, token: int, end_tokens: frozenset[int]) -> Finish | None:
    """Why `seq` ends with `token`, its last one; None if it continues.

    Under a grammar an end token ends the output, so `ignore_eos` has no effect there. An end token takes precedence
    over a limit: an output is complete if the last token that `max_tokens` allows is an end token.
    """
    sampling = seq.request.sampling
    if token in end_tokens and not (sampling.ignore_eos and seq.request.constraint is None):
        return Finish.STOP
    if token in sampling.stop_token_ids:
        return Finish.STOP
    return Finish.LENGTH if len(seq.tokens) > seq.most_computed else None
