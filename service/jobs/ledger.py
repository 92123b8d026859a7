"""The ledger: a database with the state of all jobs, the single source of truth after a crash.

Does: create, find and update jobs; `rows` returns the rows of one. Does not: run jobs (`job_runner`) or read files.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import sqlalchemy as sa
from intaglio.schemas.jobs import ENDED, JobSpec, JobState, JobStatus

from .job_outputs import JobOutputs
from .records.errors import JobChanged, UnknownJob
from .reviews import JobReviews
from .rows import JobRows
from .tables import connect, jobs, transaction


class Ledger:
    """A ledger of jobs. Safe to share between threads; each process opens its own. `url` is a path or a SQLAlchemy URL.

    `shared`: whether several runners may work on one job; with SQLite only one may. `file`: the path of a SQLite
    ledger; None for a database server. Without `create`, the ledger must be there.
    """

    def __init__(
        self, url: str, clock: Callable[[], float] = time.time, *, create: bool = True
    ) -> None:
        self._engine = connect(url, create=create)
        self._clock = clock
        self.shared: Final = self._engine.dialect.name != "sqlite"
        name = self._engine.url.database
        self.file: Final = None if self.shared or not name else Path(name)

    def rows(self, job: str) -> JobRows:
        """The rows of a job. Raises `UnknownJob`."""
        return JobRows(self._engine, self._clock, job, self.spec(job).extends)

    def outputs(self, job: str) -> JobOutputs:
        """The outputs of a job and the files it has written."""
        return JobOutputs(self._engine, job)

    def close(self) -> None:
        """Close the database connections."""
        self._engine.dispose()

    def create(self, job: str, spec: JobSpec, digest: str, fingerprint: str, model: str) -> None:
        """Create a job.

        Raises:
            JobChanged: the name is in use.
        """
        now = self._clock()
        try:
            with transaction(self._engine) as connection:
                connection.execute(
                    jobs.insert().values(
                        id=job,
                        spec=spec.model_dump_json(by_alias=True),
                        digest=digest,
                        state=JobState.READY,
                        created=now,
                        changed=now,
                        read=0,
                        whole=False,
                        mark=fingerprint,
                        model=model,
                    )
                )
        except sa.exc.IntegrityError:
            raise JobChanged(f"a job {job!r} exists already", hint="choose another name") from None

    def spec(self, job: str) -> JobSpec:
        """The specification of a job. Raises `UnknownJob`."""
        return JobSpec.model_validate_json(_found(self._engine, job).spec, by_alias=True)

    def origin(self, job: str) -> tuple[str, str]:
        """(digest of the configuration, fingerprint of the source). Raises `UnknownJob`."""
        found = _found(self._engine, job)
        return found.digest, found.mark

    def status(self, job: str) -> JobStatus:
        """The status of a job. Raises `UnknownJob`."""
        found = _found(self._engine, job)
        return JobStatus(
            id=found.id,
            state=JobState(found.state),
            created=found.created,
            changed=found.changed,
            whole=found.whole,
            counts=self.rows(job).counts(),
            model=found.model,
            error=found.error,
        )

    def names(self) -> list[str]:
        """The names of all jobs, newest first."""
        with transaction(self._engine) as connection:
            return list(connection.scalars(sa.select(jobs.c.id).order_by(jobs.c.created.desc())))

    def open_jobs(self) -> int:
        """The number of unfinished jobs."""
        ended = sa.select(sa.func.count()).select_from(jobs).where(jobs.c.state.not_in(ENDED))
        with transaction(self._engine) as connection:
            return connection.scalar(ended) or 0

    def move(self, job: str, state: JobState, error: str | None = None) -> None:
        """End the run of a job in a state.

        A state in which it can go on gives way to a request that waits, in one statement, so that none is lost, and to
        the end that another runner has given the run meanwhile.
        """
        wanted, runs = jobs.c.wanted, jobs.c.state == JobState.RUNNING
        as_asked = sa.case(
            (wanted == "cancel", JobState.CANCELLED),
            (wanted == "pause", JobState.PAUSED),
            else_=state,
        )
        values = {"error": error, "wanted": None, "changed": self._clock()}
        with transaction(self._engine) as connection:
            if state in ENDED:
                _update(connection, job, state=state, **values)
            else:
                _update(connection, job, runs, state=as_asked, **values)

    def begin(self, job: str) -> bool:
        """Set a job to running if it is ready or its runner is gone; a pending pause or cancel request stays.

        False: the job is in another state, because it was paused or cancelled meanwhile.
        """
        with transaction(self._engine) as connection:
            return _update(
                connection,
                job,
                jobs.c.state.in_((JobState.READY, JobState.RUNNING)),
                state=JobState.RUNNING,
                error=None,
                changed=self._clock(),
            )

    def request(self, job: str, what: Literal["pause", "cancel"]) -> None:
        """Request that a job pause or cancel: through its runner if it runs, else at once.

        Raises:
            UnknownJob: there is no job of that name.
            JobChanged: the job has ended.
        """
        state = _found(self._engine, job).state
        runs = jobs.c.state == JobState.RUNNING
        idle = JobState.CANCELLED if what == "cancel" else JobState.PAUSED
        with transaction(self._engine) as connection:
            accepted = _update(
                connection,
                job,
                jobs.c.state.not_in(ENDED),
                state=sa.case((runs, JobState.RUNNING), else_=idle),
                wanted=sa.case((runs, what), else_=None),
                changed=self._clock(),
            )
        if not accepted:
            raise JobChanged(f"job {job!r} has ended: {state}")

    def resume(self, job: str) -> None:
        """Let a paused, ended or stopping job continue. Raises `UnknownJob`."""
        _found(self._engine, job)
        runs = jobs.c.state == JobState.RUNNING
        with transaction(self._engine) as connection:
            _update(
                connection,
                job,
                state=sa.case((runs, JobState.RUNNING), else_=JobState.READY),
                error=None,
                wanted=None,
                changed=self._clock(),
            )

    def stop_request(self, job: str) -> str | None:
        """What the runners of a job have to do, "pause" or "cancel": a request that waits, or that one of them met."""
        found = _found(self._engine, job)
        stopped = {JobState.PAUSED: "pause", JobState.CANCELLED: "cancel"}
        request: str | None = found.wanted
        return request or stopped.get(JobState(found.state))


def reviews_of(ledger: Ledger, job: str) -> JobReviews:
    """The rows of a job to be reviewed by a person. Raises `UnknownJob`."""
    return ledger.rows(job).reviews(ledger.spec(job))


def _found(engine: sa.Engine, job: str) -> Any:
    """The table row of a job."""
    with transaction(engine) as connection:
        found = connection.execute(sa.select(jobs).where(jobs.c.id == job)).one_or_none()
    if found is None:
        raise UnknownJob(
            f"there is no job {job!r}",
            hint="`intaglio job list` shows all jobs, GET /v1/jobs those of a server",
        )
    return found


def _update(
    connection: sa.Connection, job: str, *conditions: sa.ColumnElement[bool], **values: Any
) -> bool:
    """Update a job if it exists and meets the conditions, in one statement; returns whether it did."""
    done = connection.execute(jobs.update().where(jobs.c.id == job, *conditions).values(**values))
    return done.rowcount > 0
