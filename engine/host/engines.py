"""All engines of a service as one process uses them, whether it owns them or another process does.

Does: put an owner, where there is one, a link and an attachment for each engine together; start and close them in
order. Does not: choose an engine for a request (`service/routing`).
"""

from collections.abc import Sequence
from typing import Self

from .attachment import Attachment
from .engine_link import EngineLink
from .status import EngineAddress
from .supervision import Supervision
from .supervisor import Launch, Watch


class Engines:
    """The engines of one owner, attached to by this process. For one event loop; call `start` first."""

    def __init__(self, owner: Supervision | EngineAddress, count: int) -> None:
        self._owner = owner
        self._link = EngineLink(count)
        self.attachments = tuple(Attachment(self._link, index) for index in range(count))

    @classmethod
    def owned(cls, launches: Sequence[Launch], watch: Watch | None = None) -> Self:
        """Engines of this process, one for each launch: it starts them, and ends them in `close`."""
        return cls(Supervision(launches, watch), len(launches))

    @classmethod
    def shared(cls, address: EngineAddress) -> Self:
        """Engines that another process owns."""
        return cls(address, address.engines)

    async def start(self) -> None:
        """Start the processes if they are this process's own, and connect; returns before models are loaded."""
        owner = self._owner
        if isinstance(owner, Supervision):
            owner.start()
            owner = owner.address
        self._link.start(owner)

    async def restart(self) -> None:
        """Restart all engines, one after the other, each after its open requests; returns when all are restarted.

        Raises:
            EngineStopped: the engines are closed.
        """
        await self._link.restart()

    async def close(self) -> None:
        """End every request of this process in flight, and the engines if they are its own; safe to call twice."""
        for engine in self.attachments:
            engine.close()
        self._link.close()
        if isinstance(self._owner, Supervision):
            await self._owner.close()
