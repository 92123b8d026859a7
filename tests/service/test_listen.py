"""The listening sockets of a server."""

import asyncio
import socket

import pytest
from intaglio.service.http.listen import CannotListen, listen, url


def test_an_accepted_connection_sends_without_waiting_for_acknowledgements() -> None:
    assert asyncio.run(_no_delay_of_an_accepted_connection()) == 1


async def _no_delay_of_an_accepted_connection() -> int:
    (sock,) = listen("127.0.0.1", 0)
    delays: asyncio.Queue[int] = asyncio.Queue()

    async def accepted(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        delays.put_nowait(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(accepted, sock=sock)
    _, writer = await asyncio.open_connection(*sock.getsockname())
    found = await delays.get()
    writer.close()
    await writer.wait_closed()
    server.close()
    await server.wait_closed()
    return found


def test_port_zero_gives_a_free_port_that_the_url_names() -> None:
    (sock,) = listen("127.0.0.1", 0)
    with sock:
        assert url(sock) == f"http://127.0.0.1:{sock.getsockname()[1]}"
        assert sock.getsockname()[1] > 0


def test_a_port_in_use_is_named_with_a_way_out() -> None:
    (sock,) = listen("127.0.0.1", 0)
    with sock:
        sock.listen()
        with pytest.raises(CannotListen) as refused:
            listen("127.0.0.1", sock.getsockname()[1])
    assert "in use" in refused.value.message
    assert "--port" in refused.value.hint


def test_a_host_without_an_address_is_refused() -> None:
    with pytest.raises(CannotListen) as refused:
        listen("no such host", 0)
    assert "'no such host'" in refused.value.message
