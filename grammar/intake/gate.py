"""The gate for constraints: examines each constraint once and caches the verdict.

Does: share one examination among all callers that wait for it, bound the number of waiting constraints, cache verdicts
in memory and on disk. Does not: examine (`isolation` for untrusted constraints, `verdict` in this process), compile for
use (`grammar_cache`).
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from ..contract.constraint import Constraint
from ..contract.errors import CompilerBusy
from .verdict import Verdict
from .verdict_store import Store

_CUT_OFF_S: Final = 60.0  # time until a cut-off examination is tried again


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLimits:
    """Bounds on examinations. `workers`: the threads that examine, one constraint at a time each.

    At most `most_waiting` constraints are examined or wait, none waits longer than `patience_s`. A stored verdict is
    used if it took at most `most_seconds` of processor time. Verdicts in memory take at most `remembered_bytes`.
    """

    workers: int = 2
    most_waiting: int = 256
    patience_s: float = 10.0
    most_seconds: float = float("inf")
    remembered_bytes: int = 32 << 20


_DEFAULT_LIMITS: Final = GateLimits()


class VerdictCache:
    """The verdicts of one function `examine`. Thread-safe. Beyond `limits`, constraints fail with `CompilerBusy`."""

    def __init__(
        self,
        examine: Callable[[Constraint], Verdict],
        *,
        store: Store | None = None,
        limits: GateLimits = _DEFAULT_LIMITS,
    ) -> None:
        self._examine = examine
        self._store = store
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="admission")
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[Verdict, float]] = OrderedDict()  # with expiry time
        self._known_bytes = 0
        self._running: dict[str, Future[Verdict]] = {}
        self._closed = False

    def submit(self, constraint: Constraint) -> Future[Verdict]:
        """The verdict on a constraint, as a future that other callers may share. It is the same for every document.

        It fails with `CompilerBusy` if too many constraints are waiting, and with the error of an examination that
        fails.
        """
        constraint = constraint.about(None)
        key = constraint.key
        future: Future[Verdict] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            known = self._recall(key)
            if known is not None:
                future.set_result(known)
                return future
            if key in self._running:
                return self._running[key]
            if self._closed or len(self._running) >= self._limits.most_waiting:
                future.set_exception(_busy())
                return future
            self._running[key] = future
            self._pool.submit(self._find, key, constraint, future, time.monotonic())
        return future

    def admit(self, constraint: Constraint) -> Verdict:
        """Wait for the verdict on a constraint; return it if the constraint is accepted.

        Raises:
            GrammarError: the constraint is refused, or too many are waiting.
        """
        verdict = self.submit(constraint).result()
        if verdict.error is not None:
            raise verdict.error
        return verdict

    def warm(self, constraints: Iterable[Constraint]) -> None:
        """Examine constraints one by one, and only while no other examination is pending. Blocks until done."""
        for constraint in constraints:
            while self._running and not self._closed:
                time.sleep(0.05)
            if self._closed:
                return
            self.submit(constraint).exception()

    def close(self) -> None:
        """Refuse new constraints, fail the waiting ones with `CompilerBusy`, wait for running examinations."""
        with self._lock:
            self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            waiting = list(self._running.values())
            self._running.clear()
        for future in waiting:
            future.set_exception(_busy())

    def _find(
        self, key: str, constraint: Constraint, future: Future[Verdict], since: float
    ) -> None:
        try:
            verdict = self._store.get(constraint) if self._store else None
            if verdict is None or verdict.seconds > self._limits.most_seconds:
                if self._closed or time.monotonic() - since > self._limits.patience_s:
                    raise _busy()
                verdict = self._examine(constraint)
                if self._store is not None and verdict.final:
                    self._store.put(constraint, verdict)
        except BaseException as error:
            with self._lock:
                self._running.pop(key, None)
            future.set_exception(error)
            raise
        with self._lock:
            self._running.pop(key, None)
            self._remember(key, verdict)
        future.set_result(verdict)

    def _recall(self, key: str) -> Verdict | None:
        found = self._known.get(key)
        if found is None:
            return None
        if found[1] < time.monotonic():
            self._forget(key)
            return None
        self._known.move_to_end(key)
        return found[0]

    def _remember(self, key: str, verdict: Verdict) -> None:
        until = float("inf") if verdict.final else time.monotonic() + _CUT_OFF_S
        self._known[key] = verdict, until
        self._known_bytes += verdict.size_bytes
        while self._known_bytes > self._limits.remembered_bytes:
            self._forget(next(iter(self._known)))

    def _forget(self, key: str) -> None:
        self._known_bytes -= self._known.pop(key)[0].size_bytes


def _busy() -> CompilerBusy:
    return CompilerBusy("too many new schemas are waiting to be compiled; try again later")
