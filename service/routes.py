"""The routes: HTTP in, HTTP out.

Does: one function a route, each from a request to a response or an error of a known class. Does not: turn errors into
responses or count them (service/app.py), or know how an extraction works (service/extract.py).
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
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..engine.api import EngineState, SchemaGate
from ..grammar.api import Constraint, Verdict
from ..schemas.wire import ExtractRequest, ExtractResult, Health, ModelCard, ModelList, Version
from .as_client import as_the_client_would
from .backend import Backend
from .config import ServiceConfig
from .errors import ClientGone, MethodNotAllowed, NotReady
from .explain import Explainer
from .extract import Asked, Extractor, Output, Prepared, TextModel, find_schema
from .limits import Gate, read_body
from .meters import Meters
from .translate import explain_request, extract_request, schema_constraint

if TYPE_CHECKING:
    from .jobs.host import JobHost

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Service:
    """What the routes of one server share. `extractor` is None until the model is loaded."""

    config: ServiceConfig
    backend: Backend
    gate: Gate
    meters: Meters
    version: str
    model: str
    started: int
    threads: anyio.CapacityLimiter
    slow: anyio.CapacityLimiter = field(default_factory=partial(anyio.CapacityLimiter, 1))
    door: SchemaGate | None = None
    extractor: Extractor | None = None
    explainer: Explainer | None = None
    jobs: "JobHost | None" = None

    def health(self) -> Health:
        """Whether extractions are taken, in the words of `/ready`."""
        if self.gate.is_shut:
            return Health(status="stopping")
        if self.backend.state in (EngineState.DOWN, EngineState.UNUSABLE, EngineState.CLOSED):
            return Health(status="engine down")
        if self.extractor is None or self.backend.state is EngineState.LOADING:
            return Health(status="loading model")
        return Health(status="ok")

    def ready(self) -> Extractor:
        """The extractor, where extractions are taken now.

        Raises:
            NotReady: they are not; the message says why.
        """
        health = self.health()
        if health.status != "ok" or self.extractor is None:
            raise NotReady(
                f"the service is not ready: {health.status}",
                hint="try again when GET /ready answers 200",
            )
        return self.extractor

    async def offload(self, work: Callable[[], T]) -> T:
        """Run `work`, which needs the processor for a while, beside the event loop."""
        return await anyio.to_thread.run_sync(work, limiter=self.threads)

    async def alone(self, work: Callable[[], T]) -> T:
        """Run `work`, one at a time: it may take seconds, and the threads of `offload` are for what does not."""
        return await anyio.to_thread.run_sync(work, limiter=self.slow)

    def loaded(self, text: TextModel, door: SchemaGate) -> None:
        """The model can be used from now on."""
        assert self.backend.info is not None
        self.door = door
        self.explainer = Explainer(text, door.explain)
        self.extractor = Extractor(text, self.backend.info)


async def extract(service: Service, request: Request) -> Response:
    """`POST /v1/extract`: a schema and a text in, checked data out."""
    with service.gate.enter():
        extractor = service.ready()
        body = await read_body(
            request,
            most_bytes=service.config.max_body_bytes,
            most_seconds=service.config.body_timeout_s,
        )
        asked, examined = await service.offload(partial(_ask, service, extractor, body))
        verdict = await while_connected(request.receive, _settled(examined))
        prepared = await service.offload(partial(extractor.prepare, asked, verdict))
        output = await while_connected(request.receive, _generate(service, prepared))
        result = await service.offload(partial(extractor.conclude, prepared, output))
        request.state.tokens = (result.usage.prompt_tokens, result.usage.output_tokens)
        layout = asked.body.options.whitespace
        return await service.offload(partial(_laid_out, result, layout))


def _laid_out(
    result: ExtractResult, whitespace: Literal["compact", "spaced", "pretty"]
) -> Response:
    """An answer with the white space that its request asked for."""
    if whitespace == "compact":
        return document(result)
    body = json.dumps(
        result.model_dump(mode="json", by_alias=True),
        ensure_ascii=False,
        allow_nan=False,
        indent=2 if whitespace == "pretty" else None,
    )
    return Response(body, media_type="application/json")


def _ask(service: Service, extractor: Extractor, body: bytes) -> tuple[Asked, Future[Verdict]]:
    asked = extractor.ask(extract_request(body, max_depth=service.config.max_json_depth))
    assert service.door is not None  # it comes with the extractor
    return asked, service.door.submit(asked.constraint)


async def extract_for_job(service: Service, body: ExtractRequest) -> ExtractResult:
    """An extraction that nobody waits for with an open connection. Raises `IntaglioError`, as the client would."""
    with as_the_client_would(), service.meters.row_tried():
        extractor = service.ready()
        asked = await service.offload(partial(extractor.ask, body))
        assert service.door is not None  # it comes with the extractor
        verdict = await _settled(service.door.submit(asked.constraint))
        prepared = await service.offload(partial(extractor.prepare, asked, verdict))
        output = await _generate(service, prepared)
        return await service.offload(partial(extractor.conclude, prepared, output))


async def _settled(verdict: Future[Verdict]) -> Verdict:
    """Wait for the examination of a constraint. Raises `CompilerBusy` where too many wait."""
    return await asyncio.wrap_future(verdict)


async def explain(service: Service, request: Request) -> Response:
    """`POST /v1/schemas/explain`: how each part of a schema is enforced or why not, its costs, and samples."""
    with service.gate.enter():
        service.ready()
        assert service.explainer is not None  # it comes with the extractor
        body = await read_body(
            request,
            most_bytes=service.config.max_body_bytes,
            most_seconds=service.config.body_timeout_s,
        )
        wanted = await service.offload(partial(_ask_about, body, service.config))
        work = partial(service.explainer.of, *wanted)
        return document(await while_connected(request.receive, service.alone(work)))


def _ask_about(body: bytes, config: ServiceConfig) -> tuple[Constraint, dict[str, Any] | bool]:
    asked = explain_request(body, max_depth=config.max_json_depth)
    schema = find_schema(asked.schema_)
    return schema_constraint(schema, asked.options), schema


async def _generate(service: Service, prepared: Prepared) -> Output:
    output = Output()
    try:
        async with aclosing(service.backend.generate(prepared.request)) as deltas:
            async for delta in deltas:
                output.add(delta)
    finally:
        service.meters.generated(prepared, output)
    return output


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns, unless the client hangs up first: then it is cancelled.

    Raises:
        ClientGone: the client hung up.
    """
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_until_disconnect(receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone("the client hung up")
        return working.result()
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.wait({working, watching})


async def _until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def health(service: Service, _request: Request) -> Response:
    """`GET /health`: the process answers, whatever it can do."""
    return document(Health(status="stopping" if service.gate.is_shut else "ok"))


async def ready(service: Service, _request: Request) -> Response:
    """`GET /ready`: 200 where extractions are taken, else 503 and why not."""
    standing = service.health()
    return document(standing, 200 if standing.status == "ok" else 503)


async def models(service: Service, _request: Request) -> Response:
    """`GET /v1/models`: the model that is loaded.

    Raises:
        NotReady: none is yet.
    """
    info = service.backend.info
    if info is None:
        raise NotReady("the model is loading", hint="try again when GET /ready answers 200")
    card = ModelCard(
        id=info.model,
        created=service.started,
        context_length=info.context_length,
        parameters=info.parameters,
    )
    return document(ModelList(data=(card,)))


async def version(service: Service, _request: Request) -> Response:
    """`GET /version`: of the service, and the model it serves."""
    return document(Version(version=service.version, model=service.model))


async def metrics(service: Service, _request: Request) -> Response:
    """`GET /metrics`: in Prometheus' text form."""
    return Response(service.meters.exposition(), media_type=CONTENT_TYPE_LATEST)


async def openapi(service: Service, _request: Request) -> Response:
    """`GET /openapi.json`: this interface, for generators of clients."""
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

# Asked every few seconds by machines; logged only where somebody debugs.
PROBES = frozenset({"/health", "/healthz", "/ready", "/readyz", "/metrics"})


class Path:
    """One path of the service as an ASGI application: its handlers by method. `HEAD` is answered as `GET`."""

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
            raise MethodNotAllowed(f"this path does not answer to {method}", allowed)
        response = await handler(self._service, Request(scope, receive, send))
        await response(scope, receive, send)


def document(value: BaseModel, status: int = 200) -> Response:
    """A wire type as a JSON response."""
    return Response(
        value.model_dump_json(by_alias=True), status_code=status, media_type="application/json"
    )
