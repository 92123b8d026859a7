"""Loads the weights of safetensors files into a `Decoder`.

Does: check all names and shapes of the checkpoint against the spec before reading a tensor, then read tensor by tensor,
fusing query/key/value and gate/up; or draw random weights of the same shapes. Does not: convert formats, or tolerate
deviations: a tensor that is missing, unused or of another shape is a `ModelError` that names it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from intaglio.kernels.contracts import (
    ExpertMlp,
    Gate,
    Kernels,
    QKNorm,
    RmsNorm,
    Weight,
)
from torch import Tensor

from ..errors import ModelError
from ..parallel.parallel_layout import TensorParallel
from .attention_kinds import AttentionKind
from .decoder import AttentionVariant, Decoder
from .expected_tensors import check_tensors, expected_tensors
from .expert_spec import ExpertSpec
from .family import EMBEDDING, FINAL_NORM, HEAD, KEY_NORM, QUERY_NORM, SINKS, ExpertLayout
from .layers import Attention, GatedMlp, Layer, Mlp, Residual, WholeNorm
from .mixture import Mixture
from .rotary import build_table, rotation_order
from .row_parallel import RowParallelWeight
from .schemes.mxfp4 import SCALES, UNIT_SCALE
from .schemes.scheme import Dense, Stored, combined_weight, stacked
from .sharded_weights import BY_INPUTS, ShardedWeights, sharded_spec
from .spec import ModelSpec
from .tensor_files import TensorFile, files_by_tensor
from .tensor_source import TensorSource
from .vision_encoder import VisionEncoder
from .vision_weights import assemble_encoder, vision_tensors
from .vocabulary_shard import VocabularyShard

RANDOM_SCALE = 0.02


def load_decoder(
    folder: Path,
    spec: ModelSpec,
    *,
    kernels: Kernels,
    dtype: torch.dtype,
    device: torch.device,
    positions: int,
    parallel: TensorParallel | None = None,
) -> Decoder:
    """The decoder of the checkpoint in `folder`, with weights in `dtype` and angles for `positions` positions.

    With `parallel`, the part of one rank. Raises `ModelError`.
    """
    by_name = files_by_tensor(folder, spec.family.prefixes)
    expected = expected_tensors(spec)
    stored = {name: file.stored(name) for name, file in by_name.items()}
    check_tensors(_without_zero_biases(stored, expected, by_name), expected, spec)
    tied_head = {HEAD + ".weight": expected[EMBEDDING + ".weight"]}
    reader = _Reader(by_name, tied_head | expected, dtype, device)
    if spec.tied and HEAD + ".weight" in by_name:
        embedding, head = reader.tensor(EMBEDDING + ".weight"), reader.tensor(HEAD + ".weight")
        if not torch.equal(head, embedding):
            raise ModelError(
                "config.json ties the head to the embedding, but the checkpoint holds another head",
                where=HEAD + ".weight",
                hint="set tie_word_embeddings to false to use it",
            )
    return assemble(spec, reader, kernels, positions, parallel)


def _without_zero_biases(
    stored: Mapping[str, Stored], expected: Mapping[str, Stored], files: Mapping[str, TensorFile]
) -> dict[str, Stored]:
    """`stored` without the biases of zeros that tools for GPTQ write for layers that have none."""
    return {
        name: tensor
        for name, tensor in stored.items()
        if name in expected
        or not name.endswith(".bias")
        or name.removesuffix("bias") + "qweight" not in stored
        or bool(files[name].tensor(name).any())
    }


def load_encoder(
    folder: Path, spec: ModelSpec, dtype: torch.dtype, device: torch.device, *, drawn: bool
) -> VisionEncoder | None:
    """The encoder of images of the checkpoint in `folder`; None for a model without. With `drawn`, of random weights.

    `load_decoder` has checked its tensors. Raises `ModelError`.
    """
    if spec.vision is None:
        return None
    stored = vision_tensors(spec.vision)
    source: TensorSource
    if drawn:
        source = _Random(stored, dtype, device, 1.0, torch.Generator(device).manual_seed(0))
    else:
        source = _Reader(files_by_tensor(folder, spec.family.prefixes), stored, dtype, device)
    return assemble_encoder(folder, spec.vision, source)


def random_decoder(
    spec: ModelSpec,
    *,
    kernels: Kernels,
    dtype: torch.dtype,
    device: torch.device,
    positions: int,
    parallel: TensorParallel | None = None,
) -> Decoder:
    """A decoder with random weights, for measurements: norms 1, floats N(0, 0.02), integers uniform."""
    generator = torch.Generator(device).manual_seed(0)
    norm = 1 - spec.family.norm_offset
    weights = _Random(expected_tensors(spec), dtype, device, norm, generator)
    return assemble(spec, weights, kernels, positions, parallel)


def assemble(
    spec: ModelSpec,
    weights: TensorSource,
    kernels: Kernels,
    positions: int,
    parallel: TensorParallel | None = None,
) -> Decoder:
    """The decoder of these weights of the model `spec`, which are read one after the other.

    With `parallel`, the part of one rank; `Decoder.spec` then has the heads of that rank.
    """
    shard = None
    if parallel is not None:
        weights = ShardedWeights.of(weights, spec, parallel.layout)
        shard = VocabularyShard.of(spec.vocab_size, parallel)
        spec = sharded_spec(spec, parallel.layout)
    embedding = weights.tensor(EMBEDDING + ".weight")
    scale = spec.embedding_scale
    if scale is not None and spec.family.embedding_scale is not None:
        # The product is rounded once more in training, so the factor has the embedding's precision.
        scale = float(torch.tensor(scale, dtype=embedding.dtype))
    head = embedding if spec.tied else weights.tensor(HEAD + ".weight")
    distinct = [kind for i, kind in enumerate(spec.kinds) if kind not in spec.kinds[:i]]
    parts = [
        _LayerParts(i, spec, weights, kernels, distinct.index(kind), parallel)
        for i, kind in enumerate(spec.kinds)
    ]
    norm = _norm(FINAL_NORM, spec, weights)
    if spec.logit_divisor is not None:
        norm.weight.div_(spec.logit_divisor)
    return Decoder(
        spec=spec,
        kernels=kernels,
        embedding=embedding,
        embedding_scale=scale,
        layers=tuple(_layer(each) for each in parts),
        norm=norm,
        head=kernels.weight(head),
        variants=tuple(_variant(kind, spec, positions, embedding) for kind in distinct),
        shard=shard,
    )


def _variant(
    kind: AttentionKind, spec: ModelSpec, positions: int, like: Tensor
) -> AttentionVariant:
    """The angles of this kind for `positions` positions, and its window where that is smaller."""
    table = build_table(kind.rope, spec.head_dim, positions, like.dtype, like.device)
    window = kind.window if kind.window is not None and kind.window < positions else None
    return AttentionVariant(table, window)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads tensors by name, from several files, to a device; in `dtype` unless `stored` has another one."""

    files: Mapping[str, TensorFile]
    stored: Mapping[str, Stored]
    dtype: torch.dtype
    device: torch.device

    def has(self, name: str) -> bool:
        return name in self.files

    def tensor(self, name: str) -> Tensor:
        dtype = self.stored[name].dtype or self.dtype
        return self.files[name].tensor(name).to(self.device, dtype, copy=True)


@dataclass(frozen=True, slots=True)
class _Random:
    """Draws each tensor on request. Norms are filled with `norm`."""

    stored: Mapping[str, Stored]
    dtype: torch.dtype
    device: torch.device
    norm: float
    generator: torch.Generator

    def has(self, name: str) -> bool:
        return name in self.stored and not self.stored[name].optional

    def tensor(self, name: str) -> Tensor:
        stored = self.stored[name]
        dtype = stored.dtype or self.dtype
        out = torch.empty(stored.shape, dtype=dtype, device=self.device)
        if name.endswith("norm.weight"):
            return out.fill_(self.norm)
        if name.endswith(SCALES):  # powers of two, which would be infinite
            return out.fill_(UNIT_SCALE)
        if not dtype.is_floating_point:
            return out.random_(generator=self.generator)
        if dtype.itemsize == 1:  # no generator draws 8-bit floats
            return out.to(torch.float32).normal_(0, 1, generator=self.generator).to(dtype)
        return out.normal_(0, RANDOM_SCALE, generator=self.generator)


def _norm(name: str, spec: ModelSpec, weights: TensorSource) -> RmsNorm:
    """The norm of this name in a checkpoint."""
    weight = weights.tensor(name + ".weight")
    if spec.family.norm_offset:
        weight.add_(spec.family.norm_offset)
    return RmsNorm(weight, spec.norm_eps)


@dataclass(frozen=True, slots=True)
class _StoredMatrix:
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
class _LayerParts:
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
            _StoredMatrix(self.weights, linears[part].format(i=self.i), self._order(part))
            for part in parts
        ]
        biases = stacked([matrix(".bias") for matrix in found]) if bias else None
        return self._weight(found, biases, summed=parts[0] in BY_INPUTS)

    def _weight(
        self, parts: Sequence[_StoredMatrix], bias: Tensor | None, *, summed: bool
    ) -> Weight:
        """The weight of `parts`; with `summed` its products are added over the ranks, if there are several."""
        schemes = [self.spec.schemes.of(part.name) for part in parts]
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

    def expert(self, e: int, layout: ExpertLayout) -> ExpertMlp:
        """The weights of expert `e` of this layer."""
        gate, up, down = (
            _StoredMatrix(self.weights, layout.linears[part].format(i=self.i, e=e), None)
            for part in ("gate", "up", "down")
        )
        return ExpertMlp(
            self._weight([gate, up], None, summed=False), self._weight([down], None, summed=True)
        )

    def norm(self, part: str) -> RmsNorm | None:
        """The norm of a part; None if the family has none there."""
        name = self.spec.family.norms.get(part)
        return None if name is None else _norm(name.format(i=self.i), self.spec, self.weights)

    def residual(self, norm: str) -> Residual:
        """The addition to the residual after the norm of a part, if the family has it."""
        return Residual(self.norm(norm), self.spec.residual_scale)

    def qk_norms(self) -> tuple[RmsNorm, RmsNorm]:
        """The norms of queries and of keys."""
        names = (name.format(i=self.i) for name in (QUERY_NORM, KEY_NORM))
        query, key = (_norm(name, self.spec, self.weights) for name in names)
        return query, key

    def sinks(self) -> Tensor | None:
        """The scores of sinks, in float32; None for families without."""
        name = SINKS.format(i=self.i)
        return self.weights.tensor(name).float() if self.spec.family.sinks else None

    def mixture(self, experts: ExpertSpec, layout: ExpertLayout) -> Mixture:
        """The mixture of experts of this layer."""
        router, stacked = layout.router.format(i=self.i), self.spec.stacked(self.i)
        bias = self.weights.tensor(router + ".bias") if layout.stacked else None
        mlps = (
            tuple(self.expert(e, layout) for e in range(experts.count))
            if stacked is None
            else stacked.read(self.weights, self.kernels)
        )
        return Mixture(
            norm=self.norm("mlp_norm"),
            router=self.kernels.weight(self.weights.tensor(router + ".weight"), bias),
            experts=self.kernels.experts(mlps, experts.rule),
            residual=self.residual("mlp_post_norm"),
            kernels=self.kernels,
        )


def _layer(parts: _LayerParts) -> Layer:
    spec, kind = parts.spec, parts.spec.family.qk_norm
    norms = None if kind is None else parts.qk_norms()
    attention = Attention(
        norm=parts.norm("attention_norm"),
        qkv=parts.matrix("q", "k", "v", bias=spec.qkv_bias),
        output=parts.matrix("output", bias=spec.output_bias),
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


def _mlp(parts: _LayerParts) -> Mlp:
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
