"""Runs shares of work in several threads, for compiled loops, which do not hold the interpreter lock.

Does: divide pieces of work by their costs, and run each share in a thread. Does not: know the work.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch


def divided(costs: npt.NDArray[np.int64], least: int, threads: int) -> list[slice]:
    """Divide consecutive pieces into at most `threads` shares of about equal cost, of at least about `least` each."""
    total = int(costs.sum())
    count = max(1, min(threads, total // least, len(costs)))
    bounds = np.searchsorted(np.cumsum(costs), total * np.arange(1, count) / count, side="right")
    edges = [0, *bounds.tolist(), len(costs)]
    return [slice(first, end) for first, end in pairwise(edges)]


class ShareThreads:
    """A thread pool for shares, started when there is more than one share to run."""

    def __init__(self, count: int | None = None) -> None:
        """`count`: the most shares that run at once, one of them in the caller's thread; None: torch's threads."""
        self._count = count
        self._pool: ThreadPoolExecutor | None = None

    @property
    def count(self) -> int:
        """The most shares that run at once."""
        return torch.get_num_threads() if self._count is None else self._count

    def run(self, work: Callable[[slice], None], shares: Sequence[slice]) -> None:
        """Do `work` for all shares, the first in this thread; returns when all are done."""
        if len(shares) == 1:
            return work(shares[0])
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max(1, self.count - 1), "loops")
        others = [self._pool.submit(work, share) for share in shares[1:]]
        work(shares[0])
        for other in others:
            other.result()
        return None
