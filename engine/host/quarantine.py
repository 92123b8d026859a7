"""Quarantine of requests in flight when an engine's process died: alone after two deaths, refused after a third.

Does: identify requests by content, count the deaths at which each was in flight, decide which requests may run only one
at a time and which are refused. Does not: detect deaths, hold requests back (`engine/host/engine_link.py`).

A first death says little: most processes that die are killed from outside, with all their requests, which may run again
together. Of the requests in flight at two deaths at most one runs at a time, so that a third death identifies the
cause.

It keeps a digest and some numbers for each request, for `MOST` suspects and as many refused requests; the least
recently seen ones are forgotten first, and all of them when the service stops.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, TypeVar

from ..types import Request
from .messages import Submit, encode
from .status import Isolation

MOST: Final = 4096
FREE_DEATHS: Final = 1  # after more deaths than this, a request runs alone
MOST_DEATHS: Final = 3  # after this many deaths, a request is refused

V = TypeVar("V")
Process = tuple[int, int]
"""The index of an engine and the number of its process."""


class Quarantine:
    """The suspects and refused requests of one owner of engines."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._suspects: OrderedDict[bytes, tuple[Process, ...]] = OrderedDict()
        self._refused: OrderedDict[bytes, None] = OrderedDict()

    @property
    def suspects(self) -> int:
        """The number of requests that were in flight at a death, and are not refused."""
        return len(self._suspects)

    @property
    def isolation(self) -> Isolation:
        """The requests that may run only one at a time, and those that are refused."""
        alone = [name for name, seen in self._suspects.items() if len(seen) > FREE_DEATHS]
        return Isolation(tuple(alone), tuple(self._refused))

    def lost(self, names: Iterable[bytes], process: Process) -> bool:
        """Record the digests of requests that were in flight when a process died; whether that changes `isolation`.

        Equal ones count as one.
        """
        before = self.isolation
        for name in names:
            if name in self._refused:
                continue
            seen = self._suspects.pop(name, ())
            if process not in seen:
                seen = (*seen, process)
            if len(seen) < MOST_DEATHS:
                _remember(self._suspects, name, seen, self._most)
            else:
                _remember(self._refused, name, None, self._most)
        return self.isolation != before

    def survived(self, name: bytes) -> bool:
        """Clear a request that ended while its engine kept running; whether that changes `isolation`."""
        return len(self._suspects.pop(name, ())) > FREE_DEATHS


def _remember(kept: OrderedDict[bytes, V], name: bytes, value: V, most: int) -> None:
    kept[name] = value
    while len(kept) > most:
        kept.popitem(last=False)


def digest(request: Request) -> bytes:
    """The digest of the content that determines the engine's work: not of id, order of service, salt and seed."""
    content = replace(
        request,
        id="",
        priority=0,
        deadline=None,
        tenant="",
        weight=1.0,
        bulk=False,
        cache_salt="",
        sampling=replace(request.sampling, seed=None),
    )
    return hashlib.blake2b(encode(Submit(content)), digest_size=16).digest()
