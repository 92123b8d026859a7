"""Parquet.

Does: read the asked columns batch by batch. Does not: load a row group at once, or columns that nobody asked for.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]

from ....schemas.jobs import Source
from ..errors import InputRefused
from ..record import Record, Rejected, Shape

_BATCH_ROWS = 256


def read(source: Source, path: Path) -> Iterator[Record | Rejected]:
    """The rows of a table; see `readers.records`."""
    shape = Shape(source)
    try:
        with pyarrow.parquet.ParquetFile(path, memory_map=False) as file:
            shape.check(tuple(file.schema_arrow.names))
            row = 0
            for batch in file.iter_batches(_BATCH_ROWS, columns=list(shape.names)):
                for fields in batch.to_pylist():
                    row += 1
                    yield _record(shape, fields, f"/row/{row}")
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0][:200]
        raise InputRefused(f"cannot read {path.name}: {reason}", param="source.path") from None


def _record(shape: Shape, fields: dict[str, Any], where: str) -> Record | Rejected:
    return shape.record(lambda name: _text(fields[name]), where)


def _text(value: Any) -> str | None:
    match value:
        case None | str():
            return value
        case bytes():
            return value.decode("utf-8", "surrogateescape")
        case _:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
