"""Long documents over HTTP: one answer, a stream whose items come as windows end, several texts, errors."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.api import Watch
from intaglio.schemas.extraction.results import ExtractResult

from tests.support.events import Event, events
from tests.support.live_service import Live, live, until
from tests.support.reading_engine import LEDGER, entries, ledger_text, reading
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

WINDOWS = {"long_documents": "windows"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder: Path = write_checkpoint(tmp_path_factory.mktemp("models") / "reading", LLAMA)
    with live(reading(), folder, watch=Watch(backoff_s=0.05, silence_s=600.0)) as running:
        until(lambda: running.http.get("/ready").status_code == 200)
        yield running


def streamed(service: Live, **body: Any) -> list[Event]:
    body = {"schema": LEDGER, "stream": True, "options": WINDOWS, **body}
    with service.http.stream("POST", "/v1/extract", json=body) as response:
        assert response.status_code == 200, response.read()
        return events(response.iter_lines())


def test_a_long_document_is_refused_with_a_hint_unless_windows_are_asked_for(service: Live) -> None:
    text = ledger_text(160)
    refused = service.extract(LEDGER, text)
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "context_length_exceeded"
    assert "long_documents" in refused.json()["error"]["hint"]
    answer = service.extract(LEDGER, text, options=WINDOWS)
    assert answer.status_code == 200, answer.text
    result = ExtractResult.model_validate_json(answer.content)
    assert result.data == {"branch": "Bremen", "entries": entries(text)}
    assert result.reading is not None
    assert result.reading.windows > 4
    again = service.extract(LEDGER, text, options=WINDOWS)
    assert again.json()["data"] == answer.json()["data"]
    assert again.json()["reading"] == answer.json()["reading"]


def test_a_short_document_is_read_at_once_and_says_so(service: Live) -> None:
    answer = service.extract(LEDGER, ledger_text(2), options=WINDOWS)
    assert answer.json()["reading"] is None
    assert len(answer.json()["data"]["entries"]) == 2


def test_items_come_in_order_and_the_events_make_up_the_result(service: Live) -> None:
    text = ledger_text(120)
    found = streamed(service, text=text)
    items = [
        event.data["value"]
        for event in found
        if event.name == "field.completed" and event.data["pointer"].count("/") == 2
    ]
    assert items == entries(text)
    started = [event.data["pointer"] for event in found if event.name == "field.started"]
    assert started[:3] == ["", "/entries", "/entries/0"]
    assert len(started) == len(set(started))
    completed = [event.data["pointer"] for event in found if event.name == "field.completed"]
    assert sorted(completed) == sorted(started[1:])
    assert [event.name for event in found[-2:]] == ["object.completed", "usage"]
    result = found[-2].data["result"]
    assert result["data"] == {"branch": "Bremen", "entries": entries(text)}
    assert found[-1].data["usage"] == result["usage"]


def test_long_and_short_texts_of_one_request_have_an_outcome_each(service: Live) -> None:
    texts = [ledger_text(90), ledger_text(2), " "]
    body = {"schema": LEDGER, "texts": texts, "options": WINDOWS}
    outcomes = service.http.post("/v1/extract", json=body).json()["outcomes"]
    assert [len(one["result"]["data"]["entries"]) for one in outcomes[:2]] == [90, 2]
    assert outcomes[2]["error"]["code"] == "invalid_request"
    found = streamed(service, texts=texts)
    results = {e.data["index"]: e.data["result"] for e in found if e.name == "object.completed"}
    assert [len(results[index]["data"]["entries"]) for index in (0, 1)] == [90, 2]


def test_a_client_that_goes_ends_all_windows(service: Live) -> None:
    body = {"schema": LEDGER, "stream": True, "options": WINDOWS, "text": ledger_text(400)}
    with service.http.stream("POST", "/v1/extract", json=body) as response:
        next(response.iter_lines())
    assert service.settled().open_requests == 0


def test_what_cannot_be_merged_is_an_error_by_pointer(service: Live) -> None:
    last = {"contains": {"properties": {"number": {"const": 120}}}}
    items = {**LEDGER["properties"]["entries"], **last}
    schema = {**LEDGER, "properties": {**LEDGER["properties"], "entries": items}}
    answer = service.extract(schema, ledger_text(120), options=WINDOWS)
    assert answer.status_code == 422, answer.text
    error = answer.json()["error"]
    assert error["code"] == "windows_conflict"
    assert error["details"][0]["pointer"] == "/schema/properties/entries/contains"
