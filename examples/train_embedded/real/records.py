"""A real document and what its source states about it, as data on disk.

Does: shapes, reading and writing. Does not: choose schemas (`tasks`).
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Sort = Literal["text", "date", "moment", "clock", "number", "url", "email", "list", "enum", "flag"]


@dataclass(frozen=True)
class Stated:
    """One field of a document.

    `keys` and `notes` are `|`-separated property names and descriptions; `value` is None where the document does not
    say; dates are ISO, moments a date and a time with the offset where the document states one, clocks `HH:MM`;
    `options` are the classes of an enum.
    """

    keys: str
    value: Any
    sort: Sort = "text"
    notes: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """Rows of like things: `columns` are (keys, sort) and each row has a value for each column.

    `options` are the classes of each column and `column_notes` its `|`-separated descriptions; both are empty where no
    column has any.
    """

    keys: str
    columns: tuple[tuple[str, Sort], ...]
    rows: tuple[tuple[Any, ...], ...]
    notes: str = ""
    options: tuple[tuple[str, ...], ...] = ()
    column_notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """A document, its source, and what is known of it."""

    source: str
    text: str
    fields: tuple[Stated, ...]
    tables: tuple[Table, ...] = field(default=())


def described(record: Record) -> bool:
    """Whether a third of what a record states has a description."""
    notes = [stated.notes for stated in record.fields]
    for table in record.tables:
        notes += table.column_notes or [""] * len(table.columns)
    return 3 * sum(map(bool, notes)) >= len(notes) > 0


def write(path: Path, records: Iterable[Record]) -> int:
    """Write a line a record, compressed; the number of records."""
    count = 0
    with lzma.open(path, "wt", encoding="utf-8", preset=6) as out:
        for record in records:
            out.write(json.dumps(asdict(record), ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def read(path: Path) -> Iterator[Record]:
    """The records of a file that `write` made."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            each = json.loads(line)
            fields = tuple(Stated(**{**stated, "options": tuple(stated["options"])}) for stated in each["fields"])
            tables = tuple(
                Table(
                    table["keys"],
                    tuple((keys, sort) for keys, sort in table["columns"]),
                    tuple(tuple(row) for row in table["rows"]),
                    table["notes"],
                    tuple(tuple(options) for options in table.get("options", ())),
                    tuple(table.get("column_notes", ())),
                )
                for table in each["tables"]
            )
            yield Record(each["source"], each["text"], fields, tables)


def cut(text: str, most: int, values: Iterable[str]) -> str | None:
    """The first whole lines of `text` within `most` characters; None where they lose one of the values."""
    short = text if len(text) <= most else text[: text.rfind("\n", 0, most) + 1 or most].rstrip()
    return short if all(value in short for value in values) else None
