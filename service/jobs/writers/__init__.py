"""Writers of result files, one module per format.

Does: select the writer of an output. Does not: rename files into place (`publish`).
"""

from collections.abc import Callable
from importlib import import_module
from typing import BinaryIO

from intaglio.schemas.jobs import Output, OutputFormat

from ..records.file_formats import output_format
from ..records.result_columns import Layout, Rows

Write = Callable[[BinaryIO, Rows, Layout, Output], None]

_MODULES: dict[OutputFormat, str] = {
    "csv": "csv_tsv",
    "tsv": "csv_tsv",
    "jsonl": "jsonl",
    "parquet": "parquet",
    "xml": "xml",
}


def write(file: BinaryIO, rows: Rows, layout: Layout, output: Output) -> None:
    """Write every row."""
    writer: Write = import_module(f".{_MODULES[output_format(output)]}", __name__).write
    writer(file, rows, layout, output)
