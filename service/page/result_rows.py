"""Reads files of results, one JSON object per line, as rows of a saved page.

Does: take the files of jobs (`data` and kept columns), of `intaglio extract` over several documents (`document`, `data`
or `error`) and whole answers (`data`, `fields`, `warnings`). Does not: find sources of values; a row has those that its
line has.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NoReturn

_NOT_IDS: Final = frozenset({"data", "fields", "warnings", "error", "text"})


class UnreadableResults(ValueError):
    """A line is not a result. `line` counts from 1; `hint` is advice."""

    def __init__(self, line: int, reason: str, hint: str = "") -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.hint = hint


def result_rows(lines: Iterable[str], text_column: str | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a result file. Empty lines are skipped.

    `text_column` names the member with the document's text; by default it is `text`, if a line has that.

    Raises:
        UnreadableResults: a line is not a JSON object with `data` or `error`, or lacks the named column.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _row(number, _parsed(number, line), text_column)


def _parsed(number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "nested too deeply"
        raise UnreadableResults(number, f"not JSON: {reason}") from None
    if not isinstance(value, dict):
        raise UnreadableResults(number, "a result is a JSON object")
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _row(number: int, value: Mapping[str, Any], text_column: str | None) -> dict[str, Any]:
    """A line as a row. A source column of the same name moves the result to `result.data`."""
    names = {name: f"result.{name}" for name in ("data", "warnings", "fields")}
    found = {
        name: value[long] if long in value else value.get(name) for name, long in names.items()
    }
    if not {"data", "result.data", "error"} & value.keys():
        raise UnreadableResults(number, "it has neither `data` nor `error`")
    row = {"id": _id(number, value), "data": found["data"]}
    for name, kind in (("warnings", list), ("fields", dict)):
        if isinstance(found[name], kind):
            row[name] = found[name]
    if isinstance(value.get("error"), dict):
        row["error"] = value["error"]
    text = _text(number, value, text_column)
    return row if text is None else {**row, "text": text}


def _id(number: int, value: Mapping[str, Any]) -> str:
    """The first scalar that is not part of the result: a job's file begins with the id of the row."""
    for name, found in value.items():
        if name not in _NOT_IDS and isinstance(found, str | int) and not isinstance(found, bool):
            return str(found)
    return str(number)


def _text(number: int, value: Mapping[str, Any], column: str | None) -> str | None:
    found = value.get(column or "text")
    if isinstance(found, str):
        return found
    if column is None:
        return None
    raise UnreadableResults(
        number,
        f"it has no text in {column!r}",
        f"run the job with --keep {column}, so that its results repeat the documents",
    )
