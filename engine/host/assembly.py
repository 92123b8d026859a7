"""A built engine as its host sees it.

Does: define the protocol of an engine that a host drives, and the message from the builder to the host. Does not: build
or drive an engine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from intaglio.grammar.api import CacheStats

from ..metrics import Snapshot
from ..types import Delta, Request
from .messages import EngineInfo


class Steppable(Protocol):
    """What is driven: `intaglio.engine.loop.Engine`, or a double of it. It says what each of these promises."""

    def submit(self, request: Request) -> None:
        """From any thread."""
        ...

    def abort(self, request_id: str) -> None:
        """From any thread."""
        ...

    def step(self) -> list[Delta]:
        """Everything that one step did."""
        ...

    @property
    def has_work(self) -> bool:
        """Whether a step would do something now."""
        ...

    @property
    def open_requests(self) -> int:
        """Requests taken that have not ended."""
        ...

    def wait(self, timeout_s: float | None = None) -> None:
        """Sleep until something arrives, at most so long."""
        ...

    def metrics(self) -> Snapshot:
        """From any thread."""
        ...

    def check(self) -> None:
        """Raise `InternalError` where an invariant is broken."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """An engine with what its host has to know of it. `close` ends its threads."""

    engine: Steppable
    info: EngineInfo
    grammar_stats: Callable[[], CacheStats]
    close: Callable[[], None]


Builder = Callable[[bytes], Assembly]
"""Builds an engine from the JSON text of an `EngineConfig`."""
