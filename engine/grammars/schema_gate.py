"""The grammar parts of an engine and of its caller, put together from their settings.

Does: open the store, make the cache that an engine compiles with and the gate where its caller has constraints
examined; warm both. Does not: do any of their work (`intaglio.grammar`).
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
    Explanation,
    GrammarCache,
    Isolated,
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
"""The share of `shared_bytes`, as a divisor, that the trials of a program with its own engine keep."""


def open_store(config: GrammarConfig) -> Store | None:
    """The store of these settings. "auto" does without one where the cache folder cannot be used.

    Raises:
        ConfigError: the file that was asked for cannot be used.
    """
    try:
        path = config.store_path
        return None if path is None else Store(path, limit_bytes=config.grammar_store_bytes)
    except (StoreUnusable, RuntimeError) as error:  # the latter: there is no home
        if config.grammar_store == "auto":
            return None
        raise ConfigError(
            str(error), where="grammar_store", hint="name a file in a folder of your own, or off"
        ) from error


def shared_bytes(config: GrammarConfig) -> int:
    """The part of `grammar_bytes` for what grammars share: masks of leaves, and automata."""
    return config.grammar_bytes // 4


class CompilerService:
    """The cache that an engine compiles with, over the store. It warms in the background from the start."""

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
        """End the threads and let go of the store."""
        self.cache.close()
        self._warming.join()
        if self._store is not None:
            self._store.close()


class SchemaGate:
    """Examines constraints before they may cost an engine anything. For any thread."""

    def __init__(
        self, admission: VerdictCache, isolated: Isolated | None = None, store: Store | None = None
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
        """The gate of a server, or of a program that runs an engine of its own. Returns before it is warm.

        Both refuse a constraint whose outputs cannot be ended or take too long. A server examines in processes of their
        own, under limits of time and memory; a program does it in its own process, without. `canonical`: the
        tokenizer's spelling of bytes; `clock`: seconds of processor time of a thread.

        `entry` is the program of the process that examines, where one does.

        Raises:
            ConfigError: the store that was asked for cannot be used.
        """
        if config.grammar_isolation == "never":
            return cls(VerdictCache(screened, workers=config.grammar_workers))
        store = open_store(config)
        if config.grammar_isolation == "server" and not server:
            compiler = Compiler(vocabulary, canonical, shared_bytes(config) // _TRIED)
            tried = partial(examine, compiler, clock=clock)
            return cls(
                VerdictCache(tried, store=store, workers=config.grammar_workers), store=store
            )
        limits = WorkerLimits(
            wall_s=config.grammar_deadline_s,
            cpu_s=config.grammar_cpu_s,
            memory=config.grammar_memory,
        )
        isolated = Isolated(vocabulary, limits, entry=entry)
        admission = VerdictCache(
            isolated.examine,
            store=store,
            workers=config.grammar_workers,
            most_seconds=config.grammar_cpu_s,
        )
        return cls(admission, isolated, store)

    def submit(self, constraint: Constraint) -> Future[Verdict]:
        """See `VerdictCache.submit`. Returns at once."""
        return self._admission.submit(constraint)

    def admit(self, constraint: Constraint) -> Verdict:
        """See `VerdictCache.admit`."""
        return self._admission.admit(constraint)

    def start(self) -> None:
        """Have a process ready, where constraints are examined in some.

        Raises:
            ModelError: there is none to be had.
        """
        try:
            if self._isolated is not None:
                self._isolated.start()
        except WorkerFailure as error:
            raise ModelError(
                f"schemas cannot be compiled: {error}",
                where="grammar_isolation",
                hint="the log says why; intaglio doctor looks at the installation",
            ) from error

    @property
    def explain(self) -> Callable[[Constraint], Explanation] | None:
        """Explains constraints elsewhere (see `Isolated.explain`); None where no process examines them."""
        return None if self._isolated is None else self._isolated.explain

    def warm(self, constraints: Iterable[Constraint]) -> None:
        """Examine these in the background, while no other examination waits."""
        self._warming = threading.Thread(
            target=self._admission.warm, args=(constraints,), name="admission", daemon=True
        )
        self._warming.start()

    def close(self) -> None:
        """End processes and threads and let go of the store; safe to call twice."""
        if self._isolated is not None:
            self._isolated.close()
        self._admission.close()
        if self._warming is not None:
            self._warming.join()
        if self._store is not None:
            self._store.close()
