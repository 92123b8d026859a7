"""INT8 weights with one scale for each output, quantised while they are loaded.

Does: hold weights in a quarter of the memory of float32, half of that of bfloat16. Does not: quantise activations, the
embedding, or the head.

On a CPU in bfloat16, products of few rows use torch's product with int8 weights, which reads half as many bytes: one
row took 0.17 instead of 0.56 ms with 3072 x 1024 weights on one core of a Xeon with AMX. All other products convert the
weights slice by slice, which takes twice as long for one row in float32; to float32 also in bfloat16 where the CPU has
no instructions for it (`kernels.linear.widened`). On a GPU the kernels for codes multiply.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from intaglio.kernels.codes import Codes
from intaglio.kernels.contracts import Epilogue, Kernels, RmsNorm, Weight
from intaglio.kernels.linear.widened import is_widened, widened_product
from torch import Tensor

from ...errors import ConfigError
from .scheme import Dense, Part, stacked

LARGEST = 127
SLICE = 512
"""The number of inputs that are converted at once."""
FEW, FEW_WIDENED = 8, 16
"""The most rows of bfloat16 for which torch's product with int8 weights is faster than a conversion to bfloat16, and to
float32."""
WHOLE = 64
"""The number of inputs is a multiple of this in torch's product, which reads whole vectors, even past a row's end."""


@dataclass(frozen=True, slots=True)
class Int8(Dense):
    """Weights that are unquantised in the checkpoint and int8 in memory."""

    def weight(self, parts: Sequence[Part], bias: Tensor | None, kernels: Kernels) -> Weight:
        """See `Scheme`. Raises `ConfigError` on a GPU in another dtype than bfloat16."""
        matrix = stacked([part(".weight") for part in parts])
        values, scales = rounded(matrix)
        codes = Codes(values, scales.float().unsqueeze(1), None, values.shape[1], 8)
        coded = kernels.coded([codes], bias, matrix.dtype)
        if coded is not None:
            return coded
        if matrix.device.type != "cpu":
            raise ConfigError(
                f"int8 weights on a GPU are for models in bfloat16, and dtype is {matrix.dtype}",
                where="quantization",
                hint="leave quantization at none, or set dtype to bfloat16",
            )
        return kernels.settled(Int8Weight(values, scales, bias, kernels))


def rounded(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """`matrix` [outputs, inputs] as int8 steps, and the size [outputs] of a step of each row, exact in its dtype."""
    largest = matrix.float().abs().amax(1)
    scales = (largest / LARGEST).to(matrix.dtype)
    scales = torch.where(scales > 0, scales, torch.ones_like(scales))
    steps = matrix.float() / scales.float().unsqueeze(1)
    return steps.round_().clamp_(-LARGEST, LARGEST).to(torch.int8), scales


class Int8Weight:
    """A matrix [outputs, inputs] of int8 times a scale for each output. See `Weight`."""

    def __init__(
        self, values: Tensor, scales: Tensor, bias: Tensor | None, kernels: Kernels
    ) -> None:
        """`values` [outputs, inputs] int8; `scales` [outputs] in the dtype of the model."""
        self.outputs, self.inputs = values.shape
        self._values = values
        self._scales = scales
        self._bias = bias
        self._kernels = kernels
        self._few = FEW_WIDENED if is_widened(scales.dtype) else FEW

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        if norm is not None:
            x = self._kernels.rms_norm(x, norm)
        if x.dtype == torch.bfloat16 and x.shape[0] <= self._few and self.inputs % WHOLE == 0:
            product = torch._weight_int8pack_mm(x.contiguous(), self._values, self._scales)
        else:
            product = self._converted(x)
        if self._bias is not None:
            product.add_(self._bias)
        return self._kernels.finish(product, epilogue)

    def _converted(self, x: Tensor) -> Tensor:
        """The product by slices of the inputs, summed in order; see `reference.ReferenceWeight`."""
        if is_widened(x.dtype):
            return widened_product(x, self._values).mul_(self._scales).to(x.dtype)
        out: Tensor | None = None
        for at in range(0, self.inputs, SLICE):
            part = self._values[:, at : at + SLICE].t().to(x.dtype)
            rows = x[:, at : at + SLICE]
            out = torch.mm(rows, part) if out is None else out.addmm_(rows, part)
        assert out is not None
        return out.mul_(self._scales)
