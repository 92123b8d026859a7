"""Kernels with the matrices themselves as weights, as those of a GPU are: nothing is packed or multiplied."""

from dataclasses import dataclass

from intaglio.kernels.contracts import Epilogue, RmsNorm, Weight
from intaglio.kernels.reference_kernels import ReferenceKernels
from torch import Tensor


@dataclass(frozen=True)
class KeptWeight:
    """A matrix. Its values may come later."""

    matrix: Tensor
    bias: Tensor | None

    @property
    def outputs(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def inputs(self) -> int:
        return int(self.matrix.shape[1])

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        raise NotImplementedError("its values may not be there")


class KeepingKernels(ReferenceKernels):
    """Kernels that read no matrix while a decoder is assembled."""

    @property
    def keeps_matrices(self) -> bool:
        return True

    def weight(self, matrix: Tensor, bias: Tensor | None = None) -> Weight:
        return KeptWeight(matrix, bias)
