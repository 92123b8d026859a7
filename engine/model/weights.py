"""Loads the weights of safetensors files into a `Decoder`.

Does: check all names and shapes of the checkpoint against the spec before reading a tensor, then read tensor by tensor,
fusing query/key/value and gate/up; or draw random weights of the same shapes. Does not: convert formats, or tolerate
deviations: a tensor that is missing, unused or of another shape is a `ModelError` that names it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, Protocol

import torch
from intaglio.kernels.contracts import Gate, Kernels, QKNorm, RmsNorm, Weight
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..errors import ModelError
from .decoder import Decoder
from .families import DERIVED, EMBEDDING, FINAL_NORM, HEAD, LAYER
from .layers import Attention, GatedMlp, Layer, Mlp
from .rotary import RopeTable, build_table
from .schemes.scheme import Dense, Stored, stacked
from .spec import ModelSpec

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
RANDOM_SCALE = 0.02
LISTED = 12  # the most names that an error lists

# Dtypes of safetensors files that are never converted.
_INTEGERS = {
    "I8": torch.int8,
    "U8": torch.uint8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "BOOL": torch.bool,
}


def load_decoder(
    folder: Path,
    spec: ModelSpec,
    *,
    kernels: Kernels,
    dtype: torch.dtype,
    device: torch.device,
    positions: int,
) -> Decoder:
    """The decoder of the checkpoint in `folder`, with weights in `dtype` and angles for `positions` positions.

    Raises `ModelError`.
    """
    files = _files(folder)
    by_name = {name: file for file in files for name in file.names}
    expected = _expected(spec)
    _check({name: file.stored(name) for name, file in by_name.items()}, expected, spec)
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
    return assemble(
        spec, reader, kernels, build_table(spec.rope, spec.head_dim, positions, dtype, device)
    )


def random_decoder(
    spec: ModelSpec,
    *,
    kernels: Kernels,
    dtype: torch.dtype,
    device: torch.device,
    positions: int,
) -> Decoder:
    """A decoder with random weights, for measurements: norms 1, floats N(0, 0.02), integers uniform."""
    generator = torch.Generator(device).manual_seed(0)
    norm = 1 - spec.family.norm_offset
    weights = _Random(_expected(spec), dtype, device, norm, generator)
    return assemble(
        spec, weights, kernels, build_table(spec.rope, spec.head_dim, positions, dtype, device)
    )


class Weights(Protocol):
    """Tensors by their names in a checkpoint, on the device, in the dtype of `Stored`."""

    def tensor(self, name: str) -> Tensor:
        """The tensor of this name, owned by the caller."""
        ...


def assemble(spec: ModelSpec, weights: Weights, kernels: Kernels, rope: RopeTable) -> Decoder:
    """The decoder of these weights, which are read one after the other."""
    embedding = weights.tensor(EMBEDDING + ".weight")
    scale = spec.embedding_scale
    if scale is not None:
        # The product is rounded once more in training, so the factor has the embedding's precision.
        scale = float(torch.tensor(scale, dtype=embedding.dtype))
    head = embedding if spec.tied else weights.tensor(HEAD + ".weight")
    return Decoder(
        spec=spec,
        kernels=kernels,
        embedding=embedding,
        embedding_scale=scale,
        layers=tuple(_layer(i, spec, weights, kernels) for i in range(spec.layers)),
        norm=_norm(FINAL_NORM, spec, weights),
        head=kernels.weight(head),
        rope=rope,
    )


def expected_shapes(spec: ModelSpec) -> dict[str, tuple[int, ...]]:
    """The shapes of all tensors of an unquantised checkpoint of this spec, by name: [outputs, inputs] or [size]."""
    dense = replace(spec, scheme=Dense())
    return {name: stored.shape for name, stored in _expected(dense).items()}


def stored_bytes(spec: ModelSpec, element: int = 2) -> dict[str, int]:
    """The bytes in memory of all tensors, by name; `element` is the size of an element in the dtype of the model."""
    return {
        name: prod(stored.shape) * (element if stored.dtype is None else stored.dtype.itemsize)
        for name, stored in _expected(spec).items()
    }


def _expected(spec: ModelSpec) -> dict[str, Stored]:
    """All tensors of a checkpoint of this spec, by name."""
    queries, keys = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
    linears = {
        "q": (queries, spec.hidden, spec.qkv_bias),
        "k": (keys, spec.hidden, spec.qkv_bias),
        "v": (keys, spec.hidden, spec.qkv_bias),
        "output": (spec.hidden, queries, spec.output_bias),
        "gate": (spec.ffn, spec.hidden, spec.mlp_bias),
        "up": (spec.ffn, spec.hidden, spec.mlp_bias),
        "down": (spec.hidden, spec.ffn, spec.mlp_bias),
    }
    norms = [(name, spec.hidden) for name in spec.family.norms.values()]
    if spec.family.qk_norm:
        norms += [(LAYER["q_norm"], spec.head_dim), (LAYER["k_norm"], spec.head_dim)]
    # A norm weight that is stored as its difference from 1 keeps its precision only in float32.
    norm_dtype = torch.float32 if spec.family.norm_offset else None
    matrix = Stored((spec.vocab_size, spec.hidden))
    tensors = {
        EMBEDDING + ".weight": matrix,
        FINAL_NORM + ".weight": Stored((spec.hidden,), norm_dtype),
    }
    if not spec.tied:
        tensors[HEAD + ".weight"] = matrix
    for i in range(spec.layers):
        for part, (outputs, inputs, bias) in linears.items():
            name = LAYER[part].format(i=i)
            for suffix, stored in spec.scheme.tensors(outputs, inputs).items():
                tensors[name + suffix] = stored
            if bias:
                tensors[name + ".bias"] = Stored((outputs,))
        for name, size in norms:
            tensors[name.format(i=i) + ".weight"] = Stored((size,), norm_dtype)
    return tensors


class _Handle(Protocol):
    """The methods used of an open safetensors file; the library's own types are less precise."""

    def keys(self) -> list[str]: ...

    def get_slice(self, name: str) -> Any: ...

    def get_tensor(self, name: str) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class _File:
    """One open safetensors file. Tensors are read on request."""

    path: Path
    handle: _Handle
    names: tuple[str, ...]

    def stored(self, name: str) -> Stored:
        found = self.handle.get_slice(name)
        return Stored(tuple(found.get_shape()), _INTEGERS.get(found.get_dtype()))

    def tensor(self, name: str) -> Tensor:
        return self.handle.get_tensor(name)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads tensors by name, from several files, to a device; in `dtype` unless `stored` has another one."""

    files: Mapping[str, _File]
    stored: Mapping[str, Stored]
    dtype: torch.dtype
    device: torch.device

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

    def tensor(self, name: str) -> Tensor:
        stored = self.stored[name]
        dtype = stored.dtype or self.dtype
        out = torch.empty(stored.shape, dtype=dtype, device=self.device)
        if name.endswith("norm.weight"):
            return out.fill_(self.norm)
        if not dtype.is_floating_point:
            return out.random_(generator=self.generator)
        return out.normal_(0, RANDOM_SCALE, generator=self.generator)


def _norm(name: str, spec: ModelSpec, weights: Weights) -> RmsNorm:
    """The norm of this name in a checkpoint."""
    weight = weights.tensor(name + ".weight")
    if spec.family.norm_offset:
        weight.add_(spec.family.norm_offset)
    return RmsNorm(weight, spec.norm_eps)


@dataclass(frozen=True, slots=True)
class _LayerParts:
    """Builds the weights and norms of layer `i`, by part of the decoder."""

    i: int
    spec: ModelSpec
    weights: Weights
    kernels: Kernels

    def matrix(self, *parts: str, bias: bool) -> Weight:
        """The weight of these parts, concatenated along the outputs."""
        names = [LAYER[part].format(i=self.i) for part in parts]
        biases = stacked([self.weights.tensor(name + ".bias") for name in names]) if bias else None
        readers = [lambda suffix, name=name: self.weights.tensor(name + suffix) for name in names]
        return self.spec.scheme.weight(readers, biases, self.kernels)

    def norm(self, part: str) -> RmsNorm | None:
        """The norm of a part; None if the family has none there."""
        name = self.spec.family.norms.get(part)
        return None if name is None else _norm(name.format(i=self.i), self.spec, self.weights)

    def qk_norm(self) -> QKNorm | None:
        """The norms of query and key heads; None if the family has none."""
        if not self.spec.family.qk_norm:
            return None
        names = (LAYER[part].format(i=self.i) for part in ("q_norm", "k_norm"))
        query, key = (_norm(name, self.spec, self.weights) for name in names)
        return QKNorm(query.weight, key.weight, self.spec.norm_eps)


def _layer(i: int, spec: ModelSpec, weights: Weights, kernels: Kernels) -> Layer:
    parts = _LayerParts(i, spec, weights, kernels)
    attention = Attention(
        norm=parts.norm("attention_norm"),
        qkv=parts.matrix("q", "k", "v", bias=spec.qkv_bias),
        output=parts.matrix("output", bias=spec.output_bias),
        post_norm=parts.norm("attention_post_norm"),
        qk_norm=parts.qk_norm(),
        head_dim=spec.head_dim,
    )
    return Layer(attention, _mlp(parts))


def _mlp(parts: _LayerParts) -> Mlp:
    spec = parts.spec
    return GatedMlp(
        norm=parts.norm("mlp_norm"),
        gate_up=parts.matrix("gate", "up", bias=spec.mlp_bias),
        gate=Gate(spec.activation),
        down=parts.matrix("down", bias=spec.mlp_bias),
        post_norm=parts.norm("mlp_post_norm"),
    )


def _files(folder: Path) -> list[_File]:
    """The opened files of a checkpoint: those of the index if there is one, else the single file."""
    index = folder / INDEX
    if not index.exists():
        return [_open(folder / SINGLE)]
    try:
        weight_map = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        names = sorted(set(weight_map.values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{index} has no usable weight_map", where=str(index)) from error
    if any(Path(name).name != name for name in names):
        raise ModelError(f"{index} points outside its folder", where=str(index))
    files = [_open(folder / name) for name in names]
    held = {name: file.path.name for file in files for name in file.names}
    if held != weight_map:
        wrong = sorted(name for name, _ in held.items() ^ weight_map.items())
        raise ModelError(f"{index} disagrees with its files about {_some(wrong)}", where=str(index))
    return files


def _open(path: Path) -> _File:
    if not path.is_file():
        raise ModelError(
            f"there is no {path}",
            where=str(path),
            hint=f"a checkpoint has {SINGLE}, or {INDEX} and the files it names",
        )
    try:
        handle: _Handle = safe_open(str(path), framework="pt")
    except (SafetensorError, OSError) as error:
        raise ModelError(f"cannot read {path}: {error}", where=str(path)) from error
    return _File(path, handle, tuple(handle.keys()))


def _check(found: Mapping[str, Stored], expected: Mapping[str, Stored], spec: ModelSpec) -> None:
    allowed = {name for name in found if name.endswith(DERIVED)}
    if spec.tied:
        allowed.add(HEAD + ".weight")
    complaints = list(_complaints(found, expected, allowed))
    if complaints:
        raise ModelError(
            f"the weights do not fit a {spec.family.name} model: " + "; ".join(complaints),
            hint="check config.json against the checkpoint",
        )


def _complaints(
    found: Mapping[str, Stored], expected: Mapping[str, Stored], allowed: set[str]
) -> Iterator[str]:
    missing = sorted(expected.keys() - found.keys())
    if missing:
        yield f"missing {_some(missing)}"
    unused = sorted(found.keys() - expected.keys() - allowed)
    if unused:
        yield f"not used {_some(unused)}"
    both = [(name, found[name], stored) for name, stored in expected.items() if name in found]
    wrong = [
        f"{name} is {list(got.shape)}, not {list(stored.shape)}"
        for name, got, stored in both
        if got.shape != stored.shape
    ]
    if wrong:
        yield f"wrong shape: {_some(wrong)}"
    mistyped = [
        f"{name} is of {_kind(got.dtype)}, not {_kind(_integer(stored.dtype))}"
        for name, got, stored in both
        if got.dtype != _integer(stored.dtype)
    ]
    if mistyped:
        yield f"wrong dtype: {_some(mistyped)}"


def _integer(dtype: torch.dtype | None) -> torch.dtype | None:
    """`dtype` if it is an integer type; None for types that are converted."""
    return dtype if dtype in _INTEGERS.values() else None


def _kind(dtype: torch.dtype | None) -> str:
    return "floats" if dtype is None else str(dtype).removeprefix("torch.")


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:LISTED])
    return shown if len(names) <= LISTED else f"{shown} and {len(names) - LISTED} more"
