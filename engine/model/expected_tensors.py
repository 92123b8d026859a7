"""The tensors that a spec expects in a checkpoint, and the comparison with those found.

Does: name all tensors with their shapes; compare them with those of the files. Does not: read tensors.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

import torch

from ..errors import ModelError
from .family import (
    CORRECTION,
    DERIVED,
    EMBEDDING,
    FINAL_NORM,
    HEAD,
    KEY_NORM,
    KV_SCALES,
    QUERY_NORM,
    SINKS,
)
from .schemes.mxfp4 import Mxfp4Experts
from .schemes.scheme import Dense, Stored, Uniform
from .spec import ModelSpec
from .tensor_files import UNCONVERTED, some_of
from .vision_weights import vision_tensors

LAYER = re.compile(r"model\.layers\.(\d+)\.")


def expected_shapes(spec: ModelSpec) -> dict[str, tuple[int, ...]]:
    """The shapes of all tensors of an unquantised checkpoint of this spec, by name: [outputs, inputs] or [size]."""
    dense = replace(spec, schemes=Uniform())
    return {name: stored.shape for name, stored in expected_tensors(dense).items()}


def stored_bytes(spec: ModelSpec, element: int = 2) -> dict[str, int]:
    """The bytes in memory of all tensors, by name; `element` is the size of an element in the dtype of the model.

    Quantised matrices stay as they are in bfloat16, and are converted while they are loaded in float32, but for MXFP4.
    """
    compact = element == torch.bfloat16.itemsize or isinstance(spec.schemes, Mxfp4Experts)
    held = spec if compact else replace(spec, schemes=Uniform())
    found = {
        name: prod(stored.shape) * (element if stored.dtype is None else stored.dtype.itemsize)
        for name, stored in expected_tensors(held).items()
        if not stored.optional
    }
    absorbed, dense = absorbed_matrices(spec), expected_shapes(spec)
    return {
        name: size for name, size in found.items() if name.rpartition(".")[0] not in absorbed
    } | {name: prod(dense[name]) * element for name in (each + ".weight" for each in absorbed)}


def expected_tensors(spec: ModelSpec) -> dict[str, Stored]:
    """All tensors of a checkpoint of this spec, by name."""
    # A norm weight that is stored as its difference from 1, or divided, keeps its precision only in float32.
    norm_dtype = torch.float32 if spec.family.norm_offset else None
    final_dtype = torch.float32 if spec.logit_divisor is not None else norm_dtype
    matrix = Stored((spec.vocab_size, spec.hidden))
    tensors = {
        EMBEDDING + ".weight": matrix,
        FINAL_NORM + ".weight": Stored((spec.hidden,), final_dtype),
    }
    if not spec.tied:
        tensors[HEAD + ".weight"] = matrix
    for i in range(spec.layers):
        for name, shape in layer_matrices(spec, i).items():
            for suffix, stored in spec.schemes.of(name).tensors(*shape).items():
                tensors[name + suffix] = stored
        for name, size in _biases(spec, i).items():
            tensors[name + ".bias"] = Stored((size,))
        experts, layout = spec.mixes(i), spec.family.experts
        if experts is not None and layout is not None:
            router = layout.router.format(i=i) + ".weight"
            grouped = experts.rule.grouped  # these models route in float32
            dtype = None if grouped is None else torch.float32
            tensors[router] = Stored((experts.count, spec.hidden), dtype)
            if grouped is not None and grouped.sigmoid:
                tensors[layout.router.format(i=i) + CORRECTION] = Stored((experts.count,), dtype)
            if layout.stacked is not None and layout.stacked.biases:
                tensors[layout.router.format(i=i) + ".bias"] = Stored((experts.count,))
        stacked = spec.stacked(i)
        if stacked is not None:
            tensors |= stacked.tensors()
        if spec.family.sinks:
            tensors[SINKS.format(i=i)] = Stored((spec.heads,))
        for name, size in _norms(spec):
            tensors[name.format(i=i) + ".weight"] = Stored((size,), norm_dtype)
    return tensors if spec.vision is None else tensors | vision_tensors(spec.vision)


def _sizes(spec: ModelSpec) -> dict[str, tuple[int, int, bool]]:
    """Outputs, inputs, and whether there is a bias, of each linear layer that families have."""
    queries, keys = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
    mlp = {
        "gate": (spec.ffn, spec.hidden, spec.mlp_bias),
        "up": (spec.ffn, spec.hidden, spec.mlp_bias),
        "gate_up": (2 * spec.ffn, spec.hidden, spec.mlp_bias),
        "down": (spec.hidden, spec.ffn, spec.mlp_bias),
    }
    if spec.latent is not None:
        biased = {"q_down": spec.qkv_bias, "kv_down": spec.qkv_bias, "output": spec.output_bias}
        matrices = spec.latent.matrices(spec.heads, spec.hidden)
        return mlp | {part: (*size, biased.get(part, False)) for part, size in matrices.items()}
    return mlp | {
        "q": (queries, spec.hidden, spec.qkv_bias),
        "k": (keys, spec.hidden, spec.qkv_bias),
        "v": (keys, spec.hidden, spec.qkv_bias),
        "qkv": (queries + 2 * keys, spec.hidden, spec.qkv_bias),
        "output": (spec.hidden, queries, spec.output_bias),
    }


MLP_PARTS = ("gate", "up", "gate_up", "down")


def _linears(spec: ModelSpec, i: int) -> dict[str, str]:
    """The names of the linear layers of layer `i`, by part, without those of experts."""
    absent: tuple[str, ...] = () if spec.latent is None else spec.latent.absent
    if spec.mixes(i) is not None:
        absent += MLP_PARTS
    names = spec.family.linears
    return {part: name.format(i=i) for part, name in names.items() if part not in absent}


def linear_parts(spec: ModelSpec, i: int) -> dict[str, tuple[str, int, int]]:
    """The linear layers of layer `i` by part, without those of experts: name in a checkpoint, outputs, inputs."""
    sizes = _sizes(spec)
    return {part: (name, *sizes[part][:2]) for part, name in _linears(spec, i).items()}


def layer_matrices(spec: ModelSpec, i: int) -> dict[str, tuple[int, int]]:
    """The matrices [outputs, inputs] of layer `i` that a scheme may quantise, by their names in a checkpoint."""
    sizes = _sizes(spec)
    matrices = {name: sizes[part][:2] for part, name in _linears(spec, i).items()}
    experts, layout = spec.mixes(i), spec.family.experts
    if experts is not None and layout is not None and layout.stacked is None:
        shapes = {
            "gate": (experts.ffn, spec.hidden),
            "up": (experts.ffn, spec.hidden),
            "down": (spec.hidden, experts.ffn),
        }
        for part, name in layout.linears.items():
            for e in range(experts.count):
                matrices[name.format(i=i, e=e)] = shapes[part]
        if experts.shared:
            wide = {
                "gate": (experts.shared, spec.hidden),
                "up": (experts.shared, spec.hidden),
                "down": (spec.hidden, experts.shared),
            }
            matrices |= {name.format(i=i): wide[part] for part, name in layout.shared.items()}
    return matrices


def absorbed_matrices(spec: ModelSpec) -> frozenset[str]:
    """The matrices that are never kept in a quantised form, as they become factors of queries and of outputs."""
    if spec.latent is None:
        return frozenset()
    return frozenset(spec.family.linears["kv_up"].format(i=i) for i in range(spec.layers))


def _biases(spec: ModelSpec, i: int) -> dict[str, int]:
    sizes = _sizes(spec)
    linears = _linears(spec, i)
    return {name: sizes[part][0] for part, name in linears.items() if sizes[part][2]}


def _norms(spec: ModelSpec) -> list[tuple[str, int]]:
    norms = [(name, spec.hidden) for name in spec.family.norms.values()]
    if spec.latent is not None:
        norms += spec.latent.norms()
    if spec.family.qk_norm == "head":
        norms += [(QUERY_NORM, spec.head_dim), (KEY_NORM, spec.head_dim)]
    if spec.family.qk_norm == "whole":
        norms += [
            (QUERY_NORM, spec.heads * spec.head_dim),
            (KEY_NORM, spec.kv_heads * spec.head_dim),
        ]
    return norms


def coded_tensors(spec: ModelSpec) -> dict[int, list[str]]:
    """The names of the tensors of matrices that are not plainly stored, by the number of their layer."""
    found: dict[int, list[str]] = {}
    if spec.schemes == Uniform():
        return found
    for name in expected_tensors(spec):
        layer = LAYER.match(name)
        if layer is not None and spec.schemes.of(name.rpartition(".")[0]) != Dense():
            found.setdefault(int(layer[1]), []).append(name)
    return found


def check_tensors(
    found: Mapping[str, Stored], expected: Mapping[str, Stored], spec: ModelSpec
) -> None:
    """Compare the tensors of a checkpoint with those of its spec.

    Raises:
        ModelError: a tensor is missing, not used, or of another shape or kind; names them.
    """
    ignored = DERIVED if spec.schemes == Uniform() else (*DERIVED, *KV_SCALES)
    allowed = {name for name in found if name.endswith(ignored)}
    if spec.tied:
        allowed.add(HEAD + ".weight")
    for i in range(spec.layers, spec.layers + spec.drafting_layers):
        allowed |= {name for name in found if name.startswith(f"model.layers.{i}.")}
    wrong = list(complaints(found, expected, allowed))
    if wrong:
        raise ModelError(
            f"the weights do not fit a {spec.family.name} model: " + "; ".join(wrong),
            hint="check config.json against the checkpoint",
        )


def complaints(
    found: Mapping[str, Stored], expected: Mapping[str, Stored], allowed: set[str]
) -> Iterator[str]:
    """What is wrong with the tensors that are `found`; those `allowed` need not be expected."""
    required = {name for name, stored in expected.items() if not stored.optional}
    missing = sorted(required - found.keys())
    if missing:
        yield f"missing {some_of(missing)}"
    unused = sorted(found.keys() - expected.keys() - allowed)
    if unused:
        yield f"not used {some_of(unused)}"
    both = [(name, found[name], stored) for name, stored in expected.items() if name in found]
    wrong = [
        f"{name} is {list(got.shape)}, not {list(stored.shape)}"
        for name, got, stored in both
        if (got.shape or (1,)) != (stored.shape or (1,))  # one number is written in either shape
    ]
    if wrong:
        yield f"wrong shape: {some_of(wrong)}"
    mistyped = [
        f"{name} is of {_kind(got.dtype)}, not {_kind(_unconverted(stored.dtype))}"
        for name, got, stored in both
        if got.dtype != _unconverted(stored.dtype)
    ]
    if mistyped:
        yield f"wrong dtype: {some_of(mistyped)}"


def _unconverted(dtype: torch.dtype | None) -> torch.dtype | None:
    """`dtype` if it is never converted, else None."""
    return dtype if dtype in UNCONVERTED.values() else None


def _kind(dtype: torch.dtype | None) -> str:
    return "floats" if dtype is None else str(dtype).removeprefix("torch.")
