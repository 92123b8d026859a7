"""Requests that were in flight when the engine's process died: watched after one death, refused after two.

Does: know requests by their content, run the suspects one at a time, so that a second death has one of them to blame
at most, and forget a suspect that ends well. Does not: see processes die (engine/host/client.py says so).

What is kept is a digest and a number of each request, of `MOST` suspects and as many that are refused; those seen
longest ago are forgotten first, and all of them when the service stops.
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
    """What one client remembers. Use from one event loop."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._suspects: OrderedDict[bytes, int] = OrderedDict()  # the run whose death they saw
        self._refused: OrderedDict[bytes, None] = OrderedDict()
        self._one = asyncio.Lock()

    @property
    def suspects(self) -> int:
        """Requests that saw one death."""
        return len(self._suspects)

    @property
    def refused(self) -> int:
        """Requests that saw two deaths."""
        return len(self._refused)

    @asynccontextmanager
    async def watch(self, request: Request) -> AsyncIterator[None]:
        """Let a request run for the length of the block; a suspect waits until no other suspect runs.

        Raises:
            RequestQuarantined: it was in flight at two deaths.
            InvalidRequest: a value in it cannot be sent.
        """
        if not self._suspects and not self._refused:
            yield
            return
        name = _digest(request)
        self._see(name)
        if name not in self._suspects:
            yield
            return
        async with self._one:
            self._see(name)  # a copy of it may have run meanwhile
            yield

    def lost(self, request: Request, run: int) -> None:
        """The process number `run` died with this request in flight. Copies of a request count as one."""
        name = _digest(request)
        if name in self._refused:
            return
        before = self._suspects.pop(name, run)
        if before == run:
            _remember(self._suspects, name, run, self._most)
        else:
            _remember(self._refused, name, None, self._most)

    def survived(self, request: Request) -> None:
        """The request ended, and the engine lives."""
        if self._suspects:
            self._suspects.pop(_digest(request), None)

    def _see(self, name: bytes) -> None:
        if name in self._refused:
            self._refused.move_to_end(name)
            raise RequestQuarantined(
                "this request was being computed both times when the engine died, and is refused",
                hint="change its schema, text or options, and report it: no request should end an "
                "engine; restarting the service forgets it",
            )


def _remember(kept: OrderedDict[bytes, V], name: bytes, value: V, most: int) -> None:
    kept[name] = value
    while len(kept) > most:
        kept.popitem(last=False)


def _digest(request: Request) -> bytes:
    """What makes the engine do the same work again: not the id, the priority or the deadline."""
    content = replace(request, id="", priority=0, deadline=None, cache_salt="")
    return hashlib.blake2b(encode(Submit(content)), digest_size=16).digest()
