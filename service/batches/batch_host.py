"""The batches of one data folder, run one at a time by one of the processes that share it.

Does: pick the oldest unfinished batch, keep the lock that makes this process the one that runs batches, delete expired
files. Does not: answer requests or handle HTTP (`service/http/batch_routes.py`).
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from intaglio.schemas.openai.batches import BatchObject, BatchRequest

from ..jobs.folder import DataFolder
from ..jobs.lock import held
from ..jobs.records.errors import LedgerRefused
from .answering import BatchTools, Pace, Respond
from .batch_ledger import BatchLedger, BatchOwner
from .batch_runner import BatchRunner
from .batch_tables import open_tables
from .client_files import ClientFiles

_POLL_S: Final = 1.0  # other processes may create batches
_PAUSE_S: Final = 5.0  # after an error, and between attempts to get the lock
_SWEEP_S: Final = 60.0


class BatchHost:
    """The files and batches in `folder`. `failed` is called with errors of the database."""

    def __init__(
        self,
        folder: Path,
        files: DataFolder,
        max_open: int,
        failed: Callable[[str, Exception], None],
    ) -> None:
        self._engine = open_tables(str(folder / "jobs.db"))
        self._lock = folder / "batches.lock"
        self._max_open = max_open
        self._failed = failed
        self._work: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._swept = 0.0
        self.files = ClientFiles(self._engine, files)
        self.ledger = BatchLedger(self._engine)

    def create(self, request: BatchRequest, owner: BatchOwner, model: str) -> BatchObject:
        """Create a batch over a file of its owner; `start` runs it.

        Raises:
            UnknownFile: the owner has no such file.
            TooManyJobs: the limit of unfinished batches is reached.
        """
        self.files.file(request.input_file_id, owner.tenant)
        batch = self.ledger.create(request, owner, model, self._max_open)
        return self.ledger.described(batch, owner.tenant)

    def wake(self) -> None:
        """Look for batches now. Call it in the event loop."""
        self._changed.set()

    def start(self, respond: Respond, at_once: int) -> None:
        """Start to run batches in the event loop, first the one that was interrupted."""
        threads = anyio.CapacityLimiter(1)
        tools = BatchTools(
            ledger=self.ledger,
            respond=respond,
            offload=partial(anyio.to_thread.run_sync, limiter=threads),
            pace=Pace(at_once=at_once),
        )
        self._work = asyncio.create_task(self._run(BatchRunner(self.files, tools), tools))
        self._work.add_done_callback(self._report)

    async def close(self) -> None:
        """Stop; requests in flight are given back, and the next start continues."""
        if self._work is not None:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work
        await asyncio.to_thread(self._engine.dispose)

    def _report(self, work: asyncio.Task[None]) -> None:
        """Log an error that ended the work on batches."""
        error = None if work.cancelled() else work.exception()
        if isinstance(error, Exception):
            self._failed("batches", error)

    async def _run(self, runner: BatchRunner, tools: BatchTools) -> None:
        while True:
            with held(self._lock) as is_held:
                while is_held:
                    try:
                        await self._run_next(runner, tools)
                    except LedgerRefused as error:
                        self._failed("batches", error)
                        await asyncio.sleep(_PAUSE_S)
            await asyncio.sleep(_PAUSE_S)

    async def _run_next(self, runner: BatchRunner, tools: BatchTools) -> None:
        self._changed.clear()
        if time.monotonic() - self._swept > _SWEEP_S:
            await tools.offload(self.files.delete_expired)
            self._swept = time.monotonic()
        batch = await tools.offload(self.ledger.next_open)
        if batch is not None:
            await runner.run(batch)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), _POLL_S)
