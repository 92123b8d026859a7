"""The KV blocks that this engine computed for others, in memory that it leases to them.

Does: choose the slots of that memory, and overwrite no slot that is leased. A lease ends when the reader returns it,
leaves, or exceeds the timeout of the channel. Does not: copy (`SharedMemory` does), or send a content through a
socket (`exported_blocks`).
"""

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .block_exchange import Channel
from .block_leases import LeaseChannel, Region
from .page_key import Chain


class Written(Protocol):
    """A copy into slots, in progress or done."""

    def wait(self) -> None:
        """Wait until it is done; for any thread."""
        ...


class SharedMemory(Protocol):
    """Slots for contents, in memory that other processes can map."""

    @property
    def region(self) -> Region:
        """What another process needs to map it."""
        ...

    def write(
        self, slots: Sequence[int], chains: Sequence[Chain], blocks: Sequence[int]
    ) -> Written:
        """Start to copy blocks, as they are after all steps started so far, into slots, with their chains."""
        ...


@dataclass(frozen=True, slots=True)
class _Held:
    slot: int
    written: Written


class LeasedBlocks:
    """The contents in a shared memory by chain; the least recently used go first. See `BlockExports`.

    `export` is for the thread that steps, `serve` for any other thread.
    """

    def __init__(self, memory: SharedMemory) -> None:
        self._memory = memory
        self._guard = threading.Lock()
        self._held: OrderedDict[Chain, _Held] = OrderedDict()
        self._free = deque(range(memory.region.slots))
        self._leases: Counter[int] = Counter()  # by slot

    def __len__(self) -> int:
        return len(self._held)

    @property
    def nbytes(self) -> int:
        """See `BlockExports`."""
        return len(self._held) * self._memory.region.block_bytes

    @property
    def leased(self) -> int:
        """The number of slots that are leased."""
        with self._guard:
            return len(self._leases)

    def export(self, found: Sequence[tuple[Chain, int]]) -> None:
        """See `BlockExports`; keeps the first ones where there is no room for all."""
        with self._guard:
            for chain, _ in found:
                if chain in self._held:
                    self._held.move_to_end(chain)
            kept = {chain for chain, _ in found}
            new: list[tuple[Chain, int]] = []
            slots: list[int] = []
            for chain, block in found:
                if chain in self._held:
                    continue
                slot = self._take(kept)
                if slot is None:
                    break
                slots.append(slot)
                new.append((chain, block))
            if not new:
                return
            chains = [chain for chain, _ in new]
            written = self._memory.write(slots, chains, [block for _, block in new])
            self._held.update(
                (chain, _Held(slot, written)) for chain, slot in zip(chains, slots, strict=True)
            )

    def serve(self, channel: Channel) -> None:
        """Lease to one engine until it leaves. Raises `ExchangeError`."""
        leases = LeaseChannel(channel)
        leases.introduce(self._memory.region)
        while (chains := leases.receive_question()) is not None:
            found = self._lease(chains)
            try:
                for written in {id(one.written): one.written for one in found}.values():
                    written.wait()
                leases.offer([one.slot for one in found])
                if found:
                    leases.await_return()
            finally:
                self._release(found)

    def _take(self, kept: set[Chain]) -> int | None:
        """A free slot, or one with a content that is dropped, neither leased nor one of `kept`; None for none."""
        if self._free:
            return self._free.popleft()
        for chain, held in self._held.items():
            if chain in kept:
                return None  # so are all that follow
            if not self._leases[held.slot]:
                del self._held[chain]
                return held.slot
        return None

    def _lease(self, chains: Sequence[Chain]) -> list[_Held]:
        """The contents of the first of these chains, up to one that is not held, which are leased from now on."""
        found: list[_Held] = []
        with self._guard:
            for chain in chains:
                held = self._held.get(chain)
                if held is None:
                    break
                self._held.move_to_end(chain)
                self._leases[held.slot] += 1
                found.append(held)
        return found

    def _release(self, found: Sequence[_Held]) -> None:
        with self._guard:
            for held in found:
                self._leases[held.slot] -= 1
                if not self._leases[held.slot]:
                    del self._leases[held.slot]
