"""The allocator of KV cache blocks, with a count of users for each.

Does: allocate blocks, all or nothing, share and free them. Does not: know sequences, tokens or tensors.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

from ..errors import InternalError
from .block import Block, FreeList

NULL_BLOCK = 0  # never allocated: padding and unused table entries refer to it


class BlockPool:
    """Blocks 0 to `num_blocks - 1`; block 0 is the null block, which is never allocated.

    Raises:
        ValueError: there would be no block other than the null block.
    """

    def __init__(self, num_blocks: int) -> None:
        if num_blocks < 2:
            raise ValueError(
                f"a pool needs 2 blocks at least, one of them the null block, not {num_blocks}"
            )
        self._count = num_blocks
        # Those that were ever used: a model that is small leaves room for tens of thousands.
        self._blocks = [Block(NULL_BLOCK)]
        self._freed = FreeList()

    @property
    def capacity(self) -> int:
        """The number of blocks that can be allocated at once."""
        return self._count - 1

    @property
    def free(self) -> int:
        """The number of free blocks."""
        return self._count - len(self._blocks) + len(self._freed)

    def next(self, count: int) -> list[int]:
        """Up to `count` free blocks that are allocated next, in that order."""
        first = len(self._blocks)
        unused = range(first, first + min(count, self._unused))
        return [*unused, *(block.id for block in islice(self._freed, count - len(unused)))]

    def allocate(self, count: int) -> tuple[int, ...] | None:
        """Allocate `count` blocks, the least recently freed first; None, with no change, if fewer are free."""
        if count > self.free:
            return None
        first = len(self._blocks)
        allocated = [Block(number) for number in range(first, min(first + count, self._count))]
        self._blocks += allocated
        allocated += [self._freed.pop() for _ in range(count - len(allocated))]
        for block in allocated:
            block.refs = 1
        return tuple([block.id for block in allocated])

    def share(self, block_ids: Sequence[int]) -> None:
        """Add a user to each of these blocks, free or allocated.

        Raises:
            InternalError: a block was never allocated, so that it has no content to share.
        """
        for block_id in block_ids:
            if block_id >= len(self._blocks):
                raise InternalError(f"block {block_id} is shared and was never allocated")
            block = self._blocks[block_id]
            if block.refs == 0:
                self._freed.remove(block)
            block.refs += 1

    def users(self, block_id: int) -> int:
        """The number of users of a block."""
        return self._blocks[block_id].refs if block_id < len(self._blocks) else 0

    def release(self, block_ids: Iterable[int]) -> None:
        """Remove a user from each of these blocks, in the order in which free ones should be reused.

        Raises:
            InternalError: a block has no user, or is the null block.
        """
        for block_id in block_ids:
            if self.users(block_id) == 0:
                raise InternalError(f"block {block_id} is freed and has no user")
            block = self._blocks[block_id]
            block.refs -= 1
            if block.refs == 0:
                self._freed.append(block)

    @property
    def _unused(self) -> int:
        """The blocks that were never allocated: they come before those that were freed."""
        return self._count - len(self._blocks)

    def check(self) -> None:
        """Check that every block that was used either has users or is in the free list once.

        Raises:
            InternalError: that is not the case.
        """
        listed = [block.id for block in self._freed]
        unheld = {block.id for block in self._blocks[1:] if block.refs == 0}
        if len(listed) != len(self._freed) or len(set(listed)) != len(listed):
            raise InternalError("the free list is not a list of distinct blocks")
        if set(listed) != unheld:
            raise InternalError(
                f"free and held blocks do not add up: {sorted(unheld ^ set(listed))}"
            )
        if self._blocks[NULL_BLOCK].refs or any(block.refs < 0 for block in self._blocks):
            raise InternalError("the null block is held, or a count is negative")
