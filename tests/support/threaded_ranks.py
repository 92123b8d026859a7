"""Ranks as threads of one process: the exchange of tensors without processes or sockets."""

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import TypeVar

import torch
from intaglio.engine.parallel.parallel_layout import (
    Parallel,
    ParallelLayout,
    PipelineStage,
    StageLayout,
    TensorParallel,
)
from intaglio.kernels.contracts import AddTo
from torch import Tensor

T = TypeVar("T")


class _Table:
    """The tensors of one exchange, by rank."""

    def __init__(self, size: int) -> None:
        self.barrier = threading.Barrier(size, timeout=60)
        self.given: list[Tensor] = [torch.empty(0)] * size
        self.sent: dict[tuple[int, int], queue.Queue[Tensor]] = {
            pair: queue.Queue() for pair in product(range(size), range(size))
        }


class ThreadedCommunicator:
    """`Communicator` among threads; counts its calls, and those of `all_to_all` as `crossings`."""

    def __init__(self, table: _Table, rank: int, size: int) -> None:
        self._table, self.rank, self.size = table, rank, size
        self.calls = self.crossings = 0

    def all_reduce(self, x: Tensor) -> Tensor:
        return x.copy_(self._exchange(x).sum(0))

    def add_sum(self, x: Tensor, onto: AddTo) -> bool:
        return False

    def all_gather(self, x: Tensor) -> Tensor:
        return self._exchange(x)

    def all_to_all(self, parts: Sequence[Tensor]) -> Tensor:
        self.crossings += 1
        return self._exchange(torch.stack(list(parts)))[:, self.rank].contiguous()

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

    def of_matrices(place: Parallel) -> T:
        assert place.matrices is not None
        return work(place.matrices)

    return on_grid(size, 1, of_matrices)


def on_grid(tp: int, pp: int, work: Callable[[Parallel], T]) -> list[T]:
    """See `on_ranks`: `pp` stages of `tp` ranks each; the results of the last stage's ranks are the first."""
    stages, parts = [_Table(tp) for _ in range(pp)], [_Table(pp) for _ in range(tp)]

    def run(rank: int) -> T:
        stage, part = divmod(rank, tp)
        within = ThreadedCommunicator(stages[stage], part, tp)
        across = ThreadedCommunicator(parts[part], stage, pp)
        place = Parallel(
            TensorParallel(ParallelLayout(tp, part), within) if tp > 1 else None,
            PipelineStage(StageLayout(pp, stage), across) if pp > 1 else None,
        )
        try:
            return work(place)
        except BaseException:
            for table in (*stages, *parts):
                table.barrier.abort()
            raise

    with ThreadPoolExecutor(tp * pp) as threads:
        running = [threads.submit(run, rank) for rank in range(tp * pp)]
    errors = [error for each in running if (error := each.exception()) is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
        raise error  # the first cause, not the barrier that it broke
    return [each.result() for each in running]
