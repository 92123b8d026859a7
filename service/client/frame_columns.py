"""The columns that a schema makes in a data frame, and their cells.

Each property of an object that allows no others is a column, typed by its schema; any other schema makes one column,
`value`. Dates and times become such. Lists and objects stay whole.

Does: derive columns and turn values into cells. Does not: import a library of frames (`frame_kinds`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, Literal

from intaglio.schemas import catalogue
from pydantic import JsonValue

from .declared_types import Schema, declared_types, properties, resolved

CellKind = Literal["string", "integer", "number", "boolean", "date", "datetime", "nested"]

_SCALARS: Final[Mapping[str, CellKind]] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}
_TIMES: Final[Mapping[object, CellKind]] = {"date": "date", "date-time": "datetime"}
_INTEGER_BOUND: Final = 2**63


class NoCell(ValueError):
    """A value that no cell of its column can hold; the message says why."""


@dataclass(frozen=True, slots=True)
class FrameColumn:
    """A result column. `key`: the property; None: the whole result. `schema` is that of its values, `root` the one that
    references in it are relative to.
    """

    name: str
    key: str | None
    kind: CellKind
    schema: Schema
    root: Schema

    def cell(self, data: JsonValue) -> Any:
        """The value of this column in a result; None if it is null or missing. Raises `NoCell`."""
        if self.key is not None:
            data = data.get(self.key) if isinstance(data, dict) else None
        if data is None:
            return None
        _require_representable(data)
        try:
            match self.kind:
                case "number":
                    return float(data)  # type: ignore[arg-type]  # by the schema
                case "date":
                    return date.fromisoformat(str(data))
                case "datetime":
                    return datetime.fromisoformat(str(data)).astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise NoCell(f"{self.name}: {data!r} has no place in a column: {error}") from None
        return data


def frame_columns(schema: Mapping[str, Any] | bool | str) -> tuple[FrameColumn, ...]:
    """The columns of results of `schema`.

    Raises:
        TypeError: `schema` is a name that is not in the catalogue, so that its columns are not known.
    """
    if isinstance(schema, str):
        try:
            schema = catalogue.get(schema).schema
        except catalogue.UnknownSchema as unknown:
            raise TypeError(f"{unknown}: give the schema itself, which tells the columns") from None
    root: Schema = {} if isinstance(schema, bool) else schema
    whole = resolved(root, root)
    named = properties(whole, root)
    if named is None:
        return (FrameColumn("value", None, kind_of_cell(whole), whole, root),)
    return tuple(
        FrameColumn(name, name, kind_of_cell(part), part, root) for name, part in named.items()
    )


def kind_of_cell(schema: Schema) -> CellKind:
    """The kind of the cells for values of `schema`."""
    types = declared_types(schema)
    if types == {"integer", "number"}:
        return "number"
    if len(types) != 1:
        return "nested"
    kind = _SCALARS.get(types.pop(), "nested")
    return _TIMES.get(schema.get("format"), kind) if kind == "string" else kind


def cells(columns: Sequence[FrameColumn], data: JsonValue) -> Iterator[Any]:
    """The cells of one result, in the order of the columns. Raises `NoCell`."""
    for column in columns:
        yield column.cell(data)


def _require_representable(value: JsonValue) -> None:
    if isinstance(value, int) and not -_INTEGER_BOUND <= value < _INTEGER_BOUND:
        raise NoCell(f"{value} has more than 64 bits")
    if isinstance(value, list):
        for part in value:
            _require_representable(part)
    elif isinstance(value, dict):
        for part in value.values():
            _require_representable(part)
