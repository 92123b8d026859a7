"""The unquantised weight matrix on a GPU, and the choice of kernel for each product.

Does: one row by `gemv`, a few by `skinny`, many by torch (the vendor's library) with the norm and the epilogue as
separate kernels. Does not: know layers.
"""

import torch
from torch import Tensor

from ..contracts import AddTo, Epilogue, Gate, Logits, RmsNorm
from ..runtime.softcap import softcap
from .epilogue import ADDED, GATED, NOTHING
from .gemv import gemv
from .masked_head import MOST_MASKED_ROWS, legal_row, legal_words
from .rms_norm import rms_norm
from .silu_gate import gate
from .skinny import MOST_OF_TILE, MOST_ROWS, skinny

SMALL = 8 << 20
"""Elements of a matrix up to which `skinny` uses a second tile of rows. The library multiplies more than one tile of
rows faster, but its kernels do not overlap, which costs half a microsecond each: for a small matrix more than they
save.
"""


class DenseWeight:
    """A matrix [outputs, inputs] in the dtype of the model. See `Weight`.

    Products of few rows fuse the norm of one row, the bias, a gate, a residual without a norm, and the selection of
    legal logits. Post-norms and soft caps are separate launches.
    """

    def __init__(self, matrix: Tensor, bias: Tensor | None, counters: Tensor) -> None:
        """`counters`: the arrival counters of `skinny`, shared by all matrices of one stream."""
        self.outputs, self.inputs = matrix.shape
        self.matrix = matrix.contiguous()
        self.bias = bias
        self._counters = counters
        self._most_rows = most_rows(self.outputs, self.inputs)

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        rows = x.shape[0]
        legal = epilogue.legal if isinstance(epilogue, Logits) else None
        if legal is not None and rows <= MOST_MASKED_ROWS:
            words = legal_words(legal, rows, self.outputs)
            return finish(self._legal_logits(x, norm, words), epilogue)
        if rows > self._most_rows:
            return by_library(x, norm, self.matrix, self.bias, epilogue)
        after, out, width = NOTHING, None, self.outputs
        if isinstance(epilogue, Gate):
            after, width, epilogue = GATED[epilogue.activation], width // 2, None
        elif isinstance(epilogue, AddTo) and epilogue.norm is None:
            after, out, epilogue = ADDED, epilogue.residual, None
        if out is None:
            out = torch.empty((rows, width), dtype=x.dtype, device=x.device)
        if rows == 1:
            gemv(x, self.matrix, self.bias, out, norm=norm, after=after)
        else:
            normed = x if norm is None else rms_norm(x, norm)
            skinny(normed, self.matrix, self.bias, out, self._counters, after=after)
        return finish(out, epilogue, early=True)

    def _legal_logits(self, x: Tensor, norm: RmsNorm | None, words: Tensor) -> Tensor:
        """Logits of few rows where a bit of `words` is set (see `legal_words`); others are uninitialised memory."""
        rows = x.shape[0]
        out = torch.empty((rows, self.outputs), dtype=x.dtype, device=x.device)
        if rows == 1 and norm is not None:
            legal_row(x, norm, self.matrix, self.bias, words, out)
        else:
            normed = x if norm is None else rms_norm(x, norm)
            skinny(normed, self.matrix, self.bias, out, self._counters, legal=words)
        return out


def by_library(
    x: Tensor,
    norm: RmsNorm | None,
    matrix: Tensor,
    bias: Tensor | None,
    epilogue: Epilogue | None,
) -> Tensor:
    """The product of `x` [N, inputs] and `matrix` [outputs, inputs] by the vendor's library. See `Weight.matmul`."""
    if norm is not None:
        x = rms_norm(x, norm, early=False)
    transposed = matrix.t()
    if isinstance(epilogue, AddTo) and epilogue.norm is None:
        residual = epilogue.residual
        if bias is not None:
            residual.add_(bias)
        return residual.addmm_(x, transposed)
    if bias is None:
        return finish(torch.mm(x, transposed), epilogue)
    return finish(torch.addmm(bias, x, transposed), epilogue)


def most_rows(outputs: int, inputs: int) -> int:
    """The most rows of a product that `skinny` computes; the library computes larger ones."""
    return MOST_ROWS if outputs * inputs <= SMALL else MOST_OF_TILE


def finish(product: Tensor, epilogue: Epilogue | None, *, early: bool = False) -> Tensor:
    """See `Kernels.finish`. `early`: see `rms_norm.rms_norm`."""
    match epilogue:
        case Gate(activation):
            return gate(product, activation)
        case AddTo(residual, None):
            return residual.add_(product)
        case AddTo(residual, RmsNorm() as norm):
            return rms_norm(product, norm, onto=residual, early=early)
        case Logits(softcap=cap) if cap is not None:
            softcap(product, cap)
    return product
