"""The cache of compiled grammars: one compilation per constraint, in background threads.

Does: return grammars as futures, bound memory with an LRU (`outcome_cache`), fail the waiting requests when a
compilation takes too long, read and write verdicts in a store to make the next compilation shorter. Does not: stop a
compilation. Native code in a thread cannot be killed; it occupies one of `workers` threads until it ends. Untrusted
constraints pass the gate (`intake.gate`) before they come here.
"""

import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from ..base.malloc import trim_heap
from ..compiler.compile import Compiler
from ..contract.constraint import Constraint
from ..contract.errors import CompilerBusy, GrammarError
from ..contract.matcher import CompiledGrammar
from ..intake.verdict import Verdict
from ..intake.verdict_store import Store
from .outcome_cache import Outcome, OutcomeCache

_MEASURE_S = 1.0  # between measurements: grammars grow while they are used
_DOCUMENT_BYTES = 32  # for each character of a document: twice its text, with its sorted suffixes
_MOST_UNRECORDED_USES = 256  # uses counted here before they are written to the store
_TRIM_BYTES = 16 << 20  # bytes of evicted grammars after which the heap is trimmed


class _Interval:
    """A timer for work that is due at most once every `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._last = 0.0

    def due(self) -> bool:
        """Whether the work is due; if so, the interval starts again."""
        now = time.monotonic()
        if now - self._last < self._seconds:
            return False
        self._last = now
        return True


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Counters since the start, and memory as of the last measurement.

    `compile_seconds`: wall time of all compilations. `from_store`: compilations that started from a stored verdict.
    `warming`: whether the compiled loops are still being loaded or, on a new machine, compiled. `held_bytes`: memory of
    the cached grammars with their masks. `shared`: memory that grammars share, by part; "evicted" is the memory of
    evicted grammars that are still in use.
    """

    hits: int = 0
    misses: int = 0
    failures: int = 0
    timeouts: int = 0
    evictions: int = 0
    from_store: int = 0
    compile_seconds: float = 0.0
    entries: int = 0
    held_bytes: int = 0
    shared: dict[str, int] = field(default_factory=dict)
    warming: bool = False


class CacheClosed(RuntimeError):
    """A grammar was requested after the cache was closed."""


class GrammarCache:
    """The cached grammars of one compiler. Thread-safe.

    A constraint always compiles to the same outcome, so errors are cached like grammars, except for a missed deadline.
    Every caller gets a copy of the error. `limit_bytes` bounds the memory of the cache. `deadline_s` bounds the time
    that a caller waits for a compilation once it has begun: many documents with verbatim strings may wait for their
    turn. `account_s`: the interval between measurements.
    """

    def __init__(
        self,
        compiler: Compiler,
        *,
        limit_bytes: int = 512 * 1024 * 1024,
        workers: int = 2,
        deadline_s: float = 20.0,
        store: Store | None = None,
        account_s: float = _MEASURE_S,
    ) -> None:
        self._compiler = compiler
        self._deadline = deadline_s
        self._store = store
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="grammar")
        self._lock = threading.Lock()
        self._held = OutcomeCache(limit_bytes)
        self._shared: dict[str, int] = {}
        self._running: dict[str, Future[CompiledGrammar]] = {}
        self._counts: Counter[str] = Counter()
        self._uses: Counter[Constraint] = Counter()  # not yet written to the store
        self._accounting = _Interval(account_s)
        self._closed = False

    def submit(self, constraint: Constraint) -> Future[CompiledGrammar]:
        """The grammar of a constraint, as a future that fails with a GrammarError.

        The future cannot be cancelled: other callers may wait for it.

        Raises:
            CacheClosed: after `close`.
        """
        key = constraint.key
        with self._lock:
            if self._closed:
                raise CacheClosed("the grammar cache is closed")
            future: Future[CompiledGrammar] = Future()
            future.set_running_or_notify_cancel()
            known = self._held.get(key)
            if known is not None:
                self._counts["hits"] += 1
                if constraint.document is None:
                    self._uses[constraint] += 1
                self._account()
                _answer(future, known)
                return future
            if key in self._running:
                self._counts["hits"] += 1
                return self._running[key]
            self._counts["misses"] += 1
            self._running[key] = future
            # Under the lock, so that `close` cannot come in between.
            self._pool.submit(self._compile, constraint, future)
        return future

    @property
    def stats(self) -> CacheStats:
        """The current counters."""
        with self._lock:
            return CacheStats(
                **{name: count for name, count in self._counts.items() if name != "microseconds"},
                compile_seconds=self._counts["microseconds"] / 1e6,
                evictions=self._held.evictions,
                entries=len(self._held),
                held_bytes=self._held.held_bytes,
                shared={**self._shared, "evicted": self._held.in_use_bytes},
                warming=self._compiler.is_warming,
            )

    def warm(self, count: int) -> None:
        """Load the compiler's code, then compile the `count` most used constraints of the store.

        Compiles one constraint at a time, and only while no other compilation is pending. Blocks until done.
        """
        if not self._closed:
            self._compiler.warm()
        for constraint in self._store.most_used(count) if self._store and count else ():
            while self._running and not self._closed:
                time.sleep(0.05)
            try:
                self.submit(constraint).exception()
            except CacheClosed:
                return

    def close(self) -> None:
        """Refuse new constraints, wait for running compilations, fail the queued ones."""
        with self._lock:
            self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            waiting = list(self._running.values())
            self._running.clear()
        for future in waiting:
            if not future.done():
                future.set_exception(GrammarError("the grammar cache was closed"))
        self._record_uses()

    def _compile(self, constraint: Constraint, future: Future[CompiledGrammar]) -> None:
        start, timer = time.perf_counter(), self._timer(future)
        timer.start()
        try:
            outcome = self._outcome(constraint)
        except BaseException as error:
            self._settle(future, error)
            with self._lock:
                self._running.pop(constraint.key, None)
            raise
        finally:
            timer.cancel()
        self._keep(constraint, outcome, time.perf_counter() - start)
        self._settle(future, outcome)
        if not isinstance(outcome, GrammarError) and constraint.document is None:
            self._compiler.warm_up(outcome, constraint)  # while the first prompt is computed
        self._record_uses()

    def _outcome(self, constraint: Constraint) -> Outcome:
        try:
            grammar = self._compiled(constraint)
            _ = grammar.least_tokens  # kept by the grammar: requests ask for it in the step loop
            # The first masks along a document take long, and the prompt is long as well.
            if constraint.document is not None:
                self._compiler.warm_up(grammar, constraint)
            return grammar
        except GrammarError as error:
            # A copy drops the frames of the compilation, which the raised error refers to.
            return error.copy()

    def _compiled(self, constraint: Constraint) -> CompiledGrammar:
        """Compile a constraint, starting from a stored verdict if there is one; else store the verdict."""
        if self._store is None or constraint.document is not None:
            return self._compiler.compile(constraint)  # a verdict does not depend on the document
        known = self._store.get(constraint)
        if known is not None:
            with self._lock:
                self._counts["from_store"] += 1
                self._uses[constraint] += 1
            error = known.error
            if error is not None:
                raise error
            return self._compiler.compile(constraint, known.shortest)
        start = time.thread_time()
        grammar = self._compiler.compile(constraint)
        shortest = self._compiler.shortest(grammar)
        self._store.put(constraint, Verdict(shortest=shortest, seconds=time.thread_time() - start))
        return grammar

    def _keep(self, constraint: Constraint, outcome: Outcome, seconds: float) -> None:
        shared = self._compiler.shared()
        with self._lock:
            self._shared = shared
            self._running.pop(constraint.key, None)
            self._counts["microseconds"] += round(seconds * 1e6)
            if isinstance(outcome, GrammarError):
                self._counts["failures"] += 1
            size = len(constraint.source) + _DOCUMENT_BYTES * len(constraint.document or "")
            self._held.put(constraint.key, outcome, size)
            self._account()
            trim = self._held.evicted_bytes >= _TRIM_BYTES
            if trim:
                self._held.evicted_bytes = 0
        if trim:
            trim_heap()

    def _account(self) -> None:
        """If due, measure the grammars again and write their uses to the store."""
        if self._accounting.due():
            self._held.measure()
            if self._store is not None and self._uses.total() > _MOST_UNRECORDED_USES:
                self._pool.submit(self._record_uses)

    def _record_uses(self) -> None:
        with self._lock:
            uses, self._uses = self._uses, Counter()
        if self._store is not None:
            self._store.touch(uses)

    def _timer(self, future: Future[CompiledGrammar]) -> threading.Timer:
        timer = threading.Timer(self._deadline, self._expire, (future,))
        timer.daemon = True
        return timer

    def _expire(self, future: Future[CompiledGrammar]) -> None:
        if self._compiler.is_warming and not future.done():
            # On a new machine the loops are compiled first; that time does not count against the constraint.
            self._timer(future).start()
            return
        # The same constraint compiles in time on an idle machine: the clock gives no verdict on it.
        error = CompilerBusy(
            f"the constraint did not compile within {self._deadline:g} s; try again later"
        )
        if self._settle(future, error):
            with self._lock:
                self._counts["timeouts"] += 1

    def _settle(
        self, future: Future[CompiledGrammar], outcome: CompiledGrammar | BaseException
    ) -> bool:
        """Complete a future, unless it is done already; returns whether this call completed it.

        The compilation and the deadline compete for it.
        """
        with self._lock:
            first = not future.done()
            if first:
                _answer(future, outcome)
        return first


def _answer(future: Future[CompiledGrammar], outcome: CompiledGrammar | BaseException) -> None:
    """Complete a future with an outcome; a cached error is copied."""
    if isinstance(outcome, GrammarError):
        future.set_exception(outcome.copy())
    elif isinstance(outcome, BaseException):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
