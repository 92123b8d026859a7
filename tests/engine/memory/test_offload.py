"""Evicted contents come back into blocks of sequences with the same prefix, and into no others."""

from collections.abc import Sequence as Tokens
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from random import Random

import pytest
from intaglio.engine.memory.block_contents import Content, HostContent, Transfer
from intaglio.engine.memory.disk_tier import SUFFIX, DiskTier
from intaglio.engine.memory.host_tier import HostTier
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.offload import Offload
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.memory.swap import TransferRule
from intaglio.engine.run.host.host_blocks import CopiedBlocks
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Request, SamplingParams

SIZE = 4
PROMPT = list(range(10, 31))  # five blocks and one token


class Cells:
    """The contents of blocks: a number for each token."""

    block_bytes = 8 * SIZE
    most_read = 3
    most_early = 0

    def __init__(self, blocks: int) -> None:
        self.of = [bytes(self.block_bytes) for _ in range(blocks)]

    def read(self, blocks: Tokens[int], *, overlapped: bool = False) -> list[Content]:
        return [HostContent(self.of[block]) for block in blocks]

    def await_reads(self, blocks: Tokens[int]) -> None:
        pass

    def hold(self, data: bytes) -> Content:
        return HostContent(data)

    def write(self, blocks: Tokens[int], contents: Tokens[Content]) -> Transfer:
        return CopiedBlocks(len(blocks), partial(self._write, blocks, contents))

    def close(self) -> None:
        pass

    def _write(self, blocks: Tokens[int], contents: Tokens[Content]) -> None:
        for block, content in zip(blocks, contents, strict=True):
            self.of[block] = content.tobytes()


class Rig:
    """Memory over cells, and sequences that are computed as soon as they are admitted.

    What is computed depends on all tokens before it and on the salt, so that a wrong content is noticed.
    """

    def __init__(
        self, blocks: int = 8, host_bytes: int = 1 << 20, disk: DiskTier | None = None
    ) -> None:
        self.cells = Cells(blocks)
        self.rule = TransferRule()
        self.offload = Offload(self.cells, SIZE, HostTier(host_bytes), disk, self.rule)
        cache = PrefixCache(SIZE)
        self.memory = KVManager(BlockPool(blocks), SIZE, cache, self.offload)
        self.running: list[Sequence] = []
        self._last = 0

    def sequence(self, prompt: Tokens[int], salt: str = "") -> Sequence:
        self._last += 1
        request = Request(
            id=str(self._last), prompt=tuple(prompt), sampling=SamplingParams(), cache_salt=salt
        )
        return Sequence(self._last, request, (0.0, self._last), 0.0)

    def admit(self, seq: Sequence) -> bool:
        room = self.memory.reserve(seq, seq.known)
        if room is None:
            return False
        seq.admit(0.0, room.computed)
        table = self.memory.table(seq)
        salt = seq.request.cache_salt
        for index, block in enumerate(table):
            right = content(seq.tokens[: (index + 1) * SIZE], salt)
            if index * SIZE < room.computed:
                assert self.cells.of[block] == right, (index, room.computed)
            self.cells.of[block] = right
        seq.compute(seq.pending)
        self.memory.computed(seq)
        self.running.append(seq)
        self.memory.check(self.running)
        return True

    def end(self, seq: Sequence) -> None:
        self.running.remove(seq)
        self.memory.release(seq)
        self.memory.check(self.running)

    def run(self, prompt: Tokens[int], salt: str = "") -> int:
        """How many tokens of a prompt are found."""
        seq = self.sequence(prompt, salt)
        assert self.admit(seq)
        self.end(seq)
        return seq.record.cached


def content(tokens: Tokens[int], salt: str) -> bytes:
    name = blake2b(repr((salt, list(tokens))).encode(), digest_size=16).digest()
    return name * (8 * SIZE // 16)


def evict(rig: Rig) -> None:
    """Fill the whole pool with something else."""
    rig.run([1] * (7 * SIZE))


def test_evicted_blocks_come_back_from_the_host_and_for_no_other_salt() -> None:
    rig = Rig()
    assert rig.run(PROMPT) == 0
    evict(rig)
    assert rig.run(PROMPT, "other") == 0
    evict(rig)
    assert rig.run(PROMPT) == 20
    assert rig.run([*PROMPT[:9], *PROMPT[:9]]) == 8
    counts = rig.offload.counts
    assert counts.blocks["host"] > 5
    assert counts.decided["fetch_host"] >= 20
    assert counts.rates["host"] > 0


def test_contents_are_dropped_while_no_prompt_returns_and_kept_again_when_prompts_do() -> None:
    rig = Rig(host_bytes=40 * 8 * SIZE)

    def run(*prompt: int) -> int:
        for _ in range(50):  # a small model computes about as fast as a link copies
            rig.rule.computed(1000, 1000 * 3e-6)
            rig.rule.fetched("host", 1000, 1000 * 1e-6)
        return rig.run(prompt * (7 * SIZE))

    for number in range(100):
        assert run(1000 + number) == 0
    decided = rig.offload.counts.decided
    assert 0 < decided["keep"] < decided["drop"] / 4
    found = [run(5 + number % 3) for number in range(60)]
    assert found[:6] == [0] * 6
    assert found[-3:] == [6 * SIZE] * 3


def test_without_a_tier_they_do_not() -> None:
    rig = Rig(host_bytes=0)
    rig.run(PROMPT)
    evict(rig)
    assert rig.run(PROMPT) == 0


def test_where_computing_is_faster_nothing_is_fetched() -> None:
    rig = Rig()
    rig.run(PROMPT)
    evict(rig)
    rig.rule.computed(1000, 1e-9)
    rig.rule.fetched("host", 1, 1.0)
    assert rig.run(PROMPT) == 0
    assert rig.offload.counts.decided["recompute_host"] == 20


def test_shared_blocks_are_on_disk_after_their_second_use_and_survive_a_restart(
    tmp_path: Path,
) -> None:
    disk = DiskTier(tmp_path, 1 << 20)
    rig = Rig(disk=disk)
    rig.run(PROMPT)
    assert len(list(tmp_path.glob("*" + SUFFIX))) == 0  # used once
    rig.run(PROMPT)
    rig.offload.close()
    assert len(list(tmp_path.glob("*" + SUFFIX))) == 5
    again = Rig(disk=DiskTier(tmp_path, 1 << 20))
    assert again.run(PROMPT) == 20
    assert again.offload.counts.decided == {"fetch_disk": 20, "fetch_host": 20}
    again.offload.close()


def test_what_the_host_drops_goes_to_disk(tmp_path: Path) -> None:
    rig = Rig(host_bytes=6 * 8 * SIZE, disk=DiskTier(tmp_path, 1 << 20))
    rig.run(PROMPT)
    evict(rig)
    for salt in "abc":
        rig.run(PROMPT, salt)
    rig.offload._disk.flush()  # type: ignore[union-attr]
    assert rig.run(PROMPT) >= 3 * SIZE  # a half of the host tier at once
    rig.offload.close()


def test_a_sequence_waits_for_files_while_others_run_and_only_then(tmp_path: Path) -> None:
    disk = DiskTier(tmp_path, 1 << 20)
    first = Rig(disk=disk)
    first.run(PROMPT)
    first.run(PROMPT)
    disk.flush()
    rig = Rig(blocks=14, disk=disk)
    other = rig.sequence([7] * 5)
    assert rig.admit(other)
    seq = rig.sequence(PROMPT)
    assert not rig.admit(seq)  # being read
    rig.offload._files.flush()
    assert rig.admit(seq)
    assert seq.record.cached == 20
    rig.end(seq)
    rig.end(other)
    evict_all = rig.sequence([1] * (13 * SIZE))
    assert rig.admit(evict_all)
    rig.end(evict_all)
    gone = rig.sequence(PROMPT)
    rig.memory.release(gone)  # it was aborted before it ran
    rig.offload.close()


def test_damaged_files_are_computed_again(tmp_path: Path) -> None:
    disk = DiskTier(tmp_path, 1 << 20)
    first = Rig(disk=disk)
    first.run(PROMPT)
    first.run(PROMPT)
    disk.flush()
    for number, path in enumerate(sorted(tmp_path.glob("*" + SUFFIX))):
        if number % 2:
            path.write_bytes(path.read_bytes()[:-3])
    rig = Rig(disk=disk)
    assert rig.run(PROMPT) < 20
    assert rig.run(PROMPT) == 20
    assert rig.offload.counts.faults["damaged"] > 0
    rig.offload.close()


@pytest.mark.parametrize("seed", range(12))
def test_random_prompts_never_get_anothers_content(seed: int, tmp_path: Path) -> None:
    """Short prompts over two tokens, few blocks, tiny tiers, damaged files, aborts, restarts."""
    dice = Random(seed)
    disk = DiskTier(tmp_path, 3000)
    rig = Rig(blocks=10, host_bytes=8 * 8 * SIZE, disk=disk)
    cached = 0
    for _ in range(300):
        prompt = [dice.randrange(2) for _ in range(dice.randint(1, 24))]
        seq = rig.sequence(prompt, dice.choice(("", "salt")))
        admitted = rig.admit(seq)
        if admitted:
            cached += seq.record.cached
        else:
            rig.memory.release(seq)
        while len(rig.running) > dice.randrange(3):
            rig.end(dice.choice(rig.running))
        if dice.random() < 0.05:
            disk.flush()
            for path in tmp_path.glob("*" + SUFFIX):
                if dice.random() < 0.3:
                    length = dice.randrange(60)
                    with suppress(FileNotFoundError):  # The tier may drop the file meanwhile.
                        path.write_bytes(path.read_bytes()[:length])
        if dice.random() < 0.02:
            for seq in list(rig.running):
                rig.end(seq)
            rig.offload.close()
            disk = DiskTier(tmp_path, 3000)
            rig = Rig(blocks=10, host_bytes=8 * 8 * SIZE, disk=disk)
    rig.offload.close()
    assert cached > 100
