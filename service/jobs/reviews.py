"""The reviews of one job: rows with unsure values, and the decisions of a person about them.

Does: record the rows to review, list them page by page, store decisions, and give reviewed rows as gold data. Does not:
choose unsure values (`unsure_values`).
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import sqlalchemy as sa
from intaglio.grammar.api import parse_json
from intaglio.schemas.jobs import (
    GoldRow,
    JobSpec,
    ReviewDecision,
    ReviewPage,
    ReviewRow,
    ReviewState,
)
from pydantic import JsonValue

from ..errors import InvalidOutput
from ..extraction.nulls import nullable
from ..extraction.validate import check
from .records.errors import CorrectionRefused, UnknownReview
from .records.result_columns import whole_schema
from .records.row import Outcome, result_text
from .tables import ACCEPTED, CORRECTED, DONE, NEEDS_REVIEW, reviews, rows, transaction

MOST_ROWS: Final = 500
"""The greatest number of rows on a page."""

STATES: Final[dict[ReviewState, int]] = {
    "needs_review": NEEDS_REVIEW,
    "accepted": ACCEPTED,
    "corrected": CORRECTED,
}
_NAMES: Final = {number: name for name, number in STATES.items()}


class JobReviews:
    """The reviews of `job`. Thread-safe."""

    def __init__(self, engine: sa.Engine, job: str, spec: JobSpec) -> None:
        self._engine = engine
        self._job = job
        self._spec = spec

    def page(
        self, state: ReviewState = "needs_review", after: int = 0, limit: int = 50
    ) -> ReviewPage:
        """Rows of one state with a number greater than `after`, at most `limit`."""
        limit = min(limit, MOST_ROWS)
        wanted = (reviews.c.state == STATES[state], rows.c.row > after)
        found = self._found(*wanted, limit=limit + 1)
        more = len(found) > limit
        return ReviewPage(
            data=tuple(map(_review_row, found[:limit])), next=found[limit - 1].row if more else None
        )

    def decide(self, *decisions: ReviewDecision) -> None:
        """Accept or correct rows: all of them, or none if this raises. A later decision replaces an earlier one.

        Raises:
            UnknownReview: a row has nothing to review.
            CorrectionRefused: corrected data is not valid against the job's schema.
        """
        values = [self._values(decision) for decision in decisions]
        with transaction(self._engine) as connection:
            for decision, changes in zip(decisions, values, strict=True):
                here = (reviews.c.job == self._job, reviews.c.row == decision.row)
                if not connection.execute(reviews.update().where(*here).values(changes)).rowcount:
                    raise UnknownReview(
                        f"row {decision.row} of job {self._job!r} has nothing to review",
                        param="row",
                        hint="rows are numbered from 1; `intaglio job review JOB` lists those to review",
                    )

    def row(self, number: int) -> ReviewRow:
        """The row of this number that is or was to be reviewed. Raises `UnknownReview`."""
        found = self._found(rows.c.row == number, limit=1)
        if not found:
            raise UnknownReview(f"row {number} of job {self._job!r} has nothing to review")
        return _review_row(found[0])

    def accept_all(self) -> int:
        """Accept all rows that wait for a review; returns their number."""
        here = (reviews.c.job == self._job, reviews.c.state == NEEDS_REVIEW)
        with transaction(self._engine) as connection:
            return connection.execute(reviews.update().where(*here).values(state=ACCEPTED)).rowcount

    def number_of(self, row_id: str) -> int:
        """The number of the row with this id that is or was to be reviewed. Raises `UnknownReview`."""
        found = self._found(rows.c.id == row_id, limit=1)
        if not found:
            raise UnknownReview(f"no row with the id {row_id!r} has something to review")
        number: int = found[0].row
        return number

    def gold(self) -> Iterator[GoldRow]:
        """The reviewed rows as gold data, in the order of the source. Gold data has texts: rows with files are left
        out.
        """
        after = 0
        decided = sa.and_(reviews.c.state.in_((ACCEPTED, CORRECTED)), rows.c.files.is_(None))
        while found := self._found(decided, rows.c.row > after, limit=MOST_ROWS):
            for each in found:
                yield GoldRow(
                    id=each.id,
                    schema=self._spec.schema_,
                    text=each.text,
                    expected=_data(each),
                    decision=_NAMES[each.review],  # type: ignore[arg-type]  # not needs_review
                )
            after = found[-1].row

    def _found(self, *conditions: Any, limit: int) -> Sequence[Any]:
        joined = rows.join(
            reviews, sa.and_(reviews.c.job == rows.c.job, reviews.c.row == rows.c.row)
        )
        query = (
            sa.select(
                *(rows.c.row, rows.c.id, rows.c.text, rows.c.result),
                *(reviews.c.unsure, reviews.c.correction, reviews.c.state.label("review")),
            )
            .select_from(joined)
            .where(rows.c.job == self._job, *conditions)
            .order_by(rows.c.row)
            .limit(limit)
        )
        with transaction(self._engine) as connection:
            return connection.execute(query).all()

    def _values(self, decision: ReviewDecision) -> dict[str, Any]:
        if decision.decision == "accept":
            return {"state": ACCEPTED, "correction": None}
        self._require_valid(decision.data)
        return {"state": CORRECTED, "correction": result_text(decision.data)}

    def _require_valid(self, data: JsonValue) -> None:
        schema: Any = whole_schema(self._spec)
        if self._spec.options.not_stated == "null":
            schema = nullable(schema)
        try:
            check(parse_json(json.dumps(data), exact=True), schema)
        except (InvalidOutput, ValueError) as error:
            raise CorrectionRefused(
                f"the corrected data is not valid: {error}",
                param="data",
                hint="a correction must meet the job's schema, as results do",
            ) from None


def record_reviews(connection: sa.Connection, job: str, outcomes: Sequence[Outcome]) -> None:
    """Record the unsure values of the `outcomes` that count, in the transaction that has just stored them."""
    unsure = {o.claim.row: o for o in outcomes if o.unsure and o.failure is None}
    if not unsure:
        return
    query = sa.select(rows.c.row, rows.c.fence).where(
        rows.c.job == job, rows.c.row.in_(unsure), rows.c.state == DONE
    )
    counted = [row for row, fence in connection.execute(query) if unsure[row].claim.fence == fence]
    if counted:
        connection.execute(
            reviews.insert(),
            [
                {
                    "job": job,
                    "row": row,
                    "state": NEEDS_REVIEW,
                    "unsure": json.dumps(dict(unsure[row].unsure)),
                }
                for row in counted
            ],
        )


def review_counts(connection: sa.Connection, job: str) -> tuple[int, int]:
    """(rows that wait for a review, rows that were reviewed)."""
    query = (
        sa.select(reviews.c.state, sa.func.count())
        .where(reviews.c.job == job)
        .group_by(reviews.c.state)
    )
    found = {int(state): int(count) for state, count in connection.execute(query)}
    return found.get(NEEDS_REVIEW, 0), found.get(ACCEPTED, 0) + found.get(CORRECTED, 0)


def _review_row(found: Any) -> ReviewRow:
    return ReviewRow(
        row=found.row,
        id=found.id,
        state=_NAMES[found.review],
        unsure=json.loads(found.unsure),
        text=found.text,
        data=_data(found),
    )


def _data(found: Any) -> JsonValue:
    data: JsonValue = json.loads(found.result if found.correction is None else found.correction)
    return data
