"""Batch-invariant kernels for a GPU: a row's results have the same bits in every step.

Does: replace those kernels of `GpuKernels` that sum in an order which depends on the number of rows. Does not: products
of codes, mixtures of experts, adapters, or one model on several GPUs; an engine refuses these.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from .attention.paged import UnsplitAttention
from .codes import Codes
from .contracts import (
    PLAIN_SCALING,
    AttentionPass,
    Places,
    Ragged,
    ScoreScaling,
    Weight,
)
from .gpu import COUNTERS, GpuKernels
from .linear.fixed_order import FixedOrderWeight, Tile, agreeing_tiles
from .sample.logits_pipeline import TokenSampler

SPLITS = 8
"""Programs of a row of logits: enough for a few rows, few enough to be cheap for many."""


class InvariantGpuKernels(GpuKernels):
    """`Kernels` for a GPU and a model in `dtype`; a row does not depend on the other rows of a step."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        super().__init__(device)
        self._sampler = TokenSampler(device, COUNTERS, SPLITS)
        self._dtype = dtype
        self._tiles: dict[tuple[int, int], Sequence[Tile]] = {}

    @property
    def keeps_matrices(self) -> bool:
        """False: tiles are compared by products with the first matrix of a shape."""
        return False

    def weight(self, matrix: Tensor, bias: Tensor | None = None) -> Weight:
        """A weight on the matrix itself; the tiles of its shape are compared once."""
        weight = FixedOrderWeight(matrix, bias, self._counters)
        shape = weight.outputs, weight.inputs
        if shape not in self._tiles:
            self._tiles[shape] = agreeing_tiles(weight, self._dtype)
        weight.tiles = self._tiles[shape]
        return weight

    def coded(
        self,
        blocks: Sequence[Codes],  # noqa: ARG002 - none is multiplied
        bias: Tensor | None,  # noqa: ARG002 - as above
        dtype: torch.dtype,  # noqa: ARG002 - as above
    ) -> Weight | None:
        """None: quantised weights are converted to the dtype of the model."""
        return None

    def attend(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
    ) -> AttentionPass:
        """Two launches for each layer."""
        if cache_shape[0] == 1:
            raise ValueError("a GPU has no latent attention")
        return UnsplitAttention(ragged, places, heads, cache_shape, scores, window)
