"""The parts that engines without a model share: their facts and counters, the open requests, and their process."""

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from intaglio.engine.host.assembly import Assembly, Steppable
from intaglio.engine.host.messages import EngineInfo
from intaglio.engine.host.supervisor import Launch
from intaglio.engine.metrics import Snapshot
from intaglio.engine.types import Delta
from intaglio.grammar.api import CacheStats

from tests.support.snapshots import snapshot

Open = TypeVar("Open")

INFO = EngineInfo(
    model="double",
    context_length=4096,
    parameters=0,
    vocabulary=300,
    blocks=4096,
    block_size=16,
    device="none",
    dtype="none",
    pid=1,
)


def engine_info(**facts: Any) -> EngineInfo:
    """The facts of an engine without a model, with these in place of the usual ones."""
    return msgspec.structs.replace(INFO, **facts)


class ModellessEngine(Generic[Open]):
    """Stands in for `intaglio.engine.loop.Engine`, but for `submit` and `step`.

    Each open request holds one of `blocks` blocks of a memory that does not exist.
    """

    def __init__(self, blocks: int) -> None:
        self._blocks = blocks
        self._changed = threading.Condition()
        self._open: dict[str, Open] = {}
        self._aborted: set[str] = set()
        self._steps = 0
        self._most = 0
        self._finished: Counter[str] = Counter()

    def abort(self, request_id: str) -> None:
        with self._changed:
            if request_id in self._open:
                self._aborted.add(request_id)
                self._changed.notify_all()

    def _accept(self, request_id: str, opened: Open) -> None:
        """Open a request and wake the engine."""
        with self._changed:
            self._open[request_id] = opened
            self._changed.notify_all()

    def _begin_step(self) -> tuple[list[Open], set[str]]:
        """The open requests, in order of arrival, and those among them that were aborted since the last step."""
        with self._changed:
            opened = list(self._open.values())
            aborted, self._aborted = self._aborted, set()
        return opened, aborted

    def _count_step(self, sequences: int) -> None:
        self._steps += bool(sequences)
        self._most = max(self._most, sequences)

    def _end_step(self, deltas: Sequence[Delta]) -> None:
        """Close the requests that these deltas end."""
        with self._changed:
            for delta in deltas:
                if delta.finish is not None:
                    del self._open[delta.request_id]
                    self._finished[delta.finish] += 1

    @property
    def has_work(self) -> bool:
        return bool(self._open)

    @property
    def open_requests(self) -> int:
        return len(self._open)

    def wait(self, timeout_s: float | None = None) -> None:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._open), timeout_s)

    def check(self) -> None:
        return

    def metrics(self) -> Snapshot:
        return snapshot(
            steps=self._steps,
            most_sequences=self._most,
            finished=dict(self._finished),
            seconds={"forward": 0.0},
            running=len(self._open),
            blocks=self._blocks,
            free_blocks=self._blocks - len(self._open),
        )


def assembled(engine: Steppable, info: EngineInfo) -> Assembly:
    """An engine of this process, with its facts."""
    info = msgspec.structs.replace(info, pid=os.getpid())
    return Assembly(engine=engine, info=info, grammar_stats=CacheStats, close=lambda: None)


def launched(run: Callable[[], None], configuration: bytes) -> Launch:
    """The launch of a process that calls `run`, a function of a module of the tests, in place of the real engine."""
    root = str(Path(__file__).parents[2])
    where, name = run.__module__, run.__name__
    start = f"import sys; sys.path.append({root!r}); from {where} import {name}; {name}()"
    return Launch((sys.executable, "-P", "-c", start), configuration)
