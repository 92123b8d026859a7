"""Reads KV blocks from the disk tier, in a separate thread.

Does: read what sequences ask for, where that is faster than recomputing it, and measure the seconds. Does not: keep
contents.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from .block_contents import BlockContents, Content
from .disk_tier import DiskTier
from .page_key import Chain
from .swap import TransferRule


class FileReads:
    """The reads of one engine; without a `disk` there is nothing to read. `block_size` is in tokens."""

    def __init__(
        self,
        disk: DiskTier | None,
        contents: BlockContents,
        block_size: int,
        rule: TransferRule,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._disk = disk
        self._contents = contents
        self._block_size = block_size
        self._rule = rule
        self._clock = clock
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="kv-read")
        self._reading: dict[Chain, Future[Content | None]] = {}
        self._waiting: set[int] = set()  # sequences that wait

    def __contains__(self, chain: object) -> bool:
        """Whether a content is in a file, or being read."""
        return chain in self._reading or (self._disk is not None and chain in self._disk)

    def ask(self, seq_id: int, chains: Sequence[Chain]) -> bool:
        """Start to read these contents for a sequence, once; False if recomputing them is faster."""
        if seq_id not in self._waiting:
            if not self._rule.pays("disk", len(chains) * self._block_size):
                return False
            self._waiting.add(seq_id)
            for chain in chains:
                if chain not in self._reading:
                    self._reading[chain] = self._reader.submit(self._read, chain)
        return True

    def are_done(self, chains: Sequence[Chain]) -> bool:
        """Whether none of these contents is being read."""
        return all(self._reading[chain].done() for chain in chains if chain in self._reading)

    def take(self, seq_id: int, chains: Sequence[Chain]) -> list[tuple[Chain, Content]]:
        """The contents of the first of these chains that were read, waited for if they are being read."""
        self._waiting.discard(seq_id)
        found = []
        for chain in chains:
            reading = self._reading.pop(chain, None)
            content = None if reading is None else reading.result()
            if content is None:
                break
            found.append((chain, content))
        return found

    def forget(self, seq_id: int) -> None:
        """Note that a sequence no longer waits. No effect for an unknown one."""
        self._waiting.discard(seq_id)
        if not self._waiting:  # nothing waits for what was read
            for chain in [chain for chain, read in self._reading.items() if read.done()]:
                del self._reading[chain]

    def flush(self) -> None:
        """Wait for all reads."""
        self._reader.submit(lambda: None).result()

    def close(self) -> None:
        """End the thread."""
        self._reader.shutdown(cancel_futures=True)
        self._reading.clear()

    def _read(self, chain: Chain) -> Content | None:
        began = self._clock()
        data = None if self._disk is None else self._disk.get(chain)
        if data is None or len(data) != self._contents.block_bytes:
            return None
        content = self._contents.hold(data)
        if content is not None:
            self._rule.fetched("disk", self._block_size, self._clock() - began)
        return content
