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
    """The part of `intaglio.engine.loop.Engine` that a host calls; see there for each method."""

    def submit(self, request: Request) -> None:
        """Accept a request. For any thread."""
        ...

    def abort(self, request_id: str) -> None:
        """End a request. For any thread."""
        ...

    def step(self) -> list[Delta]:
        """Run one step; its deltas."""
        ...

    @property
    def has_work(self) -> bool:
        """Whether a step would do something now."""
        ...

    @property
    def open_requests(self) -> int:
        """The number of accepted requests that have not ended."""
        ...

    def wait(self, timeout_s: float | None = None) -> None:
        """Sleep until a step may have something to do, at most `timeout_s` seconds."""
        ...

    def metrics(self) -> Snapshot:
        """Counters and gauges. For any thread."""
        ...

    def check(self) -> None:
        """Raise `InternalError` if an invariant does not hold."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """An engine, its facts and the statistics of its grammar cache. `close` ends threads and processes of its parts.

    `drain` has it refuse what does not come from its host, as that does by itself from now on; for any thread.
    `fault` is the reason why a part outside this process has failed, None while all work. For any thread.
    """

    engine: Steppable
    info: EngineInfo
    grammar_stats: Callable[[], CacheStats]
    close: Callable[[], None]
    fault: Callable[[], str | None] = lambda: None
    drain: Callable[[], None] = lambda: None


Builder = Callable[[bytes], Assembly]
"""Builds an engine from the JSON text of an `EngineConfig`."""
