"""Contents of KV blocks that another engine of this machine computed for a sequence.

Does: ask that engine in a separate thread, so that a sequence waits for its contents while others run. An engine that
is gone, late, of another version or sends damaged contents costs what it did not send: that is computed. Does not:
decide which engine is asked (a request names it), or write into blocks.
"""

import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from .block_exchange import Channel, ExchangeError
from .page_key import Chain

PATIENCE_S: Final = 2.0  # for one answer: in that time a model computes thousands of tokens

Contents = Mapping[Chain, bytes]


class PeerTier:
    """The contents that other engines have for the sequences of this one. `size` is that of a block, in bytes."""

    def __init__(self, version: bytes, size: int, patience_s: float = PATIENCE_S) -> None:
        self._version = version
        self._size = size
        self._patience_s = patience_s
        self._channels: dict[str, Channel] = {}  # used by the reader only
        self._asked: dict[int, Future[Contents]] = {}
        self._faults: Counter[str] = Counter()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="kv-peer")

    @property
    def faults(self) -> dict[str, int]:
        """Exchanges that failed."""
        return dict(self._faults)

    def contents(
        self, seq_id: int, address: str, chains: Sequence[Chain], *, wait: bool
    ) -> Contents | None:
        """What the engine at `address` has of these chains, asked for once a sequence; None while it is on its way.

        With `wait` it is waited for.
        """
        asked = self._asked.get(seq_id)
        if asked is None:
            if not chains:
                return {}
            asked = self._asked[seq_id] = self._reader.submit(self._fetch, address, tuple(chains))
        return asked.result() if wait or asked.done() else None

    def forget(self, seq_id: int) -> None:
        """Drop what was received for a sequence. No effect for an unknown one."""
        self._asked.pop(seq_id, None)

    def close(self) -> None:
        """End the thread and the connections."""
        self._reader.shutdown(cancel_futures=True)
        for channel in self._channels.values():
            channel.close()

    def _fetch(self, address: str, chains: Sequence[Chain]) -> Contents:
        found: dict[Chain, bytes] = {}
        for is_new in (False, True):  # an old connection may be one to a process that has ended
            if not is_new and address not in self._channels:
                continue
            try:
                channel = self._channels[address] if not is_new else self._connect(address)
                # An update that is broken off keeps what has arrived.
                found.update(zip(chains, channel.ask(chains, self._size), strict=False))
                break
            except ExchangeError:
                if address in self._channels:
                    self._channels.pop(address).close()
                self._faults["exchange"] += is_new
        return found

    def _connect(self, address: str) -> Channel:
        connection = socket.socket(socket.AF_UNIX)
        channel = Channel(connection, self._patience_s)
        try:
            connection.settimeout(self._patience_s)
            connection.connect(address)
            channel.greet(self._version)
        except (OSError, ExchangeError) as error:
            channel.close()
            raise ExchangeError(str(error)) from error
        self._channels[address] = channel
        return channel
