"""Extractions from long documents as coroutines: windows generated at once, merged in the order of the document.

Does: have the schema of the windows examined, run their requests, yield results and events. Does not: choose, order or
merge windows (`service.windows`).
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from intaglio.engine.api import Request
from intaglio.schemas.extraction.extract_events import AnyExtractEvent
from intaglio.schemas.extraction.results import ExtractResult

from ..extraction.engine_output import EngineOutput
from ..extraction.extract import ParsedExtraction, Prepared
from ..extraction.free_reading import free_request, with_draft
from ..extraction.second_reading import second_request
from ..windows.merge_readings import SettledItem
from ..windows.window_events import WindowEvents
from ..windows.window_plan import WindowPlan, plan_windows
from ..windows.window_reader import WindowReader
from .service_state import Service


async def generate_whole(service: Service, request: Request) -> EngineOutput:
    """The output of the engine for one request, as a whole."""
    output = EngineOutput()
    async with aclosing(service.backend.generate(request, whole=True)) as deltas:
        async for delta in deltas:
            output.add(delta)
    return output


async def read(service: Service, prepared: Prepared) -> ExtractResult:
    """The result of one request, read as often as its options ask for. Raises every error of `Extractor`."""
    prepared = await read_freely(service, prepared)
    output = await generate_whole(service, prepared.request)
    again = await read_again(service, prepared, output)
    extractor = service.loaded()
    return await service.offload(lambda: extractor.finish_extraction(prepared, output, again))


async def read_freely(service: Service, prepared: Prepared) -> Prepared:
    """`prepared` with the draft of a free reading, if one is asked for. Raises every error of `Extractor`."""
    request = free_request(prepared)
    if request is None:
        return prepared
    free = await generate_whole(service, request)
    text = service.loaded().text
    return await service.offload(lambda: with_draft(prepared, free, text))


async def read_again(
    service: Service, prepared: Prepared, first: EngineOutput
) -> EngineOutput | None:
    """The output of the second reading; None if none is asked for. Raises `RequestDeadlineExceeded`."""
    request = second_request(prepared, first)
    return None if request is None else await generate_whole(service, request)


async def planned_windows(service: Service, parsed: ParsedExtraction) -> WindowPlan | None:
    """The windows of an extraction, with their schema examined; None if the document is to be read at once.

    Raises:
        TooLong: the document does not fit, and too little room is left for windows.
        GrammarError: the schema of the windows is refused, or too many schemas wait.
    """
    if parsed.body.options.long_documents != "windows":
        return None
    extractor, schema_gate = service.loaded(), service.schema_gate
    assert schema_gate is not None  # set together with the extractor
    plan = await service.offload(lambda: plan_windows(extractor, parsed))
    if plan is None:
        return None
    verdict = await asyncio.wrap_future(schema_gate.submit(plan.part.constraint))
    part = await service.offload(lambda: extractor.examined(plan.part, verdict))
    return replace(plan, part=part)


async def run_windows(service: Service, plan: WindowPlan) -> ExtractResult:
    """One extraction in windows. Raises every error of `Extractor`, and `WindowsConflict`."""
    reader = WindowReader(service.loaded(), plan)
    async with aclosing(_settled(service, reader)) as settled:
        async for _ in settled:
            pass
    return await service.offload(reader.result)


async def stream_windows(
    service: Service, plan: WindowPlan, index: int | None
) -> AsyncGenerator[AnyExtractEvent, None]:
    """The events of one extraction in windows. Raises as `run_windows`."""
    reader, events = WindowReader(service.loaded(), plan), WindowEvents(index)
    async with aclosing(_settled(service, reader)) as settled:
        async for items in settled:
            for event in events.settled(items):
                yield event
    result = await service.offload(reader.result)
    for event in events.finished(result):
        yield event


async def _settled(
    service: Service, reader: WindowReader
) -> AsyncGenerator[Sequence[SettledItem], None]:
    """The items that each reading settles, in the order of the document. Closing it early ends all readings."""
    running = set[asyncio.Task[tuple[str, ExtractResult]]]()
    try:
        while not reader.is_over:
            while (prepared := await service.offload(reader.next_request)) is not None:
                running.add(asyncio.create_task(_finished(service, prepared)))
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield await service.offload(partial(reader.take, *task.result()))
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _finished(service: Service, prepared: Prepared) -> tuple[str, ExtractResult]:
    return prepared.request.id, await read(service, prepared)
