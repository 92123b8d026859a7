"""Compiled grammars, kept: one compilation a constraint, off the caller's thread.

Does: hand out futures, bound memory by evicting what was used least recently, answer waiting requests when a
compilation takes too long. Does not: stop such a compilation. Native code in a thread cannot be killed; the bounds of
`screen` keep it short, and it holds one of `workers` threads until it ends.
"""

import threading
import time
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from .compile import Compiler
from .errors import ConstraintTooLarge, GrammarError
from .matcher import CompiledGrammar
from .spec import Constraint

_ENTRY_BYTES = 1024  # what an entry takes beside its grammar


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Counters since the start, and what is held now. `compile_seconds` is wall time over all compilations."""

    hits: int = 0
    misses: int = 0
    failures: int = 0
    timeouts: int = 0
    evictions: int = 0
    compile_seconds: float = 0.0
    entries: int = 0
    held_bytes: int = 0


class GrammarCache:
    """Grammars of one compiler.

    What a constraint compiles to is always the same, so errors are kept like grammars; only a missed deadline is not.
    `limit_bytes` bounds what is held, `deadline_s` how long a caller waits for a compilation, from `submit` on.
    """

    def __init__(
        self,
        compiler: Compiler,
        *,
        limit_bytes: int = 512 * 1024 * 1024,
        workers: int = 2,
        deadline_s: float = 20.0,
    ) -> None:
        self._compiler = compiler
        self._limit = limit_bytes
        self._deadline = deadline_s
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="grammar")
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[Future[CompiledGrammar], int]] = OrderedDict()
        self._running: dict[str, Future[CompiledGrammar]] = {}
        self._counts: dict[str, float] = {}
        self._closed = False

    def submit(self, constraint: Constraint) -> Future[CompiledGrammar]:
        """The grammar of a constraint, as a future that fails with a GrammarError. It cannot be cancelled: others
        may wait for it.
        """
        key = constraint.key
        with self._lock:
            if self._closed:
                raise RuntimeError("the grammar cache is closed")
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                self._count("hits")
                return kept[0]
            if key in self._running:
                self._count("hits")
                return self._running[key]
            self._count("misses")
            future: Future[CompiledGrammar] = Future()
            future.set_running_or_notify_cancel()
            self._running[key] = future
        timer = threading.Timer(self._deadline, self._too_late, (future,))
        timer.daemon = True
        timer.start()
        self._pool.submit(self._compile, constraint, future, timer)
        return future

    @property
    def stats(self) -> CacheStats:
        """The counters at this moment."""
        with self._lock:
            return CacheStats(
                **{name: int(count) for name, count in self._counts.items() if name != "seconds"},
                compile_seconds=self._counts.get("seconds", 0.0),
                entries=len(self._kept),
                held_bytes=sum(size for _, size in self._kept.values()),
            )

    def close(self) -> None:
        """Take nothing more. Compilations that run are waited for; those that wait fail."""
        with self._lock:
            self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            waiting = list(self._running.values())
            self._running.clear()
        for future in waiting:
            if not future.done():
                future.set_exception(GrammarError("the grammar cache was closed"))

    def _compile(
        self, constraint: Constraint, future: Future[CompiledGrammar], timer: threading.Timer
    ) -> None:
        start = time.perf_counter()
        result: Future[CompiledGrammar] = Future()
        size = len(constraint.source) + _ENTRY_BYTES
        try:
            grammar = self._compiler.compile(constraint)
            size += grammar.size_bytes
            result.set_result(grammar)
        except GrammarError as error:
            result.set_exception(error)
        except BaseException as error:
            self._settle(future, error=error)
            with self._lock:
                self._running.pop(constraint.key, None)
            raise
        finally:
            timer.cancel()
        self._keep(constraint.key, result, size, time.perf_counter() - start)
        failed = result.exception()
        self._settle(future, error=failed, grammar=None if failed else result.result())

    def _keep(self, key: str, result: Future[CompiledGrammar], size: int, seconds: float) -> None:
        with self._lock:
            self._running.pop(key, None)
            self._count("seconds", seconds)
            if result.exception() is not None:
                self._count("failures")
            self._kept[key] = (result, size)
            held = sum(size for _, size in self._kept.values())
            while held > self._limit:
                _, (_, freed) = self._kept.popitem(last=False)
                held -= freed
                self._count("evictions")

    def _too_late(self, future: Future[CompiledGrammar]) -> None:
        error = ConstraintTooLarge(
            f"the constraint did not compile within {self._deadline:g} s; make it smaller"
        )
        if self._settle(future, error=error):
            with self._lock:
                self._count("timeouts")

    def _settle(
        self,
        future: Future[CompiledGrammar],
        *,
        error: BaseException | None = None,
        grammar: CompiledGrammar | None = None,
    ) -> bool:
        """Give a waiting caller its answer, unless the other of compilation and deadline was first."""
        with self._lock:
            first = not future.done()
            if first and error is None and grammar is not None:
                future.set_result(grammar)
            elif first:
                future.set_exception(error)
        return first

    def _count(self, name: str, by: float = 1) -> None:
        self._counts[name] = self._counts.get(name, 0) + by
