"""The blocks of a scripted executor as contents for tiers, which arrive some steps after they were asked for."""

from array import array
from collections.abc import Callable, Sequence
from random import Random
from threading import Lock

from intaglio.engine.memory.block_contents import Content, HostContent, Transfer

from .scripted import ScriptedExecutor

Cells = list[list[int]]


class LateContent:
    """A `Content` that is read as late as it may be: when the block is about to be overwritten, or it is asked for."""

    def __init__(self, cells: Cells, block: int) -> None:
        self._cells, self._block = cells, block
        self._lock = Lock()
        self._data: bytes | None = None
        self.nbytes = 8 * len(cells[block])

    def tobytes(self) -> bytes:
        """See `Content`."""
        with self._lock:
            if self._data is None:
                self._data = array("Q", self._cells[self._block]).tobytes()
            return self._data


class SlowTransfer:
    """A transfer of one block a call, after some calls without any; nothing right is in a block before its turn.

    `await_reads` is called for all blocks before the first is overwritten.
    """

    def __init__(
        self,
        cells: Cells,
        blocks: Sequence[int],
        contents: Sequence[Content],
        pause: int,
        await_reads: Callable[[Sequence[int]], None],
    ) -> None:
        self._cells = cells
        self._left = list(zip(blocks, contents, strict=True))
        self._pause = pause
        self._await_reads = await_reads
        self._is_begun = False
        self.blocks = len(blocks)
        self.seconds = 1e-6

    def advance(self) -> bool:
        """See `Transfer`."""
        self._begin()
        if self._pause:
            self._pause -= 1
        elif self._left:
            self._move()
        return not self._left

    def join(self) -> None:
        """See `Transfer`."""
        self._begin()
        while self._left:
            self._move()

    def cancel(self) -> None:
        """See `Transfer`."""
        self._await_reads([block for block, _ in self._left])
        self._left = []

    def _begin(self) -> None:
        if not self._is_begun:
            self._is_begun = True
            blocks = [block for block, _ in self._left]
            self._await_reads(blocks)
            for block in blocks:
                self._cells[block][:] = array("Q", [7] * len(self._cells[block]))

    def _move(self) -> None:
        block, content = self._left.pop()
        self._cells[block][:] = array("Q", content.tobytes())


class CellContents:
    """See `BlockContents`."""

    def __init__(self, executor: ScriptedExecutor, block_size: int, dice: Random) -> None:
        self._cells = executor._cells
        self._dice = dice
        self.block_bytes = 8 * block_size
        self.most_read = 3
        self.most_early = 4
        self._unread: dict[int, list[LateContent]] = {}

    def read(self, blocks: Sequence[int], *, overlapped: bool = False) -> list[Content]:
        """See `BlockContents`; sometimes the host has no more memory."""
        count = len(blocks) - (self._dice.random() < 0.1)
        read = [LateContent(self._cells, block) for block in blocks[:count]]
        for block, content in zip(blocks, read, strict=False):
            self._unread.setdefault(block, []).append(content)
        if not overlapped:
            self.await_reads(blocks)
        return list(read)

    def await_reads(self, blocks: Sequence[int]) -> None:
        """See `BlockContents`."""
        for block in blocks:
            for content in self._unread.pop(block, ()):
                content.tobytes()

    def hold(self, data: bytes) -> Content | None:
        """See `BlockContents`."""
        return None if self._dice.random() < 0.1 else HostContent(data)

    def write(self, blocks: Sequence[int], contents: Sequence[Content]) -> Transfer:
        """See `BlockContents`."""
        return SlowTransfer(
            self._cells, blocks, contents, self._dice.randrange(4), self.await_reads
        )

    def close(self) -> None:
        """See `BlockContents`."""
