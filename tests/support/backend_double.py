"""A backend without a process, which serves a bounded number of requests at once and records all of them."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

from intaglio.engine.api import (
    BlockReport,
    Delta,
    EngineInfo,
    EngineState,
    EngineStatus,
    Finish,
    Lives,
    ModelError,
    Request,
    SamplingParams,
    Snapshot,
    Usage,
)
from intaglio.grammar.api import CacheStats

from tests.support.modelless_engine import engine_info

INFO = engine_info()


def request(name: str, prompt: int = 4, max_tokens: int = 4) -> Request:
    """A request of so many tokens."""
    return Request(id=name, prompt=(7,) * prompt, sampling=SamplingParams(max_tokens=max_tokens))


@dataclass
class BackendDouble:
    """Serves `places` requests at once, first come, first served; each writes `output` tokens, one in `pace_s`."""

    places: int = 8
    output: int = 4
    pace_s: float = 0.0
    requests: list[Request] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    state: EngineState = EngineState.READY
    info: EngineInfo | None = INFO
    fault: ModelError | None = None
    metrics: Snapshot | None = None
    grammars: CacheStats | None = None

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.places)

    @property
    def lives(self) -> Lives:
        return Lives()

    @property
    def engines(self) -> tuple[EngineStatus, ...]:
        return (
            EngineStatus(
                index=0,
                state=self.state,
                info=self.info,
                metrics=self.metrics,
                grammars=self.grammars,
            ),
        )

    def on_lives_change(self, call: Callable[[Lives], None]) -> None:
        return

    async def start(self) -> None:
        return

    async def until_ready(self) -> EngineInfo:
        return INFO

    async def generate(
        self, request: Request, *, whole: bool = False
    ) -> AsyncGenerator[Delta, None]:
        self.requests.append(request)
        try:
            async with self._free:
                for position in range(self.output):
                    await asyncio.sleep(self.pace_s)
                    last = position + 1 == self.output
                    yield Delta(
                        request_id=request.id,
                        tokens=(65,),
                        finish=Finish.STOP if last else None,
                        usage=Usage(len(request.prompt), self.output) if last else None,
                    )
        finally:
            self.ended.append(request.id)

    async def check(self) -> BlockReport:
        return BlockReport(free=INFO.blocks, used=0, open_requests=0)

    async def restart(self) -> None:
        return

    async def close(self) -> None:
        return
