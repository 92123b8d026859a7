"""The interface of a quantisation scheme, and the unquantised scheme.

Does: name the tensors that store a matrix in a checkpoint, and construct a `Weight` from them. Does not: read files, or
know layers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from intaglio.kernels.contracts import Kernels, Weight
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor of a checkpoint: its shape, and its dtype in memory, None for that of the model.

    An integer tensor must have this dtype in the file as well; a floating-point tensor is converted.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype | None = None


class Part(Protocol):
    """One matrix of a checkpoint. Its tensors are read on request."""

    def __call__(self, suffix: str) -> Tensor:
        """The tensor of this suffix, owned by the caller, as `Scheme.tensors` describes it."""
        ...


class Scheme(Protocol):
    """The storage of matrices in a checkpoint, their form in memory, and their products.

    Norms, biases and the embedding are unquantised in every scheme.
    """

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """The tensors of a matrix [outputs, inputs], by the suffixes of their names."""
        ...

    def weight(self, parts: Sequence[Part], bias: Tensor | None, kernels: Kernels) -> Weight:
        """The weight of `parts`, matrices with the same inputs, concatenated along the outputs."""
        ...


@dataclass(frozen=True, slots=True)
class Dense:
    """Weights in the dtype of the model."""

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`."""
        return {".weight": Stored((outputs, inputs))}

    def weight(self, parts: Sequence[Part], bias: Tensor | None, kernels: Kernels) -> Weight:
        """See `Scheme`."""
        return kernels.weight(stacked([part(".weight") for part in parts]), bias)


def stacked(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors, concatenated along the outputs; a single one itself, without a copy."""
    return tensors[0] if len(tensors) == 1 else torch.cat(list(tensors))
