"""Copies of KV blocks between a cache in memory of the host and the tiers below it.

Does: implement `BlockContents` on a CPU, where a copy takes microseconds and is made at once. Does not: choose blocks.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ...memory.block_contents import Content, HostContent
from ..kv import KVCache

MOST_READ = 64


@dataclass(frozen=True, slots=True)
class CopiedBlocks:
    """A `Transfer` that is done."""

    blocks: int
    seconds: float

    def advance(self) -> bool:
        """See `Transfer`."""
        return True

    def join(self) -> None:
        """See `Transfer`."""

    def cancel(self) -> None:
        """See `Transfer`."""


class HostBlocks:
    """The blocks of a cache on the host. See `BlockContents`."""

    def __init__(self, cache: KVCache) -> None:
        self._tensor = cache.tensor
        self.block_bytes = cache.block_bytes
        self.most_read = MOST_READ

    def read(self, blocks: Sequence[int]) -> list[Content]:
        """See `BlockContents`."""
        return [self._content(block) for block in blocks]

    def hold(self, data: bytes) -> Content:
        """See `BlockContents`."""
        return HostContent(data)

    @torch.inference_mode()
    def write(self, blocks: Sequence[int], contents: Sequence[Content]) -> CopiedBlocks:
        """See `BlockContents`."""
        began = time.perf_counter()
        for block, content in zip(blocks, contents, strict=True):
            target = self._tensor[:, :, block]
            given = torch.frombuffer(bytearray(content.tobytes()), dtype=target.dtype)
            target.copy_(given.view(target.shape))
        return CopiedBlocks(len(blocks), time.perf_counter() - began)

    def close(self) -> None:
        """See `BlockContents`."""

    def _content(self, block: int) -> Content:
        found = self._tensor[:, :, block].contiguous().view(torch.uint8).numpy()
        return HostContent(found.tobytes())
