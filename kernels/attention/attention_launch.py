"""Arguments and options that the launches of all attention kernels share.

Does: say once, as the kernels name it, how heads and blocks are laid out and where a step's keys are. Does not: launch.
A step's options are made once, and serve all its layers.
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
    """Keys loaded at once (`tile`), tiles in flight (`stages`), warps of a program."""

    @property
    def tile(self) -> int: ...

    @property
    def stages(self) -> int: ...

    @property
    def warps(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Layout:
    """Key heads, query heads of each, their size, tokens of a block, and the rule for scores.

    Kernels weigh keys by powers of two, so scores are in units of the binary logarithm.
    """

    kv_heads: int
    group: int
    dim: int
    block_size: int
    scores: ScoreScaling

    @property
    def scale(self) -> float:
        """Factor from products of queries and keys to scores."""
        scale = self.scores.scale
        return LOG2_E / math.sqrt(self.dim) if scale is None else LOG2_E * scale

    def options(self, tiling: Tiling, near: Tensor) -> dict[str, Any]:
        """Constants and options of any launch on `near`'s device; kernels add those of their own and of the dtype."""
        return {
            "KV_HEADS": self.kv_heads,
            "GROUP": self.group,
            "DIM": self.dim,
            "BLOCK_DIM": max(16, triton.next_power_of_2(self.dim)),
            "BLOCK_SIZE": self.block_size,
            "CAP": LOG2_E * (self.scores.softcap or 0.0),
            "TILE": tiling.tile,
            "STAGES": tiling.stages,
            "num_warps": tiling.warps,
            **overlap(near),
        }


def layout(heads: int, cache_shape: Sequence[int], scores: ScoreScaling) -> Layout:
    """Of `heads` query heads over a cache [2, num_blocks, block_size, kv_heads, head_dim]."""
    _, _, block_size, kv_heads, dim = cache_shape
    return Layout(kv_heads, heads // kv_heads, dim, block_size, scores)


def read_by(query: Tensor, cache: Tensor, ragged: Ragged) -> tuple[Any, ...]:
    """The first arguments of every kernel: queries, cache, block tables, each with its stride; context lengths."""
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
