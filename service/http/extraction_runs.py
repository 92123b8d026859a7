"""Extractions as coroutines: examined, generated and validated, one or several, at once or as events.

Does: connect the extractor with the gate of schemas and the engine. Does not: parse requests or send responses
(`extract_routes`).
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import aclosing
from functools import partial
from typing import Final

from intaglio.engine.api import EngineError
from intaglio.grammar.api import GrammarError, Verdict
from intaglio.schemas.extraction.extract_events import (
    AnyExtractEvent,
    ErrorEvent,
    ExtractResults,
    ObjectCompletedEvent,
    TextOutcome,
    UsageEvent,
)
from intaglio.schemas.extraction.requests import ExtractRequest
from intaglio.schemas.extraction.results import ExtractResult
from intaglio.schemas.problem import Problem

from ..errors import ServiceError
from ..extraction.extract import Extractor, ParsedExtraction
from ..extraction.extraction_events import ExtractionEvents
from ..extraction.failures import request_error
from ..extraction.known_schema import KnownExtraction
from ..extraction.many_texts import each_text, total
from ..observability.generations import JOB_ROWS, serving
from .document_input import read_content
from .principal import acting_as
from .problems import problem_response
from .sdk_errors import sdk_errors
from .service_state import Service
from .window_runs import (
    generate_whole,
    planned_windows,
    read,
    read_again,
    read_freely,
    run_windows,
    stream_windows,
)

MOST_CONCURRENT: Final = 64
"""The most texts of one request that are generated at a time, so that one request cannot fill the engine's queue."""

_MOST_QUEUED: Final = 256  # events of several texts that wait for the reader
_EXPECTED: Final = (ServiceError, EngineError, GrammarError)


async def examine(
    service: Service, parse: Callable[[Extractor], ParsedExtraction]
) -> ParsedExtraction:
    """Parse a request in a thread, and have its schema examined.

    Raises:
        ServiceError: the request is malformed.
        GrammarError: the schema is refused, or too many schemas wait.
    """
    extractor, schema_gate = service.loaded(), service.schema_gate
    assert schema_gate is not None  # set together with the extractor

    def begin() -> tuple[ParsedExtraction, Future[Verdict]]:
        parsed = parse(extractor)
        return parsed, schema_gate.submit(parsed.constraint)

    parsed, pending = await service.offload(begin)
    verdict = await asyncio.wrap_future(pending)
    return await service.offload(lambda: extractor.examined(parsed, verdict))


async def run_for_job(service: Service, key: str, body: ExtractRequest) -> ExtractResult:
    """Extract for a job that the API key of id `key` began. Raises `IntaglioError` as the client would."""
    with (
        sdk_errors(),
        service.metrics.row_tried(),
        acting_as(service.access.owner(key)),
        serving(JOB_ROWS),
    ):
        content = await read_content(service, body)
        parsed = await examine(
            service, lambda extractor: extractor.parse(content.body, images=content.images)
        )
        return await run(service, parsed)


async def run(service: Service, parsed: ParsedExtraction) -> ExtractResult:
    """One extraction. Raises every error of `Extractor`."""
    plan = await planned_windows(service, parsed)
    if plan is not None:
        return await run_windows(service, plan)
    extractor = service.loaded()
    prepared = await service.offload(lambda: extractor.prepare(parsed))
    return await read(service, prepared)


async def run_known(service: Service, known: KnownExtraction) -> ExtractResult:
    """One extraction of a known form. Raises every error of `Extractor`."""
    if known.prepared.report.is_requested:  # searching a document takes longer than most answers
        return await read(service, known.prepared)
    extractor = service.loaded()
    output = await generate_whole(service, known.prepared.request)
    tokens = len(output.tokens)
    finish = partial(extractor.finish_extraction, known.prepared, output)
    timed = partial(known.pace.timed, tokens, finish)
    # A thread takes work over in about the time that most answers take.
    return timed() if known.pace.is_quick(tokens) else await service.offload(timed)


async def warm(service: Service, parsed: ParsedExtraction) -> None:
    """Have the engine compile the schema and compute the beginning of its prompt, by an extraction that is abandoned
    after its first token.

    Raises:
        TooLong: the schema leaves no room in the context.
        GrammarError, EngineError, GenerationFailed: the engine reported a failure.
    """
    extractor = service.loaded()
    prepared = await service.offload(lambda: extractor.prepare(parsed))
    async with aclosing(service.backend.generate(prepared.request)) as deltas:
        async for delta in deltas:
            if delta.error is not None:
                raise request_error(delta.error)
            return


async def run_texts(service: Service, parsed: ParsedExtraction, request_id: str) -> ExtractResults:
    """The extractions from all texts of a request. A text that fails does not affect the others."""
    slots = asyncio.Semaphore(MOST_CONCURRENT)

    async def outcome(index: int, one: ParsedExtraction) -> TextOutcome:
        async with slots:
            try:
                return TextOutcome(index=index, result=await run(service, one))
            except _EXPECTED as error:
                return TextOutcome(index=index, error=_problem(error, request_id))

    async with asyncio.TaskGroup() as tasks:
        running = [
            tasks.create_task(outcome(index, one)) for index, one in enumerate(each_text(parsed))
        ]
    outcomes = tuple(task.result() for task in running)
    results = [one.result for one in outcomes if one.result is not None]
    return ExtractResults(
        outcomes=outcomes,
        usage=total(result.usage for result in results),
        completed=len(results),
        failed=len(outcomes) - len(results),
    )


async def stream(
    service: Service, parsed: ParsedExtraction
) -> AsyncGenerator[AnyExtractEvent, None]:
    """The events of one extraction, with the usage last. Raises every error of `Extractor`."""
    async with aclosing(_events(service, parsed, None)) as events:
        async for event in events:
            yield event
            if isinstance(event, ObjectCompletedEvent):
                yield UsageEvent(usage=event.result.usage, completed=1)


async def stream_texts(
    service: Service, parsed: ParsedExtraction, request_id: str
) -> AsyncGenerator[AnyExtractEvent, None]:
    """The events of the extractions from all texts, interleaved, with the usage last."""
    results, failed = [], 0
    async with aclosing(_merged(service, each_text(parsed), request_id)) as events:
        async for event in events:
            if isinstance(event, ObjectCompletedEvent):
                results.append(event.result.usage)
            failed += isinstance(event, ErrorEvent)
            yield event
    yield UsageEvent(usage=total(results), completed=len(results), failed=failed)


async def _merged(
    service: Service, texts: Sequence[ParsedExtraction], request_id: str
) -> AsyncGenerator[AnyExtractEvent, None]:
    """The events of several extractions as they come. A slow reader holds the extractions back."""
    waiting: asyncio.Queue[AnyExtractEvent | Exception | None] = asyncio.Queue(_MOST_QUEUED)
    numbered = enumerate(texts)
    workers = [
        asyncio.create_task(_work(service, numbered, request_id, waiting))
        for _ in range(min(MOST_CONCURRENT, len(texts)))
    ]
    left = len(workers)
    try:
        while left:
            event = await waiting.get()
            if isinstance(event, Exception):
                raise event
            if event is None:
                left -= 1
            else:
                yield event
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _work(
    service: Service,
    numbered: Iterator[tuple[int, ParsedExtraction]],
    request_id: str,
    waiting: asyncio.Queue[AnyExtractEvent | Exception | None],
) -> None:
    """Take texts until none is left, and put their events into `waiting`; None marks the end of this worker."""
    try:
        for index, parsed in numbered:
            try:
                async with aclosing(_events(service, parsed, index)) as events:
                    async for event in events:
                        await waiting.put(event)
            except _EXPECTED as error:
                await waiting.put(ErrorEvent(index=index, error=_problem(error, request_id)))
        await waiting.put(None)
    except Exception as error:
        await waiting.put(error)
        raise


async def _events(
    service: Service, parsed: ParsedExtraction, index: int | None
) -> AsyncGenerator[AnyExtractEvent, None]:
    plan = await planned_windows(service, parsed)
    if plan is not None:
        async with aclosing(stream_windows(service, plan, index)) as of_windows:
            async for event in of_windows:
                yield event
        return
    extractor = service.loaded()
    prepared = await service.offload(lambda: extractor.prepare(parsed))
    prepared = await read_freely(service, prepared)
    writing = ExtractionEvents(extractor, prepared, index)
    async with aclosing(service.backend.generate(prepared.request)) as deltas:
        async for delta in deltas:
            for event in writing.push(delta):
                yield event
    again = await read_again(service, prepared, writing.output)
    for event in await service.offload(lambda: list(writing.finish(again))):
        yield event


def _problem(error: Exception, request_id: str) -> Problem:
    return problem_response(error, request_id).problem
