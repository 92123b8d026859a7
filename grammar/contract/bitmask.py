"""Packed token masks: one bit per token, 1 = allowed; token `t` is bit `t % 32` of word `t // 32`.

Does: define the layout and simple operations on it. Does not: decide which tokens are allowed.
"""

import numpy as np
import numpy.typing as npt

MaskRow = npt.NDArray[np.int32]  # [words]
MaskRows = npt.NDArray[np.int32]  # [rows, words]

WORD_BITS = 32


def words(width: int) -> int:
    """The number of 32-bit words in a mask of `width` tokens."""
    return -(-width // WORD_BITS)


def empty_rows(count: int, width: int) -> MaskRows:
    """Allocate `count` masks for `width` tokens with no token allowed: int32 [count, words(width)]."""
    return np.zeros((count, words(width)), dtype=np.int32)


def allow(row: MaskRow, tokens: npt.ArrayLike) -> None:
    """Set the bits of `tokens` in place."""
    ids = np.asarray(tokens, dtype=np.int64)
    bits = row.view(np.uint32)
    np.bitwise_or.at(
        bits, ids // WORD_BITS, np.left_shift(np.uint32(1), (ids % WORD_BITS).astype(np.uint32))
    )


def is_allowed(row: MaskRow, token: int) -> bool:
    """Whether the bit of `token` is set."""
    return bool(
        row.view(np.uint32)[token // WORD_BITS] >> np.uint32(token % WORD_BITS) & np.uint32(1)
    )


def allowed_tokens(row: MaskRow, width: int) -> npt.NDArray[np.int64]:
    """The ids of all allowed tokens below `width`, in ascending order."""
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")[:width]
    return np.flatnonzero(bits)
