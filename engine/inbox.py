"""The engine's door for other threads.

Does: take requests, aborts and compiled grammars from any thread, hand them over at the start of a step, and wake a
loop that sleeps. Does not: judge a request; what the scheduler refuses becomes that request's only, final delta.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from threading import TIMEOUT_MAX, Condition

from .errors import EngineStopped, InternalError, InvalidRequest, Refused
from .grammars.constraints import Constraints, Opening
from .schedule.scheduler import Scheduler
from .types import Delta, Failure, Finish, Request, Usage


@dataclass(frozen=True, slots=True)
class _Abort:
    request_id: str


@dataclass(frozen=True, slots=True)
class _GrammarDone:
    seq_id: int


class Inbox:
    """Everything that was said to the engine since its last step, in order; and which requests await their end."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._items: deque[Request | _Abort | _GrammarDone] = deque()
        self._open: dict[str, Request] = {}
        self._closed = False

    @property
    def open_requests(self) -> int:
        """Requests taken whose final delta is not out."""
        return len(self._open)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to deliver."""
        return not self._items

    def submit(self, request: Request) -> None:
        """Take a request. From here on it gets exactly one final delta.

        Raises:
            InvalidRequest: a request with that id is open, or its id is no text.
            EngineStopped: the engine takes no more.
        """
        if not isinstance(request.id, str):
            raise InvalidRequest("id must be of type str", where="id")
        with self._changed:
            if self._closed:
                raise EngineStopped("the engine has stopped")
            if request.id in self._open:
                raise InvalidRequest(f"the id {request.id!r} is in use", where="id")
            self._open[request.id] = request
            self._put(request)

    def abort(self, request_id: str) -> None:
        """End a request; one that has ended already is left alone."""
        with self._changed:
            if request_id in self._open:
                self._put(_Abort(request_id))

    def grammar_done(self, seq_id: int) -> None:
        """A compilation has ended, well or badly."""
        with self._changed:
            self._put(_GrammarDone(seq_id))

    def _put(self, item: Request | _Abort | _GrammarDone) -> None:
        self._items.append(item)
        self._changed.notify_all()

    def wait(self, timeout_s: float | None) -> bool:
        """Sleep until there is something to deliver, at most `timeout_s` seconds; whether there is."""
        with self._changed:
            return self._changed.wait_for(
                lambda: bool(self._items) or self._closed,
                None if timeout_s is None else min(timeout_s, TIMEOUT_MAX),
            )

    def deliver(self, scheduler: Scheduler, constraints: Constraints) -> list[Delta]:
        """Hand everything over, in order; the final deltas of requests that were refused at the door."""
        refused: list[Delta] = []
        while self._items:  # a grammar that is cached is done while its request is handed over
            match self._items.popleft():
                case Request() as request:
                    try:
                        seq_id = scheduler.add(request)
                    except Refused as error:
                        refused.append(_refusal(request, error))
                        continue
                    if request.constraint is not None:
                        budget = request.sampling.max_tokens
                        constraints.compile(
                            seq_id,
                            request.constraint,
                            budget,
                            self.grammar_done,
                            request.limits,
                            request.prompt,
                        )
                case _Abort(request_id):
                    scheduler.abort(request_id)
                case _GrammarDone(seq_id):
                    match constraints.open(seq_id):
                        case Opening(least_tokens, forced, most):
                            scheduler.grammar_ready(seq_id, least_tokens, forced, most)
                        case Failure() as failure:
                            scheduler.grammar_failed(seq_id, failure)
        return refused

    def settle(self, deltas: Iterable[Delta]) -> None:
        """The final ones among `deltas` are about to go out: their ids may be used again.

        Raises:
            InternalError: one of them is not open, so that it would end twice; all stay open.
        """
        ended = [delta.request_id for delta in deltas if delta.finish is not None]
        if not ended:
            return
        with self._changed:
            if len(set(ended)) != len(ended) or not self._open.keys() >= set(ended):
                raise InternalError(f"a request among {ended} ends twice")
            for request_id in ended:
                del self._open[request_id]

    def close(self) -> list[Request]:
        """Take no more; hand back the requests that are still open, which now belong to whoever closes."""
        with self._changed:
            self._closed = True
            left = list(self._open.values())
            self._open.clear()
            self._items.clear()
            self._changed.notify_all()
            return left


def _refusal(request: Request, error: Refused) -> Delta:
    return Delta(
        request_id=request.id,
        finish=Finish.ERROR,
        usage=unserved(request),
        error=Failure(error.code, error.message, error.hint, error.retryable),
    )


def unserved(request: Request) -> Usage:
    """The usage of a request that was never admitted, so that its prompt may be anything."""
    prompt: object = request.prompt
    return Usage(prompt_tokens=len(prompt) if isinstance(prompt, tuple) else 0, output_tokens=0)
