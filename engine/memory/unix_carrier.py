"""Transport of KV blocks between engines of one host, over sockets of this user.

Does: connect, greet, and send contents through the socket; GPUs copy them instead (`peer_contents`). Does not: choose
the engine, or serve (`exported_blocks`).
"""

import socket
from collections.abc import Callable, Iterable
from typing import Final

from .block_contents import Content, HostContent
from .block_exchange import Channel, ExchangeError
from .peer_tier import PeerLink, Question

TIMEOUT_S: Final = 2.0  # of one answer: in that time a model computes thousands of tokens
MOST_BYTES: Final = 256 << 20


class SentContents:
    """A `PeerLink` that sends contents, of `size` bytes each, through its socket."""

    cached = None

    def __init__(self, channel: Channel, size: int) -> None:
        self._channel = channel
        self._size = size

    def ask(self, question: Question) -> Iterable[Content]:
        """See `PeerLink`."""
        return map(HostContent, self._channel.ask(question.chains, self._size))

    def has_ended(self) -> bool:
        """See `PeerLink`."""
        return self._channel.has_ended()

    def close(self) -> None:
        """See `PeerLink`."""
        self._channel.close()


class UnixCarrier:
    """A `Carrier` for engines of this `version`, with contents of `block_bytes` each.

    `link` makes a link of a channel to such an engine, or raises `ExchangeError`.
    """

    readers = 1  # a link may copy by a device
    peers = ()

    def __init__(
        self,
        version: bytes,
        link: Callable[[Channel], PeerLink],
        block_bytes: int,
        most_bytes: int = MOST_BYTES,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.block_bytes = block_bytes
        self.most_bytes = max(most_bytes, block_bytes)
        self._version = version
        self._new_link = link
        self._timeout_s = timeout_s

    def connect(self, address: str) -> PeerLink:
        """See `Carrier`."""
        connection = socket.socket(socket.AF_UNIX)
        channel = Channel(connection, self._timeout_s)
        try:
            connection.settimeout(self._timeout_s)
            connection.connect(address)
            channel.greet(self._version)
            return self._new_link(channel)
        except (OSError, ExchangeError) as error:
            channel.close()
            raise ExchangeError(str(error)) from error
