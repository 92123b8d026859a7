"""An engine in a separate process, owned and used by the same event loop.

Does: give one engine the interface of all of them. Does not: share the engine with other processes, or send a
request again that was lost with the engine (`service/routing`).
"""

from collections.abc import AsyncGenerator, Callable

from intaglio.grammar.api import CacheStats

from ..errors import ModelError
from ..metrics import Snapshot
from ..types import Delta, Request
from .engines import Engines
from .messages import BlockReport, EngineInfo
from .status import EngineState, Lives
from .supervisor import Launch, Watch


class EngineClient:
    """An engine in a separate process. For one event loop; call `start` first."""

    def __init__(self, launch: Launch, watch: Watch | None = None) -> None:
        self._engines = Engines.owned((launch,), watch)
        (self._engine,) = self._engines.attachments

    @property
    def state(self) -> EngineState:
        """See `Attachment.state`."""
        return self._engine.state

    @property
    def info(self) -> EngineInfo | None:
        """Facts about the loaded model; None until the engine was ready once."""
        return self._engine.status.info

    @property
    def fault(self) -> ModelError | None:
        """The reason why the engine is unusable; None if it is usable."""
        fault = self._engine.status.fault
        return None if fault is None else ModelError(fault.message, hint=fault.hint)

    @property
    def metrics(self) -> Snapshot | None:
        """The latest counters from the process; None before the first."""
        return self._engine.status.metrics

    @property
    def grammars(self) -> CacheStats | None:
        """The latest statistics of the grammar cache; None before the first."""
        return self._engine.status.grammars

    @property
    def lives(self) -> Lives:
        """See `Attachment.lives`."""
        return self._engine.lives

    def on_lives_change(self, call: Callable[[Lives], None]) -> None:
        """See `Attachment.on_lives_change`."""
        self._engine.on_lives_change(call)

    async def start(self) -> None:
        """Start the process and its supervision; returns before the model is loaded."""
        await self._engines.start()

    async def until_ready(self) -> EngineInfo:
        """See `Attachment.until_ready`."""
        return await self._engine.until_ready()

    def generate(self, request: Request, *, whole: bool = False) -> AsyncGenerator[Delta, None]:
        """See `Attachment.generate`."""
        return self._engine.generate(request, whole=whole)

    async def check(self) -> BlockReport:
        """See `Attachment.check`."""
        return await self._engine.check()

    async def restart(self) -> None:
        """Replace the process by a new one after its open requests; returns when it is ready."""
        await self._engines.restart()

    async def close(self) -> None:
        """End the process and every request in flight; safe to call twice."""
        await self._engines.close()
