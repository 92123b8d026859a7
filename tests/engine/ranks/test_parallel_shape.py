"""Sizes of a checkpoint for a layout: the numbers of ranks that divide it, and what their exchanges take."""

from pathlib import Path

import pytest
from intaglio.engine.errors import ModelError
from intaglio.engine.ranks.parallel_shape import ParallelShape, parallel_shape

from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

EIGHT_BILLION = ParallelShape(layers=32, hidden=4096, divisors=(1, 2, 4, 8))


def test_a_model_is_divided_by_its_heads_and_hidden_units(tmp_path: Path) -> None:
    shape = parallel_shape(write_checkpoint(tmp_path / "m", LLAMA), 8)
    assert shape == ParallelShape(layers=2, hidden=64, divisors=(1, 2, 4), stages=2)
    with pytest.raises(ModelError):
        parallel_shape(tmp_path, 8)


def test_exchanges_are_those_that_were_measured() -> None:
    """64 sums of 8 KB and of 4 MB, and three more: 3.1 and 17.3 us each between two H200."""
    assert EIGHT_BILLION.exchange_s(1, 1) == 0
    assert EIGHT_BILLION.exchange_s(1, 2) == pytest.approx(67 * 3.1e-6, rel=0.05)
    assert EIGHT_BILLION.exchange_s(512, 2) == pytest.approx(67 * 17.3e-6, rel=0.2)
