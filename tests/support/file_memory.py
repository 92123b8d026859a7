"""shared memory in a file, in place of a GPU's: processes map the same pages.

Does: stand for `SharedMemory` and `StagingMemory`, with contents of which each byte is a block's number; let a test act
between the copies of two contents. Does not: choose slots.
"""

import mmap
import threading
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

from intaglio.engine.memory.block_contents import Content, HostContent
from intaglio.engine.memory.block_exchange import ExchangeError
from intaglio.engine.memory.block_leases import Region
from intaglio.engine.memory.page_key import CHAIN_BYTES, Chain

SIZE = 64
CHECKSUM = 16
SLOT = CHAIN_BYTES + SIZE + CHECKSUM


def content_of(block: int) -> bytes:
    return bytes([block % 251]) * SIZE


class Writing:
    """Slots that are written when a test says so."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.done.set()
        self.waited = threading.Event()

    def wait(self) -> None:
        self.waited.set()
        assert self.done.wait(60)


class FileMemory:
    """See `SharedMemory`. The file has no content of any chain at first."""

    def __init__(self, path: Path, slots: int) -> None:
        path.write_bytes(bytes(slots * SLOT))
        self.region = Region(str(path).encode(), slots, SIZE)
        self.writing = Writing()
        self.written: list[int] = []
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)

    def write(
        self, slots: Sequence[int], chains: Sequence[Chain], blocks: Sequence[int]
    ) -> Writing:
        for slot, chain, block in zip(slots, chains, blocks, strict=True):
            content = content_of(block)
            checksum = blake2b(content, digest_size=CHECKSUM).digest()
            self._map[slot * SLOT : (slot + 1) * SLOT] = chain + content + checksum
        self.written += slots
        return self.writing

    def spoil(self, slot: int) -> None:
        """Change a byte of a content."""
        self._map[slot * SLOT + CHAIN_BYTES + 5] ^= 1


class FileMapping:
    """See `Mapping`."""

    def __init__(self, staging: "FileStaging", region: Region) -> None:
        path = Path(region.handle.decode())
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        except OSError as error:
            raise ExchangeError(str(error)) from error
        self._staging = staging

    def copy(self, slots: Sequence[int], chains: Sequence[Chain]) -> list[Content]:
        found: list[Content] = []
        for number, (slot, chain) in enumerate(zip(slots, chains, strict=True)):
            self._staging.before_copy(number)
            data = self._map[slot * SLOT : (slot + 1) * SLOT]
            content = data[CHAIN_BYTES:-CHECKSUM]
            if data[:CHAIN_BYTES] != chain:
                raise ExchangeError("a content is that of another chain")
            if blake2b(content, digest_size=CHECKSUM).digest() != data[-CHECKSUM:]:
                raise ExchangeError("a content is damaged")
            found.append(HostContent(content))
        return found[: self._staging.room]

    def close(self) -> None:
        self._map.close()
        self._staging.mapped -= 1
        self._staging.closed.set()


class FileStaging:
    """See `StagingMemory`. `before_copy` is called with the number of each content of a lease before it is read."""

    def __init__(self) -> None:
        self.before_copy: Callable[[int], None] = lambda _: None
        self.room = 1 << 20
        self.mapped = 0
        self.closed = threading.Event()

    def map(self, region: Region) -> FileMapping:
        mapping = FileMapping(self, region)
        self.mapped += 1
        return mapping
