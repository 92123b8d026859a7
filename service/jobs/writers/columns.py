"""Parquet with the types of the schema: objects are structs, arrays are lists, what has no one type is JSON text.

A column in which some value does not fit its type (an integer past 64 bits, a number that a double cannot hold) becomes
JSON text as a whole, so that nothing is rounded without a word; rows are read twice for that.
"""

from itertools import islice
from typing import Any, BinaryIO, Final

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pydantic import JsonValue

from ....schemas.jobs import Output
from ..layout import EXTRA, Column, Layout, Schema, kind_of, properties, resolved
from ..row import RowResult, result_text
from . import Rows

_GROUP_ROWS: Final = 10_000
_SCALARS: Final = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
}


def write(file: BinaryIO, rows: Rows, layout: Layout, output: Output) -> None:  # noqa: ARG001
    """Write every row."""
    keys = [pa.field(name, pa.string()) for name in (layout.row, *layout.keep)]
    typed = _fitting(_typed(layout), rows)
    fields = [pa.field(column.name, kind or pa.string()) for column, kind in typed]
    schema = pa.schema(keys + fields)
    source = iter(rows())
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := list(islice(source, _GROUP_ROWS)):
            writer.write_table(_table(group, layout, typed, schema))


def _typed(layout: Layout) -> list[tuple[Column, Any]]:
    """The columns of the top level with their types; None stands for JSON text."""
    schema = resolved(layout.schema, layout.schema)
    tops: dict[str, Column] = {}
    for column in layout.columns:
        if not column.path:
            return [
                (one, None if one.kind == "json" else _SCALARS[one.kind]) for one in layout.columns
            ]
        top = column.path[0]
        taken = {layout.row, *layout.keep}
        tops.setdefault(top, Column(f"result.{top}" if top in taken else top, (top,), "json"))
    named = schema["properties"]
    return [
        (column, _type(resolved(named[top], layout.schema), layout.schema, 0))
        for top, column in tops.items()
    ] + [
        (column, None) for column in layout.columns if column.name == EXTRA and column.path is None
    ]


def _type(schema: Schema, root: Schema, depth: int) -> Any:
    """The Arrow type of a schema's values; None where they have no one type."""
    kind = kind_of(schema)
    if kind != "json":
        return _SCALARS[kind]
    if depth > 8:
        return None
    inner = properties(schema, root)
    if inner is not None:
        parts = {name: _type(part, root, depth + 1) for name, part in inner.items()}
        return pa.struct([(name, part or pa.string()) for name, part in parts.items()])
    items = schema.get("items")
    if schema.get("type") == "array" and isinstance(items, dict) and "prefixItems" not in schema:
        part = _type(resolved(items, root), root, depth + 1)
        return None if part is None else pa.list_(part)
    return None


def _fitting(typed: list[tuple[Column, Any]], rows: Rows) -> list[tuple[Column, Any]]:
    """`typed`, with JSON text for the columns in which some value would be changed."""
    open_columns = dict(enumerate(typed))
    misfits: set[int] = set()
    for row in rows():
        for at, (column, kind) in open_columns.items():
            if at not in misfits and kind is not None and not _fits(_value(column, row), kind):
                misfits.add(at)
    return [
        (column, None if at in misfits else kind) for at, (column, kind) in open_columns.items()
    ]


def _fits(value: JsonValue, kind: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, bool):
        return bool(pa.types.is_boolean(kind))
    if isinstance(value, int):
        if pa.types.is_int64(kind):
            return -(2**63) <= value < 2**63
        return bool(pa.types.is_float64(kind)) and abs(value) <= 2**53
    if isinstance(value, float):
        return bool(pa.types.is_float64(kind) or (pa.types.is_int64(kind) and value.is_integer()))
    if isinstance(value, list):
        return bool(pa.types.is_list(kind)) and all(_fits(v, kind.value_type) for v in value)
    if isinstance(value, dict):
        return bool(pa.types.is_struct(kind)) and all(
            kind.get_field_index(key) >= 0 and _fits_or_text(part, kind.field(key).type)
            for key, part in value.items()
        )
    return bool(pa.types.is_string(kind))


def _fits_or_text(value: JsonValue, kind: Any) -> bool:
    """Inside a struct JSON text holds anything."""
    return bool(pa.types.is_string(kind)) or _fits(value, kind)


def _value(column: Column, row: RowResult) -> JsonValue:
    if column.path == ():
        return row.data
    assert column.path is not None
    return row.data.get(column.path[0]) if isinstance(row.data, dict) else None


def _table(
    group: list[RowResult], layout: Layout, typed: list[tuple[Column, Any]], schema: Any
) -> Any:
    keys = [dict(layout.keys(row)) for row in group]
    arrays = [
        pa.array([key[name] for key in keys], pa.string()) for name in (layout.row, *layout.keep)
    ]
    for column, kind in typed:
        if column.path is None:
            cells = [dict(layout.cells(row))[column] for row in group]
            arrays.append(pa.array(cells, pa.string()))
        elif kind is None:
            values = [_value(column, row) for row in group]
            texts = [None if value is None else result_text(value) for value in values]
            arrays.append(pa.array(texts, pa.string()))
        else:
            arrays.append(pa.array([_made(_value(column, row), kind) for row in group], kind))
    return pa.Table.from_arrays(arrays, schema=schema)


def _made(value: JsonValue, kind: Any) -> Any:
    """A value as pyarrow takes it: whole floats in integer columns as integers, odd parts of structs as JSON text."""
    if isinstance(value, float) and pa.types.is_int64(kind):
        return int(value)
    if isinstance(value, list) and pa.types.is_list(kind):
        return [_made(part, kind.value_type) for part in value]
    if isinstance(value, dict) and pa.types.is_struct(kind):
        return {key: _made(part, kind.field(key).type) for key, part in value.items()}
    if value is not None and pa.types.is_string(kind) and not isinstance(value, str):
        return result_text(value)
    return value
