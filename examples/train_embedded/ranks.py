"""Several devices that train one model: averaged gradients, and one clock.

Data parallel in its plainest form: each rank has the whole model and documents of its own, gradients are averaged before
the optimisers' step, so the weights stay equal. One process without a group is a rank of one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, distributed, multiprocessing


@dataclass(frozen=True)
class Ranks:
    """The place of this process among `count` processes."""

    rank: int = 0
    count: int = 1

    def average(self, weights: Iterable[Tensor]) -> None:
        """Replace each weight's gradient by the mean over the ranks."""
        if self.count > 1:
            for weight in weights:
                if weight.grad is not None:
                    distributed.all_reduce(weight.grad)
                    weight.grad /= self.count

    def copy_first(self, weights: Iterable[Tensor]) -> None:
        """Give all ranks the weights of rank 0."""
        if self.count > 1:
            for weight in weights:
                distributed.broadcast(weight.detach(), src=0)

    def elapsed(self, seconds: float) -> float:
        """The seconds that rank 0 has counted: the learning rate follows the clock, and must be the same everywhere."""
        if self.count == 1:
            return seconds
        counted = torch.tensor([seconds], dtype=torch.float64)  # on the host: the device need not be waited for
        distributed.broadcast(counted, src=0)
        return float(counted)


ALONE = Ranks()


def spawn(work: Callable[[Ranks], None], count: int, method: str = "spawn") -> None:
    """Run `work` in `count` processes that form one group; ends when all have ended.

    `method`: how Python starts them. A process that has used a GPU cannot be forked.

    Raises the error of the first process that fails; the others are stopped.
    """
    if count == 1:
        work(ALONE)
        return
    with tempfile.TemporaryDirectory() as folder:
        meeting = (Path(folder) / "ranks").as_uri()
        multiprocessing.start_processes(  # type: ignore[attr-defined, no-untyped-call]
            _join, args=(work, count, meeting), nprocs=count, start_method=method
        )


def _join(rank: int, work: Callable[[Ranks], None], count: int, meeting: str) -> None:
    backend = "gloo"
    if torch.cuda.is_available():
        backend = "cpu:gloo,cuda:nccl"
        torch.cuda.set_device(rank)
    distributed.init_process_group(backend, init_method=meeting, rank=rank, world_size=count)
    try:
        work(Ranks(rank, count))
    finally:
        distributed.destroy_process_group()
