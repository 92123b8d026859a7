"""Integers of 2, 3, 4 or 8 bits that checkpoints pack into words of 32 bits.

Does: unpack them along one axis, in the orders of GPTQ, compressed-tensors and AWQ. Does not: scale them.
"""

import torch
from torch import Tensor

WORD = 32
AWQ_ORDER = (0, 4, 1, 5, 2, 6, 3, 7)
"""Where AWQ's kernels keep the columns of a word of eight: column `c` is its nibble `AWQ_ORDER[c]`."""


def unpacked(words: Tensor, bits: int, axis: int) -> Tensor:
    """The unsigned integers in `words` [.., int32, ..] as uint8, `32 / bits` times as long along `axis`.

    The words along the axis are one stream of bits, lowest bit first, so that integers of 3 bits cross from one word
    to the next.
    """
    stream = words.movedim(axis, -1)
    count = stream.shape[-1] * WORD // bits
    begins = torch.arange(count, device=words.device) * bits
    first, shift = begins // WORD, begins % WORD
    wide = stream.to(torch.int64) & 0xFFFFFFFF
    low = wide.index_select(-1, first) >> shift
    if WORD % bits:
        second = (first + 1).clamp_(max=stream.shape[-1] - 1)
        low |= wide.index_select(-1, second) << (WORD - shift)
    values: Tensor = low & (2**bits - 1)
    return values.to(torch.uint8).movedim(-1, axis)


def unpacked_awq(words: Tensor) -> Tensor:
    """The integers of 4 bits in `words` [rows, int32], in AWQ's order, as uint8 [rows, 8 * int32]."""
    nibbles = unpacked(words, 4, 1).view(words.shape[0], -1, len(AWQ_ORDER))
    return nibbles[:, :, list(AWQ_ORDER)].reshape(words.shape[0], -1)
