"""Files to records, one module a format.

Does: choose the reader of a source. Does not: keep more than one record in memory.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from ....schemas.jobs import InputFormat, Source
from ..formats import source_format
from ..opening import require_regular_file
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


def records(source: Source, path: Path) -> Iterator[Record | Rejected]:
    """Every record of `source`, whose path has been resolved to `path`, in its order.

    Raises:
        InputRefused: the source as a whole cannot be read, or not as it was said to be.
    """
    found = source_format(source, path)
    if found != "text":  # text may be a folder or a pattern
        require_regular_file(path)
    read: Read = import_module(f".{_MODULES[found]}", __name__).read
    return read(source, path)


def kept_types(source: Source, path: Path) -> str:
    """The types of the columns that the outputs repeat, as `keeping` reads them; `{}` for a format without types.

    Raises:
        InputRefused: as `records`.
    """
    module = import_module(f".{_MODULES[source_format(source, path)]}", __name__)
    told: Callable[[Source, Path], str] | None = getattr(module, "kept_types", None)
    return "{}" if told is None or not source.keep else told(source, path)
