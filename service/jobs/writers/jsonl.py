"""Writer of JSON Lines: the source columns, the result under `data`, and its `warnings` and `fields` if any.

If a source column has one of these names, the result uses `result.data`, `result.warnings` or `result.fields`.
"""

import json
from typing import BinaryIO

from intaglio.schemas.jobs import Output

from ..records.result_columns import Layout, Rows


def write(file: BinaryIO, rows: Rows, layout: Layout, output: Output) -> None:  # noqa: ARG001 - the signature of all writers
    """Write one object for each row."""
    used = {layout.row, *layout.keep}
    names = ("data", "warnings", "fields")
    data, warnings, fields = (f"result.{n}" if n in used else n for n in names)
    for row in rows():
        whole = dict(layout.keys(row)) | {data: row.data}
        if row.warnings:
            whole[warnings] = list(row.warnings)
        if row.fields:
            whole[fields] = dict(row.fields)
        file.write(json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
