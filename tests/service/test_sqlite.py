"""Files of SQLite that many processes open at once."""

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from intaglio.service.idempotency.answer_store import AnswerStore
from intaglio.service.sqlite import SharedDatabase

PROCESSES, FILES = 6, 4


def open_answers(folder: Path, barrier: Barrier) -> None:
    for number in range(FILES):
        barrier.wait()
        AnswerStore(folder / f"answers{number}.db").close()


def test_processes_that_open_a_new_file_at_once_wait_for_each_other(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(PROCESSES)
    processes = [
        context.Process(target=open_answers, args=(tmp_path, barrier)) for _ in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    assert len(list(tmp_path.glob("*.db"))) == FILES


def insert_and_fail(file: SharedDatabase) -> None:
    with file.transaction() as db:
        db.execute("INSERT INTO numbers VALUES (2)")
        raise KeyError


@pytest.mark.parametrize("name", [None, "numbers.db"])
def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path, name: str | None) -> None:
    file = SharedDatabase(tmp_path / name if name else None, "CREATE TABLE numbers (n INTEGER)")
    with file.transaction() as db:
        db.execute("INSERT INTO numbers VALUES (1)")
    with pytest.raises(KeyError):
        insert_and_fail(file)
    with file.transaction() as db:
        assert db.execute("SELECT n FROM numbers").fetchall() == [(1,)]
    file.close()
