"""An engine gets the blocks of a prompt from another one, or computes what it does not get."""

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from intaglio.engine.memory.block_contents import Content, HostContent, Transfer
from intaglio.engine.memory.block_exchange import Channel, ExchangeError
from intaglio.engine.memory.exported_blocks import BlockServer, ExportedBlocks
from intaglio.engine.memory.page_key import first_chain, next_chain
from intaglio.engine.memory.peer_tier import PeerTier
from intaglio.engine.memory.unix_carrier import SentContents, UnixCarrier

from tests.support.fetched_contents import fetched

VERSION, OTHER = b"v" * 16, b"w" * 16
SIZE = 48
SENT = partial(SentContents, size=SIZE)
FIRST = first_chain(b"")
CHAINS = [next_chain(FIRST, bytes([number])) for number in range(6)]
CONTENTS = [HostContent(bytes([number]) * SIZE) for number in range(6)]


class Cells:
    """A cache in whose blocks `CONTENTS` are."""

    block_bytes, most_read, most_early = SIZE, 3, 0

    def read(self, blocks: Sequence[int], *, overlapped: bool = False) -> list[Content]:
        assert not overlapped
        assert len(blocks) <= self.most_read
        return [CONTENTS[block] for block in blocks]

    def await_reads(self, blocks: Sequence[int]) -> None:
        pass

    def hold(self, data: bytes) -> Content:
        return HostContent(data)

    def write(self, blocks: Sequence[int], contents: Sequence[Content]) -> Transfer:
        raise NotImplementedError

    def close(self) -> None:
        pass


@pytest.fixture
def blocks() -> ExportedBlocks:
    blocks = ExportedBlocks(1 << 16, Cells())
    for _ in range(2):  # what is kept already is not read again
        blocks.export(list(zip(CHAINS[:4], range(4), strict=True)))
    return blocks


@pytest.fixture
def server(blocks: ExportedBlocks, tmp_path: Path) -> Iterator[BlockServer]:
    server = BlockServer(tmp_path / "blocks", VERSION, blocks.serve)
    yield server
    server.close()


@pytest.fixture
def peers() -> Iterator[PeerTier]:
    peers = PeerTier(UnixCarrier(VERSION, SENT, SIZE))
    yield peers
    peers.close()


def test_contents_arrive_up_to_the_first_that_is_not_held(
    server: BlockServer, peers: PeerTier
) -> None:
    for seq_id in range(3):  # over one connection
        found = fetched(peers, seq_id, server.address, CHAINS)
        assert found == dict(zip(CHAINS[:4], CONTENTS, strict=False))
    assert fetched(peers, 9, server.address, CHAINS[4:]) == {}
    assert fetched(peers, 10, server.address, ()) == {}
    assert peers.faults == {}


def test_a_sequence_keeps_its_answer_until_it_is_forgotten(
    server: BlockServer, peers: PeerTier, blocks: ExportedBlocks
) -> None:
    assert len(fetched(peers, 1, server.address, CHAINS)) == 4
    blocks.put(CHAINS[4], CONTENTS[4])
    assert len(peers.received(1).contents) == 4
    peers.forget(1)
    assert peers.received(1).contents == {}
    assert len(fetched(peers, 1, server.address, CHAINS)) == 5


def test_what_is_held_is_bounded_and_the_least_recently_used_goes(tmp_path: Path) -> None:
    blocks = ExportedBlocks(3 * SIZE, Cells())
    for chain, content in zip(CHAINS[:3], CONTENTS, strict=False):
        blocks.put(chain, content)
    assert blocks.first(CHAINS[:1]) == CONTENTS[:1]
    blocks.put(CHAINS[3], CONTENTS[3])
    assert blocks.nbytes == 3 * SIZE
    assert CHAINS[1] not in blocks
    assert blocks.first(CHAINS) == CONTENTS[:1]


def test_an_engine_of_another_model_gets_nothing(server: BlockServer) -> None:
    peers = PeerTier(UnixCarrier(OTHER, SENT, SIZE))
    assert fetched(peers, 1, server.address, CHAINS) == {}
    assert peers.faults == {"exchange": 1}
    peers.close()


def test_blocks_of_another_size_are_not_taken(server: BlockServer) -> None:
    peers = PeerTier(UnixCarrier(VERSION, partial(SentContents, size=SIZE + 1), SIZE))
    assert fetched(peers, 1, server.address, CHAINS) == {}
    assert peers.faults == {"exchange": 1}
    peers.close()


def test_an_engine_that_is_gone_costs_what_it_did_not_send(
    blocks: ExportedBlocks, peers: PeerTier, tmp_path: Path
) -> None:
    assert fetched(peers, 1, str(tmp_path / "none"), CHAINS) == {}
    server = BlockServer(tmp_path / "blocks", VERSION, blocks.serve)
    assert len(fetched(peers, 2, server.address, CHAINS)) == 4
    server.close()
    assert fetched(peers, 3, server.address, CHAINS) == {}
    assert peers.faults == {"exchange": 2}
    again = BlockServer(tmp_path / "blocks", VERSION, blocks.serve)  # it was started anew
    assert len(fetched(peers, 4, again.address, CHAINS)) == 4
    assert peers.faults == {"exchange": 2}
    again.close()


def impostor(path: Path, answer: Callable[[Channel, socket.socket], None]) -> threading.Thread:
    """Something else at the address of an engine, for one connection."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        connection, _ = listener.accept()
        channel = Channel(connection, 30)
        channel.welcome(VERSION)
        assert channel.receive_question() == CHAINS
        with suppress(ExchangeError):  # the other side has heard enough
            answer(channel, connection)
        channel.close()
        listener.close()

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def truncated(_: Channel, connection: socket.socket) -> None:
    ours, theirs = socket.socketpair()
    Channel(ours, 30).answer(CHAINS, CONTENTS[:3])
    ours.close()
    whole = b"".join(iter(lambda: theirs.recv(1 << 16), b""))
    theirs.close()
    connection.sendall(whole[:-7])


def damaged(_: Channel, connection: socket.socket) -> None:
    ours, theirs = socket.socketpair()
    Channel(ours, 30).answer(CHAINS, CONTENTS[:3])
    ours.close()
    whole = bytearray(b"".join(iter(lambda: theirs.recv(1 << 16), b"")))
    theirs.close()
    whole[-1] ^= 1
    connection.sendall(whole)


def of_other_chains(channel: Channel, _: socket.socket) -> None:
    channel.answer(CHAINS[1:], CONTENTS[:3])


def too_many(channel: Channel, _: socket.socket) -> None:
    channel.answer([*CHAINS, FIRST], [*CONTENTS, CONTENTS[0]])


def silent(channel: Channel, _: socket.socket) -> None:
    assert channel.receive_question() is None  # until the other side has left


@pytest.mark.parametrize(
    ("answer", "got"),
    [(truncated, 2), (damaged, 2), (of_other_chains, 0), (too_many, 0), (silent, 0)],
)
def test_an_answer_is_taken_as_far_as_it_is_right(
    answer: Callable[[Channel, socket.socket], None], got: int, tmp_path: Path
) -> None:
    thread = impostor(tmp_path / "blocks", answer)
    peers = PeerTier(UnixCarrier(VERSION, SENT, SIZE, timeout_s=0.5 if answer is silent else 30))
    found = fetched(peers, 1, str(tmp_path / "blocks"), CHAINS)
    peers.close()
    assert found == dict(zip(CHAINS[:got], CONTENTS, strict=False))
    assert peers.faults == {"exchange": 1}
    thread.join(60)


def test_a_reader_that_sends_something_else_is_dropped(server: BlockServer) -> None:
    for rubbish in (b"GET / HTTP/1.1\r\n\r\n" * 4, b"\xff" * 99):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(server.address)
            with suppress(ConnectionError):
                connection.sendall(rubbish)
                assert connection.recv(1) == b""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(server.address)
        channel = Channel(connection, 30)
        channel.greet(VERSION)
        connection.sendall(b"\xff" * 40)  # four billion chains
        with pytest.raises(ExchangeError):
            list(channel.ask(CHAINS, SIZE))


def test_a_server_ends_while_readers_are_connected(
    blocks: ExportedBlocks, peers: PeerTier, tmp_path: Path
) -> None:
    server = BlockServer(tmp_path / "blocks", VERSION, blocks.serve)
    assert fetched(peers, 1, server.address, CHAINS)
    server.close()
    assert not (tmp_path / "blocks").exists()
    assert not [each for each in threading.enumerate() if each.name in ("kv-server", "kv-send")]
