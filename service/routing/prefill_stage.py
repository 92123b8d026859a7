"""Prefill and decode apart: some engines compute the prompts of requests, and the others continue from their blocks.

Does: have the prompt of a request computed by an engine for prompts, and tell the next engine where its blocks are.
Does not: move blocks (`engine/memory/peer_tier`), or choose the engine that continues (`router`).

A prompt that cannot be computed here is not an error: the engine that continues computes it as well. So the loss of an
engine for prompts costs time only.
"""

from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from typing import Final

import msgspec
from intaglio.engine.api import (
    Delta,
    EngineLost,
    EngineState,
    EngineStopped,
    Finish,
    Request,
    SamplingParams,
    Usage,
)

from .affinity import chosen, prefix_key
from .engine_view import RoutedEngine

LEAST_TOKENS: Final = 128
"""Shorter prompts are computed where they are continued: that takes less time than another hop."""

_PROMPT_ONLY: Final = SamplingParams(max_tokens=1, temperature=0)


@dataclass(frozen=True, slots=True)
class Prefilled:
    """A request after its prompt was computed, at the cost of `usage`; without, the next engine computes it."""

    request: Request
    usage: Usage | None = None

    def counted(self, delta: Delta) -> Delta:
        """A delta with the whole cost of the prompt in its usage, rather than that of fetching it."""
        if delta.usage is None or self.usage is None:
            return delta
        usage = replace(
            delta.usage,
            cached_tokens=self.usage.cached_tokens,
            queue_s=self.usage.queue_s + delta.usage.queue_s,
            prefill_s=self.usage.prefill_s + delta.usage.prefill_s,
        )
        return msgspec.structs.replace(delta, usage=usage)


class PrefillStage:
    """The engines of a group that compute prompts for others, if it has any."""

    def __init__(self, engines: Sequence[RoutedEngine]) -> None:
        self._engines = engines
        self._loads = dict.fromkeys(range(len(engines)), 0)

    def address(self, index: int) -> str:
        """Where an engine gives away the blocks of prompts; "" if it does not."""
        info = self._engines[index].status.info
        return "" if info is None else info.kv_address

    async def run(self, request: Request, deadline: float | None) -> Prefilled:
        """Have the prompt of a request computed within `deadline` seconds, if an engine for prompts is ready."""
        ready = [
            index
            for index, engine in enumerate(self._engines)
            if engine.state is EngineState.READY and self.address(index)
        ]
        if not ready or len(request.prompt) < LEAST_TOKENS:
            return Prefilled(request)
        loads = {index: self._loads[index] for index in ready}
        index = chosen(prefix_key(request), loads, len(request.prompt))
        address = self.address(index)
        with self._counted(index, len(request.prompt)):
            usage = await self._compute(self._engines[index], replace(request, deadline=deadline))
        if usage is None:
            return Prefilled(request)
        return Prefilled(replace(request, kv_peer=address), usage)

    async def _compute(self, engine: RoutedEngine, request: Request) -> Usage | None:
        """The usage of a request for the prompt alone; None if it was not computed."""
        prompt = replace(
            request, sampling=_PROMPT_ONLY, constraint=None, limits=None, draft=(), exports=True
        )
        try:
            async with aclosing(engine.generate(prompt, whole=True)) as deltas:
                async for delta in deltas:
                    if delta.finish in (Finish.STOP, Finish.LENGTH):
                        return delta.usage
        except (EngineLost, EngineStopped):
            pass
        return None

    @contextmanager
    def _counted(self, index: int, tokens: int) -> Iterator[None]:
        """Count a prompt among the load of an engine."""
        self._loads[index] += tokens
        try:
            yield
        finally:
            self._loads[index] -= tokens
