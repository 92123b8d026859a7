"""Arrow types of a schema's values, and conversion of JSON values to them.

String formats have types of their own: `date` is `date32`, `date-time` is `timestamp[us, UTC]`, `date-time-local` is
`timestamp[us]`, `time-local` is `time64[us]`. So is `time` if all its offsets are UTC: a time of day with another
offset has no Arrow type. A value that its type would change (a fraction of more than six digits, a leap second, an
integer beyond 64 bits) does not fit, and the caller selects another type for the column.

Does: types and values. Does not: select among types or write files (`parquet`).
"""

import datetime
import re
from typing import Any, Final

import pyarrow as pa
from pydantic import JsonValue

from ...client.declared_types import Schema, properties, resolved
from ..records.result_columns import kind_of
from ..records.row import result_text

_SCALARS: Final = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
}
_FORMATS: Final = {
    "date": pa.date32(),
    "date-time": pa.timestamp("us", tz="UTC"),
    "date-time-local": pa.timestamp("us"),
    "time": pa.time64("us"),
    "time-local": pa.time64("us"),
}
_DEEPEST: Final = 8
_TEXT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})?(?:(?:^|(?<=[0-9])[Tt ])([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})?)?"
)
_MIDNIGHT: Final = datetime.date(1970, 1, 1)


class Misfit(ValueError):
    """A value that its type would change; the message has the reason."""


def schema_type(schema: Schema, root: Schema, *, formats: bool, depth: int = 0) -> Any:
    """The Arrow type of a schema's values; None if they have no single type. `formats`: whether dates and times get
    types.
    """
    kind = kind_of(schema)
    if kind == "string" and formats and isinstance(schema.get("format"), str):
        return _FORMATS.get(schema["format"], pa.string())
    if kind != "json":
        return _SCALARS[kind]
    if depth > _DEEPEST:
        return None
    inner = properties(schema, root)
    if inner is not None:
        parts = {
            name: schema_type(part, root, formats=formats, depth=depth + 1)
            for name, part in inner.items()
        }
        return pa.struct([(name, part or pa.string()) for name, part in parts.items()])
    items = schema.get("items")
    if schema.get("type") == "array" and isinstance(items, dict) and "prefixItems" not in schema:
        part = schema_type(resolved(items, root), root, formats=formats, depth=depth + 1)
        return None if part is None else pa.list_(part)
    return None


def fitted(value: JsonValue, kind: Any, *, inside: bool = False) -> Any:
    """`value` as pyarrow expects it for `kind`. `inside` a struct, text fields hold any value as JSON.

    An instant with an offset is converted to UTC; `offset_minutes` returns what that loses.

    Raises:
        Misfit: the type would change the value.
    """
    match value:
        case None:
            return None
        case str() if pa.types.is_string(kind):
            return value
        case str() if pa.types.is_temporal(kind):
            return _moment(value, kind)
        case bool() if pa.types.is_boolean(kind):
            return value
        case int() | float() if not isinstance(value, bool) and _holds(kind, value):
            return int(value) if pa.types.is_int64(kind) else value
        case list() if pa.types.is_list(kind):
            return [_inner(part, kind.value_type, inside=False) for part in value]
        case dict() if pa.types.is_struct(kind) and all(_has(kind, key) for key in value):
            parts = {key: kind.field(key).type for key in value}
            return {key: _inner(value[key], part, inside=True) for key, part in parts.items()}
    if inside and pa.types.is_string(kind):
        return result_text(value)
    raise Misfit(f"{result_text(value)[:60]} would be changed by the type {kind}")


def _holds(kind: Any, value: int | float) -> bool:
    """Whether `kind` represents this number exactly."""
    if pa.types.is_int64(kind):
        return -(2**63) <= value < 2**63 and value == int(value)
    return bool(pa.types.is_float64(kind)) and (type(value) is float or abs(value) <= 2**53)


def _has(kind: Any, name: str) -> bool:
    return bool(kind.get_field_index(name) >= 0)


def offset_minutes(text: str) -> int:
    """The UTC offset of a date-time in minutes; 0 without an offset."""
    offset = _parts(text)[3]
    if offset is None or offset in "Zz":
        return 0
    hours, minutes = int(offset[1:3]), int(offset[4:6])
    return (-1 if offset[0] == "-" else 1) * (60 * hours + minutes)


def _inner(value: JsonValue, kind: Any, *, inside: bool) -> Any:
    """`fitted` for a part of a list or struct, which has no column for offsets."""
    if isinstance(value, str) and pa.types.is_timestamp(kind) and offset_minutes(value):
        raise Misfit(f"{value[:60]} has an offset, which a timestamp inside a list or object loses")
    return fitted(value, kind, inside=inside)


def _moment(text: str, kind: Any) -> Any:
    """Parse a date, time or instant exactly."""
    date, clock, fraction, offset = _parts(text)
    zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    if pa.types.is_date(kind):
        fits = date is not None and clock is None
    elif pa.types.is_timestamp(kind):
        fits = date is not None and clock is not None and (offset is not None) == zoned
    else:
        fits = date is None and clock is not None and not offset_minutes(text)
    if not fits or (fraction or "")[6:].strip("0"):
        raise Misfit(f"{text[:60]!r} would be changed by the type {kind}")
    try:
        day = _MIDNIGHT if date is None else datetime.date.fromisoformat(date)
        if clock is None:
            return day
        micro = int((fraction or "")[:6].ljust(6, "0"))
        hour = datetime.time.fromisoformat(clock).replace(microsecond=micro)
        if date is None:
            return hour
        local = datetime.datetime.combine(day, hour)
        if not zoned:
            return local
        shift = datetime.timedelta(minutes=offset_minutes(text))
        return (local - shift).replace(tzinfo=datetime.UTC)
    except (ValueError, OverflowError) as error:
        raise Misfit(f"{text[:60]!r} is not a time that Arrow can represent: {error}") from None


def _parts(text: str) -> tuple[str | None, str | None, str | None, str | None]:
    """(date, clock, fraction, offset) of a text; all None if it has none of these forms."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None, None, None, None
    date, clock, fraction, offset = found.groups()
    return date, clock, fraction, offset
