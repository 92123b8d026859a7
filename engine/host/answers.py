"""The clients of an engine process: the sender of each open request, and the socket for answers.

Does: send each delta to the client that sent the request; notice that a client's process has ended. Does not: read
commands or abort requests (`engine/host/process.py`).

A client chooses its name and connects under it. A message to a name that is not connected fails at once (`zmq`'s
mandatory routing), which is how the end of a client is noticed.
"""

import threading
from collections.abc import Iterable

import zmq

from ..types import Delta
from .messages import Deltas, Event, encode
from .sockets import unbounded


class Answers:
    """The open requests by client, and the socket to the clients. For any thread."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str) -> None:
        self._lock = threading.Lock()
        self._socket = unbounded(context, zmq.ROUTER)
        self._socket.router_mandatory = True
        self._socket.linger = 1000
        self._socket.bind(address)
        self._owners: dict[str, bytes] = {}

    def open(self, client: bytes, request_id: str) -> bool:
        """Note the client of a request; False if a request with that id is open."""
        with self._lock:
            if request_id in self._owners:
                return False
            self._owners[request_id] = client
            return True

    def owns(self, client: bytes, request_id: str) -> bool:
        """Whether this client sent the open request with that id."""
        return self._owners.get(request_id) == client

    def deliver(self, deltas: Iterable[Delta]) -> list[str]:
        """Send the deltas of one step; the ids of the requests that are left without a client."""
        with self._lock:
            parts: dict[bytes, list[Delta]] = {}
            for delta in deltas:
                client = self._owners.get(delta.request_id)
                if client is None:  # the last deltas of an aborted request: its client disconnected
                    continue
                if delta.finish is not None:
                    del self._owners[delta.request_id]
                parts.setdefault(client, []).append(delta)
            return [
                request_id
                for client, items in parts.items()
                if not self._send(client, encode(Deltas(tuple(items))))
                for request_id in self._forget(client)
            ]

    def send(self, client: bytes, event: Event) -> None:
        """Send `event`; without effect if the client is not connected."""
        with self._lock:
            self._send(client, encode(event))

    def orphans(self) -> list[str]:
        """Close the open requests of clients that have disconnected; their ids."""
        with self._lock:
            return [
                request_id
                for client in set(self._owners.values())
                if not self._send(client, b"")
                for request_id in self._forget(client)
            ]

    def close(self) -> None:
        """Close the socket once the messages so far were sent, or a second has passed."""
        with self._lock:
            self._socket.close()

    def _send(self, client: bytes, data: bytes) -> bool:
        try:
            self._socket.send_multipart((client, data))
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:
                raise
            return False
        return True

    def _forget(self, client: bytes) -> list[str]:
        """Forget the requests of a client; their ids."""
        request_ids = [name for name, owner in self._owners.items() if owner == client]
        for request_id in request_ids:
            del self._owners[request_id]
        return request_ids
