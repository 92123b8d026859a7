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

    A tensor of integers or 8-bit floats must have this dtype in the file as well; a wider float is converted. A file
    may lack an optional tensor.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype | None = None
    optional: bool = False


class Part(Protocol):
    """One matrix of a checkpoint, for a model in `dtype`. Its tensors are read on request.

    `name` is that in the checkpoint, without a suffix.
    """

    @property
    def name(self) -> str: ...

    @property
    def dtype(self) -> torch.dtype: ...

    def __call__(self, suffix: str) -> Tensor:
        """The tensor of this suffix, owned by the caller, as `Scheme.tensors` describes it."""
        ...

    def has(self, suffix: str) -> bool:
        """Whether the checkpoint has the optional tensor of this suffix."""
        ...


class Scheme(Protocol):
    """The storage of a matrix in a checkpoint, its form in memory, and its products.

    Norms, biases and the embedding are unquantised in every scheme.
    """

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """The tensors of a matrix [outputs, inputs], by the suffixes of their names."""
        ...

    def weight(self, parts: Sequence[Part], bias: Tensor | None, kernels: Kernels) -> Weight:
        """The weight of `parts`, matrices with the same inputs, concatenated along the outputs."""
        ...

    def dense(self, part: Part) -> Tensor:
        """A matrix [outputs, inputs] in the dtype of the model."""
        ...


@dataclass(frozen=True, slots=True)
class Dense:
    """Weights in the dtype of the model."""

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`."""
        return {".weight": Stored((outputs, inputs))}

    def weight(self, parts: Sequence[Part], bias: Tensor | None, kernels: Kernels) -> Weight:
        """See `Scheme`."""
        return kernels.weight(stacked([self.dense(part) for part in parts]), bias)

    def dense(self, part: Part) -> Tensor:
        """See `Scheme`."""
        return part(".weight")


class Schemes(Protocol):
    """The scheme of each matrix of a model, by its name in the checkpoint, without a suffix."""

    def of(self, name: str) -> Scheme:
        """The scheme of the matrix of this name."""
        ...


@dataclass(frozen=True, slots=True)
class Uniform:
    """One scheme for all matrices."""

    scheme: Scheme = Dense()

    def of(self, name: str) -> Scheme:  # noqa: ARG002 - one scheme for all
        """See `Schemes`."""
        return self.scheme


def stacked(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors, concatenated along the outputs; a single one itself, without a copy."""
    return tensors[0] if len(tensors) == 1 else torch.cat(list(tensors))


def combined_weight(
    schemes: Sequence[Scheme], parts: Sequence[Part], bias: Tensor | None, kernels: Kernels
) -> Weight:
    """The weight of `parts`, each in its own scheme. Parts in different schemes are converted to the model's dtype."""
    first = schemes[0]
    if all(scheme == first for scheme in schemes):
        return first.weight(parts, bias, kernels)
    matrices = [scheme.dense(part) for scheme, part in zip(schemes, parts, strict=True)]
    return kernels.weight(stacked(matrices), bias)
