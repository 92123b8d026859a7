"""The times and token counts of generations, in all protocols.

Does: follow one generation from its start to its end, and report it. Does not: keep histograms (`request_metrics`) or
spans (`tracing`), or run generations.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from intaglio.engine.api import Delta, Finish, Usage

JOB_ROWS = "/v1/jobs"
"""The route of generations for rows of jobs, which no request waits for."""

_route: ContextVar[str] = ContextVar("route", default="other")


def current_route() -> str:
    """The route of the request that is being served: a path pattern, never a path that a client chose."""
    return _route.get()


@contextmanager
def serving(route: str) -> Iterator[None]:
    """Make `route` the current one for the duration of the context, also in tasks that are started within it."""
    token = _route.set(route)
    try:
        yield
    finally:
        _route.reset(token)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A generation that ended. Times are in seconds.

    `first_token_s` runs from the hand-over to the engine to the first tokens; None if there were none. `usage` has the
    engine's own times; None if the engine did not end it, for example because the client disconnected. `begun` and
    `ended` are of `time.time_ns`.
    """

    route: str
    model: str
    prompt_tokens: int
    output_tokens: int
    finish: Finish | None
    first_token_s: float | None
    seconds: float
    usage: Usage | None
    begun_ns: int
    ended_ns: int

    @property
    def seconds_per_token(self) -> float | None:
        """Mean seconds from one token to the next, by the engine's clock; None for fewer than two tokens."""
        if self.usage is None or self.usage.output_tokens < 2:
            return None
        return self.usage.decode_s / (self.usage.output_tokens - 1)


class GenerationObserver(Protocol):
    """Receives the progress and the end of generations.

    Must be quick and must not raise: it is called between a token and its reader.
    """

    def tokens_followed(self, route: str, seconds: float) -> None:
        """Tokens of a streamed generation arrived `seconds` after those before."""
        ...

    def generation_ended(self, generation: Generation) -> None:
        """A generation ended, for any reason."""
        ...


class GenerationWatch:
    """Follows one generation on behalf of its observers."""

    def __init__(
        self, observers: Sequence[GenerationObserver], model: str, prompt_tokens: int
    ) -> None:
        self._observers = observers
        self._model = model
        self._prompt_tokens = prompt_tokens
        self._route = current_route()
        self._begun_ns = time.time_ns()
        self._started = time.perf_counter()
        self._last: float | None = None
        self._first_token_s: float | None = None
        self._output_tokens = 0
        self._final: Delta | None = None

    def add(self, delta: Delta) -> None:
        """Note the next delta."""
        if delta.finish is not None:
            self._final = delta
        if not delta.tokens:
            return
        now = time.perf_counter()
        self._output_tokens += len(delta.tokens)
        if self._last is None:
            self._first_token_s = self._seconds_to_first(delta, now)
        else:
            for observer in self._observers:
                observer.tokens_followed(self._route, now - self._last)
        self._last = now

    def _seconds_to_first(self, delta: Delta, now: float) -> float:
        """One delta with the whole answer has no time of its first token; the engine's clocks do."""
        if delta.usage is None:
            return now - self._started
        return delta.usage.queue_s + delta.usage.prefill_s or now - self._started

    def end(self) -> None:
        """Report the generation. Called once, when it has ended or is not read any more."""
        final = self._final
        usage = None if final is None else final.usage
        generation = Generation(
            route=self._route,
            model=self._model,
            prompt_tokens=self._prompt_tokens,
            output_tokens=self._output_tokens,
            finish=None if final is None else final.finish,
            first_token_s=self._first_token_s,
            seconds=time.perf_counter() - self._started,
            usage=usage,
            begun_ns=self._begun_ns,
            ended_ns=time.time_ns(),
        )
        for observer in self._observers:
            observer.generation_ended(generation)
