"""The part of a checkpoint's tensors that one rank holds.

Does: divide matrices by outputs (query, key, value, gate, up) or by inputs (attention output, down), and the vocabulary
by tokens; describe the model of one rank as a `ModelSpec` with fewer heads and a narrower MLP. Does not: read files, or
compute.

Every rank keeps whole heads, so attention needs no other rank. Where there are fewer key heads than ranks, ranks keep a
copy of the key head that their query heads share.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..errors import ConfigError
from ..parallel.parallel_layout import ParallelLayout
from .family import EMBEDDING, HEAD, SINKS
from .schemes.coded import Coded
from .schemes.mxfp4 import Mxfp4Experts
from .schemes.scheme import Scheme, Schemes
from .schemes.sharded_codes import CodesCut, ShardedCodes
from .sharded_experts import StackPart, coded_groups
from .spec import ModelSpec
from .tensor_source import TensorCut, WholeTensors

BY_INPUTS = ("output", "down")
"""Parts of a layer of which a rank has the columns of its own heads, or of its own part of the MLP."""


def refuse_indivisible(spec: ModelSpec, tp: int) -> None:
    """Raise `ConfigError` if the model cannot be divided into `tp` parts."""
    heads, keys = spec.heads, spec.kv_heads
    experts = 0 if spec.experts is None else spec.experts.ffn
    groups = coded_groups(spec)
    reasons = [
        (heads % tp, f"{heads} query heads"),
        (keys % tp and tp % keys, f"{keys} key heads"),
        (spec.ffn % tp, f"{spec.ffn} hidden units of the MLP"),
        (experts % tp, f"{experts} hidden units of an expert"),
        ((groups or 0) % tp, f"{groups} groups of hidden units of an expert in MXFP4"),
    ]
    for rest, what in reasons:
        if rest:
            raise ConfigError(
                f"{what} cannot be divided among {tp} ranks",
                where="tp",
                hint=f"set tp to a divisor of {heads} and {groups or spec.ffn}",
            )
    last = ParallelLayout(tp, tp - 1).tokens(spec.vocab_size)
    if last.start == last.stop:
        raise ConfigError(
            f"{spec.vocab_size} tokens are too few for {tp} ranks", where="tp", hint="lower tp"
        )
    if spec.family.latent or spec.vision is not None:
        raise ConfigError(
            f"{spec.family.name} models run on one device only", where="tp", hint="set tp to 1"
        )
    if spec.family.qk_norm == "whole":
        raise ConfigError(
            f"{spec.family.name} models norm all heads together, which ranks cannot do apart",
            where="tp",
            hint="set tp to 1",
        )


def sharded_spec(spec: ModelSpec, layout: ParallelLayout) -> ModelSpec:
    """The model of one rank: its heads and its part of the MLPs. The vocabulary is that of the whole model.

    Matrices of quantised checkpoints are cut when they are decoded, those of experts in MXFP4 when they are read.
    """
    experts, schemes = spec.experts, spec.schemes
    if not isinstance(schemes, Mxfp4Experts):
        schemes = ShardedSchemes(schemes, MatrixCuts(spec, layout))
    return replace(
        spec,
        heads=spec.heads // layout.tp,
        kv_heads=max(1, spec.kv_heads // layout.tp),
        ffn=spec.ffn // layout.tp,
        schemes=schemes,
        experts=None if experts is None else replace(experts, ffn=experts.ffn // layout.tp),
    )


@dataclass(frozen=True, slots=True)
class ShardedSchemes:
    """`whole` with coded matrices cut to the part of one rank. See `Schemes`."""

    whole: Schemes
    cuts: "MatrixCuts"

    def of(self, name: str) -> Scheme:
        """See `Schemes`."""
        scheme = self.whole.of(name)
        return ShardedCodes(scheme, self.cuts.of_codes) if isinstance(scheme, Coded) else scheme


@dataclass(frozen=True, slots=True)
class ShardedWeights:
    """The tensors of `whole`, a checkpoint of the model of `cuts`, cut to the part of one rank. See `TensorSource`.

    Tensors of coded matrices are whole: `ShardedSchemes` cuts what they encode.
    """

    whole: WholeTensors
    cuts: "MatrixCuts"

    @classmethod
    def of(cls, whole: WholeTensors, spec: ModelSpec, layout: ParallelLayout) -> "ShardedWeights":
        """The part of this rank of a checkpoint of `spec`."""
        return cls(whole, MatrixCuts(spec, layout))

    @property
    def dtype(self) -> torch.dtype:
        """See `TensorSource`."""
        return self.whole.dtype

    def has(self, name: str) -> bool:
        """See `TensorSource`."""
        return self.whole.has(name)

    def tensor(self, name: str) -> Tensor:
        """See `TensorSource`. The bias of a matrix divided by inputs is that of the first rank; others add zeros."""
        tensor = self.whole.tensor(name)
        module, _, kind = name.rpartition(".")
        spec, layout = self.cuts.spec, self.cuts.layout
        if module in (EMBEDDING, HEAD):
            return tensor[layout.tokens(spec.vocab_size)].clone()
        if kind == SINKS.rpartition(".")[2]:
            return tensor[layout.part(spec.heads)].clone()
        stack = StackPart.named(name, spec)
        if stack is not None:
            return stack.cut(tensor, spec, layout)
        part = _part_of(module, spec)
        if part is None:
            return tensor
        if kind != "bias" and isinstance(spec.schemes.of(module), Coded):
            return tensor
        if part not in BY_INPUTS:
            return torch.cat([tensor[rows] for rows in self.cuts.outputs(part, tensor.shape[0])])
        if kind == "bias":
            return tensor if layout.rank == 0 else tensor.zero_()
        return tensor[:, self.cuts.inputs(part, tensor.shape[1])].clone()

    def joined(self, pieces: Sequence[TensorCut]) -> Tensor:
        """See `TensorSource`. Of whole unquantised matrices; nothing else is read of them than this rank's part."""
        return self.whole.joined([own for piece in pieces for own in self._own(piece.name)])

    def settle(self) -> None:
        """See `TensorSource`."""
        self.whole.settle()

    def _own(self, name: str) -> list[TensorCut]:
        """The parts of an unquantised matrix that this rank keeps."""
        module = name.rpartition(".")[0]
        if module in (EMBEDDING, HEAD):
            return [TensorCut(name, self.cuts.layout.tokens(self.cuts.spec.vocab_size))]
        part = _part_of(module, self.cuts.spec)
        if part is None:
            return [TensorCut(name)]
        outputs, inputs = self.whole.shape(name)
        if part in BY_INPUTS:
            return [TensorCut(name, columns=self.cuts.inputs(part, inputs))]
        return [TensorCut(name, rows) for rows in self.cuts.outputs(part, outputs)]


@dataclass(frozen=True, slots=True)
class MatrixCuts:
    """Which outputs or inputs of the matrices of a model a rank keeps. `spec` is that of the whole model."""

    spec: ModelSpec
    layout: ParallelLayout

    def of_codes(self, name: str, outputs: int, inputs: int) -> CodesCut:
        """The cut of the matrix [outputs, inputs] of this name in a checkpoint."""
        part = _part_of(name, self.spec)
        if part is None:
            return CodesCut(None, None)
        if part in BY_INPUTS:
            return CodesCut(None, self.inputs(part, inputs))
        return CodesCut(self.outputs(part, outputs), None)

    def inputs(self, part: str, inputs: int) -> slice:
        """The columns that this rank keeps of a matrix with this many inputs."""
        if part == "output":
            return _scaled(self.layout.part(self.spec.heads), self.spec.head_dim)
        return self.layout.part(inputs)

    def outputs(self, part: str, outputs: int) -> Sequence[slice]:
        """The rows of a matrix, or of its bias, that this rank keeps."""
        spec, layout = self.spec, self.layout
        queries = _scaled(layout.part(spec.heads), spec.head_dim)
        keys = _scaled(layout.shared_part(spec.kv_heads), spec.head_dim)
        first_key = spec.heads * spec.head_dim
        first_value = first_key + spec.kv_heads * spec.head_dim
        if part == "qkv":
            return queries, _moved(keys, first_key), _moved(keys, first_value)
        if part == "gate_up":
            own = layout.part(outputs // 2)
            return own, _moved(own, outputs // 2)
        return ({"q": queries, "k": keys, "v": keys}.get(part) or layout.part(outputs),)


def _scaled(part: slice, factor: int) -> slice:
    return slice(part.start * factor, part.stop * factor)


def _moved(part: slice, by: int) -> slice:
    return slice(part.start + by, part.stop + by)


def _part_of(module: str, spec: ModelSpec) -> str | None:
    """The part of a layer that a module of a checkpoint is, such as "q" or "down"; None for norms and routers."""
    tail = module.rpartition(".")[2]
    experts = spec.family.experts
    names = {**spec.family.linears, **({} if experts is None else experts.linears)}
    # The last words of names differ by part within a family, and no norm or router has one of them.
    return next((part for part, name in names.items() if name.rpartition(".")[2] == tail), None)
