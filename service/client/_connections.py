"""The HTTP connections of both clients.

A connection of asyncio belongs to one event loop. An asynchronous client has connections of its own in every loop that
uses it, so that one client serves several calls of `asyncio.run`. A loop that ends closes them, as does the end of a
client that was not closed.

Does: give the connections that a call may use, and close them. Does not: send (`_async_wire`). The generated client has
`Connections` where the asynchronous one has `AsyncConnections`.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from weakref import WeakKeyDictionary, finalize

import httpx2


class AsyncConnections:
    """Connections by event loop; `make` makes those of one. Only the loop that made connections closes them."""

    def __init__(self, make: Callable[[], httpx2.AsyncClient]) -> None:
        self._make = make
        # Made at once, so that an unusable address is refused by the constructor.
        self._spare: httpx2.AsyncClient | None = make()
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _Opened] = WeakKeyDictionary()
        self.is_closed = False

    async def here(self) -> httpx2.AsyncClient:
        """The connections of the running loop. Raises RuntimeError after `aclose`."""
        if self.is_closed:
            raise RuntimeError("the client is closed: make a new one")
        loop = asyncio.get_running_loop()
        found = self._by_loop.get(loop)
        if found is None:
            for other in [each for each in self._by_loop if each.is_closed()]:
                del self._by_loop[other]
            http, self._spare = self._spare or self._make(), None
            found = self._by_loop[loop] = _Opened(http)
            await found.hold()
        return found.http

    async def aclose(self) -> None:
        """Close the connections of the running loop, and refuse further calls in all loops."""
        self.is_closed = True
        found = self._by_loop.pop(asyncio.get_running_loop(), None)
        if found is not None:
            await found.holder.aclose()
        if self._spare is not None:
            await self._spare.aclose()


class _Opened:
    """The connections of one loop, and the generator that closes them.

    `asyncio.run` closes the generators of its loop before the loop; a generator without references is
    closed by its loop as well.
    """

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self.http = http
        self.holder = _holding(http)

    async def hold(self) -> None:
        """Make the loop know the generator, which it does once that has begun."""
        await anext(self.holder)


async def _holding(http: httpx2.AsyncClient) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await http.aclose()


class Connections:
    """Connections for all threads, with the methods of `AsyncConnections`."""

    def __init__(self, make: Callable[[], httpx2.Client]) -> None:
        self._http = make()
        finalize(self, self._http.close)

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._http.is_closed

    def here(self) -> httpx2.Client:
        """The connections. Raises RuntimeError after `close`."""
        if self._http.is_closed:
            raise RuntimeError("the client is closed: make a new one")
        return self._http

    def close(self) -> None:
        """Close all connections."""
        self._http.close()
