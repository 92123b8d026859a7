"""Arguments and options that the launches of all attention kernels share.

Does: describe the layout of heads and blocks under the kernels' parameter names, and collect the pointers to a step's
keys. Does not: launch. The options of a step are computed once and used for all layers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import triton
from torch import Tensor

from ..contracts import Ragged, ScoreScaling
from ..runtime.launch import overlap

LOG2_E = 1.4426950408889634


class Tiling(Protocol):
    """Tile shape: keys loaded at once (`tile`), tiles in flight (`stages`), warps of a program."""

    @property
    def tile(self) -> int: ...

    @property
    def stages(self) -> int: ...

    @property
    def warps(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes of the attention heads and blocks: key heads, query heads per key head, head size, tokens per block, score
    scaling, and the keys that a token sees, None for all.

    Kernels compute softmax weights as powers of two, so scores are scaled by log2(e).
    """

    kv_heads: int
    group: int
    dim: int
    block_size: int
    scores: ScoreScaling
    window: int | None

    @property
    def scale(self) -> float:
        """The factor that turns products of queries and keys into scores."""
        scale = self.scores.scale
        return LOG2_E / math.sqrt(self.dim) if scale is None else LOG2_E * scale

    def options(self, tiling: Tiling, near: Tensor) -> dict[str, Any]:
        """The constants and options of every launch on `near`'s device; each kernel adds its own and those of the
        dtype."""
        return {
            "KV_HEADS": self.kv_heads,
            "GROUP": self.group,
            "DIM": self.dim,
            "BLOCK_DIM": max(16, triton.next_power_of_2(self.dim)),
            "BLOCK_SIZE": self.block_size,
            "CAP": LOG2_E * (self.scores.softcap or 0.0),
            "WINDOW": self.window or 0,
            "TILE": tiling.tile,
            "STAGES": tiling.stages,
            "num_warps": tiling.warps,
            **overlap(near),
        }


def layout(
    heads: int, cache_shape: Sequence[int], scores: ScoreScaling, window: int | None
) -> Layout:
    """The layout for `heads` query heads and a cache [2, num_blocks, block_size, kv_heads, head_dim]."""
    _, _, block_size, kv_heads, dim = cache_shape
    return Layout(kv_heads, heads // kv_heads, dim, block_size, scores, window)


def read_by(query: Tensor, cache: Tensor, ragged: Ragged) -> tuple[Any, ...]:
    """The leading arguments of every kernel: queries, cache and block tables, each with its stride, and context
    lengths."""
    tables = ragged.block_tables
    return (
        query,
        query.stride(0),
        cache,
        cache.stride(0),
        tables,
        tables.stride(0),
        ragged.context_lengths,
    )
