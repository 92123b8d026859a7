"""The blocks that a sequence needs in groups of layers with windows."""

from random import Random

import pytest
from intaglio.engine.memory.block_groups import UNBOUNDED, BlockGroups


def test_a_block_is_free_when_no_step_sees_a_key_in_it() -> None:
    """A window of 3 before token 8, or token 7 computed once more, shows the keys from 5 on."""
    groups = BlockGroups(block_size=4, windows=(None, 3), most_step=8)
    assert [groups.begin(1, computed) for computed in (0, 3, 6, 7, 8, 10, 11)] == [
        *(0, 0, 0, 1, 1, 1, 2),
    ]
    assert groups.begin(0, 11) == 0


def test_a_group_with_a_window_reserves_a_window_and_a_step() -> None:
    groups = BlockGroups(block_size=4, windows=(None, 8), most_step=8)
    assert groups.end(0, 400) == 100
    assert groups.end(1, 400) == 5
    assert groups.end(1, 400, begin=10) == 15
    assert groups.end(1, 9) == 3
    assert groups.needed(400) == 105
    assert groups.needed(9) == 6


@pytest.mark.parametrize("seed", range(200))
def test_what_is_reserved_is_enough_for_any_step_and_what_fits_fits(seed: int) -> None:
    dice = Random(seed)
    size, most_step = dice.randint(1, 5), dice.randint(1, 9)
    windows = tuple(dice.choice((None, dice.randint(1, 12))) for _ in range(dice.randint(1, 5)))
    groups = BlockGroups(size, windows, most_step)
    for computed in range(40):
        step = dice.randint(1, most_step)
        for group in range(groups.count):
            begin = groups.begin(group, computed)
            assert groups.end(group, 100, begin) * size >= computed + step
    blocks = dice.randint(1, 60)
    fitting = groups.capacity(blocks)
    assert groups.needed(fitting) <= blocks
    assert fitting == UNBOUNDED or groups.needed(fitting + 1) > blocks


def test_room_to_grow_is_what_a_start_leaves() -> None:
    assert BlockGroups(4).growth_room(10, 12) == 28
    assert BlockGroups(4).growth_room(2, 12) == -4
    windowed = BlockGroups(4, (None, 8, 8), most_step=4)
    # Before the windows are full, all groups grow.
    assert windowed.growth_room(20, 4) == (80 - 12) // 3
    assert windowed.growth_room(50, 100) == 200 - 100 - 2 * 16
