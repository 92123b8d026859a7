"""The reviews of jobs over HTTP: the queue of rows to look at, decisions, and reviewed rows as gold data.

Does: translate between HTTP and the ledger. Does not: find unsure values or check corrections (`service/jobs/reviews`).
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, get_args

from intaglio.schemas.jobs import ReviewDecision, ReviewPage, ReviewRow, ReviewState
from intaglio.schemas.problem import Code
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ..errors import InvalidBody
from ..extraction.translate import request_body
from ..grounding.field_reports import locate
from ..keys.scopes import KeyScope
from .job_routes import job_host, own_job
from .limits import read_body
from .operations import BODY_ERRORS, LINES, Operation, Parameter, endings
from .routes import document
from .service_state import Service

if TYPE_CHECKING:
    from ..jobs.reviews import JobReviews

_MOST_ROWS = 500
_FLAGS = ("true", "false")
_STATES: Mapping[str, ReviewState] = {str(name): name for name in get_args(ReviewState)}


async def queue(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/review`: a page of the rows to review."""
    name = request.query_params.get("state", "needs_review")
    state = _STATES.get(name)
    if state is None:
        raise InvalidBody(
            f"there is no state {name[:20]!r}", param="state", hint=", ".join(_STATES)
        )
    after = _number(request, "after", 0, least=0)
    limit = _number(request, "limit", 50, least=1, most=_MOST_ROWS)
    sources = request.query_params.get("sources", "false")
    if sources not in _FLAGS:
        raise InvalidBody(f"sources is {sources[:20]!r}", param="sources", hint=", ".join(_FLAGS))
    reviews = await _reviews(service, request)

    def page() -> ReviewPage:
        found = reviews.page(state, after, limit)
        return found if sources == "false" else _located(found)

    return document(await service.offload(page))


async def decide(service: Service, request: Request) -> Response:
    """`POST /v1/jobs/{id}/review`: accept a row, or correct it."""
    reviews = await _reviews(service, request)
    body = await read_body(
        request,
        max_bytes=service.config.max_body_bytes,
        max_seconds=service.config.body_timeout_s,
    )
    decision = request_body(ReviewDecision, body, max_depth=service.config.max_json_depth)

    def decided() -> ReviewRow:
        reviews.decide(decision)
        return reviews.row(decision.row)

    return document(await service.offload(decided))


async def gold(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/gold`: the reviewed rows, one JSON object per line."""
    reviews = await _reviews(service, request)

    def lines() -> Iterator[str]:
        for row in reviews.gold():
            yield row.model_dump_json(by_alias=True) + "\n"

    return StreamingResponse(lines(), media_type=LINES)


def _located(page: ReviewPage) -> ReviewPage:
    """The page with the sources of all values."""
    rows = (
        row.model_copy(update={"sources": locate(row.text or "", row.data)}) for row in page.data
    )
    return page.model_copy(update={"data": tuple(rows)})


async def _reviews(service: Service, request: Request) -> "JobReviews":
    from ..jobs.ledger import reviews_of

    ledger = job_host(service).ledger
    return await service.offload(partial(reviews_of, ledger, own_job(service, request)))


def _number(request: Request, name: str, default: int, *, least: int, most: int = 2**31 - 1) -> int:
    """A number of the query. Raises `InvalidBody` if it is not a number, or out of its bounds."""
    text = request.query_params.get(name)
    if text is None:
        return default
    value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 10 else -1
    if not least <= value <= most:
        raise InvalidBody(f"{name} must be a number from {least} to {most}", param=name)
    return value


_JOB = Parameter("id", "path", "The job's id, as `POST /v1/jobs` gave it.")
_review = partial(Operation, scope=KeyScope.JOBS, group="Jobs")

OPERATIONS: tuple[Operation, ...] = (
    _review(
        method="GET",
        path="/v1/jobs/{id}/review",
        handler=queue,
        summary="Rows to review",
        description="Rows of a job with `review_below` that have a value of a lower probability, page by page.",
        gives=ReviewPage,
        parameters=(
            _JOB,
            Parameter("state", "query", "Which rows.", get_args(ReviewState), "needs_review"),
            Parameter("after", "query", "Rows with a greater number: `next` of the page before."),
            Parameter("limit", "query", "Rows on a page, at most 500.", default="50"),
            Parameter("sources", "query", "Whether to locate all values.", _FLAGS, "false"),
        ),
        errors=endings(Code.NOT_FOUND, Code.INVALID_REQUEST),
    ),
    _review(
        method="POST",
        path="/v1/jobs/{id}/review",
        handler=decide,
        summary="Review a row",
        description="Accepts the row as it is, or corrects it; corrected data must meet the job's schema.",
        takes=ReviewDecision,
        gives=ReviewRow,
        parameters=(_JOB,),
        errors=(*BODY_ERRORS, *endings(Code.NOT_FOUND), (Code.INVALID_REQUEST, 422)),
    ),
    _review(
        method="GET",
        path="/v1/jobs/{id}/gold",
        handler=gold,
        summary="Reviewed rows as gold data",
        description="One JSON object per line, as `intaglio eval` reads them: id, schema, text, expected, decision.",
        gives_media=LINES,
        parameters=(_JOB,),
        errors=endings(Code.NOT_FOUND),
    ),
)
