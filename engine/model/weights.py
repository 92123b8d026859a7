"""Weights from safetensors files into a ready `Decoder`.

Does: check every name and shape of the checkpoint against the spec before reading one, then read tensor by tensor,
fusing query/key/value and gate/up as they arrive; or draw random weights of the same shapes. Does not: convert
formats, or forgive: a tensor that is missing, not used or of another shape is a `ModelError` that names it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ...kernels.contracts import Kernels, QKNorm, RmsNorm
from ..errors import ModelError
from .decoder import Decoder
from .families import DERIVED, EMBEDDING, FINAL_NORM, HEAD, LAYER
from .layers import Attention, Layer, Matrix, Mlp
from .rope import RopeTable, build_table
from .spec import ModelSpec

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
RANDOM_SCALE = 0.02
LISTED = 12  # how many names an error spells out


def load_decoder(
    folder: Path,
    spec: ModelSpec,
    *,
    kernels: Kernels,
    dtype: torch.dtype,
    device: torch.device,
    positions: int,
) -> Decoder:
    """The decoder of the checkpoint in `folder`, weights in `dtype`, angles for `positions` positions.

    Raises `ModelError`.
    """
    files = _files(folder)
    shapes = {name: tuple(file.shape(name)) for file in files for name in file.names}
    _check(shapes, expected_shapes(spec), spec)
    by_name = {name: file for file in files for name in file.names}
    reader = _Reader(by_name, dtype, device)
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
    """A decoder of that shape whose weights mean nothing, to measure with: norms 1, all else from N(0, 0.02)."""
    generator = torch.Generator(device).manual_seed(0)
    weights = _Random(expected_shapes(spec), dtype, device, generator)
    return assemble(
        spec, weights, kernels, build_table(spec.rope, spec.head_dim, positions, dtype, device)
    )


class Weights(Protocol):
    """Tensors by their names in a checkpoint, in the dtype and on the device that are wanted."""

    def tensor(self, name: str) -> Tensor:
        """One of them, the caller's own."""
        ...


def assemble(spec: ModelSpec, weights: Weights, kernels: Kernels, rope: RopeTable) -> Decoder:
    """The decoder of these weights, read one after the other."""
    embedding = weights.tensor(EMBEDDING + ".weight")
    head = embedding if spec.tied else weights.tensor(HEAD + ".weight")
    return Decoder(
        spec=spec,
        kernels=kernels,
        embedding=embedding,
        layers=tuple(_layer(i, spec, weights, kernels) for i in range(spec.layers)),
        norm=RmsNorm(weights.tensor(FINAL_NORM + ".weight"), spec.norm_eps),
        head=Matrix(kernels.pack(head)),
        rope=rope,
    )


def expected_shapes(spec: ModelSpec) -> dict[str, tuple[int, ...]]:
    """Every tensor a checkpoint of this spec must hold, with its shape [outputs, inputs] or [size]."""
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
    norms = {"attention_norm": spec.hidden, "mlp_norm": spec.hidden}
    if spec.family.qk_norm:
        norms |= {"q_norm": spec.head_dim, "k_norm": spec.head_dim}
    shapes: dict[str, tuple[int, ...]] = {
        EMBEDDING + ".weight": (spec.vocab_size, spec.hidden),
        FINAL_NORM + ".weight": (spec.hidden,),
    }
    if not spec.tied:
        shapes[HEAD + ".weight"] = (spec.vocab_size, spec.hidden)
    for i in range(spec.layers):
        for part, (outputs, inputs, bias) in linears.items():
            name = LAYER[part].format(i=i)
            shapes[name + ".weight"] = (outputs, inputs)
            if bias:
                shapes[name + ".bias"] = (outputs,)
        for part, size in norms.items():
            shapes[LAYER[part].format(i=i) + ".weight"] = (size,)
    return shapes


class _Handle(Protocol):
    """What is used of an open safetensors file; the library's own types say less."""

    def keys(self) -> list[str]: ...

    def get_slice(self, name: str) -> Any: ...

    def get_tensor(self, name: str) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class _File:
    """One safetensors file, open. Tensors are read when asked for."""

    path: Path
    handle: _Handle
    names: tuple[str, ...]

    def shape(self, name: str) -> list[int]:
        return list(self.handle.get_slice(name).get_shape())

    def tensor(self, name: str) -> Tensor:
        return self.handle.get_tensor(name)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads tensors by name, wherever they are, into the wanted dtype and device."""

    files: Mapping[str, _File]
    dtype: torch.dtype
    device: torch.device

    def tensor(self, name: str) -> Tensor:
        return self.files[name].tensor(name).to(self.device, self.dtype, copy=True)


@dataclass(frozen=True, slots=True)
class _Random:
    """Draws each tensor when it is asked for."""

    shapes: Mapping[str, tuple[int, ...]]
    dtype: torch.dtype
    device: torch.device
    generator: torch.Generator

    def tensor(self, name: str) -> Tensor:
        out = torch.empty(self.shapes[name], dtype=self.dtype, device=self.device)
        if name.endswith("norm.weight"):
            return out.fill_(1)
        return out.normal_(0, RANDOM_SCALE, generator=self.generator)


def _layer(i: int, spec: ModelSpec, weights: Weights, kernels: Kernels) -> Layer:
    def stacked(parts: tuple[str, ...], kind: str) -> Tensor:
        """Tensors one under the other, along the outputs."""
        tensors = [weights.tensor(LAYER[part].format(i=i) + kind) for part in parts]
        return tensors[0] if len(tensors) == 1 else torch.cat(tensors)

    def matrix(*parts: str, bias: bool) -> Matrix:
        packed = kernels.pack(stacked(parts, ".weight"))
        return Matrix(packed, stacked(parts, ".bias") if bias else None)

    def norm(part: str) -> Tensor:
        return weights.tensor(LAYER[part].format(i=i) + ".weight")

    eps = spec.norm_eps
    return Layer(
        Attention(
            kernels=kernels,
            norm=RmsNorm(norm("attention_norm"), eps),
            qkv=matrix("q", "k", "v", bias=spec.qkv_bias),
            output=matrix("output", bias=spec.output_bias),
            qk_norm=QKNorm(norm("q_norm"), norm("k_norm"), eps) if spec.family.qk_norm else None,
            head_dim=spec.head_dim,
        ),
        Mlp(
            kernels=kernels,
            norm=RmsNorm(norm("mlp_norm"), eps),
            gate_up=matrix("gate", "up", bias=spec.mlp_bias),
            down=matrix("down", bias=spec.mlp_bias),
        ),
    )


def _files(folder: Path) -> list[_File]:
    """The files of a checkpoint, opened: those of the index where there is one, else the single one."""
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


def _check(
    found: Mapping[str, tuple[int, ...]], expected: Mapping[str, tuple[int, ...]], spec: ModelSpec
) -> None:
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
    found: Mapping[str, tuple[int, ...]], expected: Mapping[str, tuple[int, ...]], allowed: set[str]
) -> Iterator[str]:
    missing = sorted(expected.keys() - found.keys())
    if missing:
        yield f"missing {_some(missing)}"
    unused = sorted(found.keys() - expected.keys() - allowed)
    if unused:
        yield f"not used {_some(unused)}"
    wrong = [
        f"{name} is {list(found[name])}, not {list(shape)}"
        for name, shape in expected.items()
        if name in found and found[name] != shape
    ]
    if wrong:
        yield f"wrong shape: {_some(wrong)}"


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:LISTED])
    return shown if len(names) <= LISTED else f"{shown} and {len(names) - LISTED} more"
