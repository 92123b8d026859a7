"""A quantised matrix on a GPU, and the choice of kernel for each product.

Does: one row by `gemv_codes`, some by `skinny_codes`; more of them by the vendor's library, in 8 bits where the format
rounds activations too, else with the matrix converted for the product. Does not: know layers or formats.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from ..contracts import AddTo, Epilogue, Gate, RmsNorm
from ..linear.epilogue import ADDED, GATED, NOTHING, After
from ..linear.linear import by_library, finish
from ..linear.rms_norm import rms_norm
from .activations import quantised_rows, rescale
from .dequantise import dequantise
from .gemv_codes import gemv_codes, serves_one_row
from .packed_codes import CodeKind, PackedCodes
from .skinny_codes import SkinnyCodesShape, skinny_codes, skinny_codes_shape

MOST_ROWS = 64
"""The most rows of a product that reads codes: more of them are bound by arithmetic."""
WHOLE = 16
"""The library's products of 8-bit factors take multiples of so many inputs and outputs."""


Choose = Callable[[Tensor, PackedCodes, After], SkinnyCodesShape]


class CodedWeight:
    """A matrix in codes. See `Weight`.

    Products fuse the bias, a gate, and a residual without a norm, of few rows; the norm of one row where codes have 8
    bits; the norm of rows that are rounded to 8 bits.
    """

    def __init__(
        self,
        packed: PackedCodes,
        bias: Tensor | None,
        counters: Tensor,
        choose: Choose = skinny_codes_shape,
    ) -> None:
        """`counters`: the arrival counters of `skinny_codes`, shared by all matrices of one stream. `choose`: the shape
        of its tiles, for rows `x` and written outputs."""
        self.outputs, self.inputs = packed.outputs, packed.inputs
        self._packed = packed
        self._bias = bias
        self._counters = counters
        self._choose = choose
        self._scaled = _ScaledProduct.of(packed, bias)

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        packed, rows = self._packed, x.shape[0]
        if packed.order is not None:
            x = (x if norm is None else rms_norm(x, norm)).index_select(1, packed.order)
            norm = None
        if rows > MOST_ROWS:
            if self._scaled is not None and x.dtype == torch.bfloat16:
                return self._scaled.matmul(x, norm, epilogue)
            return by_library(x, norm, dequantise(packed, x.dtype), self._bias, epilogue)
        after, out, left = fused(rows, self.outputs, epilogue, x)
        if rows == 1 and serves_one_row(packed):
            gemv_codes(x, packed, self._bias, out, norm=norm, after=after)
        else:
            normed = x if norm is None else rms_norm(x, norm)
            shape = self._choose(normed, packed, after)
            skinny_codes(normed, packed, self._bias, out, self._counters, after=after, shape=shape)
        return finish(out, left, early=True)


def fused(
    rows: int, outputs: int, epilogue: Epilogue | None, x: Tensor
) -> tuple[After, Tensor, Epilogue | None]:
    """The part of `epilogue` that a kernel fuses, the tensor it writes, and the part that is left."""
    if isinstance(epilogue, AddTo) and epilogue.norm is None:
        return ADDED, epilogue.residual, None
    after, width, left = NOTHING, outputs, epilogue
    if isinstance(epilogue, Gate):
        after, width, left = GATED[epilogue.activation], outputs // 2, None
    return after, torch.empty((rows, width), dtype=x.dtype, device=x.device), left


class _ScaledProduct:
    """Products of bfloat16 rows, rounded to the 8 bits of the matrix, by the library."""

    def __init__(self, packed: PackedCodes, bias: Tensor | None) -> None:
        self._packed = packed
        self._bias = bias
        self._dtype = torch.int8 if packed.kind is CodeKind.SIGNED else torch.float8_e4m3fn
        self._transposed = packed.codes.view(torch.int8).view(self._dtype).t()
        self._row_of_scales = packed.scales.unsqueeze(0)

    @classmethod
    def of(cls, packed: PackedCodes, bias: Tensor | None) -> "_ScaledProduct | None":
        """None if the format does not round activations, or the library has no such product."""
        plain = packed.kind is not CodeKind.NIBBLE and not packed.grouped and packed.zeros is None
        fits = packed.padded % WHOLE == 0 and packed.outputs % WHOLE == 0
        return cls(packed, bias) if packed.activations and plain and fits else None

    def matmul(self, x: Tensor, norm: RmsNorm | None, epilogue: Epilogue | None) -> Tensor:
        """See `Weight`."""
        packed = self._packed
        rows, scales = quantised_rows(x, norm, self._dtype, padded=packed.padded, part=packed.part)
        if self._dtype == torch.int8:
            sums = torch._int_mm(rows, self._transposed)
            after, out, left = fused(x.shape[0], packed.outputs, epilogue, x)
            rescale(sums, scales, packed.scales, self._bias, out, after)
            return finish(out, left)
        product = torch._scaled_mm(
            rows,
            self._transposed,
            scales.unsqueeze(1),
            self._row_of_scales,
            self._bias,
            out_dtype=x.dtype,
            use_fast_accum=True,
        )
        return finish(product, epilogue)
