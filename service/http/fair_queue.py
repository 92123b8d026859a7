"""Turns at the engine, shared fairly by the tenants of one server.

Does: let so many generations at once reach the engine, and choose the next tenant in turn. Does not: look at requests,
or order them within the engine: its queue stays short because the waiting ones wait here.

The next turn is that of the waiting tenant that was served least: each tenant has a counter of the tokens that it was
served, divided by its weight (the Virtual Token Counter of Sheng et al., OSDI 2024). A turn is charged by an estimate,
and corrected by the tokens that were used. A tenant that comes back after a pause starts at the least counter of the
others, so that idle time earns nothing. The last eighth of the places is kept for tenants that hold less than an equal
share and are not ahead of the others; a tenant that sends little therefore finds a place at once, however many requests
another one has sent.
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

AGEING_S = 10.0
"""Seconds of waiting that outweigh one step of priority, within a tenant; as `EngineConfig.ageing_s`."""

OUTPUT_WEIGHT = 2
"""An output token costs as much as two prompt tokens."""

_FIRST_GUESS = 64.0
_SMOOTHING = 0.1
_FEW_SHARES = 64


@dataclass(slots=True)
class Turn:
    """One generation at the engine: its caller sets what it used. `waited_s` is the time in the queue, in seconds."""

    waited_s: float = 0.0
    prompt: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True, order=True)
class _Waiting:
    """A generation that waits. `granted` is done when it has its turn; `cost` is what the turn is charged."""

    rank: tuple[float, int]
    granted: asyncio.Future[None] = field(compare=False)
    cost: float = field(compare=False)


@dataclass(slots=True)
class _Share:
    """What one tenant holds, waits for and was served. The first of the heap `waiting` is next."""

    served: float = 0.0
    held: int = 0
    output: float = _FIRST_GUESS
    waiting: list[_Waiting] = field(default_factory=list)

    @property
    def is_idle(self) -> bool:
        return not self.held and not self.waiting


class FairQueue:
    """The turns of one process. `places` is the number of generations at the engine at once."""

    def __init__(self, places: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._places = places
        self._kept = places // 8
        self._clock = clock
        self._shares: dict[str, _Share] = {}
        self._most_shares = _FEW_SHARES
        self._held = 0
        self._floor = 0.0
        self._order = itertools.count()

    @property
    def waiting(self) -> int:
        """The number of generations that wait for a turn."""
        return sum(len(share.waiting) for share in self._shares.values())

    @property
    def held(self) -> int:
        """The number of generations at the engine."""
        return self._held

    @asynccontextmanager
    async def turn(
        self, tenant: str, *, weight: float = 1.0, prompt: int, priority: int = 0
    ) -> AsyncIterator[Turn]:
        """Wait for a turn and hold it for the duration of the context.

        Within a tenant, a smaller `priority` goes first, as in the engine. `prompt` is the number of prompt tokens.
        """
        share = self._enter(tenant)
        began = self._clock()
        cost = (prompt + OUTPUT_WEIGHT * share.output) / weight
        if share.waiting or not self._may_hold(share, cost):
            await self._wait(share, began + priority * AGEING_S, cost)
        else:
            self._grant(share, cost)
        turn = Turn(self._clock() - began)
        try:
            yield turn
        finally:
            share.served += (turn.prompt + OUTPUT_WEIGHT * turn.output) / weight - cost
            share.output += _SMOOTHING * (turn.output - share.output)
            self._release(share)

    def _enter(self, tenant: str) -> _Share:
        share = self._shares.get(tenant)
        if share is None:
            if len(self._shares) >= self._most_shares:
                self._forget_idle()
            share = self._shares[tenant] = _Share(served=self._floor)
        elif share.is_idle:
            share.served = max(share.served, self._floor)
        return share

    async def _wait(self, share: _Share, rank: float, cost: float) -> None:
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = _Waiting((rank, next(self._order)), granted, cost)
        heapq.heappush(share.waiting, entry)
        try:
            await granted
        except asyncio.CancelledError:
            if not granted.cancelled():
                self._release(share)  # the turn came together with the cancellation
            elif entry in share.waiting:
                share.waiting.remove(entry)
                heapq.heapify(share.waiting)
            raise

    def _may_hold(self, share: _Share, cost: float) -> bool:
        """Whether a tenant may hold one more place now, for a turn of that cost."""
        if self._held < self._places - self._kept:
            return True
        # A tenant that is ahead of the others has no claim to the last places, even if it holds few.
        if self._held >= self._places or share.served > self._least(share) + self._kept * cost:
            return False
        active = sum(1 for other in self._shares.values() if not other.is_idle or other is share)
        return share.held < self._places // (active + 1)

    def _least(self, share: _Share) -> float:
        """The least counter of this share and of those that wait."""
        waiting = (other.served for other in self._shares.values() if other.waiting)
        return min(share.served, min(waiting, default=share.served))

    def _grant(self, share: _Share, cost: float) -> None:
        share.held += 1
        self._held += 1
        self._floor = max(self._floor, self._least(share))
        share.served += cost

    def _release(self, share: _Share) -> None:
        share.held -= 1
        self._held -= 1
        while (chosen := self._next()) is not None:
            entry = heapq.heappop(chosen.waiting)
            if not entry.granted.cancelled():
                self._grant(chosen, entry.cost)
                entry.granted.set_result(None)

    def _next(self) -> _Share | None:
        """The share that has the next turn; None if none may hold another place."""
        able = (
            share
            for share in self._shares.values()
            if share.waiting and self._may_hold(share, share.waiting[0].cost)
        )
        return min(able, key=lambda share: share.served, default=None)

    def _forget_idle(self) -> None:
        """Remove the shares that would start at the floor anyway, so that tenants that left take no memory."""
        self._shares = {
            tenant: share
            for tenant, share in self._shares.items()
            if not share.is_idle or share.served > self._floor
        }
        self._most_shares = 2 * len(self._shares) + _FEW_SHARES
