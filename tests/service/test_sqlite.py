"""Files of SQLite that many processes open at once."""

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from intaglio.service.idempotency.answer_store import AnswerStore

PROCESSES = 6


def open_answers(path: Path, barrier: Barrier) -> None:
    barrier.wait()
    AnswerStore(path).close()


@pytest.mark.parametrize("turn", range(4))
def test_processes_that_open_a_new_file_at_once_wait_for_each_other(
    tmp_path: Path, turn: int
) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(PROCESSES)
    path = tmp_path / f"answers{turn}.db"
    processes = [
        context.Process(target=open_answers, args=(path, barrier)) for _ in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * PROCESSES
