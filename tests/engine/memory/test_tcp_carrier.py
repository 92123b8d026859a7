"""Contents over TCP are right or missing, whatever happens on the way, and only for engines with the key."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from intaglio.engine.memory import keyed_frames, prompt_messages
from intaglio.engine.memory.block_contents import Content, HostContent
from intaglio.engine.memory.block_exchange import ExchangeError, PeerSilent
from intaglio.engine.memory.keyed_frames import KeyedFrames, WrongKey
from intaglio.engine.memory.layer_feed import LayerFeed
from intaglio.engine.memory.page_key import first_chain, next_chain
from intaglio.engine.memory.peer_tier import PeerTier, Question
from intaglio.engine.memory.prompt_messages import (
    TIMING,
    Kind,
    PartedContents,
    PromptOrder,
    Timing,
)
from intaglio.engine.memory.prompt_server import PromptServer
from intaglio.engine.memory.tcp_carrier import PeerRefused, TcpCarrier
from intaglio.engine.peer_settings import TcpAddress
from intaglio.engine.types import Request, SamplingParams

from tests.support.fetched_contents import fetched
from tests.support.free_port import free_port
from tests.support.prompt_process import FACTS, SIZE, EveryPrompt, content_of, first
from tests.support.spoiling_proxy import SpoilingProxy

KEY, OTHER = b"k" * 32, b"o" * 32
CHAINS = tuple(next_chain(first_chain(b""), bytes([number])) for number in range(6))
CONTENTS = {chain: content_of(chain) for chain in CHAINS}
REQUEST = Request(
    id="secret-id",
    prompt=(5, 6, 7),
    sampling=SamplingParams(max_tokens=3),
    cache_salt="salt",
    tenant="t",
    bulk=True,
    deadline=9.0,
)


@pytest.fixture
def prompts() -> EveryPrompt:
    return EveryPrompt()


@pytest.fixture
def server(prompts: EveryPrompt) -> Iterator[PromptServer]:
    server = PromptServer(TcpAddress("127.0.0.1", 0), KEY, FACTS, prompts, first, LayerFeed(None))
    yield server
    server.close()
    assert not [each for each in threading.enumerate() if each.name in ("kv-server", "kv-send")]


@pytest.fixture
def proxy(server: PromptServer) -> Iterator[SpoilingProxy]:
    proxy = SpoilingProxy(server.port)
    yield proxy
    proxy.close()


def carrier(
    *peers: str,
    key: bytes = KEY,
    facts: dict[str, str] = FACTS,
    most: int = 100 * SIZE,
    timing: Timing = TIMING,
) -> TcpCarrier:
    return TcpCarrier(peers, key, facts, SIZE, most, HostContent, timing)


@pytest.fixture
def peers() -> Iterator[PeerTier]:
    peers = PeerTier(carrier())
    yield peers
    peers.close()


def texts(found: Mapping[bytes, Content]) -> dict[bytes, bytes]:
    return {chain: content.tobytes() for chain, content in found.items()}


def assert_right(found: Mapping[bytes, Content], count: int) -> None:
    assert texts(found) == {chain: CONTENTS[chain] for chain in CHAINS[:count]}


def test_a_prompt_is_asked_for_and_its_contents_arrive(
    proxy: SpoilingProxy, prompts: EveryPrompt, peers: PeerTier
) -> None:
    for seq_id in range(3):
        assert_right(fetched(peers, seq_id, proxy.address, CHAINS, REQUEST), 6)
        assert peers.received(seq_id).cached == len(REQUEST.prompt)
        peers.forget(seq_id)
    assert proxy.connections == 1
    assert KEY not in proxy.seen
    order = prompts.orders[0]
    assert (order.prompt, order.cache_salt, order.chains) == (REQUEST.prompt, "salt", CHAINS)
    asked = order.request("n")
    assert (asked.id, asked.exports, asked.sampling.max_tokens) == ("n", True, 1)
    assert (asked.tenant, asked.bulk, asked.deadline) == ("t", True, 9.0)


@pytest.mark.parametrize("seed", range(12))
def test_a_flipped_bit_is_found_and_a_new_connection_brings_the_rest(
    seed: int, proxy: SpoilingProxy, peers: PeerTier
) -> None:
    at = Random(seed).choice([Random(seed).randrange(6 * SIZE), Random(seed).randrange(400)])

    def flip(number: int, before: int, data: bytes) -> bytes:
        if number or not before <= at < before + len(data):
            return data
        changed = bytearray(data)
        changed[at - before] ^= 1 << Random(seed).randrange(8)
        return bytes(changed)

    proxy.spoil = flip
    found = fetched(peers, 1, proxy.address, CHAINS, REQUEST)
    # A greeting that cannot be understood is not repeated; a size that is changed may make the reader wait in vain.
    assert all(content.tobytes() == CONTENTS[chain] for chain, content in found.items())
    assert len(found) == 6 or proxy.connections == 1
    assert peers.faults == {"exchange": 1}


@pytest.mark.parametrize("at", [0, 10, 100, 200, SIZE, 2 * SIZE + 77, 5 * SIZE])
def test_what_is_cut_off_is_asked_for_again_once(
    at: int, proxy: SpoilingProxy, peers: PeerTier
) -> None:
    def cut(number: int, before: int, data: bytes) -> bytes | None:
        return None if before + len(data) > at else data

    proxy.spoil = cut
    found = fetched(peers, 1, proxy.address, CHAINS, REQUEST)
    assert texts(found) == {chain: CONTENTS[chain] for chain in list(CHAINS)[: len(found)]}
    assert proxy.connections <= 2
    assert len(found) < 6 or at > 3 * SIZE  # in two halves
    assert peers.faults == {"exchange": 1}
    proxy.spoil = lambda number, before, data: cut(number, before, data) if number == 2 else data
    assert_right(fetched(peers, 2, proxy.address, CHAINS, REQUEST), 6)


def test_an_engine_that_falls_silent_is_waited_for_no_longer(proxy: SpoilingProxy) -> None:
    peers = PeerTier(carrier(proxy.address, timing=Timing(silence_s=0.4)))
    assert peers.choose(REQUEST, CHAINS * 2) == proxy.address
    over = threading.Event()

    def stall(_number: int, before: int, data: bytes) -> bytes:
        if before > 2 * SIZE:
            over.wait(20)
        return data

    proxy.spoil = stall
    began = time.monotonic()
    found = fetched(peers, 1, proxy.address, CHAINS, REQUEST)
    assert peers.choose(REQUEST, CHAINS * 2) == ""  # until it can be reached again
    assert time.monotonic() - began < 10
    over.set()
    until = time.monotonic() + 60
    while not peers.choose(REQUEST, CHAINS * 2) and time.monotonic() < until:
        time.sleep(0.05)
    assert peers.choose(REQUEST, CHAINS * 2) == proxy.address
    assert 1 <= len(found) < 6
    assert texts(found) == {chain: CONTENTS[chain] for chain in CHAINS[: len(found)]}
    assert peers.faults == {"exchange": 1}
    peers.close()


def test_a_slow_prompt_is_waited_for_while_its_engine_is_busy() -> None:
    prompts, local = EveryPrompt(1.5), TcpAddress("127.0.0.1", 0)
    server = PromptServer(local, KEY, FACTS, prompts, first, LayerFeed(None), Timing(busy_s=0.05))
    address = f"127.0.0.1:{server.port}"
    for patience_s, count in ((60.0, 6), (0.5, 0)):
        peers = PeerTier(carrier(timing=Timing(silence_s=1.0, patience_s=patience_s)))
        assert_right(fetched(peers, 1, address, CHAINS, REQUEST), count)
        peers.close()
    server.close()
    assert prompts.ended == 2


def test_a_sequence_that_ends_gives_its_prompt_up(
    server: PromptServer, prompts: EveryPrompt, peers: PeerTier
) -> None:
    prompts.seconds = 1e6
    arrived = threading.Event()
    peers.ask(1, f"127.0.0.1:{server.port}", Question(REQUEST, CHAINS), arrived.set)
    until = time.monotonic() + 20
    while not prompts.orders and time.monotonic() < until:
        time.sleep(0.01)
    peers.forget(1)
    assert arrived.wait(20)
    while not prompts.ended and time.monotonic() < until:
        time.sleep(0.01)
    assert prompts.ended == 1
    assert peers.faults == {}


def test_a_caller_with_another_key_gets_nothing(
    server: PromptServer, prompts: EveryPrompt, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(WrongKey, match="kv_key_file"):
        carrier(key=OTHER).connect(f"127.0.0.1:{server.port}")
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        own = bytes(32)
        connection.sendall(keyed_frames.MAGIC + own)
        answer = connection.recv(64, socket.MSG_WAITALL)
        connection.sendall(answer[32:])  # its own proof does not count as one of the caller
        assert connection.recv(1) == b""
    assert prompts.orders == []
    assert "kv_key_file" in capfd.readouterr().err


def test_a_listener_with_another_key_learns_no_prompt() -> None:
    prompts = EveryPrompt()
    server = PromptServer(TcpAddress("127.0.0.1", 0), OTHER, FACTS, prompts, first, LayerFeed(None))
    proxy = SpoilingProxy(server.port)
    peers = PeerTier(carrier())
    assert fetched(peers, 1, proxy.address, CHAINS, REQUEST) == {}
    assert len(proxy.seen) <= len(keyed_frames.MAGIC) + 32 + 64
    for each in (peers, proxy, server):
        each.close()


def test_engines_that_differ_say_in_what(server: PromptServer) -> None:
    with pytest.raises(PeerRefused, match="block_size is 16 here and 8 there"):
        carrier(facts={**FACTS, "block_size": "8"}).connect(f"127.0.0.1:{server.port}")
    with pytest.raises(PeerRefused, match="tp is unknown here and 2 there"):
        carrier(facts={**FACTS, "tp": "2"}).connect(f"127.0.0.1:{server.port}")


def test_rubbish_ends_its_connection_only(server: PromptServer, peers: PeerTier) -> None:
    for rubbish in (b"GET / HTTP/1.1\r\n\r\n" * 9, b"\xff" * 500, keyed_frames.MAGIC + bytes(64)):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(rubbish)
            connection.settimeout(20)
            try:
                while connection.recv(99):
                    pass
            except ConnectionError:
                pass
    assert_right(fetched(peers, 1, f"127.0.0.1:{server.port}", CHAINS, REQUEST), 6)


def test_rubbish_under_the_right_key_ends_its_connection(server: PromptServer) -> None:
    orders = (b"", b"\xc1", prompt_messages.encode(PromptOrder(prompt=(1,), chains=(b"short",))))
    for content in orders:
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            frames = keyed_frames.call(connection, KEY, 5)
            frames.send(Kind.FACTS, prompt_messages.encode(FACTS), timeout_s=5)
            assert frames.receive(5).kind == Kind.WELCOME
            frames.send(Kind.ASK, content, timeout_s=5)
            with pytest.raises(ExchangeError):
                frames.receive(5)


def test_what_has_arrived_and_is_not_used_is_bounded(server: PromptServer) -> None:
    peers, address = PeerTier(carrier(most=4 * SIZE)), f"127.0.0.1:{server.port}"
    assert_right(fetched(peers, 1, address, CHAINS, REQUEST), 4)  # more do not fit
    arrived = threading.Event()
    peers.ask(2, address, Question(REQUEST, CHAINS[:2]), arrived.set)
    assert not arrived.wait(0.3)
    peers.forget(1)
    assert arrived.wait(20)
    assert_right(peers.received(2).contents, 2)
    peers.close()


def test_prompts_go_to_the_engine_that_has_least_to_do(server: PromptServer) -> None:
    lost, there = f"127.0.0.1:{free_port()}", f"127.0.0.1:{server.port}"
    peers = PeerTier(carrier(lost, there))
    assert peers.choose(REQUEST, ()) == ""
    assert {peers.choose(REQUEST, (bytes([number]) * 32,) * 8) for number in range(4)} == {
        lost,
        there,
    }
    assert fetched(peers, 1, lost, CHAINS, REQUEST) == {}
    assert {peers.choose(REQUEST, (bytes([number]) * 32,) * 8) for number in range(4)} == {there}
    named = replace(REQUEST, kv_peer="a:1")
    assert peers.choose(named, CHAINS[:1]) == "a:1"
    assert peers.choose(REQUEST, CHAINS[:1]) == ""  # too little
    assert peers.choose(replace(REQUEST, exports=True), CHAINS * 9) == ""
    peers.close()


@pytest.mark.parametrize(
    "slices",
    [
        [(0, (0,), 4), (4, (0,), 5)],
        [(8, (1,), 1)],
        [(0, (2,), 1)],
        [(0, (0, 2), 2)],
        [(0, (0, 0), 10)],
        [(0, (0,), 8), (0, (0,), 1)],
        [(3, (0,), 0)],
        [(0, (), 4)],
        [(0, (0, 1), 3)],
    ],
)
def test_slices_outside_of_a_content_are_refused(
    slices: Sequence[tuple[int, tuple[int, ...], int]],
) -> None:
    contents = PartedContents(2, 8)
    *before, last = (
        prompt_messages.slice_head(offset, numbers) + bytes(length)
        for offset, numbers, length in slices
    )
    for part in before:
        contents.add(part)
    with pytest.raises(ExchangeError):
        contents.add(last)
    with pytest.raises(ExchangeError):
        contents.add(b"short")


def test_frames_are_taken_once_in_order_and_in_one_direction() -> None:
    ours, theirs = socket.socketpair()
    one = KeyedFrames(ours, b"s" * 32, is_caller=True)
    other = KeyedFrames(theirs, b"s" * 32, is_caller=False)
    one.send(3, b"ab", b"c", timeout_s=5)
    raw = theirs.recv(99, socket.MSG_PEEK)
    assert other.receive(5) == (3, b"abc")
    for again, reader in ((ours, other), (theirs, one)):
        again.sendall(raw)  # repeated, and sent back
        with pytest.raises(ExchangeError, match="damaged"):
            reader.receive(5)
    with pytest.raises(PeerSilent):
        one.receive(0.05)
    ours.sendall(b"\xff" * 40)  # a frame of four gigabytes
    with pytest.raises(ExchangeError, match="at most"):
        other.receive(5)
    ours.close()
    theirs.close()


SERVE = (
    f"import sys; sys.path.append({str(Path(__file__).parents[3])!r}); "
    "from tests.support.prompt_process import main; main(*sys.argv[1:])"
)


def test_an_engine_killed_in_mid_transfer_20_times_costs_what_it_did_not_send() -> None:
    """Each is killed after another number of bytes; then another process answers at another port."""
    peers, dice, lost = PeerTier(carrier()), Random(3), 0
    chains = [next_chain(CHAINS[0], bytes([number])) for number in range(60)]
    for life in range(20):
        command = [sys.executable, "-c", SERVE, KEY.decode()]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            port, at, pid = int(child.stdout.readline()), dice.randrange(40 * SIZE), child.pid

            def kill(_: int, before: int, data: bytes, at: int = at, pid: int = pid) -> bytes:
                if before <= at < before + len(data):
                    os.kill(pid, signal.SIGKILL)
                return data

            proxy = SpoilingProxy(port, kill)
            found = fetched(peers, life, proxy.address, chains, REQUEST)
            child.kill()
            assert texts(found) == {chain: content_of(chain) for chain in chains[: len(found)]}
            lost += len(chains) - len(found)
            peers.forget(life)
        proxy.close()
    assert 20 * 10 < lost < 20 * 60
    assert peers.faults == {"exchange": 20}
    peers.close()
