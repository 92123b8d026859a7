"""Blocks of a cache on a GPU as rows of words, and runs of neighbouring rows.

Does: view a cache block by block, and name what one copy can move. Does not: copy.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from ..kv import KVCache


def block_words(cache: KVCache) -> Tensor:
    """All blocks, [blocks, pieces, words of 64 bits]; a piece is what a block has in one layer and plane."""
    return _words(cache.tensor.flatten(3).flatten(0, 1)).transpose(0, 1)


def sums(words: Tensor) -> Tensor:
    """The sum of the words of each row of [rows, pieces, words], modulo 2^64."""
    return words.flatten(1).sum(1, dtype=torch.int64)


def sent(numbers: Sequence[int], device: torch.device) -> Tensor:
    """Integers on a device, ordered by the current stream."""
    indices = torch.tensor(numbers, dtype=torch.int64).pin_memory()
    return indices.to(device, non_blocking=True)


def runs(rows: Sequence[int], others: Sequence[int] | None = None) -> Iterator[tuple[int, int]]:
    """The parts [begin, end) of `rows`, and of `others`, in which each number is one more than the one before."""
    begin = 0
    for at in range(1, len(rows) + 1):
        goes_on = at < len(rows) and rows[at] == rows[at - 1] + 1
        if goes_on and others is not None:
            goes_on = others[at] == others[at - 1] + 1
        if not goes_on:
            yield begin, at
            begin = at


def _words(tensor: Tensor) -> Tensor:
    """The last dimension in words of 64 bits, or in bytes where that does not divide it."""
    size = tensor.shape[-1] * tensor.element_size()
    return tensor.view(torch.int64 if size % 8 == 0 else torch.uint8)
