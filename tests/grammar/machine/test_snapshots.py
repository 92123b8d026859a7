"""Snapshots of a machine's tables that a thread holds while another one fills the tables in."""

import json
from itertools import pairwise

import numpy as np
import pytest
from intaglio.grammar.api import Constraint, KeyOrder, Kind, screen
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.lazy_tables import (
    CALLED,
    ENTRY,
    FIRST,
    LIVE,
    SIZE,
    Tables,
)
from intaglio.grammar.machine.machine import Machine, newest_addresses

NAMES = [f"name_{number}" for number in range(40)]
SCHEMA = {
    "type": "object",
    "properties": {
        name: {
            "type": "array",
            "items": {
                "type": ["object", "null"],
                "properties": {name: {"type": "integer", "maximum": 9 + number}},
            },
        }
        for number, name in enumerate(NAMES)
    },
}


def check(tables: Tables, machine: Machine) -> int:
    """Follow everything that a snapshot reaches; every reference has to be within its own arrays. How many states."""
    waiting, seen = [machine.start], {machine.start}

    def go(state: int) -> None:
        assert state < len(tables.states)
        if state >= 0 and state not in seen:
            seen.add(state)
            waiting.append(state)

    while waiting:
        row, alphabet, _, leaf, *_ = tables.states[waiting.pop()].tolist()
        if row < 0:
            continue
        assert alphabet < len(tables.alphabets)
        last = row + int(tables.alphabets[alphabet].max())
        assert last < len(tables.cells)
        for move in tables.cells[row : last + 1].tolist():
            if move > CALLED:
                go(move)
                continue
            assert CALLED - move < len(tables.sites)
            site = tables.sites[CALLED - move].tolist()
            assert site[FIRST] + 2 * site[SIZE] <= len(tables.returns)
            assert site[LIVE] < len(tables.live)
            go(site[ENTRY])
            for target in tables.returns[site[FIRST] : site[FIRST] + 2 * site[SIZE]].tolist():
                go(target)
        assert leaf < len(machine.leaves)
    return len(seen)


@pytest.mark.parametrize("order", list(KeyOrder))
def test_an_old_snapshot_refers_to_rows_of_its_own_only(order: KeyOrder) -> None:
    root = screen(Constraint(Kind.JSON_SCHEMA, json.dumps(SCHEMA), key_order=order)).root
    assert root is not None
    machine = Machine(root)
    cursor, snapshots, newest = Cursor(machine), [machine.tables], newest_addresses(machine)
    document = {name: [{name: 1}, None, {name: 2, "other": [1]}] for name in NAMES}
    for byte in json.dumps(document, separators=(",", ":")).encode():
        text = np.array([byte], np.uint8)
        assert cursor.read(text)
        cursor.commit(text, len(cursor.memories))
        assert newest_addresses(machine).tolist() == machine.tables.addresses.tolist()
        if machine.tables is not snapshots[-1]:
            snapshots.append(machine.tables)
    assert len(snapshots) > 5
    assert newest_addresses(machine) is newest  # loops hold its address
    reached = [check(tables, machine) for tables in snapshots]
    assert all(fewer <= more for fewer, more in pairwise(reached))
    assert reached[-1] > 2 * reached[0]
