"""Workloads are read whole, or refused with the line that is wrong."""

from pathlib import Path

import pytest
from intaglio.schemas import catalogue
from intaglio.service.bench.workload import LoadTask, WorkloadError, catalogue_tasks, read_tasks


def test_the_catalogue_is_a_workload() -> None:
    tasks = catalogue_tasks()
    assert len(tasks) == len(catalogue.names())
    entry = catalogue.get("invoice")
    assert catalogue_tasks(["invoice"]) == (LoadTask(entry.schema, entry.sample),)


def test_lines_have_their_own_schema_or_that_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text('{"text": "a", "schema": {"type": "string"}}\n\n{"text": "b"}\n')
    assert read_tasks(file, schema={}) == (LoadTask({"type": "string"}, "a"), LoadTask({}, "b"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"text": "a", "schema": true}\n{"text": 1, "schema": true}', "line 2.*text"),
        ('{"text": "a"}', 'line 1.*"schema"'),
        ("[1]", "line 1.*text"),
        ("{", "line 1"),
        ("\n", "no documents"),
    ],
)
def test_an_unusable_line_is_named(tmp_path: Path, content: str, reason: str) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text(content)
    with pytest.raises(WorkloadError, match=reason):
        read_tasks(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="absent"):
        read_tasks(tmp_path / "absent")
