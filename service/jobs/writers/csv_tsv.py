"""Writer of CSV and TSV (RFC 4180) in UTF-8 with line feeds.

A missing value is an empty field, an empty string is `""`: readers that distinguish them (pandas with
`keep_default_na=False`, pyarrow with `strings_can_be_null`) restore the original. A text that a spreadsheet would run
as a formula (first character = + - @, a tab or a carriage return; see OWASP, CSV injection) gets an apostrophe in front
unless it is a plain number or the output sets `neutralise: false`.
"""

import re
from typing import BinaryIO, Final

from intaglio.schemas.jobs import Output
from pydantic import JsonValue

from ..records.file_formats import output_format
from ..records.record import as_text
from ..records.result_columns import Layout, Rows

_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def write(file: BinaryIO, rows: Rows, layout: Layout, output: Output) -> None:
    """Write the header and every row."""
    delimiter = "\t" if output_format(output) == "tsv" else ","
    names = [layout.row, *layout.keep, *(column.name for column in layout.columns)]
    file.write(_line(list(names), delimiter, output.neutralise))
    for row in rows():
        cells: list[JsonValue] = [value for _, value in layout.keys(row)]
        cells += [value for _, value in layout.cells(row)]
        file.write(_line(cells, delimiter, output.neutralise))


def _line(cells: list[JsonValue], delimiter: str, neutralise: bool) -> bytes:
    return (delimiter.join(_cell(cell, delimiter, neutralise) for cell in cells) + "\n").encode()


def _cell(value: JsonValue, delimiter: str, neutralise: bool) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
    text = as_text(value) or ""
    if neutralise and text.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        text = "'" + text
    if (
        not text
        or any(mark in text for mark in (delimiter, '"', "\n", "\r"))
        or text != text.strip()
    ):
        return '"' + text.replace('"', '""') + '"'
    return text
