"""The weight matrix of a deterministic engine on a GPU: a row's result has the same bits in a product of any size.

Does: sum the inputs of every output in one order, whatever the number of rows. Does not: fuse norms or epilogues, or
trust that tiles of different shapes agree (`agreeing_tiles` compares them).

Libraries choose a kernel, and with it the order of summation, by the number of rows (He et al. 2025, "Defeating
nondeterminism in LLM inference"). Here the inputs are cut into `ranges` that follow from the shape of the matrix alone.
Up to `FEW` rows, each range has a program of its own, which keeps the device busy while it reads the matrix; with more
rows one program sums all ranges of a large tile, in the same order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import Epilogue, RmsNorm
from ..runtime.launch import overlap, precision, processors
from .epilogue import load_tile, store_rows, sum_splits
from .linear import finish
from .rms_norm import rms_norm

FEW = 64
"""The most rows that the programs of several ranges share."""

BLOCK_OUT = 64
"""Outputs of a tile of few rows; as many as Hopper's matrix instructions need."""

MOST_RANGES = 8


@dataclass(frozen=True, slots=True)
class Tile:
    """Rows, outputs and bytes of inputs of a tile, pipeline stages, warps; whether one program sums all ranges."""

    rows: int
    outputs: int
    input_bytes: int
    stages: int
    warps: int
    whole: bool = False


FEW_TILES = tuple(Tile(rows, BLOCK_OUT, 256, 5, 4) for rows in (16, 32, 64))
LARGE_TILE = Tile(128, 128, 128, 4, 8, whole=True)


@triton.jit
def _summed(
    weight_at: tl.tensor,
    x_at: tl.tensor,
    used: tl.tensor,
    first: tl.tensor,
    end: tl.tensor,
    INPUTS: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    STAGES: tl.constexpr,
    PRECISION: tl.constexpr,
) -> tl.tensor:
    """Sums [BLOCK_OUT, BLOCK_ROWS] over the inputs `first:end`, in ascending order."""
    k = tl.arange(0, BLOCK_IN)
    total = tl.zeros((BLOCK_OUT, BLOCK_ROWS), tl.float32)
    for start in tl.range(first, end, BLOCK_IN, num_stages=STAGES):
        weight = load_tile(weight_at + start, None, start + k, INPUTS, BLOCK_IN)
        x = load_tile(x_at + start, used, start + k, INPUTS, BLOCK_IN)
        total = tl.dot(weight, tl.trans(x), total, input_precision=PRECISION)
    return total


@triton.jit(do_not_specialize=["rows"])
def _fixed_order(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    rows: tl.tensor,
    weight_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    out_ptr: tl.tensor,
    partial_ptr: tl.tensor,
    arrived_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    RANGES: tl.constexpr,
    RANGE: tl.constexpr,
    WHOLE: tl.constexpr,
    STAGES: tl.constexpr,
    BIASED: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """Grid [tiles of outputs, RANGES], or [tiles of outputs times tiles of rows] if WHOLE: rows change first."""
    if EARLY:
        gdc_launch_dependents()
    row_tile, out_tile = 0, tl.program_id(0)
    if WHOLE:
        row_tiles = tl.cdiv(rows, BLOCK_ROWS)
        row_tile, out_tile = out_tile % row_tiles, out_tile // row_tiles
    output = out_tile * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    member = row_tile * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    used = member < rows
    k = tl.arange(0, BLOCK_IN)
    matrix_row = tl.minimum(output, OUTPUTS - 1).to(tl.int64)
    weight_at = weight_ptr + matrix_row[:, None] * INPUTS + k[None, :]
    x_at = x_ptr + member[:, None].to(tl.int64) * x_stride + k[None, :]
    if EARLY:
        gdc_wait()
    if WHOLE:
        total = _summed(
            weight_at, x_at, used, 0, tl.minimum(RANGE, INPUTS),
            INPUTS, BLOCK_OUT, BLOCK_ROWS, BLOCK_IN, STAGES, PRECISION,
        )  # fmt: skip
        for part in tl.static_range(1, RANGES):
            total += _summed(
                weight_at, x_at, used, part * RANGE, tl.minimum(part * RANGE + RANGE, INPUTS),
                INPUTS, BLOCK_OUT, BLOCK_ROWS, BLOCK_IN, STAGES, PRECISION,
            )  # fmt: skip
        sums = (tl.trans(total),)
    else:
        first = tl.program_id(1) * RANGE
        total = _summed(
            weight_at, x_at, used, first, tl.minimum(first + RANGE, INPUTS),
            INPUTS, BLOCK_OUT, BLOCK_ROWS, BLOCK_IN, STAGES, PRECISION,
        )  # fmt: skip
        sums = (tl.trans(total),)
        if RANGES > 1:
            sums, last = sum_splits(sums, partial_ptr, arrived_ptr, BLOCK_OUT * BLOCK_ROWS, RANGES)
            if not last:
                return
    store_rows(
        sums[0], None, member, rows, output, output < OUTPUTS, bias_ptr, out_ptr,
        OUTPUTS, GATED=False, ACTIVATION=None, BIASED=BIASED, ADDED=False,
    )  # fmt: skip


class FixedOrderWeight:
    """A matrix [outputs, inputs] in the dtype of the model. See `Weight`."""

    def __init__(self, matrix: Tensor, bias: Tensor | None, counters: Tensor) -> None:
        """`counters`: zeros, at least one for each tile of outputs, shared by all matrices of one stream."""
        self.outputs, self.inputs = matrix.shape
        self.tiles: Sequence[Tile] = FEW_TILES
        self._matrix = matrix.contiguous()
        self._bias = bias
        self._counters = counters
        self._ranges = ranges(self.outputs, self.inputs, matrix)

    @property
    def device(self) -> torch.device:
        """The device of the matrix."""
        return self._matrix.device

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`. Logits of tokens that are not legal are computed as well."""
        if norm is not None:
            x = rms_norm(x, norm, early=False)
        rows = x.shape[0]
        out = torch.empty((rows, self.outputs), dtype=x.dtype, device=x.device)
        tile = next((tile for tile in self.tiles if tile.rows >= rows), self.tiles[-1])
        step = rows if tile.whole else tile.rows
        for first in range(0, rows, step):
            self.multiply(x[first : first + step], out[first : first + step], tile)
        return finish(out, epilogue)

    def multiply(self, x: Tensor, out: Tensor, tile: Tile) -> None:
        """Write the product of `x` [N, inputs] to `out` [N, outputs], both with contiguous rows.

        N is at most the rows of `tile`, unless it sums whole.
        """
        parts, length = self._ranges
        tiles = triton.cdiv(self.outputs, tile.outputs)
        size = tiles * parts * tile.outputs * tile.rows if parts > 1 and not tile.whole else 1
        partial = torch.empty(size, dtype=torch.float32, device=x.device)
        grid = (tiles * triton.cdiv(x.shape[0], tile.rows),) if tile.whole else (tiles, parts)
        _fixed_order[grid](
            x,
            x.stride(0),
            x.shape[0],
            self._matrix,
            x if self._bias is None else self._bias,
            out,
            partial,
            self._counters,
            OUTPUTS=self.outputs,
            INPUTS=self.inputs,
            BLOCK_OUT=tile.outputs,
            BLOCK_ROWS=tile.rows,
            BLOCK_IN=min(tile.input_bytes // x.element_size(), length),
            RANGES=parts,
            RANGE=length,
            WHOLE=tile.whole,
            STAGES=tile.stages,
            BIASED=self._bias is not None,
            PRECISION=precision(x.dtype),
            num_warps=tile.warps,
            **overlap(x),
        )


def ranges(outputs: int, inputs: int, near: Tensor) -> tuple[int, int]:
    """(how many ranges the inputs are cut into, the length of one): as many programs as `near`'s device has processors.

    A power of two and a multiple of the tiles of inputs, so that tiles of all shapes end where a range ends.
    """
    tile = 256 // near.element_size()
    tile = min(tile, max(16, triton.next_power_of_2(inputs)))
    blocks = triton.cdiv(inputs, tile)
    wanted = processors(near.device) // triton.cdiv(outputs, BLOCK_OUT)
    parts = 1 << (max(1, min(wanted, blocks // 2, MOST_RANGES)).bit_length() - 1)
    length = triton.cdiv(blocks, parts) * tile
    return triton.cdiv(inputs, length), length


def agreeing_tiles(weight: FixedOrderWeight, dtype: torch.dtype) -> tuple[Tile, ...]:
    """The tiles, ascending by rows, that give the bits of the first; in float32 large tiles do not fit.

    The order of summation does not depend on values, so tiles that agree on random values agree on all.
    """
    device = weight.device
    rows = 2 * LARGE_TILE.rows
    generator = torch.Generator(device).manual_seed(0)
    x = torch.randn(rows, weight.inputs, generator=generator, device=device).to(dtype)
    right = _product(weight, x, FEW_TILES[0])
    others = (*FEW_TILES[1:], *((LARGE_TILE,) if dtype.itemsize == 2 else ()))
    agree = [tile for tile in others if torch.equal(_product(weight, x, tile), right)]
    return (FEW_TILES[0], *agree)


def _product(weight: FixedOrderWeight, x: Tensor, tile: Tile) -> Tensor:
    out = x.new_empty((x.shape[0], weight.outputs))
    for first in range(0, x.shape[0], tile.rows):
        weight.multiply(x[first : first + tile.rows], out[first : first + tile.rows], tile)
    return out
