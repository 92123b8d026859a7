"""Quarantine of requests in flight when the engine's process died: watched after one death, refused after two.

Does: identify requests by content, run the suspects one at a time, so that at most one of them can be the cause of a
second death, and clear a suspect that ends normally. Does not: detect deaths (`engine/host/client.py` reports them).

It keeps a digest and a run number for each request, for `MOST` suspects and as many refused requests; the least
recently seen ones are forgotten first, and all of them when the service stops.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final, TypeVar

from ..errors import RequestQuarantined
from ..types import Request
from .messages import Submit, encode

MOST: Final = 4096

V = TypeVar("V")


class Quarantine:
    """The suspects and refused requests of one client. For one event loop."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._suspects: OrderedDict[bytes, int] = OrderedDict()  # digest -> the run that died
        self._refused: OrderedDict[bytes, None] = OrderedDict()
        self._one = asyncio.Lock()

    @property
    def suspects(self) -> int:
        """The number of requests that were in flight at one death."""
        return len(self._suspects)

    @property
    def refused(self) -> int:
        """The number of requests that were in flight at two deaths."""
        return len(self._refused)

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[None]:
        """A context manager for the run of a request; a suspect waits until no other suspect runs.

        Raises:
            RequestQuarantined: the request was in flight at two deaths.
            InvalidRequest: a value in the request cannot be sent.
        """
        if not self._suspects and not self._refused:
            yield
            return
        name = _digest(request)
        self._refuse_if_listed(name)
        if name not in self._suspects:
            yield
            return
        async with self._one:
            self._refuse_if_listed(
                name
            )  # a request of the same content may have run in the meantime
            yield

    def lost(self, request: Request, run: int) -> None:
        """Record that process number `run` died with this request in flight. Requests of equal content count as one."""
        name = _digest(request)
        if name in self._refused:
            return
        before = self._suspects.pop(name, run)
        if before == run:
            _remember(self._suspects, name, run, self._most)
        else:
            _remember(self._refused, name, None, self._most)

    def survived(self, request: Request) -> None:
        """Clear a request that ended while the engine kept running."""
        if self._suspects:
            self._suspects.pop(_digest(request), None)

    def _refuse_if_listed(self, name: bytes) -> None:
        if name in self._refused:
            self._refused.move_to_end(name)
            raise RequestQuarantined(
                "this request was being computed at two deaths of the engine, and is refused",
                hint="change its schema, text or options, and report it: no request should end an "
                "engine; a restart of the service clears it",
            )


def _remember(kept: OrderedDict[bytes, V], name: bytes, value: V, most: int) -> None:
    kept[name] = value
    while len(kept) > most:
        kept.popitem(last=False)


def _digest(request: Request) -> bytes:
    """The digest of the content that determines the engine's work: not of id, priority, deadline and salt."""
    content = replace(request, id="", priority=0, deadline=None, cache_salt="")
    return hashlib.blake2b(encode(Submit(content)), digest_size=16).digest()
