"""A transport that sends the head of an HTTP response together with the beginning of its body.

Does: hold a head back until the next write, for one turn of the event loop at most. Does not: change the order of bytes
or hold back anything else.

uvicorn writes head and body one after the other. With TCP_NODELAY, which asyncio sets, each write is a packet, a system
call, and one more wake-up of the client.
"""

import asyncio
from typing import Any, Final

_HEAD: Final = b"HTTP/1.1 "


class JoinedWrites:
    """A transport over `transport`; everything but `write` and `close` is the transport's own."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = b""

    def write(self, data: bytes) -> None:
        """Write `data`, a head no later than in the next turn of the event loop."""
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held + data)
        elif data.startswith(_HEAD):
            self._held = data
            self._loop.call_soon(self._flush)
        elif data:
            self._transport.write(data)

    def close(self) -> None:
        """Close the connection after everything written so far."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._held:
            self.write(b"")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
