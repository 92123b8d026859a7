"""The exchange of tensors among the GPUs of a group.

Does: implement `Communicator` over torch's group for NCCL; add sums of few rows to a residual by a kernel of our own,
where the GPUs can share memory. Does not: start processes, or know what it carries.
"""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from intaglio.kernels.contracts import AddTo
from intaglio.kernels.exchange.peer_sums import add_sum
from torch import Tensor
from torch._C._distributed_c10d import AllgatherOptions, AllreduceOptions, AllToAllOptions

from .communicator import meet
from .peer_buffers import peer_buffers


class NcclCommunicator:
    """`Communicator` between GPUs. Calls are launched on the current stream. Sums can be captured in a graph.

    The first tensor between two ranks connects them: both must be there within the time-out. The order of a sum is
    NCCL's: fixed for a shape, equal on all ranks, and for two ranks the only one there is.
    """

    def __init__(
        self,
        meeting: Path,
        rank: int,
        size: int,
        timeout_s: float,
        device: torch.device,
        *,
        sums: bool = True,
    ) -> None:
        """See `GlooCommunicator`. With `sums` the ranks keep memory for `add_sum`."""
        self.rank, self.size = rank, size
        options = dist.ProcessGroupNCCL.Options()
        options._timeout = timedelta(seconds=timeout_s)
        store = meet(meeting, size, timeout_s)
        self._group: Any = dist.ProcessGroupNCCL(store, rank, size, options)
        self._summing = AllreduceOptions()
        self._gathering = AllgatherOptions()
        self._crossing = AllToAllOptions()
        # On the caller's stream: without events between two streams around every call, and nothing to wait for.
        self._summing.asyncOp = self._gathering.asyncOp = self._crossing.asyncOp = False
        # The first call connects the ranks, which a captured call must not.
        self.all_reduce(torch.zeros(1, device=device))
        self._peers = peer_buffers(rank, size, device, self.all_gather) if sums else None
        self._ended = torch.ones(1, dtype=torch.int32).pin_memory()
        self._ending = torch.cuda.Stream(device)
        torch.cuda.synchronize(device)

    def all_reduce(self, x: Tensor) -> Tensor:
        """See `Communicator`."""
        self._group.allreduce([x], self._summing)
        return x

    def add_sum(self, x: Tensor, onto: AddTo) -> bool:
        """See `Communicator`. The buffers of few rows are in the memory of all GPUs, if these can share it."""
        if self._peers is None or not self._peers.take(x):
            return False
        add_sum(x, onto, self._peers)
        return True

    def all_gather(self, x: Tensor) -> Tensor:
        """See `Communicator`."""
        out = x.new_empty((self.size, *x.shape))
        self._group._allgather_base(out, x, self._gathering)
        return out

    def all_to_all(self, parts: Sequence[Tensor]) -> Tensor:
        """See `Communicator`. The first call connects each pair of ranks, while the hosts of all wait."""
        out = parts[0].new_empty((self.size, *parts[0].shape))
        self._group.alltoall(list(out.unbind(0)), list(parts), self._crossing)
        return out

    def send(self, x: Tensor, rank: int) -> None:
        """See `Communicator`. The current stream waits, not the host."""
        self._group.send([x], rank, 0).wait()

    def receive(self, x: Tensor, rank: int) -> Tensor:
        """See `Communicator`. The current stream waits, not the host."""
        self._group.recv([x], rank, 0).wait()
        return x

    def abort(self) -> None:
        """See `Communicator`."""
        if self._peers is not None:
            # By the copy engine: programs that wait may leave no room for another kernel.
            with torch.cuda.stream(self._ending):
                self._peers.ended.copy_(self._ended, non_blocking=True)
        self._group.abort()
