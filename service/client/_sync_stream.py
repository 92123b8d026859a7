# Generated from _async_stream.py by `make sync-client`; change that file.
"""A streamed extraction. The synchronous form is generated from the asynchronous one.

Does: read the events of one answer and offer them, the partial results and the result. Does not: open the connection.
"""

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import httpx2
from intaglio.schemas.extraction.extract_events import AnyExtractEvent, ErrorEvent, UsageEvent

from .errors import ConnectionFailed, transport_error
from .models import Extraction
from .shapes import Shape
from .streaming import EventDecoder, PartialResult

T = TypeVar("T")


class ExtractionStream(Generic[T]):
    """The events of one extraction while the model writes. Iterate over it, or over `partials`, once."""

    def __init__(self, answer: httpx2.Response, shape: Shape[T], base_url: str) -> None:
        self.request_id = answer.headers.get("x-request-id")
        self._events = read_events(answer, base_url)
        self._state = PartialResult(shape, self.request_id)

    def __iter__(self) -> Iterator[AnyExtractEvent]:
        return self._read()

    @property
    def data(self) -> Any:
        """The JSON value so far. It changes while events are read."""
        return self._state.data

    @property
    def partial(self) -> Any:
        """The complete values so far, as the type of the result with every field optional (`partial_type`).

        Only whole values appear. The JSON value for a schema that is not a type.
        """
        return self._state.partial

    def partials(self) -> Iterator[Any]:
        """`partial` after every completed value. Raises as `result`."""
        for event in self._read():
            if event.type == "field.completed":
                yield self.partial

    def result(self) -> Extraction[T]:
        """The validated result; reads the rest of the events first.

        Raises:
            IntaglioError: the extraction failed, as `extract` raises it.
        """
        for _ in self._read():
            pass
        if self._state.result is None:
            raise self._state.error or _broken()
        return self._state.result

    def _read(self) -> Iterator[AnyExtractEvent]:
        if self._state.error is not None:
            raise self._state.error
        for event in self._events:
            self._state.add(event)
            if self._state.error is not None:
                raise self._state.error
            yield event


def read_events(answer: httpx2.Response, base_url: str) -> Iterator[AnyExtractEvent]:
    """The events of an answer.

    Raises:
        ConnectionFailed: the stream broke off before its last event.
        UnexpectedAnswer: it is not a stream of this service's events.
    """
    decoder = EventDecoder(answer.headers.get("x-request-id"))
    try:
        for chunk in answer.iter_bytes():
            for event in decoder.feed(chunk):
                yield event
                if isinstance(event, UsageEvent) or (
                    isinstance(event, ErrorEvent) and event.index is None
                ):
                    return
    except httpx2.RequestError as error:
        raise transport_error(error, base_url) from error
    raise _broken()


def _broken() -> ConnectionFailed:
    return ConnectionFailed("the stream broke off before its end", hint="send the request again")
