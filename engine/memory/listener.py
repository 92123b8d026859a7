"""A socket that answers each connection in a thread of its own.

Does: accept up to a number of connections, and end all of them. Does not: know what they are for.
"""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

MOST_CONNECTIONS: Final = 256


class Listener:
    """Calls `answer` with each connection to a bound socket; further ones than `MOST_CONNECTIONS` are closed at once.

    `answer` returns when it is over, and raises nothing; then the connection is closed.
    """

    def __init__(self, listening: socket.socket, answer: Callable[[socket.socket], None]) -> None:
        self._listening = listening
        self._answer = answer
        self._guard = threading.Lock()
        self._open: set[socket.socket] = set()
        self._closing = False
        listening.listen()
        self._thread = threading.Thread(target=self._accept, name="kv-server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End all connections and the threads."""
        with self._guard:
            self._closing = True
            held = list(self._open)
        for connection in (self._listening, *held):
            with suppress(OSError):  # the other side is gone
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listening.close()

    def _accept(self) -> None:
        threads: list[threading.Thread] = []
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                break
            with self._guard:
                if self._closing:
                    connection.close()
                    break
                if len(self._open) >= MOST_CONNECTIONS:
                    connection.close()
                    continue
                self._open.add(connection)
            # So that a connection to a host that has vanished ends some day.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            thread = threading.Thread(
                target=self._run, args=(connection,), name="kv-send", daemon=True
            )
            thread.start()
            threads = [each for each in threads if each.is_alive()] + [thread]
        for thread in threads:
            thread.join()

    def _run(self, connection: socket.socket) -> None:
        try:
            self._answer(connection)
        finally:
            with self._guard:
                self._open.discard(connection)
            connection.close()
