"""What the kernels of products with a matrix share.

Does: load a tile, without what lies past its inputs and rows that nobody wants; name what may follow a product. Does
not: multiply.
"""

from enum import Enum, auto

import triton
import triton.language as tl


class After(Enum):
    """What follows a product, in the same pass."""

    NOTHING = auto()
    GATE = auto()
    """silu of the first half of the outputs times the second half."""
    ADD = auto()
    """It is added to what was there."""


@triton.jit
def load_tile(
    at: tl.tensor,
    wanted: tl.tensor,
    k: tl.tensor,
    INPUTS: tl.constexpr,
    BLOCK_IN: tl.constexpr,
) -> tl.tensor:
    """Inputs `k` [BLOCK_IN] of the rows at `at` [rows, BLOCK_IN]; zeros where there are none.

    `wanted` [rows]: of which rows; the others are zeros. None: of all.
    """
    there = None
    if INPUTS % BLOCK_IN != 0:
        there = (k < INPUTS)[None, :]
    if wanted is not None:
        there = wanted[:, None] if there is None else there & wanted[:, None]
    return tl.load(at) if there is None else tl.load(at, mask=there, other=0.0)
