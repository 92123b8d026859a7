"""The parts of a layer of a decoder, made of the tensors of a checkpoint.

Does: read the tensors of a layer, fusing query/key/value and gate/up. Does not: open files, or compare what they hold
with a spec (`weights`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from intaglio.kernels.contracts import ExpertMlp, Gate, Kernels, QKNorm, RmsNorm, Weight
from torch import Tensor

from ..errors import ModelError
from ..parallel.parallel_layout import TensorParallel
from .expert_spec import ExpertSpec
from .family import (
    CORRECTION,
    KEY_NORM,
    LATENT_NORM,
    QUERY_LATENT_NORM,
    QUERY_NORM,
    SINKS,
    ExpertLayout,
)
from .latent_attention import LatentOutput, LatentQkv, QueryLatent, head_factors
from .latent_spec import LatentSpec
from .layers import Attention, GatedMlp, Layer, Mlp, Residual, WholeNorm
from .mixture import Mixture, SharedExpert
from .rotary import rotation_order
from .row_parallel import RowParallelWeight
from .schemes.scheme import Dense, combined_weight, stacked
from .sharded_weights import BY_INPUTS
from .spec import ModelSpec
from .tensor_source import TensorCut, TensorSource

LATENT_EPS = 1e-6
"""Added to the mean square in the norms of latents, whatever `rms_norm_eps` is."""


def norm_named(name: str, spec: ModelSpec, weights: TensorSource) -> RmsNorm:
    """The norm of this name in a checkpoint."""
    weight = weights.tensor(name + ".weight")
    if spec.family.norm_offset:
        weight.add_(spec.family.norm_offset)
    return RmsNorm(weight, spec.norm_eps)


def joined_weight(
    weights: TensorSource, pieces: Sequence[TensorCut], bias: Tensor | None, kernels: Kernels
) -> Weight:
    """The weight of unquantised matrices with the same inputs, concatenated along the outputs.

    Where the kernels keep the matrix, its values may come later: see `TensorSource.joined`.
    """
    matrix = weights.joined(pieces)
    if not kernels.keeps_matrices:
        weights.settle()
    return kernels.weight(matrix, bias)


@dataclass(frozen=True, slots=True)
class StoredMatrix:
    """The matrix of this name in a checkpoint, its outputs in `order`. See `Part`."""

    weights: TensorSource
    name: str
    order: Tensor | None

    @property
    def dtype(self) -> torch.dtype:
        return self.weights.dtype

    def __call__(self, suffix: str) -> Tensor:
        tensor = self.weights.tensor(self.name + suffix)
        order = self.order
        return tensor if order is None else tensor.index_select(0, order.to(tensor.device))

    def has(self, suffix: str) -> bool:
        return self.weights.has(self.name + suffix)


@dataclass(frozen=True, slots=True)
class LayerParts:
    """Builds the weights and norms of layer `i`, by part of the decoder."""

    i: int
    spec: ModelSpec
    weights: TensorSource
    kernels: Kernels
    variant: int
    parallel: TensorParallel | None

    def matrix(self, *parts: str, bias: bool) -> Weight:
        """The weight of these parts, concatenated along the outputs.

        A checkpoint may hold them as one matrix, named by the parts together.
        """
        linears = self.spec.family.linears
        if parts[0] not in linears:
            parts = ("_".join(parts) if len(parts) == 2 else "".join(parts),)
        found = [
            StoredMatrix(self.weights, linears[part].format(i=self.i), self._order(part))
            for part in parts
        ]
        biases = stacked([matrix(".bias") for matrix in found]) if bias else None
        return self._weight(found, biases, summed=parts[0] in BY_INPUTS)

    def _weight(
        self, parts: Sequence[StoredMatrix], bias: Tensor | None, *, summed: bool
    ) -> Weight:
        """The weight of `parts`; with `summed` its products are added over the ranks, if there are several."""
        schemes = [self.spec.schemes.of(part.name) for part in parts]
        if all(
            scheme == Dense() and part.order is None
            for scheme, part in zip(schemes, parts, strict=True)
        ):
            pieces = [TensorCut(part.name + ".weight") for part in parts]
            weight = joined_weight(self.weights, pieces, bias, self.kernels)
        else:
            weight = combined_weight(schemes, parts, bias, self.kernels)
        if self.parallel is None or not summed:
            return weight
        return RowParallelWeight(weight, self.parallel.communicator, self.kernels)

    def _order(self, part: str) -> Tensor | None:
        """The order of the outputs of queries, keys and values in which `build_table` rotates; None: as they are."""
        spec = self.spec
        head = rotation_order(spec.kinds[self.i].rope, spec.head_dim)
        if head is None or part not in ("q", "k", "qkv"):
            return None
        name = spec.family.linears[part].format(i=self.i)
        if not isinstance(spec.schemes.of(name), Dense):
            raise ModelError(
                "the rotation of a part of each head is not supported for quantised weights",
                where="partial_rotary_factor",
            )
        queries, keys = (
            (torch.arange(heads).unsqueeze(1) * spec.head_dim + head).view(-1)
            for heads in (spec.heads, spec.kv_heads)
        )
        if part != "qkv":
            return queries if part == "q" else keys
        first, width = len(queries), len(keys)
        return torch.cat((queries, keys + first, torch.arange(width) + first + width))

    def expert(self, names: Mapping[str, str], e: int = 0) -> ExpertMlp:
        """The weights of expert `e` of this layer, by the names of its matrices; of several ranks, this one's part.

        A `Mixture` adds up the parts, once for all experts.
        """
        gate, up, down = (
            StoredMatrix(self.weights, names[part].format(i=self.i, e=e), None)
            for part in ("gate", "up", "down")
        )
        return ExpertMlp(
            self._weight([gate, up], None, summed=False), self._weight([down], None, summed=False)
        )

    def norm(self, part: str) -> RmsNorm | None:
        """The norm of a part; None if the family has none there."""
        name = self.spec.family.norms.get(part)
        return None if name is None else norm_named(name.format(i=self.i), self.spec, self.weights)

    def residual(self, norm: str) -> Residual:
        """The addition to the residual after the norm of a part, if the family has it."""
        return Residual(self.norm(norm), self.spec.residual_scale)

    def qk_norms(self) -> tuple[RmsNorm, RmsNorm]:
        """The norms of queries and of keys."""
        names = (name.format(i=self.i) for name in (QUERY_NORM, KEY_NORM))
        query, key = (norm_named(name, self.spec, self.weights) for name in names)
        return query, key

    def sinks(self) -> Tensor | None:
        """The scores of sinks, in float32; None for families without."""
        name = SINKS.format(i=self.i)
        return self.weights.tensor(name).float() if self.spec.family.sinks else None

    def mixture(self, experts: ExpertSpec, layout: ExpertLayout) -> Mixture:
        """The mixture of experts of this layer."""
        router, stacked = layout.router.format(i=self.i), self.spec.stacked(self.i)
        bias = correction = None
        if layout.stacked is not None and layout.stacked.biases:
            bias = self.weights.tensor(router + ".bias")
        if layout.scored == "sigmoid":
            correction = self.weights.tensor(router + CORRECTION)
        mlps = (
            tuple(self.expert(layout.linears, e) for e in range(experts.count))
            if stacked is None
            else stacked.read(self.weights, self.kernels)
        )
        self.weights.settle()  # kernels copy the matrices of experts
        return Mixture(
            norm=self.norm("mlp_norm"),
            router=self.kernels.weight(self.weights.tensor(router + ".weight"), bias),
            experts=self.kernels.experts(mlps, experts.rule, correction),
            residual=self.residual("mlp_post_norm"),
            kernels=self.kernels,
            shared=SharedExpert(self.expert(layout.shared), experts.rule.gate)
            if experts.shared
            else None,
            wide_router=experts.rule.grouped is not None,
            communicator=None if self.parallel is None else self.parallel.communicator,
        )

    def attention_weights(self) -> tuple[Weight, Weight]:
        """The weights of the input, for queries, keys and values, and of the output of attention."""
        spec = self.spec
        output = self.matrix("output", bias=spec.output_bias)
        if spec.latent is None:
            return self.matrix("q", "k", "v", bias=spec.qkv_bias), output
        matrix = StoredMatrix(self.weights, spec.family.linears["kv_up"].format(i=self.i), None)
        keys, values = head_factors(
            spec.schemes.of(matrix.name).dense(matrix), spec.latent, self.kernels
        )
        qkv = LatentQkv(
            latent=spec.latent,
            query=self._latent_query(spec.latent),
            down=self.matrix("kv_down", bias=spec.qkv_bias),
            norm=self._latent_norm(LATENT_NORM),
            keys=keys,
            kernels=self.kernels,
        )
        return qkv, LatentOutput(spec.latent, values, output, self.kernels)

    def _latent_query(self, latent: LatentSpec) -> Weight:
        if latent.query_rank is None:
            return self.matrix("q", bias=False)
        return QueryLatent(
            self.matrix("q_down", bias=self.spec.qkv_bias),
            self._latent_norm(QUERY_LATENT_NORM),
            self.matrix("q_up", bias=False),
        )

    def _latent_norm(self, name: str) -> RmsNorm:
        return RmsNorm(self.weights.tensor(name.format(i=self.i) + ".weight"), LATENT_EPS)


def build_layer(parts: LayerParts) -> Layer:
    """The layer of these parts."""
    spec, kind = parts.spec, parts.spec.family.qk_norm
    norms = None if kind is None else parts.qk_norms()
    qkv, output = parts.attention_weights()
    attention = Attention(
        norm=parts.norm("attention_norm"),
        qkv=qkv,
        output=output,
        residual=parts.residual("attention_post_norm"),
        qk_norm=QKNorm(norms[0].weight, norms[1].weight, spec.norm_eps)
        if norms is not None and kind == "head"
        else None,
        whole_norm=WholeNorm(*norms) if norms is not None and kind == "whole" else None,
        sinks=parts.sinks(),
        head_dim=spec.head_dim,
        variant=parts.variant,
        kernels=parts.kernels,
    )
    return Layer(attention, _mlp(parts))


def _mlp(parts: LayerParts) -> Mlp:
    spec = parts.spec
    experts, layout = spec.mixes(parts.i), spec.family.experts
    if experts is not None and layout is not None:
        return parts.mixture(experts, layout)
    return GatedMlp(
        norm=parts.norm("mlp_norm"),
        gate_up=parts.matrix("gate", "up", bias=spec.mlp_bias),
        gate=Gate(spec.activation),
        down=parts.matrix("down", bias=spec.mlp_bias),
        residual=parts.residual("mlp_post_norm"),
    )
