"""The exchange of tensors among the ranks of a group.

Does: define the interface of layers to other ranks, and implement it between processes on CPUs, over torch's group for
gloo. Does not: start processes, or know what it carries.

A group belongs to its `Communicator`, not to torch's global state: the program that uses an engine may have groups of
its own.
"""

from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import torch
import torch.distributed as dist
from intaglio.kernels.contracts import AddTo
from torch import Tensor
from torch._C._distributed_c10d import FileStore, Store

UNRECEIVED = 64
"""More tensors than a rank ever has on their way: a step sends one, and at most this many steps are in flight."""

LOOPBACK = "127.0.0.1"
"""Groups on CPUs are on one host; their sockets are not reachable from another one."""


class Communicator(Protocol):
    """One rank's exchange with `size` ranks. Every rank makes the same calls, in the same order, with equal shapes."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def all_reduce(self, x: Tensor) -> Tensor:
        """The sum of `x` over all ranks, in place; `x` is contiguous. All ranks get the same bits."""
        ...

    def add_sum(self, x: Tensor, onto: AddTo) -> bool:
        """Add the sum of `x` [N, width] over all ranks to a residual by one kernel, if this exchange has one for `x`.

        Returns whether it has. If so, every rank has added the same bits; `x` is contiguous.
        """
        ...

    def all_gather(self, x: Tensor) -> Tensor:
        """`x` of all ranks, by rank: [size, *x.shape]; `x` is contiguous."""
        ...

    def all_to_all(self, parts: Sequence[Tensor]) -> Tensor:
        """Send part `r` to rank `r`; the parts that all ranks sent to this one, by rank: [size, *part.shape].

        The parts are contiguous, of one shape, and as many as ranks. On a GPU no graph captures this.
        """
        ...

    def send(self, x: Tensor, rank: int) -> None:
        """Send `x`, which is contiguous, to another rank. Returns before that rank has received it.

        On a CPU `x` must stay as it is, and at most `UNRECEIVED` tensors are on their way: the next call waits until
        the oldest has been received. On a GPU later work of the current stream may change `x`: the stream waits.
        """
        ...

    def receive(self, x: Tensor, rank: int) -> Tensor:
        """Overwrite `x`, which is contiguous, by the next tensor that another rank sends to this one; `x`."""
        ...

    def abort(self) -> None:
        """End the exchange for good: a call in progress raises, or its result is undefined. For any thread.

        It returns when no graph holds a call any more: `Compute.close` releases those of a model.
        """
        ...


class GlooCommunicator:
    """`Communicator` between processes of one host.

    Sums are made in the order of ranks, for any shape: gloo's own sum begins at another rank for each part of a tensor,
    so a row's bits would depend on its place in a batch.
    """

    def __init__(self, meeting: Path, rank: int, size: int, timeout_s: float) -> None:
        """Connect with the other ranks; `meeting` is a file for this group alone, in a folder that all ranks share.

        Raises:
            RuntimeError: a rank did not connect in time.
        """
        self.rank, self.size = rank, size
        options = dist.ProcessGroupGloo._Options()  # type: ignore[attr-defined]  # torch's stubs lack it
        options._timeout = timedelta(seconds=timeout_s)
        options._devices = [dist.ProcessGroupGloo.create_device(hostname=LOOPBACK)]
        store = meet(meeting, size, timeout_s)
        # `Any`: the stubs of torch lack the methods of its back ends.
        self._group: Any = dist.ProcessGroupGloo(store, rank, size, options)
        self._sending: deque[tuple[Any, Tensor]] = deque()

    def all_reduce(self, x: Tensor) -> Tensor:
        """See `Communicator`."""
        first, *others = self._gathered(x)
        x.copy_(first)
        for other in others:
            x.add_(other)
        return x

    def add_sum(self, x: Tensor, onto: AddTo) -> bool:  # noqa: ARG002
        """See `Communicator`: there is no such kernel for CPUs."""
        return False

    def all_gather(self, x: Tensor) -> Tensor:
        """See `Communicator`."""
        return torch.stack(self._gathered(x))

    def all_to_all(self, parts: Sequence[Tensor]) -> Tensor:
        """See `Communicator`."""
        sent = torch.stack(list(parts))
        received = torch.empty_like(sent)
        self._group.alltoall_base(received, sent, [], []).wait()
        return received

    def send(self, x: Tensor, rank: int) -> None:
        """See `Communicator`."""
        if len(self._sending) >= UNRECEIVED:
            self._sending.popleft()[0].wait()
        self._sending.append((self._group.send([x], rank, 0), x))

    def receive(self, x: Tensor, rank: int) -> Tensor:
        """See `Communicator`."""
        self._group.recv([x], rank, 0).wait()
        return x

    def abort(self) -> None:
        """Nothing to do: gloo notices by itself that a process has ended, or a time-out has passed."""

    def _gathered(self, x: Tensor) -> list[Tensor]:
        parts = [torch.empty_like(x) for _ in range(self.size)]
        self._group.allgather([parts], [x]).wait()
        return parts


def meet(meeting: Path, size: int, timeout_s: float) -> Store:
    """The store through which ranks find each other: `meeting` is its file."""
    store = FileStore(str(meeting), size)
    store.set_timeout(timedelta(seconds=timeout_s))
    return store
