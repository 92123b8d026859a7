"""Gold data: documents with the answers that are right for them, from a file of JSON Lines.

Does: read and check every line before anything is extracted. Does not: extract or compare.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from intaglio.schemas import catalogue
from intaglio.schemas.json_objects import no_constant, unrepeated
from pydantic import JsonValue

from ..regular_file import open_text

_HINT: Final = '{"id": …, "schema": {…} or a name, "text": …, "expected": …} on each line'


class EvaluationInputError(ValueError):
    """A file of gold data, predictions or calibration that cannot be used; the message names line and reason."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class GoldRecord:
    """One document, the schema to extract by, and the expected data. `group` is reported on its own: the record's
    domain, else the name of its schema.
    """

    id: str
    schema: dict[str, Any] | bool | str
    text: str
    expected: JsonValue
    group: str


def read_gold(path: Path, schema: dict[str, Any] | bool | str | None = None) -> list[GoldRecord]:
    """The records of a file of gold data. `schema` is for lines that have none.

    Lines have `text` and `expected`, and may have `id` (default: the number of the line), `schema` (a JSON Schema or a
    name) and `domain`. Further fields are ignored.

    Raises:
        EvaluationInputError: the file is unreadable or empty, a line is not such an object, or an id occurs twice.
    """
    records, seen = [], dict[str, int]()
    for number, line in json_objects(path):
        record = _record(path, number, line, schema)
        if record.id in seen:
            raise EvaluationInputError(
                f"{path}, line {number}: line {seen[record.id]} has the id {record.id!r}, too"
            )
        seen[record.id] = number
        records.append(record)
    if not records:
        raise EvaluationInputError(f"{path} has no records", _HINT)
    return records


def catalogue_gold() -> list[GoldRecord]:
    """The samples of the catalogue with their expected results."""
    entries = [catalogue.get(name) for name in catalogue.names()]
    return [GoldRecord(e.name, e.name, e.sample, e.expected, e.name) for e in entries]


def json_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file with the numbers of their lines, blank lines left out.

    Raises:
        EvaluationInputError: the file is unreadable, or a line is not a JSON object.
    """
    try:
        with open_text(path) as file:
            content = file.read()
    except OSError as error:
        raise EvaluationInputError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise EvaluationInputError(f"{path} is not UTF-8 text (byte {error.start})") from None
    # Not splitlines(): JSON strings may contain U+2028 and other line separators.
    for number, line in enumerate(content.split("\n"), 1):
        if line.strip():
            yield number, json_object(path, number, line)


def json_object(path: Path, number: int, line: str) -> dict[str, Any]:
    """The object on one line. Raises `EvaluationInputError`."""
    try:
        value = json.loads(
            line,
            object_pairs_hook=unrepeated,
            parse_constant=no_constant,
            parse_float=_finite,
        )
    except RecursionError:
        raise EvaluationInputError(f"{path}, line {number}: nested too deeply") from None
    except ValueError as error:
        raise EvaluationInputError(f"{path}, line {number} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise EvaluationInputError(f"{path}, line {number} is not an object")
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is out of range")
    return value


def _record(
    path: Path, number: int, line: dict[str, Any], schema: dict[str, Any] | bool | str | None
) -> GoldRecord:
    where = f"{path}, line {number}"
    text, found = line.get("text"), line.get("schema", schema)
    if not isinstance(text, str) or not text.strip():
        raise EvaluationInputError(f'{where}: "text" must be the document', _HINT)
    if "expected" not in line:
        raise EvaluationInputError(f'{where}: there is no "expected"', _HINT)
    if not isinstance(found, dict | bool | str):
        raise EvaluationInputError(
            f'{where}: "schema" must be a JSON Schema or a name',
            'each line needs a "schema"; `intaglio eval` takes one for all: --schema'
            if found is None
            else _HINT,
        )
    group = line.get("domain") or (found if isinstance(found, str) else "")
    return GoldRecord(
        id=id_text(line.get("id", number), where),
        schema=found,
        text=text,
        expected=line["expected"],
        group=group if isinstance(group, str) else str(group),
    )


def id_text(value: object, where: str) -> str:
    """An id as text. Raises `EvaluationInputError` if it is neither text nor an integer."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise EvaluationInputError(f"{where}: the id must be a string or an integer")
    return str(value)
