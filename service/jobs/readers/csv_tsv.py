"""Reader of CSV and TSV files.

Does: detect the delimiter, split records, refuse those that do not fit the header. Does not: guess at broken quotes:
the line with the open quote is refused, and reading continues with the next line.
"""

import csv
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, TextIO

from intaglio.schemas.jobs import Source

from ..records.errors import InputRefused
from ..records.input_files import characters
from ..records.record import Record, RecordMapping, Rejected

MOST_CELL: Final = 16 * 1024 * 1024  # characters of a line
MOST_LINES: Final = 4 * 1024 * 1024  # characters of a multi-line record
_CANDIDATES: Final = (",", ";", "\t", "|")
_SNIFFED_LINES: Final = 50


class _Overlong(Exception):
    """A line exceeds the maximum cell length; it has been skipped."""


class _Unclosed(Exception):
    """A record has more lines than a document may have."""


class _Lines:
    """The lines of a file, with push-back of the lines of the current record. None stands for an overlong line."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._back: deque[str | None] = deque()
        self._record_lines: list[str | None] = []
        self._characters = 0  # of the lines of the current record
        self.number = 0  # of the last line returned, from 1

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._back.popleft() if self._back else self._read()
        if line == "":
            raise StopIteration
        self.number += 1
        self._record_lines.append(line)
        if line is None:
            raise _Overlong
        self._characters += len(line)
        if len(self._record_lines) > 1 and self._characters > MOST_LINES:
            raise _Unclosed
        return line

    @property
    def line_count(self) -> int:
        """The number of lines of the current record so far."""
        return len(self._record_lines)

    def begin(self) -> None:
        """Start a new record."""
        self._record_lines.clear()
        self._characters = 0

    def retry(self, skip: int = 0) -> None:
        """Push back all lines of the current record except the first `skip`."""
        again = self._record_lines[skip:]
        self._back.extendleft(reversed(again))
        self.number -= len(again)
        self.begin()

    def _read(self) -> str | None:
        line = self._file.readline(MOST_CELL)
        if len(line) < MOST_CELL or line.endswith(("\n", "\r")):
            return line
        while (rest := self._file.readline(MOST_CELL)) and not rest.endswith(("\n", "\r")):
            pass
        return None


def read(source: Source, path: Path) -> Iterator[Record | Rejected]:
    """The rows of a table; see `readers.records`."""
    shape = RecordMapping(source)
    with characters(path, source.encoding) as file:
        csv.field_size_limit(MOST_CELL)
        lines = _Lines(file)
        delimiter = source.delimiter or ("\t" if source.format == "tsv" else _sniff(lines, shape))
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        header = _header(rows, path)
        shape.check(header)
        _require_one_each(header, shape)
        while True:
            lines.begin()
            first = lines.number + 1
            try:
                row = next(rows)
            except StopIteration:
                return
            except (csv.Error, _Unclosed, _Overlong) as error:
                yield _broken(lines, error, f"/line/{first}")
                continue
            if row:
                yield _record(shape, header, row, f"/line/{first}")


def _broken(lines: _Lines, error: Exception, where: str) -> Rejected:
    """The rejection of a record with broken quotes; the lines after its first are read again."""
    if isinstance(error, _Overlong) and lines.line_count == 1:
        return Rejected(f"a line of more than {MOST_CELL} characters", where, "split the document")
    reason = "a quote is not closed" if isinstance(error, _Unclosed | _Overlong) else str(error)
    lines.retry(skip=1)
    return Rejected(f"broken quoting: {reason}", where, "fix the line")


def _record(
    shape: RecordMapping, header: tuple[str, ...], row: list[str], where: str
) -> Record | Rejected:
    if len(row) != len(header):
        reason = f"the row has {len(row)} fields, the header {len(header)}"
        return Rejected(reason, where, "quote fields that hold the delimiter or line breaks")
    return shape.record(lambda name: row[header.index(name)], where)


def _header(rows: "Iterator[list[str]]", path: Path) -> tuple[str, ...]:
    try:
        header = next((row for row in rows if row), None)
    except (csv.Error, _Unclosed, _Overlong) as error:
        reason = str(error) or "it is too long"
        raise InputRefused(f"the header of {path.name} cannot be read: {reason}") from None
    if header is None:
        raise InputRefused(
            f"{path.name} is empty", param="source.path", hint="a table must begin with a header"
        )
    return tuple(name.strip() for name in header)


def _require_one_each(header: tuple[str, ...], shape: RecordMapping) -> None:
    """Refuse a name that the job uses and that several columns have."""
    for name in shape.names:
        places = [str(number) for number, column in enumerate(header, 1) if column == name]
        if len(places) > 1:
            *first, last = places
            raise InputRefused(
                f"{len(places)} columns are named {name!r}: columns {', '.join(first)} and {last}",
                param="source",
                hint="rename all but one of them",
            )


def _sniff(lines: _Lines, shape: RecordMapping) -> str:
    """The delimiter with which the header has the requested columns, and the most columns; a comma if none fits."""
    sample: list[str] = []
    with suppress(_Overlong, _Unclosed):
        sample.extend(islice(lines, _SNIFFED_LINES))
    lines.retry()
    best = (False, 1, ",")
    for delimiter in _CANDIDATES:
        try:
            header = next(csv.reader(sample, delimiter=delimiter, strict=True), [])
        except csv.Error:
            continue
        known = {name.strip() for name in header}
        score = (all(name in known for name in shape.names), len(header), delimiter)
        if score[:2] > best[:2]:
            best = score
    return best[2]
