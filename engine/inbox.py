"""The queue through which other threads reach the engine.

Does: accept requests, aborts and compiled grammars from any thread, deliver them at the start of a step, and wake a
sleeping loop. Does not: validate a request; a refusal by the scheduler becomes that request's only, final delta.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from threading import TIMEOUT_MAX, Condition

from .adapters import Adapters
from .errors import AdapterUnusable, EngineStopped, InternalError, InvalidRequest, Refused
from .grammars.constraints import Constraints, Opening
from .schedule.scheduler import Scheduler
from .types import AdapterRef, Delta, Failure, Finish, Request, Usage


@dataclass(frozen=True, slots=True)
class _Abort:
    request_id: str


@dataclass(frozen=True, slots=True)
class _GrammarDone:
    seq_id: int


@dataclass(frozen=True, slots=True)
class _Wake:
    """Nothing but the next step."""


@dataclass(frozen=True, slots=True)
class _AdapterRead:
    request_id: str


_Item = Request | _Abort | _GrammarDone | _Wake | _AdapterRead


class Inbox:
    """The messages to the engine since its last step, in order, and the open requests.

    Requests for an adapter that is not in memory are delivered when `adapters` has read it.
    """

    def __init__(self, adapters: Adapters | None = None) -> None:
        self._adapters = adapters
        self._unread: dict[str, Request] = {}  # they wait for their adapters
        self._changed = Condition()
        self._items: deque[_Item] = deque()
        self._open: dict[str, Request] = {}
        self._closed = False

    @property
    def open_requests(self) -> int:
        """The number of accepted requests without a final delta yet."""
        return len(self._open)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to deliver."""
        return not self._items

    def submit(self, request: Request) -> None:
        """Accept a request. From here on it gets exactly one final delta.

        Raises:
            InvalidRequest: a request with that id is open, or its id is not a string.
            EngineStopped: the engine accepts no more requests.
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
        """End a request; no effect if it has ended already."""
        with self._changed:
            if request_id in self._open:
                self._put(_Abort(request_id))

    def grammar_done(self, seq_id: int) -> None:
        """Report that the compilation of a grammar succeeded or failed."""
        with self._changed:
            self._put(_GrammarDone(seq_id))

    def _wake(self) -> None:
        """Have a step run: keys and values of a prompt have arrived from another engine, or will not."""
        with self._changed:
            self._put(_Wake())

    def _adapter_read(self, request_id: str) -> None:
        """Report that the adapter of a request was read, or could not be."""
        with self._changed:
            self._put(_AdapterRead(request_id))

    def _put(self, item: _Item) -> None:
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
        """Deliver all messages, in order; the final deltas of the requests that are refused."""
        refused: list[Delta] = []
        while self._items:  # a grammar that is cached is done while its request is handed over
            match self._items.popleft():
                case Request() as request:
                    refused += self._add(request, scheduler, constraints)
                case _AdapterRead(request_id):
                    waiting = self._unread.pop(request_id, None)
                    if waiting is not None:
                        refused += self._add(waiting, scheduler, constraints)
                case _Abort(request_id):
                    waiting = self._unread.pop(request_id, None)
                    if waiting is not None:
                        refused.append(_aborted(waiting))
                    scheduler.abort(request_id)
                case _Wake():
                    pass
                case _GrammarDone(seq_id):
                    match constraints.open(seq_id):
                        case Opening(least_tokens, forced, most):
                            scheduler.grammar_ready(seq_id, least_tokens, forced, most)
                        case Failure() as failure:
                            scheduler.grammar_failed(seq_id, failure)
        return refused

    def _add(self, request: Request, scheduler: Scheduler, constraints: Constraints) -> list[Delta]:
        """Add a request, or have its adapter read first; its final delta if it is refused."""
        try:
            if not self._has_adapter(request):
                self._unread[request.id] = request
                return []
            seq_id = scheduler.add(request, self._wake)
        except Refused as error:
            return [_refusal(request, error)]
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
        return []

    def _has_adapter(self, request: Request) -> bool:
        """Whether the adapter of a request, if it has one, is in memory.

        Raises:
            AdapterUnusable: it cannot be used.
        """
        if request.adapter is None:
            return True
        if not isinstance(request.adapter, AdapterRef):
            raise InvalidRequest("adapter must be of type AdapterRef", where="adapter")
        if self._adapters is None:
            raise AdapterUnusable(
                "this engine has no places for adapters",
                where="adapter",
                hint="start it with max_adapters=1 or more (INTAGLIO_ENGINE_MAX_ADAPTERS)",
            )
        return self._adapters.hold(request, self._adapter_read)

    def mark_ended(self, deltas: Iterable[Delta]) -> None:
        """Close the requests that end in `deltas`, which are about to be returned: their ids may be used again.

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
                if self._open.pop(request_id).adapter is not None and self._adapters is not None:
                    self._adapters.release(request_id)

    def close(self) -> list[Request]:
        """Accept no more requests; return the open ones, which the caller has to end."""
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


def _aborted(request: Request) -> Delta:
    return Delta(request_id=request.id, finish=Finish.ABORT, usage=unserved(request))


def unserved(request: Request) -> Usage:
    """The usage of a request that was never admitted. Its prompt was not validated: it may be any object."""
    prompt: object = request.prompt
    return Usage(prompt_tokens=len(prompt) if isinstance(prompt, tuple) else 0, output_tokens=0)
