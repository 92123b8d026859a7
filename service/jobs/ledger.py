"""Jobs and where they stand, in a database: the one truth that outlives crashes.

Does: make, find and move jobs; `rows` gives the rows of one. Does not: run anything (`runner`) or read files.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import sqlalchemy as sa

from ...schemas.jobs import ENDED, JobSpec, JobState, JobStatus
from .errors import JobChanged, UnknownJob
from .outputs import JobOutputs
from .rows import JobRows
from .tables import connect, jobs, transaction


class Ledger:
    """A ledger. Safe to share between threads; processes open one each. `url` is a path or a SQLAlchemy URL.

    `shared`: whether several runners may work at one job; SQLite takes one. `file`: where a ledger of SQLite lies; None
    for one on a server.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.time) -> None:
        self._engine = connect(url)
        self._clock = clock
        self.shared: Final = self._engine.dialect.name != "sqlite"
        name = self._engine.url.database
        self.file: Final = None if self.shared or not name else Path(name)

    def rows(self, job: str) -> JobRows:
        """The rows of a job. Raises `UnknownJob`."""
        return JobRows(self._engine, self._clock, job, self.spec(job).extends)

    def outputs(self, job: str) -> JobOutputs:
        """The outputs of a job, and the files that it has written."""
        return JobOutputs(self._engine, job)

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def create(self, job: str, spec: JobSpec, digest: str, mark: str, model: str) -> None:
        """Begin a job.

        Raises:
            JobChanged: there is one of that name already.
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
                        mark=mark,
                        model=model,
                    )
                )
        except sa.exc.IntegrityError:
            raise JobChanged(f"there is a job {job!r} already", hint="name it otherwise") from None

    def spec(self, job: str) -> JobSpec:
        """What a job was asked to do. Raises `UnknownJob`."""
        return JobSpec.model_validate_json(_found(self._engine, job).spec, by_alias=True)

    def origin(self, job: str) -> tuple[str, str]:
        """(digest of the configuration, mark of the source). Raises `UnknownJob`."""
        found = _found(self._engine, job)
        return found.digest, found.mark

    def status(self, job: str) -> JobStatus:
        """How a job stands. Raises `UnknownJob`."""
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
        """Every job, the newest first."""
        with transaction(self._engine) as connection:
            return list(connection.scalars(sa.select(jobs.c.id).order_by(jobs.c.created.desc())))

    def open_jobs(self) -> int:
        """How many jobs have not ended."""
        ended = sa.select(sa.func.count()).select_from(jobs).where(jobs.c.state.not_in(ENDED))
        with transaction(self._engine) as connection:
            return connection.scalar(ended) or 0

    def move(self, job: str, state: JobState, error: str | None = None) -> None:
        """Set where a job stands."""
        with transaction(self._engine) as connection:
            _update(connection, job, state=state, error=error, wanted=None, changed=self._clock())

    def begin(self, job: str) -> bool:
        """Set a job running that is ready, or whose runner is gone; what it is asked to do since stays asked.

        False: it is neither, for it was paused or cancelled meanwhile.
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

    def ask(self, job: str, what: Literal["pause", "cancel"]) -> None:
        """Have a job paused or cancelled: by its runner where it runs, else at once.

        Raises:
            UnknownJob: there is none of that name.
            JobChanged: it has ended.
        """
        state = _found(self._engine, job).state
        runs = jobs.c.state == JobState.RUNNING
        idle = JobState.CANCELLED if what == "cancel" else JobState.PAUSED
        with transaction(self._engine) as connection:
            asked = _update(
                connection,
                job,
                jobs.c.state.not_in(ENDED),
                state=sa.case((runs, JobState.RUNNING), else_=idle),
                wanted=sa.case((runs, what), else_=None),
                changed=self._clock(),
            )
        if not asked:
            raise JobChanged(f"job {job!r} has ended: {state}")

    def resume(self, job: str) -> None:
        """Let a job go on, whether it was paused, has ended or is only asked to stop. Raises `UnknownJob`."""
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

    def wanted(self, job: str) -> str | None:
        """What a job's runner is asked to do."""
        wanted: str | None = _found(self._engine, job).wanted
        return wanted


def _found(engine: sa.Engine, job: str) -> Any:
    """The job's row of the table."""
    with transaction(engine) as connection:
        found = connection.execute(sa.select(jobs).where(jobs.c.id == job)).one_or_none()
    if found is None:
        raise UnknownJob(
            f"there is no job {job!r}",
            hint="intaglio job list names them; GET /v1/jobs those of a server",
        )
    return found


def _update(
    connection: sa.Connection, job: str, *conditions: sa.ColumnElement[bool], **values: Any
) -> bool:
    """Whether the job is there and meets the conditions, all in one statement."""
    done = connection.execute(jobs.update().where(jobs.c.id == job, *conditions).values(**values))
    return done.rowcount > 0
