"""The contents of KV blocks outside the cache, and the interface to a device that copies them.

Does: state the protocols of contents, of the copies between the cache and the host, of a copy in progress, and of the
contents kept for other engines. Does not: copy (`run`), or keep contents (`host_tier`, `disk_tier`, `exported_blocks`,
`leased_blocks`).
"""

from collections.abc import Sequence
from typing import Protocol

from .page_key import Chain


class Content(Protocol):
    """The keys and values of one block in all layers, in memory of the host."""

    @property
    def nbytes(self) -> int:
        """Bytes of the content."""
        ...

    def tobytes(self) -> bytes:
        """A copy. Waits until the content has arrived from the device; for any thread."""
        ...


class BlockExports(Protocol):
    """Contents that are kept for other engines. For the thread that steps."""

    def __len__(self) -> int:
        """The number of contents."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        ...

    def export(self, found: Sequence[tuple[Chain, int]]) -> None:
        """Keep the contents of blocks, given with their chains, as they are after all steps started so far."""
        ...


class HostContent(bytes):
    """A `Content` that is ordinary memory."""

    @property
    def nbytes(self) -> int:
        """See `Content`."""
        return len(self)

    def tobytes(self) -> bytes:
        """See `Content`; this object, as it never changes."""
        return self


class Transfer(Protocol):
    """A copy of contents into blocks, in progress or done. For the thread that steps.

    Blocks that are to be read first are read between `write` and the first call of `advance` or `join`.
    """

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        ...

    @property
    def seconds(self) -> float:
        """How long the copy took, without pauses; 0 until it is done."""
        ...

    def advance(self) -> bool:
        """Start the next part of the copy, if there is one; whether all of it is done. Does not wait."""
        ...

    def join(self) -> None:
        """Start all of the copy; steps that are started from now on read the contents. The device waits, not the host,
        where it can."""
        ...

    def cancel(self) -> None:
        """Start no further part; steps that are started from now on may overwrite the blocks."""
        ...


class BlockContents(Protocol):
    """Copies the keys and values of blocks, in all layers. For the thread that steps, except `hold`."""

    @property
    def block_bytes(self) -> int:
        """Bytes of a block."""
        ...

    @property
    def most_read(self) -> int:
        """The most blocks of one call of `read`."""
        ...

    @property
    def most_early(self) -> int:
        """The most blocks worth reading before their eviction; 0 where a read delays steps in any case."""
        ...

    def read(self, blocks: Sequence[int], *, overlapped: bool = False) -> list[Content]:
        """The contents of blocks as they are after all steps started so far; of the first ones only where the host has
        no more memory.

        With `overlapped`, steps need not wait for it. Then a block must not be overwritten, but by a transfer of
        `write`, until `await_reads` was called for it.
        """
        ...

    def await_reads(self, blocks: Sequence[int]) -> None:
        """Let steps that are started from now on overwrite blocks that may have been read with `overlapped`."""
        ...

    def hold(self, data: bytes) -> Content | None:
        """A content of these bytes, from which it can be written; None where the host has no memory. For any thread."""
        ...

    def write(self, blocks: Sequence[int], contents: Sequence[Content]) -> Transfer:
        """Overwrite blocks when the transfer advances; no step started so far reads or writes them after this call."""
        ...

    def close(self) -> None:
        """Wait for all copies, and free the memory of all contents."""
        ...
