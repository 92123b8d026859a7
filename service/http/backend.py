"""The interface between the routes and an engine, which may run in another process.

Does: declare the protocol; `intaglio.service.routing.router.EngineRouter` implements it. Does not: create an engine.
"""

from collections.abc import AsyncGenerator, Callable
from typing import Protocol

from intaglio.engine.api import (
    BlockReport,
    Delta,
    EngineInfo,
    EngineStatus,
    Lives,
    ModelError,
    Request,
)

from ..observability.engine_source import EngineSource


class Backend(EngineSource, Protocol):
    """An engine as seen from one event loop."""

    @property
    def fault(self) -> ModelError | None:
        """The reason why the model is unusable; None if it is usable."""
        ...

    @property
    def engines(self) -> tuple[EngineStatus, ...]:
        """Every engine behind this backend."""
        ...

    def on_lives_change(self, call: Callable[[Lives], None]) -> None:
        """Register `call`, which is called on every death and restart of the engine."""
        ...

    async def start(self) -> None:
        """Start to load the model; returns at once."""
        ...

    async def until_ready(self) -> EngineInfo:
        """Wait until the engine accepts requests.

        Raises:
            ModelError: the model is unusable.
        """
        ...

    def generate(self, request: Request, *, whole: bool = False) -> AsyncGenerator[Delta, None]:
        """Stream the deltas of one request, or with `whole` its answer as one delta.

        Closing the generator early aborts the request.

        Raises:
            EngineStopped: the engine is not ready or has died.
        """
        ...

    async def check(self) -> BlockReport:
        """Check the invariants of the engine and report its blocks."""
        ...

    async def restart(self) -> None:
        """Restart all engines, one after the other, each after its open requests; requests wait meanwhile."""
        ...

    async def close(self) -> None:
        """Stop the engine and end every request in flight."""
        ...
