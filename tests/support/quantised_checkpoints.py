"""Quantised matrices as published checkpoints store them, with their dense values.

The writers follow the formats' descriptions bit by bit in plain numpy, and share no code with the loader: GPTQ and
AutoGPTQ (words along the inputs, zero points less one), GPTQModel (`gptq_v2`), AutoAWQ (layout gemm), AutoRound,
compressed-tensors (pack-quantized, int-quantized, float-quantized), and FP8 with blocks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Array = npt.NDArray[Any]
Tensors = dict[str, torch.Tensor]

SIGN_BIT = 1 << 31


@dataclass(frozen=True)
class Written:
    """The tensors of a matrix by suffix, and the matrix itself, float32."""

    tensors: Tensors
    matrix: torch.Tensor


def words(bits_of_values: Array, bits: int) -> Array:
    """Rows of small integers as int32 words: one stream of bits a row, lowest first."""
    rows, count = bits_of_values.shape
    stream = np.zeros((rows, count * bits), np.uint8)
    for bit in range(bits):
        stream[:, bit::bits] = bits_of_values >> bit & 1
    out = np.zeros((rows, count * bits // 32), np.int64)
    for bit in range(32):
        out |= stream[:, bit::32].astype(np.int64) << bit
    return np.where(out >= SIGN_BIT, out - (1 << 32), out).astype(np.int32)


def tensor(array: Array) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))


@dataclass(frozen=True)
class Draw:
    """Random codes, scales (exact in float16) and zero points of a matrix."""

    codes: Array
    scales: Array
    zeros: Array
    group_of: Array

    @classmethod
    def of(
        cls, rng: np.random.Generator, outputs: int, inputs: int, bits: int, size: int, mixed: bool
    ) -> "Draw":
        group_of = np.arange(inputs) // size
        if mixed:
            rng.shuffle(group_of)
        groups = inputs // size
        return cls(
            rng.integers(0, 2**bits, (outputs, inputs)),
            rng.uniform(0.001, 0.02, (outputs, groups)).astype(np.float16),
            rng.integers(1, 2**bits, (outputs, groups)),
            group_of,
        )

    def matrix(self, zeros: Array) -> torch.Tensor:
        shifted = (self.codes - zeros[:, self.group_of]).astype(np.float32)
        return tensor(shifted * self.scales.astype(np.float32)[:, self.group_of])


def gptq(
    rng: np.random.Generator, outputs: int, inputs: int, bits: int, *, version: int, mixed: bool
) -> Written:
    drawn = Draw.of(rng, outputs, inputs, bits, 32, mixed)
    stored = drawn.zeros - (1 if version == 1 else 0)
    return Written(
        {
            ".qweight": tensor(words(drawn.codes, bits).T),
            ".qzeros": tensor(words(stored.T, bits)),
            ".scales": tensor(drawn.scales.T),
            ".g_idx": tensor(drawn.group_of.astype(np.int32)),
        },
        drawn.matrix(drawn.zeros),
    )


AWQ_NIBBLES = (0, 2, 4, 6, 1, 3, 5, 7)
"""The column that each nibble of a word holds, from the lowest."""


def awq(rng: np.random.Generator, outputs: int, inputs: int) -> Written:
    drawn = Draw.of(rng, outputs, inputs, 4, 32, mixed=False)

    def packed(rows: Array) -> torch.Tensor:
        mixed = rows.reshape(len(rows), -1, 8)[:, :, AWQ_NIBBLES].reshape(len(rows), -1)
        return tensor(words(mixed, 4))

    tensors = {
        ".qweight": packed(drawn.codes.T),
        ".qzeros": packed(drawn.zeros.T),
        ".scales": tensor(drawn.scales.T),
    }
    return Written(tensors, drawn.matrix(drawn.zeros))


def packed_integers(
    rng: np.random.Generator, outputs: int, inputs: int, bits: int, *, symmetric: bool, mixed: bool
) -> Written:
    drawn = Draw.of(rng, outputs, inputs, bits, 32, mixed)
    zeros = np.full_like(drawn.zeros, 2 ** (bits - 1)) if symmetric else drawn.zeros
    tensors = {
        ".weight_packed": tensor(words(drawn.codes, bits)),
        ".weight_scale": tensor(drawn.scales),
        ".weight_shape": torch.tensor([outputs, inputs]),
    }
    if not symmetric:
        tensors[".weight_zero_point"] = tensor(words(zeros.T, bits).T)
    if mixed:
        tensors[".weight_g_idx"] = tensor(drawn.group_of.astype(np.int32))
    return Written(tensors, drawn.matrix(zeros))


def plain_integers(
    rng: np.random.Generator, outputs: int, inputs: int, *, symmetric: bool
) -> Written:
    codes = rng.integers(-127, 128, (outputs, inputs)).astype(np.int8)
    scales = rng.uniform(0.0001, 0.002, (outputs, 1)).astype(np.float32)
    zeros = np.zeros((outputs, 1), np.int8)
    tensors = {".weight": tensor(codes), ".weight_scale": tensor(scales)}
    if not symmetric:
        zeros = rng.integers(-20, 20, (outputs, 1)).astype(np.int8)
        tensors[".weight_zero_point"] = tensor(zeros)
    shifted = codes.astype(np.float32) - zeros.astype(np.float32)
    return Written(tensors, tensor(shifted * scales))


def fp8(rng: np.random.Generator, outputs: int, inputs: int, scale: str) -> Written:
    values = torch.from_numpy(rng.normal(0, 1, (outputs, inputs))).to(torch.float8_e4m3fn)
    floats = values.to(torch.float32)
    if scale == "block":
        blocks = rng.uniform(0.001, 0.02, (-(-outputs // 48), -(-inputs // 40))).astype(np.float32)
        wide = np.repeat(np.repeat(blocks, 48, 0), 40, 1)[:outputs, :inputs]
        tensors = {".weight": values, ".weight_scale_inv": tensor(blocks)}
        return Written(tensors, floats * tensor(wide))
    shape = {"tensor": (), "channel": (outputs, 1)}[scale]
    scales = tensor(np.asarray(rng.uniform(0.001, 0.02, shape), np.float32))
    return Written({".weight": values, ".weight_scale": scales}, floats * scales)


Writer = Callable[[np.random.Generator, int, int], Written]


def compressed(form: str, strategy: str = "channel", **weights: Any) -> dict[str, Any]:
    given = {"num_bits": 8, "type": "int", "symmetric": True, "strategy": strategy, **weights}
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": given}},
        "ignore": ["lm_head"],
    }


def _gptq(bits: int, **given: Any) -> Writer:
    return lambda rng, outputs, inputs: gptq(rng, outputs, inputs, bits, **given)


def _packed(bits: int, **given: Any) -> Writer:
    return lambda rng, outputs, inputs: packed_integers(rng, outputs, inputs, bits, **given)


def _grouped(bits: int, **given: Any) -> dict[str, Any]:
    return compressed("pack-quantized", "group", num_bits=bits, group_size=32, **given)


GPTQ: dict[str, Any] = {"quant_method": "gptq", "group_size": 32, "sym": False, "desc_act": False}
ROUND: dict[str, Any] = {"quant_method": "auto-round", "bits": 4, "group_size": 32, "sym": False}

FORMATS: Mapping[str, tuple[dict[str, Any], Writer]] = {
    **{
        f"gptq-{bits}": ({**GPTQ, "bits": bits}, _gptq(bits, version=1, mixed=False))
        for bits in (2, 3, 4, 8)
    },
    "gptq-4-desc-act": (
        {**GPTQ, "bits": 4, "desc_act": True},
        _gptq(4, version=1, mixed=True),
    ),
    "gptq-v2": (
        {**GPTQ, "bits": 4, "checkpoint_format": "gptq_v2"},
        _gptq(4, version=2, mixed=False),
    ),
    "awq": (
        {"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm"},
        awq,
    ),
    "auto-round-gptq": (
        {**ROUND, "packing_format": "auto_round:auto_gptq"},
        _gptq(4, version=1, mixed=False),
    ),
    "auto-round-awq": ({**ROUND, "packing_format": "auto_round:auto_awq"}, awq),
    "w4a16": (_grouped(4), _packed(4, symmetric=True, mixed=False)),
    "w4a16-asymmetric": (
        _grouped(4, symmetric=False),
        _packed(4, symmetric=False, mixed=False),
    ),
    "w4a16-ordered": (_grouped(4, actorder="group"), _packed(4, symmetric=True, mixed=True)),
    "w8a16": (_grouped(8), _packed(8, symmetric=True, mixed=False)),
    "w8a8": (
        compressed("int-quantized"),
        lambda rng, outputs, inputs: plain_integers(rng, outputs, inputs, symmetric=True),
    ),
    "w8a8-asymmetric": (
        compressed("int-quantized", symmetric=False),
        lambda rng, outputs, inputs: plain_integers(rng, outputs, inputs, symmetric=False),
    ),
    "fp8-channel": (
        compressed("float-quantized", type="float"),
        lambda rng, outputs, inputs: fp8(rng, outputs, inputs, "channel"),
    ),
    "fp8-tensor": (
        compressed("float-quantized", "tensor", type="float"),
        lambda rng, outputs, inputs: fp8(rng, outputs, inputs, "tensor"),
    ),
    "fp8-blocks": (
        {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [48, 40]},
        lambda rng, outputs, inputs: fp8(rng, outputs, inputs, "block"),
    ),
    "fp8": (
        {"quant_method": "fp8"},
        lambda rng, outputs, inputs: fp8(rng, outputs, inputs, "tensor"),
    ),
}
