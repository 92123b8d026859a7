"""The experts of a layer in one tensor for each kind of matrix, as in gpt-oss and Qwen3-VL.

Does: name the tensors, and make the weights of each expert. Does not: compute (`mixture`).

A checkpoint holds unquantised matrices transposed, and in gpt-oss the outputs of gate and up alternate; a `Mixture`
takes all of gate first.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat

import torch
from intaglio.kernels.contracts import ExpertMlp, Kernels, Weight
from torch import Tensor

from .expert_spec import ExpertSpec
from .family import ExpertLayout, ExpertStack
from .schemes.mxfp4 import Mxfp4, Mxfp4Experts
from .schemes.scheme import Schemes, Stored
from .tensor_source import TensorSource

BIAS = "_bias"
GATE_UP, DOWN = "gate_up", "down"


@dataclass(frozen=True, slots=True)
class StackedExperts:
    """The experts of layer `i` of a model with this hidden size."""

    layout: ExpertLayout
    stack: ExpertStack
    experts: ExpertSpec
    schemes: Schemes
    hidden: int
    i: int

    def tensors(self) -> dict[str, Stored]:
        """The tensors of a checkpoint, by name."""
        found = {}
        count = self.experts.count
        for part, (outputs, inputs) in self._sizes().items():
            name = self._name(part)
            if isinstance(self.schemes, Mxfp4Experts):
                for suffix, each in Mxfp4().tensors(outputs, inputs).items():
                    found[name + suffix] = Stored((count, *each.shape), each.dtype)
            else:
                found[name] = Stored((count, inputs, outputs))
            if self.stack.biases:
                found[name + BIAS] = Stored((count, outputs))
        return found

    def read(self, weights: TensorSource, kernels: Kernels) -> tuple[ExpertMlp, ...]:
        """The experts, in order.

        Raises:
            ModelError: a tensor holds values that its format does not allow.
        """
        gate_ups, downs = (self._weights(part, weights, kernels) for part in (GATE_UP, DOWN))
        return tuple(ExpertMlp(*pair) for pair in zip(gate_ups, downs, strict=True))

    def _weights(self, part: str, weights: TensorSource, kernels: Kernels) -> Iterator[Weight]:
        """The weight of a part of each expert, in order."""
        name = self._name(part)
        order = torch.arange(self._sizes()[part][0])
        if part == GATE_UP and self.stack.alternates:
            order = torch.cat((order[0::2], order[1::2]))
        biases: Iterable[Tensor | None] = repeat(None, self.experts.count)
        if self.stack.biases:
            biases = weights.tensor(name + BIAS)[:, order]
        if isinstance(self.schemes, Mxfp4Experts):
            stacks = {
                suffix: weights.tensor(name + suffix)
                for suffix in Mxfp4().tensors(*self._sizes()[part])
            }
            for e, bias in enumerate(biases):
                one = {suffix: stack[e, order] for suffix, stack in stacks.items()}
                matrix = _CodedMatrix(name, weights.dtype, one)
                yield Mxfp4().codes_weight(matrix, bias, kernels)
            return
        for matrix, bias in zip(weights.tensor(name), biases, strict=True):
            yield kernels.weight(matrix.t()[order], bias)

    def _sizes(self) -> dict[str, tuple[int, int]]:
        """Outputs and inputs of a matrix of each part."""
        ffn = self.experts.ffn
        return {GATE_UP: (2 * ffn, self.hidden), DOWN: (self.hidden, ffn)}

    def _name(self, part: str) -> str:
        return self.layout.linears[part].format(i=self.i)


@dataclass(frozen=True, slots=True)
class _CodedMatrix:
    """The matrix of one expert. See `Part`."""

    name: str
    dtype: torch.dtype
    tensors: Mapping[str, Tensor]

    def __call__(self, suffix: str) -> Tensor:
        return self.tensors[suffix]

    def has(self, suffix: str) -> bool:
        return suffix in self.tensors
