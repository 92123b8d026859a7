"""Reader of Parquet files.

Does: read the requested columns batch by batch, and encode the types of the kept ones. Does not: load a whole row
group, or columns that no option names.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from intaglio.schemas.jobs import Source

from ...config import ServiceConfig
from ..records.errors import InputRefused
from ..records.input_files import open_regular
from ..records.kept_values import column_values, encode_types
from ..records.record import Record, RecordMapping, Rejected

_BATCH_ROWS = 256


def read(source: Source, path: Path) -> Iterator[Record | Rejected]:
    """The rows of a table; see `readers.records`."""
    shape = RecordMapping(source)
    with _opened(path) as file:
        shape.check(tuple(file.schema_arrow.names))
        for name in shape.names:
            _check_names(file.schema_arrow.field(name).type, name)
        _check_expansion(file, path.name)
        row = 0
        for batch in file.iter_batches(_BATCH_ROWS, columns=list(shape.names)):
            columns = {name: _values(batch.column(name)) for name in shape.names}
            for at in range(batch.num_rows):
                row += 1
                fields = {name: values[at] for name, values in columns.items()}
                broken = [name for name, value in fields.items() if isinstance(value, _NotText)]
                if broken:
                    yield Rejected(f"the field {broken[0]!r} is not valid UTF-8", f"/row/{row}")
                else:
                    yield shape.record(fields.__getitem__, f"/row/{row}")


class _NotText:
    """Stands for a text of bytes that are not UTF-8; writers of Parquet do not check them."""


def _values(column: Any) -> list[Any]:
    """The values of a column in their ledger form, or `_NotText`."""
    try:
        return column_values(column)
    except UnicodeDecodeError:
        if len(column) == 1:
            return [_NotText()]
        return [value for at in range(len(column)) for value in _values(column.slice(at, 1))]


def kept_types(source: Source, path: Path) -> str:
    """The encoded types of the kept columns; see `readers.kept_types`."""
    with _opened(path) as file:
        RecordMapping(source).check(tuple(file.schema_arrow.names))
        return encode_types(file.schema_arrow, source.keep)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with open_regular(path) as raw, pyarrow.parquet.ParquetFile(raw) as file:
            yield file
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0][:200]
        raise InputRefused(f"cannot read {path.name}: {reason}", param="source.path") from None


def _check_names(kind: Any, path: str) -> None:
    """Refuse a type with two fields of one name in a record: an object of JSON cannot hold both."""
    inner = [kind.field(number) for number in range(kind.num_fields)]
    names = [field.name for field in inner]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputRefused(
            f"the column {path!r} has two fields named {twice[0]!r}",
            param="source.path",
            hint="rename one of them, or leave the column out",
        )
    for field in inner:
        _check_names(field.type, f"{path}.{field.name}" if pyarrow.types.is_struct(kind) else path)


def _check_expansion(file: Any, name: str) -> None:
    """Refuse a file if its metadata declares an uncompressed size beyond the setting."""
    metadata, most = file.metadata, ServiceConfig.load().max_unpacked_bytes
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    size = sum(group.total_byte_size for group in groups)
    if size > most:
        raise InputRefused(
            f"{name} unpacks to {size} bytes; at most {most} are accepted",
            param="source.path",
            hint="split it, or raise INTAGLIO_SERVICE_MAX_UNPACKED_BYTES",
        )
