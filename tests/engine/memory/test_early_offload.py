"""Blocks that are allocated next are kept before they are evicted, each once, and only as many as a half ahead."""

from collections.abc import Sequence as Tokens

from intaglio.engine.memory.block_contents import Content, HostContent
from intaglio.engine.memory.host_tier import HostTier
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.offload import Offload
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.memory.swap import TransferRule
from intaglio.engine.run.host.host_blocks import CopiedBlocks
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Request, SamplingParams

SIZE, BLOCKS = 4, 41


class Log:
    """See `BlockContents`: which blocks were read, and how, and which were overwritten."""

    block_bytes, most_read = SIZE, 4

    def __init__(self, most_early: int) -> None:
        self.most_early = most_early
        self.beside: list[int] = []
        self.before: list[int] = []
        self.calls: list[str] = []

    def read(self, blocks: Tokens[int], *, overlapped: bool = False) -> list[Content]:
        (self.beside if overlapped else self.before).extend(blocks)
        self.calls.append("read beside" if overlapped else "read")
        return [HostContent(bytes(SIZE)) for _ in blocks]

    def await_reads(self, blocks: Tokens[int]) -> None:
        self.calls.append("await")

    def hold(self, data: bytes) -> Content:
        return HostContent(data)

    def write(self, blocks: Tokens[int], contents: Tokens[Content]) -> CopiedBlocks:
        self.calls.append("write")
        return CopiedBlocks(len(blocks), lambda: self.calls.append("overwrite"))

    def close(self) -> None:
        pass


class Rig:
    def __init__(self, most_early: int, host_bytes: int = 1 << 20) -> None:
        self.log = Log(most_early)
        offload = Offload(self.log, SIZE, HostTier(host_bytes), None, TransferRule())
        self.memory = KVManager(BlockPool(BLOCKS), SIZE, PrefixCache(SIZE), offload)
        self._last = 0

    def run(self, *prompt: int) -> int:
        """Compute a prompt; the number of its tokens that were found."""
        self._last += 1
        request = Request(id=str(self._last), prompt=prompt, sampling=SamplingParams())
        seq = Sequence(self._last, request, (0.0, self._last), 0.0)
        room = self.memory.reserve(seq, seq.known)
        assert room is not None
        seq.admit(0.0, room.computed)
        seq.compute(seq.pending)
        self.memory.computed(seq)
        self.memory.release(seq)
        self.memory.check([])
        return room.computed


def test_in_a_full_pool_no_block_is_read_when_it_is_evicted() -> None:
    rig = Rig(most_early=20)
    for number in range(30):  # each takes eight of forty blocks
        rig.run(*range(100 * number, 100 * number + 8 * SIZE))
    assert rig.log.before == []
    evicted = 30 * 8 - 40
    assert evicted <= len(rig.log.beside) <= evicted + 20


def test_without_a_reason_nothing_is_read_ahead() -> None:
    rig = Rig(most_early=0)
    for number in range(10):
        rig.run(*range(100 * number, 100 * number + 8 * SIZE))
    assert rig.log.beside == []
    assert len(rig.log.before) == 10 * 8 - 40


def test_not_more_is_read_ahead_than_a_quarter_of_the_host_tier() -> None:
    rig = Rig(most_early=20, host_bytes=8 * SIZE)
    for number in range(5):
        rig.run(*range(100 * number, 100 * number + 8 * SIZE))
    assert len(rig.log.beside) <= 2


def test_blocks_that_are_used_again_leave_the_count() -> None:
    """A prefix that was kept ahead is found in its blocks; those behind it are looked at in time."""
    rig = Rig(most_early=16)
    for number in range(5):
        rig.run(*range(100 * number, 100 * number + 8 * SIZE))
    assert rig.run(*range(8 * SIZE + 1)) == 8 * SIZE
    for number in range(5, 20):
        rig.run(*range(100 * number, 100 * number + 8 * SIZE))
    assert rig.log.before == []


def test_a_transfer_is_begun_then_the_blocks_are_read_and_then_overwritten() -> None:
    rig = Rig(most_early=0)
    for number in range(10):
        rig.run(*range(100 * number, 100 * number + 8 * SIZE))
    rig.log.calls.clear()
    assert rig.run(*range(8 * SIZE + 1)) == 8 * SIZE
    begun, last = rig.log.calls.index("write"), rig.log.calls.index("overwrite")
    assert begun < rig.log.calls.index("read beside") < last
    assert "read beside" not in rig.log.calls[last:]
