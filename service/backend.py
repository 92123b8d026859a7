"""What the routes need of an engine, wherever it runs.

Does: say the protocol; `intaglio.engine.api.EngineClient` is the implementation. Does not: hold one.
"""

from collections.abc import AsyncGenerator, Callable
from typing import Protocol

from ..engine.api import (
    BlockReport,
    Delta,
    EngineInfo,
    EngineState,
    Lives,
    ModelError,
    Request,
    Snapshot,
)
from ..grammar.api import CacheStats


class Backend(Protocol):
    """An engine as one event loop sees it."""

    @property
    def state(self) -> EngineState:
        """Where it stands now."""
        ...

    @property
    def info(self) -> EngineInfo | None:
        """What is loaded; None until it was ready once."""
        ...

    @property
    def fault(self) -> ModelError | None:
        """Why it is unusable, where it is."""
        ...

    @property
    def metrics(self) -> Snapshot | None:
        """The newest counters; None before the first."""
        ...

    @property
    def grammars(self) -> CacheStats | None:
        """What became of the grammars, by the newest count; None before the first."""
        ...

    @property
    def lives(self) -> Lives:
        """How often the engine died, and how often another took its place."""
        ...

    def when_lives_change(self, call: Callable[[Lives], None]) -> None:
        """Have `call` made whenever that changes."""
        ...

    async def start(self) -> None:
        """Begin to load; returns at once."""
        ...

    async def until_ready(self) -> EngineInfo:
        """Wait until requests are taken.

        Raises:
            ModelError: that will never be.
        """
        ...

    def generate(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Stream one request. Closing it early aborts the request.

        Raises:
            EngineStopped: the engine is not ready or has died.
        """
        ...

    async def check(self) -> BlockReport:
        """Invariants and blocks of the engine."""
        ...

    async def close(self) -> None:
        """End the engine and every request in flight."""
        ...
