"""A socket of the engines closes at once, whatever is left to send."""

import threading
from pathlib import Path

import pytest
import zmq
from intaglio.engine.host.sockets import unbounded

PATIENCE_S = 30.0


def ended(context: "zmq.Context[zmq.Socket[bytes]]") -> bool:
    """Whether the context ends: that call may wait forever, and cannot be interrupted."""
    end = threading.Thread(target=context.term, daemon=True)
    end.start()
    end.join(PATIENCE_S)
    return not end.is_alive()


@pytest.mark.parametrize("leaves", [False, True])
def test_a_context_ends_with_messages_to_a_peer_that_does_not_read(
    tmp_path: Path, leaves: bool
) -> None:
    """Also to one that has left: its connection belongs to the listener, whose options are those of the bind."""
    owner: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    others: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    router, peer = unbounded(owner, zmq.ROUTER), others.socket(zmq.DEALER)
    peer.set_hwm(1)
    router.bind(f"ipc://{tmp_path / 'socket'}")
    peer.connect(f"ipc://{tmp_path / 'socket'}")
    peer.send(b"hello")
    name, _ = router.recv_multipart()
    for _ in range(100):
        router.send_multipart([name, bytes(100_000)])
    if leaves:
        others.destroy(linger=0)
    router.close()
    assert ended(owner)
    others.destroy(linger=0)
