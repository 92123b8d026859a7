"""Limits hold exactly: over time, over threads of control, over processes and over a crash."""

import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import pytest
from intaglio.service.errors import LimitReached, QuotaExceeded, RateLimited
from intaglio.service.keys.key_limits import KeyLimits
from intaglio.service.keys.usage import DAY_S, UsageStore

KEY = "k"


class Clock:
    def __init__(self, now: float = 20_000.0 * DAY_S) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def admitted(store: UsageStore, limits: KeyLimits, attempts: int) -> int:
    count = 0
    for _ in range(attempts):
        try:
            store.enter(KEY, limits)
        except LimitReached:
            continue
        count += 1
    return count


def test_a_bucket_holds_a_minute_and_refills_steadily(tmp_path: Path) -> None:
    clock, limits = Clock(), KeyLimits(requests_per_minute=60)
    store = UsageStore(tmp_path, clock)
    assert admitted(store, limits, 100) == 60
    clock.now += 10
    assert admitted(store, limits, 100) == 10
    clock.now += 3600
    assert admitted(store, limits, 100) == 60
    clock.now -= 3600  # a clock that is set back gives nothing
    assert admitted(store, limits, 100) == 0


@pytest.mark.parametrize("rate", [1, 7, 60, 1000])
def test_retry_after_is_true(tmp_path: Path, rate: int) -> None:
    clock, limits = Clock(), KeyLimits(requests_per_minute=rate)
    store = UsageStore(tmp_path, clock)
    admitted(store, limits, rate)
    for _ in range(20):
        with pytest.raises(RateLimited) as refused:
            store.enter(KEY, limits)
        wait = refused.value.retry_after_s
        if 60 / rate > 2:  # else one second is the least that can be said
            clock.now += wait - 1.001
            with pytest.raises(RateLimited):
                store.enter(KEY, limits)
            clock.now += 1.001
        else:
            clock.now += wait
        store.enter(KEY, limits)
        admitted(store, limits, rate)


def test_a_day_ends_at_midnight(tmp_path: Path) -> None:
    clock, limits = Clock(), KeyLimits(requests_per_day=5)
    clock.now += 3600.0
    store = UsageStore(tmp_path, clock)
    assert admitted(store, limits, 9) == 5
    with pytest.raises(QuotaExceeded) as refused:
        store.enter(KEY, limits)
    assert refused.value.retry_after_s == DAY_S - 3600
    assert not refused.value.retryable
    clock.now += refused.value.retry_after_s
    assert admitted(store, limits, 9) == 5


def test_tokens_are_reserved_and_settled(tmp_path: Path) -> None:
    limits = KeyLimits(tokens_per_day=100)
    store = UsageStore(tmp_path, Clock())
    first = store.reserve(KEY, limits, 60)
    with pytest.raises(QuotaExceeded):
        store.reserve(KEY, limits, 41)
    store.settle(first, limits, 10)
    assert store.today(KEY) == (0, 10)
    second = store.reserve(KEY, limits, 90)
    store.settle(second, limits, 90)
    with pytest.raises(QuotaExceeded):
        store.reserve(KEY, limits, 1)
    with pytest.raises(QuotaExceeded):
        store.enter(KEY, limits)


def test_a_request_larger_than_a_day_is_told_that_waiting_is_of_no_use(tmp_path: Path) -> None:
    limits = KeyLimits(tokens_per_day=100)
    store = UsageStore(tmp_path, Clock())
    with pytest.raises(QuotaExceeded, match="this request alone may use 101") as refused:
        store.reserve(KEY, limits, 101)
    assert "max_tokens" in refused.value.hint
    assert "midnight" not in refused.value.hint
    store.reserve(KEY, limits, 100)


def test_what_yesterday_reserved_does_not_lower_today(tmp_path: Path) -> None:
    clock, limits = Clock(), KeyLimits(tokens_per_day=100)
    store = UsageStore(tmp_path, clock)
    reserved = store.reserve(KEY, limits, 100)
    clock.now += DAY_S
    store.settle(reserved, limits, 1)
    assert store.today(KEY) == (0, 0)


def test_a_request_above_the_bucket_waits_for_a_full_one(tmp_path: Path) -> None:
    clock, limits = Clock(), KeyLimits(tokens_per_minute=600)
    store = UsageStore(tmp_path, clock)
    store.settle(store.reserve(KEY, limits, 1200), limits, 1200)
    with pytest.raises(RateLimited) as refused:
        store.reserve(KEY, limits, 1200)
    assert refused.value.retry_after_s == 120, "600 that are missing, and 600 of the next"
    clock.now += 119.9
    with pytest.raises(RateLimited):
        store.reserve(KEY, limits, 1200)
    clock.now += 0.1
    store.reserve(KEY, limits, 1200)


def test_a_refusal_charges_nothing(tmp_path: Path) -> None:
    limits = KeyLimits(requests_per_minute=100, concurrent=1, requests_per_day=50)
    store = UsageStore(tmp_path, Clock())
    store.enter(KEY, limits)
    for _ in range(99):
        with pytest.raises(RateLimited):
            store.enter(KEY, limits)
    store.leave(KEY, limits)
    assert store.today(KEY)[0] == 1
    store.enter(KEY, limits)


def test_keys_do_not_share(tmp_path: Path) -> None:
    limits, store = KeyLimits(requests_per_day=3), UsageStore(tmp_path, Clock())
    assert admitted(store, limits, 9) == 3
    store.enter("other", limits)


def _many(folder: Path, seed: int, limits: KeyLimits, pipe: "object") -> None:
    dice, store = random.Random(seed), UsageStore(folder)
    counts = [0, 0]
    for _ in range(2500):
        try:
            store.enter(KEY, limits)
            counts[0] += 1
            reserved = store.reserve(KEY, limits, 10)
        except LimitReached:
            continue
        used = dice.randrange(11)
        counts[1] += used
        store.settle(reserved, limits, used)
    pipe.send(counts)  # type: ignore[attr-defined]


def test_four_processes_at_the_boundary_admit_not_one_too_many(tmp_path: Path) -> None:
    """10,000 attempts, of which 4,000 are permitted; what was settled is what was used."""
    context = multiprocessing.get_context("fork")
    limits = KeyLimits(requests_per_day=4000, tokens_per_day=30_000)
    pipes, processes = [], []
    for seed in range(4):
        mine, its = context.Pipe()
        process = context.Process(target=_many, args=(tmp_path, seed, limits, its))
        process.start()
        processes.append(process)
        pipes.append(mine)
    counts = [pipe.recv() for pipe in pipes]
    for process in processes:
        process.join()
    requests, tokens = (sum(column) for column in zip(*counts, strict=True))
    assert requests == 4000
    assert tokens <= 30_000
    assert UsageStore(tmp_path).today(KEY) == (requests, tokens)


def _enter_and_wait(folder: Path, limits: KeyLimits, pipe: "object") -> None:
    UsageStore(folder).enter(KEY, limits)
    pipe.send(None)  # type: ignore[attr-defined]
    time.sleep(3600)


def test_places_of_a_killed_process_are_free_again(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    limits = KeyLimits(concurrent=1)
    mine, its = context.Pipe()
    process = context.Process(target=_enter_and_wait, args=(tmp_path, limits, its))
    process.start()
    mine.recv()
    store = UsageStore(tmp_path)
    with pytest.raises(RateLimited):
        store.enter(KEY, limits)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    store.enter(KEY, limits)
