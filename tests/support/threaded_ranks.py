"""Ranks as threads of one process: the exchange of tensors without processes or sockets."""

import queue
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch
from intaglio.engine.parallel.parallel_layout import (
    ParallelLayout,
    PipelineStage,
    StageLayout,
    TensorParallel,
)
from torch import Tensor

T = TypeVar("T")


class _Table:
    """The tensors of one exchange, by rank."""

    def __init__(self, size: int) -> None:
        self.barrier = threading.Barrier(size, timeout=60)
        self.given: list[Tensor] = [torch.empty(0)] * size
        self.sent: dict[tuple[int, int], queue.Queue[Tensor]] = defaultdict(queue.Queue)


class ThreadedCommunicator:
    """`Communicator` among threads; counts its calls."""

    def __init__(self, table: _Table, rank: int, size: int) -> None:
        self._table, self.rank, self.size, self.calls = table, rank, size, 0

    def all_reduce(self, x: Tensor) -> Tensor:
        return x.copy_(self._exchange(x).sum(0))

    def all_gather(self, x: Tensor) -> Tensor:
        return self._exchange(x)

    def send(self, x: Tensor, rank: int) -> None:
        self.calls += 1
        self._table.sent[self.rank, rank].put(x)

    def receive(self, x: Tensor, rank: int) -> Tensor:
        return x.copy_(self._table.sent[rank, self.rank].get(timeout=60))

    def abort(self) -> None:
        self._table.barrier.abort()

    def _exchange(self, x: Tensor) -> Tensor:
        self.calls += 1
        self._table.given[self.rank] = x.clone()
        self._table.barrier.wait()
        found = torch.stack(self._table.given)
        self._table.barrier.wait()
        return found


def on_ranks(size: int, work: Callable[[TensorParallel], T]) -> list[T]:
    """The results of `work` on each rank, by rank. An exception on one rank ends all of them and is raised."""
    return _on_threads(size, lambda rank, to: work(TensorParallel(ParallelLayout(size, rank), to)))


def on_stages(size: int, work: Callable[[PipelineStage], T]) -> list[T]:
    """See `on_ranks`: the results by rank, so that of the last stage is the first."""
    return _on_threads(size, lambda rank, to: work(PipelineStage(StageLayout(size, rank), to)))


def _on_threads(size: int, work: Callable[[int, ThreadedCommunicator], T]) -> list[T]:
    table = _Table(size)

    def run(rank: int) -> T:
        communicator = ThreadedCommunicator(table, rank, size)
        try:
            return work(rank, communicator)
        except BaseException:
            communicator.abort()
            raise

    with ThreadPoolExecutor(size) as threads:
        running = [threads.submit(run, rank) for rank in range(size)]
    errors = [error for each in running if (error := each.exception()) is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
        raise error  # the first cause, not the barrier that it broke
    return [each.result() for each in running]
