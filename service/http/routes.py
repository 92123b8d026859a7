"""The HTTP routes of the service itself, and of schemas that are explained.

Does: one function for each operation, from a request to a response or an error, and their table. Does not: turn errors
into responses or count them (`app`).
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from intaglio.grammar.api import Constraint
from intaglio.schemas.extraction.explanation import ExplainRequest, ExplainResult
from intaglio.schemas.problem import Code
from intaglio.schemas.server_info import Health, ModelCard, ModelList, Version
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive

from ..errors import ClientDisconnected, InvalidBody, ServiceNotReady
from ..extraction.translate import explain_request, schema_constraint
from .limits import read_body
from .operations import (
    BODY_ERRORS,
    BUSY_ERRORS,
    KeyScope,
    Operation,
    endings,
)
from .principal import current_principal
from .service_state import Service
from .sse import until_disconnect

T = TypeVar("T")


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
        arguments = await service.offload(partial(_parse_explain, body, service))
        work = partial(service.explainer.of, *arguments)
        return document(await while_connected(request.receive, service.offload_serially(work)))


def _parse_explain(body: bytes, service: Service) -> tuple[Constraint, dict[str, Any] | bool]:
    parsed = explain_request(body, max_depth=service.config.max_json_depth)
    schema = service.schemas.resolve(current_principal().tenant, parsed.schema_)
    return schema_constraint(schema, parsed.options), schema


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which runs in this task; cancels it if the client disconnects.

    Raises:
        ClientDisconnected: the client disconnected.
    """
    watch = _DisconnectWatch(receive)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.is_only_canceller():
            raise ClientDisconnected("the client disconnected") from None
        raise
    finally:
        watch.close()


class _DisconnectWatch:
    """Cancels the present task when its client disconnects, until closed."""

    def __init__(self, receive: Receive) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancels = task.cancelling()
        self._is_closed = self._has_cancelled = False
        self._watching = asyncio.create_task(until_disconnect(receive))
        self._watching.add_done_callback(self._cancel)

    def _cancel(self, _: "asyncio.Task[None]") -> None:
        if not self._is_closed:
            self._has_cancelled = True
            self._task.cancel()

    def is_only_canceller(self) -> bool:
        """Whether the task is cancelled for the disconnection, and for nothing else."""
        return self._has_cancelled and self._task.cancelling() == self._cancels + 1

    def close(self) -> None:
        self._is_closed = True
        self._watching.cancel()
        if self._has_cancelled:
            self._task.uncancel()


async def health(service: Service, _request: Request) -> Response:
    """`GET /health`: 200 as long as the process runs."""
    return document(Health(status="stopping" if service.gate.is_closed else "ok"))


async def ready(service: Service, _request: Request) -> Response:
    """`GET /ready`: 200 if extractions are accepted, else 503 with the reason."""
    standing = service.health()
    return document(standing, 200 if standing.status == "ok" else 503)


async def models(service: Service, _request: Request) -> Response:
    """`GET /v1/models`: the loaded model, and its adapters.

    Raises:
        ServiceNotReady: no model is loaded yet.
    """
    card = model_card(service)
    adapters = () if service.adapters is None else service.adapters.listing()
    named = [
        card.model_copy(update={"id": one.name, "parent": card.id, "digest": one.digest})
        for one in adapters
    ]
    return document(ModelList(data=(card, *named)))


def model_card(service: Service) -> ModelCard:
    """The loaded model as clients see it. Raises as `models`."""
    info = service.backend.info
    if info is None:
        raise ServiceNotReady("the model is loading", hint="try again when GET /ready answers 200")
    return ModelCard(
        id=info.model,
        created=service.started,
        context_length=info.context_length,
        parameters=info.parameters,
        reads_images=info.images is not None,
    )


async def version(service: Service, _request: Request) -> Response:
    """`GET /version`: the versions of the service and the name of its model."""
    return document(Version(version=service.version, model=service.model))


def page_limit(request: Request, most: int, usual: int) -> int:
    """The number of items that a page of a list may have: `usual`, if the request does not say.

    Raises:
        InvalidBody: it is out of bounds.
    """
    given = request.query_params.get("limit", str(usual))
    # The length first: Python refuses to read very long numbers.
    is_number = given.isascii() and given.isdecimal() and len(given) <= 9
    if not is_number or not 1 <= int(given) <= most:
        raise InvalidBody(f"limit: must be a whole number from 1 to {most}", param="limit")
    return int(given)


def document(value: BaseModel, status: int = 200) -> Response:
    """A wire type as a JSON response."""
    return Response(
        value.model_dump_json(by_alias=True), status_code=status, media_type="application/json"
    )


_HEALTH = Operation(
    method="GET",
    path="/health",
    handler=health,
    scope=KeyScope.NONE,
    summary="Whether the process answers",
    group="Service",
    description="200 as long as the process runs, even if it cannot serve requests. Use it as a liveness probe.",
    gives=Health,
    probe=True,
)
_READY = Operation(
    method="GET",
    path="/ready",
    handler=ready,
    scope=KeyScope.NONE,
    summary="Whether extractions are accepted",
    group="Service",
    description="200 when the model is loaded and requests are accepted, else 503 with the same body. "
    "Use it as a readiness probe.",
    gives=Health,
    or_unavailable=True,
    probe=True,
)

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="POST",
        path="/v1/schemas/explain",
        handler=explain,
        scope=KeyScope.EXTRACT,
        summary="Explain how a schema is enforced",
        group="Extraction",
        description="Reports how each keyword is enforced or why not, with costs and sample documents. "
        "A schema that is refused is a successful answer here, with `enforced` false.",
        takes=ExplainRequest,
        gives=ExplainResult,
        errors=(
            *BODY_ERRORS,
            *endings(Code.UNKNOWN_SCHEMA),
            *BUSY_ERRORS,
            *endings(Code.INTERNAL),
        ),
    ),
    Operation(
        method="GET",
        path="/v1/models",
        handler=models,
        scope=KeyScope.ANY,
        summary="List the models",
        group="Service",
        description="The loaded model; a server runs one.",
        gives=ModelList,
        errors=endings(Code.NOT_READY),
    ),
    _HEALTH,
    replace(_HEALTH, path="/healthz"),
    _READY,
    replace(_READY, path="/readyz"),
    Operation(
        method="GET",
        path="/version",
        handler=version,
        scope=KeyScope.ANY,
        summary="Versions of the service and its model",
        group="Service",
        gives=Version,
    ),
)
