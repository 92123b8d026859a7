"""The HTTP routes of jobs.

Does: one function for each operation and their table, as in `routes`. Does not: run jobs (`jobs.host`). A server has
jobs only if it was started with a data folder.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from intaglio.schemas.extraction.requests import ExtractRequest
from intaglio.schemas.jobs import ENDED, JobSpec, JobStatus, Output, OutputFormat
from intaglio.schemas.problem import Code
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from ..errors import InvalidBody, RouteNotFound
from ..extraction.translate import job_request
from .extraction_runs import examine
from .job_models import computed_by, reads_images
from .limits import read_body
from .operations import (
    BODY_ERRORS,
    BUSY_ERRORS,
    EVENTS,
    LINES,
    NO_RANGE,
    SCHEMA_ERRORS,
    KeyScope,
    Operation,
    Parameter,
    endings,
)
from .principal import current_principal
from .routes import document, page_limit
from .sent_file import SentFile
from .service_state import Service

if TYPE_CHECKING:
    from ..batches.client_files import ClientFiles
    from ..jobs.host import JobHost

_MEDIA: Mapping[OutputFormat, str] = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "xml": "application/xml",
}
_EVENT_S = 0.5
_MOST_JOBS = 10_000  # as the limit of a list; a list without one has all
_Change = Literal["pause", "cancel", "resume"]
_CHANGES: Mapping[_Change, str] = {
    "pause": "Pause a job after its rows in flight",
    "cancel": "Cancel a job; its results so far are kept",
    "resume": "Resume a job that was paused, was cancelled or has failed",
}


def source_files(service: Service) -> "ClientFiles":
    """The files of clients, from which jobs read. Raises as `job_host`."""
    job_host(service)
    assert service.batches is not None  # opened together with the jobs
    return service.batches.files


def job_host(service: Service) -> "JobHost":
    """The jobs of this server.

    Raises:
        RouteNotFound: the server has no data folder.
    """
    if service.jobs is None:
        raise RouteNotFound(
            "this server runs no jobs",
            hint="start it with a data folder: intaglio serve --data DIR",
        )
    return service.jobs


async def create(service: Service, request: Request) -> Response:
    """`POST /v1/jobs`: start a job over an uploaded file. `Idempotency-Key` makes the request safe to repeat."""
    from ..jobs.source_images import ServedModel, image_access

    jobs = job_host(service)
    service.ready()
    body = await read_body(
        request,
        max_bytes=service.config.max_body_bytes,
        max_seconds=service.config.body_timeout_s,
    )
    spec = job_request(body, max_depth=service.config.max_json_depth)
    if spec.extends is not None:
        await service.offload(partial(_require_own_job, service, spec.extends))
    # Now, not when the job starts: its name may be unknown, or mean another version by then.
    tenant = current_principal().tenant
    schema = await service.offload(partial(service.schemas.resolve, tenant, spec.schema_))
    spec = spec.model_copy(update={"schema_": schema})
    await _examine(service, spec)
    # The adapter's name must mean the same content for every row.
    model = await service.offload(partial(computed_by, service, spec.adapter))
    name, files = spec.source.path, source_files(service)
    path = await service.offload(lambda: files.path(name, tenant))
    seen = ServedModel(model, reads_images(service))
    images = partial(image_access, spec.source, path, seen, lambda named: files.path(named, tenant))
    key, owner = request.headers.get("idempotency-key"), current_principal().key_id

    def submit() -> JobStatus:
        return jobs.submit(spec, path, model, key, owner, images())

    return document(await service.offload(submit), 201)


async def show(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}`: the status of a job."""
    return document(await _status(service, request))


async def list_jobs(service: Service, request: Request) -> Response:
    """`GET /v1/jobs`: all jobs, or the first `limit`, newest first.

    Raises:
        InvalidBody: `limit` is not a number of jobs.
    """
    given = "limit" in request.query_params
    most = page_limit(request, _MOST_JOBS, _MOST_JOBS) if given else None
    ledger = job_host(service).ledger
    jobs = [job for job in await service.offload(ledger.names) if _is_own(service, job)][:most]

    def statuses() -> list[Any]:
        return [ledger.status(job).model_dump(mode="json") for job in jobs]

    return _json({"data": await service.offload(statuses)})


async def change_state(service: Service, request: Request, *, what: _Change) -> Response:
    """`POST /v1/jobs/{id}/pause`, `…/cancel`, `…/resume`."""
    jobs, job = job_host(service), own_job(service, request)
    return document(await service.offload(partial(jobs.request, job, what)))


async def events(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/events`: server-sent events with the status of a job on every change, until it ends."""
    first = await _status(service, request)

    async def stream() -> AsyncIterator[str]:
        status, last = first, ""
        while True:
            line = status.model_dump_json()
            if line != last:
                yield f"event: {'end' if status.state in ENDED else 'status'}\ndata: {line}\n\n"
                last = line
            if status.state in ENDED or service.gate.is_closed:
                return
            await asyncio.sleep(_EVENT_S)
            status = await _status(service, request)

    return StreamingResponse(stream(), media_type="text/event-stream")


async def results(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/results?format=csv`: the finished rows in the order of the source."""
    from ..jobs.records.result_columns import Layout
    from ..jobs.tables import DONE
    from ..jobs.writers import write

    jobs, job = job_host(service), own_job(service, request)
    name = request.query_params.get("format", "jsonl")
    if name not in get_args(OutputFormat):
        raise InvalidBody(
            f"there is no format {name[:20]!r}", param="format", hint=", ".join(_MEDIA)
        )
    formulas = request.query_params.get("formulas", "neutralise")
    if formulas not in _FORMULAS.choices:
        raise InvalidBody(
            f"formulas: must be one of {', '.join(_FORMULAS.choices)}", param="formulas"
        )
    output = Output.model_validate(
        {"path": "-", "format": name, "neutralise": formulas == "neutralise"}
    )

    def write_file() -> Path:
        spec, rows = jobs.ledger.spec(job), jobs.ledger.rows(job)
        layout = Layout.of(spec, rows.kept_types())
        with ExitStack() as undo:
            file = undo.enter_context(tempfile.NamedTemporaryFile(prefix="results-", delete=False))
            undo.callback(Path(file.name).unlink)  # do not leave a partial file on a full disk
            write(file, lambda: rows.results(DONE), layout, output)  # type: ignore[arg-type]
            file.close()
            undo.pop_all()
        return Path(file.name)

    path = await service.offload(write_file)
    media = _MEDIA[output.format or "jsonl"]
    return SentFile(path, media=media, filename=f"{job}.{name}", temporary=True)


async def dead(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/dead`: the rows without a result, one JSON object per line."""
    from ..jobs.records.row import dead_row
    from ..jobs.tables import DEAD

    await _status(service, request)
    rows = job_host(service).ledger.rows(own_job(service, request))
    lines = (dead_row(row).model_dump_json() + "\n" for row in rows.results(DEAD))
    return StreamingResponse(lines, media_type="application/jsonl")


async def report(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/report`: the report of a job, as HTML or JSON by the Accept header."""
    from ..jobs.report import as_html, as_json, gather

    gathered = await service.offload(
        partial(gather, job_host(service).ledger, own_job(service, request))
    )
    if "html" in request.headers.get("accept", ""):
        return HTMLResponse(as_html(gathered))
    return Response(as_json(gathered), media_type="application/json")


async def _status(service: Service, request: Request) -> JobStatus:
    ledger = job_host(service).ledger
    return await service.offload(partial(ledger.status, own_job(service, request)))


def own_job(service: Service, request: Request) -> str:
    """The name of a job in the path of a request.

    Raises:
        UnknownJob: the tenant has no job of that name; another one may have.
    """
    from ..jobs.records.errors import UnknownJob

    job: str = request.path_params["id"]
    if not _is_own(service, job):
        raise UnknownJob(f"there is no job {job[:80]!r}", hint="GET /v1/jobs lists all jobs")
    return job


async def _examine(service: Service, spec: JobSpec) -> None:
    """Refuse a schema or options with which no row could be extracted. Raises as `examine`."""
    probe = ExtractRequest(schema=spec.schema_, text="a document", options=spec.options)
    await examine(service, lambda extractor: extractor.parse(probe))


def _require_own_job(service: Service, job: str) -> None:
    """Refuse a job to extend that the tenant has not: its values would be those of another. Raises `InvalidBody`."""
    if not _is_own(service, job) or job not in job_host(service).ledger.names():
        raise InvalidBody(
            f"extends: there is no job {job[:80]!r}",
            param="extends",
            hint="GET /v1/jobs lists all jobs",
        )


def _is_own(service: Service, job: str) -> bool:
    """Whether a job belongs to the current tenant. A name with an unknown key belongs to no tenant."""
    from ..jobs.owners import key_of

    return service.access.tenant_of(key_of(job)) == current_principal().tenant


def _json(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(value), status_code=status, media_type="application/json")


_JOB = Parameter("id", "path", "The job's id, as `POST /v1/jobs` gave it.")
_FORMAT = Parameter("format", "query", "Format of the rows.", get_args(OutputFormat), "jsonl")
_FORMULAS = Parameter(
    "formulas",
    "query",
    "`neutralise` puts an apostrophe before cells that look like formulas; `keep` leaves them as they are.",
    ("neutralise", "keep"),
    "neutralise",
)
_KEY = Parameter(
    "Idempotency-Key",
    "header",
    "Makes the request safe to repeat: the same key and job give the job that exists.",
)
_CONFLICT = (Code.INVALID_REQUEST, 409)
_CHANGED = (Code.INVALID_REQUEST, 422)

_job = partial(Operation, scope=KeyScope.JOBS, group="Jobs")

OPERATIONS: tuple[Operation, ...] = (
    _job(
        method="POST",
        path="/v1/jobs",
        handler=create,
        summary="Create a job",
        description="Extracts from every record of an uploaded file.",
        takes=JobSpec,
        gives=JobStatus,
        status=201,
        parameters=(_KEY,),
        errors=(
            *BODY_ERRORS,
            *SCHEMA_ERRORS,
            *endings(Code.UNKNOWN_MODEL, Code.NOT_FOUND),
            _CHANGED,
            *BUSY_ERRORS,
        ),
    ),
    _job(
        method="GET",
        path="/v1/jobs",
        handler=list_jobs,
        summary="List the jobs",
        description='`{"data": [JobStatus, …]}`, newest first.',
        parameters=(Parameter("limit", "query", "The most jobs of the list; without it, all."),),
        errors=endings(Code.INVALID_REQUEST, Code.NOT_FOUND),
    ),
    _job(
        method="GET",
        path="/v1/jobs/{id}",
        handler=show,
        summary="Status of a job",
        gives=JobStatus,
        parameters=(_JOB,),
        errors=endings(Code.NOT_FOUND),
    ),
    _job(
        method="GET",
        path="/v1/jobs/{id}/events",
        handler=events,
        summary="Follow a job",
        description="Server-sent events: `status` with a JobStatus whenever it changes, `end` with the last one.",
        gives_media=EVENTS,
        parameters=(_JOB,),
        errors=endings(Code.NOT_FOUND),
    ),
    _job(
        method="GET",
        path="/v1/jobs/{id}/results",
        handler=results,
        summary="Results of a job",
        description="The finished rows, in the order of the source; also while the job runs.",
        gives_media=LINES,
        or_media=tuple(media for media in _MEDIA.values() if media != LINES),
        or_status=206,
        parameters=(_JOB, _FORMAT, _FORMULAS),
        errors=(*endings(Code.NOT_FOUND, Code.INVALID_REQUEST), NO_RANGE),
    ),
    _job(
        method="GET",
        path="/v1/jobs/{id}/dead",
        handler=dead,
        summary="Rows without a result",
        description="One JSON object per line: row, id, code, reason, pointer, hint, attempts.",
        gives_media=LINES,
        parameters=(_JOB,),
        errors=endings(Code.NOT_FOUND),
    ),
    _job(
        method="GET",
        path="/v1/jobs/{id}/report",
        handler=report,
        summary="Report of a job",
        description="JSON, or an HTML page if the `Accept` header asks for HTML.",
        or_media=("text/html",),
        parameters=(_JOB,),
        errors=endings(Code.NOT_FOUND),
    ),
    *(
        _job(
            method="POST",
            path=f"/v1/jobs/{{id}}/{what}",
            handler=partial(change_state, what=what),
            summary=summary,
            gives=JobStatus,
            parameters=(_JOB,),
            errors=(*endings(Code.NOT_FOUND), _CONFLICT, _CHANGED),
        )
        for what, summary in _CHANGES.items()
    ),
)
