"""JSON Lines: the source's columns, and the result as it is under `data`."""

import json
from typing import BinaryIO

from ....schemas.jobs import Output
from ..layout import Layout
from . import Rows


def write(file: BinaryIO, rows: Rows, layout: Layout, output: Output) -> None:  # noqa: ARG001
    """Write an object a row."""
    for row in rows():
        whole = dict(layout.keys(row)) | {"data": row.data}
        file.write(json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
