"""A zmq socket that is read by an asyncio event loop without a task or a future for each message.

Does: call a function with each message; remove folders of sockets. Does not: know the messages.
"""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import zmq

MOST_READ: Final = 256  # messages in one iteration of the event loop


class SocketReader:
    """Calls `on_message` with the frames of each message of `socket`, in the event loop that runs now."""

    def __init__(
        self, socket: zmq.Socket[bytes], on_message: Callable[[list[bytes]], None]
    ) -> None:
        self._socket = socket
        self._on_message = on_message
        self._loop = asyncio.get_running_loop()
        self._descriptor = int(socket.getsockopt(zmq.FD))
        self._closed = False
        self._loop.add_reader(self._descriptor, self._read_ready)
        self._scheduled = False
        self.read_soon()

    def read_soon(self) -> None:
        """Schedule a read: the descriptor signals only messages that arrive after the last use of the socket.

        To be called after each message sent on the same socket.
        """
        if not self._scheduled and not self._closed:
            self._scheduled = True
            self._loop.call_soon(self._read_ready)

    def _read_ready(self) -> None:
        self._scheduled = False
        if self.drain(MOST_READ) == MOST_READ:
            self.read_soon()

    def drain(self, most: int | None = None) -> int:
        """Read the messages that have arrived, up to this many; returns their number."""
        read = 0
        while not self._closed and (most is None or read < most):
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            read += 1
            self._on_message(frames)
        return read

    def close(self) -> None:
        """Stop reading and close the socket; safe to call twice."""
        if not self._closed:
            self._closed = True
            self._loop.remove_reader(self._descriptor)
            self._socket.close(linger=0)


def socket_folder() -> Path:
    """A new folder that only this user can open: in the folder for temporary files, else in shared memory.

    Shared memory is writable in a container with a read-only file system as well.
    """
    try:
        return Path(tempfile.mkdtemp(prefix="intaglio-"))
    except FileNotFoundError:  # no folder for temporary files can be written
        return Path(tempfile.mkdtemp(prefix="intaglio-", dir="/dev/shm"))


def unbounded(context: zmq.Context[zmq.Socket[bytes]], kind: int) -> zmq.Socket[bytes]:
    """A socket that drops no message and never blocks; the open requests bound the number of its messages.

    It does not linger. A connection that it accepted takes its linger when it binds, not when it is closed: with the
    default, the end of its context waits forever for a message to a peer that has left.
    """
    socket = context.socket(kind)
    socket.set_hwm(0)
    socket.linger = 0
    return socket
