"""Opens the block tables of sequences that start: cached blocks, contents from other tiers, and new blocks.

Does: allocate blocks and keep what they lose, find the prefix of a sequence, and hold a table while contents are on
their way into its blocks. Does not: own the tables of running sequences (`manager`), or copy (`offload`).
"""

from dataclasses import dataclass

from ..sequence import Sequence
from .adapter_slots import AdapterSlots
from .block_contents import Content, Transfer
from .early_offload import EarlyOffload
from .offload import Offload
from .pool import BlockPool
from .prefix import PrefixCache


@dataclass(frozen=True, slots=True)
class NewTable:
    """The `blocks` of a new table; the first `cached` of them hold a prefix, when `transfer` is done."""

    blocks: tuple[int, ...]
    cached: int
    transfer: Transfer | None = None


class Openings:
    """The tables of sequences that do not run yet. Their blocks are used, and go to a running sequence in need."""

    def __init__(
        self,
        pool: BlockPool,
        block_size: int,
        prefix: PrefixCache | None,
        offload: Offload | None,
        adapters: AdapterSlots,
    ) -> None:
        self._pool = pool
        self._block_size = block_size
        self._prefix = prefix
        self._offload = offload
        self._adapters = adapters
        self._early = EarlyOffload(pool, prefix, offload)
        self._begun: dict[int, NewTable] = {}

    @property
    def blocks(self) -> list[int]:
        """The blocks of all openings; one that several share is listed for each."""
        return [block for opening in self._begun.values() for block in opening.blocks]

    @property
    def sequences(self) -> set[int]:
        """The numbers of the sequences that have one."""
        return set(self._begun)

    @property
    def free_blocks(self) -> int:
        """The number of blocks that can be taken: free ones, and those that nothing but an opening uses."""
        return self._pool.free + sum([self._pool.users(block) == 1 for block in self.blocks])

    def open(self, seq: Sequence, count: int, *, alone: bool) -> NewTable | None:
        """The table of a sequence, with room for its first `count` tokens, which is the caller's from now on.

        None if there is not enough room, or while contents are on their way. With `alone` no other sequence runs, and
        the first step of this one waits for them.
        """
        begun = self._begun.get(seq.id)
        if begun is not None and len(begun.blocks) * self._block_size < count:
            self.close(seq.id)
            begun = None
        if begun is None:
            begun = self._begin(seq, count, alone=alone)
        if begun is None:
            return None
        if begun.transfer is not None:
            if not alone and not begun.transfer.advance():
                return None
            begun.transfer.join()
        if self._offload is not None:
            self._offload.forget(seq.id)
        return self._begun.pop(seq.id)

    def allocate(self, count: int) -> tuple[int, ...] | None:
        """Allocate blocks for steps to fill, from openings as well; None, with no change, if there are not enough."""
        blocks = self._claim(count)
        if blocks is not None:
            self._vacate(blocks)
            self._early.allocated(len(blocks))
        return blocks

    def _claim(self, count: int) -> tuple[int, ...] | None:
        """Allocate blocks, which still hold what was evicted."""
        if count > self.free_blocks:
            return None
        if count > self._pool.free:
            for seq_id in list(self._begun):
                self.close(seq_id)
        return self._pool.allocate(count)

    def _vacate(self, blocks: tuple[int, ...]) -> None:
        """Keep what blocks hold, which steps started from now on overwrite, and forget it."""
        if blocks and self._prefix is not None:
            if self._offload is not None:
                self._offload.evict(self._prefix.chains(blocks), overwritten=blocks)
            self._prefix.forget(blocks)

    def close(self, seq_id: int) -> None:
        """Give back the blocks and the adapter of an opening. No effect if there is none."""
        opening = self._begun.pop(seq_id, None)
        if opening is not None:
            if opening.transfer is not None:
                opening.transfer.cancel()
            self._pool.release(reversed(opening.blocks))
            self._adapters.release(seq_id)

    def _begin(self, seq: Sequence, count: int, *, alone: bool) -> NewTable | None:
        """Take the blocks of a new table, and start to copy contents into them."""
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
            self._early.shared(len(found))
        needed = max(0, -(-count // self._block_size) - len(found))
        contents = self._contents(seq, alone=alone) if needed <= self.free_blocks else None
        blocks = None if contents is None else self._claim(needed)
        if contents is None or blocks is None:
            self._pool.release(reversed(found))
            self._adapters.release(seq.id)
            return None
        transfer = None
        fetched = blocks[: len(contents)]
        self._vacate(blocks[len(contents) :])
        if contents and self._offload is not None and self._prefix is not None:
            evicted = self._prefix.chains(fetched)
            transfer = self._offload.restore(fetched, contents, evicted)
            self._prefix.forget(fetched)
        self._early.allocated(len(blocks))
        opening = NewTable((*found, *blocks), len(found) + len(contents), transfer)
        self._begun[seq.id] = opening
        return opening

    def _contents(self, seq: Sequence, *, alone: bool) -> list[Content] | None:
        """The contents from other tiers that continue the prefix found for `seq`; None while they are being read."""
        if self._offload is None or self._prefix is None:
            return []
        chains = self._prefix.ahead(seq.id, seq.tokens, seq.request.images)
        return self._offload.find(seq.id, chains, alone=alone, peer=seq.request.kv_peer)
