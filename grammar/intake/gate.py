"""The door for constraints: each is examined once, however many ask, and what came out is remembered.

Does: share one examination among all who wait for it, bound how many wait, remember verdicts in memory and on disk.
Does not: examine (`isolation` for constraints of strangers, `verdict` in this process), compile for use (`cache`).
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from ..contract.constraint import Constraint
from ..contract.errors import CompilerBusy
from .verdict import Verdict
from .verdict_store import Store

_REMEMBERED_BYTES: Final = 32 << 20
_CUT_OFF_S: Final = 60.0  # so long a constraint that was cut off is not tried again


class VerdictCache:
    """Verdicts of one way to examine, `examine`, which is called from `workers` threads.

    At most `most_waiting` constraints wait for their turn, none longer than `patience_s`; others are refused as
    `CompilerBusy`. Verdicts of the store count where they took no more than `most_seconds` of processor time.
    """

    def __init__(
        self,
        examine: Callable[[Constraint], Verdict],
        *,
        store: Store | None = None,
        workers: int = 2,
        most_waiting: int = 256,
        patience_s: float = 10.0,
        most_seconds: float = float("inf"),
        remembered_bytes: int = _REMEMBERED_BYTES,
    ) -> None:
        self._examine = examine
        self._store = store
        self._most_waiting = most_waiting
        self._patience = patience_s
        self._most_seconds = most_seconds
        self._remembered_bytes = remembered_bytes
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="admission")
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[Verdict, float]] = OrderedDict()  # until when
        self._known_bytes = 0
        self._running: dict[str, Future[Verdict]] = {}
        self._closed = False

    def submit(self, constraint: Constraint) -> Future[Verdict]:
        """The verdict on a constraint, as a future that others may wait for as well.

        It fails with `CompilerBusy` where too many wait, and with what is wrong where examining fails.
        """
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
            if self._closed or len(self._running) >= self._most_waiting:
                future.set_exception(_busy())
                return future
            self._running[key] = future
            self._pool.submit(self._find, key, constraint, future, time.monotonic())
        return future

    def admit(self, constraint: Constraint) -> Verdict:
        """Wait for the verdict on a constraint that can be used.

        Raises:
            GrammarError: it cannot, or too many wait.
        """
        verdict = self.submit(constraint).result()
        if verdict.error is not None:
            raise verdict.error
        return verdict

    def warm(self, constraints: Iterable[Constraint]) -> None:
        """Examine these, one after the other, while nobody else asks for anything. Returns when it is done."""
        for constraint in constraints:
            while self._running and not self._closed:
                time.sleep(0.05)
            if self._closed:
                return
            self.submit(constraint).exception()

    def close(self) -> None:
        """Take nothing more; those that wait are told `CompilerBusy`. What is examined now is waited for."""
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
            if verdict is None or verdict.seconds > self._most_seconds:
                if self._closed or time.monotonic() - since > self._patience:
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
        while self._known_bytes > self._remembered_bytes:
            self._forget(next(iter(self._known)))

    def _forget(self, key: str) -> None:
        self._known_bytes -= self._known.pop(key)[0].size_bytes


def _busy() -> CompilerBusy:
    return CompilerBusy("too many new schemas wait to be compiled; try again")
