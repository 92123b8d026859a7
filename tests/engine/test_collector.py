"""What is loaded is out of the collector's way, and cycles made later are still found."""

import gc
import weakref
from collections.abc import Iterator

import pytest
from intaglio.engine.collector import settle


class Loop:
    """Holds itself."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_what_is_loaded_is_frozen_and_young_objects_are_looked_at_less_often() -> None:
    before = gc.get_threshold()[0]
    settle()
    assert gc.get_freeze_count() > 1_000
    assert gc.isenabled()
    assert gc.get_threshold()[0] > before


def test_cycles_are_found_all_the_same() -> None:
    settle()
    gone = weakref.ref(Loop())
    kept: list[list[int]] = []
    while gone() is not None:
        kept += ([i] for i in range(1_000))
        assert len(kept) < 1_000_000
