"""The documents and schemas that a load generator sends.

Does: read them from the catalogue or a file. Does not: send them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intaglio.schemas import catalogue


class WorkloadError(ValueError):
    """A workload that cannot be read; the message says which line and why."""


@dataclass(frozen=True, slots=True)
class LoadTask:
    """One document and the schema of what is in it."""

    schema: dict[str, Any] | bool
    text: str


def catalogue_tasks(names: Sequence[str] = ()) -> tuple[LoadTask, ...]:
    """The samples of the catalogue, all or some. Raises `catalogue.UnknownSchema`."""
    entries = [catalogue.get(name) for name in names or catalogue.names()]
    return tuple(LoadTask(entry.schema, entry.sample) for entry in entries)


def read_tasks(path: Path, schema: dict[str, Any] | bool | None = None) -> tuple[LoadTask, ...]:
    """The lines of a JSONL file, each `{"text": …, "schema": …}`; `schema` is for lines without one.

    Raises:
        WorkloadError: the file cannot be read, is empty, or a line has no text or no schema.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WorkloadError(f"{path} cannot be read: {error}") from None
    tasks = tuple(
        _task(path, number, line, schema) for number, line in enumerate(lines, 1) if line.strip()
    )
    if not tasks:
        raise WorkloadError(f"{path} has no documents")
    return tasks


def _task(path: Path, number: int, line: str, schema: dict[str, Any] | bool | None) -> LoadTask:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise WorkloadError(f"{path}, line {number}: {error}") from None
    text = value.get("text") if isinstance(value, dict) else None
    found = value.get("schema", schema) if isinstance(value, dict) else None
    if not isinstance(text, str) or not text:
        raise WorkloadError(f'{path}, line {number}: there is no "text"')
    if not isinstance(found, dict | bool):
        raise WorkloadError(f'{path}, line {number}: there is no "schema", and none was given')
    return LoadTask(found, text)
