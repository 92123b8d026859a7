"""Shares of work: cut at about equal costs, and each done once, whatever fails."""

import threading

import numpy as np
import pytest
from intaglio.engine.run.host.shares import ShareThreads, divided


def whole(shares: list[slice]) -> list[int]:
    return [piece for share in shares for piece in range(share.start, share.stop)]


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("least", [1, 40, 1000])
def test_shares_hold_each_piece_once_in_order(threads: int, least: int) -> None:
    costs = np.arange(1, 30, dtype=np.int64)
    shares = divided(costs, least, threads)
    assert whole(shares) == list(range(29))
    assert len(shares) == min(threads, max(1, int(costs.sum()) // least))
    each = [int(costs[share].sum()) for share in shares]
    assert max(each) - min(each) <= 2 * costs.max()


def test_nothing_is_one_empty_share() -> None:
    assert divided(np.zeros(0, np.int64), 10, 4) == [slice(0, 0)]


def test_one_large_piece_is_one_of_two_shares_at_most() -> None:
    shares = divided(np.array([1, 1000], np.int64), 10, 4)
    assert whole(shares) == [0, 1]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_share_is_done_once_the_first_by_the_caller(count: int) -> None:
    threads, done = ShareThreads(count), list[tuple[int, bool]]()
    shares = [slice(i, i + 1) for i in range(count)]
    here = threading.current_thread()
    for _ in range(2):
        done.clear()
        threads.run(
            lambda share: done.append((share.start, threading.current_thread() is here)), shares
        )
        assert sorted(done) == [(i, i == 0) for i in range(count)]


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_reaches_the_caller(failing: int) -> None:
    def work(share: slice) -> None:
        if share.start == failing:
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        ShareThreads(2).run(work, [slice(0, 1), slice(1, 2)])
