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


@triton.jit
def joined(items: Tensors, more: Tensors) -> Tensors:
    """The elements of both tuples. Tuples of tuples are flat in older versions of Triton."""
    for i in tl.static_range(len(more)):
        items = appended(items, more[i])
    return items


@triton.jit
def sums_of_rows(rows: Tensors) -> tl.tensor:
    """The sum of each of some one-dimensional tensors, a power of 2 up to 16, as one tensor."""
    COUNT: tl.constexpr = len(rows)
    if COUNT == 1:
        total = tl.sum(rows[0], 0, keep_dims=True)
    else:
        # The first pairs become the outermost dimension: they differ in the highest bit of the row.
        tensors = _paired(rows)
        if COUNT > 2:
            tensors = _paired(tensors)
        if COUNT > 4:
            tensors = _paired(tensors)
        if COUNT > 8:
            tensors = _paired(tensors)
        tl.static_assert(len(tensors) == 1)
        total = tl.sum(tl.reshape(tensors[0], (rows[0].shape[0], COUNT)), 0)
    return total


@triton.jit
def _paired(items: Tensors) -> Tensors:
    found = ()
    HALF: tl.constexpr = len(items) // 2
    for i in tl.static_range(HALF):
        found = appended(found, tl.join(items[i], items[HALF + i]))
    return found
