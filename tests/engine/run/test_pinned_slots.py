"""Slots are taken in the order of their memory; a slot is free again when its content is dropped."""

from random import Random

from intaglio.engine.run.cuda.pinned_slots import PinnedContent, Slots

from tests.support.simulated_streams import SimulatedDevice


def test_slots_are_taken_by_index_and_come_back_when_contents_are_dropped() -> None:
    slots = Slots(6, 8, SimulatedDevice(Random(1)))
    kept = [PinnedContent(slot, slots) for slot in slots.take_most(4)]
    for number in (2, 0, 3, 1):
        kept[number] = kept[-1]
    taken = [slot.number for slot in slots.take_most(10)]
    assert taken == sorted(taken)
    assert len(taken) == 5
    assert slots.take() is None
    kept.clear()
    last = slots.take()
    assert last is not None
    assert last.number not in taken
