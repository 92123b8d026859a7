"""Blocks leave and come back as they were in any order that streams may run in; both directions overlap.

The streams are simulated (`tests/support/simulated_streams.py`); `tests/gpu/test_device_blocks.py` uses a GPU's.
"""

from functools import partial
from random import Random
from typing import Any

import pytest
import torch
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.run.cuda.device_blocks import BUFFERS, DeviceBlocks
from intaglio.engine.run.kv import KVCache

from tests.support.simulated_streams import SimulatedDevice
from tests.support.tiny_checkpoint import QWEN3

BLOCKS, SLOTS, PART = 24, 20, 3


class Rig:
    """A cache of random bits with few slots and small parts, and the blocks that steps may overwrite."""

    def __init__(
        self,
        dice: Random,
        dtype: torch.dtype = torch.float32,
        blocks: int = BLOCKS,
        slots: int = SLOTS,
    ) -> None:
        self.dice = dice
        self.device = SimulatedDevice(dice)
        cache = KVCache(parse_spec(QWEN3), blocks, 1, dtype)
        self.bits = cache.tensor.view(torch.uint8)
        self.bits.random_(0, 256)
        self.copies = DeviceBlocks(cache, slots, self.device, PART * cache.block_bytes)
        self.kept: list[tuple[Any, torch.Tensor]] = []

    def step(self, blocks: list[int]) -> None:
        """A step that overwrites blocks."""
        self.device.compute.launch(partial(self._overwrite, blocks))

    def reads(self, blocks: list[int]) -> list[torch.Tensor]:
        """What a step finds in blocks, once it has run."""
        found = [torch.empty_like(self.bits[:, :, block]) for block in blocks]
        self.device.compute.launch(partial(self._look, blocks, found))
        return found

    def read(self, blocks: list[int], *, overlapped: bool) -> None:
        """Read blocks, and note what is right."""
        right = self.reads(blocks)
        contents = self.copies.read(blocks, overlapped=overlapped)
        assert len(contents) <= len(blocks)
        self.kept += zip(contents, right, strict=False)

    def check(self, found: torch.Tensor, right: torch.Tensor) -> None:
        self.device.synchronize()
        assert torch.equal(found, right)

    def _overwrite(self, blocks: list[int]) -> None:
        self.bits[:, :, blocks] = self.bits[:, :, blocks].bitwise_not()

    def _look(self, blocks: list[int], found: list[torch.Tensor]) -> None:
        for block, target in zip(blocks, found, strict=True):
            target.copy_(self.bits[:, :, block])


def turn(rig: Rig) -> None:
    """One random use of the copies, as an engine makes it."""
    dice, copies = rig.dice, rig.copies
    blocks = dice.sample(range(BLOCKS), dice.randint(1, PART))
    kind = dice.random()
    if kind < 0.25:
        rig.read(blocks, overlapped=False)
        copies.await_reads(blocks)
        rig.step(blocks)
    elif kind < 0.5:
        rig.read(blocks, overlapped=True)
        if dice.random() < 0.5:
            copies.await_reads(blocks)
            rig.step(blocks)
    elif kind < 0.6 and rig.kept:
        content, right = dice.choice(rig.kept)
        held = copies.hold(content.tobytes())
        if held is not None:
            rig.kept.append((held, right))
    elif rig.kept:
        replace(rig)


def replace(rig: Rig) -> None:
    """Write contents into blocks whose own contents leave first; cancel it now and then."""
    dice, copies = rig.dice, rig.copies
    chosen = dice.sample(rig.kept, dice.randint(1, min(12, len(rig.kept))))
    blocks = dice.sample(range(BLOCKS), len(chosen))
    transfer = copies.write(blocks, [content for content, _ in chosen])
    for at in range(0, len(blocks), PART):
        rig.read(blocks[at : at + PART], overlapped=True)
    if dice.random() < 0.3:
        if dice.random() < 0.5:
            transfer.advance()
        transfer.cancel()
        rig.step(blocks)
        return
    if dice.random() < 0.5:
        while not transfer.advance():
            pass
        assert transfer.seconds > 0
    transfer.join()
    found = rig.reads(blocks)
    rig.step(blocks)
    while not transfer.advance():
        pass
    assert transfer.blocks == len(chosen)
    for got, (content, right) in zip(found, chosen, strict=True):
        rig.check(got, right)
        assert content.tobytes() == right.contiguous().numpy().tobytes()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("seed", range(6))
def test_every_bit_is_kept_in_any_order_of_the_streams(seed: int, dtype: torch.dtype) -> None:
    """Few slots and buffers, parts of contents dropped at once, blocks overwritten as soon as that is allowed."""
    rig = Rig(Random(seed), dtype)
    for _ in range(150):
        turn(rig)
        rig.device.go_on()
        while len(rig.kept) > rig.dice.randrange(1, SLOTS):
            content, right = rig.kept.pop(rig.dice.randrange(len(rig.kept)))
            if rig.dice.random() < 0.3:
                assert content.tobytes() == right.contiguous().numpy().tobytes()
    rig.device.synchronize()
    for content, right in rig.kept:
        assert content.tobytes() == right.contiguous().numpy().tobytes()
    rig.kept.clear()
    rig.copies.close()


PARTS = 20


def exchanged(rig: Rig) -> Any:
    """A transfer of `PARTS` buffers into blocks that are full, launched as `Offload.restore` does."""
    blocks = list(range(PARTS * PART))
    for at in range(0, len(blocks), PART):
        rig.read(blocks[at : at + PART], overlapped=False)
    rig.device.synchronize()
    transfer = rig.copies.write(blocks, [content for content, _ in rig.kept])
    for at in range(0, len(blocks), PART):
        rig.read(blocks[at : at + PART], overlapped=True)
    return transfer


def test_contents_arrive_while_those_that_they_replace_leave() -> None:
    """One direction after the other would take twice as many rounds as there are parts."""
    rig = Rig(Random(1), blocks=PARTS * PART, slots=2 * PARTS * PART)
    exchanged(rig).join()
    assert PARTS < rig.device.rounds() <= PARTS + BUFFERS + 3


def test_contents_are_on_their_way_before_a_block_is_read() -> None:
    rig = Rig(Random(2), blocks=PARTS * PART, slots=2 * PARTS * PART)
    blocks = list(range(PARTS * PART))
    rig.read(blocks[:PART], overlapped=False)
    rig.device.synchronize()
    rig.copies.write(blocks[:PART], [content for content, _ in rig.kept])
    before = rig.bits.clone()
    assert rig.device.rounds() == 1
    assert torch.equal(rig.bits, before)  # until the transfer advances


def test_steps_wait_for_no_block_that_leaves_beside_them() -> None:
    """Not even where they evict some themselves."""
    rig = Rig(Random(3), blocks=PARTS * PART + 1, slots=3 * PARTS * PART)
    transfer = exchanged(rig)
    transfer.advance()
    while not rig.device.compute.is_done():  # the reads of the fixture
        assert rig.device.compute.turn(0)
    own = [PARTS * PART]
    for _ in range(BUFFERS):
        rig.read(own, overlapped=False)
        rig.copies.await_reads(own)
        rig.step(own)
    while not rig.device.compute.is_done():
        assert rig.device.compute.turn(0)


def test_a_mark_is_forgotten_when_its_block_is_overwritten() -> None:
    """A block that was read once makes the steps wait once."""
    rig = Rig(Random(4))
    rig.read([1, 2], overlapped=True)
    rig.copies.await_reads([1])
    assert not rig.device.compute.is_done()
    rig.device.synchronize()
    rig.copies.await_reads([1])
    assert rig.device.compute.is_done()
    rig.copies.await_reads([2])
    assert not rig.device.compute.is_done()
    rig.device.synchronize()


def test_contents_of_which_the_host_has_no_room_are_not_read() -> None:
    rig = Rig(Random(5), slots=2)
    rig.read([3, 4, 5], overlapped=True)
    assert len(rig.kept) == 2
    assert rig.copies.hold(bytes(rig.copies.block_bytes)) is None
    rig.kept.pop()
    assert rig.copies.hold(bytes(rig.copies.block_bytes)) is not None


@pytest.mark.parametrize("seed", range(10))
def test_a_slot_that_is_used_again_keeps_the_later_content(seed: int) -> None:
    """The copy of a content that was dropped on its way is on another stream, and may be late."""
    rig = Rig(Random(seed), slots=1)
    rig.read([1], overlapped=bool(seed % 2))
    rig.kept.clear()
    rig.read([2], overlapped=not seed % 2)
    rig.device.synchronize()
    ((content, right),) = rig.kept
    assert content.tobytes() == right.contiguous().numpy().tobytes()


@pytest.mark.parametrize("seed", range(10))
def test_blocks_are_not_overwritten_before_the_steps_that_read_them(seed: int) -> None:
    rig = Rig(Random(seed))
    rig.read([1], overlapped=False)
    rig.device.synchronize()
    before = rig.bits[:, :, 2].clone()
    (found,) = rig.reads([2])
    rig.copies.write([2], [content for content, _ in rig.kept]).join()
    rig.check(found, before)
