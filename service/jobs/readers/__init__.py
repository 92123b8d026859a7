"""Readers of source files, one module per format.

Does: select the reader. Does not: hold more than one record in memory.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Protocol

from intaglio.schemas.jobs import InputFormat, Source

from ..records.errors import InputRefused
from ..records.file_formats import source_format
from ..records.input_files import require_regular_file
from ..records.record import Record, Rejected

Read = Callable[[Source, Path], Iterator[Record | Rejected]]


class ReadFiles(Protocol):
    """The reader of files, of which a model may see images."""

    def __call__(self, source: Source, path: Path, *, sees: bool) -> Iterator[Record | Rejected]:
        """Every file as a record."""
        ...


_MODULES: dict[InputFormat, str] = {
    "csv": "csv_tsv",
    "tsv": "csv_tsv",
    "jsonl": "jsonl",
    "parquet": "parquet",
    "xml": "xml",
    "text": "files",
}


def records(source: Source, path: Path, *, sees: bool = False) -> Iterator[Record | Rejected]:
    """Every record of `source` in order; `path` is its resolved path. With `sees` the model reads images.

    Raises:
        InputRefused: the source cannot be read, or does not match its description.
    """
    found = source_format(source, path)
    module = import_module(f".{_MODULES[found]}", __name__)
    if found == "text":  # may be a folder or a pattern
        if source.images:
            raise InputRefused(
                "images are fields of records, and this source has files",
                param="source.images",
                hint="omit the field: files that are images are records themselves",
            )
        read_files: ReadFiles = module.read
        return read_files(source, path, sees=sees)
    require_regular_file(path)
    read: Read = module.read
    return read(source, path)


def kept_types(source: Source, path: Path) -> str:
    """The encoded types of the kept columns (`kept_values`); `{}` for a format without types.

    Raises:
        InputRefused: as `records`.
    """
    module = import_module(f".{_MODULES[source_format(source, path)]}", __name__)
    encode: Callable[[Source, Path], str] | None = getattr(module, "kept_types", None)
    return "{}" if encode is None or not source.keep else encode(source, path)
