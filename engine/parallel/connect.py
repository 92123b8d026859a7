"""The choice of an exchange of tensors for a device.

Does: connect the ranks of a group by the library of their device. Does not: exchange anything.
"""

from pathlib import Path

import torch

from .communicator import Communicator, GlooCommunicator


def connect(
    meeting: Path,
    rank: int,
    size: int,
    timeout_s: float,
    device: torch.device,
    *,
    sums: bool = True,
) -> Communicator:
    """The communicator of `rank` for tensors on `device`; `sums`: it will add products up.

    Raises:
        RuntimeError: a rank did not connect in time.
    """
    if device.type == "cuda":
        # Not loaded where there is no GPU.
        from .nccl_communicator import NcclCommunicator

        return NcclCommunicator(meeting, rank, size, timeout_s, device, sums=sums)
    return GlooCommunicator(meeting, rank, size, timeout_s)
