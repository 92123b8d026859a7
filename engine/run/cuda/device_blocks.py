"""Copies of KV blocks between the cache on a GPU and pinned host memory, while steps run.

Does: implement `BlockContents` on a GPU, and order its copies with the steps and with each other. Does not: choose
blocks, wait for a copy, or own the streams (`copy_streams`).

A block is in pieces on the device, one for each layer and plane, and in one piece on the host. So blocks are gathered
in a buffer on the device and copied from there, or copied there and scattered; the copy engines move whole blocks. Both
directions of the link are used at once: contents are copied to buffers while those that they replace are copied out.

    compute             step            step            step that reads the new contents
    gather              gather 1   gather 2   gather 3
    overlapped_to_host          copy 1     copy 2     copy 3
    to_device           copy 1     copy 2     copy 3
    scatter                     scatter 1  scatter 2  scatter 3

A gather waits for the steps started before it and for its buffer. A block that was gathered while steps run has a mark
in `_unread` until it is overwritten: a scatter waits for the marks of its own blocks, and the steps wait for those of
the blocks that they get. Blocks that the next step overwrites are gathered on the stream of the steps, before it, and
copied on `to_host`. Contents from another GPU (`staging_blocks`) are scattered on the same stream as all others.
"""

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...memory.block_contents import Content
from ..kv import KVCache
from .block_words import block_words, runs
from .copy_streams import CopyDevice, CopyStream, CudaCopies, Mark
from .pinned_slots import PinnedContent, Slot, Slots
from .staging_blocks import StagedContent

GATHERED_BYTES = 32 << 20
"""Bytes of a buffer on the device: a copy of that size takes a hundred times as long as its launch."""

PIECE_BYTES = 8 << 20
"""The most bytes of one copy, since small copies of steps wait for the one in progress."""

BUFFERS = 3
"""Buffers for each of three uses: blocks read before a step, blocks read while steps run, and blocks written."""

ADVANCED = 8
"""Buffers filled by a call of `advance`: about 5 ms of copying for less than 1 ms of the host's time."""

EARLY_BYTES = 1 << 30
"""Bytes worth reading before they are overwritten: as many as a step with a long prompt evicts."""

Pair = tuple[int, PinnedContent]
Staged = Sequence[tuple[int, StagedContent]]


class BlockTransfer:
    """A `Transfer` in parts of a buffer each. Nothing is overwritten before the first `advance` or `join`."""

    def __init__(self, mover: "DeviceBlocks", pairs: Sequence[Pair], staged: Staged) -> None:
        self._mover = mover
        self._staged = staged
        size = mover.most_read
        self._pending = deque(pairs[at : at + size] for at in range(0, len(pairs), size))
        self._copied: deque[_Copied] = deque()
        self._marks: list[tuple[Mark, Mark]] = []
        self._end: Mark | None = None
        self._in_use: list[PinnedContent] = []  # their slots are read until the last mark
        self.blocks = 0
        self.seconds = 0.0
        # Buffers are filled while the caller has the blocks read.
        for buffer in mover.spare_buffers(len(self._pending)):
            self._copy(buffer)

    def advance(self) -> bool:
        """See `Transfer`."""
        self._scatter_copied()
        for _ in range(min(ADVANCED, len(self._pending))):
            self._launch()
        if self._pending or (self._end is not None and not self._end.passed):
            return False
        if self._marks:
            self.seconds = sum([end.seconds_since(begin) for begin, end in self._marks])
        self._marks, self._end, self._in_use = [], None, []
        return True

    def join(self) -> None:
        """See `Transfer`."""
        self._scatter_copied()
        while self._pending:
            self._launch()
        self._mover.await_scatters()

    def cancel(self) -> None:
        """See `Transfer`."""
        parts = [*(copied.part for copied in self._copied), *self._pending]
        for copied in self._copied:
            self._mover.give_buffer(copied.buffer)
        self._copied.clear()
        self._pending.clear()
        blocks = [block for part in parts for block, _ in part]
        self._mover.await_reads([*blocks, *(block for block, _ in self._staged)])
        self._staged = ()
        self._mover.await_scatters()

    def _launch(self) -> None:
        self._copy(self._mover.take_buffer())
        self._scatter_copied()

    def _copy(self, buffer: "_Buffer") -> None:
        part = self._pending.popleft()
        begin, end = self._mover.copy([content.slot for _, content in part], buffer)
        self._end = end
        self._in_use += [content for _, content in part]
        self._copied.append(_Copied(part, buffer, begin, end))

    def _scatter_copied(self) -> None:
        if self._staged:
            self._mover.scatter_staged(self._staged)
            self._staged = ()
        while self._copied:
            copied = self._copied.popleft()
            # Behind the copies of this part and of those before it.
            self._end = self._mover.scatter([block for block, _ in copied.part], copied.buffer)
            self._marks.append((copied.begin, copied.end))
            self.blocks += len(copied.part)


class DeviceBlocks:
    """The blocks of a cache on a GPU. See `BlockContents`. `count` contents fit into the pinned memory."""

    def __init__(
        self,
        cache: KVCache,
        count: int,
        device: CopyDevice | None = None,
        gathered_bytes: int = GATHERED_BYTES,
    ) -> None:
        self._device = device or CudaCopies(cache.tensor.device)
        self._blocks = block_words(cache)
        self.block_bytes = cache.block_bytes
        self.most_read = max(1, gathered_bytes // cache.block_bytes)
        self.most_early = EARLY_BYTES // cache.block_bytes
        shape = (self.most_read, *self._blocks.shape[1:])
        with torch.inference_mode():
            before, overlapped, incoming = (
                deque([_Buffer(self._blocks.new_empty(shape)) for _ in range(BUFFERS)])
                for _ in range(3)
            )
        streams = self._device
        self._before = _ReadPath(streams.compute, streams.to_host, before)
        self._overlapped = _ReadPath(streams.gather, streams.overlapped_to_host, overlapped)
        self._incoming = incoming
        self._slots = Slots(count, self.block_bytes, self._device)
        self._unread: dict[int, Mark] = {}

    def read(self, blocks: Sequence[int], *, overlapped: bool = False) -> list[Content]:
        """See `BlockContents`."""
        slots = self._slots.take_most(len(blocks))
        if not slots:
            return []
        read = list(blocks[: len(slots)])
        path = self._overlapped if overlapped else self._before
        if overlapped:
            path.gather.wait(self._device.compute.mark())
        buffer = path.buffers[0]
        path.buffers.rotate(-1)
        if buffer.done is not None:
            path.gather.wait(buffer.done)
        path.gather.launch(partial(buffer.gather, self._blocks, self._device, read))
        gathered = path.gather.mark()
        if overlapped:
            self._unread.update(dict.fromkeys(read, gathered))
        path.to_host.wait(gathered)
        # Behind copies into these slots on the other stream, of contents that were dropped meanwhile.
        for arrived in _arrivals(slots):
            path.to_host.wait(arrived)
        path.to_host.launch(partial(self._move, slots, buffer, inwards=False))
        buffer.done = arrived = path.to_host.mark()
        return [PinnedContent(Slot(slot.number, arrived), self._slots) for slot in slots]

    def await_reads(self, blocks: Sequence[int]) -> None:
        """See `BlockContents`."""
        self._await_gathers(self._device.compute, blocks)

    def hold(self, data: bytes) -> Content | None:
        """See `BlockContents`."""
        slot = self._slots.take()
        if slot is None:
            return None
        if slot.arrived is not None:
            slot.arrived.join()
        self._slots.row(slot).numpy()[:] = np.frombuffer(data, dtype=np.uint8)
        return PinnedContent(Slot(slot.number, None), self._slots)

    def write(self, blocks: Sequence[int], contents: Sequence[Any]) -> BlockTransfer:
        """See `BlockContents`; `contents` are those that `read` and `hold` of this object gave, or staged ones."""
        self._device.scatter.wait(self._device.compute.mark())
        pairs = list(zip(blocks, contents, strict=True))
        staged = [pair for pair in pairs if isinstance(pair[1], StagedContent)]
        pinned = [pair for pair in pairs if not isinstance(pair[1], StagedContent)]
        # By slots, so that those side by side are copied as one; the order of blocks does not matter.
        return BlockTransfer(self, sorted(pinned, key=_slot_of), staged)

    def close(self) -> None:
        """See `BlockContents`."""
        self._device.synchronize()
        self._slots.close()

    # For transfers.

    def spare_buffers(self, most: int) -> list["_Buffer"]:
        """Buffers to fill before the blocks may be overwritten: all but one, if no other transfer has any."""
        count = BUFFERS - 1 if len(self._incoming) == BUFFERS else 0
        return [self.take_buffer() for _ in range(min(most, count))]

    def take_buffer(self) -> "_Buffer":
        """The buffer for incoming contents that has been free for the longest."""
        return self._incoming.popleft()

    def give_buffer(self, buffer: "_Buffer") -> None:
        """Take a buffer back; it is filled again after `done`."""
        self._incoming.append(buffer)

    def copy(self, slots: Sequence[Slot], buffer: "_Buffer") -> tuple[Mark, Mark]:
        """Launch the copy of contents to the device; marks around it."""
        stream = self._device.to_device
        if buffer.done is not None:
            stream.wait(buffer.done)
        # Behind copies in the other direction into these slots, which are rarely still in progress.
        for arrived in _arrivals(slots):
            stream.wait(arrived)
        begin = stream.mark(timed=True)
        stream.launch(partial(self._move, slots, buffer, inwards=True))
        buffer.filled = end = stream.mark(timed=True)
        return begin, end

    def scatter(self, blocks: Sequence[int], buffer: "_Buffer") -> Mark:
        """Launch the scatter of copied contents into blocks, and take the buffer back."""
        stream = self._device.scatter
        self._await_gathers(stream, blocks)
        if buffer.filled is not None:
            stream.wait(buffer.filled)
        stream.launch(partial(buffer.scatter, self._blocks, self._device, list(blocks)))
        buffer.done = scattered = stream.mark()
        self.give_buffer(buffer)
        return scattered

    def scatter_staged(self, pairs: Staged) -> None:
        """Launch the scatter of contents that are on the device already."""
        stream = self._device.scatter
        self._await_gathers(stream, [block for block, _ in pairs])
        stream.launch(partial(pairs[0][1].staging.scatter, self._blocks, pairs))

    def await_scatters(self) -> None:
        """Make steps that are started from now on wait for all contents scattered so far."""
        self._device.compute.wait(self._device.scatter.mark())

    # The work of streams.

    def _await_gathers(self, stream: CopyStream, blocks: Sequence[int]) -> None:
        """Let a stream that overwrites blocks wait until they were gathered, and forget their marks."""
        marks = [self._unread.pop(block) for block in blocks if block in self._unread]
        for mark in dict.fromkeys(marks):
            stream.wait(mark)

    def _move(self, slots: Sequence[Slot], buffer: "_Buffer", *, inwards: bool) -> None:
        memory = self._slots.memory
        most = max(1, PIECE_BYTES // self.block_bytes)
        for begin, end in runs([slot.number for slot in slots]):
            for at in range(begin, end, most):
                number, count = slots[at].number, min(most, end - at)
                ours, theirs = buffer.rows[at : at + count], memory[number : number + count]
                target, source = (ours, theirs) if inwards else (theirs, ours)
                target.copy_(source, non_blocking=True)


class _Buffer:
    """Memory on the device for some blocks, [blocks, pieces, words], and as `rows` of bytes.

    It is `filled` by a copy to the device, and may be filled again after `done`.
    """

    def __init__(self, words: Tensor) -> None:
        self.words = words
        self.rows = words.flatten(1).view(torch.uint8)
        self.filled: Mark | None = None
        self.done: Mark | None = None

    def gather(self, cache: Tensor, device: CopyDevice, blocks: list[int]) -> None:
        """Copy blocks of the cache, [blocks, pieces, words], here."""
        torch.index_select(cache, 0, device.indices(blocks), out=self.words[: len(blocks)])

    def scatter(self, cache: Tensor, device: CopyDevice, blocks: list[int]) -> None:
        """Copy the contents of this buffer into blocks of the cache."""
        cache.index_copy_(0, device.indices(blocks), self.words[: len(blocks)])


class _Copied(NamedTuple):
    """Contents in a `buffer`, to be scattered into their blocks, and marks around their copy."""

    part: Sequence[Pair]
    buffer: _Buffer
    begin: Mark
    end: Mark


class _ReadPath:
    """The streams and buffers of one way of reading blocks: before a step, or while steps run."""

    def __init__(self, gather: CopyStream, to_host: CopyStream, buffers: deque[_Buffer]) -> None:
        self.gather, self.to_host, self.buffers = gather, to_host, buffers


def _arrivals(slots: Sequence[Slot]) -> list[Mark]:
    """The marks of copies into slots, each once."""
    return list(dict.fromkeys([slot.arrived for slot in slots if slot.arrived is not None]))


def _slot_of(pair: Pair) -> int:
    return pair[1].slot.number
