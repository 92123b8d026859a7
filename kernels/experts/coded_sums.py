"""Sums of products of rows with a matrix in MXFP4, inside the kernels: device functions.

Does: convert bytes of two codes each to weights, and multiply tiles of them by rows. Does not: find the rows of an
expert, or store results (`expert_product`).

The bits of an E2M1, moved to the border of a bfloat16's exponent and mantissa, are its value times 2^-126. In this way
compiled code converts two codes at once, in the halves of a register. Interpreted code, and code in another dtype,
computes each weight as a number. Every weight is exact in bfloat16 and float32.
"""

import triton
import triton.language as tl

from ..runtime.tuples import Pair

DOUBLED = tl.constexpr(0xC8643210)
"""Twice the magnitudes of the eight codes without a sign: 0, 1, 2, 3, 4, 6, 8 and 12, four bits each."""

_SPREAD = (
    "{{ .reg .b32 t, s, m; mov.b32 m, 0x7E807E80; "
    "prmt.b32 t, $2, 0, 0x4140; {low} mul.rn.bf16x2 $0, t, m; "
    "prmt.b32 t, $2, 0, 0x4342; {low} mul.rn.bf16x2 $1, t, m; }}"
)
_LOW = "shl.b32 s, t, 12; shl.b32 t, t, 6; and.b32 t, t, 0x01C001C0; lop3.b32 t, s, 0x80008000, t, 0xEA;"
_HIGH = "shl.b32 s, t, 8; shl.b32 t, t, 2; and.b32 t, t, 0x01C001C0; lop3.b32 t, s, 0x80008000, t, 0xEA;"
LOW_HALVES = tl.constexpr(_SPREAD.format(low=_LOW))
HIGH_HALVES = tl.constexpr(_SPREAD.format(low=_HIGH))


@triton.jit
def _power(scale: tl.tensor) -> tl.tensor:
    """2^(scale - 127) in float32, of uint8."""
    bits = scale.to(tl.int32) << 23
    return tl.where(scale == 0, 0x00400000, bits).to(tl.float32, bitcast=True)


@triton.jit
def _weights(
    codes: tl.tensor, power: tl.tensor, like: tl.tensor, SHIFT: tl.constexpr, FAST: tl.constexpr
) -> tl.tensor:
    """The weights of the low halves of `codes` [outputs, groups, 16], of the high ones with SHIFT 4, times `power`."""
    if FAST and like.dtype == tl.bfloat16:
        ASM: tl.constexpr = HIGH_HALVES if SHIFT == 4 else LOW_HALVES
        number = tl.inline_asm_elementwise(
            ASM, "=r,=r,r", [codes], dtype=tl.bfloat16, is_pure=True, pack=4
        )
        weight = number * power.to(tl.bfloat16)
    else:
        code = codes.to(tl.int32) >> SHIFT
        sizes = tl.full(code.shape, DOUBLED, tl.uint32)
        size = (sizes >> (4 * (code & 7)).to(tl.uint32)).to(tl.int32) & 15
        number = size.to(tl.float32) * 0.5
        number = tl.where((code & 8) != 0, -number, number)
        weight = (number * power).to(like.dtype)
    return weight


@triton.jit
def _added(
    total: tl.tensor,
    low: tl.tensor,
    high: tl.tensor,
    codes_at: tl.tensor,
    scales_at: tl.tensor,
    there: tl.tensor,
    grouped: tl.tensor,
    FAST: tl.constexpr,
    PRECISION: tl.constexpr,
) -> tl.tensor:
    """`total` [outputs, rows] plus products with `low` and `high` [bytes, rows]: see `expert_matrices`."""
    OUTPUTS: tl.constexpr = codes_at.shape[0]
    BYTES: tl.constexpr = codes_at.shape[1]
    codes = tl.load(codes_at, mask=there, other=0).reshape(OUTPUTS, BYTES // 16, 16)
    power = _power(tl.load(scales_at, mask=grouped, other=0)).reshape(OUTPUTS, BYTES // 16, 1)
    weight = _weights(codes, power, low, 0, FAST).reshape(OUTPUTS, BYTES)
    total = tl.dot(weight, low, total, input_precision=PRECISION)
    weight = _weights(codes, power, low, 4, FAST).reshape(OUTPUTS, BYTES)
    return tl.dot(weight, high, total, input_precision=PRECISION)


@triton.jit
def coded_sums(
    rows_at: tl.tensor,
    inside: tl.tensor,
    codes_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    output: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    STAGES: tl.constexpr,
    GATED: tl.constexpr,
    PRECISION: tl.constexpr,
    FAST: tl.constexpr,
) -> Pair:
    """Sums [outputs, rows] for `output`, and if GATED for the outputs `OUTPUTS` further on, else the same twice.

    `rows_at` [rows] point to the rows of `x` that are multiplied where they are `inside`. One expert's matrix begins at
    `codes_ptr` and `scales_ptr`.
    """
    byte = tl.arange(0, BLOCK_IN // 2)
    group = tl.arange(0, BLOCK_IN // 32)
    matrix_row = tl.minimum(output, OUTPUTS - 1)[:, None]
    codes_at = codes_ptr + matrix_row * (INPUTS // 2) + byte[None, :]
    scales_at = scales_ptr + matrix_row * (INPUTS // 32) + group[None, :]
    x_at = rows_at[None, :] + (byte // 16 * 32 + byte % 16)[:, None]
    y = tl.zeros((output.shape[0], rows_at.shape[0]), tl.float32)
    z = y
    for start in tl.range(0, INPUTS, BLOCK_IN, num_stages=STAGES):
        there = (start // 2 + byte < INPUTS // 2)[None, :]
        grouped = (start // 32 + group < INPUTS // 32)[None, :]
        used = inside[None, :] & (start // 2 + byte < INPUTS // 2)[:, None]
        low = tl.load(x_at + start, mask=used, other=0.0)
        high = tl.load(x_at + start + 16, mask=used, other=0.0)
        code, scale = codes_at + start // 2, scales_at + start // 32
        y = _added(y, low, high, code, scale, there, grouped, FAST, PRECISION)
        if GATED:
            code, scale = code + OUTPUTS * (INPUTS // 2), scale + OUTPUTS * (INPUTS // 32)
            z = _added(z, low, high, code, scale, there, grouped, FAST, PRECISION)
    return y, z
