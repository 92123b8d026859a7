"""The routes of jobs and their files: HTTP in, HTTP out.

Does: one function a route, as in `routes`. Does not: run jobs (`jobs.host`). A server has these only where it was given
a data folder.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse

from ..schemas.jobs import ENDED, JobStatus, Output, OutputFormat
from .errors import ClientGone, InvalidBody, NotFound
from .extract import find_schema
from .limits import read_body
from .routes import Handler, Service, document
from .translate import job_request

if TYPE_CHECKING:
    from .jobs.host import JobHost

_MEDIA: Mapping[OutputFormat, str] = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "xml": "application/xml",
}
_EVENT_S = 0.5


def host(service: Service) -> "JobHost":
    """The jobs of this server.

    Raises:
        NotFound: it was given no data folder.
    """
    if service.jobs is None:
        raise NotFound(
            "this server runs no jobs",
            hint="start it with a data folder: intaglio serve --data DIR",
        )
    return service.jobs


async def upload(service: Service, request: Request) -> Response:
    """`PUT /v1/files/{name}`: keep a file, in place of one of that name."""
    jobs = host(service)
    with service.gate.enter():
        size = await jobs.files.save(request.path_params["name"], _chunks(request))
    return _json({"name": request.path_params["name"], "bytes": size}, 201)


async def _chunks(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        raise ClientGone("the client hung up before its file had arrived") from None


async def files(service: Service, _request: Request) -> Response:
    """`GET /v1/files`: every file and its size."""
    found = await service.offload(host(service).files.names)
    return _json({"data": [{"name": name, "bytes": size} for name, size in found.items()]})


async def delete_file(service: Service, request: Request) -> Response:
    """`DELETE /v1/files/{name}`: forget a file. Rows that were read from it stay."""
    await service.offload(partial(host(service).files.delete, request.path_params["name"]))
    return Response(status_code=204)


async def create(service: Service, request: Request) -> Response:
    """`POST /v1/jobs`: begin a job over an uploaded file. `Idempotency-Key` makes it safe to send twice."""
    jobs = host(service)
    service.ready()
    body = await read_body(
        request,
        most_bytes=service.config.max_body_bytes,
        most_seconds=service.config.body_timeout_s,
    )
    spec = job_request(body, max_depth=service.config.max_json_depth)
    find_schema(spec.schema_)  # one that is not there is refused at once, not when its turn comes
    key = request.headers.get("idempotency-key")
    status = await service.offload(partial(jobs.submit, spec, service.model, key))
    return document(status, 201)


async def show(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}`: how a job stands."""
    return document(await _status(service, request))


async def list_jobs(service: Service, _request: Request) -> Response:
    """`GET /v1/jobs`: every job, the newest first."""
    ledger = host(service).ledger

    def every() -> list[Any]:
        return [ledger.status(job).model_dump(mode="json") for job in ledger.names()]

    return _json({"data": await service.offload(every)})


async def ask(
    service: Service, request: Request, *, what: Literal["pause", "cancel", "resume"]
) -> Response:
    """`POST /v1/jobs/{id}/pause`, `…/cancel`, `…/resume`."""
    job = request.path_params["id"]
    return document(await service.offload(partial(host(service).ask, job, what)))


async def events(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/events`: how the job stands, as server-sent events whenever that changes, until it ends."""
    first = await _status(service, request)

    async def told() -> AsyncIterator[str]:
        status, last = first, ""
        while True:
            line = status.model_dump_json()
            if line != last:
                yield f"event: {'end' if status.state in ENDED else 'status'}\ndata: {line}\n\n"
                last = line
            if status.state in ENDED or service.gate.is_shut:
                return
            await asyncio.sleep(_EVENT_S)
            status = await _status(service, request)

    return StreamingResponse(told(), media_type="text/event-stream")


async def results(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/results?format=csv`: the rows that are done, in the order of the source."""
    from .jobs.layout import Layout
    from .jobs.tables import DONE
    from .jobs.writers import write

    jobs, job = host(service), request.path_params["id"]
    wanted = request.query_params.get("format", "jsonl")
    if wanted not in get_args(OutputFormat):
        raise InvalidBody(
            f"there is no format {wanted[:20]!r}", param="format", hint=", ".join(_MEDIA)
        )
    neutralise = request.query_params.get("formulas", "neutralise") != "keep"
    output = Output.model_validate({"path": "-", "format": wanted, "neutralise": neutralise})

    def made() -> Path:
        spec, rows = jobs.ledger.spec(job), jobs.ledger.rows(job)
        layout = Layout.of(spec, rows.kept_types())
        with ExitStack() as undo:
            file = undo.enter_context(tempfile.NamedTemporaryFile(prefix="results-", delete=False))
            undo.callback(Path(file.name).unlink)  # a disk that is full is not filled further
            write(file, lambda: rows.results(DONE), layout, output)  # type: ignore[arg-type]
            file.close()
            undo.pop_all()
        return Path(file.name)

    path = await service.offload(made)
    return FileResponse(
        path,
        media_type=_MEDIA[output.format or "jsonl"],
        filename=f"{job}.{wanted}",
        background=BackgroundTask(path.unlink),
    )


async def dead(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/dead`: the rows without a result, one JSON object a line."""
    from .jobs.row import dead_row
    from .jobs.tables import DEAD

    await _status(service, request)
    rows = host(service).ledger.rows(request.path_params["id"])
    lines = (dead_row(row).model_dump_json() + "\n" for row in rows.results(DEAD))
    return StreamingResponse(lines, media_type="application/jsonl")


async def report(service: Service, request: Request) -> Response:
    """`GET /v1/jobs/{id}/report`: what the job did, as a page, or as JSON where that is asked for."""
    from .jobs.report import as_html, as_json, gather

    found = await service.offload(partial(gather, host(service).ledger, request.path_params["id"]))
    if "html" in request.headers.get("accept", ""):
        return HTMLResponse(as_html(found))
    return Response(as_json(found), media_type="application/json")


async def _status(service: Service, request: Request) -> JobStatus:
    return await service.offload(partial(host(service).ledger.status, request.path_params["id"]))


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
    "/v1/jobs/{id}/pause": {"POST": partial(ask, what="pause")},
    "/v1/jobs/{id}/cancel": {"POST": partial(ask, what="cancel")},
    "/v1/jobs/{id}/resume": {"POST": partial(ask, what="resume")},
}
