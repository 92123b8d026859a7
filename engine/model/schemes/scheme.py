"""The interface of a quantisation scheme, and the unquantised one.

Does: name the tensors that a checkpoint holds for a matrix, and make a `Weight` of them. Does not: read files, or know
layers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from intaglio.kernels.contracts import Kernels, Weight
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor of a checkpoint: its shape, and the dtype it is held in; None: that of the model.

    A tensor of integers must have this dtype in the file as well; one of floats is converted.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype | None = None


class Part(Protocol):
    """One matrix of a checkpoint, whose tensors are read when asked for."""

    def __call__(self, suffix: str) -> Tensor:
        """The tensor of this suffix, owned by the caller, as `Scheme.tensors` describes it."""
        ...


class Scheme(Protocol):
    """How matrices are stored in a checkpoint, held in memory, and multiplied by.

    Norms, biases and the embedding are stored unquantised in every scheme.
    """

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """The tensors of a matrix [outputs, inputs], by the suffixes of their names."""
        ...

    def weight(self, parts: Sequence[Part], bias: Tensor | None, kernels: Kernels) -> Weight:
        """The weight of `parts`, matrices with the same inputs, one under the other along the outputs."""
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
    """Tensors one under the other along the outputs; a lone one itself."""
    return tensors[0] if len(tensors) == 1 else torch.cat(list(tensors))
