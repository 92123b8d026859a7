"""Opens the block tables of sequences that start: cached blocks, contents from other tiers, and new blocks.

Does: allocate blocks and keep what they lose, find the prefix of a sequence, and hold a table while contents are on
their way into its blocks. Does not: own the tables of running sequences (`manager`), or copy (`offload`).
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..sequence import Sequence
from .adapter_slots import AdapterSlots
from .block_contents import Transfer
from .block_groups import BlockGroups
from .block_table import split
from .early_offload import EarlyOffload
from .offload import Offload, StoredPrefix
from .peer_tier import Question
from .pool import NULL_BLOCK, BlockPool
from .prefix import PrefixCache


@dataclass(frozen=True, slots=True)
class NewTable:
    """The blocks of a new table, by group; the first `cached` of each part hold a prefix, when `transfer` is done.

    Those of them that are before the window of a group are null blocks. The first `reused` tokens were computed for no
    engine but an earlier request.
    """

    parts: tuple[tuple[int, ...], ...]
    cached: int
    reused: int
    transfer: Transfer | None = None

    @property
    def blocks(self) -> list[int]:
        """The blocks of all parts, without null blocks."""
        return [block for part in self.parts for block in part if block != NULL_BLOCK]


class Openings:
    """The tables of sequences that do not run yet. Their blocks are used, and go to a running sequence in need."""

    def __init__(
        self,
        pool: BlockPool,
        groups: BlockGroups,
        prefix: PrefixCache | None,
        offload: Offload | None,
        adapters: AdapterSlots,
    ) -> None:
        self._pool = pool
        self._groups = groups
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
        if begun is not None and len(begun.parts[0]) * self._groups.block_size < count:
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

    def fetch(self, seq: Sequence, arrived: Callable[[], None]) -> bool:
        """See `KVManager.fetch`."""
        offload, prefix, request = self._offload, self._prefix, seq.request
        if offload is None or prefix is None or offload.peers is None:
            return False
        self._found(seq)
        ahead = prefix.ahead(seq.id, seq.tokens, request.images)
        chains = tuple([chain for chain in ahead if chain not in offload.host])
        address = offload.peers.choose(request, chains)
        if address:
            offload.peers.ask(seq.id, address, Question(request, chains), arrived)
        return bool(address)

    def allocate(self, count: int) -> tuple[int, ...] | None:
        """Allocate blocks for steps to fill, from openings as well; None, with no change, if there are not enough."""
        blocks = self._claim(count)
        if blocks is not None:
            self._vacate(blocks)
            self._early.allocated(len(blocks))
        return blocks

    def _claim(self, count: int) -> tuple[int, ...] | None:
        """Allocate blocks, which still hold what was evicted."""
        if count > self._pool.free:
            if count > self.free_blocks:
                return None
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
        parts, groups = self._found(seq), self._groups
        found = [block for part in parts for block in part if block != NULL_BLOCK]
        self._pool.share(found)
        self._early.shared(len(found))
        cached = len(parts[0])
        begins = [groups.begin(g, cached * groups.block_size) for g in range(groups.count)]
        counts = [max(0, groups.end(g, count, begin) - cached) for g, begin in enumerate(begins)]
        needed = sum(counts)
        stored = self._stored(seq, alone=alone) if needed <= self.free_blocks else None
        blocks = None if stored is None else self._claim(needed)
        if stored is None or blocks is None:
            self._pool.release(reversed(found))
            self._adapters.release(seq.id)
            return None
        transfer, contents = None, stored.contents
        fetched = blocks[: len(contents)]
        self._vacate(blocks[len(contents) :])
        if contents and self._offload is not None and self._prefix is not None:
            evicted = self._prefix.chains(fetched)
            transfer = self._offload.restore(fetched, contents, evicted)
            self._prefix.forget(fetched)
        self._early.allocated(len(blocks))
        added = split(blocks, counts)
        table = tuple([(*part, *new) for part, new in zip(parts, added, strict=True)])
        size, reused = groups.block_size, cached + len(contents)
        if stored.cached is not None:
            reused = max(cached, min(reused, stored.cached // size))
        opening = NewTable(table, cached + len(contents), reused * size, transfer)
        self._begun[seq.id] = opening
        return opening

    def _found(self, seq: Sequence) -> list[list[int]]:
        """The blocks with the cached prefix of `seq` by group, of a group with a window the last ones."""
        groups, request = self._groups, seq.request
        if self._prefix is None:
            return [[] for _ in range(groups.count)]
        digest = "" if request.adapter is None else request.adapter.digest
        first = self._prefix.match(seq.id, seq.tokens, request.cache_salt, digest, request.images)
        parts = []
        for group in range(groups.count):
            begin = groups.begin(group, len(first) * groups.block_size)
            seen = first[begin:]
            parts.append(
                [NULL_BLOCK] * begin + (self._prefix.in_group(group, seen) if group else seen)
            )
        return parts

    def _stored(self, seq: Sequence, *, alone: bool) -> StoredPrefix | None:
        """The contents from other tiers that continue the prefix found for `seq`; None while they are being read."""
        if self._offload is None or self._prefix is None:
            return StoredPrefix(())
        chains = self._prefix.ahead(seq.id, seq.tokens, seq.request.images)
        return self._offload.find(seq.id, chains, alone=alone)
