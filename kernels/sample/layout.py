"""The sampler's layout of a row of logits, as constants shared by the reference and the kernels.

Does: name sizes and counters once, and place the first tile. Does not: import torch or triton.

A row is cut into *tiles* of `TILE` tokens, a tile into `DEPTH` rows of `LANES` tokens. A *group* of the draw is the
`SPAN` tokens side by side at the same lanes of every row of a tile, so a tile has `LANES / SPAN` groups.
"""

from typing import Final

SPAN: Final = 8  # tokens side by side: one byte of mask
LANES: Final = 1024
DEPTH: Final = 16
TILE: Final = DEPTH * LANES
GROUPS: Final = 1 << 31  # first noise counter of groups, past the counters of all tokens
# Times the number of a draw: the part of its counter that no other draw has.
DRAWS: Final = 0x1B873593
CANDIDATES: Final = 4  # draws from the whole row before the truncated row is drawn from


def first_tile_offset(vocab: int) -> int:
    """By how many tokens the first tile begins before the first token.

    Half a tile where that makes the last tile a fuller one, else 0: so half of the tiles are about half of the row.
    """
    return TILE // 2 if 0 < vocab % TILE <= TILE // 2 < vocab else 0
