"""The exchange over gloo: sums in the order of ranks, tensors from one to another, and no wait without an end."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from intaglio.engine.parallel.communicator import UNRECEIVED, Communicator
from intaglio.engine.parallel.connect import connect

HOST = torch.device("cpu")


def connected(folder: Path, size: int, timeout_s: float = 60.0) -> list[Communicator]:
    with ThreadPoolExecutor(size) as threads:
        joining = [
            threads.submit(connect, folder / "meeting", rank, size, timeout_s, HOST)
            for rank in range(size)
        ]
        return [each.result() for each in joining]


def test_sums_are_made_in_the_order_of_ranks_for_any_shape(tmp_path: Path) -> None:
    """Three terms whose sum depends on the order: the same for a row alone and for a row among others."""
    ranks = connected(tmp_path, 3)
    given = [
        torch.tensor([1e8, 1.0, 3.0]),
        torch.tensor([-1e8, 1e8, 1e-3]),
        torch.tensor([1.0, -1e8, 0.1]),
    ]
    expected = (given[0] + given[1]) + given[2]
    for rows in (1, 5, 700):
        with ThreadPoolExecutor(3) as threads:
            sums = [threads.submit(ranks[r].all_reduce, given[r].repeat(rows, 1)) for r in range(3)]
        for found in sums:
            assert torch.equal(found.result(), expected.expand(rows, 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64])
def test_gathered_tensors_are_ordered_by_rank(tmp_path: Path, dtype: torch.dtype) -> None:
    ranks = connected(tmp_path, 2)
    with ThreadPoolExecutor(2) as threads:
        found = [
            threads.submit(one.all_gather, torch.full((2, 3), one.rank + 1, dtype=dtype))
            for one in ranks
        ]
    for each in found:
        assert each.result().tolist() == [[[1] * 3] * 2, [[2] * 3] * 2]
        assert each.result().dtype == dtype


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_each_rank_gets_its_parts_ordered_by_sender(tmp_path: Path, dtype: torch.dtype) -> None:
    """Part `r` of rank `s` has the number 10 s + r; rows of other parts follow it in memory."""
    ranks = connected(tmp_path, 3)

    def parts(sender: int) -> list[torch.Tensor]:
        numbers = torch.arange(3, dtype=dtype) + 10 * sender
        return list(numbers[:, None, None].repeat(1, 5, 2).unbind(0))

    for _ in range(2):
        with ThreadPoolExecutor(3) as threads:
            found = [threads.submit(one.all_to_all, parts(one.rank)) for one in ranks]
        for rank, each in enumerate(found):
            expected = torch.tensor([rank, 10 + rank, 20 + rank], dtype=dtype)
            assert torch.equal(each.result(), expected[:, None, None].expand(3, 5, 2))


def test_what_is_sent_arrives_in_order_and_nobody_waits_to_send(tmp_path: Path) -> None:
    """More tensors than may be on their way: those before are received while the last ones are sent."""
    first, second = connected(tmp_path, 2)
    for number in range(UNRECEIVED):  # all before the other rank receives one
        first.send(torch.full((3,), float(number)), 1)
    with ThreadPoolExecutor(1) as threads:
        found = threads.submit(
            lambda: [second.receive(torch.empty(3), 0).tolist() for _ in range(UNRECEIVED + 5)]
        )
        for number in range(UNRECEIVED, UNRECEIVED + 5):
            first.send(torch.full((3,), float(number)), 1)
    assert found.result() == [[float(number)] * 3 for number in range(UNRECEIVED + 5)]


def test_a_rank_that_sends_nothing_ends_the_wait_of_the_next(tmp_path: Path) -> None:
    _, second = connected(tmp_path, 2, timeout_s=1.0)
    with pytest.raises(RuntimeError):
        second.receive(torch.empty(4), 0)


def test_a_rank_that_does_not_take_part_ends_the_wait_of_the_others(tmp_path: Path) -> None:
    first, _ = connected(tmp_path, 2, timeout_s=1.0)
    with pytest.raises(RuntimeError):
        first.all_reduce(torch.ones(4))
