"""Memory in which the GPUs of one host write to each other.

Does: allocate a rank's part, exchange handles with the other ranks, and map theirs. Does not: read or write
(`kernels.exchange.peer_sums`).
"""

from collections.abc import Callable
from typing import Protocol

import torch
from intaglio.kernels.exchange.peer_sums import PeerBuffers, empty, inbox_bytes, most_exchanged
from torch import Tensor

from ..errors import ConfigError
from ..memory.block_exchange import ExchangeError
from .peer_memory import HANDLE_BYTES, PeerMemory


class MappableMemory(Protocol):
    """Memory of one device that other processes can map. See `PeerMemory`."""

    def allocate(self, nbytes: int) -> tuple[Tensor, bytes]: ...

    def map(self, handle: bytes) -> int: ...


def peer_buffers(
    rank: int,
    size: int,
    device: torch.device,
    gathered: Callable[[Tensor], Tensor],
    shared: Callable[[torch.device], MappableMemory] = PeerMemory,
) -> PeerBuffers | None:
    """The buffers of rank `rank` of `size`; None if any two of their GPUs cannot share memory.

    `gathered`: see `Communicator.all_gather`. `shared` raises `ConfigError` where there is no such memory. Every rank
    calls this at the same time.
    """
    own, address, memory = bytes(HANDLE_BYTES), 0, _memory(device, shared)
    if memory is not None:
        try:
            inbox, own = memory.allocate(inbox_bytes(size))
        except ConfigError:
            pass  # the others learn it from a handle of zeros
        else:
            empty(inbox)
            address = inbox.data_ptr()
    sent = torch.frombuffer(bytearray(own), dtype=torch.uint8).to(device)
    handles = [bytes(handle.tolist()) for handle in gathered(sent).cpu()]
    addresses = _mapped(memory, handles, rank, address)
    all_there = gathered(torch.tensor([addresses is not None], dtype=torch.int32, device=device))
    if addresses is None or not bool(all_there.all()):
        return None
    return PeerBuffers(
        rank,
        torch.tensor(addresses, dtype=torch.int64, device=device),
        torch.zeros(most_exchanged(size), dtype=torch.int32, device=device),
        torch.zeros(1, dtype=torch.int32, device=device),
    )


def _memory(
    device: torch.device, shared: Callable[[torch.device], MappableMemory]
) -> MappableMemory | None:
    """Memory that can be shared; None where there is none."""
    try:
        return shared(device)
    except ConfigError:
        return None


def _mapped(
    memory: MappableMemory | None, handles: list[bytes], rank: int, address: int
) -> list[int] | None:
    """The addresses of all ranks' memory, that of `rank` being `address`; None if one cannot be mapped."""
    if memory is None or bytes(HANDLE_BYTES) in handles:
        return None
    try:
        return [
            address if other == rank else memory.map(handle) for other, handle in enumerate(handles)
        ]
    except ExchangeError:
        return None
