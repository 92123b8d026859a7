"""Read documents that were written by hand, with their right answers, into records.

    @@ ticket
    The Kestrel 400 we got on Tuesday trips the breaker. Maud Okafor
    @@
    reporter|name: Maud Okafor -- who wrote the report
    severity {minor/critical}: critical
    units|quantity number: 1
    refund number:
    [parts|spares] part|name; price number
    - fuse 10 A; 1.25

The first bare `@@` ends the text. A field is its names, its sort (text without one), and its answer, which is null where
it is empty. A `~` in place of a sort marks a text that the document does not contain letter for letter.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..real.records import Record, Sort, Stated, Table

_FOLDER = Path(__file__).parent
_NAMES = r"(?P<keys>[a-z][a-z0-9_]*(?:\|[a-z][a-z0-9_]*)*)"
_SORTS = r"(?: (?P<sort>number|date|url|email|list|flag|~|\{[^{}]+\}))?"
_FIELD = re.compile(rf"{_NAMES}{_SORTS}:(?: (?P<value>(?!-- ).*?))?(?: -- (?P<notes>.+))?")
_COLUMN = re.compile(_NAMES + _SORTS)
_HEAD = re.compile(r"\[" + _NAMES + r"\] (?P<columns>.+)")


def written_records(folder: Path = _FOLDER) -> Iterator[Record]:
    """The documents of all `.txt` files of `folder`, files by name. Raises ValueError as `parse` does."""
    for path in sorted(folder.glob("*.txt")):
        yield from parse(path.read_text(encoding="utf-8"), path.name)


def parse(source: str, name: str) -> Iterator[Record]:
    """The records of one file's text. Raises ValueError with file and line where the notation is broken."""
    kind, text, fields = "", list[str](), list[tuple[int, str]]()
    part = "before"
    for number, line in enumerate([*source.split("\n"), "@@ end"], 1):
        begins = re.fullmatch(r"@@ ([a-z_]+)", line)
        if begins and part != "text":
            if part == "fields":
                yield _record(kind, "\n".join(text).strip("\n"), fields, name)
            kind, text, fields, part = begins[1], [], [], "text"
        elif line == "@@" and part == "text":
            part = "fields"
        elif line.startswith("@@"):
            raise ValueError(f"{name}:{number}: {line!r} neither begins a document nor ends its text")
        elif part == "text":
            text.append(line.rstrip())
        elif line.strip():
            fields.append((number, line.rstrip()))


def _record(kind: str, text: str, lines: list[tuple[int, str]], name: str) -> Record:
    """One document; `lines` are its fields and tables with the numbers of their lines."""
    fields, tables = list[Stated](), list[Table]()
    for number, line in lines:
        try:
            head = _HEAD.fullmatch(line)
            if line.startswith("- ") and tables:
                tables[-1] = _longer(tables[-1], line[2:], text)
            elif head:
                tables.append(Table(head["keys"], tuple(_column(each) for each in head["columns"].split("; ")), ()))
            else:
                fields.append(_field(line, text))
        except ValueError as error:
            raise ValueError(f"{name}:{number}: {error}") from None
    for table in tables:
        if not table.rows:
            raise ValueError(f"{name}: the table {table.keys!r} of a {kind} has no rows")
    plain = tuple(
        Table(table.keys, tuple((keys, _sort(sort)) for keys, sort in table.columns), table.rows) for table in tables
    )
    return Record(f"written {kind}", text, tuple(fields), plain)


def _field(line: str, text: str) -> Stated:
    found = _FIELD.fullmatch(line)
    if not found:
        raise ValueError(f"{line!r} is no field")
    sort, options = found["sort"] or "text", tuple[str, ...]()
    if sort.startswith("{"):
        sort, options = "enum", tuple(sort[1:-1].split("/"))
    value = _value(found["value"] or "", sort, text)
    if options and value is not None and value not in options:
        raise ValueError(f"{value!r} is none of {options}")
    return Stated(found["keys"], value, _sort(sort), found["notes"] or "", options)


def _column(written: str) -> tuple[str, Any]:
    found = _COLUMN.fullmatch(written)
    if not found or (found["sort"] or "").startswith("{") or found["sort"] == "list":
        raise ValueError(f"{written!r} is no column")
    return found["keys"], found["sort"] or "text"


def _longer(table: Table, row: str, text: str) -> Table:
    """`table` with one more row."""
    cells = [cell.strip() for cell in f"{row} ".split("; ")]
    if len(cells) != len(table.columns):
        raise ValueError(f"{len(cells)} cells for {len(table.columns)} columns")
    made = tuple(_value(cell, sort, text) for cell, (_, sort) in zip(cells, table.columns, strict=True))
    return Table(table.keys, table.columns, (*table.rows, made), table.notes)


def _value(written: str, sort: str, text: str) -> Any:
    """The value of an answer; a text has to occur in the document. Raises ValueError otherwise."""
    if not written:
        return None
    if sort == "number":
        return float(written) if re.search(r"[.eE]", written) else int(written)
    if sort == "flag":
        if written not in ("yes", "no"):
            raise ValueError(f"{written!r} is neither yes nor no")
        return written == "yes"
    if sort == "date":
        return datetime.date.fromisoformat(written).isoformat()
    if sort == "list":
        return [_value(part, "text", text) for part in written.split("; ")]
    if sort in ("text", "email", "url") and written not in text:
        raise ValueError(f"the text does not contain {written!r}; mark it with ~ if it is not copied")
    return written


def _sort(sort: str) -> Sort:
    found: dict[str, Sort] = {
        "~": "text",
        "text": "text",
        "number": "number",
        "date": "date",
        "url": "url",
        "email": "email",
        "list": "list",
        "flag": "flag",
        "enum": "enum",
    }
    return found[sort]
