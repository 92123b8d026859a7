"""Files to records, one module a format.

Does: choose the reader of a source. Does not: keep more than one record in memory.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from ....schemas.jobs import InputFormat, Source
from ..errors import InputRefused
from ..opening import insist_file
from ..record import Record, Rejected

Read = Callable[[Source, Path], Iterator[Record | Rejected]]

_MODULES: dict[InputFormat, str] = {
    "csv": "delimited",
    "tsv": "delimited",
    "jsonl": "lines",
    "parquet": "columns",
    "xml": "elements",
    "text": "files",
}
_ENDINGS: dict[str, InputFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".xml": "xml",
    ".txt": "text",
    ".md": "text",
}
_PACKED = (".gz", ".zst", ".zstd")


def records(source: Source, path: Path) -> Iterator[Record | Rejected]:
    """Every record of `source`, whose path has been resolved to `path`, in its order.

    Raises:
        InputRefused: the source as a whole cannot be read, or not as it was said to be.
    """
    found = format_of(source, path)
    if found != "text":  # text may be a folder or a pattern
        insist_file(path)
    read: Read = import_module(f".{_MODULES[found]}", __name__).read
    return read(source, path)


def kept_types(source: Source, path: Path) -> str:
    """The types of the columns that the outputs repeat, as `keeping` reads them; `{}` for a format without types.

    Raises:
        InputRefused: as `records`.
    """
    module = import_module(f".{_MODULES[format_of(source, path)]}", __name__)
    told: Callable[[Source, Path], str] | None = getattr(module, "kept_types", None)
    return "{}" if told is None or not source.keep else told(source, path)


def format_of(source: Source, path: Path) -> InputFormat:
    """The format that was named, else the one that the file's name tells.

    Raises:
        InputRefused: neither does.
    """
    if source.format is not None:
        return source.format
    if path.is_dir() or any(mark in path.name for mark in "*?["):
        return "text"
    name = path.name.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    found = _ENDINGS.get(Path(name).suffix)
    if found is None:
        raise InputRefused(
            f"the name {path.name!r} does not tell what the file is",
            param="source.format",
            hint=f"name its format: {', '.join(_MODULES)}",
        )
    return found
