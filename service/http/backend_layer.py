"""The base of layers around a backend: passes every call on, so that a layer defines only the calls that it changes.

Does: pass on. Does not: change requests or deltas.
"""

from collections.abc import AsyncGenerator, Callable

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

from .backend import Backend


class BackendLayer:
    """A backend that passes every call on to another one."""

    def __init__(self, engine: Backend) -> None:
        self._engine = engine

    @property
    def state(self) -> EngineState:
        return self._engine.state

    @property
    def info(self) -> EngineInfo | None:
        return self._engine.info

    @property
    def fault(self) -> ModelError | None:
        return self._engine.fault

    @property
    def metrics(self) -> Snapshot | None:
        return self._engine.metrics

    @property
    def grammars(self) -> CacheStats | None:
        return self._engine.grammars

    @property
    def lives(self) -> Lives:
        return self._engine.lives

    @property
    def engines(self) -> tuple[EngineStatus, ...]:
        return self._engine.engines

    def on_lives_change(self, call: Callable[[Lives], None]) -> None:
        self._engine.on_lives_change(call)

    async def start(self) -> None:
        await self._engine.start()

    async def until_ready(self) -> EngineInfo:
        return await self._engine.until_ready()

    def generate(self, request: Request, *, whole: bool = False) -> AsyncGenerator[Delta, None]:
        return self._engine.generate(request, whole=whole)

    async def check(self) -> BlockReport:
        return await self._engine.check()

    async def restart(self) -> None:
        await self._engine.restart()

    async def close(self) -> None:
        await self._engine.close()
