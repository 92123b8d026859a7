"""Offloading of KV blocks that the prefix cache evicts, to host memory and to disk; exchange of blocks with engines.

Does: keep the contents of evicted blocks on the host, move contents dropped there to disk, write blocks that several
requests share to disk early, and fetch the blocks that continue a prefix where that is faster than computing them; keep
contents for other engines, and take from another engine what it computed for a sequence. Does not: assign blocks to
sequences (`manager`), or touch a tensor (`BlockContents` does).

Fetching is a late prefix hit: contents are copied into the blocks of a new table, and their tokens then count as
computed. Files are read in a separate thread, so that a sequence waits for its contents while others run.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from msgspec import Struct

from .disk_tier import DiskTier
from .exported_blocks import ExportedBlocks
from .host_tier import HostTier
from .page_key import Chain
from .peer_tier import Contents, PeerTier
from .swap import TransferRule


class BlockContents(Protocol):
    """Reads and writes the keys and values of a block, in all layers."""

    @property
    def block_bytes(self) -> int:
        """Bytes of a block."""
        ...

    def read(self, block: int) -> bytes:
        """A copy of the content of a block."""
        ...

    def write(self, block: int, content: bytes) -> None:
        """Overwrite a block."""
        ...


class OffloadCounts(Struct, frozen=True):
    """Contents and activity of the tiers since the start of the engine; empty without tiers.

    `blocks` and `nbytes` by tier, of which "exported" is for other engines; `rates` in tokens per second; `decided` in
    tokens; `faults` by kind.
    """

    blocks: dict[str, int] = {}
    nbytes: dict[str, int] = {}
    rates: dict[str, float] = {}
    decided: dict[str, int] = {}
    faults: dict[str, int] = {}


NOT_OFFLOADED = OffloadCounts()


class Offload:
    """The tiers below the pool of one engine. `block_size` is in tokens. Used by the thread that steps."""

    def __init__(
        self,
        contents: BlockContents,
        block_size: int,
        host: HostTier,
        disk: DiskTier | None,
        rule: TransferRule,
        exported: ExportedBlocks | None = None,
        peers: PeerTier | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._contents = contents
        self._block_size = block_size
        self._host = host
        self._disk = disk
        self.rule = rule
        self._exported = exported
        self._peers = peers
        self._clock = clock
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="kv-read")
        self._reading: dict[Chain, Future[bytes | None]] = {}
        self._asked: set[int] = set()  # sequences that wait for files

    @property
    def counts(self) -> OffloadCounts:
        """The counts of now."""
        disk, exported = self._disk, self._exported
        blocks = {"host": len(self._host), "disk": 0 if disk is None else len(disk)}
        nbytes = {"host": self._host.nbytes, "disk": 0 if disk is None else disk.nbytes}
        faults = {} if disk is None else disk.faults
        if exported is not None:
            blocks["exported"], nbytes["exported"] = len(exported), exported.nbytes
        if self._peers is not None:
            faults = faults | self._peers.faults
        return OffloadCounts(blocks, nbytes, self.rule.rates, dict(self.rule.decided), faults)

    def keep(self, chain: Chain, block: int) -> None:
        """Keep the content of a block that is evicted."""
        if chain not in self._host:
            self._put(chain, self._contents.read(block))

    def share(self, chain: Chain, block: int) -> None:
        """Write a block to disk that several requests used, so that it survives the end of this process."""
        if self._disk is not None and chain not in self._disk:
            self._disk.put(chain, self._contents.read(block))

    def export(self, chains: Sequence[Chain], blocks: Sequence[int]) -> None:
        """Keep the contents of these blocks, with these chains, for other engines."""
        if self._exported is not None:
            for chain, block in zip(chains, blocks, strict=False):
                if chain not in self._exported:
                    self._exported.put(chain, self._contents.read(block))

    def find(
        self, seq_id: int, chains: Iterable[Chain], *, alone: bool, peer: str = ""
    ) -> list[bytes] | None:
        """The contents of a prefix of `chains` that are stored and worth fetching; None while they are being read.

        Those that the engine at the address `peer` has are fetched in any case: it computed them for this sequence.
        Where the sequence is `alone`, they are waited for.
        """
        sent: Contents = {}
        if peer and self._peers is not None:
            chains = tuple(chains)
            ahead = [chain for chain in chains if chain not in self._host]
            received = self._peers.contents(seq_id, peer, ahead, wait=alone)
            if received is None:
                return None
            sent = received
        found, missing = self._split(chains, sent)
        if missing and seq_id not in self._asked:
            if self.rule.pays("disk", len(missing) * self._block_size):
                self._asked.add(seq_id)
                for chain in missing:
                    if chain not in self._reading:
                        self._reading[chain] = self._reader.submit(self._read, chain)
            else:
                missing = []
        waiting = [chain for chain in missing if chain in self._reading]
        if not alone and any(not self._reading[chain].done() for chain in waiting):
            return None
        for chain in waiting:
            content = self._reading.pop(chain).result()
            if content is None:
                break
            self._put(chain, content)
            found.append(content)
        self._asked.discard(seq_id)
        tokens = len(found) * self._block_size
        if sent:
            self.rule.decided["fetch_peer"] += len(sent) * self._block_size
            return found
        return found if found and self.rule.pays("host", tokens) else []

    def restore(self, blocks: Sequence[int], contents: Sequence[bytes]) -> None:
        """Write contents into blocks."""
        began = self._clock()
        for block, content in zip(blocks, contents, strict=True):
            self._contents.write(block, content)
        self.rule.fetched("host", len(blocks) * self._block_size, self._clock() - began)

    def forget(self, seq_id: int) -> None:
        """Drop the records of a sequence. No effect for an unknown one."""
        self._asked.discard(seq_id)
        if self._peers is not None:
            self._peers.forget(seq_id)
        if not self._asked:  # nothing waits for the files that were read
            for chain in [chain for chain, read in self._reading.items() if read.done()]:
                del self._reading[chain]

    def check(self) -> None:
        """Check the host tier. Raises `InternalError`."""
        self._host.check()

    def close(self) -> None:
        """Finish writing, and end the threads."""
        self._reader.shutdown(cancel_futures=True)
        if self._peers is not None:
            self._peers.close()
        if self._disk is not None:
            self._disk.close()

    def _split(self, chains: Iterable[Chain], sent: Contents) -> tuple[list[bytes], list[Chain]]:
        """The contents on the host, or sent by another engine, of the first chains, and those after them on disk.

        Contents of files fit into a half of the host tier, into which they are read.
        """
        most = self._host.most_bytes // 2 // max(1, self._contents.block_bytes)
        found: list[bytes] = []
        missing: list[Chain] = []
        for chain in chains:
            content = None if missing else sent.get(chain) or self._host.get(chain)
            if content is not None:
                found.append(content)
            elif len(missing) < most and self._is_on_disk(chain):
                missing.append(chain)
            else:
                break
        return found, missing

    def _is_on_disk(self, chain: Chain) -> bool:
        return chain in self._reading or (self._disk is not None and chain in self._disk)

    def _put(self, chain: Chain, content: bytes) -> None:
        for dropped, lost in self._host.put(chain, content):
            if self._disk is not None:
                self._disk.put(dropped, lost)

    def _read(self, chain: Chain) -> bytes | None:
        began = self._clock()
        content = None if self._disk is None else self._disk.get(chain)
        if content is not None and len(content) == self._contents.block_bytes:
            self.rule.fetched("disk", self._block_size, self._clock() - began)
            return content
        return None
