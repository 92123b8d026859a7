"""Linears on an accelerator: which of three ways a product goes.

Does: one row by `gemv`, a few by `skinny`, many by torch (the vendor's library) with the norm and the gate as kernels
of their own. Does not: know layers.
"""

import torch
from torch import Tensor

from .contracts import Legal, Packed, RmsNorm
from .gate import gate
from .gemv import gemv
from .head import MOST_MASKED_ROWS, legal_row, legal_words
from .norm import rms_norm
from .product import After
from .skinny import MOST_OF_TILE, MOST_ROWS, skinny

SMALL = 8 << 20
"""Numbers of a matrix for which `skinny` has a second tile of rows. The library multiplies more than one tile of rows
faster, but its kernels wait half a microsecond for one another: of a small matrix that is more than they save."""


class Linears:
    """The three ways, with the counters that `skinny` needs. One instance serves one stream."""

    def __init__(self, counters: Tensor) -> None:
        self._counters = counters

    def linear(self, x: Tensor, weight: Packed, bias: Tensor | None) -> Tensor:
        """`x` [N, inputs] times the matrix, plus bias."""
        return self._product(x, None, weight, bias)

    def norm_linear(self, x: Tensor, norm: RmsNorm, weight: Packed, bias: Tensor | None) -> Tensor:
        """`linear` of the normed rows."""
        return self._product(x, norm, weight, bias)

    def head(
        self,
        x: Tensor,
        norm: RmsNorm,
        weight: Packed,
        bias: Tensor | None,
        legal: Legal | None,
    ) -> Tensor:
        """`norm_linear`, of few rows only what is legal for any of them."""
        rows = x.shape[0]
        if legal is None or rows > MOST_MASKED_ROWS:
            return self.norm_linear(x, norm, weight, bias)
        wanted = legal_words(legal, rows, weight.outputs)
        matrix = weight.parts[0]
        out = torch.empty((rows, weight.outputs), dtype=x.dtype, device=x.device)
        if rows == 1:
            legal_row(x, norm, matrix, bias, wanted, out)
        else:
            skinny(rms_norm(x, norm), matrix, bias, out, self._counters, legal=wanted)
        return out

    def norm_gated(self, x: Tensor, norm: RmsNorm, weight: Packed, bias: Tensor | None) -> Tensor:
        """Gate of `norm_linear`."""
        rows = x.shape[0]
        if rows > most_rows(weight):
            return gate(_by_library(rms_norm(x, norm, early=False), weight, bias))
        out = torch.empty((rows, weight.outputs // 2), dtype=x.dtype, device=x.device)
        self._fused(x, weight, bias, out, norm=norm, after=After.GATE)
        return out

    def linear_add(self, x: Tensor, weight: Packed, bias: Tensor | None, residual: Tensor) -> None:
        """`residual += linear(x)`."""
        if x.shape[0] > most_rows(weight):
            if bias is not None:
                residual.add_(bias)
            residual.addmm_(x, weight.parts[0].t())
            return
        self._fused(x, weight, bias, residual, norm=None, after=After.ADD)

    def _product(
        self, x: Tensor, norm: RmsNorm | None, weight: Packed, bias: Tensor | None
    ) -> Tensor:
        rows = x.shape[0]
        if rows > most_rows(weight):
            normed = x if norm is None else rms_norm(x, norm, early=False)
            return _by_library(normed, weight, bias)
        out = torch.empty((rows, weight.outputs), dtype=x.dtype, device=x.device)
        self._fused(x, weight, bias, out, norm=norm, after=After.NOTHING)
        return out

    def _fused(
        self,
        x: Tensor,
        weight: Packed,
        bias: Tensor | None,
        out: Tensor,
        *,
        norm: RmsNorm | None,
        after: After,
    ) -> None:
        matrix = weight.parts[0]
        if x.shape[0] == 1:
            gemv(x, matrix, bias, out, norm=norm, after=after)
            return
        normed = x if norm is None else rms_norm(x, norm)
        skinny(normed, matrix, bias, out, self._counters, after=after)


def most_rows(weight: Packed) -> int:
    """Up to how many rows go to `skinny`, more to the library."""
    return MOST_ROWS if weight.outputs * weight.inputs <= SMALL else MOST_OF_TILE


def pack(weight: Tensor) -> Packed:
    """The matrix as it is, [outputs, inputs], contiguous."""
    return Packed((weight.contiguous(),), weight.shape[1], weight.shape[0])


def _by_library(x: Tensor, weight: Packed, bias: Tensor | None) -> Tensor:
    matrix = weight.parts[0].t()
    return torch.mm(x, matrix) if bias is None else torch.addmm(bias, x, matrix)
