"""The HTTP interface as an OpenAPI 3.1 document, built from the wire types and a table of operations.

Does: declare the request, the response and the errors of each route. Does not: handle requests (`routes`,
`job_routes`). A test asserts that the table lists exactly the routes that exist.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, get_args

from intaglio.schemas.explanation import ExplainRequest, ExplainResult
from intaglio.schemas.jobs import JobSpec, JobStatus, OutputFormat
from intaglio.schemas.problem import Code, ProblemDocument
from intaglio.schemas.wire import ExtractRequest, ExtractResult, Health, ModelList, Version
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from .problems import STATUS

JSON = "application/json"
TEXT = "text/plain"
BYTES = "application/octet-stream"
LINES = "application/jsonl"
EVENTS = "text/event-stream"

Ending = tuple[Code, int]
"""An error code and its HTTP status."""

_REF = "#/components/schemas/{model}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the path, the query or the headers."""

    name: str
    place: str
    description: str
    choices: tuple[str, ...] = ()
    default: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one route. `takes` and `gives` are wire types, or None if the media type says enough."""

    summary: str
    group: str
    description: str = ""
    takes: type[BaseModel] | None = None
    gives: type[BaseModel] | None = None
    takes_media: str | None = None
    gives_media: str = JSON
    status: int = 200
    parameters: tuple[Parameter, ...] = ()
    errors: tuple[Ending, ...] = ()
    or_unavailable: bool = False
    """Whether status 503 may have the same body."""


def statuses(code: Code) -> tuple[int, ...]:
    """The HTTP statuses of an error code, ascending."""
    return tuple(sorted({status for status, known in STATUS.values() if known is code}))


def _of(*codes: Code) -> tuple[Ending, ...]:
    """Codes with their first HTTP status."""
    return tuple((code, statuses(code)[0]) for code in codes)


_LATE = (Code.INVALID_REQUEST, 408)
_CONFLICT = (Code.INVALID_REQUEST, 409)
_CHANGED = (Code.INVALID_REQUEST, 422)
_BODY = (
    *_of(Code.INVALID_JSON, Code.INVALID_REQUEST, Code.UNKNOWN_FIELD, Code.BODY_TOO_LARGE),
    _LATE,
)
_SCHEMA = _of(
    Code.INVALID_SCHEMA,
    Code.UNSUPPORTED_SCHEMA,
    Code.UNSATISFIABLE_SCHEMA,
    Code.SCHEMA_TOO_LARGE,
    Code.UNKNOWN_SCHEMA,
)
_BUSY = _of(Code.OVERLOADED, Code.NOT_READY)
_RUN = _of(
    Code.UNKNOWN_MODEL,
    Code.CONTEXT_LENGTH_EXCEEDED,
    Code.BUDGET_TOO_SMALL,
    Code.INCOMPLETE,
    Code.DEADLINE_EXCEEDED,
    Code.ENGINE_LOST,
    Code.INVALID_OUTPUT,
)
_JOB = Parameter("id", "path", "The job's id, as `POST /v1/jobs` gave it.")
_FILE = Parameter("name", "path", "A plain file name, not a path.")
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
_HEALTH = Operation(
    summary="Whether the process answers",
    group="Service",
    description="200 as long as the process runs, even if it cannot serve requests. Use it as a liveness probe.",
    gives=Health,
)
_READY = Operation(
    summary="Whether extractions are accepted",
    group="Service",
    description="200 when the model is loaded and requests are accepted, else 503 with the same body. "
    "Use it as a readiness probe.",
    gives=Health,
    or_unavailable=True,
)

OPERATIONS: Mapping[tuple[str, str], Operation] = {
    ("POST", "/v1/extract"): Operation(
        summary="Extract data from a text",
        group="Extraction",
        description="Extracts the data that the schema describes. The answer is valid against the whole schema.",
        takes=ExtractRequest,
        gives=ExtractResult,
        errors=(*_BODY, *_SCHEMA, *_RUN, *_BUSY, *_of(Code.INTERNAL)),
    ),
    ("POST", "/v1/schemas/explain"): Operation(
        summary="Explain how a schema is enforced",
        group="Extraction",
        description="Reports how each keyword is enforced or why not, with costs and sample documents. "
        "A schema that is refused is a successful answer here, with `enforced` false.",
        takes=ExplainRequest,
        gives=ExplainResult,
        errors=(*_BODY, *_of(Code.UNKNOWN_SCHEMA), *_BUSY, *_of(Code.INTERNAL)),
    ),
    ("GET", "/v1/models"): Operation(
        summary="List the models",
        group="Service",
        description="The loaded model; a server runs one.",
        gives=ModelList,
        errors=_of(Code.NOT_READY),
    ),
    ("GET", "/health"): _HEALTH,
    ("GET", "/healthz"): _HEALTH,
    ("GET", "/ready"): _READY,
    ("GET", "/readyz"): _READY,
    ("GET", "/version"): Operation(
        summary="Versions of the service and its model", group="Service", gives=Version
    ),
    ("GET", "/metrics"): Operation(
        summary="Metrics",
        group="Service",
        description="Counters and histograms in Prometheus' text format.",
        gives_media=TEXT,
    ),
    ("GET", "/openapi.json"): Operation(
        summary="The OpenAPI document of this interface",
        group="Service",
        description="OpenAPI 3.1, for client generators.",
    ),
    ("GET", "/v1/files"): Operation(
        summary="List the files", group="Files", errors=_of(Code.NOT_FOUND)
    ),
    ("PUT", "/v1/files/{name}"): Operation(
        summary="Upload a file",
        group="Files",
        description="Replaces a file of that name.",
        takes_media=BYTES,
        status=201,
        parameters=(_FILE,),
        errors=_of(Code.NOT_FOUND, Code.INVALID_REQUEST, Code.OVERLOADED),
    ),
    ("DELETE", "/v1/files/{name}"): Operation(
        summary="Delete a file",
        group="Files",
        description="Rows that were read from it remain.",
        gives_media="",
        status=204,
        parameters=(_FILE,),
        errors=_of(Code.NOT_FOUND),
    ),
    ("POST", "/v1/jobs"): Operation(
        summary="Create a job",
        group="Jobs",
        description="Extracts from every record of an uploaded file.",
        takes=JobSpec,
        gives=JobStatus,
        status=201,
        parameters=(_KEY,),
        errors=(*_BODY, *_of(Code.UNKNOWN_SCHEMA, Code.NOT_FOUND), _CHANGED, *_BUSY),
    ),
    ("GET", "/v1/jobs"): Operation(
        summary="List the jobs",
        group="Jobs",
        description='`{"data": [JobStatus, …]}`, newest first.',
        errors=_of(Code.NOT_FOUND),
    ),
    ("GET", "/v1/jobs/{id}"): Operation(
        summary="Status of a job",
        group="Jobs",
        gives=JobStatus,
        parameters=(_JOB,),
        errors=_of(Code.NOT_FOUND),
    ),
    ("GET", "/v1/jobs/{id}/events"): Operation(
        summary="Follow a job",
        group="Jobs",
        description="Server-sent events: `status` with a JobStatus whenever it changes, `end` with the last one.",
        gives_media=EVENTS,
        parameters=(_JOB,),
        errors=_of(Code.NOT_FOUND),
    ),
    ("GET", "/v1/jobs/{id}/results"): Operation(
        summary="Results of a job",
        group="Jobs",
        description="The finished rows, in the order of the source; also while the job runs.",
        gives_media=LINES,
        parameters=(_JOB, _FORMAT, _FORMULAS),
        errors=_of(Code.NOT_FOUND, Code.INVALID_REQUEST),
    ),
    ("GET", "/v1/jobs/{id}/dead"): Operation(
        summary="Rows without a result",
        group="Jobs",
        description="One JSON object per line: row, id, code, reason, pointer, hint, attempts.",
        gives_media=LINES,
        parameters=(_JOB,),
        errors=_of(Code.NOT_FOUND),
    ),
    ("GET", "/v1/jobs/{id}/report"): Operation(
        summary="Report of a job",
        group="Jobs",
        description="JSON, or an HTML page if the `Accept` header asks for HTML.",
        parameters=(_JOB,),
        errors=_of(Code.NOT_FOUND),
    ),
    **{
        ("POST", f"/v1/jobs/{{id}}/{verb}"): Operation(
            summary=summary,
            group="Jobs",
            gives=JobStatus,
            parameters=(_JOB,),
            errors=(*_of(Code.NOT_FOUND), _CONFLICT),
        )
        for verb, summary in (
            ("pause", "Pause a job after its rows in flight"),
            ("cancel", "Cancel a job; its results so far are kept"),
            ("resume", "Resume a job that was paused, was cancelled or has failed"),
        )
    },
}


@cache
def document() -> Mapping[str, Any]:
    """The OpenAPI document of this version. It is built once; callers must not change it."""
    types = _wire_types()
    _, schemas = models_json_schema(types, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for (method, path), operation in OPERATIONS.items():
        paths.setdefault(path, {})[method.lower()] = _operation(method, path, operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Intaglio",
            "version": version("intaglio"),
            "description": "A schema and a document in, validated JSON out.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": schemas["$defs"]},
    }


def _wire_types() -> list[tuple[type[BaseModel], Any]]:
    takes = {operation.takes for operation in OPERATIONS.values()} - {None}
    gives = {operation.gives for operation in OPERATIONS.values()} - {None}
    named = [(kind, "validation") for kind in takes] + [(kind, "serialization") for kind in gives]
    return sorted(
        [*named, (ProblemDocument, "serialization")],  # type: ignore[list-item]
        key=lambda pair: pair[0].__name__,
    )


def _operation(method: str, path: str, operation: Operation) -> dict[str, Any]:
    responses = {str(operation.status): _response(operation)} | _errors(operation.errors)
    if operation.or_unavailable:
        responses["503"] = {**_response(operation), "description": "Not now."}
    described: dict[str, Any] = {
        "operationId": _operation_id(method, path),
        "summary": operation.summary,
        "tags": [operation.group],
        "responses": responses,
    }
    if operation.description:
        described["description"] = operation.description
    if operation.parameters:
        described["parameters"] = [_parameter(parameter) for parameter in operation.parameters]
    if operation.takes is not None:
        described["requestBody"] = {
            "required": True,
            "content": {JSON: {"schema": _ref(operation.takes)}},
        }
    elif operation.takes_media is not None:
        described["requestBody"] = {"required": True, "content": {operation.takes_media: {}}}
    return described


def _operation_id(method: str, path: str) -> str:
    words = [
        word.strip("{}").replace(".", "_") for word in path.split("/") if word not in ("", "v1")
    ]
    return "_".join([method.lower(), *words])


def _response(operation: Operation) -> dict[str, Any]:
    if not operation.gives_media:
        return {"description": "Done; empty body."}
    schema = {} if operation.gives is None else {"schema": _ref(operation.gives)}
    return {"description": "Success.", "content": {operation.gives_media: schema}}


def _errors(endings: Iterable[Ending]) -> dict[str, Any]:
    """One response for each status, with its error codes."""
    by_status: dict[int, list[str]] = {}
    for code, status in endings:
        by_status.setdefault(status, []).append(code.value)
    return {
        str(status): {
            "description": ", ".join(f"`{code}`" for code in sorted(by_status[status])),
            "content": {JSON: {"schema": _ref(ProblemDocument)}},
        }
        for status in sorted(by_status)
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.default is not None:
        schema["default"] = parameter.default
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.description,
        "schema": schema,
    }


def _ref(kind: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REF.format(model=kind.__name__)}
