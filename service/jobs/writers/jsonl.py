"""Writer of JSON Lines: the source columns, the result under `data`, and its `warnings` if any.

If a source column has one of these names, the result uses `result.data` or `result.warnings`.
"""

import json
from typing import BinaryIO

from intaglio.schemas.jobs import Output

from ..records.result_columns import Layout, Rows


def write(file: BinaryIO, rows: Rows, layout: Layout, output: Output) -> None:  # noqa: ARG001
    """Write one object for each row."""
    used = {layout.row, *layout.keep}
    data, warnings = (f"result.{n}" if n in used else n for n in ("data", "warnings"))
    for row in rows():
        whole = dict(layout.keys(row)) | {data: row.data}
        if row.warnings:
            whole[warnings] = list(row.warnings)
        file.write(json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
