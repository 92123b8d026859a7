"""Extractions that are answered freely first: over HTTP, as a stream, in windows and offline."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.api import EngineStopped, Failure, Finish, Request, SamplingParams
from intaglio.grammar.api import Constraint, Kind
from intaglio.schemas.extraction.contract import Contract
from intaglio.service.client import BadRequest
from intaglio.service.errors import GenerationFailed, RequestDeadlineExceeded
from intaglio.service.extraction.engine_output import EngineOutput
from intaglio.service.extraction.extract import Prepared
from intaglio.service.extraction.free_reading import free_request, with_draft
from intaglio.service.offline.llm import LLM

from tests.support.deltas import byte_model
from tests.support.events import events
from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import Script, launch
from tests.support.tiny_checkpoint import LLAMA, QWEN3, write_checkpoint

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 6}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
ANSWER = '{"name":"Ada","age":36}'
TEXT = f"<<echo {ANSWER}>>"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder: Path = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    with live(launch(Script(draft_sources=("free",))), folder) as running:
        until(lambda: running.http.get("/ready").status_code == 200)
        yield running


def prepared(**sampling: Any) -> Prepared:
    request = Request(
        id="first",
        prompt=(1, 2),
        sampling=SamplingParams(logprobs=32, **sampling),
        constraint=Constraint(Kind.JSON_SCHEMA, "{}"),
    )
    return Prepared(request, {}, Contract(), started=float("inf"), free_tokens=50)


def output(text: str, finish: Finish = Finish.STOP, failure: Failure | None = None) -> EngineOutput:
    return EngineOutput(tokens=list(text.encode()), finish=finish, error=failure)


def test_the_free_request_draws_as_the_constrained_one_within_its_own_budget() -> None:
    free = free_request(prepared(max_tokens=200, temperature=1.0, seed=3))
    assert free is not None
    assert (free.prompt, free.constraint, free.sampling.logprobs) == ((1, 2), None, None)
    assert (free.sampling.seed, free.sampling.temperature) == (3, 1.0)
    assert free.sampling.max_tokens == 50
    short = free_request(prepared(max_tokens=20))
    assert short is not None
    assert short.sampling.max_tokens == 20, "the context has no more room"
    assert free_request(replace(prepared(), free_tokens=None)) is None


@pytest.mark.parametrize("finish", [Finish.STOP, Finish.LENGTH])
def test_the_constrained_request_differs_by_its_draft_only(finish: Finish) -> None:
    before = prepared()
    after = with_draft(before, output('So: {"a": 1', finish), byte_model())
    assert bytes(after.request.draft) == b'{"a":1'
    assert replace(after.request, draft=()) == before.request
    assert free_request(after) is None


def test_a_free_reading_that_failed_fails_the_request() -> None:
    failed = output("", Finish.ERROR, Failure("numerical_error", "a row of NaN"))
    with pytest.raises(GenerationFailed):
        with_draft(prepared(), failed, byte_model())
    with pytest.raises(EngineStopped):
        with_draft(prepared(), output("", Finish.ABORT), byte_model())
    late = prepared()
    late = replace(late, request=replace(late.request, deadline=2.0))
    with pytest.raises(RequestDeadlineExceeded, match="free reading"):
        with_draft(late, output("", Finish.DEADLINE), byte_model())
    with pytest.raises(RequestDeadlineExceeded, match="constrained reading"):
        with_draft(replace(prepared(), started=0.0, deadline_s=2.0), output("x"), byte_model())


@pytest.mark.parametrize("stream", [False, True])
def test_both_readings_count(service: Live, stream: bool) -> None:
    for draft in (False, True, True):  # the last one is a known form
        options = {"draft": draft}
        body = {"schema": PERSON, "text": TEXT, "options": options, "stream": stream}
        with service.http.stream("POST", "/v1/extract", json=body) as response:
            if stream:
                found = [event.data for event in events(response.iter_lines())]
                (result,) = [data["result"] for data in found if "result" in data]
            else:
                result = json.loads(response.read())
        assert result["data"] == {"name": "Ada", "age": 36}
        usage, once = result["usage"], len(ANSWER)
        assert usage["draft_tokens"] == (once if draft else 0)
        assert usage["output_tokens"] == (2 * once if draft else once)
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["output_tokens"]


def test_the_budget_of_the_free_reading_is_its_own(service: Live) -> None:
    answer = service.extract(PERSON, TEXT, options={"draft": True, "draft_max_tokens": 5}).json()
    assert answer["data"] == {"name": "Ada", "age": 36}
    assert answer["usage"]["draft_tokens"] == 5


def test_budget_without_draft_is_refused_and_chat_counts_the_draft(service: Live) -> None:
    answer = service.extract(PERSON, TEXT, options={"draft_max_tokens": 5})
    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["pointer"] == "/options"
    body: dict[str, Any] = {"messages": [{"role": "user", "content": TEXT}], "draft": True}
    answer = service.http.post("/v1/chat/completions", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "draft"
    form = {"type": "json_schema", "json_schema": {"name": "p", "schema": PERSON}}
    answer = service.http.post("/v1/chat/completions", json={**body, "response_format": form})
    found = answer.json()
    assert found["choices"][0]["message"]["content"] == ANSWER
    usage = found["usage"]
    assert usage["completion_tokens_details"]["draft_tokens"] == len(ANSWER)
    assert usage["completion_tokens"] == 2 * len(ANSWER)


def test_offline_the_answer_is_the_same_and_most_of_it_was_drafted(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "tiny", QWEN3)
    schema = {"type": "array", "items": {"enum": ["aa", "bb"]}, "minItems": 3, "maxItems": 3}
    with LLM(folder, num_blocks=256, drafts="free") as llm:
        for seed in range(4):
            plain = llm.extract(schema, "a b", temperature=1.0, seed=seed)
            drafted = llm.extract(
                schema, "a b", temperature=1.0, seed=seed, draft=True, draft_max_tokens=30
            )
            assert drafted.data == plain.data
            assert 0 < drafted.usage.draft_tokens <= 30
            assert drafted.usage.prompt_tokens == 2 * plain.usage.prompt_tokens
    with (
        LLM(folder, num_blocks=256, drafts="document") as llm,
        pytest.raises(BadRequest, match="follows no drafts"),
    ):
        llm.extract(schema, "a b", draft=True)
