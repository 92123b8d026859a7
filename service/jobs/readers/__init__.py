"""Readers of source files, one module per format.

Does: select the reader. Does not: hold more than one record in memory.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol

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


_RECORDS: Final[tuple[InputFormat, ...]] = ("csv", "tsv", "jsonl", "parquet", "xml")
_ONLY_IN: Final[dict[str, tuple[InputFormat, ...]]] = {
    "delimiter": ("csv", "tsv"),
    "encoding": ("csv", "tsv", "jsonl", "text"),
    "record": ("xml",),
    **dict.fromkeys(("text", "template", "id", "keep", "images"), _RECORDS),
}
_NAMES: Final[dict[InputFormat, str]] = {
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON Lines",
    "parquet": "Parquet",
    "xml": "XML",
    "text": "text files",
}
_OPTIONS: Final = {"text": "text-column", "id": "id-column", "images": "image-column"}
_HINTS: Final[dict[InputFormat, str]] = {
    "text": "omit it: each file is one document, and its path is its id",
}


def records(source: Source, path: Path, *, sees: bool = False) -> Iterator[Record | Rejected]:
    """Every record of `source` in order; `path` is its resolved path. With `sees` the model reads images.

    Raises:
        InputRefused: the source cannot be read, or does not match its description.
    """
    found = source_format(source, path)
    _require_meaning(source, found)
    module = import_module(f".{_MODULES[found]}", __name__)
    if found == "text":  # may be a folder or a pattern
        read_files: ReadFiles = module.read
        return read_files(source, path, sees=sees)
    require_regular_file(path)
    read: Read = module.read
    return read(source, path)


def _require_meaning(source: Source, found: InputFormat) -> None:
    """Refuse a field of the source that has no meaning in its format: it would be ignored, and the results not be those
    that were asked for.
    """
    for name, formats in _ONLY_IN.items():
        if getattr(source, name) and found not in formats:
            reason = f"the field {name!r} of a source is for {_listed(formats)}, and this source is {_NAMES[found]}"
            hint = _HINTS.get(
                found, f"omit it (--{_OPTIONS.get(name, name)}), or name the format (--format)"
            )
            raise InputRefused(reason, param=f"source.{name}", hint=hint)


def _listed(formats: tuple[InputFormat, ...]) -> str:
    *first, last = (_NAMES[each] for each in formats)
    return f"{', '.join(first)} and {last}" if first else last


def kept_types(source: Source, path: Path) -> str:
    """The encoded types of the kept columns (`kept_values`); `{}` for a format without types.

    Raises:
        InputRefused: as `records`.
    """
    module = import_module(f".{_MODULES[source_format(source, path)]}", __name__)
    encode: Callable[[Source, Path], str] | None = getattr(module, "kept_types", None)
    return "{}" if encode is None or not source.keep else encode(source, path)
