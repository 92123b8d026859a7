"""Copies of KV blocks between a cache in memory of the host and the tiers below it.

Does: implement `BlockContents` on a CPU, where a copy takes microseconds and is made at once. Does not: choose blocks.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

import torch

from ...memory.block_contents import Content, HostContent
from ..kv import KVCache

MOST_READ = 64


class CopiedBlocks:
    """A `Transfer` that `copy` makes at once, when it first advances."""

    def __init__(self, blocks: int, copy: Callable[[], object]) -> None:
        self.blocks = blocks
        self.seconds = 0.0
        self._copy: Callable[[], object] | None = copy

    def advance(self) -> bool:
        """See `Transfer`."""
        copy, self._copy = self._copy, None
        if copy is not None:
            began = time.perf_counter()
            copy()
            self.seconds = time.perf_counter() - began
        return True

    def join(self) -> None:
        """See `Transfer`."""
        self.advance()

    def cancel(self) -> None:
        """See `Transfer`."""
        if self._copy is not None:
            self.blocks, self._copy = 0, None


class HostBlocks:
    """The blocks of a cache on the host. See `BlockContents` and `LayerContents`."""

    def __init__(self, cache: KVCache) -> None:
        self._tensor = cache.tensor
        self.block_bytes = cache.block_bytes
        self.most_read = MOST_READ
        self.most_early = 0
        self.layers: int = cache.tensor.shape[0]
        self.layer_bytes = cache.block_bytes // self.layers

    def read(self, blocks: Sequence[int], *, overlapped: bool = False) -> list[Content]:  # noqa: ARG002 - read at once
        """See `BlockContents`."""
        return [self._content(block) for block in blocks]

    def await_reads(self, blocks: Sequence[int]) -> None:
        """See `BlockContents`."""

    def hold(self, data: bytes) -> Content:
        """See `BlockContents`."""
        return HostContent(data)

    def write(self, blocks: Sequence[int], contents: Sequence[Content]) -> CopiedBlocks:
        """See `BlockContents`."""
        return CopiedBlocks(len(blocks), partial(self._write, tuple(blocks), contents))

    def close(self) -> None:
        """See `BlockContents`."""

    def read_layer(self, layer: int, blocks: Sequence[int]) -> bytes:
        """See `LayerContents`."""
        planes = self._tensor[layer].view(torch.uint8).numpy()
        return b"".join([planes[:, block].tobytes() for block in blocks])

    def _content(self, block: int) -> Content:
        found = self._tensor[:, :, block].contiguous().view(torch.uint8).numpy()
        return HostContent(found.tobytes())

    @torch.inference_mode()
    def _write(self, blocks: Sequence[int], contents: Sequence[Content]) -> None:
        for block, content in zip(blocks, contents, strict=True):
            target = self._tensor[:, :, block]
            given = torch.frombuffer(bytearray(content.tobytes()), dtype=target.dtype)
            target.copy_(given.view(target.shape))
