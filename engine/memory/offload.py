"""Offloading of KV blocks that the prefix cache evicts, to host memory and to disk; exchange of blocks with engines.

Does: keep the contents of evicted blocks on the host while that pays, move contents dropped there to disk, write blocks
that several requests share to disk early, and fetch the blocks that continue a prefix where that is faster than
computing them; keep contents for other engines, and take from another engine what it computed for a sequence. Does not:
assign blocks to sequences (`manager`), or touch a tensor (`BlockContents` does).

Fetching is a late prefix hit: contents are copied into the blocks of a new table, and their tokens then count as
computed. Files are read in a separate thread, so that a sequence waits for its contents while others run.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain as joined
from typing import NamedTuple

from msgspec import Struct

from .block_contents import BlockContents, BlockExports, Content, Transfer
from .disk_tier import DiskTier
from .file_reads import FileReads
from .host_tier import HostTier
from .layer_feed import LayerFeed
from .page_key import Chain
from .peer_tier import PeerTier, Received
from .reuse import ReuseRate
from .swap import TransferRule


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


class StoredPrefix(NamedTuple):
    """The contents of a prefix in the tiers; `cached`: see `Received`."""

    contents: Sequence[Content]
    cached: int | None = None


class Offload:
    """The tiers below the pool of one engine. `block_size` is in tokens. Used by the thread that steps.

    `exported` is for other engines, `feed` for those that wait for a prompt, and `peers` are the contents that those
    have.
    """

    def __init__(
        self,
        contents: BlockContents,
        block_size: int,
        host: HostTier,
        disk: DiskTier | None,
        rule: TransferRule,
        exported: BlockExports | None = None,
        peers: PeerTier | None = None,
        feed: LayerFeed | None = None,
    ) -> None:
        self._contents = contents
        self._block_size = block_size
        self.host = host
        self._disk = disk
        self.rule = rule
        self.exported = exported
        self.peers = peers
        self.feed = feed
        self._files = FileReads(disk, contents, block_size, rule)
        self._restoring: list[Transfer] = []  # not measured yet
        # The most blocks to offload before their eviction.
        held = host.most_bytes // max(1, contents.block_bytes)
        self.most_early = min(contents.most_early, held // 4)
        self._reuse = ReuseRate(held)

    @property
    def counts(self) -> OffloadCounts:
        """A snapshot of the counts."""
        disk, exported = self._disk, self.exported
        blocks = {"host": len(self.host), "disk": 0 if disk is None else len(disk)}
        nbytes = {"host": self.host.nbytes, "disk": 0 if disk is None else disk.nbytes}
        faults = {} if disk is None else disk.faults
        if exported is not None:
            blocks["exported"], nbytes["exported"] = len(exported), exported.nbytes
        if self.peers is not None:
            faults = faults | self.peers.faults
        return OffloadCounts(blocks, nbytes, self.rule.rates, dict(self.rule.decided), faults)

    def offload_early(self, found: Iterable[tuple[Chain, int]]) -> None:
        """Keep the contents of blocks that will soon be evicted, given with their chains, while steps run."""
        if self.host.most_bytes and self.rule.keeps(self._reuse.share):
            self._copy(found, self.host, self._put, overlapped=True)

    def evict(
        self, found: Iterable[tuple[Chain, int]], overwritten: Sequence[int] | None = None
    ) -> None:
        """Keep the contents of evicted blocks, given with their chains, on the host if that pays; else drop them.

        With `overwritten`, steps that are started from now on may overwrite those blocks; without, a transfer will.
        """
        evicted = list(found)
        if evicted and self.host.most_bytes:
            self._reuse.evicted(len(evicted))
            keeps = self.rule.keeps(self._reuse.share)
            self.rule.decided["keep" if keeps else "drop"] += len(evicted) * self._block_size
            if keeps:
                self._copy(evicted, self.host, self._put, overlapped=overwritten is None)
            else:
                self._reuse.dropped([chain for chain, _ in evicted if chain not in self.host])
        if overwritten is not None:
            self._contents.await_reads(overwritten)

    def share(self, used: Iterable[tuple[Chain, int]]) -> None:
        """Write blocks to disk that several requests used, so that they survive the end of this process."""
        if self._disk is not None:
            self._copy(used, self._disk, self._disk.put)

    def export(self, chains: Sequence[Chain], blocks: Sequence[int]) -> None:
        """Keep the contents of these blocks, with these chains, for other engines, unless these have them by now."""
        if self.exported is not None:
            found = list(zip(chains, blocks, strict=False))
            self.exported.export(found if self.feed is None else self.feed.lacking(found))

    def find(self, seq_id: int, chains: Iterable[Chain], *, alone: bool) -> StoredPrefix | None:
        """The contents of a prefix of `chains` that are stored and worth fetching; None while they are being read.

        Those that another engine has sent are fetched in any case: it computed them for this sequence. Where the
        sequence is `alone`, they are waited for.
        """
        self.measure()
        received = Received({}) if self.peers is None else self.peers.received(seq_id)
        sent = received.contents
        found, missing = self._split(iter(chains), sent)
        if missing and self._files.ask(seq_id, missing):
            if not alone and not self._files.are_done(missing):
                return None
            for chain, content in self._files.take(seq_id, missing):
                self._put(chain, content)
                found.append(content)
        tokens = len(found) * self._block_size
        if sent:
            self.rule.decided["fetch_peer"] += len(sent) * self._block_size
            return StoredPrefix(found, received.cached)
        return StoredPrefix(found if found and self.rule.pays("host", tokens) else [])

    def restore(
        self,
        blocks: Sequence[int],
        contents: Sequence[Content],
        evicted: Iterable[tuple[Chain, int]] = (),
    ) -> Transfer:
        """Start to write contents into blocks, and evict what these hold now: `evicted`, given with their chains.

        Both directions of a link are busy at once. The contents are on their way before the first block is read, and
        no block is overwritten before the transfer advances, after all of them are being read.
        """
        transfer = self._contents.write(blocks, contents)
        self._reuse.returned(len(contents))
        self.evict(evicted)
        self._restoring.append(transfer)
        self.measure()
        return transfer

    def measure(self) -> None:
        """Take the times of the transfers that are done since the last call."""
        restoring, self._restoring = self._restoring, []
        for transfer in restoring:
            if transfer.advance():
                self.rule.fetched("host", transfer.blocks * self._block_size, transfer.seconds)
            else:
                self._restoring.append(transfer)

    def forget(self, seq_id: int) -> None:
        """Drop the records of a sequence. No effect for an unknown one."""
        self._files.forget(seq_id)
        if self.peers is not None:
            self.peers.forget(seq_id)

    def check(self) -> None:
        """Check the host tier. Raises `InternalError`."""
        self.host.check()

    def close(self) -> None:
        """Finish writing, and end the threads."""
        self._files.close()
        if self.peers is not None:
            self.peers.close()
        if self._disk is not None:
            self._disk.close()
        self._contents.close()

    def _copy(
        self,
        found: Iterable[tuple[Chain, int]],
        tier: Container[Chain],
        put: Callable[[Chain, Content], None],
        *,
        overlapped: bool = False,
    ) -> None:
        """Copy the blocks that `tier` lacks from the device, and `put` them there."""
        new = [(chain, block) for chain, block in found if chain not in tier]
        for begin in range(0, len(new), self._contents.most_read):
            part = new[begin : begin + self._contents.most_read]
            contents = self._contents.read([block for _, block in part], overlapped=overlapped)
            for (chain, _), content in zip(part, contents, strict=False):
                put(chain, content)

    def _split(
        self, chains: Iterator[Chain], sent: Mapping[Chain, Content]
    ) -> tuple[list[Content], list[Chain]]:
        """The contents on the host, or sent by another engine, of the first chains, and those after them on disk.

        Contents of files fit into a half of the host tier, into which they are read. Where none follow, the chains that
        were dropped count as needed again.
        """
        most = self.host.most_bytes // 2 // max(1, self._contents.block_bytes)
        found: list[Content] = []
        missing: list[Chain] = []
        for chain in chains:
            content = None
            if not missing:
                content = sent[chain] if chain in sent else self.host.get(chain)
            if content is not None:
                found.append(content)
            elif len(missing) < most and chain in self._files:
                missing.append(chain)
            else:
                self._reuse.missed(joined((chain,), chains))
                break
        return found, missing

    def _put(self, chain: Chain, content: Content) -> None:
        for dropped, lost in self.host.put(chain, content):
            if self._disk is not None:
                self._disk.put(dropped, lost)
