"""One engine reads contents in the memory of another one: what it takes is right, whatever ends in the middle."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

import pytest
from intaglio.engine.memory.block_exchange import Channel, ExchangeError
from intaglio.engine.memory.block_leases import MOST_HANDLE_BYTES, LeaseChannel, Region
from intaglio.engine.memory.exported_blocks import BlockServer
from intaglio.engine.memory.leased_blocks import LeasedBlocks
from intaglio.engine.memory.peer_contents import PeerContents
from intaglio.engine.memory.peer_tier import PeerTier
from intaglio.engine.memory.unix_carrier import UnixCarrier

from tests.support.fetched_contents import fetched
from tests.support.file_memory import SIZE, FileMemory, FileStaging, content_of
from tests.support.leasing_process import chain_of

VERSION = b"v" * 16
SLOTS = 8
CHAINS = [chain_of(number) for number in range(SLOTS)]
PAIRS = [(chain, number) for number, chain in enumerate(CHAINS)]
CONTENTS = {chain: content_of(number) for chain, number in PAIRS}
OTHERS = [(chain_of(100 + number), 100 + number) for number in range(SLOTS)]


def until(reached: Callable[[], bool]) -> None:
    while not reached():
        time.sleep(0.001)


class Rig:
    """An owner and a reader in one process."""

    def __init__(self, folder: Path, timeout_s: float = 60.0) -> None:
        self.memory = FileMemory(folder / "memory", SLOTS)
        self.leased = LeasedBlocks(self.memory)
        self.server = BlockServer(folder / "blocks", VERSION, self.leased.serve, timeout_s)
        self.staging = FileStaging()
        self.peers = reader(self.staging)

    def take(self, chains: list[bytes], seq_id: int = 1) -> dict[bytes, bytes]:
        found = fetched(self.peers, seq_id, self.server.address, chains)
        self.peers.forget(seq_id)
        return {chain: content.tobytes() for chain, content in (found or {}).items()}

    def close(self) -> None:
        self.peers.close()
        self.server.close()


def reader(staging: FileStaging, timeout_s: float = 60.0) -> PeerTier:
    link = partial(PeerContents, staging=staging, size=SIZE)
    return PeerTier(UnixCarrier(VERSION, link, SIZE, timeout_s=timeout_s))


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    yield rig
    rig.close()


def test_contents_are_read_up_to_the_first_that_is_not_held(rig: Rig) -> None:
    rig.leased.export(PAIRS[:5])
    for _ in range(3):
        assert rig.take(CHAINS) == {chain: CONTENTS[chain] for chain in CHAINS[:5]}
    assert rig.take(CHAINS[5:]) == {}
    assert rig.staging.mapped == 1
    until(lambda: not rig.leased.leased)  # the owner learns it a moment later
    assert (len(rig.leased), rig.leased.nbytes) == (5, 5 * SIZE)
    assert rig.peers.faults == {}


def test_what_is_held_is_not_written_again_and_the_least_recently_used_goes(rig: Rig) -> None:
    rig.leased.export(PAIRS)
    rig.leased.export(PAIRS[:6])
    assert len(rig.memory.written) == SLOTS
    rig.leased.export(OTHERS[:3])
    assert rig.memory.written[SLOTS:] == [6, 7, 0]  # neither of the last two was used since
    assert rig.take(CHAINS[:6]) == {}
    assert rig.take(CHAINS[1:6]) == {chain: CONTENTS[chain] for chain in CHAINS[1:6]}


def test_the_first_blocks_of_a_prompt_are_kept_where_there_is_no_room_for_all(rig: Rig) -> None:
    rig.leased.export(OTHERS[:2])
    rig.leased.export([*PAIRS, (chain_of(50), 50)])
    assert rig.take([*CHAINS, chain_of(50)]) == CONTENTS


def test_only_as_many_are_taken_as_have_room(rig: Rig) -> None:
    rig.leased.export(PAIRS)
    rig.staging.room = 3
    assert rig.take(CHAINS) == {chain: CONTENTS[chain] for chain in CHAINS[:3]}
    until(lambda: not rig.leased.leased)  # the owner learns it a moment later


def test_nothing_is_lent_before_it_is_written(rig: Rig) -> None:
    rig.memory.writing.done.clear()
    rig.leased.export(PAIRS)
    copied: list[int] = []
    rig.staging.before_copy = copied.append
    with ThreadPoolExecutor(1) as pool:
        taking = pool.submit(rig.take, CHAINS)
        assert rig.memory.writing.waited.wait(60)
        assert not copied
        rig.memory.writing.done.set()
        assert taking.result() == CONTENTS


def test_a_slot_that_is_lent_is_not_overwritten(rig: Rig) -> None:
    rig.leased.export(PAIRS)

    def export_others(number: int) -> None:
        if number == 0:
            rig.leased.export(OTHERS)

    rig.staging.before_copy = export_others
    assert rig.take(CHAINS[:5]) == {chain: CONTENTS[chain] for chain in CHAINS[:5]}
    assert sorted(rig.memory.written[SLOTS:]) == [5, 6, 7]  # the others are leased
    until(lambda: not rig.leased.leased)  # the owner learns it a moment later
    rig.staging.before_copy = lambda _: None
    assert rig.take([OTHERS[0][0]]) == {OTHERS[0][0]: content_of(100)}


def test_a_reader_that_takes_too_long_drops_what_it_read(tmp_path: Path) -> None:
    rig = Rig(tmp_path, timeout_s=0.05)
    rig.leased.export(PAIRS)

    def dawdle(number: int) -> None:
        if number == SLOTS - 1:
            until(lambda: not rig.leased.leased)
            rig.leased.export(OTHERS[: SLOTS - 1])  # all but the slot that is read last

    rig.staging.before_copy = dawdle
    assert rig.take(CHAINS) == {}
    assert rig.peers.faults == {"exchange": 1}
    rig.close()


def test_a_content_that_is_damaged_or_overwritten_is_not_taken(rig: Rig) -> None:
    rig.leased.export(PAIRS)
    rig.memory.spoil(2)
    assert rig.take(CHAINS) == {}
    assert rig.peers.faults == {"exchange": 1}
    rig.memory.write([2], [chain_of(7)], [7])
    assert rig.take(CHAINS) == {}
    assert rig.peers.faults == {"exchange": 2}
    until(lambda: not rig.leased.leased)
    assert rig.take(CHAINS[3:]) == {chain: CONTENTS[chain] for chain in CHAINS[3:]}


def test_the_slots_of_a_reader_that_left_are_free_again(rig: Rig) -> None:
    rig.leased.export(PAIRS)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(rig.server.address)
        channel = Channel(connection, 60)
        channel.greet(VERSION)
        leases = LeaseChannel(channel)
        leases.introduced()
        assert len(leases.ask(CHAINS, SLOTS)) == rig.leased.leased == SLOTS
    until(lambda: not rig.leased.leased)
    rig.leased.export(OTHERS)
    assert len(rig.take([chain for chain, _ in OTHERS])) == SLOTS


def test_a_mapping_is_closed_soon_after_its_owner_ended(rig: Rig) -> None:
    rig.leased.export(PAIRS)
    assert rig.take(CHAINS) == CONTENTS
    assert not rig.staging.closed.is_set()
    rig.server.close()
    assert rig.staging.closed.wait(60)  # although nothing is asked for
    assert rig.staging.mapped == 0


LEND = (
    f"import sys; sys.path.append({str(Path(__file__).parents[3])!r}); "
    "from tests.support.leasing_process import main; main(*sys.argv[1:])"
)


def leasing_process(folder: Path, memory: str, first_block: int) -> subprocess.Popen[str]:
    (folder / "blocks").unlink(missing_ok=True)
    command = [sys.executable, "-c", LEND, str(folder / "blocks"), str(folder / memory)]
    command += [VERSION.decode(), str(SLOTS), str(first_block)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    said = child.stdout.readline()
    if said != "listening\n":
        end(child)
    assert said == "listening\n"
    return child


def end(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        assert stream is not None
        stream.close()


def test_a_owner_killed_in_mid_transfer_costs_what_it_leased(tmp_path: Path) -> None:
    """Its memory is not read again: the one started in its place has other contents, at the same address."""
    staging = FileStaging()
    peers = reader(staging)
    for life in range(5):
        child = leasing_process(tmp_path, f"memory{life}", 10 * life)

        def kill(number: int, pid: int = child.pid, at: int = life) -> None:
            if number == at:
                os.kill(pid, signal.SIGKILL)

        address = str(tmp_path / "blocks")
        found = fetched(peers, 2 * life, address, CHAINS)
        assert found is not None
        assert [content.tobytes() for content in found.values()] == [
            content_of(10 * life + number) for number in range(SLOTS)
        ]
        staging.before_copy = kill
        assert fetched(peers, 2 * life + 1, address, CHAINS) == {}
        staging.before_copy = lambda _: None
        assert staging.mapped == 0
        assert peers.faults == {"exchange": life + 1}
        end(child)
    peers.close()


def impostor(path: Path, answer: Callable[[LeaseChannel, Channel], None]) -> threading.Thread:
    """Something else at the address of an owner, for one connection."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        connection, _ = listener.accept()
        channel = Channel(connection, 60)
        channel.welcome(VERSION)
        with suppress(ExchangeError):
            answer(LeaseChannel(channel), channel)
        channel.close()
        listener.close()

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def region(tmp_path: Path) -> Region:
    return FileMemory(tmp_path / "memory", SLOTS).region


def other_size(leases: LeaseChannel, _: Channel, right: Region) -> None:
    leases.introduce(right._replace(block_bytes=SIZE + 8))


def long_handle(leases: LeaseChannel, _: Channel, right: Region) -> None:
    leases.introduce(right._replace(handle=bytes(MOST_HANDLE_BYTES + 1)))


def unknown_handle(leases: LeaseChannel, _: Channel, right: Region) -> None:
    leases.introduce(right._replace(handle=b"/nonexistent/memory"))


def slot_outside(leases: LeaseChannel, _: Channel, right: Region) -> None:
    leases.introduce(right)
    leases.receive_question()
    leases.offer([0, SLOTS])


def too_many(leases: LeaseChannel, _: Channel, right: Region) -> None:
    leases.introduce(right)
    leases.receive_question()
    leases.offer([0] * (SLOTS + 1))


def empty_slots(leases: LeaseChannel, _: Channel, right: Region) -> None:
    leases.introduce(right)
    leases.receive_question()
    leases.offer(range(SLOTS))
    leases.await_return()


def silent(leases: LeaseChannel, _: Channel, right: Region) -> None:
    leases.introduce(right)
    assert leases.receive_question() is not None
    assert leases.receive_question() is None  # until the other side has left


Answer = Callable[[LeaseChannel, Channel, Region], None]


@pytest.mark.parametrize(
    "answer",
    [other_size, long_handle, unknown_handle, slot_outside, too_many, empty_slots, silent],
)
def test_a_owner_that_sends_something_else_gives_nothing(answer: Answer, tmp_path: Path) -> None:
    right, staging = region(tmp_path), FileStaging()
    thread = impostor(tmp_path / "blocks", lambda leases, channel: answer(leases, channel, right))
    peers = reader(staging, 0.5 if answer is silent else 60)
    assert fetched(peers, 1, str(tmp_path / "blocks"), CHAINS) == {}
    assert peers.faults == {"exchange": 1}
    assert staging.mapped == 0
    peers.close()
    thread.join(60)


def test_a_reader_without_a_confirmation_drops_what_it_read(tmp_path: Path) -> None:
    def unconfirmed(leases: LeaseChannel, channel: Channel) -> None:
        leases.introduce(memory.region)
        leases.receive_question()
        leases.offer(range(SLOTS))
        channel.receive(1, channel.until())
        channel.send(b"\x07", channel.until())

    memory, staging = FileMemory(tmp_path / "memory", SLOTS), FileStaging()
    memory.write(range(SLOTS), CHAINS, range(SLOTS))
    thread = impostor(tmp_path / "blocks", unconfirmed)
    peers = reader(staging)
    assert fetched(peers, 1, str(tmp_path / "blocks"), CHAINS) == {}
    assert peers.faults == {"exchange": 1}
    peers.close()
    thread.join(60)


def test_several_readers_and_random_exports_never_mix_contents(rig: Rig) -> None:
    known = [chain_of(number) for number in range(3 * SLOTS)]
    block_of = {chain: number for number, chain in enumerate(known)}

    def read(seed: int) -> int:
        dice, peers = Random(seed), reader(FileStaging())
        taken = 0
        for seq_id in range(150):
            begin = dice.randrange(len(known))
            chains = known[begin : begin + dice.randint(1, 6)]
            found = fetched(peers, seq_id, rig.server.address, chains)
            peers.forget(seq_id)
            assert found is not None
            for chain, content in found.items():
                assert content.tobytes() == content_of(block_of[chain])
            taken += len(found)
        assert peers.faults == {}
        peers.close()
        return taken

    dice = Random(1)
    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read, seed) for seed in range(3)]
        while not all(each.done() for each in readers):
            begin = dice.randrange(len(known))
            chains = known[begin : begin + dice.randint(1, SLOTS)]
            rig.leased.export([(chain, block_of[chain]) for chain in chains])
            time.sleep(0)
        assert sum(each.result() for each in readers) > 100
    until(lambda: not rig.leased.leased)
