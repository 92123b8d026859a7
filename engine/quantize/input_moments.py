"""Second moments of the inputs of a model's matrices, collected while the model reads documents.

Does: wrap the weights of a decoder, and sum the outer products of their inputs for the layers that are watched. Does
not: choose documents, or round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from intaglio.kernels.contracts import Epilogue, Kernels, RmsNorm, Weight
from torch import Tensor

from ..model.schemes.scheme import Dense, Part, Scheme, Stored


class InputMoments:
    """The sums of outer products of inputs, by the name of a matrix. Matrices with the same inputs share one sum."""

    def __init__(self) -> None:
        self._watched: frozenset[str] = frozenset()
        self._sums: dict[str, Tensor] = {}

    def watch(self, names: Sequence[str]) -> None:
        """Collect the inputs of these matrices from now on, and forget all others."""
        self._watched = frozenset(names)
        self._sums = {}

    def watches(self, names: Sequence[str]) -> bool:
        """Whether inputs of any of these matrices are collected."""
        return not self._watched.isdisjoint(names)

    def add(self, names: Sequence[str], x: Tensor) -> None:
        """Count inputs `x` [N, inputs] of these matrices."""
        wide = x.to(torch.float32)
        found = self._sums.get(names[0])
        if found is None:
            found = torch.zeros((x.shape[1], x.shape[1]), device=x.device)
            self._sums.update(dict.fromkeys(names, found))
        found.addmm_(wide.t(), wide)

    def of(self, name: str, inputs: int) -> Tensor:
        """The sum [inputs, inputs] of a watched matrix; zero if it had no inputs, as an expert that is never chosen."""
        found = self._sums.get(name)
        return torch.zeros((inputs, inputs)) if found is None else found


@dataclass(frozen=True, slots=True)
class Observed:
    """The unquantised scheme, with weights that report their inputs to `moments`. See `Scheme`."""

    moments: InputMoments

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`."""
        return Dense().tensors(outputs, inputs)

    def weight(self, parts: Sequence[Part], bias: Tensor | None, kernels: Kernels) -> Weight:
        """See `Scheme`."""
        names = tuple(part.name for part in parts)
        return ObservedWeight(Dense().weight(parts, bias, kernels), names, self.moments, kernels)

    def dense(self, part: Part) -> Tensor:
        """See `Scheme`."""
        return Dense().dense(part)


@dataclass(frozen=True, slots=True)
class ObservedSchemes:
    """`Observed` for the matrices in `names`. See `Schemes`."""

    names: frozenset[str]
    observed: Observed

    def of(self, name: str) -> Scheme:
        """See `Schemes`."""
        return self.observed if name in self.names else Dense()


class ObservedWeight:
    """A weight that reports its inputs. See `Weight`."""

    def __init__(
        self, weight: Weight, names: tuple[str, ...], moments: InputMoments, kernels: Kernels
    ) -> None:
        """`names`: the matrices of the checkpoint that `weight` consists of."""
        self.outputs, self.inputs = weight.outputs, weight.inputs
        self._weight = weight
        self._names = names
        self._moments = moments
        self._kernels = kernels

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        if self._moments.watches(self._names):
            self._moments.add(self._names, x if norm is None else self._kernels.rms_norm(x, norm))
        return self._weight.matmul(x, norm, epilogue)
