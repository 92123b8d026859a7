"""The blocks of a scripted executor as contents for tiers, which arrive some steps after they were asked for."""

from array import array
from collections.abc import Sequence
from random import Random

from intaglio.engine.memory.block_contents import Content, HostContent, Transfer

from .scripted import ScriptedExecutor

Cells = list[list[int]]


class SlowTransfer:
    """A transfer of one block a call, after some calls without any; nothing right is in a block before its turn."""

    def __init__(
        self, cells: Cells, blocks: Sequence[int], contents: Sequence[Content], pause: int
    ) -> None:
        self._cells = cells
        self._left = list(zip(blocks, contents, strict=True))
        self._pause = pause
        for block in blocks:
            cells[block][:] = array("Q", [7] * len(cells[block]))
        self.blocks = len(blocks)
        self.seconds = 1e-6

    def advance(self) -> bool:
        """See `Transfer`."""
        if self._pause:
            self._pause -= 1
        elif self._left:
            self._move()
        return not self._left

    def join(self) -> None:
        """See `Transfer`."""
        while self._left:
            self._move()

    def cancel(self) -> None:
        """See `Transfer`."""
        self._left = []

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

    def read(self, blocks: Sequence[int]) -> list[Content]:
        """See `BlockContents`; sometimes the host has no more memory."""
        count = len(blocks) - (self._dice.random() < 0.1)
        return [HostContent(array("Q", self._cells[block]).tobytes()) for block in blocks[:count]]

    def hold(self, data: bytes) -> Content | None:
        """See `BlockContents`."""
        return None if self._dice.random() < 0.1 else HostContent(data)

    def write(self, blocks: Sequence[int], contents: Sequence[Content]) -> Transfer:
        """See `BlockContents`."""
        return SlowTransfer(self._cells, blocks, contents, self._dice.randrange(4))

    def close(self) -> None:
        """See `BlockContents`."""
