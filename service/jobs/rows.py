"""The rows of one job: leased to runners, and completed exactly once.

Does: add rows, lease them, record outcomes, each in one transaction. An outcome counts once: it carries the fence
number of its lease and is dropped if the row has been leased again since. Does not: handle jobs (`ledger`).

Leases follow Gray and Cheriton (1989), fences Burrows' Chubby (2006): no row is committed twice even if a clock jumps
or a worker sleeps.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import sqlalchemy as sa
from intaglio.schemas.jobs import REVIEW_COLUMN, JobCounts, JobSpec
from intaglio.schemas.problem import Code

from .records.row import Claim, Failure, NewRow, Outcome, RowResult, result_text, text_digest
from .records.row_files import RowFiles
from .reviews import JobReviews, record_reviews, review_counts
from .tables import DEAD, DONE, NEEDS_REVIEW, PENDING, RUNNING, jobs, reviews, rows, transaction

# The first rows of a job keep their text after completion, for the samples of its report; rows to review keep theirs,
# too.
KEPT_TEXTS: Final = 20
_PAGE: Final = 500
_SUSPECT_AFTER: Final = 2  # attempts after which a row is suspected to kill the engine

# The lease of the row is still the one that the outcome belongs to.
_LEASED: Final = (
    rows.c.job == sa.bindparam("in_job"),
    rows.c.row == sa.bindparam("in_row"),
    rows.c.state == RUNNING,
    rows.c.fence == sa.bindparam("in_fence"),
)
_REVIEWED: Final = sa.and_(reviews.c.job == rows.c.job, reviews.c.row == rows.c.row)
_UPDATE_DONE: Final = (
    rows.update()
    .where(*_LEASED)
    .values(
        state=DONE,
        holder=None,
        lease=0.0,
        failure=None,
        **{
            name: sa.bindparam(name)
            for name in (
                *("result", "warnings", "fields", "text", "files"),
                *("prompt_tokens", "output_tokens", "seconds"),
            )
        },
    )
)
_UPDATE_FAILED: Final = (
    rows.update()
    .where(*_LEASED)
    .values(
        holder=None,
        lease=0.0,
        attempts=rows.c.attempts - sa.bindparam("uncharged", type_=sa.Integer),
        # An uncharged failure does not replace a charged one.
        failure=sa.case(
            (
                sa.and_(
                    sa.bindparam("uncharged", type_=sa.Integer) == 1, rows.c.failure.is_not(None)
                ),
                rows.c.failure,
            ),
            else_=sa.bindparam("failure", type_=sa.Text),
        ),
        **{name: sa.bindparam(name) for name in ("state", "due")},
    )
)


class JobRows:
    """The rows of `job`; `extends` names the job that values are kept from. Thread-safe."""

    def __init__(
        self, engine: sa.Engine, clock: Callable[[], float], job: str, extends: str | None
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._job = job
        self._extends = extends
        self._in_job = rows.c.job == job

    @contextmanager
    def reader_lock(self) -> Iterator[bool]:
        """Whether this runner may read the source now: one of the runners that share a job; the lock ends with its
        process.
        """
        if self._engine.dialect.name == "sqlite":
            yield True  # SQLite has a single runner
            return
        number = int(text_digest(self._job)[:15], 16)
        with self._engine.connect() as connection:
            query = sa.select(sa.func.pg_try_advisory_lock(number))
            is_reader = bool(connection.scalar(query))
            connection.commit()
            try:
                yield is_reader
            finally:
                if is_reader:
                    connection.execute(sa.select(sa.func.pg_advisory_unlock(number)))
                    connection.commit()

    def counts(self) -> JobCounts:
        """Rows by state, and the tokens of the done ones."""
        total = sa.func.sum
        columns = (rows.c.prompt_tokens, rows.c.output_tokens)
        query = (
            sa.select(rows.c.state, sa.func.count(), *(total(column) for column in columns))
            .where(self._in_job)
            .group_by(rows.c.state)
        )
        with transaction(self._engine) as connection:
            found = {state: rest for state, *rest in connection.execute(query)}
            needs_review, reviewed = review_counts(connection, self._job)
        count = {state: found.get(state, (0,))[0] for state in (PENDING, RUNNING, DONE, DEAD)}
        _, prompt, output = found.get(DONE, (0, 0, 0))
        return JobCounts(
            rows=sum(count.values()),
            pending=count[PENDING],
            running=count[RUNNING],
            done=count[DONE],
            dead=count[DEAD],
            prompt_tokens=prompt,
            output_tokens=output,
            needs_review=needs_review,
            reviewed=reviewed,
        )

    def reviews(self, spec: JobSpec) -> JobReviews:
        """The reviews of rows by a person, for the job's specification."""
        return JobReviews(self._engine, self._job, spec)

    def read_position(self) -> tuple[int, bool]:
        """(number of source records that have been added, whether that is all)."""
        query = sa.select(jobs.c.read, jobs.c.whole).where(jobs.c.id == self._job)
        with transaction(self._engine) as connection:
            read, whole = connection.execute(query).one()
        return read, whole

    def kept_types(self) -> str | None:
        """The encoded types of the kept columns (`kept_values`).

        None: nothing was read yet, or an older version read it and kept every value as text.
        """
        query = sa.select(jobs.c.kept).where(jobs.c.id == self._job)
        with transaction(self._engine) as connection:
            types: str | None = connection.scalar(query)
        return types

    def add_rows(
        self, new: Sequence[NewRow], read: int, *, whole: bool, kept: str | None = None
    ) -> None:
        """Add rows, and update the read position in the same transaction.

        A row with a duplicate id is dead. A job that extends another gets the earlier values for the same id and text.
        `kept` are the types of the kept columns, if they are not stored yet.
        """
        now = self._clock()
        with transaction(self._engine) as connection:
            ids = [row.id for row in new]
            known = set(
                connection.scalars(sa.select(rows.c.id).where(self._in_job, rows.c.id.in_(ids)))
            )
            given = (
                _earlier_results(connection, self._extends, ids)
                if self._extends is not None
                else {}
            )
            values = []
            for row in new:
                failure = row.failure
                if failure is None and row.id in known:
                    hint = "ids must be unique in a job; name another field, or none"
                    failure = Failure(
                        "duplicate_id", f"another row has the id {row.id!r}", hint=hint
                    )
                known.add(row.id)
                digest = text_digest(row.text or "", row.files)
                values.append(
                    {
                        "job": self._job,
                        "row": row.row,
                        "id": row.id,
                        "digest": digest,
                        "keep": row.keep,
                        "text": row.text,
                        "files": None if row.files is None else row.files.encoded(),
                        "given": given.get((row.id, digest)),
                        "state": PENDING if failure is None else DEAD,
                        "failure": None if failure is None else _encoded(failure),
                    }
                )
            if values:
                connection.execute(rows.insert(), values)
            connection.execute(
                jobs.update()
                .where(jobs.c.id == self._job)
                .values(read=read, whole=whole, changed=now, **({"kept": kept} if kept else {}))
            )

    def claim(self, holder: str, limit: int, lease_s: float) -> list[Claim]:
        """Lease up to `limit` due rows in order, first those with an expired lease."""
        now = self._clock()
        expired = (rows.c.state == RUNNING, rows.c.lease < now)
        due = (rows.c.state == PENDING, rows.c.due <= now)
        with transaction(self._engine) as connection:
            found: list[sa.Row[Any]] = []
            # Each is an index scan, independent of the size of the job.
            for condition in (expired, due):
                query = sa.select(rows).where(self._in_job, *condition).order_by(rows.c.row)
                query = query.limit(limit - len(found)).with_for_update(skip_locked=True)
                found += connection.execute(query).all()
            if found:
                connection.execute(
                    rows.update()
                    .where(self._in_job, rows.c.row.in_([row.row for row in found]))
                    .values(
                        state=RUNNING,
                        holder=holder,
                        lease=now + lease_s,
                        fence=rows.c.fence + 1,
                        attempts=rows.c.attempts + 1,
                    )
                )
        return [
            Claim(
                row.row,
                row.id,
                row.text or "",
                None if row.given is None else json.loads(row.given),
                row.attempts + 1,
                row.fence + 1,
                row.attempts >= _SUSPECT_AFTER and _was_lost(row.failure),
                None if row.files is None else RowFiles.decoded(row.files),
            )
            for row in found
        ]

    def renew(self, holder: str, lease_s: float) -> None:
        """Extend the leases of a holder by `lease_s`."""
        leased = (self._in_job, rows.c.state == RUNNING, rows.c.holder == holder)
        with transaction(self._engine) as connection:
            connection.execute(rows.update().where(*leased).values(lease=self._clock() + lease_s))

    def record_outcomes(self, outcomes: Sequence[Outcome]) -> int:
        """Record outcomes; returns how many counted. The rows of the others have been leased again since."""
        done = [_done(self._job, outcome) for outcome in outcomes if outcome.failure is None]
        failed = [
            _failed(self._job, outcome, outcome.failure) for outcome in outcomes if outcome.failure
        ]
        counted = 0
        with transaction(self._engine) as connection:
            for statement, values in ((_UPDATE_DONE, done), (_UPDATE_FAILED, failed)):
                if values:
                    counted += connection.execute(statement, values).rowcount
            record_reviews(connection, self._job, outcomes)
            connection.execute(
                jobs.update().where(jobs.c.id == self._job).values(changed=self._clock())
            )
        return counted

    def release(self, holder: str | None = None) -> int:
        """Return leased rows to pending without charging the attempt: those of `holder`, or all. Returns the number."""
        held = [self._in_job, rows.c.state == RUNNING]
        if holder is not None:
            held.append(rows.c.holder == holder)
        values = {"state": PENDING, "attempts": rows.c.attempts - 1, "lease": 0.0}
        with transaction(self._engine) as connection:
            return connection.execute(rows.update().where(*held).values(values)).rowcount

    def requeue_dead(self) -> int:
        """Return dead rows that have a text to pending; returns their number."""
        dead = (self._in_job, rows.c.state == DEAD, rows.c.text.is_not(None))
        kept = sa.not_(rows.c.failure.contains('"duplicate_id"'))
        values = {"state": PENDING, "attempts": 0, "due": 0.0, "failure": None}
        with transaction(self._engine) as connection:
            return connection.execute(rows.update().where(*dead, kept).values(values)).rowcount

    def next_due(self) -> float | None:
        """The time when the next pending row is due; None without pending rows."""
        query = sa.select(sa.func.min(rows.c.due)).where(self._in_job, rows.c.state == PENDING)
        with transaction(self._engine) as connection:
            due: float | None = connection.scalar(query)
        return due

    def results(self, *states: int) -> Iterator[RowResult]:
        """Rows in source order, optionally only of `states`. Memory does not grow with the job."""
        last = 0
        query = sa.select(
            rows, reviews.c.state.label("review"), reviews.c.unsure, reviews.c.correction
        )
        query = query.select_from(rows.outerjoin(reviews, _REVIEWED))
        query = query.where(self._in_job).order_by(rows.c.row).limit(_PAGE)
        if states:
            query = query.where(rows.c.state.in_(states))
        while True:
            with transaction(self._engine) as connection:
                page = connection.execute(query.where(rows.c.row > last)).all()
            for row in page:
                yield _result(row)
            if len(page) < _PAGE:
                return
            last = page[-1].row


def _earlier_results(
    connection: sa.Connection, job: str, ids: Sequence[str]
) -> dict[tuple[str, str], str | None]:
    value = sa.func.coalesce(reviews.c.correction, rows.c.result)
    query = sa.select(rows.c.id, rows.c.digest, value).select_from(
        rows.outerjoin(reviews, _REVIEWED)
    )
    query = query.where(rows.c.job == job, rows.c.state == DONE, rows.c.id.in_(ids))
    return {(name, digest): result for name, digest, result in connection.execute(query)}


def _was_lost(failure: str | None) -> bool:
    return failure is not None and json.loads(failure)["code"] == Code.ENGINE_LOST


def _encoded(failure: Failure) -> str:
    return json.dumps(
        {
            "code": failure.code,
            "reason": failure.reason,
            "pointer": failure.pointer,
            "hint": failure.hint,
        },
        ensure_ascii=False,
    )


def _lease_params(job: str, claim: Claim) -> dict[str, Any]:
    return {"in_job": job, "in_row": claim.row, "in_fence": claim.fence}


def _done(job: str, outcome: Outcome) -> dict[str, Any]:
    keeps_text = outcome.claim.row <= KEPT_TEXTS or bool(outcome.unsure)
    files = outcome.claim.files if outcome.unsure else None  # gold data is made of texts
    return _lease_params(job, outcome.claim) | {
        "result": outcome.result,
        "warnings": result_text(list(outcome.warnings)) if outcome.warnings else None,
        "fields": result_text(dict(outcome.fields)) if outcome.fields else None,
        "text": outcome.claim.text if keeps_text else None,
        "files": None if files is None else files.encoded(),
        "prompt_tokens": outcome.prompt_tokens,
        "output_tokens": outcome.output_tokens,
        "seconds": outcome.seconds,
    }


def _failed(job: str, outcome: Outcome, failure: Failure) -> dict[str, Any]:
    return _lease_params(job, outcome.claim) | {
        "state": PENDING if failure.may_retry else DEAD,
        "due": outcome.due,
        "failure": _encoded(failure),
        "uncharged": 0 if failure.charged else 1,
    }


def _result(row: Any) -> RowResult:
    keep = json.loads(row.keep)
    if row.review == NEEDS_REVIEW:
        keep[REVIEW_COLUMN] = list(json.loads(row.unsure))
    result = row.result if row.correction is None else row.correction
    return RowResult(
        row.row,
        row.id,
        keep,
        row.state,
        row.attempts,
        row.text,
        None if result is None else json.loads(result),
        None if row.failure is None else Failure(**json.loads(row.failure)),
        (row.prompt_tokens, row.output_tokens, row.seconds),
        () if row.warnings is None else tuple(json.loads(row.warnings)),
        # The reports are those of the values that a correction has replaced.
        {} if row.fields is None or row.correction is not None else json.loads(row.fields),
    )
