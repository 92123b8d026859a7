"""The layer of a backend that reports generations to observers.

Does: report the generations of all handlers. Does not: change requests or deltas.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from intaglio.engine.api import (
    Delta,
    Request,
)

from ..observability.generations import GenerationObserver, GenerationWatch
from .backend import Backend
from .backend_layer import BackendLayer


class ObservedBackend(BackendLayer):
    """A backend that reports every generation to observers."""

    def __init__(self, engine: Backend, observers: Sequence[GenerationObserver]) -> None:
        super().__init__(engine)
        self._observers = tuple(observers)

    async def generate(
        self, request: Request, *, whole: bool = False
    ) -> AsyncGenerator[Delta, None]:
        """Stream the deltas of one request, as `Backend` does, and report its end to the observers."""
        info = self._engine.info
        watch = GenerationWatch(
            self._observers, "" if info is None else info.model, len(request.prompt)
        )
        try:
            async with aclosing(self._engine.generate(request, whole=whole)) as deltas:
                async for delta in deltas:
                    watch.add(delta)
                    yield delta
        finally:
            watch.end()
