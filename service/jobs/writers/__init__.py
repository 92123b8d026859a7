"""Results to files, one module a format.

Does: choose the writer of an output. Does not: put files in place (`publish`).
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from ....schemas.jobs import Output, OutputFormat
from ..errors import OutputRefused
from ..layout import Layout
from ..row import RowResult

# `rows` may be asked for more than once; each time it gives all rows again.
Rows = Callable[[], Iterable[RowResult]]
Write = Callable[[BinaryIO, Rows, Layout, Output], None]

_MODULES: dict[OutputFormat, str] = {
    "csv": "delimited",
    "tsv": "delimited",
    "jsonl": "lines",
    "parquet": "columns",
    "xml": "elements",
}
_ENDINGS: dict[str, OutputFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".xml": "xml",
}


def write(file: BinaryIO, rows: Rows, layout: Layout, output: Output) -> None:
    """Write every row."""
    writer: Write = import_module(f".{_MODULES[format_of(output)]}", __name__).write
    writer(file, rows, layout, output)


def format_of(output: Output) -> OutputFormat:
    """The format that was named, else the one that the file's name tells.

    Raises:
        OutputRefused: neither does.
    """
    found = output.format or _ENDINGS.get(Path(output.path).suffix.lower())
    if found is None:
        raise OutputRefused(
            f"the name {Path(output.path).name!r} does not tell what to write",
            param="outputs",
            hint=f"name the format: {', '.join(_MODULES)}",
        )
    return found
