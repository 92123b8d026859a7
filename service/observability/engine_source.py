"""The part of a backend that metrics and reports read.

Does: declare the protocol. Does not: submit requests, or start and stop engines (`service/http/backend.py`).
"""

from typing import Protocol

from intaglio.engine.api import EngineInfo, EngineState, Lives, Snapshot
from intaglio.grammar.api import CacheStats


class EngineSource(Protocol):
    """The present state and the latest counters of an engine."""

    @property
    def state(self) -> EngineState:
        """The current state of the engine."""
        ...

    @property
    def info(self) -> EngineInfo | None:
        """Facts about the loaded model; None until the engine was ready once."""
        ...

    @property
    def metrics(self) -> Snapshot | None:
        """The latest counters; None before the first report."""
        ...

    @property
    def grammars(self) -> CacheStats | None:
        """The latest statistics of the grammar cache; None before the first report."""
        ...

    @property
    def lives(self) -> Lives:
        """The number of deaths and restarts of the engine process."""
        ...
