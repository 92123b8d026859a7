"""A table is opened when its contents have arrived; until then its blocks serve those that need them."""

from collections.abc import Sequence as Tokens

import pytest
from intaglio.engine.memory.block_contents import Content, HostContent, Transfer
from intaglio.engine.memory.host_tier import HostTier
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.offload import Offload
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.memory.swap import TransferRule
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Request, SamplingParams

SIZE, BLOCKS = 4, 12
PROMPT = tuple(range(100, 121))  # five blocks and one token


class Pending:
    """A transfer that is done when the test says so."""

    blocks, seconds = 5, 1.0

    def __init__(self) -> None:
        self.done = self.cancelled = False
        self.joins = 0

    def advance(self) -> bool:
        return self.done or self.cancelled

    def join(self) -> None:
        self.joins += 1

    def cancel(self) -> None:
        self.cancelled = True


class Device:
    """Contents that do not matter, and the transfers that were started."""

    block_bytes, most_read, most_early = SIZE, 2, 0

    def __init__(self) -> None:
        self.transfers: list[Pending] = []
        self.read_of: list[int] = []

    def read(self, blocks: Tokens[int], *, overlapped: bool = False) -> list[Content]:
        self.read_of += blocks
        return [HostContent(bytes(SIZE)) for _ in blocks]

    def await_reads(self, blocks: Tokens[int]) -> None:
        pass

    def hold(self, data: bytes) -> Content:
        return HostContent(data)

    def write(self, blocks: Tokens[int], contents: Tokens[Content]) -> Transfer:
        assert len(blocks) == len(contents) == 5
        self.transfers.append(Pending())
        return self.transfers[-1]

    def close(self) -> None:
        pass


class Rig:
    """Memory for eleven blocks, with the contents of `PROMPT` in the host tier."""

    def __init__(self) -> None:
        self.device = Device()
        host = HostTier(1 << 20)
        cache = PrefixCache(SIZE)
        cache.match(0, PROMPT, "")
        for chain in cache.ahead(0, PROMPT):
            assert not list(host.put(chain, HostContent(bytes(SIZE))))
        self.rule = TransferRule()
        offload = Offload(self.device, SIZE, host, None, self.rule)
        self.memory = KVManager(BlockPool(BLOCKS), SIZE, cache, offload)
        self.running: list[Sequence] = []
        self._last = 0

    def sequence(self, prompt: Tokens[int]) -> Sequence:
        self._last += 1
        request = Request(id=str(self._last), prompt=tuple(prompt), sampling=SamplingParams())
        return Sequence(self._last, request, (0.0, self._last), 0.0)

    def admit(self, seq: Sequence) -> bool:
        room = self.memory.reserve(seq, seq.known)
        if room is not None:
            seq.admit(0.0, room.computed)
            seq.compute(seq.pending)
            self.memory.computed(seq)
            self.running.append(seq)
        self.memory.check(self.running)
        return room is not None


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_a_sequence_waits_for_its_contents_while_others_run(rig: Rig) -> None:
    other, seq = rig.sequence([1, 2, 3]), rig.sequence(PROMPT)
    assert rig.admit(other)
    for _ in range(3):
        assert not rig.admit(seq)
    (transfer,) = rig.device.transfers
    assert transfer.joins == 0
    transfer.done = True
    assert rig.admit(seq)
    assert transfer.joins == 1
    assert seq.record.cached == 20
    assert len(rig.device.transfers) == 1
    assert rig.rule.rates["host"] == 0  # measured when contents are looked for the next time
    rig.memory.reserve(rig.sequence(range(5)), 5)
    assert rig.rule.rates["host"] == pytest.approx(20)


def test_alone_it_starts_at_once_and_its_first_step_waits(rig: Rig) -> None:
    seq = rig.sequence(PROMPT)
    assert rig.admit(seq)
    (transfer,) = rig.device.transfers
    assert transfer.joins == 1
    assert not transfer.done


def test_it_starts_when_the_others_have_ended(rig: Rig) -> None:
    other, seq = rig.sequence([1, 2, 3]), rig.sequence(PROMPT)
    assert rig.admit(other)
    assert not rig.admit(seq)
    rig.running.remove(other)
    rig.memory.release(other)
    assert rig.admit(seq)
    assert rig.device.transfers[0].joins == 1


def test_a_running_sequence_takes_the_blocks_that_wait(rig: Rig) -> None:
    other, seq = rig.sequence(range(12)), rig.sequence(PROMPT)
    assert rig.admit(other)
    free = rig.memory.free_blocks
    assert not rig.admit(seq)
    assert rig.memory.free_blocks == free == 8
    for token in range(24):
        other.append(token)
    room = rig.memory.reserve(other, other.pending)
    assert room is not None
    assert len(room.blocks) == 6
    assert rig.device.transfers[0].cancelled
    other.compute(other.pending)
    rig.memory.check(rig.running)
    assert not rig.admit(seq)  # two blocks are left
    rig.running.remove(other)
    rig.memory.release(other)
    assert rig.admit(seq)
    assert len(rig.device.transfers) == 2


def test_a_request_that_ends_before_it_runs_gives_its_blocks_back(rig: Rig) -> None:
    other, seq = rig.sequence([1, 2, 3]), rig.sequence(PROMPT)
    assert rig.admit(other)
    assert not rig.admit(seq)
    rig.memory.release(seq)
    assert rig.device.transfers[0].cancelled
    rig.memory.check(rig.running)
    assert rig.memory.free_blocks == BLOCKS - 2


def test_a_table_that_must_be_larger_is_opened_anew(rig: Rig) -> None:
    other, seq = rig.sequence([1, 2, 3]), rig.sequence(PROMPT)
    assert rig.admit(other)
    assert rig.memory.reserve(seq, seq.known) is None
    assert rig.memory.reserve(seq, seq.known + 2 * SIZE) is None
    first, second = rig.device.transfers
    assert first.cancelled
    assert not second.cancelled
    rig.memory.check(rig.running)


def test_evicted_contents_are_read_in_parts(rig: Rig) -> None:
    seq = rig.sequence(range(40))
    assert rig.admit(seq)
    rig.running.remove(seq)
    rig.memory.release(seq)
    assert rig.device.read_of == []
    assert rig.admit(rig.sequence(range(500, 540)))
    assert len(rig.device.read_of) == 9  # eleven blocks, two of which nothing can be found in
