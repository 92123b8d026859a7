"""An engine that also computes prompts for engines of other servers.

Does: submit their prompts as requests, and take the deltas of these out of the steps. Does not: connect to other
engines (`memory/prompt_server`), or keep blocks (`memory/exported_blocks`).
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..errors import EngineError, EngineStopped
from ..memory.prompt_messages import PromptOrder
from ..metrics import Snapshot
from ..types import Delta, Request
from .assembly import Steppable


@dataclass(slots=True)
class PromptRequest:
    """A `Computation`: the end of a request. `over` is called then."""

    over: Callable[[], None]
    cached: int = 0
    has_ended: bool = False

    def end(self, cached: int = 0) -> None:
        """Note the end, and the tokens that were not computed."""
        self.cached, self.has_ended = cached, True
        self.over()


class PromptRequests:
    """A `Steppable` over an engine, and its `Prompts`."""

    def __init__(self, engine: Steppable) -> None:
        self._engine = engine
        self._prompts: dict[str, PromptRequest] = {}
        self._accepts = True

    @contextmanager
    def compute(self, order: PromptOrder, over: Callable[[], None]) -> Iterator[PromptRequest]:
        """See `Prompts`. A prompt that the engine refuses is over at once."""
        name, prompt = f"prompt-{secrets.token_hex(12)}", PromptRequest(over)
        self._prompts[name] = prompt
        try:
            if not self._accepts:
                raise EngineStopped("the engine is being restarted")
            self._engine.submit(order.request(name))
        except EngineError:
            self._prompts.pop(name, None)
            prompt.end()
        try:
            yield prompt
        finally:
            if not prompt.has_ended:
                self._engine.abort(name)

    def refuse(self) -> None:
        """Compute no further prompts."""
        self._accepts = False

    def submit(self, request: Request) -> None:
        """See `Steppable`."""
        self._engine.submit(request)

    def abort(self, request_id: str) -> None:
        """See `Steppable`."""
        self._engine.abort(request_id)

    def step(self) -> list[Delta]:
        """See `Steppable`; without the deltas of prompts."""
        deltas = self._engine.step()
        if not self._prompts:
            return deltas
        others = [delta for delta in deltas if delta.request_id not in self._prompts]
        for delta in deltas:
            if delta.finish is not None:
                prompt = self._prompts.pop(delta.request_id, None)
                if prompt is not None:
                    prompt.end(0 if delta.usage is None else delta.usage.cached_tokens)
        return others

    @property
    def has_work(self) -> bool:
        """See `Steppable`."""
        return self._engine.has_work

    @property
    def open_requests(self) -> int:
        """See `Steppable`."""
        return self._engine.open_requests

    def wait(self, timeout_s: float | None = None) -> None:
        """See `Steppable`."""
        self._engine.wait(timeout_s)

    def metrics(self) -> Snapshot:
        """See `Steppable`."""
        return self._engine.metrics()

    def check(self) -> None:
        """See `Steppable`."""
        self._engine.check()
