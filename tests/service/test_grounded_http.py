"""Sources of values over HTTP: in one answer, several, a stream, and on the path of known schemas."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.schemas.problem import Code, ProblemDocument

from tests.support.events import events
from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": ["integer", "null"]}},
    "required": ["name"],
    "additionalProperties": False,
}
TEXT = '<<echo {"name":"Ada","age":36}>>'
LOCATE = {"grounding": "locate"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder: Path = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    with live(launch(), folder) as running:
        until(lambda: running.http.get("/ready").status_code == 200)
        yield running


def sources(answer: Any, text: str) -> dict[str, str]:
    spans = {pointer: report["span"] for pointer, report in answer["fields"].items()}
    return {pointer: text[span["start"] : span["end"]] for pointer, span in spans.items()}


def test_an_answer_reports_sources_if_asked(service: Live) -> None:
    assert service.extract(PERSON, TEXT).json()["fields"] == {}
    # The second request takes the path of known schemas.
    for text in (TEXT, "Ada is 36. " + TEXT):
        answer = service.extract(PERSON, text, options=LOCATE).json()
        assert sources(answer, text) == {"/name": "Ada", "/age": "36"}
        assert answer["fields"]["/name"]["match"] == "exact"


def test_every_text_has_its_own_sources(service: Live) -> None:
    texts = [TEXT, "Bob! " + TEXT.replace("Ada", "Bob")]
    body = {"schema": PERSON, "texts": texts, "options": LOCATE}
    outcomes = service.http.post("/v1/extract", json=body).json()["outcomes"]
    found = [sources(one["result"], text) for one, text in zip(outcomes, texts, strict=True)]
    assert found == [{"/name": "Ada", "/age": "36"}, {"/name": "Bob", "/age": "36"}]


def test_offsets_of_a_conversation_count_its_messages_joined(service: Live) -> None:
    messages = [
        {"role": "system", "content": "Ada"},
        {"role": "user", "content": "Hello."},
        {"role": "user", "content": TEXT},
    ]
    body = {"schema": PERSON, "messages": messages, "options": LOCATE}
    answer = service.http.post("/v1/extract", json=body).json()
    assert sources(answer, "Hello.\n\n" + TEXT) == {"/name": "Ada", "/age": "36"}


def test_the_last_event_of_a_stream_has_the_sources(service: Live) -> None:
    body = {"schema": PERSON, "text": TEXT, "options": LOCATE, "stream": True}
    with service.http.stream("POST", "/v1/extract", json=body) as response:
        found = events(response.iter_lines())
    (result,) = [event.data["result"] for event in found if "result" in event.data]
    assert sources(result, TEXT) == {"/name": "Ada", "/age": "36"}


def test_an_answer_reports_confidences_if_asked(service: Live) -> None:
    # The engine of this test has tokens of one byte, of log-probability -byte / 64.
    for text in (TEXT, "Ada is 36. " + TEXT):
        fields = service.extract(PERSON, text, options={"confidence": "first_reading"}).json()[
            "fields"
        ]
        assert set(fields) == {"/name", "/age"}
        assert fields["/age"]["match"] == "none"
        found = fields["/age"]["confidence"]
        assert found["probability"] == pytest.approx(math.exp(-(ord("3") + ord("6")) / 128))
        assert found["masked"] == ord("6") / 256
        both = service.extract(PERSON, text, options={**LOCATE, "confidence": "first_reading"})
        assert both.json()["fields"]["/age"]["confidence"] == found
        assert both.json()["fields"]["/age"]["match"] == "exact"


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"grounding": "maybe"}, "/options/grounding"),
        ({"confidence": "second_reading"}, "/options/confidence"),
    ],
)
def test_what_is_not_supported_is_refused(
    service: Live, options: dict[str, str], place: str
) -> None:
    service.extract(PERSON, TEXT)  # also on the path of known schemas
    response = service.extract(PERSON, TEXT, options=options)
    assert response.status_code == 400
    error = ProblemDocument.model_validate_json(response.content, strict=False).error
    assert error.code is Code.INVALID_REQUEST
    assert error.details[0].pointer == place
