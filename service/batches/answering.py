"""Answers the requests of a batch, a bounded number at a time.

Does: keep some requests in flight, record their outcomes, renew leases, stop when the batch is to stop. Does not:
answer requests itself (its `Respond` does), or read and write files (`batch_runner`).
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol
from uuid import uuid4

from ..jobs.records.row import Claim, Outcome
from ..jobs.rows import JobRows
from .batch_ledger import BatchLedger, BatchOwner, StoredBatch
from .batch_outputs import Offload
from .replies import Reply, outcome_of

_LEASE_S: Final = 60.0


class Respond(Protocol):
    """Answers one request of a batch for its owner."""

    def __call__(self, path: str, body: bytes, owner: BatchOwner) -> Awaitable[Reply]:
        """The reply; errors are replies too."""
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """How many requests are in flight, and the seconds between two looks at the state of the batch."""

    at_once: int = 64
    beat_s: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTools:
    """What a run works with. `offload` runs database work in a thread, `clock` gives seconds since 1970."""

    ledger: BatchLedger
    respond: Respond
    offload: Offload
    pace: Pace = Pace()
    clock: Callable[[], float] = time.time


class Answering:
    """The requests of one batch in flight."""

    def __init__(self, tools: BatchTools, batch: StoredBatch) -> None:
        self._tools = tools
        self._batch = batch
        self._rows: JobRows = tools.ledger.rows(batch.id)
        self._holder = uuid4().hex
        self._in_flight: dict[asyncio.Task[Outcome], Claim] = {}
        self._claims: deque[Claim] = deque()
        self._outcomes: list[Outcome] = []

    async def answer_all(self) -> None:
        """Answer requests until all have ended, or the batch is to stop.

        Raises:
            LedgerRefused: the database cannot be read or written; nothing is lost.
        """
        offload, pace = self._tools.offload, self._tools.pace
        await offload(self._rows.release)  # no other run holds rows: there is one at a time
        beat = 0.0
        try:
            while True:
                if time.monotonic() >= beat:
                    if await self._must_stop():
                        return
                    await offload(partial(self._rows.renew, self._holder, _LEASE_S))
                    beat = time.monotonic() + pace.beat_s
                await self._fill()
                if self._in_flight:
                    await self._wait()
                elif (await offload(self._rows.counts)).pending:
                    await asyncio.sleep(pace.beat_s)
                else:
                    return
        finally:
            await self._stop()

    async def _must_stop(self) -> bool:
        """Whether cancellation was requested or the batch has expired."""
        if self._tools.clock() >= self._batch.expires:
            return True
        status = await self._tools.offload(partial(self._tools.ledger.status, self._batch.id))
        return bool(status != "in_progress")

    async def _fill(self) -> None:
        """Claim requests and put them in flight. A suspect of killing the engine is in flight alone."""
        room = self._tools.pace.at_once - len(self._in_flight)
        if not self._claims and room > 0:
            claim = partial(self._rows.claim, self._holder, room, _LEASE_S)
            self._claims.extend(await self._tools.offload(claim))
        while self._claims and len(self._in_flight) < self._tools.pace.at_once:
            suspects = (self._claims[0], *self._in_flight.values())
            if self._in_flight and any(claim.suspect for claim in suspects):
                return
            claimed = self._claims.popleft()
            self._in_flight[asyncio.create_task(self._reply(claimed))] = claimed

    async def _reply(self, claim: Claim) -> Outcome:
        started = time.perf_counter()
        reply = await self._tools.respond(
            self._batch.request.endpoint, claim.text.encode(), self._batch.owner
        )
        return outcome_of(claim, reply, time.perf_counter() - started, self._tools.clock())

    async def _wait(self) -> None:
        """Wait for replies and record them."""
        done, _ = await asyncio.wait(
            self._in_flight,
            timeout=self._tools.pace.beat_s,
            return_when=asyncio.FIRST_COMPLETED,
        )
        for task in done:
            self._outcomes.append(task.result())
            del self._in_flight[task]
        await self._flush()

    async def _flush(self) -> None:
        if self._outcomes:
            await self._tools.offload(partial(self._rows.record_outcomes, tuple(self._outcomes)))
            self._outcomes.clear()

    async def _stop(self) -> None:
        """Abort what is in flight, and give its rows back."""
        for task in self._in_flight:
            task.cancel()
        if self._in_flight:
            await asyncio.wait(self._in_flight)
        await self._flush()
        await self._tools.offload(partial(self._rows.release, self._holder))
