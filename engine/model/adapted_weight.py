"""A weight with adapters (LoRA): to the product of each row, that of the row's adapter is added.

Does: hold the adapters of a step's rows, and add their products before the epilogue, over a weight of any format. Does
not: hold matrices of adapters (`adapter_tables`).
"""

from intaglio.kernels.contracts import (
    AdapterRows,
    Epilogue,
    Kernels,
    LowRank,
    RmsNorm,
    Weight,
)
from torch import Tensor


class StepAdapters:
    """The adapters of the rows of the present step, for all weights of a model with `count` places."""

    def __init__(self, kernels: Kernels, count: int) -> None:
        self._kernels = kernels
        self._count = count
        self._rows: AdapterRows | None = None

    @property
    def rows(self) -> AdapterRows | None:
        """The rows of the present products; None if none has an adapter."""
        return self._rows

    def begin(self, places: Tensor | None) -> None:
        """Begin a step of rows with adapters at `places` [N] int32; None: no row has an adapter."""
        self._rows = None if places is None else self._kernels.adapter_rows(places, self._count)

    def narrow(self, indices: Tensor) -> None:
        """Continue the step with the rows of these indices only."""
        if self._rows is not None:
            self.begin(self._rows.places.index_select(0, indices))


class AdaptedWeight:
    """The product of `base`, plus the low-rank products of the rows' adapters. See `Weight`."""

    def __init__(
        self, base: Weight, factors: LowRank, step: StepAdapters, kernels: Kernels
    ) -> None:
        self.outputs, self.inputs = base.outputs, base.inputs
        self._base = base
        self._factors = factors
        self._step = step
        self._kernels = kernels

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`; where no row has an adapter, exactly that of the base."""
        rows = self._step.rows
        if rows is None:
            return self._base.matmul(x, norm, epilogue)
        if norm is not None:
            x = self._kernels.rms_norm(x, norm)
        product = self._base.matmul(x)
        self._kernels.add_low_rank(product, x, self._factors, rows)
        return self._kernels.finish(product, epilogue)
