"""Signals that come from outside, and those that a process causes itself or the kernel sends for want of memory."""

import signal
from pathlib import Path

import pytest
from intaglio.engine.host.outside_kill import memory_kills, was_killed_from_outside


@pytest.mark.parametrize(
    ("status", "outside"),
    [
        (-signal.SIGKILL, True),
        (-signal.SIGTERM, True),
        (-signal.SIGSEGV, False),
        (-signal.SIGABRT, False),
        (-signal.SIGBUS, False),
        (0, False),
        (1, False),
        (int(signal.SIGKILL), False),
    ],
)
def test_signals_that_a_fault_cannot_cause_come_from_outside(status: int, outside: bool) -> None:
    assert was_killed_from_outside(status, 3, 3) is outside


@pytest.mark.parametrize(("before", "after"), [(3, 4), (None, None), (None, 3), (3, None)])
def test_a_kill_says_nothing_if_memory_may_have_been_short(
    before: int | None, after: int | None
) -> None:
    assert not was_killed_from_outside(-signal.SIGKILL, before, after)


def test_the_count_of_the_kernel_is_read(tmp_path: Path) -> None:
    counters = tmp_path / "vmstat"
    assert memory_kills(counters) is None
    counters.write_text("nr_free_pages 5\n")
    assert memory_kills(counters) is None
    counters.write_text("oom_kill_other 9\noom_kill 2\nnr_free_pages 5\n")
    assert memory_kills(counters) == 2
