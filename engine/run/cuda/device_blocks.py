"""Copies of KV blocks between the cache on a GPU and pinned memory of the host, beside the steps.

Does: implement `BlockContents` on a GPU: contents in slots of one pinned buffer, copies by the copy engines on two
streams, one for each direction. Does not: choose blocks, or wait for a copy.

A block is in pieces on the device, one for each layer and plane, and in one piece on the host. So blocks are gathered
in a buffer on the device and copied from there, or copied there and scattered; the copy engines move whole blocks.

    computes    step | gather 1 gather 2 | step          step that reads the blocks
    leaves                 copy 1   copy 2
    arrives     copy, scatter | copy, scatter | copy, scatter

Gathering follows the steps that wrote the blocks and precedes those that overwrite them, since it is launched on their
stream. Scattering follows all steps started before the transfer; those that read the blocks wait for its event.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...errors import ConfigError
from ...memory.block_contents import Content
from ..kv import KVCache

GATHERED_BYTES = 32 << 20
"""Bytes of a buffer on the device: a copy of that size takes a hundred times as long as its launch."""

BUFFERS = 4
"""Buffers for blocks that leave. A step that evicts more than they hold waits for copies."""

ADVANCED = 8
"""Buffers filled by a call of `advance`: some 5 ms of the link's time for about 1 ms of the host's."""


class Slot(NamedTuple):
    """Pinned `memory` of one content, [bytes]. `arrived` is recorded behind the last copy from the device into it."""

    memory: Tensor
    arrived: torch.cuda.Event


class Slots:
    """Pinned memory for `count` contents of `size` bytes each. `take` and `give` may be called from any thread."""

    def __init__(self, count: int, size: int) -> None:
        """Raises `ConfigError` if the system does not pin so much memory."""
        # Not torch's own pinned memory, which takes up the next power of two.
        self._memory = torch.empty((count, size), dtype=torch.uint8)
        self._runtime = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        status = self._runtime.cudaHostRegister(self._memory.data_ptr(), self._memory.nbytes, 0)
        if int(status):
            raise ConfigError(
                f"{self._memory.nbytes} bytes of memory cannot be pinned: CUDA error {int(status)}",
                where="kv_host_bytes",
                hint="lower kv_host_bytes, or raise the system's limit of locked memory",
            )
        self.size = size
        never = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._free = deque(Slot(memory, never) for memory in self._memory.unbind(0))

    def take(self) -> Slot | None:
        """A free slot, into which a copy may be in progress; None if there is none."""
        try:
            return self._free.popleft()
        except IndexError:
            return None

    def give(self, slot: Slot) -> None:
        """Take a slot back."""
        self._free.append(slot)

    def close(self) -> None:
        """Unpin the memory, from which nothing may be copied any more."""
        self._free.clear()
        self._runtime.cudaHostUnregister(self._memory.data_ptr())


class PinnedContent:
    """A `Content` in a slot, which is free again when no reference to this object is left."""

    __slots__ = ("_slots", "slot")

    def __init__(self, slot: Slot, slots: Slots) -> None:
        self.slot, self._slots = slot, slots

    def __del__(self) -> None:
        self._slots.give(self.slot)

    @property
    def nbytes(self) -> int:
        """See `Content`."""
        return self._slots.size

    def tobytes(self) -> bytes:
        """See `Content`."""
        self.slot.arrived.synchronize()
        return bytes(self.slot.memory.numpy())


class BlockTransfer:
    """A `Transfer` in parts of a buffer each, launched on `stream`."""

    def __init__(
        self,
        mover: "DeviceBlocks",
        blocks: Sequence[int],
        contents: Sequence[PinnedContent],
    ) -> None:
        self._mover = mover
        self._left = deque(_parts(list(zip(blocks, contents, strict=True)), mover.most_read))
        self._marks: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []
        self._moved: list[PinnedContent] = []  # their slots are read until the last mark
        self.blocks = 0
        self.seconds = 0.0

    def advance(self) -> bool:
        """See `Transfer`."""
        for _ in range(min(ADVANCED, len(self._left))):
            self._launch()
        if self._left or (self._marks and not _is_past(self._marks[-1][1])):
            return False
        if self._marks:
            self.seconds = sum([a.elapsed_time(b) for a, b in self._marks]) / 1e3
            self._marks, self._moved = [], []
        return True

    def join(self) -> None:
        """See `Transfer`."""
        while self._left:
            self._launch()
        self._mover.await_arrivals()

    def cancel(self) -> None:
        """See `Transfer`."""
        self._left.clear()
        self._mover.await_arrivals()

    def _launch(self) -> None:
        part = self._left.popleft()
        self._marks.append(self._mover.move(part))
        self._moved += [content for _, content in part]
        self.blocks += len(part)


class DeviceBlocks:
    """The blocks of a cache on a GPU. See `BlockContents`. `count` contents fit into the pinned memory."""

    def __init__(self, cache: KVCache, count: int) -> None:
        tensor = cache.tensor
        self._device = tensor.device
        # [blocks, pieces, words of 64 bits]: block by block, as contents are laid out.
        self._blocks = _words(tensor.flatten(3).flatten(0, 1)).transpose(0, 1)
        self.block_bytes = cache.block_bytes
        self.most_read = max(1, GATHERED_BYTES // cache.block_bytes)
        shape = (self.most_read, *self._blocks.shape[1:])
        with torch.inference_mode():
            self._leaving = [_Buffer(self._blocks.new_empty(shape)) for _ in range(BUFFERS)]
            self._arriving = _Buffer(self._blocks.new_empty(shape))
        self._slots = Slots(count, self.block_bytes)
        self._computes = torch.cuda.current_stream(self._device)
        self._leaves = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        self._arrives = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]

    @torch.inference_mode()
    def read(self, blocks: Sequence[int]) -> list[Content]:
        """See `BlockContents`."""
        taken = [slot for slot in (self._slots.take() for _ in blocks) if slot is not None]
        if not taken:
            return []
        slots = [slot.memory for slot in taken]
        self._leaving.append(self._leaving.pop(0))
        buffer = self._leaving[-1]
        self._computes.wait_event(buffer.done)
        gathered = buffer.words[: len(slots)]
        torch.index_select(self._blocks, 0, self._sent(blocks[: len(slots)]), out=gathered)
        buffer.filled.record(self._computes)
        with torch.cuda.stream(self._leaves):
            self._leaves.wait_event(buffer.filled)
            torch._foreach_copy_(slots, buffer.rows[: len(slots)], non_blocking=True)
            buffer.done.record(self._leaves)
            arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
            arrived.record(self._leaves)
        return [PinnedContent(Slot(slot, arrived), self._slots) for slot in slots]

    def hold(self, data: bytes) -> Content | None:
        """See `BlockContents`."""
        slot = self._slots.take()
        if slot is None:
            return None
        slot.arrived.synchronize()
        slot.memory.numpy()[:] = np.frombuffer(data, dtype=np.uint8)
        return PinnedContent(slot, self._slots)

    def write(self, blocks: Sequence[int], contents: Sequence[Any]) -> BlockTransfer:
        """See `BlockContents`; `contents` are those that `read` and `hold` of this object gave."""
        begin = torch.cuda.Event()  # type: ignore[no-untyped-call]
        begin.record(self._computes)
        self._arrives.wait_event(begin)
        return BlockTransfer(self, blocks, contents)

    def close(self) -> None:
        """See `BlockContents`."""
        torch.cuda.synchronize(self._device)
        self._slots.close()

    def await_arrivals(self) -> None:
        """Make steps that are started from now on wait for all copies to the device launched so far."""
        self._arriving.done.record(self._arrives)
        self._computes.wait_event(self._arriving.done)

    @torch.inference_mode()
    def move(
        self, part: Sequence[tuple[int, PinnedContent]]
    ) -> tuple[torch.cuda.Event, torch.cuda.Event]:
        """Launch the copy of up to `most_read` contents into blocks; events around it."""
        slots = [content.slot for _, content in part]
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        arriving = self._arriving
        with torch.cuda.stream(self._arrives):
            # Behind copies in the other direction into these slots, which are seldom in progress still.
            for arrived in {slot.arrived for slot in slots}:
                self._arrives.wait_event(arrived)
            begin.record(self._arrives)
            rows = arriving.rows[: len(part)]
            torch._foreach_copy_(rows, [slot.memory for slot in slots], non_blocking=True)
            at = self._sent([block for block, _ in part])
            self._blocks.index_copy_(0, at, arriving.words[: len(part)])
            end.record(self._arrives)
        return begin, end

    def _sent(self, blocks: Sequence[int]) -> Tensor:
        """Indices on the device, ordered by the current stream."""
        indices = torch.tensor(blocks, dtype=torch.int64).pin_memory()
        return indices.to(self._device, non_blocking=True)


class _Buffer:
    """Memory on the device for some blocks, [blocks, pieces, words], and as `rows` of bytes."""

    def __init__(self, words: Tensor) -> None:
        self.words = words
        self.rows = list(words.flatten(1).view(torch.uint8).unbind(0))
        self.filled = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self.done = torch.cuda.Event()  # type: ignore[no-untyped-call]


def _words(tensor: Tensor) -> Tensor:
    """The last dimension in words of 64 bits, or in bytes where that does not divide it."""
    size = tensor.shape[-1] * tensor.element_size()
    return tensor.view(torch.int64 if size % 8 == 0 else torch.uint8)


def _is_past(event: torch.cuda.Event) -> bool:
    """Whether the device has passed an event."""
    past: bool = event.query()  # type: ignore[no-untyped-call]
    return past


def _parts(pairs: list[Any], size: int) -> list[list[Any]]:
    return [pairs[begin : begin + size] for begin in range(0, len(pairs), size)]
