"""The grammar cache of an engine and the schema gate of its caller, built from their settings.

Does: open the store, build the cache by which an engine compiles and the gate by which its caller has constraints
examined; warm both. Does not: compile or examine (`intaglio.grammar`).
"""

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import Final, Self

from intaglio.grammar.api import (
    WORKER,
    Compiler,
    Constraint,
    ExaminationPool,
    Explanation,
    GateLimits,
    GrammarCache,
    Store,
    StoreUnusable,
    Verdict,
    VerdictCache,
    Vocabulary,
    WorkerFailure,
    WorkerLimits,
    examine,
    screened,
)

from ..config import GrammarConfig
from ..errors import ConfigError, ModelError

_TRIED: Final = 4
"""The divisor of `shared_bytes` for the trials of a program with its own engine."""


def open_store(config: GrammarConfig) -> Store | None:
    """The store of these settings. With "auto" there is none where the cache folder cannot be used.

    Raises:
        ConfigError: the configured file cannot be used.
    """
    try:
        path = config.store_path
        return None if path is None else Store(path, limit_bytes=config.grammar_store_bytes)
    except (StoreUnusable, RuntimeError) as error:  # RuntimeError: there is no home folder
        if config.grammar_store == "auto":
            return None
        raise ConfigError(
            str(error), where="grammar_store", hint="give a file in a writable folder, or off"
        ) from error


def shared_bytes(config: GrammarConfig) -> int:
    """The part of `grammar_bytes` for the data that grammars share: leaf rows and automata."""
    return config.grammar_bytes // 4


class CompilerService:
    """The grammar cache of an engine, backed by the store. It is warmed in the background from the start."""

    def __init__(self, config: GrammarConfig, compiler: Compiler) -> None:
        self._store = open_store(config)
        self.cache = GrammarCache(
            compiler, limit_bytes=config.grammar_bytes - shared_bytes(config), store=self._store
        )
        self._warming = threading.Thread(
            target=self.cache.warm, args=(config.grammar_warm,), name="grammars", daemon=True
        )
        self._warming.start()

    def close(self) -> None:
        """End the threads and close the store."""
        self.cache.close()
        self._warming.join()
        if self._store is not None:
            self._store.close()


class SchemaGate:
    """Has constraints examined before an engine spends time on them. For any thread."""

    def __init__(
        self,
        admission: VerdictCache,
        isolated: ExaminationPool | None = None,
        store: Store | None = None,
    ) -> None:
        self._admission = admission
        self._isolated = isolated
        self._store = store
        self._warming: threading.Thread | None = None

    @classmethod
    def open(
        cls,
        config: GrammarConfig,
        vocabulary: Vocabulary,
        canonical: Callable[[bytes], tuple[int, ...]],
        *,
        server: bool,
        clock: Callable[[], float] = time.thread_time,
        entry: str = WORKER,
    ) -> Self:
        """The gate of a server, or of a program with its own engine. Returns before it is warm.

        Both refuse a constraint with outputs that cannot be completed or take too long. A server examines in separate
        processes, with limits of time and memory; a program in its own process, without limits. `canonical`: the
        tokenizer's spelling of bytes; `clock`: seconds of processor time of a thread; `entry`: the program of an
        examining process.

        Raises:
            ConfigError: the configured store cannot be used.
        """
        if config.grammar_isolation == "never":
            return cls(VerdictCache(screened, limits=GateLimits(workers=config.grammar_workers)))
        store = open_store(config)
        if config.grammar_isolation == "server" and not server:
            compiler = Compiler(vocabulary, canonical, shared_bytes(config) // _TRIED)
            tried = partial(examine, compiler, clock=clock)
            shared = GateLimits(workers=config.grammar_workers)
            return cls(VerdictCache(tried, store=store, limits=shared), store=store)
        limits = WorkerLimits(
            wall_s=config.grammar_deadline_s,
            cpu_s=config.grammar_cpu_s,
            memory=config.grammar_memory,
        )
        isolated = ExaminationPool(vocabulary, limits, entry=entry)
        admission = VerdictCache(
            isolated.examine,
            store=store,
            limits=GateLimits(workers=config.grammar_workers, most_seconds=config.grammar_cpu_s),
        )
        return cls(admission, isolated, store)

    def submit(self, constraint: Constraint) -> Future[Verdict]:
        """See `VerdictCache.submit`. Returns at once."""
        return self._admission.submit(constraint)

    def admit(self, constraint: Constraint) -> Verdict:
        """See `VerdictCache.admit`."""
        return self._admission.admit(constraint)

    def start(self) -> None:
        """Start an examining process, if the settings ask for one.

        Raises:
            ModelError: no process can be started.
        """
        try:
            if self._isolated is not None:
                self._isolated.start()
        except WorkerFailure as error:
            raise ModelError(
                f"schemas cannot be compiled: {error}",
                where="grammar_isolation",
                hint="the log has the reason; intaglio doctor checks the installation",
            ) from error

    @property
    def explain(self) -> Callable[[Constraint], Explanation] | None:
        """Explains constraints in another process (`ExaminationPool.explain`); None without such processes."""
        return None if self._isolated is None else self._isolated.explain

    def warm(self, constraints: Iterable[Constraint]) -> None:
        """Examine `constraints` in the background, while no other examination waits."""
        self._warming = threading.Thread(
            target=self._admission.warm, args=(constraints,), name="admission", daemon=True
        )
        self._warming.start()

    def close(self) -> None:
        """End processes and threads and close the store; safe to call twice."""
        if self._isolated is not None:
            self._isolated.close()
        self._admission.close()
        if self._warming is not None:
            self._warming.join()
        if self._store is not None:
            self._store.close()
