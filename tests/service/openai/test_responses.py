"""Responses as they are on the wire: one test for each detail on which clients depend."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from intaglio.schemas.openai.responses import ResponseEvent, ResponseObject

from tests.support.live_service import Live, live
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
SCHEMA: Any = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.fixture(scope="module")
def keeping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server that keeps responses."""
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    data: Path = tmp_path_factory.mktemp("data")
    with live(launch(), folder, data=str(data)) as running:
        yield running


def post(served: Live, said: str, **fields: Any) -> Any:
    return served.http.post("/v1/responses", json={"input": f"<<echo {said}>>", **fields})


def ask(served: Live, said: str, **fields: Any) -> Any:
    """An answered response, which has the shape that is documented."""
    response = post(served, said, **fields)
    assert response.status_code == 200, response.text
    ResponseObject.model_validate_json(response.content)
    return response.json()


def stream(served: Live, said: str, **fields: Any) -> list[Any]:
    """The events of a streamed response: numbered, named, ended with `[DONE]`."""
    response = post(served, said, stream=True, **fields)
    assert response.status_code == 200, response.text
    *events, done, rest = response.text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    found = []
    for number, event in enumerate(events):
        name, data = event.split("\n")
        body = json.loads(data.removeprefix("data: "))
        ResponseEvent.model_validate(body)
        assert name == f"event: {body['type']}"
        assert body["sequence_number"] == number
        found.append(body)
    return found


def error(response: Any, status: int) -> Any:
    assert response.status_code == status, response.text
    return response.json()["error"]


def same(streamed: Any, whole: Any) -> bool:
    """Whether two responses differ in ids and times only."""
    return bool(stripped(streamed) == stripped(whole))


def stripped(value: Any) -> Any:
    if isinstance(value, dict):
        timed = ("id", "call_id", "created_at", "completed_at")
        return {key: stripped(inner) for key, inner in value.items() if key not in timed}
    return [stripped(inner) for inner in value] if isinstance(value, list) else value


def test_a_response_has_every_field_of_openai(served: Live) -> None:
    body = ask(served, "hello", metadata={"k": "v"}, temperature=0.5)
    assert body["id"].startswith("resp_")
    assert (body["object"], body["status"], body["error"]) == ("response", "completed", None)
    assert body["completed_at"] >= body["created_at"]
    (message,) = body["output"]
    assert message["id"].startswith("msg_")
    assert (message["type"], message["role"], message["status"]) == (
        "message",
        "assistant",
        "completed",
    )
    part = {"type": "output_text", "text": "hello", "annotations": [], "logprobs": []}
    assert message["content"] == [part]
    assert body["usage"]["output_tokens"] == 5
    assert body["usage"]["output_tokens_details"] == {"reasoning_tokens": 0}
    assert body["usage"]["input_tokens_details"]["cached_tokens"] == 0
    assert (body["metadata"], body["temperature"], body["top_p"]) == ({"k": "v"}, 0.5, 1.0)
    assert body["text"] == {"format": {"type": "text"}}
    assert (body["tools"], body["tool_choice"], body["truncation"]) == ([], "auto", "disabled")
    assert (body["store"], body["background"]) == (False, False)


def test_openais_client_takes_every_form_strictly(client: openai.OpenAI) -> None:
    found = client.responses.create(model="scripted", input="<<echo hello>>")
    assert found.output_text == "hello"
    events = list(client.responses.create(model="scripted", input="<<echo hello>>", stream=True))
    assert events[-1].type == "response.completed"
    with client.responses.stream(
        model="scripted", input=f"<<echo {CALL}>>", tools=[WEATHER]
    ) as streamed:
        kinds = [event.type for event in streamed]
        final = streamed.get_final_response()
    assert "response.function_call_arguments.done" in kinds
    assert final.output[0].type == "function_call"


def test_events_come_in_openais_order(served: Live) -> None:
    events = stream(served, "ab")
    assert [event["type"] for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    created, *middle, completed = events
    assert created["response"]["status"] == "in_progress"
    assert created["response"]["output"] == []
    assert completed["response"]["output"] == [middle[-1]["item"]]
    name = middle[1]["item"]["id"]
    assert all(event["item_id"] == name for event in middle if "item_id" in event)
    assert all(event["output_index"] == 0 for event in middle[1:])
    assert [event["delta"] for event in middle if "delta" in event] == ["a", "b"]


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ("hello", {}),
        ("", {}),
        (f"Well. {CALL}", {"tools": [WEATHER]}),
        ('{"a":1}', {"text": {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}}}),
        ("hello", {"max_output_tokens": 2}),
        ("hello", {"include": ["message.output_text.logprobs"], "top_logprobs": 2}),
    ],
)
def test_streamed_and_whole_are_equal(served: Live, said: str, fields: dict[str, Any]) -> None:
    last = stream(served, said, **fields)[-1]["response"]
    assert same(last, ask(served, said, **fields))


def test_a_call_is_an_item_of_its_own(served: Live) -> None:
    message, call = ask(served, f"Well. {CALL}", tools=[WEATHER])["output"]
    assert message["content"][0]["text"] == "Well. "
    assert call["id"].startswith("fc_")
    assert call["call_id"].startswith("call_")
    assert (call["name"], call["arguments"]) == ("get_weather", '{"city": "Rome"}')
    assert call["status"] == "completed"


def test_the_events_of_a_call_carry_its_arguments(served: Live) -> None:
    events = stream(served, CALL, tools=[WEATHER])
    (added,) = [e for e in events if e["type"] == "response.output_item.added"]
    assert added["item"]["type"] == "function_call"
    assert added["item"]["arguments"] == ""
    pieces = [e for e in events if e["type"] == "response.function_call_arguments.delta"]
    (done,) = [e for e in events if e["type"] == "response.function_call_arguments.done"]
    assert "".join(e["delta"] for e in pieces) == done["arguments"] == '{"city": "Rome"}'
    assert {e["item_id"] for e in pieces} == {added["item"]["id"]}


def test_a_budget_that_cuts_off_makes_it_incomplete(served: Live) -> None:
    body = ask(served, "hello", max_output_tokens=2)
    assert (body["status"], body["completed_at"]) == ("incomplete", None)
    assert body["incomplete_details"] == {"reason": "max_output_tokens"}
    assert body["output"][0]["status"] == "incomplete"
    assert stream(served, "hello", max_output_tokens=2)[-1]["type"] == "response.incomplete"


def test_logprobs_come_with_the_text(served: Live) -> None:
    body = ask(served, "hi", include=["message.output_text.logprobs"], top_logprobs=1)
    logprobs = body["output"][0]["content"][0]["logprobs"]
    assert [entry["token"] for entry in logprobs] == ["h", "i"]
    assert all(len(entry["top_logprobs"]) == 1 for entry in logprobs)


def test_every_form_of_items_is_taken(served: Live) -> None:
    items = [
        {"role": "developer", "content": "Be brief."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Well?"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": None},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}],
        },
        {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "fine"},
        {"role": "user", "content": "<<echo done>>"},
    ]
    response = served.http.post(
        "/v1/responses", json={"input": items, "instructions": "Say it.", "tools": [WEATHER]}
    )
    assert response.json()["output"][0]["content"][0]["text"] == "done"


def test_a_response_is_kept_and_continued(keeping: Live) -> None:
    first = ask(keeping, "one")
    assert first["store"] is True
    found = keeping.http.get(f"/v1/responses/{first['id']}")
    assert found.json() == first
    second = keeping.http.post(
        "/v1/responses",
        json={"input": "no order", "previous_response_id": first["id"]},
    ).json()
    # The order of the first input is still in the prompt.
    assert second["output"][0]["content"][0]["text"] == "one"
    assert second["previous_response_id"] == first["id"]
    assert second["usage"]["input_tokens"] > first["usage"]["input_tokens"]
    items = keeping.http.get(f"/v1/responses/{second['id']}/input_items").json()["data"]
    assert [item["role"] for item in items] == ["user", "assistant", "user"]
    assert items[0]["content"] == [{"type": "input_text", "text": "no order"}]


def test_a_streamed_response_is_kept_too(keeping: Live) -> None:
    last = stream(keeping, "one")[-1]["response"]
    assert keeping.http.get(f"/v1/responses/{last['id']}").json() == last


def test_a_response_can_be_deleted_or_never_kept(keeping: Live) -> None:
    kept, other = ask(keeping, "one"), ask(keeping, "two", store=False)
    assert other["store"] is False
    path = f"/v1/responses/{kept['id']}"
    assert keeping.http.delete(path).json() == {
        "id": kept["id"],
        "object": "response",
        "deleted": True,
    }
    for each in (kept, other):
        error(keeping.http.get(f"/v1/responses/{each['id']}"), 404)
    error(keeping.http.delete(path), 404)
    found = error(post(keeping, "x", previous_response_id=kept["id"]), 404)
    assert found["param"] == "previous_response_id"


def test_a_server_without_a_folder_says_that_it_keeps_nothing(served: Live) -> None:
    assert ask(served, "x", store=True)["store"] is False
    found = error(post(served, "x", previous_response_id="resp_1"), 400)
    assert "--data" in found["message"]
    error(served.http.get("/v1/responses/resp_1"), 404)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": []}, "input"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input.0"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
         "input.0.content.0.type"),
        ({"input": [{"role": "user", "content": [
            {"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "low"}]}]},
         "input.0.content.0.type"),
        ({"background": True}, "background"),
        ({"tools": [{"type": "web_search"}]}, "tools.0.type"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"text": {"format": {"type": "json_schema", "name": "a"}}}, "text.format.schema"),
        ({"text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "no"}}}},
         "text.format.schema"),
        ({"tools": [WEATHER | {"parameters": {"properties": {"a": {"type": "no"}}}}]},
         "tools.0.parameters"),
        ({"conversation": "x"}, "conversation"),
        ({"top_logprobs": 21}, "top_logprobs"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_at_its_place(
    served: Live, fields: dict[str, Any], param: str
) -> None:
    assert error(post(served, "x", **fields), 400)["param"] == param


def test_a_budget_that_is_too_small_is_the_fault_of_its_field(served: Live) -> None:
    found = error(post(served, "<<fail budget_too_small>>", max_output_tokens=5), 400)
    assert found["param"] == "max_output_tokens"


@pytest.mark.parametrize("body", [{}, {"stream": True}, {"input": None, "temperature": 0}])
def test_a_request_without_anything_to_answer_is_refused(
    served: Live, body: dict[str, Any]
) -> None:
    response = served.http.post("/v1/responses", json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "input"


def test_an_input_without_items_has_no_message(served: Live) -> None:
    assert "has no message" in error(post(served, "x", input=[]), 400)["message"]


def test_an_input_is_optional(served: Live) -> None:
    response = served.http.post("/v1/responses", json={"instructions": "<<echo hello>>"})
    assert response.json()["output"][0]["content"][0]["text"] == "hello"


def test_a_kept_response_is_not_streamed_again(keeping: Live) -> None:
    path = f"/v1/responses/{ask(keeping, 'one')['id']}?stream=true"
    assert error(keeping.http.get(path), 400)["param"] == "stream"
    missing = error(keeping.http.get("/v1/responses/resp_none?stream=true"), 404)
    assert missing["param"] == "id"


def test_an_error_in_a_stream_is_its_last_event(served: Live) -> None:
    response = served.http.post(
        "/v1/responses", json={"input": "<<fail overloaded>>", "stream": True}
    )
    assert response.status_code >= 400
    schema = {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}}
    events = post(served, "not json", stream=True, text=schema).text.split("\n\n")
    last = json.loads(events[-2].partition("data: ")[2])
    assert last["type"] == "error"
    assert last["code"] == "invalid_output"
    assert last["sequence_number"] == len(events) - 2


def test_compaction_is_refused_clearly(served: Live) -> None:
    given = {"model": "scripted", "input": "a long story"}
    response = served.http.post("/v1/responses/compact", json=given)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == "invalid_request"
    assert "does not compact" in error["message"]
    assert served.http.get("/v1/responses/compact").status_code == 405
