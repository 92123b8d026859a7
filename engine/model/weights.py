"""Loads the weights of safetensors files into a `Decoder`.

Does: check all names and shapes of the checkpoint against the spec before reading a tensor, then read its tensors
(`layer_parts`); or draw random weights of the same shapes. Does not: convert formats, or tolerate
deviations: a tensor that is missing, unused or of another shape is a `ModelError` that names it.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import torch
from intaglio.kernels.contracts import Kernels
from intaglio.kernels.mxfp4_weight import UNIT_SCALE
from torch import Tensor

from ..errors import ModelError
from ..parallel.parallel_layout import Parallel
from .attention_kinds import AttentionKind
from .decoder import AttentionVariant, Decoder
from .expected_tensors import check_tensors, coded_tensors, expected_tensors
from .family import EMBEDDING, FINAL_NORM, HEAD
from .file_tensors import FileTensors
from .layer_parts import LayerParts, build_layer, norm_named
from .parallel_reads import ParallelReads
from .rotary import build_table
from .schemes.mxfp4 import SCALES
from .schemes.scheme import Stored
from .sequence_weights import EveryRank
from .sharded_weights import ShardedWeights, sharded_spec
from .spec import ModelSpec
from .staged_layers import stage_layers, staged_spec, vocabulary_tensors
from .tensor_files import TensorFile, files_by_tensor
from .tensor_source import TensorCut, TensorSource, WholeTensors, joined_tensors
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
    parallel: Parallel | None = None,
) -> Decoder:
    """The decoder of the checkpoint in `folder`, with weights in `dtype` and angles for `positions` positions.

    With `parallel`, the part of one rank; other tensors are checked by their headers and not read. Raises `ModelError`.
    """
    begun = begin_decoder(
        folder,
        spec,
        kernels=kernels,
        dtype=dtype,
        device=device,
        positions=positions,
        parallel=parallel,
    )
    begun.finish()
    return begun.decoder


@dataclass(frozen=True, slots=True)
class BegunDecoder:
    """A decoder with matrices that are filled while its kernels are prepared. `reads`: None if nothing is left."""

    decoder: Decoder
    reads: ParallelReads | None = None

    def finish(self) -> None:
        """Return when all values are there, and close the files. Raises `ModelError` if they cannot be read."""
        if self.reads is not None:
            with closing(self.reads):
                self.reads.settle()

    def close(self) -> None:
        """Close the files, also of a decoder that is not needed any more."""
        if self.reads is not None:
            self.reads.close()


def begin_decoder(
    folder: Path,
    spec: ModelSpec,
    *,
    kernels: Kernels,
    dtype: torch.dtype,
    device: torch.device,
    positions: int,
    parallel: Parallel | None = None,
) -> BegunDecoder:
    """The decoder that `load_decoder` gives; where the kernels keep matrices, they may be filled until `finish`."""
    by_name = files_by_tensor(folder, spec.family.prefixes)
    expected = expected_tensors(spec)
    stored = {name: file.stored(name) for name, file in by_name.items()}
    check_tensors(_without_zero_biases(stored, expected, by_name), expected, spec)
    tied_head = {HEAD + ".weight": expected[EMBEDDING + ".weight"]}
    with ExitStack() as failing:
        reads = failing.enter_context(closing(ParallelReads(device)))
        source = FileTensors(by_name, tied_head | expected, dtype, reads)
        if spec.tied and HEAD + ".weight" in by_name:
            embedding, head = source.tensor(EMBEDDING + ".weight"), source.tensor(HEAD + ".weight")
            if not torch.equal(head, embedding):
                raise ModelError(
                    "config.json ties the head to the embedding, but the checkpoint holds another head",
                    where=HEAD + ".weight",
                    hint="set tie_word_embeddings to false to use it",
                )
        begun = BegunDecoder(assemble(spec, source, kernels, positions, parallel), reads)
        failing.pop_all()
    return begun


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
    if drawn:
        random = _Random(stored, dtype, device, 1.0, torch.Generator(device).manual_seed(0))
        return assemble_encoder(folder, spec.vision, random)
    files = files_by_tensor(folder, spec.family.prefixes)
    with closing(ParallelReads(device)) as reads:
        return assemble_encoder(folder, spec.vision, FileTensors(files, stored, dtype, reads))


def random_decoder(
    spec: ModelSpec,
    *,
    kernels: Kernels,
    dtype: torch.dtype,
    device: torch.device,
    positions: int,
    parallel: Parallel | None = None,
) -> Decoder:
    """A decoder with random weights, for measurements: norms 1, floats N(0, 0.02), integers uniform."""
    generator = torch.Generator(device).manual_seed(0)
    norm = 1 - spec.family.norm_offset
    weights = _Random(expected_tensors(spec), dtype, device, norm, generator)
    return assemble(spec, weights, kernels, positions, parallel)


def assemble(
    spec: ModelSpec,
    whole: WholeTensors,
    kernels: Kernels,
    positions: int,
    parallel: Parallel | None = None,
) -> Decoder:
    """The decoder of the weights in `whole` of the model `spec`; the caller settles them.

    With `parallel`, the part of one rank; `Decoder.spec` then has the heads and the layers of that rank.
    """
    place = Parallel() if parallel is None else parallel
    whole_spec = spec
    matrices, stage, shard = place.matrices, place.stage, None
    every = EveryRank.of(spec, whole, kernels, matrices)
    weights: TensorSource = whole
    if matrices is not None:
        weights = ShardedWeights.of(whole, spec, matrices.layout)
        shard = VocabularyShard.of(spec.vocab_size, matrices)
        spec = sharded_spec(spec, matrices.layout)
    own = range(spec.layers) if stage is None else stage_layers(whole_spec, stage.layout)
    embedding, head = vocabulary_tensors(spec, weights, stage)
    scale = spec.embedding_scale
    if scale is not None and spec.family.embedding_scale is not None:
        # The product is rounded once more in training, so the factor has the embedding's precision.
        scale = float(torch.tensor(scale, dtype=embedding.dtype))
    kinds = spec.kinds[own.start : own.stop]
    distinct = [kind for i, kind in enumerate(kinds) if kind not in kinds[:i]]
    read = weights if every is None else every.own_weights
    layers, matrices_of_ranks = [], []
    ahead = coded_tensors(whole_spec)
    for i in own:
        for soon in range(i, min(i + 2, own.stop)):
            whole.expect(ahead.get(soon, ()))
        layer = build_layer(
            LayerParts(i, spec, read, kernels, distinct.index(spec.kinds[i]), matrices)
        )
        layers.append(layer)
        if every is not None:
            matrices_of_ranks.append(every.matrices(i, layer))
    if not kernels.keeps_matrices:
        weights.settle()
    norm = norm_named(FINAL_NORM, spec, weights)
    if spec.logit_divisor is not None:
        norm.weight.div_(spec.logit_divisor)
    return Decoder(
        spec=spec if stage is None else staged_spec(spec, own),
        kernels=kernels,
        embedding=embedding,
        embedding_scale=scale,
        layers=tuple(layers),
        norm=norm,
        head=None if head is None else kernels.weight(head),
        variants=tuple(_variant(kind, spec, positions, embedding) for kind in distinct),
        shard=shard,
        stage=stage,
        divided=None if every is None else every.divided(matrices_of_ranks),
    )


def _variant(
    kind: AttentionKind, spec: ModelSpec, positions: int, like: Tensor
) -> AttentionVariant:
    """The angles of this kind for `positions` positions, and its window where that is smaller."""
    table = build_table(kind.rope, spec.rotary_dim, positions, like.dtype, like.device)
    window = kind.window if kind.window is not None and kind.window < positions else None
    return AttentionVariant(table, window)


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

    def shape(self, name: str) -> tuple[int, ...]:
        return self.stored[name].shape

    def joined(self, pieces: Sequence[TensorCut]) -> Tensor:
        return joined_tensors(self, pieces)

    def expect(self, names: Sequence[str]) -> None:
        """Nothing is read."""

    def settle(self) -> None:
        """Nothing comes later."""

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
