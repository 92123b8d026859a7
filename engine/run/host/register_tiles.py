"""Products of small float32 matrices in compiled loops, with each tile of results in vector registers.

Does: multiply small matrices at the processor's rate, and transpose bfloat16. Does not: divide large matrices into
parts that fit a cache.

LLVM vectorises an inner loop, but does not keep a tile of results in registers across the loop around it: such loops
load and store each result for each product. So the innermost loops are written in LLVM IR, with vectors as wide as
those of the target processor. Measured on one core of an AMD EPYC with AVX-512, 80 x 64 by 64 x 64: 220 GFLOP/s, 120 in
registers of AVX2; MKL reaches 105 there.

A result is the sum of its products in their order, whatever the width of the vectors and the number of rows.
"""

from collections.abc import Callable
from typing import Any, cast

from intaglio.grammar.api import arithmetic_kernel
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .bfloat16 import Bits, Floats

ROWS = 4
"""Rows of a tile."""
VECTORS = 2
"""Vectors in a row of a tile. `ROWS` times this are 8 sums, as many as two FMA units with a latency of 4 cycles keep in
flight."""
TILE_COLUMNS = 32
"""The number of columns is a multiple of this, the width of the widest tile in floats."""

_LONG_BITS, _WORD_BITS, _HALF_BITS, _UPPER = 64, 32, 16, 0xFFFF0000
_CONTRACT = ("contract",)


def _lanes(context: Any) -> int:
    """The number of floats in a vector of the target processor."""
    _, processor, features = context.codegen().magic_tuple()
    return 16 if processor == "x86-64-v4" or "+avx512f" in features.split(",") else 8


def _long(value: int) -> Any:
    return ir.Constant(ir.IntType(_LONG_BITS), value)


def _word(value: int) -> Any:
    return ir.Constant(ir.IntType(_WORD_BITS), value)


def _words(values: list[int]) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(_WORD_BITS), len(values)), values)


def _place(builder: Any, base: Any, index: Any, kind: Any) -> Any:
    """A pointer to a value of `kind` at element `index` of an array of words at the address `base`."""
    address = builder.add(base, builder.mul(index, _long(4)))
    return builder.inttoptr(address, kind.as_pointer())


def _lanes_code(typing: Any) -> Any:  # noqa: ARG001 - the signature of an intrinsic
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001 - as numba calls it
        return _long(_lanes(context))

    return types.int64(), generate


def _tile_code(
    typing: Any,  # noqa: ARG001 - the signature of an intrinsic
    left: Any,
    left_width: Any,
    right: Any,
    right_width: Any,
    out: Any,
    out_width: Any,
    depth: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001 - as numba calls it
        left, left_width, right, right_width, out, out_width, depth = arguments
        lanes = _lanes(context)
        vector = ir.VectorType(ir.FloatType(), lanes)
        none = ir.Constant(vector, ir.Undefined)
        everywhere = _words([0] * lanes)
        targets = []
        for row in range(ROWS):
            first = builder.mul(out_width, _long(row))
            for part in range(VECTORS):
                at = builder.add(first, _long(part * lanes))
                targets.append(_place(builder, out, at, vector))
        before = builder.block
        loop, after = builder.append_basic_block("products"), builder.append_basic_block("stored")
        begin = [builder.load(target, align=4) for target in targets]
        builder.branch(loop)
        builder.position_at_end(loop)
        k = builder.phi(ir.IntType(_LONG_BITS))
        k.add_incoming(_long(0), before)
        sums = [builder.phi(vector) for _ in targets]
        for total, start in zip(sums, begin, strict=True):
            total.add_incoming(start, before)
        first = builder.mul(k, right_width)
        parts = [
            builder.load(
                _place(builder, right, builder.add(first, _long(part * lanes)), vector), align=4
            )
            for part in range(VECTORS)
        ]
        added = []
        for row in range(ROWS):
            at = builder.add(builder.mul(left_width, _long(row)), k)
            value = builder.load(_place(builder, left, at, ir.FloatType()))
            value = builder.insert_element(none, value, _word(0))
            value = builder.shuffle_vector(value, none, everywhere)
            for part in range(VECTORS):
                product = builder.fmul(value, parts[part], flags=_CONTRACT)
                total = sums[row * VECTORS + part]
                added.append(builder.fadd(total, product, flags=_CONTRACT))
        following = builder.add(k, _long(1))
        k.add_incoming(following, loop)
        for total, value in zip(sums, added, strict=True):
            total.add_incoming(value, loop)
        builder.cbranch(builder.icmp_signed("<", following, depth), loop, after)
        builder.position_at_end(after)
        for target, value in zip(targets, added, strict=True):
            builder.store(value, target, align=4)
        return context.get_dummy_value()

    return types.void(left, left_width, right, right_width, out, out_width, depth), generate


def _interleaved(builder: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """The elements of two vectors, interleaved, as two vectors."""
    lanes = left.type.count
    order = [place for pair in range(lanes) for place in (pair, lanes + pair)]
    first, second = (
        builder.shuffle_vector(left, right, _words(half)) for half in (order[:lanes], order[lanes:])
    )
    return first, second


def _transpose_code(
    typing: Any,  # noqa: ARG001 - the signature of an intrinsic
    rows: Any,
    width: Any,
    out: Any,
    out_width: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001 - as numba calls it
        rows, width, out, out_width = arguments
        lanes = _lanes(context)
        words = ir.VectorType(ir.IntType(_WORD_BITS), lanes)
        floats = ir.VectorType(ir.FloatType(), lanes)
        pairs = []  # a word is two numbers of a row
        for row in range(lanes):
            at = builder.mul(width, _long(row))
            pairs.append(builder.load(_place(builder, rows, at, words), align=2))
        for _ in range(lanes.bit_length() - 1):
            half = lanes // 2
            mixed = [_interleaved(builder, pairs[i], pairs[i + half]) for i in range(half)]
            pairs = [vector for two in mixed for vector in two]
        shift, upper = _words([_HALF_BITS] * lanes), _words([_UPPER] * lanes)
        for i, pair in enumerate(pairs):
            for row, wide in (
                (2 * i, builder.shl(pair, shift)),
                (2 * i + 1, builder.and_(pair, upper)),
            ):
                at = builder.mul(out_width, _long(row))
                target = _place(builder, out, at, floats)
                builder.store(builder.bitcast(wide, floats), target, align=4)
        return context.get_dummy_value()

    return types.void(rows, width, out, out_width), generate


_vector_lanes = cast("Callable[[], int]", intrinsic(_lanes_code))
_add_tile = cast("Callable[..., None]", intrinsic(_tile_code))
_transpose_tile = cast("Callable[..., None]", intrinsic(_transpose_code))


@arithmetic_kernel
def add_products(left: Floats, right: Floats, out: Floats) -> None:
    """Add the product of `left` [N, K] and `right` [K, M] to `out` [N, M].

    N is a multiple of `ROWS`, M of `TILE_COLUMNS`, and K is positive; elements of a row are neighbours in memory.
    """
    columns = VECTORS * _vector_lanes()
    width, across, along = left.strides[0] // 4, right.strides[0] // 4, out.strides[0] // 4
    for column in range(0, right.shape[1], columns):
        for row in range(0, len(left), ROWS):
            _add_tile(
                left.ctypes.data + 4 * row * width,
                width,
                right.ctypes.data + 4 * column,
                across,
                out.ctypes.data + 4 * (row * along + column),
                along,
                left.shape[1],
            )


@arithmetic_kernel
def transpose(rows: Bits, out: Floats) -> None:
    """Fill `out` [K, N] with the columns of `rows` [N, K], both contiguous; N and K are multiples of `TILE_COLUMNS`."""
    lanes = _vector_lanes()
    count, size = rows.shape
    for row in range(0, count, lanes):
        for column in range(0, size, 2 * lanes):
            _transpose_tile(
                rows.ctypes.data + 2 * (row * size + column),
                size // 2,
                out.ctypes.data + 4 * (column * count + row),
                count,
            )
