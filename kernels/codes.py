"""A quantised matrix as codes with scales.

Does: define the value of codes, and compute the matrix. Does not: know the formats of files (`engine/model/schemes`),
or multiply (`quantised`).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

ROWS = 256
"""Rows of a matrix that are converted at once; this bounds the memory of float32 copies."""


@dataclass(frozen=True, slots=True)
class Codes:
    """A matrix [outputs, inputs]: each element is (code - zero) * scale, computed in float32.

    `values` [outputs, inputs], of one byte each: int8, uint8 or an 8-bit float. `scales` and `zeros` [outputs, groups]
    float32, for groups of `group_size` columns each. Column `c` of these tensors belongs to input `order[c]`, to input
    `c` without an order. `bits` is the number of bits that the integers have, 0 for floats. `activations`: the format
    also rounds the rows that are multiplied to 8 bits, so that a product may do so.
    """

    values: Tensor
    scales: Tensor
    zeros: Tensor | None
    group_size: int
    bits: int
    order: Tensor | None = None
    activations: bool = False

    @property
    def is_plain_int8(self) -> bool:
        """Whether the codes are int8 with one scale for each output, without zeros and order."""
        plain = self.zeros is None and self.order is None and self.values.dtype == torch.int8
        return plain and self.bits == 8 and self.scales.shape[1] == 1

    def dense(self, dtype: torch.dtype) -> Tensor:
        """The matrix in `dtype`, its columns in the order of the inputs."""
        outputs, inputs = self.values.shape
        out = self.values.new_empty((outputs, inputs), dtype=dtype)
        for begin in range(0, outputs, ROWS):
            rows = slice(begin, begin + ROWS)
            zeros = None if self.zeros is None else self.zeros[rows]
            out[rows] = scaled(self.values[rows], self.scales[rows], zeros, self.group_size)
        if self.order is None:
            return out
        return out[:, torch.argsort(self.order)]


def scaled(values: Tensor, scales: Tensor, zeros: Tensor | None, group_size: int) -> Tensor:
    """(values - zeros) * scales in float32, by groups of columns; the last group may be shorter."""
    outputs, inputs = values.shape
    floats = torch.nn.functional.pad(values.to(torch.float32), (0, -inputs % group_size))
    groups = floats.view(outputs, -1, group_size)
    if zeros is not None:
        groups = groups - zeros.unsqueeze(2)
    return (groups * scales.unsqueeze(2)).view(outputs, -1)[:, :inputs]
