"""GPUs that cannot read each other are refused, and the memory for blocks of others is bounded."""

from collections.abc import Callable

import pytest
from intaglio.engine.errors import ConfigError
from intaglio.engine.host.build_exchange import contents_within, refuse_unreadable


@pytest.mark.parametrize(
    ("visible", "reads", "where"),
    [(1, lambda _: True, "kv_role"), (3, lambda number: number == 1, "prefill_engines")],
)
def test_gpus_that_cannot_read_each_other_are_refused(
    visible: int, reads: Callable[[int], bool], where: str
) -> None:
    with pytest.raises(ConfigError, match="outputs") as refused:
        refuse_unreadable(visible, reads)
    assert refused.value.where == where
    assert refused.value.hint


def test_gpus_that_can_are_not() -> None:
    asked: list[int] = []

    def reads(number: int) -> bool:
        asked.append(number)
        return True

    refuse_unreadable(3, reads)
    assert asked == [1, 2]  # its own GPU is the first


def test_room_is_bounded_by_bytes_by_free_memory_and_by_the_cache() -> None:
    assert contents_within(1000, 10_000, 100, 50) == 10
    assert contents_within(1000, 1_000, 100, 50) == 5
    assert contents_within(1000, 10_000, 100, 3) == 3
    with pytest.raises(ConfigError, match="150 bytes of GPU memory") as refused:
        contents_within(1000, 150, 100, 3)
    assert refused.value.where == "memory_fraction"
