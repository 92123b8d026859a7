"""The sum over ranks that GPUs exchange by themselves, one rank at a time, against its definition.

The rows of other ranks are put where these would write them, so that a rank waits for nothing. `tests/gpu/test_tp.py`
runs two ranks at once.
"""

import pytest
import torch
from intaglio.kernels.contracts import AddTo, RmsNorm
from intaglio.kernels.exchange import reference_exchange
from intaglio.kernels.exchange.peer_sums import (
    ABSENT,
    REGIONS,
    ROW_BYTES,
    PeerBuffers,
    add_sum,
    empty,
    inbox_bytes,
    most_exchanged,
)
from torch import Tensor

interpreted = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs it there")

MOST_TESTED_ROWS = 9  # more than the programs of an interpreted kernel
WORDS = {2: torch.int16, 4: torch.int32}
DTYPES = [torch.bfloat16, torch.float16, torch.float32]


class Ranks:
    """The buffers of several ranks in one memory, which a test reads and writes."""

    def __init__(self, count: int) -> None:
        used = inbox_bytes(count) // most_exchanged(count) * MOST_TESTED_ROWS
        self.inboxes = [torch.empty(used, dtype=torch.uint8) for _ in range(count)]
        for inbox in self.inboxes:
            empty(inbox)
        addresses = torch.tensor([inbox.data_ptr() for inbox in self.inboxes])
        self.buffers = [
            PeerBuffers(
                rank,
                addresses,
                torch.zeros(most_exchanged(count), dtype=torch.int32),
                torch.zeros(1, dtype=torch.int32),
            )
            for rank in range(count)
        ]

    def region(self, receiver: int, sender: int, row: int, call: int, like: Tensor) -> Tensor:
        """The place in the inbox of `receiver` for a row of `sender`."""
        others = [rank for rank in range(len(self.inboxes)) if rank != receiver]
        number = (row * REGIONS + call % REGIONS) * len(others) + others.index(sender)
        found = self.inboxes[receiver].view(-1, ROW_BYTES)[number]
        return found.view(like.dtype)[: like.shape[1]]

    def is_empty(self, rank: int) -> bool:
        return bool((self.inboxes[rank].view(torch.int16) == ABSENT[2]).all())


@interpreted
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("count", "normed"), [(2, False), (2, True), (3, False)])
def test_every_rank_adds_the_sum(count: int, normed: bool, dtype: torch.dtype) -> None:
    """Rows come and go between calls, so the regions of rows alternate at different times."""
    torch.manual_seed(count)
    ranks, width = Ranks(count), 40
    norm = RmsNorm(torch.rand(width).to(dtype), 1e-5) if normed else None
    calls = [0] * MOST_TESTED_ROWS
    for rows in (3, 9, 1, 9, 4):
        terms = [torch.randn(rows, width).to(dtype) for _ in range(count)]
        terms[0][0, 0] = -0.0
        start = torch.randn(rows, width).to(dtype)
        expected = start.clone()
        reference_exchange.add_sum(terms, AddTo(expected, norm))
        for rank, buffers in enumerate(ranks.buffers):
            for sender, term in enumerate(terms):
                for row in range(rows if sender != rank else 0):
                    ranks.region(rank, sender, row, calls[row], term).copy_(term[row] + 0.0)
            found = start.clone()
            add_sum(terms[rank], AddTo(found, norm), buffers)
            tolerance = 2e-6 if dtype == torch.float32 else 1e-2
            torch.testing.assert_close(found, expected, atol=tolerance, rtol=tolerance)
            assert ranks.is_empty(rank)
            for receiver in range(count):
                for row in range(rows if receiver != rank else 0):
                    sent = ranks.region(receiver, rank, row, calls[row], found)
                    torch.testing.assert_close(sent, terms[rank][row], atol=1e-40, rtol=0)
                    assert (sent.view(WORDS[dtype.itemsize]) != ABSENT[dtype.itemsize]).all()
                    empty(sent)
        for row in range(rows):
            calls[row] += 1


@interpreted
def test_an_exchange_that_has_ended_waits_for_no_rank() -> None:
    ranks = Ranks(2)
    ranks.buffers[0].ended.fill_(1)
    add_sum(torch.ones(2, 8), AddTo(torch.zeros(2, 8)), ranks.buffers[0])
    assert torch.equal(ranks.region(1, 0, 1, 0, torch.ones(2, 8)), torch.ones(8))


@pytest.mark.parametrize("ranks", [2, 4])
def test_long_rows_and_many_are_not_taken(ranks: int) -> None:
    (buffers, *_) = Ranks(ranks).buffers
    longest, most = ROW_BYTES // 2, most_exchanged(ranks)
    assert buffers.take(torch.empty(most, longest, dtype=torch.bfloat16))
    assert not buffers.take(torch.empty(1, longest + 1, dtype=torch.bfloat16))
    assert not buffers.take(torch.empty(1, longest, dtype=torch.float32))
    assert not buffers.take(torch.empty(most + 1, 8))
    assert not buffers.take(torch.empty(1, 8, dtype=torch.float64))
