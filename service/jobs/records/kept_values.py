"""Source values that the outputs repeat: as JSON in the ledger, and with their types again in Parquet.

JSON values stay unchanged. Dates, times, timestamps and durations become ISO 8601 strings (`2026-01-01`, `PT1.5S`);
outside the years 1 to 9999 a date or a timestamp becomes the number that Arrow holds. Decimals and numbers that JSON
lacks (NaN) become strings of their digits, bytes become UTF-8 or base64. The Arrow types of a Parquet source are stored
with them, so that a Parquet output has the same column types.

Does: convert single values in both directions, encode the types of a source, infer types of untyped values. Does not:
read or write files (`readers`, `writers`).
"""

import base64
import datetime
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
from pydantic import JsonValue

_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_UNITS: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def as_json(value: Any) -> JsonValue:
    """A value of a Parquet or JSON source in its ledger form."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case bytes():
            return _bytes_as_text(value)
        case dict():
            return {str(key): as_json(part) for key, part in value.items()}
        case list() | tuple():
            return [as_json(part) for part in value]
        case _:  # Decimal, UUID: as digits
            return str(value)


def column_values(column: Any) -> list[JsonValue]:
    """The values of an Arrow array in their ledger form; times to the nanosecond."""
    if any(fits(column.type) for fits in _EXACT_IN_PYTHON):
        return [as_json(value) for value in column.to_pylist()]
    return [_scalar(value) for value in column]


def encode_types(schema: Any, names: Iterable[str]) -> str:
    """The Arrow types of the named columns as text for the ledger."""
    kinds = {name: _decoded_type(schema.field(name).type) for name in names}
    kept = pa.schema([(name, kind) for name, kind in kinds.items() if _is_restorable(kind)])
    return json.dumps({"arrow": base64.b64encode(kept.serialize().to_pybytes()).decode()})


def decode_types(encoded: str | None) -> Mapping[str, Any]:
    """Arrow types by column, from the text of `encode_types`."""
    whole = json.loads(encoded or "{}")
    if "arrow" not in whole:
        return {}
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(whole["arrow"])))
    return {field.name: field.type for field in schema}


def arrow_value(value: JsonValue, kind: Any) -> Any:
    """A ledger value as pyarrow expects it for a column of type `kind`.

    Raises:
        ValueError, TypeError, ArithmeticError: the value does not fit the type.
    """
    if value is None:
        return None
    if pa.types.is_struct(kind) and isinstance(value, dict):
        return {name: arrow_value(part, kind.field(name).type) for name, part in value.items()}
    if pa.types.is_map(kind) and isinstance(value, list):
        pairs = [pair for pair in value if isinstance(pair, list)]  # as `as_json` made them
        kinds = (kind.key_type, kind.item_type)
        return [tuple(map(arrow_value, pair, kinds)) for pair in pairs]
    if _is_list(kind) and isinstance(value, list):
        return [arrow_value(part, kind.value_type) for part in value]
    if any(fits(kind) for fits in _TICKING):
        return _ticks(str(value), _UNITS[kind.unit])
    reads = next((reads for fits, reads in _SCALARS if fits(kind)), None)
    return value if reads is None else reads(str(value))


class InferredType:
    """The type that fits all values of a column of JSON values; text if no single type does."""

    def __init__(self) -> None:
        self._kind: Any = pa.null()

    def add(self, value: JsonValue) -> None:
        """Widen the type to fit `value`."""
        self._kind = _common_type(self._kind, _kind_of(value))

    @property
    def kind(self) -> Any:
        """The Arrow type, or None for text."""
        if self._kind is None or pa.types.is_null(self._kind):
            return pa.string() if self._kind is not None else None
        return _without_nulls(self._kind)


def _kind_of(value: JsonValue) -> Any:
    match value:
        case None:
            return pa.null()
        case bool():
            return pa.bool_()
        case int():
            return pa.int64() if -(2**63) <= value < 2**63 else None
        case float():
            return pa.float64()
        case str():
            return pa.string()
        case list():
            part: Any = pa.null()
            for item in value:
                part = _common_type(part, _kind_of(item))
            return None if part is None else pa.list_(part)
        case dict():
            parts = {name: _kind_of(item) for name, item in value.items()}
            return None if not parts or None in parts.values() else pa.struct(list(parts.items()))


def _common_type(one: Any, other: Any) -> Any:
    """The type that fits the values of both types; None if there is none."""
    if one is None or other is None or one == other:
        return one if other is not None else None
    if pa.types.is_null(one) or pa.types.is_null(other):
        return other if pa.types.is_null(one) else one
    if pa.types.is_list(one) and pa.types.is_list(other):
        part = _common_type(one.value_type, other.value_type)
        return None if part is None else pa.list_(part)
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        parts = {field.name: field.type for field in one}
        for field in other:
            parts[field.name] = _common_type(parts.get(field.name, pa.null()), field.type)
        return None if None in parts.values() else pa.struct(list(parts.items()))
    # Mixed integers and floats: a double holds integers up to 2^53, and the writer checks each value.
    return pa.float64() if {one, other} == {pa.int64(), pa.float64()} else None


def _without_nulls(kind: Any) -> Any:
    """`kind` with text where only nulls were seen."""
    if pa.types.is_list(kind):
        return pa.list_(_without_nulls(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _without_nulls(field.type)) for field in kind])
    return pa.string() if pa.types.is_null(kind) else kind


def _is_list(kind: Any) -> bool:
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _is_restorable(kind: Any) -> bool:
    """Whether a column of this type can be restored from its JSON values; other columns are written as text."""
    if pa.types.is_struct(kind):
        return all(_is_restorable(field.type) for field in kind)
    if pa.types.is_map(kind):
        return _is_restorable(kind.key_type) and _is_restorable(kind.item_type)
    if _is_list(kind):
        return _is_restorable(kind.value_type)
    return any(fits(kind) for fits in (*_TICKING, *(fits for fits, _ in _SCALARS), *_UNCHANGED))


def _bytes_as_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()


def _decoded_type(kind: Any) -> Any:
    """The value type of a dictionary-encoded type; other types unchanged."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _scalar(value: Any) -> JsonValue:
    """An Arrow scalar in its ledger form."""
    kind = value.type
    if not value.is_valid:
        return None
    if pa.types.is_timestamp(kind):
        return _stamp(value.value, kind)
    if pa.types.is_time64(kind):
        return _clock(value.value, kind.unit)
    if pa.types.is_duration(kind):
        return _span(value.value, kind.unit)
    if pa.types.is_date(kind):
        return _day(value)
    if _is_list(kind):
        return [_scalar(part) for part in value.values]
    if pa.types.is_struct(kind):
        return {name: _scalar(value[name]) for name in value}
    return as_json(value.as_py())


def _stamp(ticks: int, kind: Any) -> str:
    """A timestamp in ISO 8601, in the time zone of its column, with the offset at that time."""
    seconds, rest = divmod(ticks, _UNITS[kind.unit])
    try:
        moment = _EPOCH + datetime.timedelta(seconds=seconds)
        if kind.tz is not None:
            moment = moment.astimezone(_zone(kind.tz))
    except (OverflowError, ValueError):
        return str(ticks)  # a year outside Python's calendar
    text = moment.isoformat(timespec="seconds")
    offset = "" if kind.tz is None else text[19:]
    return text[:19] + _fraction(rest, kind.unit) + offset


def _day(value: Any) -> str:
    """A date in ISO 8601, or the number in its column if it is outside Python's calendar."""
    try:
        return str(value.as_py().isoformat())
    except OverflowError:
        return str(value.value)


def _span(ticks: int, unit: str) -> str:
    """A duration in ISO 8601, in seconds."""
    seconds, rest = divmod(abs(ticks), _UNITS[unit])
    return f"{'-' * (ticks < 0)}PT{seconds}{_fraction(rest, unit)}S"


def _clock(ticks: int, unit: str) -> str:
    seconds, rest = divmod(ticks, _UNITS[unit])
    minutes, second = divmod(seconds, 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}" + _fraction(rest, unit)


def _zone(name: str) -> datetime.tzinfo:
    try:
        zone: datetime.tzinfo = pa.lib.string_to_tzinfo(name)
    except (ValueError, LookupError):
        return datetime.UTC  # an unknown zone; the instant is the same
    return zone


def _fraction(rest: int, unit: str) -> str:
    return f".{rest:0{len(str(_UNITS[unit])) - 1}d}" if rest else ""


def _ticks(text: str, unit: int) -> int:
    """Parse the text of `_stamp`, `_clock` or `_span` to `unit` parts of a second: since 1970, midnight, or in all."""
    if span := _SPAN.fullmatch(text):
        sign, length, part = span.groups()
        ticks = int(length) * unit + int((part or "").ljust(9, "0")) * unit // 10**9
        return -ticks if sign else ticks
    found = _MOMENT.fullmatch(text)
    if found is None:
        return int(text)
    date, clock, fraction, offset = found.groups()
    whole = f"{date or '1970-01-01T'}{clock}{offset or '+00:00'}"
    since = datetime.datetime.fromisoformat(whole) - _EPOCH
    seconds = since.days * 86_400 + since.seconds
    return seconds * unit + int((fraction or "").ljust(9, "0")) * unit // 10**9


_MOMENT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T)?([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?([+-][0-9:]+)?"
)
_TICKING: Final = (pa.types.is_timestamp, pa.types.is_time64, pa.types.is_duration)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SPAN: Final = re.compile(r"(-?)PT([0-9]+)(?:\.([0-9]{1,9}))?S")
_SCALARS: Final[tuple[tuple[Callable[[Any], bool], Callable[[str], Any]], ...]] = (
    (pa.types.is_decimal, Decimal),
    (
        pa.types.is_date,
        lambda text: datetime.date.fromisoformat(text) if _DAY.fullmatch(text) else int(text),
    ),
    (pa.types.is_time32, datetime.time.fromisoformat),
    (pa.types.is_float32, float),
    (pa.types.is_float64, float),
)
_UNCHANGED: Final[tuple[Callable[[Any], bool], ...]] = (
    pa.types.is_null,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_string,
    pa.types.is_large_string,
)
_EXACT_IN_PYTHON: Final[tuple[Callable[[Any], bool], ...]] = (
    *_UNCHANGED,
    pa.types.is_decimal,
    pa.types.is_time32,
    pa.types.is_floating,
    pa.types.is_binary,
)
