"""A quantised matrix as codes with scales, and the weight that multiplies by it.

Does: define the value of codes; choose and build their form in memory. Does not: know the formats of files (`gptq`,
`awq`, `compressed_tensors`, `fp8`).

On a CPU in bfloat16, matrices of 4 or 8 bits stay in codes, for which torch has products that read fewer bytes: one row
with 3072 x 1024 weights of 4 bits took 0.17 ms, in bfloat16 0.54 ms, on one core of a Xeon with AMX. Everything else
becomes the model's dtype while it is loaded: then the checkpoint costs the memory and the time of an unquantised one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from intaglio.kernels.codes import ROWS, Codes, scaled
from intaglio.kernels.contracts import Epilogue, Kernels, RmsNorm, Weight
from intaglio.kernels.linear.widened import product
from torch import Tensor

from .int8 import Int8Weight

FEW = 32
"""The most rows of `x` for which torch's product with 4-bit weights is faster than converting them."""
INT4_GROUPS = (32, 64, 128, 256)
INT4_OUTPUTS = 16
"""torch's product with 4-bit weights takes these group sizes, and a number of outputs that this one divides."""
INT4_MIDDLE = 8


def codes_weight(
    blocks: Sequence[Codes], bias: Tensor | None, kernels: Kernels, dtype: torch.dtype
) -> Weight:
    """The weight of `blocks`, with the same inputs and concatenated along the outputs, for a model in `dtype`."""
    coded = kernels.coded(blocks, bias, dtype)
    if coded is not None:
        return coded
    on_cpu = blocks[0].values.device.type == "cpu"
    if on_cpu and dtype == torch.bfloat16:
        if all(map(_fits_int4, blocks)):
            return kernels.settled(Int4Weight(blocks, bias, kernels))
        if all(block.is_plain_int8 for block in blocks):
            values = torch.cat([block.values for block in blocks])
            scales = torch.cat([block.scales[:, 0] for block in blocks])
            return kernels.settled(Int8Weight(values, scales.to(dtype), bias, kernels))
    return kernels.weight(torch.cat([block.dense(dtype) for block in blocks]), bias)


def _fits_int4(codes: Codes) -> bool:
    outputs, inputs = codes.values.shape
    whole = outputs % INT4_OUTPUTS == 0 and inputs % codes.group_size == 0
    return codes.bits == 4 and whole and codes.group_size in INT4_GROUPS


class Int4Weight:
    """Matrices of 4-bit codes for bfloat16 on a CPU. See `Weight`.

    Products of few rows use torch's own, those of many rows convert the codes. Scales are rounded to bfloat16 in the
    former, weights in the latter.
    """

    def __init__(self, blocks: Sequence[Codes], bias: Tensor | None, kernels: Kernels) -> None:
        self.outputs = sum(block.values.shape[0] for block in blocks)
        self.inputs = int(blocks[0].values.shape[1])
        self._blocks = tuple(map(_Int4Block.of, blocks))
        self._bias = bias
        self._kernels = kernels

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        if norm is not None:
            x = self._kernels.rms_norm(x, norm)
        product = torch.cat([part for block in self._blocks for part in block.product(x)], 1)
        if self._bias is not None:
            product.add_(self._bias)
        return self._kernels.finish(product, epilogue)


@dataclass(frozen=True, slots=True)
class _Int4Block:
    """`pairs` [outputs, inputs / 2] uint8 holds two codes a byte; `packed` and `factors` are torch's own forms."""

    pairs: Tensor
    packed: Tensor
    factors: Tensor
    codes: Codes

    @classmethod
    def of(cls, codes: Codes) -> "_Int4Block":
        values = codes.values
        zeros = torch.zeros_like(codes.scales) if codes.zeros is None else codes.zeros
        if values.dtype == torch.int8:  # torch's product takes unsigned codes
            values, zeros = (values + INT4_MIDDLE).to(torch.uint8), zeros + INT4_MIDDLE
        factors = torch.stack((codes.scales, (INT4_MIDDLE - zeros) * codes.scales), 2)
        empty = values.new_empty((values.shape[0], 0))
        return cls(
            pairs=values[:, 0::2] | values[:, 1::2] << 4,
            packed=torch.ops.aten._convert_weight_to_int4pack_for_cpu(values.to(torch.int32), 1),
            factors=factors.transpose(0, 1).contiguous().to(torch.bfloat16),
            codes=Codes(empty, codes.scales, zeros, codes.group_size, 4, codes.order),
        )

    def product(self, x: Tensor) -> Iterator[Tensor]:
        """The columns of the product, in pieces."""
        if self.codes.order is not None:
            x = x[:, self.codes.order]
        size = self.codes.group_size
        if x.shape[0] <= FEW:
            yield torch.ops.aten._weight_int4pack_mm_for_cpu(
                x.contiguous(), self.packed, size, self.factors
            )
            return
        for begin in range(0, self.pairs.shape[0], ROWS):
            rows = slice(begin, begin + ROWS)
            pairs, zeros = self.pairs[rows], self.codes.zeros
            assert zeros is not None
            values = torch.stack((pairs & 15, pairs >> 4), 2).flatten(1)
            matrix = scaled(values, self.codes.scales[rows], zeros[rows], size)
            yield product(x, matrix.to(x.dtype))
