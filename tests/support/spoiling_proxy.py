"""A TCP proxy that spoils what passes.

Does: connect to a port for each connection of its own port, and pass on what `spoil` makes of the bytes from there.
Does not: change what goes there.
"""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

Spoil = Callable[[int, int, bytes], bytes | None]
"""(number of the connection, bytes passed before, bytes) to what is passed on; None cuts the connection."""


class SpoilingProxy:
    """Listens on `port`; `seen` has all bytes that passed, in both directions."""

    def __init__(self, target: int, spoil: Spoil = lambda _number, _before, data: data) -> None:
        self._target = target
        self.spoil = spoil
        self.seen = bytearray()
        self.connections = 0
        self._closing: list[
            socket.socket
        ] = []  # those that both threads are done with when they have ended
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()
        for connection in self._closing:
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._server.accept()
                try:
                    target = socket.create_connection(("127.0.0.1", self._target), 5)
                except OSError:
                    caller.close()
                    continue
                number = self.connections
                self.connections += 1
                for one, other, changes in ((caller, target, False), (target, caller, True)):
                    thread = threading.Thread(
                        target=self._pump, args=(one, other, number, changes), daemon=True
                    )
                    self._threads.append(thread)
                    thread.start()

    def _pump(self, source: socket.socket, sink: socket.socket, number: int, changes: bool) -> None:
        before = 0
        with suppress(OSError):
            while data := source.recv(1 << 16):
                self.seen += data
                passed = self.spoil(number, before, data) if changes else data
                before += len(data)
                if passed is None:
                    break
                sink.sendall(passed)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._closing.append(source)
