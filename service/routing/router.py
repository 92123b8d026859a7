"""The engines of a service as one backend: each request goes to one engine, and to another if that one dies.

Does: choose an engine for each request (`affinity`), after its prompt was computed by an engine for prompts where there
are such (`prefill_stage`); send a request again that was lost with its engine; continue its stream where it ended
(`replay`), or end it with a retryable error; hold requests while no engine is ready. Does not: start or watch engines,
judge suspicious requests, or queue by tenant.

A request that samples without a seed gets one here, so that its second attempt gives the answer of its first.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from secrets import randbits
from typing import Final, Protocol

from intaglio.engine.api import (
    BlockReport,
    Delta,
    EngineInfo,
    EngineLost,
    EngineState,
    EngineStopped,
    Finish,
    Request,
    Usage,
)

from .affinity import chosen, prefix_key
from .engine_view import EngineView, RoutedEngine
from .patience import Patience
from .prefill_stage import Prefilled, PrefillStage
from .replay import DifferentAnswer, Replay
from .totals import blocks_of

_RETRY_S: Final = 0.01  # before a request that an engine has just refused is offered again


class EngineGroup(Protocol):
    """All engines of a service; `intaglio.engine.api.Engines` implements it."""

    @property
    def attachments(self) -> Sequence[RoutedEngine]:
        """The engines."""
        ...

    async def start(self) -> None:
        """Start or find the engines; returns at once."""
        ...

    async def restart(self) -> None:
        """Restart all engines, one after the other."""
        ...

    async def close(self) -> None:
        """End the engines, or leave them to their owner."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingPolicy:
    """`wait_s`: seconds that a request waits for an engine, in all. `resends`: how often it is sent again."""

    wait_s: float = 60.0
    resends: int = 2


class EngineRouter(EngineView):
    """A backend over a group of engines. For one event loop; call `start` first."""

    def __init__(self, group: EngineGroup, policy: RoutingPolicy | None = None) -> None:
        super().__init__(group.attachments)
        self._group = group
        self._policy = policy or RoutingPolicy()
        self._loads = dict.fromkeys(range(len(self._engines)), 0)
        self._prefill = PrefillStage(self._engines)
        self._changed = asyncio.Event()
        for engine in self._engines:
            engine.on_state_change(self._wake)

    async def start(self) -> None:
        """Start the engines; returns before their models are loaded."""
        await self._group.start()

    async def until_ready(self) -> EngineInfo:
        """Wait until an engine accepts requests.

        Raises:
            ModelError: no engine can start.
            EngineStopped: the engines were closed.
        """
        while self.state is not EngineState.READY:
            if self.fault is not None:
                raise self.fault
            if self.state is EngineState.CLOSED:
                raise _stopped("the engines are closed")
            await self._changed.wait()
        assert self.info is not None
        return self.info

    async def generate(
        self, request: Request, *, whole: bool = False
    ) -> AsyncGenerator[Delta, None]:
        """Stream the deltas of one request, with `whole` as one. Closing the generator early aborts the request.

        Raises:
            RequestQuarantined: engines died too often while they computed this request.
            EngineLost: the engine died too often, or its stream cannot be continued.
            EngineStopped: no engine became ready in time.
        """
        request, began, sent = _seeded(request), time.monotonic(), 0
        patience, replay = Patience(self._policy.wait_s), Replay()
        while True:
            try:
                prompt = await self._prompted(patience, request, began)
                if prompt is None:
                    yield _deadline_passed(request)
                    return
                index = self._choose(request)
                with self._counted(index, request):
                    engine, left = self._engines[index], _left(prompt.request, began)
                    async with aclosing(engine.generate(left, whole=whole)) as deltas:
                        async for delta in deltas:
                            if (fresh := replay.unseen(delta)) is not None:
                                yield prompt.counted(fresh)
                return
            except DifferentAnswer:
                raise _broken_off() from None
            except EngineLost:
                sent += 1
                self._engines[0].refuse_if_quarantined(request)
                if sent > self._policy.resends:
                    raise
            except EngineStopped:
                if patience.is_over or self.state is EngineState.CLOSED:
                    raise
                await patience.spend(asyncio.sleep(_RETRY_S))
            replay.restart()

    async def check(self) -> BlockReport:
        """Check the invariants of all engines and report their blocks."""
        return blocks_of(await asyncio.gather(*(engine.check() for engine in self._engines)))

    async def restart(self) -> None:
        """Restart all engines, one after the other, each after its open requests."""
        await self._group.restart()

    async def close(self) -> None:
        """End every request in flight, and the engines where they belong to this process."""
        await self._group.close()

    async def _prompted(
        self, patience: Patience, request: Request, began: float
    ) -> Prefilled | None:
        """The request for an engine that is ready, after its prompt; None if its deadline passes first.

        Raises:
            EngineStopped: no engine became ready in time, or none will.
        """
        if not await self._wait(patience, request, began):
            return None
        prompt = await self._prefill.run(request, _left(request, began).deadline)
        return prompt if await self._wait(patience, request, began) else None

    def _choose(self, request: Request) -> int:
        ready = self._ready()
        ready = [index for index in ready if not self._prefill.address(index)] or ready
        if len(ready) == 1:
            return ready[0]
        loads = {index: self._loads[index] for index in ready}
        return chosen(prefix_key(request), loads, _cost(request))

    @contextmanager
    def _counted(self, index: int, request: Request) -> Iterator[None]:
        """Count a request among the load of an engine."""
        self._loads[index] += _cost(request)
        try:
            yield
        finally:
            self._loads[index] -= _cost(request)

    def _ready(self) -> list[int]:
        """The engines that accept requests."""
        return [i for i, one in enumerate(self._engines) if one.state is EngineState.READY]

    async def _wait(self, patience: Patience, request: Request, began: float) -> bool:
        """Wait until an engine is ready; False if the request's deadline passes first.

        Raises:
            EngineStopped: no engine became ready in time, or none will.
        """
        while not self._ready():
            if self.fault is not None or self.state is EngineState.CLOSED:
                patience.end()
                raise _stopped(f"the engine is not ready: {self.state}")
            if patience.is_over:
                raise _stopped(f"no engine became ready within {self._policy.wait_s:g} s")
            left = _left(request, began).deadline
            if left is not None and left <= 0:
                return False
            await patience.spend(self._changed.wait(), left)
        left = _left(request, began).deadline
        return left is None or left > 0

    def _wake(self) -> None:
        """Wake the requests that wait for an engine."""
        self._changed.set()
        self._changed = asyncio.Event()


def _seeded(request: Request) -> Request:
    """The request with a seed, if it samples without one."""
    sampling = request.sampling
    if sampling.seed is not None or sampling.temperature == 0:
        return request
    return replace(request, sampling=replace(sampling, seed=randbits(63)))


def _cost(request: Request) -> int:
    """The tokens that a request may have in an engine."""
    return len(request.prompt) + request.sampling.max_tokens


def _left(request: Request, began: float) -> Request:
    """The request with the rest of its deadline."""
    if request.deadline is None:
        return request
    return replace(request, deadline=request.deadline - (time.monotonic() - began))


def _deadline_passed(request: Request) -> Delta:
    """The only delta of a request that found no engine before its deadline."""
    usage = Usage(prompt_tokens=len(request.prompt), output_tokens=0)
    return Delta(request_id=request.id, finish=Finish.DEADLINE, usage=usage)


def _broken_off() -> EngineLost:
    return EngineLost(
        "the engine died in the middle of this stream, which cannot be continued",
        hint="send the request again",
    )


def _stopped(reason: str) -> EngineStopped:
    return EngineStopped(reason, hint="try again in a few seconds")
