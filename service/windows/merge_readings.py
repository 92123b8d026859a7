"""The readings of the windows of a document, merged into one value.

Does: merge objects by property, join arrays (`joined_items`), and choose among the readings of any other value: those
that are not null, of these the most confident, else those that occur in their window, else the first. Does not:
validate the whole (`windowed_extraction`), or read anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from intaglio.schemas.extraction.grounding import FieldReport
from intaglio.schemas.json_pointer import pointer_of
from pydantic import JsonValue

from ..extraction.decimals import key
from .joined_items import JoinedItems, ReadItem
from .schema_places import Place, PlaceKind, member, place
from .sources import sources, stated_leaves
from .split import Window

Path = tuple[str | int, ...]
MAX_CANDIDATES: Final = 16


@dataclass(frozen=True, slots=True)
class WindowReading:
    """The result of one window.

    `next_start` is where the next window begins; None for the last. `fields` are the reports of its leaves, if they
    were asked for.
    """

    window: Window
    next_start: int | None
    text: str
    data: JsonValue
    fields: Mapping[str, FieldReport] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChosenValue:
    """A reading of a value that is taken whole: from window `number`."""

    value: JsonValue
    number: int
    stated: int = 0
    certainty: float | None = None


@dataclass(frozen=True, slots=True)
class SettledItem:
    """An item of the merged value that no later window changes."""

    pointer: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Relocation:
    """The value at `pointer` in the reading of window `number` is at `to` in the whole."""

    number: int
    pointer: str
    to: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged value. `missing` are the places of required values that no window gave; `candidates` the other
    readings of chosen values; `dropped` the number of items beyond the greatest number that an array may have.
    """

    value: Any
    relocations: tuple[Relocation, ...] = ()
    missing: tuple[Path, ...] = ()
    candidates: Mapping[str, tuple[ChosenValue, ...]] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Node:
    """One place of the merged document."""

    place: Place
    given: bool = False  # a window gave an object or array, not null
    members: "dict[str, _Node]" = field(default_factory=dict)
    items: JoinedItems = field(default_factory=JoinedItems)
    values: list[ChosenValue] = field(default_factory=list)


class Merger:
    """Merges the readings of one document under `schema`. They are added in the order of the windows."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._root = self._node(schema)
        self._count = 0

    def add(self, reading: WindowReading) -> list[SettledItem]:
        """Add the reading of the next window; the items that it settles."""
        number, self._count = self._count, self._count + 1
        settled = list[SettledItem]()
        self._add(self._root, reading.data, (), reading, number, settled)
        return settled

    def finish(self) -> tuple[list[SettledItem], Merged]:
        """The items that were not settled yet, and the whole."""
        settled = list(_rest(self._root, ()))
        outcome = _Outcome()
        value = self._value(self._root, (), outcome)
        if value is None and not self._root.place.allows_null:
            outcome.missing.append(())
        return settled, Merged(
            value,
            tuple(outcome.relocations),
            tuple(outcome.missing),
            outcome.candidates,
            outcome.dropped,
        )

    def _node(self, schema: Any) -> _Node:
        found = place(schema, self._schema)
        node = _Node(found)
        if found.kind is PlaceKind.ARRAY:
            most = found.schema.get("maxItems")
            node.items = JoinedItems(
                most if isinstance(most, int) else None,
                unique=found.schema.get("uniqueItems") is True,
            )
        return node

    def _add(
        self,
        node: _Node,
        value: Any,
        path: Path,
        reading: WindowReading,
        number: int,
        settled: list[SettledItem],
    ) -> None:
        kind = node.place.kind
        if kind is PlaceKind.VALUE:
            node.values.append(_chosen(value, path, reading, number))
        elif kind is PlaceKind.OBJECT and isinstance(value, dict):
            node.given = True
            for name, part in value.items():
                if name not in node.members:
                    node.members[name] = self._node(member(node.place.schema, name))
                self._add(node.members[name], part, (*path, name), reading, number, settled)
        elif kind is PlaceKind.ARRAY and isinstance(value, list):
            node.given = True
            places = sources(value, reading.text, reading.window.start)
            items = [
                ReadItem(item, source, number, index)
                for index, (item, source) in enumerate(zip(value, places, strict=True))
            ]
            before = len(node.items.settled)
            found = node.items.add(items, reading.window, reading.next_start)
            settled += _numbered(found, path, before)

    def _value(self, node: _Node, path: Path, outcome: "_Outcome") -> Any:
        """The merged value of a place; None if no window gave one."""
        if node.place.kind is PlaceKind.VALUE:
            return _choice(node.values, path, outcome)
        if not node.given:
            return None
        if node.place.kind is PlaceKind.ARRAY:
            here = pointer_of(path)
            for index, item in enumerate(node.items.settled):
                place_there = f"{here}/{item.index}"
                outcome.relocations.append(Relocation(item.number, place_there, f"{here}/{index}"))
            if node.items.dropped:
                outcome.dropped[here] = node.items.dropped
            return [item.value for item in node.items.settled]
        return self._object(node, path, outcome)

    def _object(self, node: _Node, path: Path, outcome: "_Outcome") -> Any:
        """An object from its members. Without any it is null where that is allowed."""
        schema = node.place.schema
        declared, required = schema.get("properties", {}), schema.get("required", ())
        names = [name for name in declared if name in node.members]
        names += [name for name in node.members if name not in declared]
        inner, found = _Outcome(), dict[str, Any]()
        for name in names:
            part, of_part = node.members[name], _Outcome()
            value = self._value(part, (*path, name), of_part)
            if value is None and not part.place.allows_null:
                continue
            is_optional = name not in required and part.place.kind is PlaceKind.OBJECT
            if is_optional and value is not None and not _is_stated(value):
                continue  # the document does not state it
            found[name] = value
            inner.extend(of_part)
        if path and node.place.allows_null and not _is_stated(found):
            return None
        outcome.extend(inner)
        outcome.missing += [(*path, name) for name in required if name not in found]
        return found


@dataclass(slots=True)
class _Outcome:
    """The report on the merged value, while it is built."""

    relocations: list[Relocation] = field(default_factory=list)
    missing: list[Path] = field(default_factory=list)
    candidates: dict[str, tuple[ChosenValue, ...]] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)

    def extend(self, other: "_Outcome") -> None:
        self.relocations += other.relocations
        self.missing += other.missing
        self.candidates.update(other.candidates)
        self.dropped.update(other.dropped)


def _chosen(value: Any, path: Path, reading: WindowReading, number: int) -> ChosenValue:
    if value is None:
        return ChosenValue(None, number)
    report = reading.fields.get(pointer_of(path))
    if report is not None and report.match != "none":
        return ChosenValue(value, number, 1, _certainty(report))
    certainty = None if report is None else _certainty(report)
    return ChosenValue(value, number, stated_leaves(value, reading.text), certainty)


def _certainty(report: FieldReport) -> float | None:
    """The probability that a value is right: the calibrated one if there is one."""
    known = report.confidence
    if known is None:
        return None
    return known.probability if known.calibrated is None else known.calibrated


def _choice(values: Sequence[ChosenValue], path: Path, outcome: _Outcome) -> Any:
    """The chosen reading of a value; the other ones become candidates."""
    given = [value for value in values if value.value is not None]
    if not given:
        return None
    if all(value.certainty is not None for value in given):
        best = max(given, key=lambda value: (value.certainty or 0.0, -value.number))
    else:
        best = max(given, key=lambda value: (value.stated, -value.number))
    here = pointer_of(path)
    outcome.relocations.append(Relocation(best.number, here, here))
    others = {key(value.value): value for value in reversed(given)}
    others.pop(key(best.value), None)
    if others:
        kept = sorted(others.values(), key=lambda value: value.number)
        outcome.candidates[here] = tuple(kept[:MAX_CANDIDATES])
    return best.value


def _rest(node: _Node, path: Path) -> Iterator[SettledItem]:
    """Settle the rest of all arrays."""
    if node.place.kind is PlaceKind.ARRAY:
        before = len(node.items.settled)
        yield from _numbered(node.items.finish(), path, before)
    for name, part in node.members.items():
        yield from _rest(part, (*path, name))


def _numbered(items: Sequence[ReadItem], path: Path, begin: int) -> Iterator[SettledItem]:
    for number, item in enumerate(items, begin):
        yield SettledItem(pointer_of((*path, number)), item.value)


def _is_stated(value: Any) -> bool:
    """Whether any leaf of a value is not null."""
    if isinstance(value, dict):
        return any(map(_is_stated, value.values()))
    return value is not None and value != []
