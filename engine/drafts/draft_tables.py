"""The block tables of the sequences in the cache of a draft model.

Does: give blocks to sequences, keep which of their tokens are computed there, and take the blocks of the least recently
drafted ones where none are free. Does not: touch tensors, or share prefixes between sequences.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import InternalError
from ..memory.pool import BlockPool


@dataclass(slots=True)
class DraftTable:
    """The blocks of a sequence, and the tokens that they hold.

    The first `certain` tokens were known when they were computed; the others are drafts, which may have been rejected.
    The executor has the first `sent` blocks.
    """

    blocks: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    certain: int = 0
    admitted: bool = False
    sent: int = 0

    def new_blocks(self) -> tuple[int, ...]:
        """The blocks that the executor does not have yet; with this call, it gets them."""
        new, self.sent = tuple(self.blocks[self.sent :]), len(self.blocks)
        return new

    def common(self, known: Sequence[int]) -> int:
        """The number of leading tokens that are both computed and known; the last known one is never among them."""
        most = min(len(self.tokens), len(known) - 1)
        begin = min(self.certain, most)
        return next((at for at in range(begin, most) if self.tokens[at] != known[at]), most)


class DraftTables:
    """Tables by sequence, at most `most` at once, over a pool of `num_blocks` blocks of `block_size` tokens."""

    def __init__(self, num_blocks: int, block_size: int, most: int) -> None:
        self._pool = BlockPool(num_blocks)
        self._block_size = block_size
        self._most = most
        self._tables: OrderedDict[int, DraftTable] = OrderedDict()  # least recently used first
        self._released: list[int] = []

    def __len__(self) -> int:
        return len(self._tables)

    def open(self, seq_id: int, tokens: int) -> DraftTable | None:
        """The table of a sequence with room for `tokens` tokens; None if the pool is too small."""
        table = self._tables.setdefault(seq_id, DraftTable())
        self._tables.move_to_end(seq_id)
        needed = -(-tokens // self._block_size) - len(table.blocks)
        while len(self._tables) > self._most or (
            needed > self._pool.free and len(self._tables) > 1
        ):
            self.close(next(iter(self._tables)))
        blocks = self._pool.allocate(max(0, needed))
        if blocks is None:
            self.close(seq_id)
            return None
        table.blocks += blocks
        return table

    def close(self, seq_id: int) -> None:
        """Free the blocks of a sequence. No effect for an unknown one."""
        table = self._tables.pop(seq_id, None)
        if table is not None:
            self._pool.release(reversed(table.blocks))
            if table.admitted:
                self._released.append(seq_id)

    def released(self) -> tuple[int, ...]:
        """The sequences closed since the last call, which the draft model is to forget."""
        released, self._released = tuple(self._released), []
        return released

    def check(self) -> None:
        """Check the pool, and that every block is in one table or free.

        Raises:
            InternalError: that is not the case.
        """
        self._pool.check()
        held = [block for table in self._tables.values() for block in table.blocks]
        if len(set(held)) != len(held) or len(held) + self._pool.free != self._pool.capacity:
            raise InternalError("a block of the draft model is lost, or in two tables")
