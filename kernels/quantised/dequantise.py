"""Codes to a matrix in the dtype of a model, for products of many rows by the vendor's library.

Does: convert once per product, in one pass. Does not: multiply. Reference: `codes.Codes.dense`.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..runtime.launch import overlap
from .packed_codes import PackedCodes
from .unpack import half_of_word, unpacked

BLOCK_OUT = 32


@triton.jit
def _dequantise(
    codes_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    zeros_ptr: tl.tensor,
    out_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    PADDED: tl.constexpr,
    PART: tl.constexpr,
    GROUPED: tl.constexpr,
    KIND: tl.constexpr,
    KEPT: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    FAST: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """A program converts one chunk of `BLOCK_OUT` outputs. FAST: see `unpack.unpacked`."""
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    IN_WORD: tl.constexpr = 4 if KIND == "nibble" else 2
    WIDTH: tl.constexpr = 2 * PART // IN_WORD
    chunk = tl.program_id(0)
    row = tl.program_id(1) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    inside = row < OUTPUTS
    wide = row.to(tl.int64)[:, None]
    word = tl.arange(0, WIDTH)
    words = tl.load(
        codes_ptr + wide * (PADDED // IN_WORD) + chunk * WIDTH + word[None, :],
        mask=inside[:, None],
        other=0,
    )
    like = tl.zeros((1,), out_ptr.dtype.element_ty)
    for i in tl.static_range(IN_WORD):
        zero = None
        if GROUPED and KEPT == "float32":
            scale = tl.load(
                scales_ptr + (chunk * 2 + i * 2 // IN_WORD) * OUTPUTS + row, mask=inside, other=0.0
            )
        elif GROUPED:
            pair = tl.load(scales_ptr + chunk * OUTPUTS + row, mask=inside, other=0)
            scale = half_of_word(pair, i * 2 // IN_WORD == 1, KEPT)
        else:
            scale = tl.load(scales_ptr + row, mask=inside, other=0.0)
        if zeros_ptr is not None:
            if GROUPED:
                pair = tl.load(zeros_ptr + chunk * OUTPUTS + row, mask=inside, other=0)
                zero = half_of_word(pair, i * 2 // IN_WORD == 1, "bfloat16")
            else:
                zero = tl.load(zeros_ptr + row, mask=inside, other=0.0)
        weight = unpacked(words, zero, like, i, KIND, FAST).to(tl.float32) * scale[:, None]
        k = chunk * (2 * PART) + i * WIDTH + word
        there = inside[:, None] & (k < INPUTS)[None, :]
        tl.store(
            out_ptr + wide * INPUTS + k[None, :], weight.to(out_ptr.dtype.element_ty), mask=there
        )


def dequantise(packed: PackedCodes, dtype: torch.dtype) -> Tensor:
    """The matrix [outputs, inputs] in `dtype`, its columns in the order of the codes.

    Weights are rounded once, except where a code of 8 bits less its zero point has more than 8 bits.
    """
    out = torch.empty((packed.outputs, packed.inputs), dtype=dtype, device=packed.codes.device)
    launch = overlap(out, early=False)
    _dequantise[(packed.padded // (2 * packed.part), triton.cdiv(packed.outputs, BLOCK_OUT))](
        packed.codes,
        packed.scales,
        packed.zeros,
        out,
        OUTPUTS=packed.outputs,
        INPUTS=packed.inputs,
        PADDED=packed.padded,
        PART=packed.part,
        GROUPED=packed.grouped,
        KIND=packed.kind.value,
        KEPT=str(packed.kept).removeprefix("torch."),
        BLOCK_OUT=BLOCK_OUT,
        FAST=overlap(out)["EARLY"],
        num_warps=4,
        **launch,
    )
    return out
