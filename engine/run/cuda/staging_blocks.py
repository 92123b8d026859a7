"""Contents of KV blocks that were copied from the memory of another GPU's process: implements `StagingMemory`.

Does: copy leased slots on a stream of its own into memory of this device, verify their tags, and scatter contents into
blocks of the cache. Does not: talk to the other process (`peer_contents`).

The copy into blocks is not made from the other GPU at once, because blocks are reserved when all contents are here:
memory of the other engine is in use for a copy between GPUs, and never while a sequence waits for room.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ...memory.block_contents import Content
from ...memory.block_exchange import ExchangeError
from ...memory.block_leases import Region
from ...memory.page_key import Chain
from ...parallel.peer_memory import PeerMemory
from ..kv import KVCache
from .block_words import block_words, runs, sent, sums
from .shared_blocks import CHAIN_WORDS, TAG_BYTES, TAG_WORDS, tags_begin


class StagedContent:
    """A `Content` in a row of a staging memory, which is free again when no reference to this object is left."""

    __slots__ = ("row", "staging")

    def __init__(self, row: int, staging: "StagingBlocks") -> None:
        self.row, self.staging = row, staging

    def __del__(self) -> None:
        self.staging.give(self.row)

    @property
    def nbytes(self) -> int:
        """See `Content`."""
        return self.staging.block_bytes

    def tobytes(self) -> bytes:
        """See `Content`."""
        return self.staging.bytes_of(self.row)


class StagingBlocks:
    """Room for `count` contents of blocks of a cache. `map` and copies are for one thread, `give` for any."""

    def __init__(self, cache: KVCache, count: int) -> None:
        self._device = cache.tensor.device
        self.block_bytes = cache.block_bytes
        blocks = block_words(cache)
        with torch.inference_mode():
            self._words = blocks.new_empty((count, *blocks.shape[1:]))
            self._tags = torch.empty((count, TAG_WORDS), dtype=torch.int64, device=self._device)
        self._free = deque(range(count))
        self._memory = PeerMemory(self._device)
        self._stream = torch.cuda.Stream(self._device)
        self._scattered = torch.cuda.Event()

    def map(self, region: Region) -> "PeerMapping":
        """See `StagingMemory`."""
        return PeerMapping(self, region, self._memory.map(region.handle))

    def give(self, row: int) -> None:
        """Take a row back."""
        self._free.append(row)

    def bytes_of(self, row: int) -> bytes:
        """A copy of the content in a row."""
        return self._words[row].flatten().view(torch.uint8).cpu().numpy().tobytes()

    @torch.inference_mode()
    def scatter(self, blocks: Tensor, pairs: Sequence[tuple[int, StagedContent]]) -> None:
        """Start to copy contents into `blocks`, [blocks, pieces, words], on the current stream."""
        rows = [content.row for _, content in pairs]
        indices = sent([block for block, _ in pairs], self._device)
        for begin, end in runs(rows):
            source = self._words[rows[begin] : rows[begin] + end - begin]
            blocks.index_copy_(0, indices[begin:end], source)
        self._scattered.record(torch.cuda.current_stream(self._device))

    @torch.inference_mode()
    def receive(
        self, region: Region, address: int, slots: Sequence[int], chains: Sequence[Chain]
    ) -> list[Content]:
        """Copies of the contents in the first of these slots of a mapped region. Raises `ExchangeError`."""
        found: list[StagedContent] = []
        while len(found) < len(slots) and self._free:
            found.append(StagedContent(self._free.popleft(), self))
        if not found:
            return []
        rows, slots = [content.row for content in found], slots[: len(found)]
        parts = []
        with torch.cuda.device(self._device), torch.cuda.stream(self._stream):
            self._stream.wait_event(self._scattered)  # which reads rows that are free since
            for begin, end in runs(rows, slots):
                self._copy(region, address, rows[begin], slots[begin], end - begin)
                part = slice(rows[begin], rows[begin] + end - begin)
                parts.append(torch.cat((self._tags[part], sums(self._words[part])[:, None]), 1))
            tags = torch.cat(parts).cpu().numpy()
        names = np.frombuffer(b"".join(chains[: len(rows)]), dtype=np.int64)
        if (tags[:, :CHAIN_WORDS] != names.reshape(-1, CHAIN_WORDS)).any():
            raise ExchangeError("a content is that of another chain")
        if (tags[:, CHAIN_WORDS] != tags[:, TAG_WORDS]).any():
            raise ExchangeError("a content is damaged")
        return list(found)

    def unmap(self, address: int) -> None:
        """Wait for all copies, and unmap a region."""
        self._stream.synchronize()
        self._memory.unmap(address)

    def _copy(self, region: Region, address: int, row: int, slot: int, count: int) -> None:
        """Start the copy of neighbouring slots, and of their tags, into neighbouring rows."""
        size = self.block_bytes
        target = self._words.data_ptr() + row * size
        self._memory.copy(target, address + slot * size, count * size, self._stream)
        tags = address + tags_begin(region.slots, size) + slot * TAG_BYTES
        target = self._tags.data_ptr() + row * TAG_BYTES
        self._memory.copy(target, tags, count * TAG_BYTES, self._stream)


class PeerMapping:
    """A `Mapping` of the memory of another GPU's process."""

    def __init__(self, staging: StagingBlocks, region: Region, address: int) -> None:
        self._staging = staging
        self._region = region
        self._address = address

    def copy(self, slots: Sequence[int], chains: Sequence[Chain]) -> list[Content]:
        """See `Mapping`."""
        return self._staging.receive(self._region, self._address, slots, chains)

    def close(self) -> None:
        """See `Mapping`."""
        self._staging.unmap(self._address)
