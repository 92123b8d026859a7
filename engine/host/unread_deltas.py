"""The deltas of one request that have arrived and were not read yet.

Does: hand them on in order, those that wait together as one, and hold most of a long backlog compressed. Does not:
bound the backlog: an output has at most `max_tokens`.

Every delta that is handed on costs its reader an event, a piece of HTTP and a system call. A process with more streams
than it can serve token by token has some deltas of each waiting: joined, they cost as much as one, so that its streams
become coarser and not later.

A decoded delta with 20 alternatives to its token occupies 2.5 KB; compressed with its neighbours, a tenth of that. A
reader that keeps up never leaves more than a few, which stay as they are.
"""

import asyncio
import zlib
from collections import deque
from collections.abc import Iterable
from typing import Final

import msgspec

from ..errors import EngineStopped
from ..types import Delta

_TOGETHER: Final = 4  # deltas that are compressed together
_FAST: Final = 1

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[list[Delta]] = msgspec.msgpack.Decoder(list[Delta])


class UnreadDeltas:
    """A queue of deltas, and of the error that ends them, with one reader. For one event loop."""

    def __init__(self) -> None:
        self._next: deque[Delta] = deque()
        self._packed: deque[bytes] = deque()
        self._last: list[Delta] = []
        self._error: EngineStopped | None = None
        self._reader: asyncio.Future[None] | None = None

    def put(self, delta: Delta) -> None:
        """Add a delta behind the others."""
        if not self._packed and not self._last and len(self._next) < _TOGETHER:
            self._next.append(delta)
        else:
            self._last.append(delta)
            if len(self._last) == _TOGETHER:
                self._packed.append(_packed(self._last))
                self._last.clear()
        self._wake()

    def end(self, error: EngineStopped) -> None:
        """Raise `error` in the reader after all deltas."""
        self._error = error
        self._wake()

    async def get(self) -> Delta:
        """The next deltas as one. Raises the error that was given to `end`, if there is none left.

        The last delta of a request comes alone. A stop string ends a text before the deltas behind it are read, and
        what is reported then must not depend on whether the last one waited already.
        """
        while not self._next:
            if self._packed:
                self._next.extend(_unpacked(self._packed.popleft()))
            elif self._last:
                self._next.extend(self._last)
                self._last.clear()
            elif self._error is not None:
                raise self._error
            else:
                await self._arrival()
        first = self._next.popleft()
        if not self._next or self._next[0].finish is not None:
            return first
        return self._joined(first)

    def _joined(self, first: Delta) -> Delta:
        """This delta and those behind it that do not end the request, as one."""
        tokens, logprobs = list(first.tokens), list(first.logprobs)
        while self._next and self._next[0].finish is None:
            delta = self._next.popleft()
            tokens += delta.tokens
            logprobs += delta.logprobs
        return msgspec.structs.replace(first, tokens=tuple(tokens), logprobs=tuple(logprobs))

    async def _arrival(self) -> None:
        self._reader = asyncio.get_running_loop().create_future()
        try:
            await self._reader
        finally:
            self._reader = None

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


def _packed(deltas: Iterable[Delta]) -> bytes:
    return zlib.compress(_encoder.encode(list(deltas)), _FAST)


def _unpacked(data: bytes) -> list[Delta]:
    return _decoder.decode(zlib.decompress(data))
