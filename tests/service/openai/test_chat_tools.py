"""Calls of tools in chat completions as they are on the wire: one test for each detail on which clients depend."""

import json
from typing import Any

import openai
import pytest
from intaglio.schemas.openai.chat_completions import ChatChunk, ChatCompletion

from tests.support.live_service import Live

WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}
NOW: Any = {"type": "function", "function": {"name": "now"}}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
TWO = f'Well.\n{CALL}\n<tool_call>\n{{"name": "now", "arguments": {{}}}}\n</tool_call>'


def body(said: str, **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"<<echo {said}>>"}]
    return {"messages": messages, "tools": [WEATHER, NOW], **fields}


def ask(served: Live, said: str, **fields: Any) -> Any:
    """The only choice of an answer, which has the shape that is documented."""
    response = served.http.post("/v1/chat/completions", json=body(said, **fields))
    assert response.status_code == 200, response.text
    ChatCompletion.model_validate_json(response.content, strict=True)
    (choice,) = response.json()["choices"]
    return choice


def stream(served: Live, said: str, **fields: Any) -> list[Any]:
    """The choices of the chunks of a streamed answer."""
    response = served.http.post("/v1/chat/completions", json=body(said, stream=True, **fields))
    assert response.status_code == 200, response.text
    chunks = [event.removeprefix("data: ") for event in response.text.split("\n\n")[:-2]]
    for chunk in chunks:
        ChatChunk.model_validate_json(chunk, strict=True)
    return [json.loads(chunk)["choices"][0] for chunk in chunks]


def refused(served: Live, **fields: Any) -> Any:
    response = served.http.post("/v1/chat/completions", json=body("x", **fields))
    assert response.status_code == 400, response.text
    return response.json()["error"]


def test_a_call_has_null_content_and_a_reason_of_its_own(served: Live) -> None:
    choice = ask(served, CALL)
    assert choice["finish_reason"] == "tool_calls"
    message = choice["message"]
    assert (message["content"], message["refusal"]) == (None, None)
    (call,) = message["tool_calls"]
    assert call["type"] == "function"
    assert call["id"].startswith("call_")
    assert call["function"] == {"name": "get_weather", "arguments": '{"city": "Rome"}'}
    assert "index" not in call


def test_an_answer_without_a_call_is_text(served: Live) -> None:
    choice = ask(served, "It is sunny.")
    assert choice["finish_reason"] == "stop"
    assert choice["message"] == {
        "role": "assistant",
        "content": "It is sunny.",
        "refusal": None,
    }


def test_text_and_several_calls(served: Live) -> None:
    message = ask(served, TWO)["message"]
    assert message["content"] == "Well.\n"
    names = [call["function"]["name"] for call in message["tool_calls"]]
    assert names == ["get_weather", "now"]
    assert len({call["id"] for call in message["tool_calls"]}) == 2


def test_every_delta_of_a_call_has_an_index_and_id_type_and_name_come_once(served: Live) -> None:
    choices = stream(served, TWO)
    entries = [entry for c in choices for entry in c["delta"].get("tool_calls", [])]
    assert all(isinstance(entry["index"], int) for entry in entries)
    assert all("function" in entry for entry in entries)
    for index, name in enumerate(("get_weather", "now")):
        first, *rest = [entry for entry in entries if entry["index"] == index]
        assert first["type"] == "function"
        assert first["function"] == {"name": name, "arguments": ""}
        assert first["id"]
        assert all(entry.keys() == {"index", "function"} for entry in rest)
        assert all(entry["function"].keys() == {"arguments"} for entry in rest)
    assert [c["finish_reason"] for c in choices if c["finish_reason"]] == ["tool_calls"]


@pytest.mark.parametrize("said", [TWO, CALL, "only text", "a < b <tool_cal"])
def test_streamed_and_whole_are_equal(served: Live, said: str) -> None:
    content, calls = "", dict[int, list[str]]()
    for choice in stream(served, said):
        content += choice["delta"].get("content", "")
        for entry in choice["delta"].get("tool_calls", []):
            names = calls.setdefault(entry["index"], ["", ""])
            names[0] += entry["function"].get("name", "")
            names[1] += entry["function"]["arguments"]
    message = ask(served, said)["message"]
    assert content == (message["content"] or "")
    assert list(calls.values()) == [
        [call["function"]["name"], call["function"]["arguments"]]
        for call in message.get("tool_calls", [])
    ]


def test_openais_client_accumulates_a_stream(client: openai.OpenAI) -> None:
    given = body(TWO)
    with client.chat.completions.stream(
        model="scripted", messages=given["messages"], tools=[WEATHER, NOW]
    ) as events:
        calls = [e for e in events if e.type == "tool_calls.function.arguments.done"]
        final = events.get_final_completion().choices[0]
    assert calls[0].parsed_arguments == {"city": "Rome"}
    assert final.finish_reason == "tool_calls"


def test_no_choice_means_no_call(served: Live) -> None:
    choice = ask(served, "x", tool_choice="none")
    assert choice["finish_reason"] == "stop"
    assert "tool_calls" not in choice["message"]


@pytest.mark.parametrize(
    "choice",
    [
        "required",
        {"type": "function", "function": {"name": "get_weather"}},
        {
            "type": "allowed_tools",
            "allowed_tools": {
                "mode": "auto",
                "tools": [{"type": "function", "function": {"name": "get_weather"}}],
            },
        },
    ],
)
def test_every_form_of_a_choice_is_taken(served: Live, choice: Any) -> None:
    (call,) = ask(served, CALL, tool_choice=choice, parallel_tool_calls=False)["message"][
        "tool_calls"
    ]
    assert call["function"]["name"] == "get_weather"


def test_a_response_format_may_accompany_tools(served: Live) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
    assert ask(served, "{}", response_format=form)["message"]["content"] == "{}"
    assert ask(served, CALL, response_format=form)["finish_reason"] == "tool_calls"


def test_results_of_calls_are_taken_back(served: Live) -> None:
    message = ask(served, TWO)["message"]
    messages = [
        {"role": "user", "content": "Well?"},
        message,
        *(
            {"role": "tool", "tool_call_id": call["id"], "content": "fine"}
            for call in message["tool_calls"]
        ),
        {"role": "user", "content": "<<echo done>>"},
    ]
    response = served.http.post(
        "/v1/chat/completions", json={"messages": messages, "tools": [WEATHER]}
    )
    assert response.json()["choices"][0]["message"]["content"] == "done"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tool_choice": {"type": "function", "function": {"name": "no"}}}, "tool_choice"),
        ({"tools": None, "tool_choice": "required"}, "tool_choice"),
        ({"tools": [NOW, NOW]}, "tools.1.function.name"),
        (
            {"tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "array"}}}]},
            "tools.0.function.parameters.type",
        ),
        ({"tools": [{"type": "web_search"}]}, "tools.0.type"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools.0.function.name"),
        ({"tool_choice": "always"}, "tool_choice"),
        (
            {"tools": [NOW, {"type": "function", "function": {
                "name": "a", "parameters": {"properties": {"x": {"type": "nothing"}}}}}]},
            "tools.1.function.parameters",
        ),
        (
            {"tools": [WEATHER], "response_format": {
                "type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "nothing"}}}},
            "response_format.json_schema.schema",
        ),
        ({"functions": [{"name": "a"}]}, "functions"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_at_its_place(
    served: Live, fields: dict[str, Any], param: str
) -> None:
    assert refused(served, **fields)["param"] == param


def test_a_refused_schema_names_its_place_in_the_tool(served: Live) -> None:
    tool = {"name": "a", "parameters": {"properties": {"x": {"pattern": "(a)\\1"}}}}
    details = refused(served, tools=[NOW, {"type": "function", "function": tool}])["details"]
    assert details[0]["pointer"] == "/tools/1/function/parameters/properties/x/pattern"


def test_arguments_of_earlier_calls_must_be_an_object(served: Live) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "now", "arguments": "[]"}}
    messages = [{"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "x"}]
    found = refused(served, messages=messages)
    assert found["param"] == "messages.0.tool_calls.0.function.arguments"


def test_a_call_of_another_tool_is_never_passed_on(served: Live) -> None:
    response = served.http.post("/v1/chat/completions", json=body(TWO, tools=[WEATHER]))
    assert response.status_code == 500
    assert response.json()["error"]["code"] == "invalid_output"


def test_budget_that_cuts_a_call_off_says_length(served: Live) -> None:
    choice = ask(served, CALL, max_tokens=30)
    assert choice["finish_reason"] == "length"


def test_a_text_that_its_budget_ended_is_cut_off_and_a_call_is_not(served: Live) -> None:
    """The engine may end both: free text anywhere, a call in the shortest way."""
    given = body("x")
    for said, reason in (("It is su", "length"), (CALL, "tool_calls")):
        given["messages"] = [{"role": "user", "content": f"<<force {said}>>"}]
        choice = served.http.post("/v1/chat/completions", json=given).json()["choices"][0]
        assert choice["finish_reason"] == reason
        assert choice["budget_forced"] == (said == CALL)


def test_a_call_that_a_stop_string_cut_off_is_no_call(served: Live) -> None:
    choice = ask(served, CALL, stop=["Ro"])
    assert (choice["finish_reason"], choice["stop_reason"]) == ("stop", "Ro")
