"""Sources of values over HTTP: in one answer, several, a stream, and on the path of known schemas."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.schemas.problem import Code, ProblemDocument
from intaglio.service.calibration.calibration_file import HeldOut, model_fingerprint

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
    held = dict.fromkeys(HeldOut.model_fields, 0) | {"auroc_before": None, "auroc_after": None}
    calibration = {
        "model": "scripted",
        "fingerprint": model_fingerprint(folder),
        "method": "isotonic",
        "points": [[0.0, 0.5], [1.0, 0.75]],
        "documents": 9,
        "values": 9,
        "held_out": held,
    }
    (folder / "calibration.json").write_text(json.dumps(calibration))
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
        assert found["calibrated"] == pytest.approx(0.5 + found["probability"] / 4)
        both = service.extract(PERSON, text, options={**LOCATE, "confidence": "first_reading"})
        assert both.json()["fields"]["/age"]["confidence"] == found
        assert both.json()["fields"]["/age"]["match"] == "exact"


def test_the_tokens_of_a_value_have_their_legal_alternatives_if_asked(service: Live) -> None:
    options = {"confidence": "first_reading", "token_alternatives": 2}
    fields = service.extract(PERSON, TEXT, options=options).json()["fields"]
    first, second = fields["/age"]["confidence"]["tokens"]
    assert (first["text"], second["text"]) == ("3", "6")
    assert first["probability"] == pytest.approx(math.exp(-ord("3") / 64))
    assert second["masked"] == ord("6") / 256
    assert [one["text"] for one in second["alternatives"]] == ["6", "7"]


NUMBER: dict[str, Any] = {"type": "integer", "maximum": 99}


@pytest.mark.parametrize("stream", [False, True])
def test_a_second_reading_tells_which_values_it_gives_again(service: Live, stream: bool) -> None:
    # The answer to `seed` is the seed, and that of the second reading is greater by one.
    for schema, text, agrees in ((NUMBER, "<<seed>>", False), (NUMBER, "<<echo 5>>", True)):
        body = {
            "schema": schema,
            "text": text,
            "options": {"confidence": "second_reading", "seed": 5},
            "stream": stream,
        }
        with service.http.stream("POST", "/v1/extract", json=body) as response:
            if stream:
                found = [event.data for event in events(response.iter_lines())]
                (result,) = [data["result"] for data in found if "result" in data]
            else:
                result = json.loads(response.read())
        assert result["data"] == 5
        assert result["fields"][""]["confidence"]["agrees"] is agrees
        assert result["usage"]["output_tokens"] == 2, "the tokens of both readings count"


def test_a_failed_second_reading_fails_the_request(service: Live) -> None:
    options = {"confidence": "second_reading", "deadline_s": 0.4}
    answer = service.extract(PERSON, '<<slow {"name":"Ada"}>>', options=options)
    assert answer.status_code == 504
    assert answer.json()["error"]["code"] == "deadline_exceeded"


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"grounding": "maybe"}, "/options/grounding"),
        ({"confidence": "third_reading"}, "/options/confidence"),
        ({"token_alternatives": 3}, "/options"),
        ({"token_alternatives": 21, "confidence": "first_reading"}, "/options/token_alternatives"),
    ],
)
def test_what_is_not_supported_is_refused(
    service: Live, options: dict[str, Any], place: str
) -> None:
    service.extract(PERSON, TEXT)  # also on the path of known schemas
    response = service.extract(PERSON, TEXT, options=options)
    assert response.status_code == 400
    error = ProblemDocument.model_validate_json(response.content, strict=False).error
    assert error.code is Code.INVALID_REQUEST
    assert error.details[0].pointer == place
