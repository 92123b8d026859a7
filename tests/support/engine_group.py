"""Scripted engines without processes, for tests of the layers above them.

A request is answered with one token, the number of the engine, unless the engine has been told otherwise.
"""

from collections.abc import AsyncGenerator, Callable

import msgspec
from intaglio.engine.api import (
    BlockReport,
    Delta,
    EngineState,
    EngineStatus,
    Finish,
    Lives,
    Request,
    RequestQuarantined,
    Usage,
)
from intaglio.engine.host.messages import Unusable

from tests.support.modelless_engine import engine_info

INFO = engine_info(blocks=64)

Behaviour = Callable[[Request, bool], AsyncGenerator[Delta, None]]


def end(request: Request, *tokens: int, finish: Finish = Finish.STOP) -> Delta:
    """The last delta of a request."""
    usage = Usage(prompt_tokens=len(request.prompt), output_tokens=len(tokens))
    return Delta(request_id=request.id, tokens=tokens, finish=finish, usage=usage)


class EngineDouble:
    """One engine, which runs `behaviour` for each request and remembers all of them."""

    def __init__(self, index: int, state: EngineState = EngineState.READY) -> None:
        self.index = index
        self.state = state
        self.requests: list[Request] = []
        self.quarantined: set[str] = set()
        self.behaviour: Behaviour = self._answer
        self.kv_address = ""
        self._on_move: Callable[[], None] = lambda: None

    @property
    def status(self) -> EngineStatus:
        fault = Unusable("as told", "") if self.state is EngineState.UNUSABLE else None
        info = msgspec.structs.replace(INFO, kv_address=self.kv_address)
        return EngineStatus(index=self.index, state=self.state, info=info, fault=fault)

    @property
    def lives(self) -> Lives:
        return Lives(pid=self.index + 1)

    def on_state_change(self, call: Callable[[], None]) -> None:
        self._on_move = call

    def on_lives_change(self, call: Callable[[Lives], None]) -> None:
        return

    def move(self, state: EngineState) -> None:
        """Change the state, as the engine's owner would."""
        self.state = state
        self._on_move()

    async def generate(
        self, request: Request, *, whole: bool = False
    ) -> AsyncGenerator[Delta, None]:
        self.requests.append(request)
        async for delta in self.behaviour(request, whole):
            yield delta

    async def _answer(self, request: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
        yield end(request, self.index)

    def refuse_if_quarantined(self, request: Request) -> None:
        if request.id in self.quarantined:
            raise RequestQuarantined("as told")

    async def check(self) -> BlockReport:
        return BlockReport(free=INFO.blocks, used=0, open_requests=0)


class GroupDouble:
    """A group of such engines."""

    def __init__(self, count: int, state: EngineState = EngineState.READY) -> None:
        self.attachments = tuple(EngineDouble(index, state) for index in range(count))
        self.restarts = 0

    async def start(self) -> None:
        return

    async def restart(self) -> None:
        self.restarts += 1

    async def close(self) -> None:
        for engine in self.attachments:
            engine.move(EngineState.CLOSED)
