"""The block tables of the sequences.

Does: keep the block tables, and grant or deny room in one call. Does not: choose the sequences that run or are
preempted (`schedule`), or touch a tensor (`run`).
"""

from collections import Counter

from msgspec import Struct

from ..errors import InternalError
from ..sequence import Sequence
from .adapter_slots import AdapterSlots
from .offload import NOT_OFFLOADED, Offload, OffloadCounts
from .openings import Openings
from .pool import BlockPool
from .prefix import PrefixCache


class Reservation(Struct, frozen=True, gc=False):
    """Granted room: the blocks added to a table, and the number of the sequence's tokens that are computed already."""

    blocks: tuple[int, ...]
    computed: int


class KVManager:
    """The block tables of the running sequences. A table only grows until it is released as a whole.

    With a prefix cache, a new table starts with the blocks that hold a prefix of its sequence already; with `offload`
    as well, contents of evicted blocks come back as blocks of a new table, for which the sequence waits. A new table
    needs a place for the adapter of its sequence as well.
    """

    def __init__(
        self,
        pool: BlockPool,
        block_size: int,
        prefix: PrefixCache | None = None,
        offload: Offload | None = None,
        adapters: AdapterSlots | None = None,
    ) -> None:
        if block_size < 1:
            raise ValueError(f"a block holds 1 token at least, not {block_size}")
        self.block_size = block_size
        self._pool = pool
        self._prefix = prefix
        self._offload = offload
        self._adapters = adapters or AdapterSlots(0)
        self._tables: dict[int, list[int]] = {}
        self._openings = Openings(pool, block_size, prefix, offload, self._adapters)

    @property
    def capacity(self) -> int:
        """The number of tokens that fit the whole pool."""
        return self._pool.capacity * self.block_size

    @property
    def blocks(self) -> int:
        """The number of blocks, without the null block."""
        return self._pool.capacity

    @property
    def free_blocks(self) -> int:
        """The number of blocks that can be reserved."""
        return self._openings.free_blocks

    @property
    def offloaded(self) -> OffloadCounts:
        """Contents and activity of the tiers below the pool."""
        return NOT_OFFLOADED if self._offload is None else self._offload.counts

    def reserve(self, seq: Sequence, count: int) -> Reservation | None:
        """Reserve room for `count` tokens after the computed ones; None, with no change, if there is not enough.

        None as well while contents are on their way into a new table, unless it is the only one.
        """
        table = self._tables.get(seq.id)
        if table is None:
            opening = self._openings.open(seq, count, alone=not self._tables)
            if opening is None:
                return None
            self._tables[seq.id] = list(opening.blocks)
            return Reservation(opening.blocks, opening.cached * self.block_size)
        end = seq.computed + count
        if end <= len(table) * self.block_size:
            return Reservation((), seq.computed)
        blocks = self._openings.allocate(self._blocks_for(end) - len(table))
        if blocks is None:
            return None
        table.extend(blocks)
        return Reservation(blocks, seq.computed)

    def computed(self, seq: Sequence) -> None:
        """Publish the computed tokens of `seq`, including those that the present plan will compute.

        A layer stores all keys of a step before it reads any, so what a plan computes may be shared within that plan.
        """
        if self._prefix is not None:
            images = seq.request.images
            self._prefix.publish(seq.id, seq.tokens, self._tables[seq.id], seq.computed, images)

    def table(self, seq: Sequence) -> tuple[int, ...]:
        """The blocks of `seq`, in the order of its tokens."""
        return tuple(self._tables.get(seq.id, ()))

    @property
    def adapters(self) -> AdapterSlots:
        """The places of the adapters."""
        return self._adapters

    def release(self, seq: Sequence, *, spoiled: bool = False) -> None:
        """Free all blocks of `seq`; the last ones are reused first, so that shared prefixes stay longest.

        With `spoiled` their contents may be wrong, and are found no more.
        """
        self._openings.close(seq.id)
        table = self._tables.pop(seq.id, [])
        self._pool.release(reversed(table))
        self._adapters.release(seq.id)
        if self._prefix is not None:
            if seq.request.exports and table and not spoiled and self._offload is not None:
                self._offload.export(self._prefix.published(seq.id), table)
            self._prefix.release(seq.id)
            if spoiled:
                self._prefix.forget(table)
            if self._offload is not None:
                self._offload.forget(seq.id)
                shared = [block for block in table if self._prefix.is_shared(block)]
                self._offload.share(self._prefix.chains(shared))

    def check(self, running: list[Sequence]) -> None:
        """Check that exactly the running sequences hold blocks, enough for their computed tokens, and the user counts.

        Raises:
            InternalError: that is not the case.
        """
        self._pool.check()
        if self._offload is not None:
            self._offload.check()
        if self._prefix is not None:
            self._prefix.check()
        self._adapters.check({seq.id for seq in running} | self._openings.sequences)
        if self._tables.keys() != {seq.id for seq in running}:
            raise InternalError("the sequences with a block table are not the running ones")
        for seq in running:
            if len(self._tables[seq.id]) < self._blocks_for(seq.computed):
                raise InternalError(f"sequence {seq.id} computed more than its blocks hold")
        tables = [*self._tables.values(), self._openings.blocks]
        users = Counter(block for table in tables for block in table)
        for block, count in users.items():
            known = self._pool.users(block)
            if known != count:
                raise InternalError(f"block {block} is in {count} tables, {known} known")
        if self._prefix is None and any(count > 1 for count in users.values()):
            raise InternalError(f"a block is in two tables: {users.most_common(1)}")
        if len(users) + self._pool.free != self._pool.capacity:
            raise InternalError("a block is neither free nor in a table")

    def _blocks_for(self, tokens: int) -> int:
        return -(-tokens // self.block_size)
