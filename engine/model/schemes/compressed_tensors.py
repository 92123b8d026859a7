"""Checkpoints in the format compressed-tensors: integers of 4 or 8 bits, and 8-bit floats, in groups of modules.

Does: choose the scheme of each matrix from `quantization_config`, and decode its tensors. Does not: quantise
activations (a product may, where `input_activations` has 8 bits), or keep keys and values in 8 bits because of
`kv_cache_scheme`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from intaglio.kernels.codes import Codes

from ...errors import ModelError
from .coded import Coded, groups_of
from .fp8 import Fp8Blocks, Fp8Rows
from .gptq import input_order
from .packed_integers import WORD, unpacked
from .quantization_settings import Settings, is_named
from .scheme import Dense, Part, Scheme, Schemes, Stored

LINEAR: Final = "Linear"
PACKED: Final = "pack-quantized"
PLAIN: Final = ("int-quantized", "naive-quantized")
FLOATS: Final = ("float-quantized", "naive-quantized")
HINT: Final = (
    "supported are W4A16 and W8A16 (pack-quantized), int8 (int-quantized) and FP8 (float-quantized)"
)


@dataclass(frozen=True, slots=True)
class PackedIntegers(Coded):
    """Integers in words along the inputs, zero points in words along the outputs; stored 2^(bits - 1) too high."""

    bits: int
    group_size: int | None
    symmetric: bool
    ordered: bool

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`."""
        groups, in_word = groups_of(inputs, self.group_size or inputs), WORD // self.bits
        found = {
            ".weight_packed": Stored((outputs, groups_of(inputs, in_word)), torch.int32),
            ".weight_scale": Stored((outputs, groups), torch.float32),
            ".weight_shape": Stored((2,), torch.int64),
        }
        if not self.symmetric:
            packed = (groups_of(outputs, in_word), groups)
            found[".weight_zero_point"] = Stored(packed, torch.int32)
        if self.ordered:
            found[".weight_g_idx"] = Stored((inputs,), torch.int32)
        return found

    def codes(self, part: Part) -> Codes:
        """See `Coded`."""
        outputs, inputs = map(int, part(".weight_shape").tolist())
        values = unpacked(part(".weight_packed"), self.bits, 1)[:, :inputs]
        if values.shape != (outputs, inputs):
            raise ModelError(
                f"weight_shape is {[outputs, inputs]}, and the matrix {list(values.shape)}",
                where="weight_shape",
                hint="the file is damaged",
            )
        scales, size = part(".weight_scale"), self.group_size or inputs
        zeros = torch.full_like(scales, 2 ** (self.bits - 1))
        if not self.symmetric:
            zeros = unpacked(part(".weight_zero_point"), self.bits, 0)[:outputs].to(torch.float32)
        order = input_order(part(".weight_g_idx"), size) if self.ordered else None
        if order is not None:
            values = values[:, order]
        return Codes(values.contiguous(), scales, zeros.contiguous(), size, self.bits, order)


@dataclass(frozen=True, slots=True)
class PlainIntegers(Coded):
    """Integers of 8 bits, one a byte, with a scale for each output or for the matrix. `activations`: see `Codes`."""

    by_output: bool
    symmetric: bool
    activations: bool = False

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`."""
        scales = (outputs, 1) if self.by_output else (1,)
        return {
            ".weight": Stored((outputs, inputs), torch.int8),
            ".weight_scale": Stored(scales, torch.float32),
            ".weight_zero_point": Stored(scales, torch.int8, optional=self.symmetric),
            ".input_scale": Stored((1,), torch.float32, optional=True),
            ".input_zero_point": Stored((1,), torch.int8, optional=True),
        }

    def codes(self, part: Part) -> Codes:
        """See `Coded`."""
        values = part(".weight")
        rows = (values.shape[0], 1)
        scales = part(".weight_scale").reshape(-1, 1).expand(rows).contiguous()
        zeros = None
        if not self.symmetric:
            points = part(".weight_zero_point").to(torch.float32)
            zeros = points.reshape(-1, 1).expand(rows).contiguous()
        return Codes(values, scales, zeros, values.shape[1], 8, activations=self.activations)


@dataclass(frozen=True, slots=True)
class _Group:
    """The matrices that `targets` name have `scheme`."""

    targets: tuple[str, ...]
    scheme: Scheme

    def has(self, name: str) -> bool:
        return LINEAR in self.targets or is_named(name, self.targets)


@dataclass(frozen=True, slots=True)
class CompressedTensors:
    """Groups of modules, each in a scheme; the first group that has a matrix decides. See `Schemes`."""

    groups: tuple[_Group, ...]
    ignored: tuple[str, ...]

    def of(self, name: str) -> Scheme:
        """See `Schemes`."""
        if is_named(name, self.ignored):
            return Dense()
        return next((group.scheme for group in self.groups if group.has(name)), Dense())


def compressed_tensors_schemes(settings: Settings) -> Schemes:
    """The schemes of a checkpoint with `quant_method` "compressed-tensors"."""
    settings.absent("transform_config")
    sparsity = settings.inner("sparsity_config")
    if sparsity is not None and sparsity.values.get("format", "dense") != "dense":
        raise ModelError("sparse weights are not supported", where=sparsity.where)
    groups = settings.inner("config_groups")
    if groups is None or not groups.values:
        raise settings.wrong("config_groups", "an object of groups")
    form = settings.values.get("format")
    found = tuple(_group(groups, name, form) for name in groups.values)
    return CompressedTensors(found, settings.names("ignore"))


def _group(groups: Settings, name: str, form: Any) -> _Group:
    group = groups.inner(name)
    weights = None if group is None else group.inner("weights")
    if group is None or weights is None:
        raise groups.wrong(name, "an object with weights")
    for pattern in group.names("targets"):
        if pattern.startswith("re:"):
            try:
                re.compile(pattern[3:])
            except re.error as error:
                raise group.wrong("targets", f"regular expressions ({error})") from None
    inputs = group.inner("input_activations")
    rounded = inputs is not None and inputs.values.get("num_bits") == 8
    form = group.values.get("format") or form
    return _Group(group.names("targets"), _scheme(weights, form, rounded=rounded))


def _scheme(weights: Settings, form: Any, *, rounded: bool) -> Scheme:
    """The scheme of matrices; `rounded`: the format rounds their activations to 8 bits as well."""
    kind = weights.choice("type", ("int", "float"), "int")
    bits = weights.count("num_bits")
    strategy = weights.choice("strategy", ("tensor", "channel", "group", "block"), "tensor")
    symmetric = weights.flag("symmetric", default=True)
    if kind == "float" and bits == 8 and symmetric and form in FLOATS:
        block = weights.pair("block_structure")
        if strategy == "block" and block is not None:
            return Fp8Blocks(*block, ".weight_scale")
        if strategy in ("tensor", "channel"):
            return Fp8Rows(strategy == "channel", rounded)
    if kind == "int" and form == PACKED and bits in (4, 8) and strategy in ("group", "channel"):
        ordered = weights.values.get("actorder") in ("group", True)
        size = weights.group_size() if strategy == "group" else None
        return PackedIntegers(bits, size, symmetric, ordered)
    if kind == "int" and form in PLAIN and bits == 8 and strategy in ("tensor", "channel"):
        return PlainIntegers(strategy == "channel", symmetric, rounded)
    raise ModelError(
        f"weights of type {kind} with {bits} bits by {strategy} in the format {form!r} are not supported",
        where=weights.where,
        hint=HINT,
    )
