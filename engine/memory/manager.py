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
from .pool import BlockPool
from .prefix import PrefixCache


class Reservation(Struct, frozen=True, gc=False):
    """Granted room: the blocks added to a table, and the number of the sequence's tokens that are computed already."""

    blocks: tuple[int, ...]
    computed: int


class KVManager:
    """The block tables of the running sequences. A table only grows until it is released as a whole.

    With a prefix cache, a new table starts with the blocks that hold a prefix of its sequence already; with `offload`
    as well, contents of evicted blocks come back as blocks of a new table. A new table needs a place for the adapter of
    its sequence as well.
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
        """The number of free blocks."""
        return self._pool.free

    @property
    def offloaded(self) -> OffloadCounts:
        """Contents and activity of the tiers below the pool."""
        return NOT_OFFLOADED if self._offload is None else self._offload.counts

    def reserve(self, seq: Sequence, count: int) -> Reservation | None:
        """Reserve room for `count` tokens after the computed ones; None, with no change, if there is not enough.

        None as well while contents are being read for a new table, unless it is the only one.
        """
        table = self._tables.get(seq.id)
        if table is None:
            return self._open(seq, count)
        end = seq.computed + count
        if end <= len(table) * self.block_size:
            return Reservation((), seq.computed)
        blocks = self._take(self._blocks_for(end) - len(table))
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
        table = self._tables.pop(seq.id, [])
        self._pool.give(reversed(table))
        self._adapters.release(seq.id)
        if self._prefix is not None:
            if seq.request.exports and table and not spoiled and self._offload is not None:
                self._offload.export(self._prefix.published(seq.id), table)
            self._prefix.release(seq.id)
            if spoiled:
                self._prefix.forget(table)
            if self._offload is not None:
                self._offload.forget(seq.id)
                for block in table:
                    chain = self._prefix.chain(block)
                    if chain is not None and self._prefix.is_shared(block):
                        self._offload.share(chain, block)

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
        self._adapters.check({seq.id for seq in running})
        if self._tables.keys() != {seq.id for seq in running}:
            raise InternalError("the sequences with a block table are not the running ones")
        for seq in running:
            if len(self._tables[seq.id]) < self._blocks_for(seq.computed):
                raise InternalError(f"sequence {seq.id} computed more than its blocks hold")
        users = Counter(block for table in self._tables.values() for block in table)
        for block, count in users.items():
            known = self._pool.users(block)
            if known != count:
                raise InternalError(f"block {block} is in {count} tables, {known} known")
        if self._prefix is None and any(count > 1 for count in users.values()):
            raise InternalError(f"a block is in two tables: {users.most_common(1)}")
        if len(users) + self._pool.free != self._pool.capacity:
            raise InternalError("a block is neither free nor in a table")

    def _open(self, seq: Sequence, count: int) -> Reservation | None:
        """The first reservation of `seq`, without computed tokens: blocks of the prefix cache, and new ones."""
        adapter = seq.request.adapter
        if adapter is not None and not self._adapters.hold(seq.id, adapter.digest):
            return None
        found: list[int] = []
        if self._prefix is not None:
            request, digest = seq.request, "" if adapter is None else adapter.digest
            found = self._prefix.match(
                seq.id, seq.tokens, request.cache_salt, digest, request.images
            )
            self._pool.share(found)
        wanted = max(0, self._blocks_for(count) - len(found))
        contents = self._contents(seq) if wanted <= self._pool.free else None
        blocks = None if contents is None else self._take(wanted)
        if contents is None or blocks is None:
            self._pool.give(reversed(found))
            self._adapters.release(seq.id)
            return None
        if contents and self._offload is not None:
            self._offload.restore(blocks[: len(contents)], contents)
            self._offload.forget(seq.id)
        self._tables[seq.id] = [*found, *blocks]
        computed = (len(found) + len(contents)) * self.block_size
        return Reservation((*found, *blocks), computed)

    def _contents(self, seq: Sequence) -> list[bytes] | None:
        """The contents from other tiers that continue the prefix found for `seq`; None while they are being read."""
        if self._offload is None or self._prefix is None:
            return []
        chains = self._prefix.ahead(seq.id, seq.tokens, seq.request.images)
        peer = seq.request.kv_peer
        return self._offload.find(seq.id, chains, alone=not self._tables, peer=peer)

    def _take(self, count: int) -> tuple[int, ...] | None:
        blocks = self._pool.take(count)
        if blocks and self._prefix is not None:
            for block in blocks if self._offload is not None else ():
                chain = self._prefix.chain(block)
                if chain is not None and self._offload is not None:
                    self._offload.keep(chain, block)
            self._prefix.forget(blocks)
        return blocks

    def _blocks_for(self, tokens: int) -> int:
        return -(-tokens // self.block_size)
