"""The record of deaths and restarts of an engine's process, and of the requests in flight at each death.

Does: remember requests from sending to their end, whether or not their caller still waits; count deaths and restarts;
notify the quarantine. Does not: detect a death (`engine/host/supervisor.py`) or end a stream.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from ..errors import EngineLost
from ..types import Delta, Request
from .quarantine import Quarantine


@dataclass(frozen=True, slots=True)
class Lives:
    """The numbers of deaths and restarts of the engine's process, and of requests that are quarantined.

    `reason` is the cause of the last death, with `lost` requests in flight; `pid` is the present process.
    """

    deaths: int = 0
    restarts: int = 0
    quarantined: int = 0
    reason: str = ""
    lost: int = 0
    pid: int = 0


class LifeRecord:
    """The record of one client's engine. A `run` is the number of a process, from 1."""

    def __init__(self) -> None:
        self._in_flight: dict[str, Request] = {}
        self._quarantine = Quarantine()
        self._lives = Lives()
        self._notify: Callable[[Lives], None] = lambda _: None

    @property
    def lives(self) -> Lives:
        """Deaths and restarts so far."""
        return replace(self._lives, quarantined=self._quarantine.refused)

    def when_changed(self, call: Callable[[Lives], None]) -> None:
        """Register `call`, called at each death and each restart."""
        self._notify = call

    def watch(self, request: Request) -> AbstractAsyncContextManager[None]:
        """See `Quarantine.watch`."""
        return self._quarantine.watch(request)

    def sent(self, request: Request) -> None:
        """Record that a request is in flight."""
        self._in_flight[request.id] = request

    def ended(self, delta: Delta, run: int) -> None:
        """Record the last delta of a request."""
        request = self._in_flight.pop(delta.request_id, None)
        if request is None:
            return
        if delta.error is not None and delta.error.code == EngineLost.code:  # its step failed
            self._quarantine.lost(request, run)
        else:
            self._quarantine.survived(request)

    def ready(self, run: int, pid: int) -> None:
        """Record that a process is ready."""
        self._lives = replace(self._lives, pid=pid)
        if run > 1:
            self._lives = replace(self._lives, restarts=self._lives.restarts + 1)
            self._notify(self.lives)

    def died(self, error: EngineLost, run: int) -> None:
        """Record that a process ended unexpectedly."""
        lost = len(self._in_flight)
        for request in self._in_flight.values():
            self._quarantine.lost(request, run)
        self._in_flight.clear()
        deaths = self._lives.deaths + 1
        self._lives = replace(self._lives, deaths=deaths, reason=error.message, lost=lost, pid=0)
        self._notify(self.lives)
