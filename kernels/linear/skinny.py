"""Product of a few rows and a weight matrix, for batches of 2 to 80 rows; bound by reading the matrix.

Does: the product, split along the inputs if there are too few outputs to fill the device, the bias and the epilogue
(gate or residual). Does not: one row (`gemv`), many rows (the vendor's library), or the norm before it: normed rows are
multiplied from shared memory, and passing every tile through registers costs more than a launch. Reference:
`reference.ReferenceWeight`.

The matrix is the left factor: a tile of 32 or 64 of its rows is multiplied with all rows of `x`. More than 64 rows make
two tiles of `x`, a small one second, which share every tile of the matrix; a single tile would have 128 rows. A program
computes one tile of outputs over one of `SPLITS` ranges of the inputs; the last program of a tile to finish adds up the
partial sums of the others.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..runtime.launch import overlap, precision, prefetch, processors
from ..runtime.tuples import appended
from .epilogue import NOTHING, After, load_tile, store_rows, sum_splits

MOST_OF_TILE = 64
"""The most rows of `x` in one tile."""

MOST_ROWS = 80
"""The most rows of `x` in two tiles, the second of 16 rows. With a second tile of 32 rows, products of 96 rows took a
tenth longer than the library's.
"""

INNER = 128
"""Inputs of a tile."""

AHEAD = 2
"""Cache lines of every weight row that are fetched before the preceding kernel has finished."""

ROOM = 200_000
"""Bytes of shared memory for the pipelined tiles of a multiprocessor."""


@triton.jit
def _fetch_ahead(
    weight_ptr: tl.tensor,
    matrix_row: tl.tensor,
    first: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    AHEAD: tl.constexpr,
    PAIRED: tl.constexpr,
) -> None:
    """Prefetch the first weights into the L2 cache while the preceding kernel still runs."""
    line = first + tl.arange(0, AHEAD) * 64
    line_at = weight_ptr + matrix_row[:, None] * INPUTS + tl.minimum(line, INPUTS - 1)[None, :]
    prefetch(line_at)
    if PAIRED:
        prefetch(line_at + OUTPUTS * INPUTS)


@triton.jit
def _members(ROW_TILES: tl.constexpr) -> tl.tensor:
    """The row numbers of each tile of `x`, as a tuple."""
    members = ()
    first = 0
    for i in tl.static_range(len(ROW_TILES)):
        members = appended(members, first + tl.arange(0, ROW_TILES[i]))
        first += ROW_TILES[i]
    return members


@triton.jit(do_not_specialize=["rows"])
def _skinny(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    rows: tl.tensor,
    weight_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    out_ptr: tl.tensor,
    partial_ptr: tl.tensor,
    arrived_ptr: tl.tensor,
    legal_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    ROW_TILES: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    SPLITS: tl.constexpr,
    SLOT: tl.constexpr,
    STAGES: tl.constexpr,
    AHEAD: tl.constexpr,
    GATED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BIASED: tl.constexpr,
    ADDED: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """`OUTPUTS`: number of written outputs, half the matrix rows if GATED. ADDED adds to the contents of `out`.

    ROW_TILES: rows of each tile of `x`. SLOT: elements of a program's sums, over all tiles.
    """
    if EARLY:
        gdc_launch_dependents()
    output = tl.program_id(0) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    inside = output < OUTPUTS
    members = _members(ROW_TILES)
    k = tl.arange(0, BLOCK_IN)
    matrix_row = tl.minimum(output, OUTPUTS - 1).to(tl.int64)
    weight_at = weight_ptr + matrix_row[:, None] * INPUTS + k[None, :]
    xs_at = ()
    for i in tl.static_range(len(members)):
        x_at = x_ptr + members[i][:, None].to(tl.int64) * x_stride + k[None, :]
        xs_at = appended(xs_at, x_at)
    per_split: tl.constexpr = (INPUTS + BLOCK_IN * SPLITS - 1) // (BLOCK_IN * SPLITS) * BLOCK_IN
    first = tl.program_id(1) * per_split
    end = tl.minimum(first + per_split, INPUTS)
    if EARLY:
        if legal_ptr is None:
            _fetch_ahead(weight_ptr, matrix_row, first, OUTPUTS, INPUTS, AHEAD, GATED)
        gdc_wait()
    wanted = None
    if legal_ptr is not None:
        words = tl.load(legal_ptr + output // 32, mask=inside, other=0)
        wanted = ((words >> (output % 32)) & 1) != 0
        if tl.max(wanted.to(tl.int32), 0) == 0:
            return
        inside = wanted
    MATRICES: tl.constexpr = 2 if GATED else 1
    sums = ()
    for _matrix in tl.static_range(MATRICES):
        for i in tl.static_range(len(members)):
            sums = appended(sums, tl.zeros((BLOCK_OUT, members[i].shape[0]), tl.float32))
    for start in tl.range(first, end, BLOCK_IN, num_stages=STAGES):
        xs = ()
        for i in tl.static_range(len(members)):
            x = load_tile(xs_at[i] + start, members[i] < rows, start + k, INPUTS, BLOCK_IN)
            xs = appended(xs, x)
        products = ()
        for matrix in tl.static_range(MATRICES):
            at = weight_at + start + matrix * OUTPUTS * INPUTS
            weight = load_tile(at, wanted, start + k, INPUTS, BLOCK_IN)
            for i in tl.static_range(len(xs)):
                xt = tl.trans(xs[i])
                y = tl.dot(weight, xt, sums[len(products)], input_precision=PRECISION)
                products = appended(products, y)
        sums = products
    tiles = ()
    for i in tl.static_range(len(sums)):
        tiles = appended(tiles, tl.trans(sums[i]))
    if SPLITS > 1:
        tiles, last = sum_splits(tiles, partial_ptr, arrived_ptr, SLOT, SPLITS)
        if not last:
            return
    for i in tl.static_range(len(members)):
        z = tiles[len(members) + i] if GATED else None
        store_rows(
            tiles[i], z, members[i], rows, output, inside, bias_ptr, out_ptr,
            OUTPUTS, GATED, ACTIVATION, BIASED, ADDED,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SkinnyShape:
    """Rows of each tile of `x`, outputs and inputs of a tile, splits of the inputs, pipeline stages, warps."""

    row_tiles: tuple[int, ...]
    block_out: int
    block_in: int
    splits: int
    stages: int
    warps: int


def row_tiles(rows: int) -> tuple[int, ...]:
    """Tiles for `rows` rows: one tile, or one of `MOST_OF_TILE` and one for the rest. A tile has at least 16 rows."""
    whole = (MOST_OF_TILE,) if rows > MOST_OF_TILE else ()
    return (*whole, max(16, int(triton.next_power_of_2(rows - sum(whole)))))


def skinny_shape(x: Tensor, outputs: int, *, gated: bool) -> SkinnyShape:
    """Tiles as measured on an H200: as many programs as multiprocessors, or else two for each, and deep pipelines."""
    rows, inputs = x.shape
    members = row_tiles(rows)
    two = len(members) > 1
    # Tiles of 32 outputs are multiplied from registers, which do not suffice for two tiles of rows.
    block_out = 64 if outputs >= 3840 or two else 32
    tiles = triton.cdiv(outputs, block_out)
    inner = INNER // 2 if two and gated else INNER
    block_in = min(inner * 2 // x.element_size(), max(16, triton.next_power_of_2(inputs)))
    most = max(1, inputs // (2 * block_in))
    # Partial sums of two tiles of rows are large: adding up more of them takes longer than more programs save.
    wanted = min(max(1, processors(x.device) // (2 * tiles if two else tiles)), most)
    splits = 1 << (wanted.bit_length() - 1)
    stage = (block_out * (2 if gated else 1) + sum(members)) * block_in * x.element_size()
    room = ROOM if tiles * splits <= processors(x.device) else ROOM // 2
    stages = min(6, max(2, room // stage))
    return SkinnyShape(members, block_out, block_in, splits, stages, warps=4)


def skinny(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    out: Tensor,
    arrived: Tensor,
    *,
    after: After = NOTHING,
    legal: Tensor | None = None,
    shape: SkinnyShape | None = None,
) -> None:
    """`x` [N, inputs] with contiguous rows, N at most `MOST_ROWS`, times contiguous `weight` [outputs, inputs].

    The result goes into contiguous `out` [N, outputs], half as wide after a gate. `arrived` int32: zeros before and
    after, at least one element per tile of outputs. With `legal`, the result of `masked_head.legal_words`, other
    outputs are neither computed nor written. Sums are float32.
    """
    outputs, inputs = weight.shape
    gated = after.activation is not None
    written = outputs // 2 if gated else outputs
    shape = skinny_shape(x, written, gated=gated) if shape is None else shape
    tiles = triton.cdiv(written, shape.block_out)
    slot = shape.block_out * sum(shape.row_tiles) * (2 if gated else 1)
    parts = tiles * shape.splits * slot if shape.splits > 1 else 1
    partial = torch.empty(parts, dtype=torch.float32, device=x.device)
    _skinny[(tiles, shape.splits)](
        x,
        x.stride(0),
        x.shape[0],
        weight,
        x if bias is None else bias,
        out,
        partial,
        arrived,
        legal,
        OUTPUTS=written,
        INPUTS=inputs,
        BLOCK_OUT=shape.block_out,
        ROW_TILES=shape.row_tiles,
        BLOCK_IN=shape.block_in,
        SPLITS=shape.splits,
        SLOT=slot,
        STAGES=shape.stages,
        AHEAD=AHEAD,
        GATED=gated,
        ACTIVATION=after.name,
        BIASED=bias is not None,
        ADDED=after.added,
        PRECISION=precision(x.dtype),
        num_warps=shape.warps,
        **overlap(x),
    )
