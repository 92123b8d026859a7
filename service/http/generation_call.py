"""Runs the generation of a request and sends its answer, streamed or whole, in any protocol.

Does: admit the request, read its body, have the constraint examined, generate while the client is connected.
Does not: know a protocol: a function prepares the call from the body, and the call has the form of the answer.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AsyncExitStack
from functools import partial
from typing import Final, TypeVar

from intaglio.grammar.api import Verdict
from intaglio.schemas.base import Wire
from starlette.requests import Request
from starlette.responses import Response

from ..adapters.adapter_registry import no_adapter
from ..errors import ConstraintRefused, ServiceNotReady
from ..extraction.translate import request_body
from ..generation.generate import generate
from ..generation.prepared_call import LoadedModel, PreparedCall
from ..tools.known_formats import format_of
from .limits import read_body
from .routes import while_connected
from .service_state import Service
from .sse import EventStream, StartedEvents

W = TypeVar("W", bound=Wire)

_SHORT_BYTES: Final = 4096

ErrorEvent = Callable[[Exception], bytes]
"""Encodes the error that ends a stream."""


async def answer(
    service: Service,
    request: Request,
    kind: type[W],
    prepare: Callable[[W, LoadedModel], PreparedCall],
    failed: ErrorEvent,
    send: Callable[[StartedEvents, ErrorEvent, AsyncExitStack], Response] = EventStream,
) -> Response:
    """Answer a request with a body of type `kind`. `send` makes the response of a stream.

    The error of a stream has a status of its own if it comes before the first event; else `failed` makes the last event
    of it.

    Raises:
        Whatever `prepare` and the generation raise; `ConstraintRefused`; the errors of limits and readiness.
    """
    async with AsyncExitStack() as held:
        held.enter_context(service.gate.admit())
        service.ready()
        body = await _body(service, request)
        model = loaded_model(service)

        def prepared() -> tuple[PreparedCall, Future[Verdict] | None]:
            parsed = request_body(kind, body, max_depth=service.config.max_json_depth)
            call = prepare(parsed, model)
            return call, _submitted(service, call)

        # A thread costs more than it saves for a body that takes less than a millisecond; an image takes more.
        is_short = len(body) < _SHORT_BYTES and b"image_url" not in body
        call, pending = prepared() if is_short else await service.offload(prepared)
        if pending is not None:
            await while_connected(request.receive, _examined(call, pending))
        events = generate(service.backend, model.text, call.spec, service.offload)
        if call.stream:
            started = await while_connected(
                request.receive, StartedEvents.start(call.form.stream(events))
            )
            return send(started, call.failed or failed, held.pop_all())
        whole = await while_connected(request.receive, call.form.whole(events))
        return Response(whole, media_type="application/json")


async def body_of(service: Service, request: Request, kind: type[W]) -> W:
    """The body of a request as a wire type. Raises as `read_body` and `request_body`."""
    body = await _body(service, request)
    work = partial(request_body, kind, body, max_depth=service.config.max_json_depth)
    return await service.offload(work)


async def _body(service: Service, request: Request) -> bytes:
    return await read_body(
        request,
        max_bytes=service.config.max_body_bytes,
        max_seconds=service.config.body_timeout_s,
    )


def loaded_model(service: Service) -> LoadedModel:
    """The model of a server that is ready.

    Raises:
        ServiceNotReady: no model is loaded yet.
    """
    if service.extractor is None or service.backend.info is None:
        raise ServiceNotReady("the model is loading", hint="try again when GET /ready answers 200")
    text = service.extractor.text
    form = format_of(text.chat.source, service.config.tool_format)
    find = no_adapter if service.adapters is None else service.adapters.find
    info, images = service.backend.info, service.image_intake(service.backend.info)
    return LoadedModel(text, info, service.version, form, images, find)


def _submitted(service: Service, call: PreparedCall) -> Future[Verdict] | None:
    """The coming verdict on the constraint of a call; None if it has none."""
    if call.stated is None:
        return None
    assert service.schema_gate is not None  # set together with the extractor
    return service.schema_gate.submit(call.stated.constraint)


async def _examined(call: PreparedCall, pending: Future[Verdict]) -> None:
    """Return if the constraint of a call is accepted.

    Raises:
        ConstraintRefused: it is not.
        CompilerBusy: too many constraints wait to be examined.
    """
    assert call.stated is not None
    verdict = await asyncio.wrap_future(pending)
    if verdict.error is not None:
        raise ConstraintRefused(*call.stated.located(verdict.error))
