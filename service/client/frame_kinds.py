"""Data frames of pandas and polars behind one interface: read a column, add typed columns.

Does: recognise a frame by its class and import its library, which is there then. Does not: extract (`frames`).
"""

import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, Protocol

from .declared_types import Schema, properties, resolved
from .frame_columns import CellKind, FrameColumn, kind_of_cell

_PANDAS: Final[dict[CellKind, str]] = {
    "string": "string",
    "integer": "Int64",
    "number": "Float64",
    "boolean": "boolean",
    "date": "datetime64[s]",
    "datetime": "datetime64[us, UTC]",
    "nested": "object",
}


class FrameKind(Protocol):
    """A library of data frames."""

    def names(self, frame: Any) -> list[str]:
        """The names of the columns."""
        ...

    def values(self, frame: Any, column: str) -> list[Any]:
        """The values of a column; None for missing ones."""
        ...

    def extended(self, frame: Any, columns: Sequence[tuple[FrameColumn, str, list[Any]]]) -> Any:
        """A new frame with further columns: their types, names and cells."""
        ...


class PandasFrames:
    """`pandas.DataFrame`: nullable types, and Python objects for lists and objects. Keeps the index."""

    def names(self, frame: Any) -> list[str]:
        return list(frame.columns)

    def values(self, frame: Any, column: str) -> list[Any]:
        found = frame[column]
        return [
            None if missing else value for value, missing in zip(found, found.isna(), strict=True)
        ]

    def extended(self, frame: Any, columns: Sequence[tuple[FrameColumn, str, list[Any]]]) -> Any:
        pandas = import_module("pandas")
        made = {
            name: pandas.Series(cells, index=frame.index, dtype=_PANDAS[column.kind])
            for column, name, cells in columns
        }
        # Not assign(): names of columns need not be keywords, and an index may repeat.
        return pandas.concat([frame, pandas.DataFrame(made, index=frame.index)], axis=1)


class PolarsFrames:
    """`polars.DataFrame`: lists and structs where the schema states their parts, JSON text elsewhere."""

    def names(self, frame: Any) -> list[str]:
        return list(frame.columns)

    def values(self, frame: Any, column: str) -> list[Any]:
        return list(frame[column])

    def extended(self, frame: Any, columns: Sequence[tuple[FrameColumn, str, list[Any]]]) -> Any:
        polars = import_module("polars")
        made = []
        for column, name, cells in columns:
            kind = _polars_type(polars, column.schema, column.root, column.kind)
            if kind is None:
                kind, cells = polars.String, [None if c is None else _text(c) for c in cells]
            made.append(polars.Series(name, cells, dtype=kind, strict=False))
        return frame.with_columns(made)


def frame_kind(frame: object) -> FrameKind:
    """The library of a frame. Raises TypeError if it is not a DataFrame of pandas or polars."""
    kind = type(frame)
    library = kind.__module__.partition(".")[0]
    if kind.__name__ == "DataFrame" and library == "pandas":
        return PandasFrames()
    if kind.__name__ == "DataFrame" and library == "polars":
        return PolarsFrames()
    hint = ": collect() it first" if kind.__name__ == "LazyFrame" else ""
    raise TypeError(f"frame must be a DataFrame of pandas or polars, not {kind.__name__}{hint}")


def _polars_type(polars: Any, schema: Schema, root: Schema, kind: CellKind | None = None) -> Any:
    """The polars type for values of `schema`; None if the schema does not state all parts. Nested dates stay text."""
    match kind or kind_of_cell(schema):
        case "string":
            return polars.String
        case "integer":
            return polars.Int64
        case "number":
            return polars.Float64
        case "boolean":
            return polars.Boolean
        case "date":
            return polars.Date if kind else polars.String
        case "datetime":
            return polars.Datetime("us", "UTC") if kind else polars.String
    if schema.get("type") in ("array", ["array", "null"], ["null", "array"]):
        item = _polars_type(polars, resolved(schema.get("items"), root), root)
        return None if item is None or "prefixItems" in schema else polars.List(item)
    parts = {
        name: _polars_type(polars, part, root)
        for name, part in (properties(schema, root) or {}).items()
    }
    return None if not parts or None in parts.values() else polars.Struct(parts)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
