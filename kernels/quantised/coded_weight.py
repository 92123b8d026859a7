"""A quantised matrix on a GPU, and the choice of kernel for each product.

Does: one row by `codes_gemv`, where that reads the form; few rows by `narrow_codes`; more by `skinny_codes`, or rounded
to 8 bits where the format rounds activations; many by the vendor's library. Does not: know layers or formats.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ..contracts import AddTo, Epilogue, Gate, RmsNorm
from ..linear.epilogue import ADDED, GATED, NOTHING, After
from ..linear.linear import by_library, finish
from ..linear.rms_norm import rms_norm
from .activations import quantised_rows
from .codes_gemv import codes_gemv, reads_row
from .codes_gemv_shape import CodesGemvShape, codes_gemv_shape
from .dequantise import dequantise
from .narrow_codes import NARROW_ROWS, NarrowCodesShape, narrow_codes, narrow_codes_shape
from .packed_codes import CodeKind, PackedCodes
from .scaled_tiles import ScaledTilesShape, scaled_tiles, scaled_tiles_shape
from .skinny_codes import SkinnyCodesShape, skinny_codes, skinny_codes_shape

MOST_ROWS = {CodeKind.NIBBLE: 256, CodeKind.SIGNED: 64, CodeKind.FLOAT: 64}
"""The most rows of a product that reads codes. Measured on an H200: of more rows, the conversion of the matrix and the
library's product take less time."""
WHOLE = 16
"""The library's product of floats of 8 bits takes multiples of this many inputs and outputs."""
FEW_SCALED = 64
"""The most rows of a product of 8-bit factors in which kernels overlap."""
MOST_SCALED = 128
"""The most rows of floats that are multiplied by `scaled_tiles`; the library is faster for more."""


@dataclass(frozen=True, slots=True)
class TileRules:
    """The rules by which kernels choose their tiles, for rows `x` or their number, a matrix and a fused epilogue."""

    row: Callable[[PackedCodes, After, torch.device], CodesGemvShape] = codes_gemv_shape
    narrow: Callable[[Tensor, PackedCodes], NarrowCodesShape] = narrow_codes_shape
    skinny: Callable[[Tensor, PackedCodes, After], SkinnyCodesShape] = skinny_codes_shape
    scaled: Callable[[int, PackedCodes, After], ScaledTilesShape] = scaled_tiles_shape


MEASURED = TileRules()


class CodedWeight:
    """A matrix in codes. See `Weight`.

    Products of codes fuse the bias, a gate, and a residual without a norm; those of one bfloat16 row the norm as well.
    The two matrices of a gate make programs of `narrow_codes` so large that fewer run at once: 29 instead of 24 us for
    28672 outputs of 4096 inputs of 4 bits. Products of rounded rows fuse the norm, too; of many rows of floats nothing
    else.
    """

    def __init__(
        self,
        packed: PackedCodes,
        bias: Tensor | None,
        counters: Tensor,
        rules: TileRules = MEASURED,
    ) -> None:
        """`counters`: the arrival counters of `skinny_codes`, shared by all matrices of one stream."""
        self.outputs, self.inputs = packed.outputs, packed.inputs
        self._packed = packed
        self._bias = bias
        self._counters = counters
        self._rules = rules
        self._scaled = _ScaledProduct.of(packed, bias, rules)

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        packed, rows = self._packed, x.shape[0]
        if packed.order is not None:
            x = (x if norm is None else rms_norm(x, norm)).index_select(1, packed.order)
            norm = None
        if rows > NARROW_ROWS and self._scaled is not None and x.dtype == torch.bfloat16:
            return self._scaled.matmul(x, norm, epilogue)
        if rows > MOST_ROWS[packed.kind]:
            return by_library(x, norm, dequantise(packed, x.dtype), self._bias, epilogue)
        after, out, left = fused(rows, self.outputs, epilogue, x)
        if rows == 1 and reads_row(packed, x, norm):
            tile = self._rules.row(packed, after, x.device)
            codes_gemv(x, packed, self._bias, out, norm=norm, after=after, shape=tile)
            return finish(out, left, early=True)
        narrow = rows <= NARROW_ROWS and after.activation is None
        if norm is not None and not (narrow and rows == 1):
            x, norm = rms_norm(x, norm), None
        if narrow:
            tiles = self._rules.narrow(x, packed)
            narrow_codes(x, packed, self._bias, out, norm=norm, after=after, shape=tiles)
        else:
            shape = self._rules.skinny(x, packed, after)
            skinny_codes(x, packed, self._bias, out, self._counters, after=after, shape=shape)
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
    """Products of bfloat16 rows that are rounded to the 8 bits of the matrix."""

    def __init__(self, packed: PackedCodes, bias: Tensor | None, rules: TileRules) -> None:
        self._packed = packed
        self._rules = rules
        self._bias = bias
        self._dtype = torch.int8 if packed.kind is CodeKind.SIGNED else torch.float8_e4m3fn
        self._transposed = packed.codes.view(torch.int8).view(self._dtype).t()
        whole = packed.padded % WHOLE == 0 and packed.outputs % WHOLE == 0
        by_library = self._dtype != torch.int8 and whole
        self._most_rows = MOST_SCALED if by_library else None

    @classmethod
    def of(
        cls, packed: PackedCodes, bias: Tensor | None, rules: TileRules
    ) -> "_ScaledProduct | None":
        """None if the format does not round activations, or has more than a scale for each output."""
        plain = packed.kind is not CodeKind.NIBBLE and not packed.grouped and packed.zeros is None
        return cls(packed, bias, rules) if packed.activations and plain else None

    def matmul(self, x: Tensor, norm: RmsNorm | None, epilogue: Epilogue | None) -> Tensor:
        """See `Weight`."""
        packed, count = self._packed, x.shape[0]
        early = count <= FEW_SCALED
        rows = quantised_rows(
            x, norm, self._dtype, padded=packed.padded, part=packed.part, early=early
        )
        if self._most_rows is None or count <= self._most_rows:
            after, out, left = fused(count, packed.outputs, epilogue, x)
            tiles = self._rules.scaled(count, packed, after)
            scaled_tiles(rows, packed, self._bias, out, after=after, shape=tiles, early=early)
            return finish(out, left, early=early)
        product = torch._scaled_mm(
            rows.values,
            self._transposed,
            rows.scales.unsqueeze(1),
            packed.scales.unsqueeze(0),
            self._bias,
            out_dtype=x.dtype,
            use_fast_accum=True,
        )
        return finish(product, epilogue)
