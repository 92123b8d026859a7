"""The block tables of the sequences.

Does: keep the block tables, and grant or deny room in one call. Does not: choose the sequences that run or are
preempted (`schedule`), or touch a tensor (`run`).
"""

from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from ..errors import InternalError
from ..sequence import Sequence
from .adapter_slots import AdapterSlots
from .block_groups import BlockGroups
from .block_table import BlockTable, block_table
from .offload import NOT_OFFLOADED, Offload, OffloadCounts
from .openings import Openings
from .pool import BlockPool
from .prefix import PrefixCache


class Reservation(Struct, frozen=True, gc=False):
    """Granted room: the blocks added to a table, and the number of the sequence's tokens that are computed already.

    `blocks` are those of the first block group; `others` has those of each other group, or is empty for none at all.
    Of a new table, the first `reused` tokens were computed for an earlier request.
    """

    blocks: tuple[int, ...]
    computed: int
    others: tuple[tuple[int, ...], ...] = ()
    reused: int = 0


class KVManager:
    """The block tables of the running sequences. A table grows until it is released as a whole.

    Only blocks behind the window of their group are freed before that: entries of null blocks stay in their places.

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
        groups: BlockGroups | None = None,
    ) -> None:
        """`groups`: the block groups of the model, None for one without windows. Only one can be offloaded."""
        if block_size < 1:
            raise ValueError(f"a block holds 1 token at least, not {block_size}")
        self.block_size = block_size
        self.groups = BlockGroups(block_size) if groups is None else groups
        if offload is not None and self.groups.windows != (None,):
            raise ValueError("blocks behind windows are not offloaded")
        self._pool = pool
        self._prefix = prefix
        self._offload = offload
        self._adapters = adapters or AdapterSlots(0)
        self._tables: dict[int, BlockTable] = {}
        self._openings = Openings(pool, self.groups, prefix, offload, self._adapters)
        self._capacity = self.groups.capacity(pool.capacity)

    @property
    def capacity(self) -> int:
        """The number of tokens of one sequence that fit the whole pool."""
        return self._capacity

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

    def fetch(self, seq: Sequence, arrived: Callable[[], None]) -> bool:
        """Have the contents of a new sequence fetched from another engine; whether there is one that computes them.

        Then `arrived` is called once, from another thread, when it is worth starting the sequence.
        """
        return self._openings.fetch(seq, arrived)

    def reserve(self, seq: Sequence, count: int) -> Reservation | None:
        """Reserve room for `count` tokens after the computed ones; None, with no change, if there is not enough.

        None as well while contents are on their way into a new table, unless it is the only one. Blocks behind a
        window are freed in any case.
        """
        table = self._tables.get(seq.id)
        if table is None:
            opening = self._openings.open(seq, count, alone=not self._tables)
            if opening is None:
                return None
            computed = opening.cached * self.block_size
            self._tables[seq.id] = block_table(self.groups, opening.parts, count, computed)
            return Reservation(opening.parts[0], computed, opening.parts[1:], opening.reused)
        computed = seq.computed
        end = computed + count
        if end <= table.room and computed < table.drop_at:
            return Reservation((), computed)
        if computed >= table.drop_at:
            self._pool.release(table.drop(computed))
        blocks = self._openings.allocate(table.missing(end))
        if blocks is None:
            return None
        added = table.extend(blocks, end)
        return Reservation(added[0], computed, added[1:])

    def computed(self, seq: Sequence) -> None:
        """Publish the computed tokens of `seq`, including those that the present plan will compute.

        A layer stores all keys of a step before it reads any, so what a plan computes may be shared within that plan.
        """
        if self._prefix is not None:
            images, (first, *others) = seq.request.images, self._tables[seq.id].parts
            found = self._prefix.publish(seq.id, seq.tokens, first, seq.computed, images, others)
            feed = None if self._offload is None else self._offload.feed
            if found and feed is not None and seq.request.exports:
                feed.planned(found)

    def table(self, seq: Sequence) -> tuple[int, ...]:
        """The blocks of `seq` in the first group, in the order of its tokens."""
        table = self._tables.get(seq.id)
        return () if table is None else tuple(table.parts[0])

    def other_tables(self, seq: Sequence) -> tuple[tuple[int, ...], ...]:
        """The blocks of `seq` in each other group, in the order of its tokens."""
        table = self._tables.get(seq.id)
        return () if table is None else tuple([tuple(part) for part in table.parts[1:]])

    def held(self, seq: Sequence) -> int:
        """The number of blocks of `seq`."""
        table = self._tables.get(seq.id)
        return 0 if table is None else len(table.blocks)

    @property
    def adapters(self) -> AdapterSlots:
        """The places of the adapters."""
        return self._adapters

    def release(self, seq: Sequence, *, spoiled: bool = False) -> None:
        """Free all blocks of `seq`; the last ones are reused first, so that shared prefixes stay longest.

        With `spoiled` their contents may be wrong, and are found no more.
        """
        self._openings.close(seq.id)
        held = self._tables.pop(seq.id, None)
        table = [] if held is None else held.blocks
        self._pool.release(reversed(table))
        self._adapters.release(seq.id)
        if self._prefix is not None:
            if seq.request.exports and table and not spoiled and self._offload is not None:
                self._offload.export(self._prefix.published(seq.id), table)
            if spoiled and held is not None:
                if self.groups.windows != (None,):
                    self._prefix.spoil(seq.id)
                self._prefix.forget(table)
            self._prefix.release(seq.id)
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
            self._tables[seq.id].check(seq.computed)
        tables = [*(table.blocks for table in self._tables.values()), self._openings.blocks]
        users = Counter(block for table in tables for block in table)
        for block, count in users.items():
            known = self._pool.users(block)
            if known != count:
                raise InternalError(f"block {block} is in {count} tables, {known} known")
        if self._prefix is None and any(count > 1 for count in users.values()):
            raise InternalError(f"a block is in two tables: {users.most_common(1)}")
        if len(users) + self._pool.free != self._pool.capacity:
            raise InternalError("a block is neither free nor in a table")
