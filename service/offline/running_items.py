"""The items of `LLM.extract_stream` while the engine runs their requests: one request, or one for each window; more
where a free or a second reading is asked for.

Does: examine and prepare items as they are drawn, give their requests to the engine, and turn its deltas into results
and errors. Does not: run the engine.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from intaglio.engine.api import Delta, Request, SchemaGate
from intaglio.schemas.extraction.results import ExtractResult

from ..client.errors import IntaglioError
from ..client.models import Extraction, extraction, request_body
from ..client.shapes import Shape, shape_of
from ..documents.seen_image import SeenText
from ..extraction.engine_output import EngineOutput
from ..extraction.extract import Extractor, ParsedExtraction, Prepared
from ..extraction.free_reading import free_request, with_draft
from ..extraction.second_reading import second_request
from ..extraction.translate import checked
from ..http.sdk_errors import sdk_errors
from ..windows.window_plan import plan_windows
from ..windows.window_reader import WindowReader

K = TypeVar("K")

Content = str | SeenText | Future[SeenText]
"""A text, what a model sees, or what it will see once its files are read."""

Items = Iterable[tuple[K, Any, Content] | None]


@dataclass(eq=False, slots=True)
class _RunningItem(Generic[K]):
    """An item with requests that run, or will run. `reader` is None if it is read at once."""

    key: K
    shape: Shape[Any]
    reader: WindowReader | None = None
    open_ids: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Reading(Generic[K]):
    """A request that runs, and its output so far. `first` is that of the first reading if this is the second.

    With `free`, the request is that of a free reading.
    """

    item: _RunningItem[K]
    prepared: Prepared
    output: EngineOutput = field(default_factory=EngineOutput)
    first: EngineOutput | None = None
    free: bool = False


class RunningItems(Generic[K]):
    """Runs items for one engine, `at_once` at a time. `abort` ends a request of the engine early."""

    def __init__(
        self,
        extractor: Extractor,
        schema_gate: SchemaGate,
        abort: Callable[[str], None],
        at_once: int,
    ) -> None:
        self._extractor = extractor
        self._schema_gate = schema_gate
        self._abort = abort
        self._at_once = at_once
        self._readings: dict[str, _Reading[K]] = {}
        self._unfinished: dict[_RunningItem[K], None] = {}  # those that may have requests to come
        self._again = deque[Request]()
        self._refused = deque[tuple[K, IntaglioError]]()

    def requests(
        self, items: Items[K], options: Mapping[str, Any]
    ) -> Generator[Request | None, None, None]:
        """The requests of all items; None where none is to be started before another one ends.

        An item is drawn before each further request of others, as long as there is room for one: drawing an item may
        itself take work.
        """
        source, is_exhausted = iter(items), False
        while not is_exhausted or self._unfinished:
            drawn = None
            if not is_exhausted and len(self._unfinished) < self._at_once:
                try:
                    drawn = next(source)
                except StopIteration:
                    is_exhausted = True
            if drawn is not None:
                yield from self._begun(*drawn, options)
            further = self._again.popleft() if self._again else self._window_request()
            is_over = is_exhausted and not self._unfinished
            if further is not None or (drawn is None and not is_over):
                yield further

    def refused(self) -> Iterator[tuple[K, IntaglioError]]:
        """The items that were refused since the last call, each with its error."""
        while self._refused:
            yield self._refused.popleft()

    def take(self, delta: Delta) -> tuple[K, Extraction[Any] | IntaglioError] | None:
        """Take a delta of the engine; the key and the outcome of an item that it ends."""
        if delta.request_id not in self._readings:
            return None  # of an item that has failed
        reading = self._readings[delta.request_id]
        reading.output.add(delta)
        if delta.finish is None:
            return None
        item = reading.item
        del self._readings[delta.request_id]
        item.open_ids.discard(delta.request_id)
        try:
            with sdk_errors():
                result = self._result(reading)
            if result is None:
                return None
            found = extraction(result.model_dump_json(by_alias=True).encode(), item.shape, None)
        except IntaglioError as error:
            self._drop(item)
            return item.key, error
        self._unfinished.pop(item, None)
        return item.key, found

    def _result(self, reading: _Reading[K]) -> ExtractResult | None:
        """The result of an item that this reading ends; None if it has further readings, such as a second one."""
        item, prepared, first = reading.item, reading.prepared, reading.first
        if reading.free:
            drafted = with_draft(prepared, reading.output, self._extractor.text)
            self._register(drafted.request, _Reading(item, drafted))
            self._again.append(drafted.request)
            return None
        if first is None:
            again = second_request(prepared, reading.output)
            if again is not None:
                self._register(again, _Reading(item, prepared, first=reading.output))
                self._again.append(again)
                return None
            result = self._extractor.finish_extraction(prepared, reading.output)
        else:
            result = self._extractor.finish_extraction(prepared, first, reading.output)
        if item.reader is None:
            return result
        item.reader.take(prepared.request.id, result)
        return item.reader.result() if item.reader.is_over else None

    def _begun(
        self, key: K, schema: Any, content: Content, options: Mapping[str, Any]
    ) -> Generator[Request | None, None, None]:
        """Examine an item and begin it; None while its files are read or its schema is examined."""
        shape = shape_of(schema)
        try:
            if isinstance(content, Future):
                yield from self._until(content)
            text = content.result() if isinstance(content, Future) else content
            with sdk_errors():
                parsed = self._parsed(shape, text, options)
                verdict = self._schema_gate.submit(parsed.constraint)
            yield from self._until(verdict)
            with sdk_errors():
                examined = self._extractor.examined(parsed, verdict.result())
                plan = plan_windows(self._extractor, examined)
            if plan is None:
                yield self._at_once_request(key, shape, examined)
                return
            with sdk_errors():
                verdict = self._schema_gate.submit(plan.part.constraint)
            yield from self._until(verdict)
            with sdk_errors():
                part = self._extractor.examined(plan.part, verdict.result())
        except IntaglioError as error:
            self._refused.append((key, error))
            return
        reader = WindowReader(self._extractor, replace(plan, part=part))
        self._unfinished[_RunningItem(key, shape, reader)] = None

    def _parsed(
        self, shape: Shape[Any], text: str | SeenText, options: Mapping[str, Any]
    ) -> ParsedExtraction:
        if not isinstance(text, SeenText):
            return self._extractor.parse(checked(request_body(shape, text, None, options)))
        # A request needs a text where it has no images, which are decoded already.
        stand_in = text.text or ("-" if text.images else "")
        body = checked(request_body(shape, stand_in, None, options))
        if text.images and not text.text.strip():
            body = body.model_copy(update={"text": None})
        return self._extractor.parse(body, images=text.images)

    def _until(self, result: Future[Any]) -> Iterator[None]:
        """Let the engine run other items until a result of another thread or process is there."""
        while self._readings and not result.done():
            yield None

    def _at_once_request(self, key: K, shape: Shape[Any], examined: ParsedExtraction) -> Request:
        with sdk_errors():
            prepared = self._extractor.prepare(examined)
        item = _RunningItem(key, shape)
        if prepared.report.confidence == "second_reading" or prepared.free_tokens is not None:
            self._unfinished[item] = None
        return self._opened(item, prepared)

    def _window_request(self) -> Request | None:
        """The next request of an item that is read in windows."""
        for item in list(self._unfinished):
            if item.reader is None:
                continue
            try:
                with sdk_errors():
                    prepared = item.reader.next_request()
            except IntaglioError as error:
                self._drop(item)
                self._refused.append((item.key, error))
                continue
            if prepared is not None:
                return self._opened(item, prepared)
        return None

    def _opened(self, item: _RunningItem[K], prepared: Prepared) -> Request:
        free = free_request(prepared)
        request = prepared.request if free is None else free
        self._register(request, _Reading(item, prepared, free=free is not None))
        return request

    def _register(self, request: Request, reading: _Reading[K]) -> None:
        self._readings[request.id] = reading
        reading.item.open_ids.add(request.id)

    def _drop(self, item: _RunningItem[K]) -> None:
        """Forget an item that has failed, and end its other requests."""
        self._unfinished.pop(item, None)
        for request_id in item.open_ids:
            del self._readings[request_id]
            self._abort(request_id)
