"""The matrices of all ranks on one rank, for steps that ranks divide by tokens.

Does: build them layer by layer, each tensor of a checkpoint read once; refuse models without them. Does not: compute.

A rank's part of a matrix is the one that tensor parallelism multiplies by. So all of them take the memory of the whole
model, and not that of its part in addition; quantised matrices work wherever they can be divided.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from intaglio.kernels.contracts import Kernels, Weight
from torch import Tensor

from ..errors import ConfigError, InternalError
from ..parallel.parallel_layout import ParallelLayout, TensorParallel
from .layer_parts import LayerParts, build_layer
from .layers import GatedMlp, Layer
from .row_parallel import RowParallelWeight
from .sequence_parallel import DividedTokens, RankMatrices
from .sharded_weights import ShardedWeights, sharded_spec
from .spec import ModelSpec
from .tensor_source import TensorCut, TensorSource, WholeTensors, joined_tensors


def refuse_undivided_tokens(spec: ModelSpec) -> None:
    """Raise `ConfigError` if ranks cannot divide the tokens of this model's steps."""
    if spec.experts is not None:
        raise ConfigError(
            f"the tokens of mixtures of experts ({spec.family.name}) are not divided among ranks",
            where="sp",
            hint="leave sp at false",
        )


@dataclass(frozen=True, slots=True)
class ReadOnce:
    """The tensors of `whole`, each read once until `forget`. See `WholeTensors`."""

    whole: WholeTensors
    _read: dict[str, Tensor] = field(default_factory=dict)

    @property
    def dtype(self) -> torch.dtype:
        """See `TensorSource`."""
        return self.whole.dtype

    def has(self, name: str) -> bool:
        """See `TensorSource`."""
        return self.whole.has(name)

    def tensor(self, name: str) -> Tensor:
        """See `TensorSource`."""
        if name not in self._read:
            self._read[name] = self.whole.tensor(name)
        return self._read[name].clone()  # the caller owns it

    def shape(self, name: str) -> tuple[int, ...]:
        """See `WholeTensors`."""
        return self.whole.shape(name)

    def expect(self, names: Sequence[str]) -> None:
        """See `WholeTensors`."""
        self.whole.expect(names)

    def joined(self, pieces: Sequence[TensorCut]) -> Tensor:
        """See `TensorSource`. The values are there at once."""
        return joined_tensors(self, pieces)

    def settle(self) -> None:
        """See `TensorSource`."""
        self.whole.settle()

    def forget(self) -> None:
        """Free what was read."""
        self._read.clear()


@dataclass(frozen=True, slots=True)
class EveryRank:
    """Builds the matrices of all ranks of the model `spec`, of which `weights` has the tensors."""

    spec: ModelSpec
    weights: ReadOnce
    kernels: Kernels
    parallel: TensorParallel
    least: int

    @classmethod
    def of(
        cls,
        spec: ModelSpec,
        weights: WholeTensors,
        kernels: Kernels,
        parallel: TensorParallel | None,
    ) -> "EveryRank | None":
        """For the model `spec`, which is whole, as its `weights` are; None where only matrices are divided."""
        if parallel is None or parallel.divided_from is None:
            return None
        return cls(spec, ReadOnce(weights), kernels, parallel, parallel.divided_from)

    @property
    def own_weights(self) -> TensorSource:
        """The tensors of this rank's part."""
        return ShardedWeights.of(self.weights, self.spec, self.parallel.layout)

    def divided(self, matrices: Sequence[RankMatrices]) -> DividedTokens:
        """The layers with these matrices, for steps that are divided by tokens."""
        return DividedTokens(self.parallel, self.least, tuple(matrices), self.kernels)

    def matrices(self, i: int, own: Layer) -> RankMatrices:
        """The matrices of layer `i`, of which this rank's part is `own`. Frees the tensors that were read."""
        layers = [
            own if rank == self.parallel.layout.rank else self._layer(i, rank)
            for rank in range(self.parallel.layout.tp)
        ]
        self.weights.forget()
        mlps = [_gated(layer) for layer in layers]
        return RankMatrices(
            qkv=tuple(layer.attention.qkv for layer in layers),
            output=tuple(_part(layer.attention.output) for layer in layers),
            gate_up=tuple(mlp.gate_up for mlp in mlps),
            down=tuple(_part(mlp.down) for mlp in mlps),
        )

    def _layer(self, i: int, rank: int) -> Layer:
        """Layer `i` as another rank has it, with products that are not added up."""
        layout = ParallelLayout(self.parallel.layout.tp, rank)
        weights = ShardedWeights.of(self.weights, self.spec, layout)
        return build_layer(
            LayerParts(i, sharded_spec(self.spec, layout), weights, self.kernels, 0, None)
        )


def _gated(layer: Layer) -> GatedMlp:
    if not isinstance(layer.mlp, GatedMlp):
        raise InternalError("a mixture of experts was not refused")
    return layer.mlp


def _part(weight: Weight) -> Weight:
    """The product of a part alone."""
    return weight.part if isinstance(weight, RowParallelWeight) else weight
