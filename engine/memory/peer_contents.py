"""A link to another engine that reads KV blocks in that engine's memory, under a lease.

Does: map that memory while the connection lives, ask for a lease of slots, have them copied, and return them. Copies
that the owner does not confirm are dropped. Does not: copy (`StagingMemory` does).
"""

from collections.abc import Sequence
from typing import Protocol

from .block_contents import Content
from .block_exchange import Channel, ExchangeError
from .block_leases import LeaseChannel, Region
from .page_key import Chain
from .peer_tier import Question


class Mapping(Protocol):
    """Memory of another process that this one can read. For one thread at a time."""

    def copy(self, slots: Sequence[int], chains: Sequence[Chain]) -> list[Content]:
        """Copies of the contents in these slots, of the first ones only where there is no more room. Waits for them.

        Raises:
            ExchangeError: one is damaged, is that of another chain, or cannot be read.
        """
        ...

    def close(self) -> None:
        """Wait for all copies, and unmap the memory."""
        ...


class StagingMemory(Protocol):
    """Memory of this engine's device for contents that were read."""

    def map(self, region: Region) -> Mapping:
        """Map memory of another process. Raises `ExchangeError` if the device cannot."""
        ...


class PeerContents:
    """A `PeerLink` that asks for leases. `size` is that of a content, in bytes."""

    cached = None

    def __init__(self, channel: Channel, staging: StagingMemory, size: int) -> None:
        self._leases = LeaseChannel(channel)
        region = self._leases.introduced()
        if region.block_bytes != size:
            raise ExchangeError(f"contents of {region.block_bytes} bytes, not of {size}")
        self._slots = region.slots
        self._mapping = staging.map(region)

    def ask(self, question: Question) -> list[Content]:
        """See `PeerLink`. All contents of the lease, or none."""
        chains = question.chains
        slots = self._leases.ask(chains, self._slots)
        if not slots:
            return []
        contents = self._mapping.copy(slots, chains[: len(slots)])
        self._leases.return_slots()
        return contents

    def has_ended(self) -> bool:
        """See `PeerLink`."""
        return self._leases.has_ended()

    def close(self) -> None:
        """See `PeerLink`."""
        self._mapping.close()
        self._leases.close()
