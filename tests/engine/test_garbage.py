"""The collector's policy: cycles are found, old ones too, and live objects are not examined again and again.

Each test runs in a Python process of its own: the collector goes through all objects of its process, and the process of
the test run has millions.
"""

import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

import pytest
from intaglio.engine.host.garbage import GarbageCollector

from tests.architecture.source import ROOT

P = ParamSpec("P")


def in_own_process(story: Callable[P, None]) -> Callable[P, None]:
    """A test that runs `story` in a new Python process."""

    @wraps(story)
    def test(*args: P.args, **kwargs: P.kwargs) -> None:
        call = f"{story.__name__}.__wrapped__(*{args!r}, **{kwargs!r})"
        program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from {__name__} import *; {call}"
        done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return test


class Thing:
    """Something in a cycle with itself."""

    def __init__(self) -> None:
        self.itself = self


def begun(most_more: int | None = None) -> GarbageCollector:
    """A collector that has begun."""
    found = GarbageCollector() if most_more is None else GarbageCollector(most_more)
    found.start()
    return found


def added(count: int) -> list[list[int]]:
    return [[number] for number in range(count)]


@in_own_process
def test_a_process_that_did_not_collect_while_it_loaded_does_once_it_starts() -> None:
    gc.disable()
    GarbageCollector().start()
    assert gc.isenabled()


@in_own_process
def test_new_cycles_are_freed_when_there_is_time() -> None:
    collector = begun()
    kept = added(20_000)
    gone = weakref.ref(Thing())
    assert len(kept) == 20_000
    collector.between_steps(idle=True)
    assert gone() is None


@in_own_process
def test_nothing_is_looked_at_before_there_is_much_that_is_new() -> None:
    collector = begun()
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
@in_own_process
def test_what_survived_is_not_gone_through_again(idle: bool) -> None:
    collector = begun()
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


@in_own_process
def test_old_cycles_are_freed_in_idle_moments() -> None:
    collector = begun()
    gone = old_cycle(collector)
    kept: list[object] = []
    most = 2 * gc.get_freeze_count()
    while gone() is not None and len(kept) < most:
        kept += added(10_000)
        collector.between_steps(idle=True)
    assert gone() is None


@in_own_process
def test_an_engine_that_is_never_idle_frees_old_cycles_before_memory_runs_out() -> None:
    collector = begun(most_more=2_000_000)
    gone = old_cycle(collector)
    kept: list[object] = []
    # Each has two blocks. They are counted when as many objects are added as the process had.
    most = max(gc.get_freeze_count(), 1_000_000) + 500_000
    while gone() is not None and len(kept) < most:
        kept += added(10_000)
        collector.between_steps(idle=False)
    assert gone() is None


@in_own_process
def test_no_collection_of_a_busy_engine_looks_at_much() -> None:
    """However much lives, however long a step allocates, and however often what lives is replaced."""
    collector = begun()
    with collections() as found:
        kept = added(600_000)  # within one step
        for _ in range(40):
            collector.between_steps(idle=False)
            kept[:30_000] = added(30_000)
    assert len(kept) == 600_000
    assert len(found) > 40
    assert max(generation for generation, _ in found) == 1
    assert max(objects for _, objects in found) < 35_000


@in_own_process
def test_a_step_without_an_end_does_not_fill_the_memory() -> None:
    """The youngest objects are looked at while nothing is told."""
    collector = begun()
    gone = [weakref.ref(Thing()) for _ in range(10_000)]
    assert collector is not None
    assert sum(ref() is not None for ref in gone) < 5_000


@in_own_process
def test_tuples_that_other_threads_are_making_are_left_alone() -> None:
    """While a tuple grows, it may have no second reference."""
    collector = begun()
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
