"""The collector's policy: cycles are found, old ones too, and live objects are not examined again and again."""

import gc
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from intaglio.engine.host.garbage import GarbageCollector


class Thing:
    """Something in a cycle with itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collector() -> Iterator[GarbageCollector]:
    """One that has begun; the state of the process is as before afterwards."""
    thresholds = gc.get_threshold()
    found = GarbageCollector()
    found.start()
    yield found
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def added(count: int) -> list[list[int]]:
    return [[number] for number in range(count)]


def test_new_cycles_are_freed_when_there_is_time(collector: GarbageCollector) -> None:
    kept = added(20_000)
    gone = weakref.ref(Thing())
    assert len(kept) == 20_000
    collector.between_steps(idle=True)
    assert gone() is None


def test_nothing_is_looked_at_before_there_is_much_that_is_new(collector: GarbageCollector) -> None:
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
def test_what_survived_is_not_gone_through_again(collector: GarbageCollector, idle: bool) -> None:
    kept = added(60_000)
    collector.between_steps(idle=idle)
    assert len(kept) == 60_000
    assert len(gc.get_objects()) < 10_000


@contextmanager
def collections() -> Iterator[list[tuple[int, int]]]:
    """(generation, objects looked at) of every collection in the block."""
    found: list[tuple[int, int]] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            generation = info["generation"]
            looked_at = (map(len, map(gc.get_objects, (each,))) for each in range(generation + 1))
            found.append((generation, sum(map(sum, looked_at))))

    gc.callbacks.append(note)
    try:
        yield found
    finally:
        gc.callbacks.remove(note)


def old_cycle(collector: GarbageCollector) -> weakref.ref[Thing]:
    """One that was alive when it was set aside, and is not any more."""
    old, kept = Thing(), added(60_000)
    collector.between_steps(idle=False)
    gone = weakref.ref(old)
    del old, kept
    gc.collect()
    assert gone() is not None, "no usual collection finds it"
    return gone


def test_old_cycles_are_freed_in_idle_moments(collector: GarbageCollector) -> None:
    gone = old_cycle(collector)
    kept: list[object] = []
    most = 2 * gc.get_freeze_count()
    while gone() is not None and len(kept) < most:
        kept += added(10_000)
        collector.between_steps(idle=True)
    assert gone() is None


def test_an_engine_that_is_never_idle_frees_old_cycles_before_memory_runs_out() -> None:
    thresholds, collector = gc.get_threshold(), GarbageCollector(most_more=2_000_000)
    collector.start()
    try:
        gone = old_cycle(collector)
        kept: list[object] = []
        # Each has two blocks. They are counted when as many objects are added as the process had.
        most = max(gc.get_freeze_count(), 1_000_000) + 500_000
        while gone() is not None and len(kept) < most:
            kept += added(10_000)
            collector.between_steps(idle=False)
        assert gone() is None
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def test_no_collection_of_a_busy_engine_looks_at_much(collector: GarbageCollector) -> None:
    """However much lives, however long a step allocates, and however often what lives is replaced."""
    with collections() as found:
        kept = added(600_000)  # within one step
        for _ in range(40):
            collector.between_steps(idle=False)
            kept[:30_000] = added(30_000)
    assert len(kept) == 600_000
    assert len(found) > 40
    assert max(generation for generation, _ in found) == 1
    assert max(objects for _, objects in found) < 35_000


def test_a_step_without_an_end_does_not_fill_the_memory(collector: GarbageCollector) -> None:
    """The youngest objects are looked at while nothing is told."""
    gone = [weakref.ref(Thing()) for _ in range(10_000)]
    assert collector is not None
    assert sum(ref() is not None for ref in gone) < 5_000


def test_tuples_that_other_threads_are_making_are_left_alone(collector: GarbageCollector) -> None:
    """While a tuple grows, it may have no second reference."""
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
