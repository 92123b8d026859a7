"""Blocks of the KV cache, and the list of free blocks in the order in which they were freed.

Does: append, pop and remove in constant time. Does not: know the contents or the users of a block.
"""

from collections.abc import Iterator


class Block:
    """One block. `refs` counts its users; `older` and `newer` link the free list, or the block itself outside it."""

    __slots__ = ("id", "newer", "older", "refs")

    def __init__(self, block_id: int) -> None:
        self.id = block_id
        self.refs = 0
        self.older: Block = self
        self.newer: Block = self


class FreeList:
    """The free blocks, least recently freed first: a list linked through the blocks, so that nothing is searched."""

    def __init__(self) -> None:
        # The sentinel of a ring: `newer` is the oldest block, `older` the newest.
        self._ends = Block(-1)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Block]:
        """The blocks, least recently freed first. The list must not change during the iteration."""
        block = self._ends.newer
        while block is not self._ends:
            yield block
            block = block.newer

    def append(self, block: Block) -> None:
        """Add `block`, which must not be in the list, as the most recently freed."""
        newest = self._ends.older
        block.older, block.newer = newest, self._ends
        newest.newer = self._ends.older = block
        self._length += 1

    def remove(self, block: Block) -> None:
        """Remove `block`, which must be in the list, from any place."""
        block.older.newer, block.newer.older = block.newer, block.older
        block.older = block.newer = block
        self._length -= 1

    def pop(self) -> Block:
        """Remove and return the least recently freed block. The list must not be empty."""
        block = self._ends.newer
        self.remove(block)
        return block
