"""Parquet with the types of the schema and of the source: objects are structs, arrays lists, dates dates.

A column in which some value would be changed by its type gets the next one: without the types of formats, then JSON
text; rows are read twice for that, so that nothing is rounded without a word. Why a column is text stands in the
metadata of its field, as `intaglio.text`. Instants are in UTC; where some of a column had another offset, the column
`NAME.utc_offset` tells it in minutes.

Does: choose the type of each column, write it. Does not: know types (`arrow_types`, `keeping`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import JsonValue

from ....schemas.jobs import Output
from ..keeping import Inferred, arrow_value, heard_types
from ..layout import EXTRA, Column, Layout, resolved
from ..record import as_text
from ..row import RowResult, result_text
from . import Rows
from .arrow_types import Misfit, fitted, offset_minutes, schema_type

_GROUP_ROWS: Final = 10_000
_REASON: Final = b"intaglio.text"
_NO_TYPE: Final = "the schema gives its values no one type"

Make = Callable[[JsonValue, Any], Any]


@dataclass(slots=True)
class _Planned:
    """A column to be written: where its values come from, and which types still fit all that were seen.

    Where none is left it is text, `as_words` of its values, and `reason` says why the first type did not fit.
    """

    name: str
    value: Callable[[RowResult], JsonValue]
    kinds: list[Any]
    make: Make
    as_words: Callable[[JsonValue], str | None]
    reason: str = ""
    tells_offset: bool = False
    offsets: bool = field(default=False)  # whether some instant had one

    @property
    def kind(self) -> Any:
        return self.kinds[0] if self.kinds else pa.string()

    def see(self, row: RowResult) -> None:
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
        if self.tells_offset and isinstance(value, str):
            self.offsets = self.offsets or bool(offset_minutes(value))

    def fields(self) -> Iterator[Any]:
        """The fields of the file that this column makes."""
        told = {_REASON: self.reason.encode()} if self.reason else None
        yield pa.field(self.name, self.kind, metadata=told)
        if self.has_offsets:
            yield pa.field(f"{self.name}.utc_offset", pa.int16())

    @property
    def has_offsets(self) -> bool:
        return self.offsets and bool(pa.types.is_timestamp(self.kind))

    def arrays(self, group: list[RowResult]) -> Iterator[Any]:
        """The values of these rows, an array a field."""
        values = [self.value(row) for row in group]
        if self.kinds:
            kind = self.kind
            made = [None if value is None else self.make(value, kind) for value in values]
            yield pa.array(made, kind)
        else:
            yield pa.array([self.as_words(value) for value in values], pa.string())
        if self.has_offsets:
            minutes = [None if value is None else offset_minutes(str(value)) for value in values]
            yield pa.array(minutes, pa.int16())


def write(file: BinaryIO, rows: Rows, layout: Layout, output: Output) -> None:  # noqa: ARG001
    """Write every row."""
    columns = [*_keys(layout, rows), *_results(layout)]
    for row in rows():
        for column in columns:
            column.see(row)
    schema = pa.schema([field for column in columns for field in column.fields()])
    source = iter(rows())
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := list(islice(source, _GROUP_ROWS)):
            arrays = [array for column in columns for array in column.arrays(group)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _keys(layout: Layout, rows: Rows) -> Iterator[_Planned]:
    """The columns of the source: with its types where it has any, else with those that their values have."""
    yield _Planned(layout.row, lambda row: row.id, [pa.string()], fitted, as_text)
    known = heard_types(layout.kept)
    guessed = {name: Inferred() for name in layout.keep if name not in known}
    for row in rows() if guessed else ():
        for name, inferred in guessed.items():
            inferred.add(row.keep.get(name))
    for name in layout.keep:
        kind = known[name] if name in known else guessed[name].kind
        yield _Planned(
            name,
            lambda row, name=name: row.keep.get(name),  # type: ignore[misc]
            [] if kind is None else [kind],
            _kept if name in known else fitted,
            as_text,
            "its values have several types" if kind is None else "",
        )


def _kept(value: JsonValue, kind: Any) -> Any:
    try:
        return arrow_value(value, kind)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise Misfit(f"{value!r:.60} is no {kind}: {error}") from None


def _results(layout: Layout) -> Iterator[_Planned]:
    """The columns of the result, those of the top level: what is inside an object stays there."""
    schema = resolved(layout.schema, layout.schema)
    tops: dict[str, _Planned] = {}
    for column in layout.columns:
        if column.path is None and column.name == EXTRA:
            yield from tops.values()
            yield _Planned(column.name, _extra(column, layout), [pa.string()], fitted, as_text)
            return
        if not column.path:
            yield _planned(column.name, lambda row: row.data, schema, layout)
            return
        top = column.path[0]
        taken = {layout.row, *layout.keep}
        name = f"result.{top}" if top in taken else top
        if top not in tops:
            part = resolved(schema["properties"][top], layout.schema)
            tops[top] = _planned(name, _member(top), part, layout)
    yield from tops.values()


def _planned(
    name: str, value: Callable[[RowResult], JsonValue], schema: Any, layout: Layout
) -> _Planned:
    kinds = []
    for formats in (True, False):
        kind = schema_type(schema, layout.schema, formats=formats)
        if kind is not None and kind not in kinds:
            kinds.append(kind)
    instant = bool(kinds) and pa.types.is_timestamp(kinds[0]) and kinds[0].tz is not None
    if instant and _is_taken(f"{name}.utc_offset", layout):
        kinds, instant = kinds[1:], False
    reason = "" if kinds else _NO_TYPE
    return _Planned(name, value, kinds, fitted, _words, reason, tells_offset=instant)


def _is_taken(name: str, layout: Layout) -> bool:
    tops = {column.path[0] for column in layout.columns if column.path}
    return name in {layout.row, *layout.keep, *tops}


def _member(name: str) -> Callable[[RowResult], JsonValue]:
    return lambda row: row.data.get(name) if isinstance(row.data, dict) else None


def _extra(column: Column, layout: Layout) -> Callable[[RowResult], JsonValue]:
    return lambda row: dict(layout.cells(row))[column]


def _words(value: JsonValue) -> str | None:
    return None if value is None else result_text(value)
