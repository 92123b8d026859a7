"""The collector's policy: cycles are found, old ones too, and what lives is not gone through again and again."""

import gc
import sys
import threading
import weakref
from collections.abc import Iterator

import pytest
from intaglio.engine.collector import Collector


class Thing:
    """Something in a cycle with itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collector() -> Iterator[Collector]:
    """One that has begun; the state of the process is as before afterwards."""
    thresholds = gc.get_threshold()
    found = Collector()
    found.start()
    yield found
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def added(count: int) -> list[list[int]]:
    return [[number] for number in range(count)]


def test_new_cycles_are_freed_when_there_is_time(collector: Collector) -> None:
    kept = added(20_000)
    gone = weakref.ref(Thing())
    assert len(kept) == 20_000
    collector.between_steps(idle=True)
    assert gone() is None


def test_nothing_is_looked_at_before_there_is_much_that_is_new(collector: Collector) -> None:
    looks: list[int] = []

    def look(phase: str, info: dict[str, int]) -> None:
        looks.append(info["generation"])

    gc.callbacks.append(look)
    try:
        for _ in range(100):
            collector.between_steps(idle=True)
        kept = added(12_000)
        collector.between_steps(idle=False)
    finally:
        gc.callbacks.remove(look)
    assert len(kept) == 12_000
    assert 2 not in looks


@pytest.mark.parametrize("idle", [False, True])
def test_what_survived_is_not_gone_through_again(collector: Collector, idle: bool) -> None:
    kept = added(60_000)
    collector.between_steps(idle=idle)
    assert len(kept) == 60_000
    assert len(gc.get_objects()) < 10_000


@pytest.mark.parametrize("idle", [False, True])
def test_old_cycles_are_freed_before_what_lives_has_doubled(
    collector: Collector, idle: bool
) -> None:
    old = Thing()
    gone = weakref.ref(old)
    kept = added(60_000)
    collector.between_steps(idle=idle)
    del old  # set aside by now, where no usual collection looks
    gc.collect()
    assert gone() is not None
    most = len(kept) + 2 * gc.get_freeze_count()
    while gone() is not None and len(kept) < most:
        kept += added(10_000)
        collector.between_steps(idle=idle)
    assert gone() is None


def test_a_step_without_an_end_does_not_fill_the_memory(collector: Collector) -> None:
    """The youngest objects are looked at while nothing is told."""
    gone = [weakref.ref(Thing()) for _ in range(10_000)]
    assert collector is not None
    assert sum(ref() is not None for ref in gone) < 5_000


def test_tuples_that_other_threads_are_making_are_left_alone(collector: Collector) -> None:
    """While a tuple grows nobody else may refer to it."""
    done = threading.Event()
    faults: list[SystemError] = []

    def make() -> None:
        while not done.is_set() and not faults:
            try:
                assert len(tuple(number for number in range(500))) == 500
            except SystemError as fault:
                faults.append(fault)

    thread, interval = threading.Thread(target=make), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(10, *gc.get_threshold()[1:])  # so that it looks often
    thread.start()
    try:
        for _ in range(500):
            kept = added(2_000)
            collector.between_steps(idle=True)
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert len(kept) == 2_000
    assert not faults
