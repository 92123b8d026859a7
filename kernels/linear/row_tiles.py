"""Batch-invariant matrix products: the result of a row has the same bits for any number of rows.

Does: multiply in calls of few, fixed numbers of rows, which were found to agree. Does not: multiply itself.

A library chooses its kernel, and with it the order of summation, by the number of rows: with MKL on AMD processors two
rows differ from four in the last bits of float32. The order does not depend on values, so row counts that agree on
random values agree on all values.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..contracts import Epilogue, Kernels, RmsNorm, Weight

SIZES = (256, 128, 64, 32, 16, 8, 4)
"""The numbers of rows of a call to choose from, descending."""

FIRST = 16
"""The number of rows that the others must agree with; 1 where its rows depend on their place in the call."""

FEW = 64
"""The most rows for which one padded call is cheaper than several: it reads the matrix once."""

Product = Callable[[Tensor], Tensor]


class TiledWeight:
    """A weight over another one, which multiplies for it. See `Weight`."""

    def __init__(self, inner: Weight, sizes: tuple[int, ...], kernels: Kernels) -> None:
        """`sizes`: numbers of rows that agree, descending, see `agreeing_sizes`."""
        self.outputs, self.inputs = inner.outputs, inner.inputs
        self._inner = inner
        self._sizes = sizes
        self._kernels = kernels

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`. Norms and epilogues work row by row."""
        if norm is not None:
            x = self._kernels.rms_norm(x, norm)
        parts = [
            self._inner.matmul(_rows(x, begin, size))[: x.shape[0] - begin]
            for begin, size in calls(x.shape[0], self._sizes)
        ]
        product = parts[0] if len(parts) == 1 else torch.cat(parts)
        return self._kernels.finish(product.contiguous(), epilogue)


def calls(rows: int, sizes: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """The first row and the size of each call for `rows` rows, by descending `sizes`. The last one may reach beyond."""
    begin = 0
    while begin < rows:
        left = rows - begin
        enough = [size for size in sizes if size >= left]
        if enough and (left <= FEW or enough[-1] == left or sizes[-1] >= left):
            size = enough[-1]
        else:
            size = next(size for size in sizes if size < left)
        yield begin, size
        begin += size


def agreeing_sizes(product: Product, inputs: int, dtype: torch.dtype) -> tuple[int, ...]:
    """The row counts, descending, for which `product` gives a row the same bits at every place in the call."""
    x = torch.randn(SIZES[0], inputs, generator=torch.Generator().manual_seed(0)).to(dtype)
    first = FIRST if _places_agree(product, x[:FIRST]) else 1
    right = [product(x[at : at + first]) for at in range(0, SIZES[0], first)]
    found = [size for size in SIZES if size >= first and _agree(product(x[:size]), right, first)]
    smaller = [
        size
        for size in SIZES
        if size < first
        and all(
            torch.equal(product(x[at : at + size]), right[0][at : at + size])
            for at in range(0, first, size)
        )
    ]
    return tuple(dict.fromkeys((*found, first, *smaller)))


def _places_agree(product: Product, x: Tensor) -> bool:
    """Whether a row of `product(x)` has the same bits wherever it is among the rows."""
    turned = [product(x.roll(places, 0)).roll(-places, 0) for places in range(x.shape[0])]
    return all(torch.equal(one, other) for one, other in pairwise(turned))


def _agree(product: Tensor, right: list[Tensor], size: int) -> bool:
    return all(
        torch.equal(product[at : at + size], right[at // size])
        for at in range(0, product.shape[0], size)
    )


def _rows(x: Tensor, begin: int, size: int) -> Tensor:
    """`size` rows of `x`, with rows of zeros past its end."""
    rows = x[begin : begin + size]
    return rows if rows.shape[0] == size else pad(rows, (0, 0, 0, size - rows.shape[0]))
