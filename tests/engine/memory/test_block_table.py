"""The block table of a sequence while windows move over it."""

import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.memory.block_groups import BlockGroups
from intaglio.engine.memory.block_table import NEVER, PlainTable, WindowTable, block_table, split

GROUPS = BlockGroups(block_size=2, windows=(None, 4), most_step=4)


def test_blocks_leave_behind_the_window_and_as_many_are_asked_for() -> None:
    table = WindowTable(GROUPS, [range(1, 11), range(11, 16)], reserved=20, computed=0)
    assert (table.room, table.drop_at) == (10, 6)
    assert table.drop(5) == []
    assert table.drop(8) == [12, 11]  # the last one is free first
    assert table.counts(12) == [0, 2]
    assert table.missing(12) == 2
    assert table.extend((21, 22), 12) == ((), (21, 22))
    assert table.parts[1] == [0, 0, 13, 14, 15, 21, 22]
    assert table.blocks == [*range(1, 11), 13, 14, 15, 21, 22]
    assert (table.room, table.drop_at) == (14, 10)
    table.check(12)


def test_past_what_was_reserved_only_the_blocks_of_a_step_are_asked_for() -> None:
    table = WindowTable(GROUPS, [range(1, 4), range(4, 7)], reserved=6, computed=0)
    assert table.missing(6) == 0
    assert table.counts(8) == [1, 1]


def test_a_step_that_adds_to_the_first_group_only_names_no_other() -> None:
    table = WindowTable(GROUPS, [range(1, 4), range(4, 9)], reserved=6, computed=0)
    assert table.counts(8) == [1, 0]
    assert table.extend((9,), 8) == ((9,),)


def test_a_table_without_windows_grows_and_keeps_its_blocks() -> None:
    table = block_table(BlockGroups(block_size=2), [range(1, 4)], reserved=6, computed=0)
    assert isinstance(table, PlainTable)
    assert (table.room, table.drop_at) == (6, NEVER)
    assert table.missing(9) == 2
    assert table.extend((4, 5), 9) == ((4, 5),)
    assert table.parts == ([1, 2, 3, 4, 5],)
    assert (table.blocks, table.room) == ([1, 2, 3, 4, 5], 10)
    assert table.drop(9) == ()
    table.check(10)
    with pytest.raises(InternalError, match="more than its blocks hold"):
        table.check(11)


def test_one_group_with_a_window_has_a_table_whose_blocks_leave() -> None:
    table = block_table(BlockGroups(2, (4,), 4), [range(1, 7)], reserved=12, computed=0)
    assert isinstance(table, WindowTable)
    assert table.drop(8) == [2, 1]


def test_a_cached_prefix_has_only_the_blocks_of_its_window() -> None:
    table = WindowTable(GROUPS, [range(1, 7), [0, 0, 7, 8, 9, 10]], reserved=12, computed=8)
    assert table.drop(8) == []
    table.check(8)


def test_a_table_that_lacks_a_block_of_the_window_is_found() -> None:
    table = WindowTable(GROUPS, [range(1, 7), [0, 0, 7, 0, 9, 10]], reserved=12, computed=8)
    with pytest.raises(InternalError, match="more than its blocks hold in group 1"):
        table.check(8)
    table = WindowTable(GROUPS, [range(1, 7), [5, 0, 7, 8, 9, 10]], reserved=12, computed=8)
    with pytest.raises(InternalError, match="not those before its window"):
        table.check(8)


def test_blocks_are_split_in_order() -> None:
    assert split([1, 2, 3], [3]) == ((1, 2, 3),)
    assert split([1, 2, 3], [1, 0, 2]) == ((1,), (), (2, 3))
