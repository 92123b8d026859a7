"""The KV blocks that this engine computed for others: kept within a bound of bytes, and sent on request.

Does: keep contents within a bound of bytes, and answer the engines that connect to a socket of this user. Does not:
copy (`BlockContents` does), let others read its memory (`leased_blocks`), or find out which engine needs them (the
router does).
"""

import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from .block_contents import BlockContents, Content
from .block_exchange import Channel, ExchangeError
from .host_tier import HostTier
from .listener import Listener
from .page_key import Chain

TIMEOUT_S: Final = 10.0  # for a reader to take an answer


class ExportedBlocks:
    """Contents of at most `most_bytes` bytes by chain; the least recently used go first. Safe to share by threads.

    `copies` reads them from the cache.
    """

    def __init__(self, most_bytes: int, copies: BlockContents) -> None:
        self._guard = threading.Lock()
        self._contents = HostTier(most_bytes)
        self._copies = copies

    def __contains__(self, chain: object) -> bool:
        return chain in self._contents

    def __len__(self) -> int:
        return len(self._contents)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._contents.nbytes

    def export(self, found: Sequence[tuple[Chain, int]]) -> None:
        """See `BlockExports`."""
        new = [(chain, block) for chain, block in found if chain not in self._contents]
        most = self._copies.most_read
        for part in (new[begin : begin + most] for begin in range(0, len(new), most)):
            contents = self._copies.read([block for _, block in part])
            for (chain, _), content in zip(part, contents, strict=False):
                self.put(chain, content)

    def put(self, chain: Chain, content: Content) -> None:
        """Keep a content."""
        with self._guard:
            for _ in self._contents.put(chain, content):
                pass

    def first(self, chains: Sequence[Chain]) -> list[bytes]:
        """The contents of the first of these chains, up to one that is not held."""
        found: list[Content] = []
        with self._guard:
            for chain in chains:
                content = self._contents.get(chain)
                if content is None:
                    break
                found.append(content)
        return [content.tobytes() for content in found]

    def serve(self, channel: Channel) -> None:
        """Answer one engine until it leaves. Raises `ExchangeError`."""
        while (chains := channel.receive_question()) is not None:
            channel.answer(chains, self.first(chains))


class BlockServer:
    """Serves the engines that connect to the socket at `path` and have this version; in one thread for each of them.

    `serve` answers one of them until it leaves, or raises `ExchangeError`.
    """

    def __init__(
        self,
        path: Path,
        version: bytes,
        serve: Callable[[Channel], None],
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._path = path
        self._version = version
        self._serve = serve
        self._timeout_s = timeout_s
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(path))
        self._listener = Listener(listening, self._answer)

    @property
    def address(self) -> str:
        """The address that requests carry to other engines."""
        return str(self._path)

    def close(self) -> None:
        """End all connections and the thread, and remove the socket."""
        self._listener.close()
        self._path.unlink(missing_ok=True)

    def _answer(self, connection: socket.socket) -> None:
        """Answer one engine until it leaves or sends something else."""
        channel = Channel(connection, self._timeout_s)
        with suppress(ExchangeError):  # it computes what it did not get
            channel.welcome(self._version)
            self._serve(channel)
