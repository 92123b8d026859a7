"""Extractions as server-sent events, and from several texts at once, over a scripted engine."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.api import Watch
from intaglio.schemas.extraction.extract_events import ExtractEvent, ExtractResults
from intaglio.schemas.problem import Code

from tests.support.events import Event, events
from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": ["integer", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
ADA = '{"name":"Ada","age":36,"tags":["é",""]}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Live]:
    watch = Watch(backoff_s=0.05, silence_s=600.0)
    with live(launch(), folder, watch=watch) as running:
        yield running


@pytest.fixture(autouse=True)
def ready(service: Live) -> None:
    until(lambda: service.http.get("/ready").status_code == 200)


def streamed(service: Live, **body: Any) -> list[Event]:
    """The events of a request, each of the type that its name says."""
    body = {"schema": PERSON, "stream": True, **body}
    with service.http.stream("POST", "/v1/extract", json=body) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        assert "x-request-id" in response.headers
        found = events(response.iter_lines())
    for event in found:
        ExtractEvent.model_validate(event.data, strict=False)
        assert event.data["type"] == event.name
    return found


def settled(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what differs from run to run."""
    return {name: value for name, value in result.items() if name not in ("id", "timings")}


def test_fields_come_in_order_and_the_whole_at_the_end(service: Live) -> None:
    found = streamed(service, text=f"<<echo {ADA}>>")
    told = [(event.name, event.data.get("pointer"), event.data.get("value")) for event in found]
    assert told[:-2] == [
        ("field.started", "", None),
        ("field.started", "/name", None),
        ("field.completed", "/name", "Ada"),
        ("field.started", "/age", None),
        ("field.completed", "/age", 36),
        ("field.started", "/tags", None),
        ("field.started", "/tags/0", None),
        ("field.completed", "/tags/0", "é"),
        ("field.started", "/tags/1", None),
        ("field.completed", "/tags/1", ""),
        ("field.completed", "/tags", ["é", ""]),
    ]
    assert [event.name for event in found[-2:]] == ["object.completed", "usage"]
    result, usage = found[-2].data["result"], found[-1].data
    assert result["data"] == json.loads(ADA)
    assert usage["usage"]["output_tokens"] == len(ADA.encode()) == result["usage"]["output_tokens"]
    assert (usage["completed"], usage["failed"]) == (1, 0)
    assert "index" not in usage
    assert service.settled().clean


def test_streamed_and_unstreamed_are_equal(service: Live) -> None:
    rng = random.Random(7)
    for _ in range(20):
        data = {"name": "".join(rng.choices('aé"\\\n😀 ', k=rng.randrange(8)))}
        text = f"<<echo {json.dumps(data, ensure_ascii=rng.random() < 0.5)}>>"
        whole = service.extract(PERSON, text).json()
        (completed,) = [
            event for event in streamed(service, text=text) if event.name == "object.completed"
        ]
        assert settled(completed.data["result"]) == settled(whole)


def test_an_error_before_the_first_event_has_its_status(service: Live) -> None:
    cases: list[tuple[dict[str, Any], int, Code]] = [
        ({"text": "a", "schema": {"type": "nothing"}}, 400, Code.INVALID_SCHEMA),
        ({"text": "<<fail context_length_exceeded>>"}, 400, Code.CONTEXT_LENGTH_EXCEEDED),
        ({"text": "<<late>>", "options": {"deadline_s": 9}}, 504, Code.DEADLINE_EXCEEDED),
    ]
    for given, status, code in cases:
        body = {"schema": PERSON, "stream": True, **given}
        response = service.http.post("/v1/extract", json=body)
        assert response.status_code == status, response.text
        assert response.json()["error"]["code"] == code


def test_a_stream_that_cannot_be_completed_ends_with_an_error_event(service: Live) -> None:
    found = streamed(service, text=f"<<echo {ADA}>>", options={"max_tokens": 12})
    assert [event.name for event in found] == ["field.started", "field.started", "error"]
    error = found[-1].data["error"]
    assert (error["code"], error["retryable"]) == (Code.INCOMPLETE, True)
    assert error["request_id"]
    found = streamed(service, text='<<echo {"name":5}>>')
    assert [event.name for event in found][1:] == ["field.started", "field.completed", "error"]
    assert found[-1].data["error"]["code"] == Code.INVALID_OUTPUT


def test_a_stream_goes_on_after_its_engine_has_died(service: Live) -> None:
    """The same seed gives the same tokens: those that were delivered are skipped."""
    body = {"schema": PERSON, "stream": True, "text": '<<slow {"name":"a","age":1}>>' + "x" * 9}
    with service.http.stream("POST", "/v1/extract", json=body) as response:
        lines, read = response.iter_lines(), []
        for line in lines:
            read.append(line)
            if line.startswith("event: field.completed"):
                break
        assert service.extract(PERSON, "<<die>>").status_code in (422, 503)
        found = events([*read, *lines])
    (whole,) = [event for event in found if event.name == "object.completed"]
    assert whole.data["result"]["data"] == {"name": "a", "age": 1}
    fields = [event.data["pointer"] for event in found if event.name == "field.completed"]
    assert fields == ["/name", "/age"]


def test_a_client_that_leaves_frees_the_engine(service: Live) -> None:
    body = {"schema": PERSON, "stream": True, "text": '<<slow {"name":"' + "a" * 2000 + '"}>>'}
    with service.http.stream("POST", "/v1/extract", json=body) as response:
        next(response.iter_lines())
    assert service.settled().clean


def test_several_texts_have_one_outcome_each_in_their_order(service: Live) -> None:
    texts = [f'<<echo {{"name":"{n}"}}>>' for n in range(150)]
    texts[3], texts[70], texts[149] = "<<fail internal_error>>", '<<echo {"name":0}>>', " \n"
    response = service.http.post("/v1/extract", json={"schema": PERSON, "texts": texts})
    assert response.status_code == 200
    found = ExtractResults.model_validate_json(response.content, strict=False)
    assert [outcome.index for outcome in found.outcomes] == list(range(150))
    for outcome in found.outcomes:
        if outcome.index in (3, 70, 149):
            assert outcome.result is None
            assert outcome.error is not None
        else:
            assert outcome.error is None
            assert outcome.result is not None
            assert outcome.result.data == {"name": str(outcome.index)}
    assert (found.completed, found.failed) == (147, 3)
    blank = found.outcomes[149].error
    assert blank is not None
    assert (blank.code, blank.details[0].pointer) == (Code.INVALID_REQUEST, "/texts/149")
    assert found.usage.output_tokens == sum(
        outcome.result.usage.output_tokens for outcome in found.outcomes if outcome.result
    )
    assert service.settled().clean


def test_several_texts_are_streamed_with_their_index(service: Live) -> None:
    texts = [f'<<echo {{"name":"{n}"}}>>' for n in range(100)]
    texts[5] = "<<fail internal_error>>"
    found = streamed(service, texts=texts)
    for index in range(100):
        own = [event for event in found if event.data.get("index") == index]
        names = [event.name for event in own]
        if index == 5:
            assert names == ["error"]
        else:
            assert names == [*["field.started"] * 2, "field.completed", "object.completed"]
            assert own[-1].data["result"]["data"] == {"name": str(index)}
    assert found[-1].name == "usage"
    assert (found[-1].data["completed"], found[-1].data["failed"]) == (99, 1)
    assert len(found) == 99 * 4 + 2


def test_what_all_texts_share_is_refused_as_a_whole(service: Live) -> None:
    body = {"schema": {"type": "nothing"}, "texts": ["a", "b"]}
    for stream in (False, True):
        response = service.http.post("/v1/extract", json={**body, "stream": stream})
        assert response.status_code == 400
        assert response.json()["error"]["code"] == Code.INVALID_SCHEMA


def test_an_engine_that_dies_fails_the_texts_it_had(service: Live) -> None:
    texts = ['<<slow {"name":"a"}>>', "<<die>> of the second text"]
    response = service.http.post("/v1/extract", json={"schema": PERSON, "texts": texts})
    assert response.status_code == 200
    first, second = response.json()["outcomes"]
    assert second["error"]["code"] in (Code.ENGINE_LOST, Code.REQUEST_QUARANTINED)
    # Nothing of the first was delivered: it is lost with the engine, or was sent again.
    assert first["result"] or first["error"]["retryable"]
