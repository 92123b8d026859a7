"""The load generator against a scripted server of each protocol: its requests, and its reading of answers."""

import asyncio
import itertools
import json
from typing import Any

import pytest
from intaglio.service.bench.load_loops import run
from intaglio.service.bench.load_plan import LoadPlan
from intaglio.service.bench.load_summary import schema_check, summarise
from intaglio.service.bench.processes import LoadResult, run_load
from intaglio.service.bench.protocols import PROTOCOLS
from intaglio.service.bench.timed_request import TimedRequest
from intaglio.service.bench.workload import LoadTask

from tests.support.answering_server import AnsweringServer, answering

TASKS = (LoadTask({"type": "integer"}, "seven"), LoadTask({"type": "integer"}, "refuse"))


def loaded(serving: AnsweringServer, **changed: Any) -> tuple[LoadPlan, LoadResult]:
    given: dict[str, Any] = {"protocol": "extract", "requests": 6, "clients": 2, "max_tokens": 5}
    plan = LoadPlan(url=f"http://127.0.0.1:{serving.server_port}", **(given | changed))
    return plan, run_load(plan, TASKS, key="sesame")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_is_asked_and_read(protocol: str, stream: bool) -> None:
    with answering() as serving:
        plan, result = loaded(serving, protocol=protocol, stream=stream, model="m")
    summary = summarise(plan, TASKS, result, schema_check())
    assert (summary.succeeded, summary.valid) == (3, 3)
    assert summary.errors == {"429 overloaded": 3}
    assert (summary.prompt_tokens, summary.output_tokens) == (9, 2)
    assert (summary.first_token is not None) == stream
    assert (summary.between_tokens is not None) == stream
    assert serving.keys == {"Bearer sesame"}
    assert all(json.dumps(task.schema) in json.dumps(serving.bodies) for task in TASKS)


def test_several_processes_send_the_whole_plan_once() -> None:
    with answering() as serving:
        _, result = loaded(serving, requests=7, processes=3, warmup=1, unique=True)
    assert len(result.outcomes) == 7
    assert len(serving.bodies) == 7 + 3
    assert len({body["text"] for body in serving.bodies}) == 10


def test_an_open_loop_counts_from_the_arrivals() -> None:
    with answering() as serving:
        plan, result = loaded(serving, requests=5, rate=200.0)
    arrived = [outcome.at for outcome in result.outcomes]
    assert arrived == sorted(arrived)
    gaps = [after - before for before, after in itertools.pairwise(arrived)]
    planned = list(plan.arrivals())
    expected = [after - before for before, after in itertools.pairwise(planned)]
    assert gaps == pytest.approx(expected, abs=1e-6)


def test_a_server_that_is_not_there_is_an_outcome() -> None:
    with answering() as serving:
        port = serving.server_port
    plan = LoadPlan(url=f"http://127.0.0.1:{port}", protocol="extract", requests=2)
    outcomes: list[TimedRequest] = []
    asyncio.run(run(plan, TASKS, outcomes.append))
    assert [outcome.code for outcome in outcomes] == ["ConnectError", "ConnectError"]
