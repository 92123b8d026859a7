"""Tuples of tensors inside Triton kernels: appending, which Triton's own syntax lacks.

Does: build tuples element by element while a kernel compiles. Does not: emit instructions.
"""

# ruff: noqa: RUF005 - Triton does not support starred tuples

from typing import TYPE_CHECKING

import triton
import triton.language as tl

# Triton evaluates annotations, and accepts its own classes and named tuples in them, but no `tuple[...]`.
if TYPE_CHECKING:
    Tensors = tuple[tl.tensor, ...]
    """Tensors of one shape and dtype; their number is known when the kernel is compiled."""
    Pair = tuple[tl.tensor, tl.tensor]
    Three = tuple[tl.tensor, tl.tensor, tl.tensor]
    Four = tuple[tl.tensor, tl.tensor, tl.tensor, tl.tensor]
else:
    Tensors = Pair = Three = Four = tl.tuple


@triton.jit
def appended(items: Tensors, item: tl.tensor) -> Tensors:
    """`items` with `item` as a new last element."""
    return items + (item,)


@triton.jit
def zero_tiles(
    COUNT: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DTYPE: tl.constexpr
) -> Tensors:
    """COUNT tiles [ROWS, COLUMNS] of zeros."""
    found = ()
    for _ in tl.static_range(COUNT):
        found = appended(found, tl.zeros((ROWS, COLUMNS), DTYPE))
    return found


@triton.jit
def second_half(items: Tensors) -> Tensors:
    """The second half of a tuple of even length."""
    found = ()
    for i in tl.static_range(len(items) // 2, len(items)):
        found = appended(found, items[i])
    return found
