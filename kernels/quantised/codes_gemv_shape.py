"""The tile by which a matrix in codes is multiplied by one row: as measured, by form and size of the matrix.

Does: choose. Does not: launch (`codes_gemv`).
"""

from dataclasses import dataclass
from enum import Enum

import torch
import triton

from ..linear.epilogue import After
from ..runtime.launch import processors
from .packed_codes import CodeKind, PackedCodes

IN_VECTOR = 16
"""Bytes of codes that a thread loads at once: four words of 32 bits."""
LONG = 8192
"""Rows of more inputs are long."""
MOST_SLICES = 8
"""Slices of a row at most: the loop over them is unrolled."""


@dataclass(frozen=True, slots=True)
class CodesGemvShape:
    """Outputs of a program, and warps. A slice of a row has a vector of codes for each thread."""

    block_out: int
    warps: int


class MatrixSize(Enum):
    """Matrices that one tile is best for."""

    GATED = "gated"
    LONG = "long rows"
    WIDE = "more outputs than inputs"
    OTHER = "other"


MEASURED = {
    (CodeKind.SIGNED, MatrixSize.WIDE): CodesGemvShape(8, 4),
    (CodeKind.SIGNED, MatrixSize.OTHER): CodesGemvShape(8, 4),
    (CodeKind.SIGNED, MatrixSize.GATED): CodesGemvShape(4, 4),
    (CodeKind.SIGNED, MatrixSize.LONG): CodesGemvShape(16, 4),
    (CodeKind.FLOAT, MatrixSize.WIDE): CodesGemvShape(4, 4),
    (CodeKind.FLOAT, MatrixSize.OTHER): CodesGemvShape(4, 4),
    (CodeKind.FLOAT, MatrixSize.GATED): CodesGemvShape(4, 4),
    (CodeKind.FLOAT, MatrixSize.LONG): CodesGemvShape(8, 4),
    (CodeKind.NIBBLE, MatrixSize.WIDE): CodesGemvShape(8, 2),
    (CodeKind.NIBBLE, MatrixSize.OTHER): CodesGemvShape(8, 4),
    (CodeKind.NIBBLE, MatrixSize.GATED): CodesGemvShape(8, 4),
    (CodeKind.NIBBLE, MatrixSize.LONG): CodesGemvShape(8, 4),
}
"""The fastest on an H200 for 6144, 4096 and 28672 outputs of 4096 inputs, and 4096 of 14336."""


def codes_gemv_shape(packed: PackedCodes, after: After, device: torch.device) -> CodesGemvShape:
    """The measured tile; fewer outputs where there are few programs, other warps for short and for very long rows."""
    matrices = 1 if after.activation is None else 2
    shape = MEASURED[packed.kind, _size(packed, matrices)]
    vectors = int(triton.next_power_of_2(row_vectors(packed)))
    warps = max(1, min(shape.warps, vectors // 32))
    while warps < 32 and vectors > MOST_SLICES * 32 * warps:
        warps *= 2
    written, block_out = packed.outputs // matrices, shape.block_out
    while block_out > 1 and triton.cdiv(written, block_out) < processors(device):
        block_out //= 2
    return CodesGemvShape(block_out, warps)


def row_vectors(packed: PackedCodes) -> int:
    """Vectors of codes of a matrix row."""
    return -(-packed.codes.shape[1] * packed.codes.element_size() // IN_VECTOR)


def _size(packed: PackedCodes, matrices: int) -> MatrixSize:
    if matrices == 2:
        return MatrixSize.GATED
    if packed.inputs > LONG:
        return MatrixSize.LONG
    return MatrixSize.WIDE if packed.outputs > packed.inputs else MatrixSize.OTHER
