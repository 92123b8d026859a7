"""Read documents that were written by hand, with their right answers, into records.

    @@ ticket
    The Kestrel 400 we got on Tuesday trips the breaker. Maud Okafor
    @@
    reporter|name: Maud Okafor -- who wrote the report
    severity {minor/critical}: critical
    units|quantity number: 1
    refund number:
    opened moment: 2026-03-03T14:05
    [parts|spares] part|name; price number -- per piece; state {ordered/fitted}
    - fuse 10 A; 1.25; ordered

The first bare `@@` ends the text. A field is its names, its sort (text without one), and its answer, which is null where
it is empty, and behind `--` its descriptions. A `~` in place of a sort marks a text that the document does not contain
letter for letter. A `moment` is a date with a time (seconds and an offset where the document states them), a `clock` a
time of day.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..moments import CLOCK
from ..real.records import Record, Sort, Stated, Table

_FOLDER = Path(__file__).parent
_NAMES = r"(?P<keys>[a-z][a-z0-9_]*(?:\|[a-z][a-z0-9_]*)*)"
_SORTS = r"(?: (?P<sort>number|date|moment|clock|url|email|list|flag|~|\{[^{}]+\}))?"
_FIELD = re.compile(rf"{_NAMES}{_SORTS}:(?: (?P<value>(?!-- ).*?))?(?: -- (?P<notes>.+))?")
_COLUMN = re.compile(_NAMES + _SORTS + r"(?: -- (?P<notes>.+))?")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?")
_SORTS_OF_RECORDS: dict[str, Sort] = {
    "~": "text",
    "text": "text",
    "number": "number",
    "date": "date",
    "moment": "moment",
    "clock": "clock",
    "url": "url",
    "email": "email",
    "list": "list",
    "flag": "flag",
    "enum": "enum",
}
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
    fields, tables = list[Stated](), list[_Table]()
    for number, line in lines:
        try:
            head = _HEAD.fullmatch(line)
            if line.startswith("- ") and tables:
                tables[-1].add(line[2:], text)
            elif head:
                tables.append(_Table(head["keys"], [_column(each) for each in head["columns"].split("; ")]))
            else:
                fields.append(_field(line, text))
        except ValueError as error:
            raise ValueError(f"{name}:{number}: {error}") from None
    for table in tables:
        if not table.rows:
            raise ValueError(f"{name}: the table {table.keys!r} of a {kind} has no rows")
    return Record(f"written {kind}", text, tuple(fields), tuple(table.stated() for table in tables))


@dataclass(frozen=True)
class _Asked:
    """What is asked for: names, sort as written, classes of an enum, descriptions."""

    keys: str
    sort: str
    options: tuple[str, ...]
    notes: str

    @classmethod
    def of(cls, found: re.Match[str]) -> _Asked:
        sort, notes = found["sort"] or "text", found["notes"] or ""
        if sort.startswith("{"):
            return cls(found["keys"], "enum", tuple(sort[1:-1].split("/")), notes)
        return cls(found["keys"], sort, (), notes)

    def value(self, written: str, text: str) -> Any:
        """The answer; raises ValueError where it is none of the classes, or `text` does not contain it."""
        value = _value(written, self.sort, text)
        if self.options and value is not None and value not in self.options:
            raise ValueError(f"{value!r} is none of {self.options}")
        return value

    @property
    def plain_sort(self) -> Sort:
        return _SORTS_OF_RECORDS[self.sort]


@dataclass
class _Table:
    """A table whose rows are being read."""

    keys: str
    columns: list[_Asked]
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, row: str, text: str) -> None:
        cells = [cell.strip() for cell in f"{row} ".split("; ")]
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(cells)} cells for {len(self.columns)} columns")
        self.rows.append(tuple(asked.value(cell, text) for asked, cell in zip(self.columns, cells, strict=True)))

    def stated(self) -> Table:
        return Table(
            self.keys,
            tuple((asked.keys, asked.plain_sort) for asked in self.columns),
            tuple(self.rows),
            options=tuple(asked.options for asked in self.columns),
            column_notes=tuple(asked.notes for asked in self.columns),
        )


def _field(line: str, text: str) -> Stated:
    found = _FIELD.fullmatch(line)
    if not found:
        raise ValueError(f"{line!r} is no field")
    asked = _Asked.of(found)
    return Stated(asked.keys, asked.value(found["value"] or "", text), asked.plain_sort, asked.notes, asked.options)


def _column(written: str) -> _Asked:
    found = _COLUMN.fullmatch(written)
    if not found or found["sort"] == "list":
        raise ValueError(f"{written!r} is no column")
    return _Asked.of(found)


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
    if sort == "moment" and not (_MOMENT.fullmatch(written) and datetime.datetime.fromisoformat(written)):
        raise ValueError(f"{written!r} is no date with a time, YYYY-MM-DDTHH:MM")
    if sort == "clock" and not re.fullmatch(CLOCK, written):
        raise ValueError(f"{written!r} is no time of day, HH:MM")
    if sort == "list":
        return [_value(part, "text", text) for part in written.split("; ")]
    if sort in ("text", "email", "url") and written not in text:
        raise ValueError(f"the text does not contain {written!r}; mark it with ~ if it is not copied")
    return written
