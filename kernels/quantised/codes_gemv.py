"""Product of one row and a matrix in codes of 4 or 8 bits; bound by reading the codes.

Does: the norm, the product, scales, the bias and the epilogue (gate or residual) in one pass. Does not: more rows
(`narrow_codes`), other dtypes than bfloat16, groups of 8-bit codes. Reference: `codes.Codes.dense`.

As in `linear.gemv`, a program takes a few outputs and loads its first slice of codes before the preceding kernel has
finished; if that is attention, it has the others brought into the L2 cache. It prepares the inputs of a slice just
before it multiplies them, and applies the scale of the norm to the sums.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import RmsNorm
from ..linear.epilogue import NOTHING, After, activated, fetch_rest
from ..runtime.launch import overlap
from ..runtime.tuples import Pair, Tensors, Three, appended, joined
from .codes_gemv_shape import CodesGemvShape, codes_gemv_shape
from .half_factors import half_dots, halves
from .integer_factors import byte_dots, nibble_dots, rounded
from .packed_codes import CodeKind, PackedCodes
from .row_sums import row_sums
from .unpack import half_of_word

MOST_WORDS = 1 << 31
"""Words of 32 bits that 32-bit offsets reach."""


@triton.jit
def _part(
    x_ptr: tl.tensor,
    norm_ptr: tl.tensor,
    at: tl.tensor,
    held: tl.tensor,
    INPUTS: tl.constexpr,
    NORMED: tl.constexpr,
) -> Three:
    """The two inputs of each word `at`, times the norm, and the sums of their squares before that by vector."""
    there = held & (at < INPUTS // 2)
    word = tl.load(x_ptr + at, mask=there, other=0)
    low = half_of_word(word, SECOND=False, KEPT="bfloat16")
    high = half_of_word(word, SECOND=True, KEPT="bfloat16")
    squares = tl.zeros((at.shape[0],), tl.float32)
    if NORMED:
        squares = tl.sum(low * low + high * high, 1)
        norm = tl.load(norm_ptr + at, mask=there, other=0)
        low = low * half_of_word(norm, SECOND=False, KEPT="bfloat16")
        high = high * half_of_word(norm, SECOND=True, KEPT="bfloat16")
    return low, high, squares


@triton.jit
def _factors(
    x_ptr: tl.tensor,
    norm_ptr: tl.tensor,
    vector: tl.tensor,
    INPUTS: tl.constexpr,
    PART: tl.constexpr,
    KIND: tl.constexpr,
    NORMED: tl.constexpr,
    PER_CHUNK: tl.constexpr,
    STRIDE: tl.constexpr,
    FAST: tl.constexpr,
) -> Tensors:
    """What the codes of each vector are multiplied by, see `rounded` and `halves`, then the sums of its squares."""
    IN_WORD: tl.constexpr = 4 if KIND == "nibble" else 2
    PIECE: tl.constexpr = PART // IN_WORD
    within = (vector % PER_CHUNK)[:, None] * 4 + tl.arange(0, 4)[None, :]
    at = (vector // PER_CHUNK)[:, None] * PART + within
    held = (vector < STRIDE // 4)[:, None]
    total = tl.zeros((vector.shape[0],), tl.float32)
    found = ()
    for part in tl.static_range(IN_WORD // 2):
        begin = at + part * 2 * PIECE
        a, c, first = _part(x_ptr, norm_ptr, begin, held, INPUTS, NORMED)
        b, d, second = _part(x_ptr, norm_ptr, begin + PIECE, held, INPUTS, NORMED)
        total += first + second
        if KIND == "float":
            found = joined(found, halves(a, b, c, d, FAST))
        else:
            found = joined(found, rounded(a, b, c, d, part, FAST))
    factors: Tensors = appended(found, total)
    return factors


@triton.jit
def _matrix_row(
    at: tl.tensor, BLOCK_OUT: tl.constexpr, MATRICES: tl.constexpr, OUTPUTS: tl.constexpr
) -> tl.tensor:
    """The matrix row of row `at` of this program: those of one output of both matrices of a gate are neighbours."""
    output = tl.program_id(0) * BLOCK_OUT + at // MATRICES
    if OUTPUTS % BLOCK_OUT != 0:
        output = tl.minimum(output, OUTPUTS - 1)
    return output + at % MATRICES * OUTPUTS


@triton.jit
def _row_from_first(
    AT: tl.constexpr, BLOCK_OUT: tl.constexpr, MATRICES: tl.constexpr, OUTPUTS: tl.constexpr
) -> tl.tensor:
    """The matrix row of row AT of this program relative to its first output: a constant if programs are full."""
    row = AT // MATRICES + AT % MATRICES * OUTPUTS
    if OUTPUTS % BLOCK_OUT != 0:
        row = _matrix_row(AT, BLOCK_OUT, MATRICES, OUTPUTS) - tl.program_id(0) * BLOCK_OUT
    return row


@triton.jit
def _slice(
    codes_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    zeros_ptr: tl.tensor,
    SLICE: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    VECTORS: tl.constexpr,
    STRIDE: tl.constexpr,
    OUTPUTS: tl.constexpr,
    MATRICES: tl.constexpr,
    PER_CHUNK: tl.constexpr,
    GROUPED: tl.constexpr,
) -> Three:
    """Three tuples, by row of this program: codes [VECTORS, 4] of a slice, and if GROUPED scales and zeros [VECTORS].

    A row at a time: of a tile of rows the compiler chooses layouts of codes and of scales that differ.
    """
    # The pointers move, not the indices: all slices share the registers of these, and rows differ by constants.
    first = tl.program_id(0) * BLOCK_OUT
    vector = tl.arange(0, VECTORS)
    held = vector < STRIDE // 4 - SLICE * VECTORS
    word = vector[:, None] * 4 + tl.arange(0, 4)[None, :]
    codes_at = codes_ptr + SLICE * VECTORS * 4 + first * STRIDE + word
    number = SLICE * VECTORS // PER_CHUNK * (MATRICES * OUTPUTS)
    number += first + vector // PER_CHUNK * (MATRICES * OUTPUTS)
    codes = ()
    scales = ()
    zeros = ()
    for i in tl.static_range(BLOCK_OUT * MATRICES):
        row = _row_from_first(i, BLOCK_OUT, MATRICES, OUTPUTS)
        codes = appended(codes, tl.load(codes_at + row * STRIDE, mask=held[:, None], other=0))
        if GROUPED:
            scales = appended(scales, tl.load(scales_ptr + number + row, mask=held, other=0))
            if zeros_ptr is not None:
                zeros = appended(zeros, tl.load(zeros_ptr + number + row, mask=held, other=0))
    return codes, scales, zeros


@triton.jit
def _added(
    sums: Tensors,
    loaded: Three,
    factors: Tensors,
    KIND: tl.constexpr,
    KEPT: tl.constexpr,
    FAST: tl.constexpr,
) -> Tensors:
    """`sums` of each row plus the products of a slice."""
    codes, scales, zeros = loaded
    ZEROS: tl.constexpr = len(zeros) > 0
    found = ()
    for i in tl.static_range(len(codes)):
        if KIND == "float":
            y = half_dots(codes[i], factors, FAST)
        elif KIND == "signed":
            y = byte_dots(codes[i], factors, FAST)
        else:
            zero = zeros[i] if ZEROS else 0
            y = nibble_dots(codes[i], scales[i], zero, factors, ZEROS, KEPT, FAST)
        found = appended(found, sums[i] + y)
    return found


@triton.jit
def _of_matrices(y: tl.tensor, MATRICES: tl.constexpr, BLOCK_OUT: tl.constexpr) -> Pair:
    """The sums of the rows of a tile by matrix; of a single matrix twice."""
    if MATRICES == 2:
        first, second = tl.split(tl.reshape(y, (BLOCK_OUT, 2)))
    else:
        first, second = y, y
    return first, second


@triton.jit
def _codes_gemv(
    x_ptr: tl.tensor,
    norm_ptr: tl.tensor,
    eps: tl.tensor,
    codes_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    zeros_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    out_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    TOTAL: tl.constexpr,
    INPUTS: tl.constexpr,
    PADDED: tl.constexpr,
    PART: tl.constexpr,
    KIND: tl.constexpr,
    GROUPED: tl.constexpr,
    KEPT: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    VECTORS: tl.constexpr,
    NORMED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BIASED: tl.constexpr,
    ADDED: tl.constexpr,
    FETCHED: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """`x`, its norm and `codes` are in words of 32 bits. OUTPUTS: number of written outputs; TOTAL: of matrix rows."""
    if EARLY:
        gdc_launch_dependents()
    MATRICES: tl.constexpr = TOTAL // OUTPUTS
    IN_BYTE: tl.constexpr = 2 if KIND == "nibble" else 1
    STRIDE: tl.constexpr = PADDED // (4 * IN_BYTE)
    PER_CHUNK: tl.constexpr = PART // (8 * IN_BYTE)
    SLICES: tl.constexpr = (STRIDE // 4 + VECTORS - 1) // VECTORS
    tl.static_assert(SLICES == 1 or VECTORS % PER_CHUNK == 0)
    loaded = _slice(
        codes_ptr, scales_ptr, zeros_ptr, 0,
        BLOCK_OUT, VECTORS, STRIDE, OUTPUTS, MATRICES, PER_CHUNK, GROUPED,
    )  # fmt: skip
    of_rows = tl.full((), 1.0, tl.float32)
    if not GROUPED:
        row = _matrix_row(tl.arange(0, BLOCK_OUT * MATRICES), BLOCK_OUT, MATRICES, OUTPUTS)
        of_rows = tl.load(scales_ptr + row, mask=row < TOTAL, other=0.0)
    sums = ()
    for _ in tl.static_range(BLOCK_OUT * MATRICES):
        sums = appended(sums, tl.zeros((VECTORS,), tl.float32))
    squares = tl.zeros((VECTORS,), tl.float32)
    if EARLY:
        if FETCHED:
            fetch_rest(codes_ptr, OUTPUTS, STRIDE, VECTORS * 4, BLOCK_OUT, VECTORS)
        gdc_wait()
    for j in tl.static_range(SLICES):
        factors = _factors(
            x_ptr, norm_ptr, j * VECTORS + tl.arange(0, VECTORS),
            INPUTS, PART, KIND, NORMED, PER_CHUNK, STRIDE, EARLY,
        )  # fmt: skip
        squares += factors[len(factors) - 1]
        sums = _added(sums, loaded, factors, KIND, KEPT, EARLY)
        if j + 1 < SLICES:
            loaded = _slice(
                codes_ptr, scales_ptr, zeros_ptr, j + 1,
                BLOCK_OUT, VECTORS, STRIDE, OUTPUTS, MATRICES, PER_CHUNK, GROUPED,
            )  # fmt: skip
    y = row_sums(sums, EARLY) * of_rows
    if NORMED:
        y = y * tl.rsqrt(tl.sum(squares, 0) / INPUTS + eps)
    output = tl.program_id(0) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    inside = output < OUTPUTS
    y, z = _of_matrices(y, MATRICES, BLOCK_OUT)
    if BIASED:
        y += tl.load(bias_ptr + output, mask=inside, other=0.0).to(tl.float32)
    if MATRICES == 2:
        if BIASED:
            z += tl.load(bias_ptr + OUTPUTS + output, mask=inside, other=0.0).to(tl.float32)
        y = activated(y, ACTIVATION) * z
    if ADDED:
        y += tl.load(out_ptr + output, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + output, y.to(out_ptr.dtype.element_ty), mask=inside)


def reads_row(packed: PackedCodes, x: Tensor, norm: RmsNorm | None = None) -> bool:
    """Whether `codes_gemv` multiplies `x` [1, inputs], normed with `norm`, by this matrix."""
    few = packed.outputs * packed.codes.shape[1] // 2 < MOST_WORDS
    nibbles = packed.kind is CodeKind.NIBBLE
    known = packed.kept != torch.float32 if nibbles else packed.zeros is None
    return (
        few
        and x.dtype == torch.bfloat16
        and (norm is None or norm.weight.dtype == torch.bfloat16)
        and x.shape[1] % 2 == 0
        and packed.grouped == nibbles
        and known
    )


def codes_gemv(
    x: Tensor,
    packed: PackedCodes,
    bias: Tensor | None,
    out: Tensor,
    *,
    norm: RmsNorm | None = None,
    after: After = NOTHING,
    shape: CodesGemvShape | None = None,
) -> None:
    """`x` [1, inputs] bfloat16 times the matrix of `packed`, of which `reads_row` holds, into contiguous `out`.

    With `norm` the row is normed first. The columns of `x` are in the order of the codes. `out` is [1, outputs]
    bfloat16; after a gate half as wide. Sums are float32. `shape` defaults to `codes_gemv_shape`.
    """
    written = packed.outputs // (1 if after.activation is None else 2)
    shape = codes_gemv_shape(packed, after, x.device) if shape is None else shape
    words = x[0].view(torch.int32)
    _codes_gemv[(triton.cdiv(written, shape.block_out),)](
        words,
        words if norm is None else norm.weight.view(torch.int32),
        0.0 if norm is None else norm.eps,
        packed.codes.view(torch.int32),
        packed.scales,
        packed.zeros,
        x if bias is None else bias,
        out,
        OUTPUTS=written,
        TOTAL=packed.outputs,
        INPUTS=packed.inputs,
        PADDED=packed.padded,
        PART=packed.part,
        KIND=packed.kind.value,
        GROUPED=packed.grouped,
        KEPT=str(packed.kept).removeprefix("torch."),
        BLOCK_OUT=shape.block_out,
        VECTORS=32 * shape.warps,
        NORMED=norm is not None,
        ACTIVATION=after.name,
        BIASED=bias is not None,
        ADDED=after.added,
        FETCHED=after.after_attention(packed.inputs),
        num_warps=shape.warps,
        **overlap(x),
    )
