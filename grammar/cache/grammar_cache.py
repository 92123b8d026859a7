"""Compiled grammars, kept: one compilation a constraint, off the caller's thread.

Does: hand out futures, bound memory by evicting what was used least recently (`holdings` counts it), answer waiting
requests when a compilation takes too long, keep what it found out in a store and start from what is there. Does not:
stop a compilation. Native code in a thread cannot be killed; it holds one of `workers` threads until it ends.
Constraints of strangers go through `admission` before they come here.
"""

import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from ..base.malloc import give_back
from ..compiler.compile import Compiler
from ..contract.constraint import Constraint
from ..contract.errors import ConstraintTooLarge, GrammarError
from ..contract.matcher import CompiledGrammar
from ..intake.verdict import Verdict
from ..intake.verdict_store import Store
from .byte_counts import Holdings, Outcome

# Grammars grow while they are used, so their sizes are asked for again after so long.
_ACCOUNT_S = 1.0
_UNTOLD_USES = 256
_HOLES = 16 << 20  # bytes of evicted grammars after which free memory is given back


class _Every:
    """Something that is due at most once in `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._last = 0.0

    def due(self) -> bool:
        """Whether it is time again; if so, the time starts anew."""
        now = time.monotonic()
        if now - self._last < self._seconds:
            return False
        self._last = now
        return True


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Counters since the start, and what is held now, as of the last account. `compile_seconds` is wall time over all
    compilations; `from_store` counts those that began from what an earlier one had found out; `warming`: whether our
    compiled code is still being loaded, or made, where it never was. `held_bytes`: of the grammars in the cache, with
    their masks; `shared`: of what grammars share besides, by part, and ("evicted") of grammars that were given up and
    are still in use.
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
    """A grammar was asked of a cache that takes nothing more."""


class GrammarCache:
    """Grammars of one compiler.

    What a constraint compiles to is always the same, so errors are kept like grammars; only a missed deadline is not.
    Every caller gets an error of its own.
    `limit_bytes` bounds what is held, `deadline_s` how long a caller waits for a compilation, from `submit` on.
    """

    def __init__(
        self,
        compiler: Compiler,
        *,
        limit_bytes: int = 512 * 1024 * 1024,
        workers: int = 2,
        deadline_s: float = 20.0,
        store: Store | None = None,
        account_s: float = _ACCOUNT_S,
    ) -> None:
        self._compiler = compiler
        self._deadline = deadline_s
        self._store = store
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="grammar")
        self._lock = threading.Lock()
        self._held = Holdings(limit_bytes)
        self._shared: dict[str, int] = {}
        self._running: dict[str, Future[CompiledGrammar]] = {}
        self._counts: Counter[str] = Counter()
        self._uses: Counter[Constraint] = Counter()  # that the store has not been told
        self._accounting = _Every(account_s)
        self._closed = False

    def submit(self, constraint: Constraint) -> Future[CompiledGrammar]:
        """The grammar of a constraint, as a future that fails with a GrammarError. It cannot be cancelled: others
        may wait for it.

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
                self._uses[constraint] += 1
                self._account()
                _answer(future, known)
                return future
            if key in self._running:
                self._counts["hits"] += 1
                return self._running[key]
            self._counts["misses"] += 1
            self._running[key] = future
            timer = self._timer(future)
            # With the lock held: `close` must not come in between.
            self._pool.submit(self._compile, constraint, future, timer)
            timer.start()
        return future

    @property
    def stats(self) -> CacheStats:
        """The counters at this moment."""
        with self._lock:
            return CacheStats(
                **{name: count for name, count in self._counts.items() if name != "microseconds"},
                compile_seconds=self._counts["microseconds"] / 1e6,
                evictions=self._held.evictions,
                entries=len(self._held),
                held_bytes=self._held.held_bytes,
                shared={**self._shared, "evicted": self._held.leaving_bytes},
                warming=self._compiler.is_warming,
            )

    def warm(self, count: int) -> None:
        """Load the compiler's code, then compile the `count` constraints of the store that were used most.

        One after the other, and only while nobody waits for another. Returns when it is done.
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
        self._tell_uses()

    def _compile(
        self, constraint: Constraint, future: Future[CompiledGrammar], timer: threading.Timer
    ) -> None:
        start = time.perf_counter()
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
        self._tell_uses()

    def _outcome(self, constraint: Constraint) -> Outcome:
        try:
            return self._compiled(constraint)
        except GrammarError as error:
            return error.copy()  # the frames of the compilation go with the error that was raised

    def _compiled(self, constraint: Constraint) -> CompiledGrammar:
        """A grammar, with the help of what the store knows; which is told what it does not know."""
        if self._store is None:
            return self._compiler.compile(constraint)
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
            self._held.put(constraint.key, outcome, len(constraint.source))
            self._account()
            holes = self._held.evicted_bytes >= _HOLES
            if holes:
                self._held.evicted_bytes = 0
        if holes:
            give_back()

    def _account(self) -> None:
        """Ask grammars for their sizes again, every now and then."""
        if self._accounting.due():
            self._held.measure()
            if self._store is not None and self._uses.total() > _UNTOLD_USES:
                self._pool.submit(self._tell_uses)

    def _tell_uses(self) -> None:
        with self._lock:
            uses, self._uses = self._uses, Counter()
        if self._store is not None:
            self._store.touch(uses)

    def _timer(self, future: Future[CompiledGrammar]) -> threading.Timer:
        timer = threading.Timer(self._deadline, self._too_late, (future,))
        timer.daemon = True
        return timer

    def _too_late(self, future: Future[CompiledGrammar]) -> None:
        if self._compiler.is_warming and not future.done():
            # On a new machine our own code is compiled first; no constraint is to blame for that.
            self._timer(future).start()
            return
        error = ConstraintTooLarge(
            f"the constraint did not compile within {self._deadline:g} s; make it smaller"
        )
        if self._settle(future, error):
            with self._lock:
                self._counts["timeouts"] += 1

    def _settle(
        self, future: Future[CompiledGrammar], outcome: CompiledGrammar | BaseException
    ) -> bool:
        """Give a waiting caller its answer, unless the other of compilation and deadline was first."""
        with self._lock:
            first = not future.done()
            if first:
                _answer(future, outcome)
        return first


def _answer(future: Future[CompiledGrammar], outcome: CompiledGrammar | BaseException) -> None:
    """Set what a compilation came to; of a kept error, a copy."""
    if isinstance(outcome, GrammarError):
        future.set_exception(outcome.copy())
    elif isinstance(outcome, BaseException):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
