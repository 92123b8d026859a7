"""The events of one extraction while the model writes it.

Does: turn the deltas of the engine into wire events, and its end into the result that an answer without a stream has.
Does not: generate or send.
"""

from collections.abc import Iterator

from intaglio.engine.api import Delta
from intaglio.schemas.extraction.extract_events import (
    AnyExtractEvent,
    FieldCompletedEvent,
    FieldStartedEvent,
    ObjectCompletedEvent,
)

from .engine_output import EngineOutput
from .extract import Extractor, Prepared
from .json_events import FieldStarted, JsonEvent, JsonReader


class ExtractionEvents:
    """The events of one extraction; `index` is that of its text among several."""

    def __init__(self, extractor: Extractor, prepared: Prepared, index: int | None = None) -> None:
        self._extractor = extractor
        self._prepared = prepared
        self._index = index
        self._detokenizer = extractor.text.detokenizer()
        self._reader = JsonReader()
        self.output = EngineOutput()

    def push(self, delta: Delta) -> Iterator[AnyExtractEvent]:
        """The events of a delta."""
        self.output.add(delta)
        return self._fields(self._reader.push(self._detokenizer.push(delta.tokens)))

    def finish(self, second: EngineOutput | None = None) -> Iterator[AnyExtractEvent]:
        """The events after the last delta; the last one has the result. `second` is the output of a second reading.

        Raises:
            Incomplete, RequestDeadlineExceeded, InvalidOutput, EngineStopped: there is no valid output.
            GrammarError, EngineError, GenerationFailed: the engine reported a failure.
        """
        result = self._extractor.finish_extraction(self._prepared, self.output, second)
        rest = self._reader.push(self._detokenizer.finish())
        yield from self._fields([*rest, *self._reader.finish()])
        yield ObjectCompletedEvent(index=self._index, result=result)

    def _fields(self, found: list[JsonEvent]) -> Iterator[AnyExtractEvent]:
        for event in found:
            if isinstance(event, FieldStarted):
                yield FieldStartedEvent(index=self._index, pointer=event.pointer, kind=event.kind)
            else:
                yield FieldCompletedEvent(
                    index=self._index, pointer=event.pointer, value=event.value
                )
