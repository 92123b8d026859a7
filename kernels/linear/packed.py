"""Products of weights that are packed once for x86-64 CPUs with AVX2, by FBGEMM, a library within torch.

Does: multiply float32 rows by weights of int8 or of bfloat16, which it keeps as float16. Does not: decide where that
pays (`widened`), or add biases.

With int8 weights, where the format quantises activations, each row is quantised to 255 levels between minus and plus
its largest magnitude, to 127 on processors without VNNI: there more could overflow, since the instruction adds two
products of 8 bits in 16. In a row with an outlier, the other elements would have few levels; the residual of such a row
is quantised as well, and multiplied in a second product. Rows do not depend on each other, and sums of integers are
exact, so a row has the same bits in a product of any size.

Measured on one core of an AMD EPYC with AVX2, milliseconds for 3328 x 640 int8 weights (torch's product with int8
weights, or the conversion to float32, whichever is faster, in brackets): 0.19 (0.26) for one row, 0.26 (0.39) for 4,
0.67 (2.1) for 16, 9 (18 to 24) for 320; for a head of 8192 x 640 bfloat16 weights 0.26 (1.1), 0.48 (4.2) for 4 rows.
"""

import platform
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Protocol

import torch
from torch import Tensor

from .. import reference
from ..codes import Codes
from ..contracts import Epilogue, RmsNorm

ENGINE: Final = "fbgemm"
SMALLEST: Final = 1e-30
"""Rows of smaller magnitudes are zero."""
LARGEST: Final = 2.0**15
"""The largest magnitude of weights that are held as float16. Those of bfloat16 from 2**-14 on are exact in it, smaller
ones change by at most 2**-25."""


@dataclass(frozen=True, slots=True)
class Grid:
    """How rows are quantised: `steps` on either side of zero, which is the byte `zero`.

    Rows with a crest factor (largest magnitude over root mean square) of more than `crest` have a second product.
    """

    steps: int
    zero: int
    crest: int


COARSE: Final = Grid(63, 64, 8)
"""`2 * 128 * (steps + zero)` is at most `2**15 - 1`. In the embedded model rows without a second product have an error
of 1 to 2%; rows after gates, with a crest factor of 18, had 7%."""
FINE: Final = Grid(127, 128, 24)
"""Half of the error for the same row. A sixth of the rows after gates have a second product, with `COARSE` most."""


@cache
def is_available() -> bool:
    """Whether this CPU and this build of torch have the products."""
    if platform.machine() not in ("x86_64", "AMD64") or not torch.cpu._is_avx2_supported():
        return False
    return ENGINE in torch.backends.quantized.supported_engines and hasattr(
        torch.ops.quantized, "linear_with_input_q_dq_qweight_dq_output_fp32"
    )


class Product(Protocol):
    """`x` [N, inputs] of any floating dtype times the transpose of a matrix [outputs, inputs]."""

    @property
    def outputs(self) -> int: ...
    @property
    def inputs(self) -> int: ...
    def __call__(self, x: Tensor) -> Tensor:
        """The product as float32 [N, outputs], which the caller may overwrite."""
        ...


class PackedInt8:
    """A `Product` with int8 weights and a scale for each output, of matrices of the same inputs."""

    def __init__(self, blocks: Sequence[Codes], grid: Grid | None = None) -> None:
        """The outputs of `blocks` one after the other; `fits_int8` must hold for each.

        `grid`: see `finest`, which it is if None.
        """
        self.grid = finest() if grid is None else grid
        values = torch.cat([block.values for block in blocks])
        scales = torch.cat([block.scales[:, 0] for block in blocks])
        self.outputs, self.inputs = values.shape
        zeros = torch.zeros(self.outputs, dtype=torch.long)
        with warnings.catch_warnings():
            # torch deprecates tensors with a quantised dtype, but packs no other; it exists only within this call.
            warnings.simplefilter("ignore", UserWarning)
            matrix = torch._make_per_channel_quantized_tensor(values, scales.double(), zeros, 0)
            self._packed = _with_engine(torch.ops.quantized.linear_prepack, matrix)

    def __call__(self, x: Tensor) -> Tensor:
        """See `Product`."""
        wide = x.float()
        largest = wide.abs().amax(1, keepdim=True).clamp_(min=SMALLEST)
        most = self.grid.steps
        exact = wide * (most / largest)
        steps = exact.round()
        product = self.sums(steps)
        peaked = (exact.square().mean(1) < (most / self.grid.crest) ** 2).nonzero().view(-1)
        if peaked.numel() > 0:
            residual = (exact[peaked] - steps[peaked]).mul_(2 * most).round_()
            product.index_add_(0, peaked, self.sums(residual), alpha=1 / (2 * most))
        return product.mul_(largest / most)

    def sums(self, steps: Tensor) -> Tensor:
        """The product of integers [N, inputs], stored as float32, each at most `grid.steps` from zero."""
        multiply = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32
        product: Tensor = multiply(steps, 1.0, self.grid.zero, self._packed)
        return product


@cache
def finest() -> Grid:
    """The finest grid of which this processor multiplies the largest numbers without overflow."""
    inputs, outputs = 64, 16
    for sign in (-1, 1):
        values = torch.full((outputs, inputs), sign * FINE.steps, dtype=torch.int8)
        codes = Codes(values, torch.ones(outputs, 1), None, inputs, 8, activations=True)
        steps = torch.full((2, inputs), float(FINE.steps))
        steps[1] = -steps[1]
        right = steps @ values.float().T
        if not torch.equal(PackedInt8([codes], FINE).sums(steps), right):
            return COARSE
    return FINE


class PackedFloat16:
    """A `Product` with weights of bfloat16, held as float16. It copies them."""

    def __init__(self, matrix: Tensor) -> None:
        """`matrix` [outputs, inputs]; `fits_float16` must hold for it."""
        self.outputs, self.inputs = matrix.shape
        self._packed = _with_engine(torch.ops.quantized.linear_prepack_fp16, matrix.float())

    def __call__(self, x: Tensor) -> Tensor:
        """See `Product`."""
        product: Tensor = torch.ops.quantized.linear_dynamic_fp16(x.float(), self._packed)
        return product


def fits_int8(codes: Codes) -> bool:
    """Whether `codes` are plain int8, in a format that rounds activations as well."""
    return codes.is_plain_int8 and codes.activations


def fits_float16(matrix: Tensor) -> bool:
    """Whether all values of `matrix` are within the range of float16; not so if one is not a number."""
    return bool(matrix.abs().amax() <= LARGEST)


class PackedWeight:
    """A packed matrix as a `Weight`: products in float32 are rounded to the dtype of the rows."""

    def __init__(self, product: Product, bias: Tensor | None = None) -> None:
        self.outputs, self.inputs = product.outputs, product.inputs
        self._product, self._bias = product, bias

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        if norm is not None:
            x = reference.rms_norm(x, norm.weight, norm.eps)
        wide = self._product(x)
        if self._bias is not None:
            wide.add_(self._bias)
        return reference.finish(wide.to(x.dtype), epilogue)


def _with_engine(pack: Any, matrix: Tensor) -> Any:
    """`pack(matrix, None)` in the layout of FBGEMM, which a setting of the whole process chooses."""
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = ENGINE
    try:
        return pack(matrix, None)
    finally:
        torch.backends.quantized.engine = before
