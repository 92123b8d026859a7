"""The executor's block tables of several groups."""

import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.memory.block_groups import BlockGroups
from intaglio.engine.run.row_tables import Entries, RowTables

GROUPS = BlockGroups(block_size=2, windows=(None, 4), most_step=4)


def test_blocks_behind_a_window_are_forgotten_once() -> None:
    tables = RowTables(2, 8, GROUPS)
    tables.replace(1, [(1, 2, 3, 4), (5, 6, 7, 8)])
    assert tables.drop(1, 5) == []
    assert tables.drop(1, 8) == [Entries(1, 1, 0, [0, 0])]
    assert tables.drop(1, 8) == []
    assert tables.append(1, [(9,), ()]) == [Entries(0, 1, 4, (9,)), Entries(1, 1, 4, ())]
    assert tables.tables[:, 1].tolist() == [[1, 2, 3, 4, 9, 0, 0, 0], [0, 0, 7, 8, 0, 0, 0, 0]]
    assert not tables.tables[:, 0].any()


def test_a_table_that_begins_at_its_window_changes_nothing() -> None:
    tables = RowTables(1, 8, GROUPS)
    tables.replace(0, [(1, 2, 3, 4), (0, 0, 7, 8)])
    assert tables.drop(0, 8) == []
    assert tables.drop(0, 10) == [Entries(1, 0, 2, [0])]


def test_a_row_forgets_the_tables_of_the_sequence_before() -> None:
    tables = RowTables(1, 4, GROUPS)
    tables.replace(0, [(1, 2, 3, 4), (5, 6, 7, 8)])
    tables.drop(0, 8)
    tables.replace(0, [(9,), (8,)])
    assert tables.tables[:, 0].tolist() == [[9, 0, 0, 0], [8, 0, 0, 0]]
    assert tables.drop(0, 0) == []


def test_tables_that_do_not_fit_are_refused() -> None:
    tables = RowTables(1, 2, GROUPS)
    with pytest.raises(InternalError, match="do not fit"):
        tables.append(0, [(1,), (2, 3, 4)])
    with pytest.raises(InternalError, match="1 block tables, not 2"):
        tables.replace(0, [(1,)])
