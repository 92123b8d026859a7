"""The HTTP route of extractions, `POST /v1/extract`, in its four forms: one document or several, at once or streamed.

Does: read and parse the request, run it (`extraction_runs`), write the response. Does not: turn errors into responses
(`app`), except those of a stream that has begun.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import Final, Literal

from intaglio.schemas.extract_events import (
    AnyExtractEvent,
    ErrorEvent,
    ExtractAnswer,
    ExtractEvent,
    UsageEvent,
)
from intaglio.schemas.problem import Code
from intaglio.schemas.wire import ExtractRequest
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from ..extraction.extract import Extractor, ParsedExtraction
from ..extraction.known_schema import KnownExtraction
from ..extraction.translate import extract_request
from ..idempotency.answer_store import MAX_ANSWER_BYTES
from .extraction_runs import examine, run, run_known, run_texts, stream, stream_texts
from .idempotency import KEY_PARAMETER, OnceOnly, once_only
from .limits import read_body
from .operations import (
    BODY_ERRORS,
    BUSY_ERRORS,
    RUN_ERRORS,
    SCHEMA_ERRORS,
    KeyScope,
    Operation,
    endings,
)
from .principal import current_principal
from .problems import problem_response
from .routes import document, while_connected
from .service_state import Service
from .sse import Events, EventStream, StartedEvents, encode_event

_JSON: Final = "application/json"
INLINE_BYTES: Final = 32 * 1024
"""A smaller body of a known form is prepared in about the time in which a thread would take it over."""


async def extract(service: Service, request: Request) -> Response:
    """`POST /v1/extract`: extract data from one or several texts under a schema."""
    async with AsyncExitStack() as held:
        held.enter_context(service.gate.admit())
        service.ready()
        body = await read_body(
            request,
            max_bytes=service.config.max_body_bytes,
            max_seconds=service.config.body_timeout_s,
        )
        once = await held.enter_async_context(once_only(service, request, body))
        if (replay := once.replay()) is not None:
            return replay
        known = await _known(service, body)
        if known is not None:
            result = await while_connected(request.receive, run_known(service, known))
            answer = _formatted(result, known.options.whitespace)
            await once.keep(_JSON, bytes(answer.body))
            return answer
        work = examine(service, partial(_parse, service, body))
        parsed = await while_connected(request.receive, work)
        if parsed.body.stream:
            return await _stream(service, request, parsed, once, held)
        answer = await _answer(service, request, parsed)
        await once.keep(_JSON, bytes(answer.body))
        await service.offload(partial(_learn, service, body, parsed))
        return answer


async def _known(service: Service, body: bytes) -> KnownExtraction | None:
    """The extraction of a body that differs from an earlier one in text and sampling only; None for any other."""
    if service.known is None:
        return None
    prepare = partial(service.known.prepare, body)
    return prepare() if len(body) <= INLINE_BYTES else await service.offload(prepare)


def _learn(service: Service, body: bytes, parsed: ParsedExtraction) -> None:
    if service.known is not None:
        service.known.learn(body, parsed)


def _parse(service: Service, body: bytes, extractor: Extractor) -> ParsedExtraction:
    request = extract_request(body, max_depth=service.config.max_json_depth)
    return extractor.parse(request, partial(service.schemas.resolve, current_principal().tenant))


async def _answer(service: Service, request: Request, parsed: ParsedExtraction) -> Response:
    layout = parsed.body.options.whitespace
    if parsed.body.texts is not None:
        work = run_texts(service, parsed, request.state.request_id)
        results = await while_connected(request.receive, work)
        return await service.offload(lambda: _formatted(results, layout))
    result = await while_connected(request.receive, run(service, parsed))
    return await service.offload(lambda: _formatted(result, layout))


async def _stream(
    service: Service,
    request: Request,
    parsed: ParsedExtraction,
    once: OnceOnly,
    held: AsyncExitStack,
) -> Response:
    """The events of a request. What fails before the first of them has the status of its error."""
    request_id = request.state.request_id
    is_one = parsed.body.texts is None
    events = stream(service, parsed) if is_one else stream_texts(service, parsed, request_id)
    starting = StartedEvents.start(_encoded(events, once))
    started = await while_connected(request.receive, starting)

    def failed(error: Exception) -> bytes:
        retry_after_s = service.gate.retry_after_s
        return _encode(ErrorEvent(error=problem_response(error, request_id, retry_after_s).problem))

    return EventStream(started, failed, held.pop_all())


async def _encoded(events: AsyncGenerator[AnyExtractEvent, None], once: OnceOnly) -> Events:
    """The events as bytes. Those of a stream that comes to its end are kept."""
    sent, size = list[bytes](), 0
    async with aclosing(events):
        async for event in events:
            encoded = _encode(event)
            if once.claimed is not None and size <= MAX_ANSWER_BYTES:
                sent.append(encoded)
                size += len(encoded)
                if isinstance(event, UsageEvent):
                    await once.keep(EventStream.media_type, b"".join(sent))
            yield encoded


def _encode(event: AnyExtractEvent) -> bytes:
    hidden = {"index"} if event.index is None else None
    return encode_event(event.model_dump_json(by_alias=True, exclude=hidden), event.type)


def _formatted(result: BaseModel, whitespace: Literal["compact", "spaced", "pretty"]) -> Response:
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


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="POST",
        path="/v1/extract",
        handler=extract,
        scope=KeyScope.EXTRACT,
        summary="Extract data from text",
        group="Extraction",
        description="Extracts the data that the schema describes from `text`, from each of `texts`, or from "
        "`messages`. An answer is valid against the whole schema. With `stream` it comes as server-sent events while "
        "the model writes.",
        takes=ExtractRequest,
        gives=ExtractAnswer,
        streams=True,
        event=ExtractEvent,
        parameters=(KEY_PARAMETER,),
        errors=(
            *BODY_ERRORS,
            *SCHEMA_ERRORS,
            *RUN_ERRORS,
            *BUSY_ERRORS,
            *endings(Code.INTERNAL, Code.IDEMPOTENCY_KEY_REUSED),
        ),
    ),
)
