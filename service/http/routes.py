"""The HTTP routes, except those of jobs.

Does: one function for each route, from a request to a response or an error. Does not: turn errors into responses or
count them (`app`), or perform extractions (`extract`).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import anyio
import anyio.to_thread
from intaglio.engine.api import EngineState, SchemaGate
from intaglio.grammar.api import Constraint, Verdict
from intaglio.schemas.wire import (
    ExtractRequest,
    ExtractResult,
    Health,
    ModelCard,
    ModelList,
    Version,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..config import ServiceConfig
from ..errors import ClientGone, MethodNotAllowed, ServiceNotReady
from ..extraction.extract import (
    EngineOutput,
    Extractor,
    ParsedExtraction,
    Prepared,
    TextModel,
    find_schema,
)
from ..extraction.schema_explainer import Explainer
from ..extraction.translate import explain_request, extract_request, schema_constraint
from .backend import Backend
from .limits import RequestGate, read_body
from .sdk_errors import sdk_errors
from .service_metrics import Metrics

if TYPE_CHECKING:
    from ..jobs.host import JobHost

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Service:
    """State shared by the routes of one server. `extractor` is None until the model is loaded."""

    config: ServiceConfig
    backend: Backend
    gate: RequestGate
    metrics: Metrics
    version: str
    model: str
    started: int
    threads: anyio.CapacityLimiter
    serial_thread: anyio.CapacityLimiter = field(default_factory=partial(anyio.CapacityLimiter, 1))
    door: SchemaGate | None = None
    extractor: Extractor | None = None
    explainer: Explainer | None = None
    jobs: "JobHost | None" = None

    def health(self) -> Health:
        """The status that `/ready` reports."""
        if self.gate.is_closed:
            return Health(status="stopping")
        if self.backend.state in (EngineState.DOWN, EngineState.UNUSABLE, EngineState.CLOSED):
            return Health(status="engine down")
        if self.extractor is None or self.backend.state is EngineState.LOADING:
            return Health(status="loading model")
        return Health(status="ok")

    def ready(self) -> Extractor:
        """The extractor, if extractions are accepted.

        Raises:
            ServiceNotReady: they are not; the message has the reason.
        """
        health = self.health()
        if health.status != "ok" or self.extractor is None:
            raise ServiceNotReady(
                f"the service is not ready: {health.status}",
                hint="try again when GET /ready answers 200",
            )
        return self.extractor

    async def offload(self, work: Callable[[], T]) -> T:
        """Run CPU-bound `work` in a thread, off the event loop."""
        return await anyio.to_thread.run_sync(work, limiter=self.threads)

    async def offload_serially(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread, one at a time: for work of seconds, which would occupy the threads of `offload`."""
        return await anyio.to_thread.run_sync(work, limiter=self.serial_thread)

    def set_model(self, text: TextModel, door: SchemaGate) -> None:
        """Set tokenizer, template and schema checks once the model is loaded."""
        assert self.backend.info is not None
        self.door = door
        self.explainer = Explainer(text, door.explain)
        self.extractor = Extractor(text, self.backend.info)


async def extract(service: Service, request: Request) -> Response:
    """`POST /v1/extract`: extract data from a text under a schema."""
    with service.gate.admit():
        extractor = service.ready()
        body = await read_body(
            request,
            max_bytes=service.config.max_body_bytes,
            max_seconds=service.config.body_timeout_s,
        )
        parsed, pending = await service.offload(
            partial(_parse_and_submit, service, extractor, body)
        )
        verdict = await while_connected(request.receive, _wait_for_verdict(pending))
        prepared = await service.offload(partial(extractor.prepare, parsed, verdict))
        output = await while_connected(request.receive, _generate(service, prepared))
        result = await service.offload(partial(extractor.finish_extraction, prepared, output))
        request.state.tokens = (result.usage.prompt_tokens, result.usage.output_tokens)
        layout = parsed.body.options.whitespace
        return await service.offload(partial(_formatted, result, layout))


def _formatted(
    result: ExtractResult, whitespace: Literal["compact", "spaced", "pretty"]
) -> Response:
    """The response with the white space that the request asked for."""
    if whitespace == "compact":
        return document(result)
    body = json.dumps(
        result.model_dump(mode="json", by_alias=True),
        ensure_ascii=False,
        allow_nan=False,
        indent=2 if whitespace == "pretty" else None,
    )
    return Response(body, media_type="application/json")


def _parse_and_submit(
    service: Service, extractor: Extractor, body: bytes
) -> tuple[ParsedExtraction, Future[Verdict]]:
    parsed = extractor.parse(extract_request(body, max_depth=service.config.max_json_depth))
    assert service.door is not None  # set together with the extractor
    return parsed, service.door.submit(parsed.constraint)


async def extract_for_job(service: Service, body: ExtractRequest) -> ExtractResult:
    """Extract for a job, without a client connection. Raises `IntaglioError` as the client would."""
    with sdk_errors(), service.metrics.row_tried():
        extractor = service.ready()
        parsed = await service.offload(partial(extractor.parse, body))
        assert service.door is not None  # set together with the extractor
        verdict = await _wait_for_verdict(service.door.submit(parsed.constraint))
        prepared = await service.offload(partial(extractor.prepare, parsed, verdict))
        output = await _generate(service, prepared)
        return await service.offload(partial(extractor.finish_extraction, prepared, output))


async def _wait_for_verdict(verdict: Future[Verdict]) -> Verdict:
    """Wait for the verdict on a constraint. Raises `CompilerBusy` if too many constraints wait."""
    return await asyncio.wrap_future(verdict)


async def explain(service: Service, request: Request) -> Response:
    """`POST /v1/schemas/explain`: how each part of a schema is enforced or why not, its costs, and sample documents."""
    with service.gate.admit():
        service.ready()
        assert service.explainer is not None  # set together with the extractor
        body = await read_body(
            request,
            max_bytes=service.config.max_body_bytes,
            max_seconds=service.config.body_timeout_s,
        )
        arguments = await service.offload(partial(_parse_explain, body, service.config))
        work = partial(service.explainer.of, *arguments)
        return document(await while_connected(request.receive, service.offload_serially(work)))


def _parse_explain(body: bytes, config: ServiceConfig) -> tuple[Constraint, dict[str, Any] | bool]:
    parsed = explain_request(body, max_depth=config.max_json_depth)
    schema = find_schema(parsed.schema_)
    return schema_constraint(schema, parsed.options), schema


async def _generate(service: Service, prepared: Prepared) -> EngineOutput:
    output = EngineOutput()
    try:
        async with aclosing(service.backend.generate(prepared.request)) as deltas:
            async for delta in deltas:
                output.add(delta)
    finally:
        service.metrics.generated(prepared, output)
    return output


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`; cancels it if the client disconnects.

    Raises:
        ClientGone: the client disconnected.
    """
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_until_disconnect(receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone("the client disconnected")
        return working.result()
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.wait({working, watching})


async def _until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def health(service: Service, _request: Request) -> Response:
    """`GET /health`: 200 as long as the process runs."""
    return document(Health(status="stopping" if service.gate.is_closed else "ok"))


async def ready(service: Service, _request: Request) -> Response:
    """`GET /ready`: 200 if extractions are accepted, else 503 with the reason."""
    standing = service.health()
    return document(standing, 200 if standing.status == "ok" else 503)


async def models(service: Service, _request: Request) -> Response:
    """`GET /v1/models`: the loaded model.

    Raises:
        ServiceNotReady: no model is loaded yet.
    """
    info = service.backend.info
    if info is None:
        raise ServiceNotReady("the model is loading", hint="try again when GET /ready answers 200")
    card = ModelCard(
        id=info.model,
        created=service.started,
        context_length=info.context_length,
        parameters=info.parameters,
    )
    return document(ModelList(data=(card,)))


async def version(service: Service, _request: Request) -> Response:
    """`GET /version`: the versions of the service and the name of its model."""
    return document(Version(version=service.version, model=service.model))


async def metrics(service: Service, _request: Request) -> Response:
    """`GET /metrics`: the metrics in Prometheus text format."""
    return Response(service.metrics.exposition(), media_type=CONTENT_TYPE_LATEST)


async def openapi(service: Service, _request: Request) -> Response:
    """`GET /openapi.json`: the OpenAPI document of this interface."""
    from .openapi import document as described

    text = await service.offload(lambda: json.dumps(described()))
    return Response(text, media_type="application/json")


Handler = Callable[[Service, Request], Awaitable[Response]]

ROUTES: Mapping[str, Mapping[str, Handler]] = {
    "/v1/extract": {"POST": extract},
    "/v1/schemas/explain": {"POST": explain},
    "/v1/models": {"GET": models},
    "/health": {"GET": health},
    "/healthz": {"GET": health},
    "/ready": {"GET": ready},
    "/readyz": {"GET": ready},
    "/version": {"GET": version},
    "/metrics": {"GET": metrics},
    "/openapi.json": {"GET": openapi},
}

# Probed every few seconds by monitoring; logged only at level debug.
PROBES = frozenset({"/health", "/healthz", "/ready", "/readyz", "/metrics"})


class PathEndpoint:
    """One path as an ASGI application: its handlers by method. `HEAD` is answered like `GET`."""

    def __init__(self, service: Service, pattern: str, handlers: Mapping[str, Handler]) -> None:
        self._service = service
        self._pattern = pattern
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["route"] = self._pattern
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        handler = self._handlers.get(method)
        if handler is None:
            allowed = tuple(self._handlers) + (("HEAD",) if "GET" in self._handlers else ())
            raise MethodNotAllowed(f"this path does not support {method}", allowed)
        response = await handler(self._service, Request(scope, receive, send))
        await response(scope, receive, send)


def document(value: BaseModel, status: int = 200) -> Response:
    """A wire type as a JSON response."""
    return Response(
        value.model_dump_json(by_alias=True), status_code=status, media_type="application/json"
    )
