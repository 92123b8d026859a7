"""Tests whether the attention of a row, on this processor, depends on the other rows of the call.

Does: compare chunks of several sizes with single rows, on random values. Does not: say why they differ.
"""

from functools import lru_cache

import torch

from ..contracts import Ragged, ScoreScaling
from .reference_attention import TILE, ReferenceAttention, Workspace

ROWS = 2 * TILE + 37
"""Positions of the comparison: several tiles, of which the last is not full."""

COUNTS = (2, 3, 5, 8, 13, 21, 34, 55, ROWS)
"""The numbers of rows of a sequence in a step."""


@lru_cache(maxsize=64)
def chunks_agree(
    heads: int, kv_heads: int, head_dim: int, scores: ScoreScaling, dtype: torch.dtype
) -> bool:
    """Whether each row has the same bits in steps with any of `COUNTS` as in steps of one row for each sequence."""
    dice = torch.Generator().manual_seed(0)
    shape = (2, ROWS // TILE + 2, TILE, kv_heads, head_dim)
    cache = torch.randn(shape, generator=dice).to(dtype)
    query = torch.randn(ROWS, heads, head_dim, generator=dice).to(dtype)
    workspace = Workspace()

    def attended(count: int) -> torch.Tensor:
        ends = torch.tensor([*range(count, ROWS, count), ROWS], dtype=torch.int32)
        starts = torch.cat((torch.zeros(1, dtype=torch.int32), ends))
        tables = torch.arange(1, shape[1], dtype=torch.int32).expand(ends.numel(), -1)
        ragged = Ragged(starts, ends, tables)
        return ReferenceAttention(ragged, heads, shape, workspace, scores).run(query, cache)

    alone = attended(1)
    return all(torch.equal(attended(count), alone) for count in COUNTS)
