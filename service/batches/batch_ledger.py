"""The state of batches in the database: created, moved from status to status, listed.

Does: one transaction for each change. Does not: run batches (`batch_runner`). The requests of a batch are rows of the
job ledger, leased and answered exactly once as the rows of a job.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import sqlalchemy as sa
from intaglio.schemas.openai.batches import (
    ENDED_BATCH,
    BatchFaults,
    BatchObject,
    BatchRequest,
    BatchStatus,
    BatchUsage,
    RequestCounts,
)

from ..jobs.records.errors import JobChanged, TooManyJobs, UnknownJob
from ..jobs.rows import JobRows
from ..jobs.tables import transaction
from .batch_tables import batches

WINDOW_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class BatchOwner:
    """The tenant and key that a batch was created with, and the tenant's salt in the prefix cache."""

    tenant: str
    key_id: str
    cache_salt: str


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch as its runner sees it. `expires` is in seconds since 1970."""

    id: str
    owner: BatchOwner
    request: BatchRequest
    status: BatchStatus
    expires: float


class BatchLedger:
    """All batches of one database. Safe to share between threads."""

    def __init__(self, engine: sa.Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._clock = clock

    def rows(self, batch: str) -> JobRows:
        """The requests of a batch."""
        return JobRows(self._engine, self._clock, batch, None)

    def create(self, request: BatchRequest, owner: BatchOwner, model: str, most_open: int) -> str:
        """Create a batch and return its id.

        Raises:
            TooManyJobs: `most_open` batches are unfinished.
        """
        now, batch = self._clock(), f"batch_{uuid4().hex}"
        is_open = batches.c.status.not_in(ENDED_BATCH)
        with transaction(self._engine) as connection:
            opened = sa.select(sa.func.count()).select_from(batches).where(is_open)
            if (connection.scalar(opened) or 0) >= most_open:
                raise TooManyJobs(
                    f"{most_open} batches are unfinished", hint="try again when one has ended"
                )
            last = connection.scalar(sa.select(sa.func.max(batches.c.number)))
            connection.execute(
                batches.insert().values(
                    id=batch,
                    number=(last or 0) + 1,
                    tenant=owner.tenant,
                    key_id=owner.key_id,
                    cache_salt=owner.cache_salt,
                    request=request.model_dump_json(),
                    model=model,
                    status="validating",
                    times="{}",
                    created=now,
                )
            )
        return batch

    def stored(self, batch: str) -> StoredBatch:
        """A batch for its runner. Raises `UnknownJob`."""
        row = self._row(batch)
        return StoredBatch(
            row.id,
            BatchOwner(row.tenant, row.key_id, row.cache_salt),
            BatchRequest.model_validate_json(row.request),
            row.status,
            row.created + WINDOW_S,
        )

    def status(self, batch: str) -> BatchStatus:
        """The status of a batch. Raises `UnknownJob`."""
        found: BatchStatus = self._row(batch).status
        return found

    def described(self, batch: str, tenant: str) -> BatchObject:
        """A batch of a tenant. Raises `UnknownJob` if the tenant has no such batch."""
        row = self._row(batch)
        if row.tenant != tenant:
            raise _unknown(batch)
        return self._object(row)

    def listing(self, tenant: str, after: str | None, limit: int) -> tuple[list[BatchObject], bool]:
        """Up to `limit` batches of a tenant, newest first, those that follow `after`; and whether there are more.

        Raises:
            UnknownJob: the tenant has no batch `after`.
        """
        query = sa.select(batches).where(batches.c.tenant == tenant)
        if after is not None:
            row = self._row(after)
            if row.tenant != tenant:
                raise _unknown(after)
            query = query.where(batches.c.number < row.number)
        query = query.order_by(batches.c.number.desc()).limit(limit + 1)
        with transaction(self._engine) as connection:
            found = connection.execute(query).all()
        return [self._object(row) for row in found[:limit]], len(found) > limit

    def next_open(self) -> str | None:
        """The oldest unfinished batch."""
        query = sa.select(batches.c.id).where(batches.c.status.not_in(ENDED_BATCH))
        with transaction(self._engine) as connection:
            found: str | None = connection.scalar(query.order_by(batches.c.number).limit(1))
        return found

    def cancel(self, batch: str, tenant: str) -> BatchObject:
        """Request that a batch stop. Its runner finishes it.

        Raises:
            UnknownJob: the tenant has no such batch.
            JobChanged: the batch has ended, or is about to.
        """
        described = self.described(batch, tenant)
        stoppable: tuple[BatchStatus, ...] = ("validating", "in_progress")
        if described.status != "cancelling" and not self.move(batch, "cancelling", stoppable):
            raise JobChanged(
                f"batch {batch!r} cannot be cancelled: it is {self.status(batch)}",
                hint="only a batch that is validating or in_progress can be cancelled",
            )
        return self.described(batch, tenant)

    def move(
        self, batch: str, status: BatchStatus, only_from: tuple[BatchStatus, ...], **values: Any
    ) -> bool:
        """Set the status and the time of the change, if the batch is in one of the statuses `only_from`."""
        with transaction(self._engine) as connection:
            row = connection.execute(sa.select(batches).where(batches.c.id == batch)).one()
            if row.status not in only_from:
                return False
            times = json.loads(row.times) | {status: int(self._clock())}
            connection.execute(
                batches.update()
                .where(batches.c.id == batch)
                .values(status=status, times=json.dumps(times), **values)
            )
        return True

    def _row(self, batch: str) -> Any:
        with transaction(self._engine) as connection:
            found = connection.execute(sa.select(batches).where(batches.c.id == batch)).first()
        if found is None:
            raise _unknown(batch)
        return found

    def _object(self, row: Any) -> BatchObject:
        request = BatchRequest.model_validate_json(row.request)
        times: Mapping[str, int] = json.loads(row.times)
        counts = self.rows(row.id).counts()
        timed: dict[str, Any] = {f"{name}_at": times.get(name) for name in _TIMED}
        return BatchObject(
            **timed,
            id=row.id,
            endpoint=request.endpoint,
            model=row.model,
            errors=None if row.faults is None else BatchFaults.model_validate_json(row.faults),
            input_file_id=request.input_file_id,
            status=row.status,
            output_file_id=row.output_file,
            error_file_id=row.error_file,
            created_at=int(row.created),
            expires_at=int(row.created) + WINDOW_S,
            request_counts=RequestCounts(
                total=counts.rows, completed=counts.done, failed=counts.dead
            ),
            usage=BatchUsage(
                input_tokens=counts.prompt_tokens or 0,
                output_tokens=counts.output_tokens or 0,
                total_tokens=(counts.prompt_tokens or 0) + (counts.output_tokens or 0),
            ),
            metadata=request.metadata,
        )


_TIMED: Final = (
    *("in_progress", "finalizing", "completed", "failed"),
    *("expired", "cancelling", "cancelled"),
)


def _unknown(batch: str) -> UnknownJob:
    return UnknownJob(f"there is no batch {batch!r}", hint="GET /v1/batches lists them")
