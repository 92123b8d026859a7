"""Contents of KV blocks in GPU memory that other processes read: implements `SharedMemory`.

Does: gather blocks into slots behind the steps that wrote them, each with a tag. Does not: choose slots, which
`leased_blocks` does.

A tag has the chain of a content and the sum of its words, both written behind the content on the same stream. A reader
that finds another chain or sum in what it copied has copied a slot that was being overwritten, or had never been
written. Contents are in front, all tags after them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor

from ...memory.block_leases import Region
from ...memory.page_key import CHAIN_BYTES, Chain
from ...parallel.peer_memory import PeerMemory
from ..kv import KVCache
from .block_words import block_words, runs, sent, sums

CHAIN_WORDS: Final = CHAIN_BYTES // 8
TAG_WORDS: Final = CHAIN_WORDS + 1
TAG_BYTES: Final = 8 * TAG_WORDS


@dataclass(frozen=True, slots=True)
class WrittenSlots:
    """See `Written`."""

    event: torch.cuda.Event

    def wait(self) -> None:
        """See `Written`."""
        self.event.synchronize()


class SharedBlocks:
    """Slots for `count` contents of blocks of a cache."""

    def __init__(self, cache: KVCache, count: int) -> None:
        self._device = cache.tensor.device
        self._blocks = block_words(cache)
        nbytes = tags_begin(count, cache.block_bytes) + count * TAG_BYTES
        memory, handle = PeerMemory(self._device).allocate(nbytes)
        self._region = Region(handle, count, cache.block_bytes)
        contents = memory[: count * cache.block_bytes].view(self._blocks.dtype)
        self._contents = contents.view(count, *self._blocks.shape[1:])
        tags = memory[tags_begin(count, cache.block_bytes) :].view(torch.int64)
        self._tags = tags.view(count, TAG_WORDS)
        self._computes = torch.cuda.current_stream(self._device)

    @property
    def region(self) -> Region:
        """See `SharedMemory`."""
        return self._region

    @torch.inference_mode()
    def write(
        self, slots: Sequence[int], chains: Sequence[Chain], blocks: Sequence[int]
    ) -> WrittenSlots:
        """See `SharedMemory`."""
        indices, names = sent(blocks, self._device), self._names(chains)
        for begin, end in runs(slots):
            rows = slice(slots[begin], slots[begin] + end - begin)
            target = self._contents[rows]
            torch.index_select(self._blocks, 0, indices[begin:end], out=target)
            self._tags[rows, :CHAIN_WORDS] = names[begin:end]
            self._tags[rows, CHAIN_WORDS] = sums(target)
        event = torch.cuda.Event()
        event.record(self._computes)
        return WrittenSlots(event)

    def _names(self, chains: Sequence[Chain]) -> Tensor:
        """Chains as words on the device, ordered by the current stream."""
        words = np.frombuffer(b"".join(chains), dtype=np.int64).reshape(-1, CHAIN_WORDS)
        return torch.from_numpy(words.copy()).pin_memory().to(self._device, non_blocking=True)


def tags_begin(count: int, block_bytes: int) -> int:
    """The place of the tags in a region, in bytes: behind all contents, at a whole word."""
    return -(-count * block_bytes // 8) * 8
