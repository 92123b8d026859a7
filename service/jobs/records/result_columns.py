"""Results as tables: the columns that a schema makes, and their cells.

The properties of an object are columns, also those of nested objects, as `address.city`. Lists, objects that may hold
undeclared properties, and values of several types are one column of JSON text. A schema that is not an object makes one
column, `value`. The columns of the source come first: its id and the kept ones. A result column with the name of a
column before it is written as `result.name`.

Does: compute the columns, and their cells as Python values. Does not: write files (`writers`).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from intaglio.schemas import catalogue
from intaglio.schemas.jobs import REVIEW_COLUMN, JobSpec
from pydantic import JsonValue

from ...client.declared_types import Schema, declared_types, properties, resolved
from .row import RowResult, result_text

Kind = Literal["string", "integer", "number", "boolean", "json"]
Rows = Callable[[], Iterable[RowResult]]
"""The rows to write. Writers may call it more than once; each call iterates over all rows again."""

_SCALARS: Final[dict[str, Kind]] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}
_DEEPEST: Final = 16
EXTRA: Final = "_extra"


@dataclass(frozen=True, slots=True)
class Column:
    """A result column. `path`: the keys that lead to its value; empty: the whole result; None: properties without a
    column.
    """

    name: str
    path: tuple[str, ...] | None
    kind: Kind

    def cell(self, data: JsonValue) -> JsonValue:
        """The value in this column; None if it is missing. JSON columns hold JSON text."""
        for key in self.path or ():
            data = data.get(key) if isinstance(data, dict) else None
        if self.kind == "json" and data is not None:
            return result_text(data)
        return data


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a job's outputs. `row` is the name of the row id column."""

    row: str
    keep: tuple[str, ...]
    columns: tuple[Column, ...]
    schema: Schema
    kept: str | None = None  # the encoded types of `keep` (`kept_values`)

    @classmethod
    def of(cls, spec: JobSpec, kept: str | None = None) -> "Layout":
        """The columns for a job's schema and source; `kept` are the encoded types of its kept columns."""
        schema = whole_schema(spec)
        row = spec.source.id or "row"
        keep = tuple(name for name in spec.source.keep if name != row)
        if spec.review_below is not None:
            keep = (*keep, REVIEW_COLUMN)  # rows have it among their kept values
        columns = tuple(_with_own_names(_columns(schema), {row, *keep}))
        return cls(row, keep, columns, schema, kept)

    def keys(self, result: RowResult) -> Iterator[tuple[str, JsonValue]]:
        """Name and value of each source column."""
        yield self.row, result.id
        for name in self.keep:
            yield name, result.keep.get(name)

    def cells(self, result: RowResult) -> Iterator[tuple[Column, JsonValue]]:
        """Each result column with its value."""
        for column in self.columns:
            if column.path is None:
                yield column, _extra(result.data, self.columns)
            else:
                yield column, column.cell(result.data)


def _with_own_names(columns: Iterable[Column], used: set[str]) -> Iterator[Column]:
    """Columns under names that are neither `used` nor those of columns before them."""
    for column in columns:
        name = column.name
        while name in used:
            name = f"result.{name}"
        used.add(name)
        yield replace(column, name=name)


def whole_schema(spec: JobSpec) -> Schema:
    """The job's schema, looked up if it is a catalogue name; empty for a Boolean schema."""
    given = spec.schema_
    if isinstance(given, str):
        given = catalogue.get(given).schema
    return {} if isinstance(given, bool) else given


def kind_of(schema: Schema) -> Kind:
    """The kind of column for values of `schema`."""
    kinds = declared_types(schema)
    if kinds == {"integer", "number"}:
        return "number"
    return _SCALARS.get(kinds.pop(), "json") if len(kinds) == 1 else "json"


def _columns(root: Schema) -> Iterator[Column]:
    schema = resolved(root, root)
    named = schema.get("properties")
    if not isinstance(named, dict) or not named or declared_types(schema) - {"object"}:
        yield Column("value", (), kind_of(schema))
        return
    for name, part in named.items():
        yield from _nested_columns((name,), resolved(part, root), root)
    if properties(schema, root) is None:
        yield Column(EXTRA, None, "json")


def _nested_columns(path: tuple[str, ...], schema: Schema, root: Schema) -> Iterator[Column]:
    inner = properties(schema, root) if len(path) < _DEEPEST else None
    if inner is None:
        yield Column(".".join(path), path, kind_of(schema))
        return
    for name, part in inner.items():
        yield from _nested_columns((*path, name), part, root)


def _extra(data: JsonValue, columns: tuple[Column, ...]) -> str | None:
    named = {column.path[0] for column in columns if column.path}
    rest = {k: v for k, v in data.items() if k not in named} if isinstance(data, dict) else {}
    return result_text(rest) if rest else None
