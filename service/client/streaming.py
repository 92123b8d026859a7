"""The state of a streamed extraction on the side of the caller.

Does: decode server-sent events, put the fields of a result together as they are completed. Does not: read from the
network (`_async_stream`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, TypeVar

from intaglio.schemas.extraction.extract_events import (
    AnyExtractEvent,
    ErrorEvent,
    ExtractEvent,
    FieldCompletedEvent,
    FieldStartedEvent,
    ObjectCompletedEvent,
    UsageEvent,
)
from intaglio.schemas.json_pointer import pointer_keys
from intaglio.schemas.problem import Problem
from pydantic import JsonValue, ValidationError

from .errors import IntaglioError, problem_error
from .models import Extraction, typed, unexpected
from .retry import is_transient
from .shapes import Shape

T = TypeVar("T")

_KNOWN = frozenset({"field.started", "field.completed", "object.completed", "usage", "error"})


class EventDecoder:
    """Decodes the events of one stream. Comments, and events that this SDK does not know, are skipped."""

    def __init__(self, request_id: str | None) -> None:
        self._request_id = request_id
        self._rest = b""
        self._name = ""

    def feed(self, chunk: bytes) -> Iterator[AnyExtractEvent]:
        """The events that `chunk` completes. Raises `UnexpectedAnswer` for one that cannot be read."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            name, _, value = line.rstrip(b"\r").partition(b": ")
            if name == b"event":
                self._name = value.decode()
            elif name == b"data" and self._name in _KNOWN:
                try:
                    yield ExtractEvent.model_validate_json(value, extra="ignore").root
                except ValidationError as error:
                    raise unexpected(value, self._request_id) from error


@dataclass
class PartialResult(Generic[T]):
    """One result while it is written: `data` holds the values that are complete so far."""

    shape: Shape[T]
    request_id: str | None = None
    data: JsonValue = None
    result: Extraction[T] | None = None
    error: IntaglioError | None = None
    _open: dict[str, Any] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether there is a result or an error."""
        return self.result is not None or self.error is not None

    @property
    def partial(self) -> Any:
        """`data` in the partial form of the type: every field optional. The JSON value for a schema without type."""
        return self.shape.read_partial(self.data, self.request_id)

    def add(self, event: AnyExtractEvent) -> None:
        """Take an event of this result."""
        if isinstance(event, FieldStartedEvent):
            if event.kind in ("object", "array"):
                value: Any = {} if event.kind == "object" else []
                self._open[event.pointer] = value
                self._put(event.pointer, value, is_new=True)
        elif isinstance(event, FieldCompletedEvent):
            is_new = self._open.pop(event.pointer, None) is None
            self._put(event.pointer, event.value, is_new=is_new)
        elif isinstance(event, ObjectCompletedEvent):
            self.data = event.result.data
            # The result is not lost for the others of a batch if a validator of the type refuses it.
            try:
                self.result = typed(event.result, self.shape, self.request_id)
            except IntaglioError as error:
                self.error = error
        elif isinstance(event, ErrorEvent):
            self.error = problem_error(event.error)
        else:
            assert isinstance(event, UsageEvent)

    def _put(self, pointer: str, value: JsonValue, *, is_new: bool) -> None:
        if not pointer:
            self.data = value
            return
        container = self._open.get(pointer.rpartition("/")[0])
        if isinstance(container, dict):
            container[pointer_keys(pointer)[-1]] = value
        elif isinstance(container, list) and is_new:
            container.append(value)
        elif isinstance(container, list):
            container[-1] = value


class ManyResults(Generic[T]):
    """The results of many texts, by number. `progress` is called with the number of texts that are over, and of all.

    Thread-safe: several calls may add to it.
    """

    def __init__(
        self, shape: Shape[T], count: int, progress: Callable[[int, int], None] | None
    ) -> None:
        self._shape = shape
        self._states: list[PartialResult[T]] = [PartialResult(shape) for _ in range(count)]
        self._progress = progress
        self._over = 0
        self._lock = Lock()

    def begin(self, numbers: Sequence[int], request_id: str | None) -> None:
        """Forget the partial results of an earlier call for these texts."""
        for number in numbers:
            self._states[number] = PartialResult(self._shape, request_id)

    def add(self, numbers: Sequence[int], event: AnyExtractEvent) -> None:
        """Take an event of a call with these texts.

        Raises:
            IntaglioError: the call failed as a whole.
        """
        if event.index is None:
            if isinstance(event, ErrorEvent):
                raise problem_error(event.error)
            return
        number = numbers[event.index]
        state = self._states[number]
        if isinstance(event, ErrorEvent):
            event = event.model_copy(
                update={"error": _renumbered(event.error, event.index, number)}
            )
        state.add(event)
        if state.result is not None or (state.error is not None and not is_transient(state.error)):
            self._count()

    def unfinished(
        self, numbers: Sequence[int], failure: IntaglioError | None
    ) -> tuple[list[int], IntaglioError | None]:
        """The texts that are to be sent again after a call, and why; `failure` ended the call as a whole."""
        left, reason = [], None
        for number in numbers:
            error = self._states[number].error
            if not self._states[number].is_over or (error is not None and is_transient(error)):
                left.append(number)
                reason = reason or failure or error
        return left, reason

    def give_up(self, numbers: Sequence[int], error: IntaglioError) -> None:
        """Record that these texts will not be sent again."""
        for number in numbers:
            self._states[number].error = self._states[number].error or error
            self._count()

    def outcomes(self) -> list[Extraction[T] | IntaglioError]:
        """One outcome for each text, once all are over."""
        found: list[Extraction[T] | IntaglioError] = []
        for state in self._states:
            outcome = state.result or state.error
            assert outcome is not None, "every text is over"
            found.append(outcome)
        return found

    def _count(self) -> None:
        with self._lock:
            self._over += 1
            if self._progress is not None:
                self._progress(self._over, len(self._states))


def _renumbered(problem: Problem, within: int, number: int) -> Problem:
    """The error of a text, with its number among all texts: a call counts only its own."""
    place = re.compile(rf"\btexts([./]){within}\b")

    def renamed(text: str) -> str:
        return place.sub(rf"texts\g<1>{number}", text)

    details = tuple(
        detail.model_copy(update={"pointer": renamed(detail.pointer)}) for detail in problem.details
    )
    param = None if problem.param is None else renamed(problem.param)
    return problem.model_copy(
        update={"message": renamed(problem.message), "param": param, "details": details}
    )
