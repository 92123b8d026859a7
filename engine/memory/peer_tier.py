"""The KV blocks of a prompt that another engine of this machine computed, fetched from there.

Does: fetch in a separate thread, so that a sequence waits for its contents while others run. Where the other engine has
ended, times out, has another version or sends damaged contents, this engine computes what it did not receive. The
connection to an engine that has ended is closed within `WATCH_S`. Does not: choose the engine (a request names it),
write into blocks, or transport contents (a `PeerLink` does).
"""

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Protocol

from .block_contents import Content, HostContent
from .block_exchange import Channel, ExchangeError
from .page_key import Chain

TIMEOUT_S: Final = 2.0  # of one answer: in that time a model computes thousands of tokens
WATCH_S: Final = 0.25  # between two checks for connections to engines that have ended

Contents = Mapping[Chain, Content]


class PeerLink(Protocol):
    """A connection to another engine that transports contents. For one thread at a time."""

    def ask(self, chains: Sequence[Chain]) -> Iterable[Content]:
        """The contents that the other engine has of the first of these chains, as they arrive.

        Raises:
            ExchangeError: it has ended or timed out, or a content is damaged.
        """
        ...

    def has_ended(self) -> bool:
        """Whether the other engine has ended. Does not wait."""
        ...

    def close(self) -> None:
        """End the connection, and use no memory of the other engine any more."""
        ...


class SentContents:
    """A `PeerLink` that sends contents, of `size` bytes each, through its socket."""

    def __init__(self, channel: Channel, size: int) -> None:
        self._channel = channel
        self._size = size

    def ask(self, chains: Sequence[Chain]) -> Iterable[Content]:
        """See `PeerLink`."""
        return map(HostContent, self._channel.ask(chains, self._size))

    def has_ended(self) -> bool:
        """See `PeerLink`."""
        return self._channel.has_ended()

    def close(self) -> None:
        """See `PeerLink`."""
        self._channel.close()


class PeerTier:
    """The contents that other engines have for the sequences of this one.

    `link` makes a link of a channel to an engine of the same version, or raises `ExchangeError`.
    """

    def __init__(
        self, version: bytes, link: Callable[[Channel], PeerLink], timeout_s: float = TIMEOUT_S
    ) -> None:
        self._version = version
        self._link = link
        self._timeout_s = timeout_s
        self._links: dict[str, PeerLink] = {}  # changed by the reader only
        self._requested: dict[int, Future[Contents]] = {}
        self._faults: Counter[str] = Counter()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="kv-peer")
        self._closing = threading.Event()
        self._watch = threading.Thread(target=self._watch_links, name="kv-watch", daemon=True)
        self._watch.start()

    @property
    def faults(self) -> dict[str, int]:
        """Exchanges that failed."""
        return dict(self._faults)

    def contents(
        self, seq_id: int, address: str, chains: Sequence[Chain], *, wait: bool
    ) -> Contents | None:
        """The contents that the engine at `address` has of these chains; None while they are being fetched.

        They are requested once for a sequence. With `wait`, the call blocks until they have arrived.
        """
        requested = self._requested.get(seq_id)
        if requested is None:
            if not chains:
                return {}
            requested = self._requested[seq_id] = self._reader.submit(
                self._fetch, address, tuple(chains)
            )
        return requested.result() if wait or requested.done() else None

    def forget(self, seq_id: int) -> None:
        """Drop what was received for a sequence. No effect for an unknown one."""
        self._requested.pop(seq_id, None)

    def close(self) -> None:
        """End the threads and the connections."""
        self._closing.set()
        self._watch.join()
        self._reader.shutdown(cancel_futures=True)
        for link in self._links.values():
            link.close()

    def _fetch(self, address: str, chains: Sequence[Chain]) -> Contents:
        found: dict[Chain, Content] = {}
        for is_new in (False, True):  # the process behind an old connection may have ended
            if not is_new and address not in self._links:
                continue
            try:
                link = self._links[address] if not is_new else self._connect(address)
                # An update that raises keeps what has arrived.
                found.update(zip(chains, link.ask(chains), strict=False))
                break
            except ExchangeError:
                if address in self._links:
                    self._links.pop(address).close()
                self._faults["exchange"] += is_new
        return found

    def _connect(self, address: str) -> PeerLink:
        connection = socket.socket(socket.AF_UNIX)
        channel = Channel(connection, self._timeout_s)
        try:
            connection.settimeout(self._timeout_s)
            connection.connect(address)
            channel.greet(self._version)
            link = self._link(channel)
        except (OSError, ExchangeError) as error:
            channel.close()
            raise ExchangeError(str(error)) from error
        self._links[address] = link
        return link

    def _watch_links(self) -> None:
        """Have the reader thread close the links of engines that have ended, at intervals of `WATCH_S`."""
        while not self._closing.wait(WATCH_S):
            if self._links:
                self._reader.submit(self._close_ended).result()

    def _close_ended(self) -> None:
        for address in [each for each, link in self._links.items() if link.has_ended()]:
            self._links.pop(address).close()
