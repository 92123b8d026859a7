"""The interface to the tensors of a checkpoint, from files, drawn at random, or cut to the part of one rank.

Does: state the protocol. Does not: hold an implementation (`weights`, `sharded_weights`).
"""

from typing import Protocol

import torch
from torch import Tensor


class TensorSource(Protocol):
    """Tensors by their names in a checkpoint, on the device, in the dtype of `Stored`; that of the model is `dtype`."""

    @property
    def dtype(self) -> torch.dtype: ...

    def has(self, name: str) -> bool:
        """Whether there is a tensor of this name."""
        ...

    def tensor(self, name: str) -> Tensor:
        """The tensor of this name, owned by the caller."""
        ...
