"""The memory that ranks write to: every rank has it, with all addresses, or none has."""

import pytest
import torch
from intaglio.engine.errors import ConfigError
from intaglio.engine.memory.block_exchange import ExchangeError
from intaglio.engine.parallel.parallel_layout import TensorParallel
from intaglio.engine.parallel.peer_buffers import peer_buffers
from intaglio.engine.parallel.peer_memory import HANDLE_BYTES
from intaglio.kernels.exchange.peer_sums import ABSENT, PeerBuffers, inbox_bytes
from torch import Tensor

from tests.support.threaded_ranks import on_ranks

HOST = torch.device("cpu")
RANKS = 2


class HostMemory:
    """Memory of this process, whose handles are addresses; `fault` names the call that fails."""

    def __init__(self, fault: str | None) -> None:
        if fault == "load":
            raise ConfigError("no driver")
        self._fault = fault
        self.kept: list[Tensor] = []

    def allocate(self, nbytes: int) -> tuple[Tensor, bytes]:
        if self._fault == "allocate":
            raise ConfigError("memory is short")
        self.kept.append(torch.zeros(nbytes, dtype=torch.uint8))
        return self.kept[-1], self.kept[-1].data_ptr().to_bytes(HANDLE_BYTES, "little")

    def map(self, handle: bytes) -> int:
        if self._fault == "map":
            raise ExchangeError("no peer access")
        return int.from_bytes(handle, "little")


def connected(faults: dict[int, str]) -> tuple[list[PeerBuffers | None], dict[int, HostMemory]]:
    """The buffers and the memory of each rank; `faults` by rank."""
    memories: dict[int, HostMemory] = {}

    def connect(place: TensorParallel) -> PeerBuffers | None:
        rank = place.layout.rank

        def shared(_: torch.device) -> HostMemory:
            memories[rank] = HostMemory(faults.get(rank))
            return memories[rank]

        return peer_buffers(rank, RANKS, HOST, place.communicator.all_gather, shared)

    return on_ranks(RANKS, connect), memories


def test_every_rank_knows_the_memory_of_all() -> None:
    found, memories = connected({})
    addresses = [memories[rank].kept[0].data_ptr() for rank in range(RANKS)]
    for rank, buffers in enumerate(found):
        assert buffers is not None
        assert buffers.rank == rank
        assert buffers.inboxes.tolist() == addresses
        (inbox,) = memories[rank].kept
        assert inbox.nbytes == inbox_bytes(RANKS)
        assert bool((inbox.view(torch.int16) == ABSENT[2]).all())


@pytest.mark.parametrize("rank", range(RANKS))
@pytest.mark.parametrize("fault", ["load", "allocate", "map"])
def test_if_one_rank_cannot_share_none_does(fault: str, rank: int) -> None:
    found, _ = connected({rank: fault})
    assert found == [None] * RANKS
