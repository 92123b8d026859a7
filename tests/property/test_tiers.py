"""Blocks that come back from the host or from disk leave the tokens those of the plain engine."""

from pathlib import Path

import pytest

from tests.support.schedules import Run, Tally, Workload

SCHEDULES = 60


@pytest.mark.parametrize(
    ("overlap", "drafts"),
    [(False, False), (True, False), (False, True)],
    ids=["plain", "overlapped", "drafted"],
)
def test_random_schedules_with_tiers_give_the_plain_tokens(
    overlap: bool, drafts: bool, tmp_path: Path
) -> None:
    """All runs share the disk: each finds the blocks that earlier runs of the same block size wrote."""
    total = Tally()
    for seed in range(SCHEDULES):
        workload = Workload.of(seed)
        folder = tmp_path / str(workload.block_size)
        folder.mkdir(exist_ok=True)
        run = Run(workload, overlap=overlap, prefix=True, drafts=drafts, tiers=folder)
        total.add(run.go())
        assert run.offload is not None
        run.offload.close()
    assert total.fetched > 100
    assert total.preemptions > 3
