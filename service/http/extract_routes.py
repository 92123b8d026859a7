"""The HTTP route of extractions, `POST /v1/extract`, in its four forms: one document or several, at once or streamed.

Does: read and parse the request, run it (`extraction_runs`), write the response. Does not: turn errors into responses
(`app`), except those of a stream that has begun.
"""

import hashlib
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, NamedTuple

from intaglio.schemas.extraction.extract_events import (
    AnyExtractEvent,
    ErrorEvent,
    ExtractAnswer,
    ExtractEvent,
    UsageEvent,
)
from intaglio.schemas.extraction.requests import ExtractRequest
from intaglio.schemas.problem import Code
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from ..documents.read_source import ReadSource
from ..documents.seen_image import SeenImage
from ..errors import BodyTooLarge, InvalidBody
from ..extraction.extract import Extractor, ParsedExtraction
from ..extraction.known_schema import KnownExtraction, form_of
from ..extraction.translate import extract_request, form_request, image_form_request
from ..idempotency.answer_store import MAX_ANSWER_BYTES
from .document_input import read_content
from .extraction_runs import examine, run, run_known, run_texts, stream, stream_texts
from .forms import FormFile, is_form, parse_form
from .idempotency import KEY_PARAMETER, OnceOnly, once_only
from .kept_document_routes import DOCUMENT_ERRORS
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
        call = await _call(service, request)
        once = await held.enter_async_context(once_only(service, request, call.signed))
        if (replay := once.replay()) is not None:
            return replay
        known = await _known(service, request, call.body)
        if known is not None:
            result = await while_connected(request.receive, run_known(service, known))
            answer = _formatted(result, known.options.whitespace)
            await once.keep(_JSON, bytes(answer.body))
            return answer
        with service.firsts.examining(form_of(call.body)) as is_first:
            examined = await while_connected(request.receive, _examined(service, call))
            learn = partial(_learn, service, call.body, examined)
            if is_first:  # requests of the same form wait for this
                await service.offload(learn)
        if examined.parsed.body.stream:
            return await _stream(service, request, examined, once, held)
        answer = await _answer(service, request, examined)
        await once.keep(_JSON, bytes(answer.body))
        if not is_first:
            await service.offload(learn)
        return answer


@dataclass(frozen=True, slots=True)
class _Call:
    """The JSON of a request, the files of its form, and bytes that are the same for the same request."""

    body: bytes
    signed: bytes
    file: FormFile | None = None
    images: tuple[FormFile, ...] = ()


class _Examined(NamedTuple):
    """A request that is ready to run, and the document that its text is from."""

    parsed: ParsedExtraction
    source: ReadSource | None


async def _call(service: Service, request: Request) -> _Call:
    """The request in a body: JSON, or a form with a file and the JSON in `request`."""
    config = service.config
    most = config.max_body_bytes
    if is_form(request):
        most += config.max_document_bytes
    body = await read_body(request, max_bytes=most, max_seconds=config.body_timeout_s)
    if not is_form(request):
        return _Call(body, body)
    form = await parse_form(request.headers, body, ("request",), config.max_images)
    written = form.fields.get("request", "").encode()
    has_files = form.file is not None or form.images
    if not has_files or not written:
        field = "request" if has_files else "file"
        raise InvalidBody(
            f"the form has no field {field}",
            param=field,
            hint="a form has a file, or one or several files named image, and in `request` the JSON of an extraction",
        )
    if form.file is not None and form.images:
        raise InvalidBody("file and image of the form exclude each other", param="image")
    if len(written) > config.max_body_bytes:
        raise BodyTooLarge(f"the request is larger than {config.max_body_bytes} bytes")
    files = (*([form.file] if form.file else []), *form.images)
    digests = b"".join(hashlib.sha256(file.content).digest() for file in files)
    return _Call(written, written + digests, form.file, form.images)


async def _examined(service: Service, call: _Call) -> _Examined:
    """Parse a request, read its document and have its schema examined."""
    read = partial(_request, call, service.config.max_json_depth)
    body = await service.offload(read)
    content = await read_content(service, body, call.file, call.images)
    parsed = await examine(service, partial(_parse, service, content.body, content.images))
    return _Examined(parsed, content.source)


def _request(call: _Call, max_depth: int) -> ExtractRequest:
    if call.file is not None:
        return form_request(call.body, max_depth=max_depth)
    if call.images:
        return image_form_request(call.body, max_depth=max_depth)
    return extract_request(call.body, max_depth=max_depth)


async def _known(service: Service, request: Request, body: bytes) -> KnownExtraction | None:
    """The extraction of a body that differs from an earlier one in text and sampling only; None for any other.

    A body that differs in these from one that is being examined waits for it.
    """
    found = await _prepared(service, body)
    form = form_of(body) if found is None else None
    if form is None or (examined := service.firsts.examined(form)) is None:
        return found
    await while_connected(request.receive, examined.wait())
    return await _prepared(service, body)


async def _prepared(service: Service, body: bytes) -> KnownExtraction | None:
    if service.known is None:
        return None
    prepare = partial(service.known.prepare, body)
    return prepare() if len(body) <= INLINE_BYTES else await service.offload(prepare)


def _learn(service: Service, body: bytes, examined: _Examined) -> None:
    if service.known is not None and examined.source is None and not examined.parsed.parts.images:
        service.known.learn(body, examined.parsed)


def _parse(
    service: Service,
    body: ExtractRequest,
    images: tuple[SeenImage, ...],
    extractor: Extractor,
) -> ParsedExtraction:
    find = partial(service.schemas.resolve, current_principal().tenant)
    return extractor.parse(body, find, images)


async def _answer(service: Service, request: Request, examined: _Examined) -> Response:
    parsed, source = examined
    layout = parsed.body.options.whitespace
    if parsed.body.texts is not None:
        work = run_texts(service, parsed, request.state.request_id)
        results = await while_connected(request.receive, work)
        return await service.offload(lambda: _formatted(results, layout))
    result = await while_connected(request.receive, run(service, parsed))
    if source is not None:
        result = await service.offload(partial(source.in_result, result))
    return await service.offload(lambda: _formatted(result, layout))


async def _stream(
    service: Service,
    request: Request,
    examined: _Examined,
    once: OnceOnly,
    held: AsyncExitStack,
) -> Response:
    """The events of a request. What fails before the first of them has the status of its error."""
    parsed, source = examined
    request_id = request.state.request_id
    is_one = parsed.body.texts is None
    events = stream(service, parsed) if is_one else stream_texts(service, parsed, request_id)
    starting = StartedEvents.start(_encoded(events, once, source))
    started = await while_connected(request.receive, starting)

    def failed(error: Exception) -> bytes:
        retry_after_s = service.gate.retry_after_s
        return _encode(ErrorEvent(error=problem_response(error, request_id, retry_after_s).problem))

    return EventStream(started, failed, held.pop_all())


async def _encoded(
    events: AsyncGenerator[AnyExtractEvent, None], once: OnceOnly, source: ReadSource | None
) -> Events:
    """The events as bytes. Those of a stream that comes to its end are kept."""
    sent, size = list[bytes](), 0
    async with aclosing(events):
        async for event in events:
            encoded = _encode(event if source is None else source.in_event(event))
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
        description="Extracts the data that the schema describes from `text`, from each of `texts`, from `messages`, "
        "from the file in `document`, or from `images`. The body may also be a form (`multipart/form-data`) with the "
        "file in `file`, or images in `image`, and this JSON in `request`. An answer is valid against the whole "
        "schema. With `stream` it comes as server-sent events while the model writes.",
        takes=ExtractRequest,
        gives=ExtractAnswer,
        streams=True,
        event=ExtractEvent,
        parameters=(KEY_PARAMETER,),
        errors=(
            *BODY_ERRORS,
            *SCHEMA_ERRORS,
            *DOCUMENT_ERRORS,
            *RUN_ERRORS,
            *BUSY_ERRORS,
            *endings(
                Code.INTERNAL,
                Code.IDEMPOTENCY_KEY_REUSED,
                Code.NOT_FOUND,
                Code.WINDOWS_CONFLICT,
            ),
        ),
    ),
)
