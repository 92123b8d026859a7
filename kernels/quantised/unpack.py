"""Codes to weights inside the kernels: device functions.

Does: turn a tile of words of codes into tiles of weights before their scale, and words of two numbers into numbers.
Does not: load.

Compiled code converts two codes at a time, in the halves of a register. A bfloat16 of the bits 0x4300 + n is 128 + n
for n below 128; an E4M3 shifted into a bfloat16 is its value times 2^-120. That takes a quarter of the instructions of
conversions by the compiler. Code that is interpreted, or computes in another dtype, converts as a number.
"""

import triton
import triton.language as tl


def _nibble(distance: int) -> str:
    """128 + n of the 4 bits at `distance`."""
    return f"{{ .reg .b32 t; shr.u32 t, $1, {distance}; lop3.b32 $0, t, 0x000F000F, 0x43004300, 0xEA; }}"


def _nibble_less_8(distance: int) -> str:
    return (
        f"{{ .reg .b32 t, m; shr.u32 t, $1, {distance}; lop3.b32 t, t, 0x000F000F, 0x43004300, 0xEA; "
        "mov.b32 m, 0x43084308; sub.rn.bf16x2 $0, t, m; }"
    )


def _signed(distance: int) -> str:
    """128 + the lower 7 bits of the byte at `distance`, less 128 + its sign bit."""
    return (
        f"{{ .reg .b32 t, s; shr.u32 t, $1, {distance}; lop3.b32 s, t, 0x00800080, 0x43004300, 0xEA; "
        "lop3.b32 t, t, 0x007F007F, 0x43004300, 0xEA; sub.rn.bf16x2 $0, t, s; }"
    )


NIBBLE_0, NIBBLE_1, NIBBLE_2, NIBBLE_3 = (tl.constexpr(_nibble(4 * i)) for i in range(4))
LESS_8_0, LESS_8_1, LESS_8_2, LESS_8_3 = (tl.constexpr(_nibble_less_8(4 * i)) for i in range(4))
SIGNED_0, SIGNED_1 = (tl.constexpr(_signed(8 * i)) for i in range(2))
FLOAT_0 = tl.constexpr(
    "{ .reg .b32 t, s, m; shl.b32 t, $1, 4; and.b32 t, t, 0x07F007F0; shl.b32 s, $1, 8; "
    "lop3.b32 t, s, 0x80008000, t, 0xEA; mov.b32 m, 0x7B807B80; mul.rn.bf16x2 $0, t, m; }"
)
FLOAT_1 = tl.constexpr(
    "{ .reg .b32 t, m; shr.u32 t, $1, 4; and.b32 t, t, 0x07F007F0; "
    "lop3.b32 t, $1, 0x80008000, t, 0xEA; mov.b32 m, 0x7B807B80; mul.rn.bf16x2 $0, t, m; }"
)


@triton.jit
def _by_pairs(word: tl.tensor, ASM: tl.constexpr) -> tl.tensor:
    """bfloat16 of one code of each of `word`."""
    return tl.inline_asm_elementwise(ASM, "=r,r", [word], dtype=tl.bfloat16, is_pure=True, pack=2)


@triton.jit
def raised(
    word: tl.tensor, like: tl.tensor, INDEX: tl.constexpr, KIND: tl.constexpr, FAST: tl.constexpr
) -> tl.tensor:
    """Code INDEX of each of `word` int16, in the dtype of `like`: a nibble plus 128 if FAST and `like` is bfloat16.

    KIND is the value of a `packed_codes.CodeKind`. FAST: in compiled code for a device that computes with pairs of
    bfloat16 (compute capability 9.0).
    """
    FAST_BF16: tl.constexpr = FAST and like.dtype == tl.bfloat16
    if KIND == "nibble":
        if FAST_BF16:
            RAISED: tl.constexpr = (
                NIBBLE_0
                if INDEX == 0
                else NIBBLE_2
                if INDEX == 1
                else NIBBLE_1
                if INDEX == 2
                else NIBBLE_3
            )
            code = _by_pairs(word, RAISED)
        else:
            code = ((word >> (8 * (INDEX % 2) + 4 * (INDEX // 2))) & 15).to(like.dtype)
    elif FAST_BF16:
        if KIND == "signed":
            code = _by_pairs(word, SIGNED_0 if INDEX == 0 else SIGNED_1)
        else:
            code = _by_pairs(word, FLOAT_0 if INDEX == 0 else FLOAT_1)
    else:
        byte = (word >> (8 * INDEX)).to(tl.int8)
        # The branches have different types, which an expression cannot have.
        if KIND == "float":  # noqa: SIM108
            code = byte.to(tl.float8e4nv, bitcast=True).to(like.dtype)
        else:
            code = byte.to(like.dtype)
    return code


@triton.jit
def unpacked(
    word: tl.tensor,
    zero: tl.tensor,
    like: tl.tensor,
    INDEX: tl.constexpr,
    KIND: tl.constexpr,
    FAST: tl.constexpr,
) -> tl.tensor:
    """Code INDEX of each of `word` [M, N] int16, minus `zero` [M] float32, in the dtype of `like`.

    `zero` None is 8 for nibbles, 0 for others. For KIND and FAST see `raised`.
    """
    FAST_BF16: tl.constexpr = FAST and like.dtype == tl.bfloat16
    if KIND == "nibble" and FAST_BF16 and zero is None:
        LESS: tl.constexpr = (
            LESS_8_0
            if INDEX == 0
            else LESS_8_2
            if INDEX == 1
            else LESS_8_1
            if INDEX == 2
            else LESS_8_3
        )
        weight = _by_pairs(word, LESS)
    elif KIND == "nibble" and FAST_BF16:
        weight = raised(word, like, INDEX, KIND, FAST) - (zero + 128.0).to(tl.bfloat16)[:, None]
    elif KIND != "nibble" and zero is None:
        weight = raised(word, like, INDEX, KIND, FAST)
    else:
        number = raised(word, like, INDEX, KIND, FAST).to(tl.float32)
        number = number - 8.0 if zero is None else number - zero[:, None]
        weight = number.to(like.dtype)
    return weight


@triton.jit
def half_of_word(word: tl.tensor, SECOND: tl.constexpr, KEPT: tl.constexpr) -> tl.tensor:
    """float32 of the low or SECOND 16 bits of `word`, which are a KEPT: "bfloat16" or "float16"."""
    if KEPT == "bfloat16":
        number = ((word & -65536) if SECOND else (word << 16)).to(tl.float32, bitcast=True)
    else:
        bits = ((word >> 16) if SECOND else word).to(tl.int16)
        number = bits.to(tl.float16, bitcast=True).to(tl.float32)
    return number
