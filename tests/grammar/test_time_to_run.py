"""Limits on the time that a process could run: only processor time judges."""

import socket
from collections.abc import Iterable, Iterator
from itertools import chain, repeat

import pytest
from intaglio.grammar.intake.time_to_run import Ran, Starved, ran, wait_for_answer

WALL_S = 0.06


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


class Counters:
    """Counters of a process, one reading after the other; it answers with the last of them."""

    def __init__(self, readings: Iterable[Ran], answers: socket.socket | None = None) -> None:
        self._readings = iter(readings)
        self._answers = answers
        self.read = 0

    def __call__(self) -> Ran:
        self.read += 1
        found = next(self._readings, None)
        if found is None and self._answers is not None:
            self._answers.sendall(b"x")
        return found or Ran(0.0, 1e6)


def test_a_process_that_waits_for_a_processor_has_more_time(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    counters = Counters((Ran(0.0, WALL_S * n) for n in range(4)), theirs)
    assert wait_for_answer(ours, counters, WALL_S, 1.0)
    assert counters.read == 5


def test_a_process_that_has_run_its_time_is_late(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    counters = Counters(chain([Ran(0.0, 0.0)], repeat(Ran(2.0, 100.0))))
    assert not wait_for_answer(ends[0], counters, WALL_S, 1.0)
    assert counters.read == 2


@pytest.mark.parametrize("running", [0.0, 0.9], ids=["sleeps", "has run for less than its time"])
def test_a_process_that_waits_for_something_else_is_not_judged(
    ends: tuple[socket.socket, socket.socket], running: float
) -> None:
    counters = Counters(chain([Ran(0.0, 0.0)], repeat(Ran(running, 0.0))))
    with pytest.raises(Starved):
        wait_for_answer(ends[0], counters, WALL_S, 1.0)
    assert counters.read == 2


def test_a_process_without_a_processor_is_not_waited_for_without_end(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    with pytest.raises(Starved):
        wait_for_answer(ends[0], Counters(Ran(0.0, 10.0 * n) for n in range(99)), WALL_S, 1.0)


def test_a_closed_channel_is_an_answer(ends: tuple[socket.socket, socket.socket]) -> None:
    ends[1].close()
    assert wait_for_answer(ends[0], Counters([]), WALL_S, 1.0)


def test_no_process_has_no_counters() -> None:
    assert ran(2**22 + 1) == Ran(0.0, 0.0)
