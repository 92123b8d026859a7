"""A weight matrix divided among ranks by its inputs (row-parallel).

Does: add up the ranks' partial products before the epilogue. Does not: divide the matrix (`sharded_weights`).
"""

from typing import Final

from intaglio.kernels.contracts import AddTo, Epilogue, Kernels, RmsNorm, Weight
from torch import Tensor

from ..errors import InternalError
from ..parallel.communicator import Communicator


class RowParallelWeight:
    """This rank's part [outputs, inputs / ranks] of a matrix; the products of all parts are summed. See `Weight`.

    The bias, if any, is that of the first rank's part.
    """

    def __init__(self, part: Weight, communicator: Communicator, kernels: Kernels) -> None:
        self.outputs, self.inputs = part.outputs, part.inputs
        self.part: Final = part
        self._communicator = communicator
        self._kernels = kernels

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`; one exchange with the other ranks.

        Raises:
            InternalError: `norm` is given, which needs whole rows.
        """
        if norm is not None:
            raise InternalError("a part of a row cannot be normed")
        product = self.part.matmul(x)
        if isinstance(epilogue, AddTo) and self._communicator.add_sum(product, epilogue):
            return epilogue.residual
        return self._kernels.finish(self._communicator.all_reduce(product), epilogue)
