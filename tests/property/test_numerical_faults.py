"""A sample of the faults that `numerical_faults` plants."""

from pathlib import Path

import pytest
from intaglio.engine.memory.manager import KVManager

from tests.property import numerical_faults
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("model"), QWEN3)


def test_a_fault_is_noticed_by_its_own_request_only(model: Path) -> None:
    tally = numerical_faults.plant(model, seed=1, faults=12)
    assert tally.neighbours == 12 * (numerical_faults.COMPANY - 1)
    assert 0 < tally.in_memory < 12


def test_a_cache_that_keeps_what_is_spoiled_is_found_out(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted fault in the cache: the request that failed once would fail for ever."""
    honest = KVManager.release
    monkeypatch.setattr(KVManager, "release", lambda self, seq, **_: honest(self, seq))
    with pytest.raises(AssertionError, match="is not what it was"):
        numerical_faults.plant(model, seed=1, faults=12)
