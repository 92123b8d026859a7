"""Places for adapters: LRU order, places in use, and loads that are planned once."""

import random

import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.memory.adapter_slots import AdapterSlots
from intaglio.engine.plan import NO_ADAPTER, AdapterLoad


def test_an_adapter_in_use_keeps_its_place_and_the_least_recently_used_other_gives_way() -> None:
    slots = AdapterSlots(2)
    assert slots.hold(1, "a")
    assert slots.hold(2, "b")
    assert not slots.hold(3, "c")
    assert {load.digest for load in slots.take_loads()} == {"a", "b"}
    slots.release(1)
    slots.release(2)
    assert slots.hold(4, "a")
    assert slots.take_loads() == ()
    assert slots.hold(5, "c")
    assert slots.take_loads() == (AdapterLoad(slots.place(5), "c"),)
    assert slots.place(4) != slots.place(5)
    assert slots.place(9) == NO_ADAPTER


def test_an_adapter_that_was_never_copied_is_forgotten_with_its_last_user() -> None:
    slots = AdapterSlots(1)
    assert slots.hold(1, "a")
    slots.release(1)
    assert slots.take_loads() == ()
    assert slots.hold(2, "a")
    assert slots.take_loads() == (AdapterLoad(0, "a"),)


def test_without_places_no_adapter_is_held() -> None:
    assert not AdapterSlots(0).hold(1, "a")


def test_places_stay_consistent_under_random_use() -> None:
    dice, slots = random.Random(5), AdapterSlots(3)
    running: dict[int, str] = {}
    on_device: dict[int, str] = {}
    for seq_id in range(2000):
        digest = dice.choice("abcdef")
        if slots.hold(seq_id, digest):
            running[seq_id] = digest
        else:
            assert len(set(running.values())) == 3
            assert digest not in running.values()
        if dice.random() < 0.5:
            on_device.update({load.place: load.digest for load in slots.take_loads()})
            assert all(on_device[slots.place(one)] == held for one, held in running.items())
        while running and dice.random() < 0.6:
            gone = dice.choice(list(running))
            slots.release(gone)
            del running[gone]
        slots.check(set(running))


def test_a_sequence_that_does_not_run_and_uses_a_place_is_found() -> None:
    slots = AdapterSlots(1)
    slots.hold(1, "a")
    with pytest.raises(InternalError, match="does not run"):
        slots.check(set())
