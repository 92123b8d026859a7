"""The HTTP routes of jobs and their files.

Does: one function for each route, as in `routes`. Does not: run jobs (`jobs.host`). A server has jobs only if it was
started with a data folder.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from intaglio.schemas.jobs import ENDED, JobStatus, Output, OutputFormat
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse

from ..errors import ClientGone, InvalidBody, RouteNotFound
from ..extraction.extract import find_schema
from ..extraction.translate import job_request
from .limits import read_body
from .routes import Handler, Service, document

if TYPE_CHECKING:
    from ..jobs.host import JobHost

_MEDIA: Mapping[OutputFormat, str] = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "xml": "application/xml",
}
_EVENT_S = 0.5


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


async def upload(service: Service, request: Request) -> Response:
    """`PUT /v1/files/{name}`: store a file; replaces a file of that name."""
    jobs = job_host(service)
    with service.gate.admit():
        size = await jobs.files.save(request.path_params["name"], _body_chunks(request))
    return _json({"name": request.path_params["name"], "bytes": size}, 201)


async def _body_chunks(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        raise ClientGone("the client disconnected before its file had arrived") from None


async def files(service: Service, _request: Request) -> Response:
    """`GET /v1/files`: all files with their sizes."""
    listing = await service.offload(job_host(service).files.names)
    return _json({"data": [{"name": name, "bytes": size} for name, size in listing.items()]})


async def delete_file(service: Service, request: Request) -> Response:
    """`DELETE /v1/files/{name}`: delete a file. Rows that were read from it remain."""
    await service.offload(partial(job_host(service).files.delete, request.path_params["name"]))
    return Response(status_code=204)


async def create(service: Service, request: Request) -> Response:
    """`POST /v1/jobs`: start a job over an uploaded file. `Idempotency-Key` makes the request safe to repeat."""
    jobs = job_host(service)
    service.ready()
    body = await read_body(
        request,
        max_bytes=service.config.max_body_bytes,
        max_seconds=service.config.body_timeout_s,
    )
    spec = job_request(body, max_depth=service.config.max_json_depth)
    find_schema(spec.schema_)  # refuse an unknown schema now, not when the job starts
    key = request.headers.get("idempotency-key")
    status = await service.offload(partial(jobs.submit, spec, service.model, key))
    return document(status, 201)


async def show(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}`: the status of a job."""
    return document(await _status(service, request))


async def list_jobs(service: Service, _request: Request) -> Response:
    """`GET /v1/jobs`: all jobs, newest first."""
    ledger = job_host(service).ledger

    def statuses() -> list[Any]:
        return [ledger.status(job).model_dump(mode="json") for job in ledger.names()]

    return _json({"data": await service.offload(statuses)})


async def change_state(
    service: Service, request: Request, *, what: Literal["pause", "cancel", "resume"]
) -> Response:
    """`POST /v1/jobs/{id}/pause`, `…/cancel`, `…/resume`."""
    job = request.path_params["id"]
    return document(await service.offload(partial(job_host(service).request, job, what)))


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

    jobs, job = job_host(service), request.path_params["id"]
    name = request.query_params.get("format", "jsonl")
    if name not in get_args(OutputFormat):
        raise InvalidBody(
            f"there is no format {name[:20]!r}", param="format", hint=", ".join(_MEDIA)
        )
    neutralise = request.query_params.get("formulas", "neutralise") != "keep"
    output = Output.model_validate({"path": "-", "format": name, "neutralise": neutralise})

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
    return FileResponse(
        path,
        media_type=_MEDIA[output.format or "jsonl"],
        filename=f"{job}.{name}",
        background=BackgroundTask(path.unlink),
    )


async def dead(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/dead`: the rows without a result, one JSON object per line."""
    from ..jobs.records.row import dead_row
    from ..jobs.tables import DEAD

    await _status(service, request)
    rows = job_host(service).ledger.rows(request.path_params["id"])
    lines = (dead_row(row).model_dump_json() + "\n" for row in rows.results(DEAD))
    return StreamingResponse(lines, media_type="application/jsonl")


async def report(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/report`: the report of a job, as HTML or JSON by the Accept header."""
    from ..jobs.report import as_html, as_json, gather

    gathered = await service.offload(
        partial(gather, job_host(service).ledger, request.path_params["id"])
    )
    if "html" in request.headers.get("accept", ""):
        return HTMLResponse(as_html(gathered))
    return Response(as_json(gathered), media_type="application/json")


async def _status(service: Service, request: Request) -> JobStatus:
    return await service.offload(
        partial(job_host(service).ledger.status, request.path_params["id"])
    )


def _json(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(value), status_code=status, media_type="application/json")


JOB_ROUTES: Mapping[str, Mapping[str, Handler]] = {
    "/v1/files": {"GET": files},
    "/v1/files/{name}": {"PUT": upload, "DELETE": delete_file},
    "/v1/jobs": {"GET": list_jobs, "POST": create},
    "/v1/jobs/{id}": {"GET": show},
    "/v1/jobs/{id}/events": {"GET": events},
    "/v1/jobs/{id}/results": {"GET": results},
    "/v1/jobs/{id}/dead": {"GET": dead},
    "/v1/jobs/{id}/report": {"GET": report},
    "/v1/jobs/{id}/pause": {"POST": partial(change_state, what="pause")},
    "/v1/jobs/{id}/cancel": {"POST": partial(change_state, what="cancel")},
    "/v1/jobs/{id}/resume": {"POST": partial(change_state, what="resume")},
}
