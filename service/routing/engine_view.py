"""Several engines presented as one: state, facts, counters, deaths.

Does: declare the interface of an engine to route to; answer for all engines together. Does not: route (`router`).
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Protocol

from intaglio.engine.api import (
    BlockReport,
    Delta,
    EngineInfo,
    EngineState,
    EngineStatus,
    Lives,
    ModelError,
    Request,
    Snapshot,
)
from intaglio.grammar.api import CacheStats

from .totals import grammars_of, lives_of, metrics_of, state_of


class RoutedEngine(Protocol):
    """One engine; `intaglio.engine.api.Attachment` implements it."""

    @property
    def state(self) -> EngineState:
        """The present state of the engine."""
        ...

    @property
    def status(self) -> EngineStatus:
        """The latest status of the engine from its owner."""
        ...

    @property
    def lives(self) -> Lives:
        """Deaths and restarts so far."""
        ...

    def on_state_change(self, call: Callable[[], None]) -> None:
        """Register `call`, called when the state may have changed."""
        ...

    def on_lives_change(self, call: Callable[[Lives], None]) -> None:
        """Register `call`, called at each death and each restart."""
        ...

    def generate(self, request: Request, *, whole: bool = False) -> AsyncGenerator[Delta, None]:
        """Stream the deltas of one request.

        Raises:
            EngineLost: the engine died; the request may have been the cause.
            EngineStopped: the engine has not computed the request.
        """
        ...

    def refuse_if_quarantined(self, request: Request) -> None:
        """Raises `RequestQuarantined` if the request was in flight at too many deaths."""
        ...

    async def check(self) -> BlockReport:
        """Check the invariants of the engine and report its blocks."""
        ...


class EngineView:
    """A view of some engines, at least one."""

    def __init__(self, engines: Sequence[RoutedEngine]) -> None:
        self._engines = tuple(engines)

    @property
    def state(self) -> EngineState:
        """The state of the best engine."""
        return state_of(engine.state for engine in self._engines)

    @property
    def engines(self) -> tuple[EngineStatus, ...]:
        """The latest status of every engine."""
        return tuple(engine.status for engine in self._engines)

    @property
    def info(self) -> EngineInfo | None:
        """Facts about the loaded model; None until an engine was ready once."""
        return next((status.info for status in self.engines if status.info), None)

    @property
    def fault(self) -> ModelError | None:
        """Why the model is unusable; None while an engine may still serve it."""
        faults = [status.fault for status in self.engines]
        first = faults[0]
        if first is None or not all(faults):
            return None
        return ModelError(first.message, hint=first.hint)

    @property
    def metrics(self) -> Snapshot | None:
        """The sums of the counters of all engines; None before the first report."""
        return metrics_of([status.metrics for status in self.engines if status.metrics])

    @property
    def grammars(self) -> CacheStats | None:
        """The sums of the statistics of all grammar caches; None before the first report."""
        return grammars_of([status.grammars for status in self.engines if status.grammars])

    @property
    def lives(self) -> Lives:
        """Deaths and restarts of all engines."""
        return lives_of([engine.lives for engine in self._engines])

    def on_lives_change(self, call: Callable[[Lives], None]) -> None:
        """Register `call`, which is called on every death and restart of an engine."""
        for engine in self._engines:
            engine.on_lives_change(call)
