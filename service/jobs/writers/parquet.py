"""Writer of Parquet files with the types of schema and source: objects are structs, arrays are lists, dates are dates.

A column falls back to the next type if the first would change some value: without the types of string formats, then
JSON text. This takes two passes over the rows, so that nothing is rounded silently. The reason why a column is text is
stored in the metadata of its field, as `intaglio.text`. Instants are in UTC; if some had another offset, the column
`NAME.utc_offset` holds it in minutes.

Does: select the type of each column, write it. Does not: define types (`arrow_types`, `kept_values`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq
from intaglio.schemas.jobs import Output
from pydantic import JsonValue

from ...client.declared_types import resolved
from ..records.kept_values import InferredType, arrow_value, decode_types
from ..records.record import as_text
from ..records.result_columns import EXTRA, Column, Layout, Rows
from ..records.row import RowResult, result_text
from .arrow_types import Misfit, fitted, offset_minutes, schema_type

_GROUP_ROWS: Final = 10_000
_REASON: Final = b"intaglio.text"
_NO_TYPE: Final = "the schema gives its values no one type"

Make = Callable[[JsonValue, Any], Any]


@dataclass(slots=True)
class _ParquetColumn:
    """A column to write: the source of its values, and the types that still fit all values seen.

    If no type is left, it is the text of `as_text_cell`, and `reason` says why the first type did not fit.
    """

    name: str
    value: Callable[[RowResult], JsonValue]
    kinds: list[Any]
    make: Make
    as_text_cell: Callable[[JsonValue], str | None]
    reason: str = ""
    has_offset_column: bool = False
    seen_offset: bool = field(default=False)  # whether some instant had an offset other than UTC

    @property
    def kind(self) -> Any:
        return self.kinds[0] if self.kinds else pa.string()

    def narrow(self, row: RowResult) -> None:
        """Drop the types that do not fit this row's value."""
        value = self.value(row)
        if value is None:
            return
        for kind in tuple(self.kinds):
            try:
                self.make(value, kind)
            except Misfit as misfit:
                self.kinds.remove(kind)
                self.reason = self.reason or str(misfit)
        if self.has_offset_column and isinstance(value, str):
            self.seen_offset = self.seen_offset or bool(offset_minutes(value))

    def fields(self) -> Iterator[Any]:
        """The Parquet fields of this column."""
        metadata = {_REASON: self.reason.encode()} if self.reason else None
        yield pa.field(self.name, self.kind, metadata=metadata)
        if self.has_offsets:
            yield pa.field(f"{self.name}.utc_offset", pa.int16())

    @property
    def has_offsets(self) -> bool:
        return self.seen_offset and bool(pa.types.is_timestamp(self.kind))

    def arrays(self, group: list[RowResult]) -> Iterator[Any]:
        """The values of these rows, one array for each field."""
        values = [self.value(row) for row in group]
        if self.kinds:
            kind = self.kind
            made = [None if value is None else self.make(value, kind) for value in values]
            yield pa.array(made, kind)
        else:
            yield pa.array([self.as_text_cell(value) for value in values], pa.string())
        if self.has_offsets:
            minutes = [None if value is None else offset_minutes(str(value)) for value in values]
            yield pa.array(minutes, pa.int16())


def write(file: BinaryIO, rows: Rows, layout: Layout, output: Output) -> None:  # noqa: ARG001 - the signature of all writers
    """Write every row."""
    columns = [*_source_columns(layout, rows), *_result_columns(layout)]
    for row in rows():
        for column in columns:
            column.narrow(row)
    schema = pa.schema([field for column in columns for field in column.fields()])
    source = iter(rows())
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := list(islice(source, _GROUP_ROWS)):
            arrays = [array for column in columns for array in column.arrays(group)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _source_columns(layout: Layout, rows: Rows) -> Iterator[_ParquetColumn]:
    """The source columns: with the source's types if it has any, else with inferred types."""
    yield _ParquetColumn(layout.row, lambda row: row.id, [pa.string()], fitted, as_text)
    known = decode_types(layout.kept)
    inferred_types = {name: InferredType() for name in layout.keep if name not in known}
    for row in rows() if inferred_types else ():
        for name, inferred in inferred_types.items():
            inferred.add(row.keep.get(name))
    for name in layout.keep:
        kind = known[name] if name in known else inferred_types[name].kind
        yield _ParquetColumn(
            name,
            lambda row, name=name: row.keep.get(name),  # type: ignore[misc]  # mypy infers no default of a lambda
            [] if kind is None else [kind],
            _restored if name in known else fitted,
            as_text,
            "its values have several types" if kind is None else "",
        )


def _restored(value: JsonValue, kind: Any) -> Any:
    try:
        return arrow_value(value, kind)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise Misfit(f"{value!r:.60} does not fit {kind}: {error}") from None


def _result_columns(layout: Layout) -> Iterator[_ParquetColumn]:
    """The top-level columns of the result; nested values stay inside."""
    schema = resolved(layout.schema, layout.schema)
    tops: dict[str, _ParquetColumn] = {}
    for column in layout.columns:
        if column.path is None and column.name == EXTRA:
            yield from tops.values()
            yield _ParquetColumn(
                column.name, _extra(column, layout), [pa.string()], fitted, as_text
            )
            return
        if not column.path:
            yield _planned(column.name, lambda row: row.data, schema, layout)
            return
        top = column.path[0]
        used = {layout.row, *layout.keep}
        name = f"result.{top}" if top in used else top
        if top not in tops:
            part = resolved(schema["properties"][top], layout.schema)
            tops[top] = _planned(name, _member(top), part, layout)
    yield from tops.values()


def _planned(
    name: str, value: Callable[[RowResult], JsonValue], schema: Any, layout: Layout
) -> _ParquetColumn:
    kinds = []
    for formats in (True, False):
        kind = schema_type(schema, layout.schema, formats=formats)
        if kind is not None and kind not in kinds:
            kinds.append(kind)
    instant = bool(kinds) and pa.types.is_timestamp(kinds[0]) and kinds[0].tz is not None
    if instant and _is_used(f"{name}.utc_offset", layout):
        kinds, instant = kinds[1:], False
    reason = "" if kinds else _NO_TYPE
    return _ParquetColumn(name, value, kinds, fitted, _json_text, reason, has_offset_column=instant)


def _is_used(name: str, layout: Layout) -> bool:
    tops = {column.path[0] for column in layout.columns if column.path}
    return name in {layout.row, *layout.keep, *tops}


def _member(name: str) -> Callable[[RowResult], JsonValue]:
    return lambda row: row.data.get(name) if isinstance(row.data, dict) else None


def _extra(column: Column, layout: Layout) -> Callable[[RowResult], JsonValue]:
    return lambda row: dict(layout.cells(row))[column]


def _json_text(value: JsonValue) -> str | None:
    return None if value is None else result_text(value)
