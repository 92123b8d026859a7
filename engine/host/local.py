"""An engine in the caller's process, for programs that wait for their results.

Does: build an engine, run batches of requests to their ends, check and close it. Does not: use its own threads; two
threads that call it wait for each other.
"""

import threading
from collections.abc import Generator, Iterable
from itertools import islice
from typing import Self

from ..config import EngineConfig, wait_passively
from ..errors import EngineStopped
from ..metrics import Snapshot
from ..types import Delta, Request
from .assembly import Assembly, Steppable
from .messages import BlockReport, EngineInfo
from .process import report


class LocalEngine:
    """One engine, which steps in the thread of its caller."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._closed = False
        self._lock = threading.Lock()

    @classmethod
    def build(cls, config: EngineConfig) -> Self:
        """Load the model in this process.

        Raises:
            ModelError: the checkpoint cannot be used.
            ConfigError: a setting does not fit it.
        """
        wait_passively()
        from .build_engine import build

        return cls(build(config))

    @property
    def info(self) -> EngineInfo:
        """Facts about the loaded model."""
        return self._assembly.info

    def generate(
        self, requests: Iterable[Request | None], *, at_once: int = 512
    ) -> Generator[Delta, None, None]:
        """Run `requests`; yields their deltas, one with `finish` for each. Closing it early aborts the rest.

        At most `at_once` requests are in the engine at a time; more are drawn from `requests` as these end. A None
        among them means that no request is available now: the engine takes a step before it draws again, or ends if it
        has no open request.

        Raises:
            EngineStopped: the engine was closed, or has failed.
            InvalidRequest: two requests share an id.
        """
        with self._lock:
            engine = self._running()
            source = iter(requests)
            open_ids: set[str] = set()
            try:
                while True:
                    for request in islice(source, at_once - len(open_ids)):
                        if request is None:
                            break
                        engine.submit(request)
                        open_ids.add(request.id)
                    if not open_ids:
                        return
                    if not engine.has_work:
                        engine.wait(1.0)
                    deltas = engine.step()
                    # Before the first is given: the caller may close this generator at any of them.
                    open_ids -= {delta.request_id for delta in deltas if delta.finish is not None}
                    yield from deltas
            finally:
                for request_id in open_ids:
                    engine.abort(request_id)
                while open_ids:
                    ended = {delta.request_id for delta in engine.step() if delta.finish}
                    open_ids -= ended

    def abort(self, request_id: str) -> None:
        """End a request; no effect if it has ended already."""
        self._running().abort(request_id)

    def metrics(self) -> Snapshot:
        """A snapshot of the counters and gauges."""
        return self._running().metrics()

    def check(self) -> BlockReport:
        """Check every invariant and count the blocks."""
        with self._lock:
            return report(self._running(), self.info)

    def close(self) -> None:
        """Accept no more requests and end the threads of the parts; safe to call twice."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._assembly.close()

    def _running(self) -> Steppable:
        if self._closed:
            raise EngineStopped("the engine was closed", hint="build another one")
        return self._assembly.engine
