"""Generations are timed and counted for every handler and every kind of end."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field

from intaglio.engine.api import Cut, CutReason, Delta, Finish, Usage
from intaglio.service.http.observed_backend import ObservedBackend
from intaglio.service.observability.generations import (
    Generation,
    GenerationWatch,
    current_route,
    serving,
)
from intaglio.service.observability.request_metrics import RequestMetrics
from prometheus_client import CollectorRegistry

from tests.support.backend_double import BackendDouble, request


@dataclass
class Seen:
    """Keeps what it is told."""

    gaps: list[tuple[str, float]] = field(default_factory=list)
    ended: list[Generation] = field(default_factory=list)

    def tokens_followed(self, route: str, seconds: float) -> None:
        self.gaps.append((route, seconds))

    def generation_ended(self, generation: Generation) -> None:
        self.ended.append(generation)


def test_a_streamed_generation_is_told_of_with_its_gaps() -> None:
    async def run() -> Seen:
        seen = Seen()
        backend = ObservedBackend(BackendDouble(output=4), [seen])
        with serving("/v1/extract"):
            deltas = [delta async for delta in backend.generate(request("a", prompt=9))]
        assert len(deltas) == 4
        return seen

    seen = asyncio.run(run())
    (generation,) = seen.ended
    assert (generation.route, generation.model) == ("/v1/extract", "double")
    assert (generation.prompt_tokens, generation.output_tokens) == (9, 4)
    assert generation.finish is Finish.STOP
    assert generation.first_token_s is not None
    assert [route for route, _ in seen.gaps] == ["/v1/extract"] * 3


def test_a_generation_that_its_reader_leaves_is_told_of_as_unended() -> None:
    async def run() -> tuple[Seen, list[str]]:
        seen, engine = Seen(), BackendDouble(output=9)
        backend = ObservedBackend(engine, [seen])
        async with aclosing(backend.generate(request("a"))) as deltas:
            await anext(deltas)
        return seen, engine.ended

    seen, aborted = asyncio.run(run())
    (generation,) = seen.ended
    assert (generation.finish, generation.usage, generation.output_tokens) == (None, None, 1)
    assert aborted == ["a"], "the engine was not told"


def test_the_times_of_an_answer_in_one_piece_are_those_of_the_engine() -> None:
    seen = Seen()
    watch = GenerationWatch([seen], "m", 5)
    usage = Usage(5, 3, queue_s=0.5, prefill_s=0.25, decode_s=4.0)
    watch.add(Delta(request_id="a", tokens=(1, 2, 3), finish=Finish.STOP, usage=usage))
    watch.end()
    (generation,) = seen.ended
    assert generation.first_token_s == 0.75
    assert generation.seconds_per_token == 2.0
    assert seen.gaps == []


def test_a_single_token_has_no_time_per_token() -> None:
    seen = Seen()
    watch = GenerationWatch([seen], "m", 5)
    watch.add(Delta(request_id="a", tokens=(1,), finish=Finish.STOP, usage=Usage(5, 1)))
    watch.end()
    assert seen.ended[0].seconds_per_token is None


def test_tasks_inherit_the_route() -> None:
    async def inner() -> str:
        return current_route()

    async def run() -> tuple[str, str]:
        with serving("/v1/jobs"):
            task = asyncio.create_task(inner())
        return await task, current_route()

    assert asyncio.run(run()) == ("/v1/jobs", "other")


def test_counters_have_what_happened_by_route() -> None:
    registry = CollectorRegistry()
    metrics = RequestMetrics(registry)
    cut = Cut(CutReason.BUDGET, 0, 1)
    usage = Usage(5, 3, queue_s=0.5, prefill_s=0.25, decode_s=4.0, cuts=(cut, cut))
    with serving("/v1/a"):
        watch = GenerationWatch([metrics], "m", 5)
        watch.add(Delta(request_id="a", tokens=(1, 2, 3), finish=Finish.STOP, usage=usage))
        watch.end()
        left = GenerationWatch([metrics], "m", 7)
        left.end()
    metrics.answered("/v1/a", "ok", 1.0)
    metrics.in_hand(3)

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"intaglio_{name}", labels)

    route = {"route": "/v1/a"}
    assert value("generations_total", **route, finish="stop") == 1
    assert value("generations_total", **route, finish="abandoned") == 1
    assert value("request_prompt_tokens_sum", **route) == 12
    assert value("request_output_tokens_sum", **route) == 3
    assert value("time_to_first_token_seconds_sum", **route) == 0.75
    assert value("time_to_first_token_seconds_count", **route) == 1
    assert value("time_per_output_token_seconds_sum", **route) == 2.0
    assert value("request_queue_seconds_sum", **route) == 0.5
    assert value("request_decode_seconds_sum", **route) == 4.0
    assert value("output_cuts_total", reason="budget_forced") == 2
    assert value("requests_total", **route, outcome="ok") == 1
    assert value("requests_in_hand") == 3
