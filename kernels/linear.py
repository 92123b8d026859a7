"""Linears on an accelerator: which of three ways a product goes.

Does: one row by `gemv`, a few by `skinny`, many by torch (the vendor's library) with the norm and the gate as kernels
of their own. Does not: know layers.
"""

import torch
from torch import Tensor

from .contracts import Packed, RmsNorm
from .gate import gate
from .gemv import gemv
from .norm import rms_norm
from .skinny import MOST_ROWS, skinny


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

    def norm_gated(self, x: Tensor, norm: RmsNorm, weight: Packed, bias: Tensor | None) -> Tensor:
        """Gate of `norm_linear`."""
        rows = x.shape[0]
        if rows > MOST_ROWS:
            return gate(_by_library(rms_norm(x, norm), weight, bias))
        out = torch.empty((rows, weight.outputs // 2), dtype=x.dtype, device=x.device)
        self._fused(x, weight, bias, out, norm=norm, gated=True, added=False)
        return out

    def linear_add(self, x: Tensor, weight: Packed, bias: Tensor | None, residual: Tensor) -> None:
        """`residual += linear(x)`."""
        if x.shape[0] > MOST_ROWS:
            if bias is not None:
                residual.add_(bias)
            residual.addmm_(x, weight.parts[0].t())
            return
        self._fused(x, weight, bias, residual, norm=None, gated=False, added=True)

    def _product(
        self, x: Tensor, norm: RmsNorm | None, weight: Packed, bias: Tensor | None
    ) -> Tensor:
        rows = x.shape[0]
        if rows > MOST_ROWS:
            return _by_library(x if norm is None else rms_norm(x, norm), weight, bias)
        out = torch.empty((rows, weight.outputs), dtype=x.dtype, device=x.device)
        self._fused(x, weight, bias, out, norm=norm, gated=False, added=False)
        return out

    def _fused(
        self,
        x: Tensor,
        weight: Packed,
        bias: Tensor | None,
        out: Tensor,
        *,
        norm: RmsNorm | None,
        gated: bool,
        added: bool,
    ) -> None:
        matrix = weight.parts[0]
        if x.shape[0] == 1:
            gemv(x, matrix, bias, out, norm=norm, gated=gated, added=added)
            return
        normed = x if norm is None else rms_norm(x, norm)
        skinny(normed, matrix, bias, out, self._counters, gated=gated, added=added)


def pack(weight: Tensor) -> Packed:
    """The matrix as it is, [outputs, inputs], contiguous."""
    return Packed((weight.contiguous(),), weight.shape[1], weight.shape[0])


def _by_library(x: Tensor, weight: Packed, bias: Tensor | None) -> Tensor:
    matrix = weight.parts[0].t()
    return torch.mm(x, matrix) if bias is None else torch.addmm(bias, x, matrix)
