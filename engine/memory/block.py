"""Blocks of the KV cache, and the list of the free ones in the order they were freed.

Does: constant-time take, give and removal from the middle. Does not: know what a block holds or who uses it.
"""

from collections.abc import Iterator


class Block:
    """One block. `refs` counts its users; the links are those of the free list, to itself when it is not there."""

    __slots__ = ("id", "newer", "older", "refs")

    def __init__(self, block_id: int) -> None:
        self.id = block_id
        self.refs = 0
        self.older: Block = self
        self.newer: Block = self


class FreeList:
    """Free blocks, least recently freed first. The links live in the blocks, so that no search is ever needed."""

    def __init__(self) -> None:
        self._ends = Block(-1)  # a ring: the oldest is newer than the ends, the newest is older
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Block]:
        """From the least recently freed on. For checks; the list must not change meanwhile."""
        block = self._ends.newer
        while block is not self._ends:
            yield block
            block = block.newer

    def append(self, block: Block) -> None:
        """Add `block`, which is not in the list, as the most recently freed."""
        newest = self._ends.older
        block.older, block.newer = newest, self._ends
        newest.newer = self._ends.older = block
        self._length += 1

    def remove(self, block: Block) -> None:
        """Take `block`, which is in the list, out of it, wherever it is."""
        block.older.newer, block.newer.older = block.newer, block.older
        block.older = block.newer = block
        self._length -= 1

    def pop(self) -> Block:
        """Take out the least recently freed block. The list must not be empty."""
        block = self._ends.newer
        self.remove(block)
        return block
