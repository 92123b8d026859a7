"""The events of an extraction that is read in windows: items of arrays as windows end, the rest at the end.

Does: turn settled items and the final result into the events that `json_events` gives of a text. Does not: send them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from intaglio.schemas.extraction.extract_events import (
    AnyExtractEvent,
    FieldCompletedEvent,
    FieldStartedEvent,
    ObjectCompletedEvent,
)
from intaglio.schemas.extraction.results import ExtractResult
from intaglio.schemas.json_pointer import child_pointer

from ..extraction.json_events import MAX_EVENT_DEPTH, Kind
from .merge_readings import SettledItem


class WindowEvents:
    """The events of one extraction; `index` is that of its text among several. No value is started twice."""

    def __init__(self, index: int | None = None) -> None:
        self._index = index
        self._containers: set[str] = set()

    def settled(self, items: Sequence[SettledItem]) -> Iterator[AnyExtractEvent]:
        """The events of items that no later window changes, and of the objects and arrays around them."""
        for item in items:
            yield from self._around(item.pointer.rpartition("/")[0], "array")
            yield from self._whole(item.pointer, item.value)

    def finished(self, result: ExtractResult) -> Iterator[AnyExtractEvent]:
        """The events of all other values, and the result."""
        yield from self._rest("", result.data)
        yield ObjectCompletedEvent(index=self._index, result=result)

    def _around(self, place: str, kind: Kind) -> Iterator[AnyExtractEvent]:
        """Start a container, and before it the objects around it."""
        if place in self._containers:
            return
        if place:
            yield from self._around(place.rpartition("/")[0], "object")
        yield self._started(place, kind)

    def _rest(self, place: str, value: Any) -> Iterator[AnyExtractEvent]:
        """The events of a value, without those of parts that were sent already."""
        if place not in self._containers:
            yield from self._whole(place, value)
            return
        if isinstance(value, dict):
            for name, part in value.items():
                yield from self._rest(child_pointer(place, name), part)
        if place:
            yield self._completed(place, value)

    def _whole(self, place: str, value: Any) -> Iterator[AnyExtractEvent]:
        yield self._started(place, _kind(value))
        if place.count("/") < MAX_EVENT_DEPTH:
            parts: Iterable[tuple[str | int, Any]] = ()
            if isinstance(value, dict):
                parts = value.items()
            elif isinstance(value, list):
                parts = enumerate(value)
            for key, part in parts:
                yield from self._whole(child_pointer(place, key), part)
        if place:
            yield self._completed(place, value)

    def _started(self, place: str, kind: Kind) -> FieldStartedEvent:
        if kind in ("object", "array"):
            self._containers.add(place)
        return FieldStartedEvent(index=self._index, pointer=place, kind=kind)

    def _completed(self, place: str, value: Any) -> FieldCompletedEvent:
        self._containers.discard(place)
        return FieldCompletedEvent(index=self._index, pointer=place, value=value)


def _kind(value: Any) -> Kind:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "number"
