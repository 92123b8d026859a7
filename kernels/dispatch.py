"""Choice of the kernel implementation for a device, made once when a runner is built.

Does: map a device to its kernels. Does not: fall back silently; a device without kernels is an error.
"""

import torch

from .contracts import Attend, Kernels
from .invariant import InvariantKernels
from .reference_kernels import ReferenceKernels


def choose(
    device: torch.device, prompts: Attend | None = None, invariant: torch.dtype | None = None
) -> Kernels:
    """The kernels of `device`; `prompts` optionally replaces the attention of prompts.

    With `invariant`, a row's results have the same bits in every step, for a model in that dtype.

    Raises:
        ValueError: the device has no such kernels, or `prompts` is given for the host or with `invariant`.
    """
    if prompts is not None and invariant is not None:
        raise ValueError("this attention of prompts depends on the rows of a step")
    if device.type == "cpu":
        if prompts is not None:
            raise ValueError("a host has one attention, that of torch")
        return ReferenceKernels() if invariant is None else InvariantKernels(dtype=invariant)
    if device.type == "cuda":
        # Triton is loaded where there is a GPU to run it.
        if invariant is not None:
            from .invariant_gpu import InvariantGpuKernels

            return InvariantGpuKernels(device, invariant)
        from .gpu import GpuKernels

        return GpuKernels(device, prompts)
    raise ValueError(f"no kernels for device {device}: 'cpu' and 'cuda' are supported")
