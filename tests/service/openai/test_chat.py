"""Chat completions as they are on the wire: one test for each detail on which clients depend."""

import json
from typing import Any

import httpx2
import openai
import pytest
from intaglio.schemas.openai.chat_completions import ChatChunk, ChatCompletion
from pydantic import BaseModel

from tests.support.live_service import Live

SCHEMA: Any = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
FORMAT: Any = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}
ADA = '{"name":"Ada","age":36}'


def post(served: Live, order: str, **fields: Any) -> httpx2.Response:
    messages = [{"role": "user", "content": f"<<{order}>>"}]
    return served.http.post("/v1/chat/completions", json={"messages": messages, **fields})


def ask(served: Live, order: str, **fields: Any) -> Any:
    """The body of an answered completion, which has the shape that is documented."""
    response = post(served, order, **fields)
    assert response.status_code == 200, response.text
    assert "text/event-stream" not in response.headers["content-type"]
    ChatCompletion.model_validate_json(response.content, strict=True)
    return response.json()


def stream(served: Live, order: str, **fields: Any) -> list[Any]:
    """The chunks of a streamed completion, each of which has the shape that is documented; `[DONE]` is there."""
    response = post(served, order, stream=True, **fields)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    events = response.text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    chunks = [event.removeprefix("data: ") for event in events[:-2]]
    for chunk in chunks:
        ChatChunk.model_validate_json(chunk, strict=True)
    return [json.loads(chunk) for chunk in chunks]


def error(response: httpx2.Response, status: int) -> Any:
    assert response.status_code == status, response.text
    found = response.json()["error"]
    assert {"message", "type", "param", "code"} <= found.keys()
    assert isinstance(found["message"], str)
    assert isinstance(found["code"], str)
    return found


def test_an_answer_has_every_field_of_openai(served: Live) -> None:
    body = ask(served, "echo hello", model="scripted")
    assert body["id"].startswith("chatcmpl-")
    assert body["object"] == "chat.completion"
    assert isinstance(body["created"], int)
    assert body["model"] == "scripted"
    (choice,) = body["choices"]
    assert choice["index"] == 0
    assert choice["finish_reason"] == "stop"
    assert choice["logprobs"] is None
    assert choice["message"] == {"role": "assistant", "content": "hello", "refusal": None}
    usage = body["usage"]
    assert usage["completion_tokens"] == 5
    assert usage["total_tokens"] == usage["prompt_tokens"] + 5
    assert usage["prompt_tokens_details"] == {"cached_tokens": 0}


def test_content_and_refusal_are_present_when_empty(served: Live) -> None:
    (choice,) = ask(served, "echo ")["choices"]
    assert choice["message"] == {"role": "assistant", "content": "", "refusal": None}
    assert choice["finish_reason"] == "stop"


def test_the_first_chunk_has_the_role_and_the_last_one_the_reason(served: Live) -> None:
    first, *middle, last = stream(served, "echo abc")
    delta = {"role": "assistant", "content": "", "refusal": None}
    assert first["choices"][0]["delta"] == delta
    deltas = [c["choices"][0]["delta"] for c in middle]
    assert {tuple(delta) for delta in deltas} == {("content",)}
    assert "".join(delta["content"] for delta in deltas) == "abc"
    assert last["choices"][0]["delta"] == {}
    reasons = [c["choices"][0]["finish_reason"] for c in (first, *middle, last)]
    assert reasons == [None] * len((first, *middle)) + ["stop"]
    assert len({c["id"] for c in (first, *middle, last)}) == 1
    assert {c["object"] for c in (first, *middle, last)} == {"chat.completion.chunk"}
    assert all("usage" not in c for c in (first, *middle, last))


def test_an_empty_answer_streams_a_role_and_a_reason(served: Live) -> None:
    first, last = stream(served, "echo ")
    assert first["choices"][0]["delta"]["role"] == "assistant"
    assert last["choices"][0]["finish_reason"] == "stop"


def test_usage_comes_in_one_last_chunk_and_is_null_before(served: Live) -> None:
    chunks = stream(served, "echo abc", stream_options={"include_usage": True})
    *before, last = chunks
    assert all(chunk["usage"] is None for chunk in before)
    assert last["choices"] == []
    assert last["usage"] == ask(served, "echo abc")["usage"]


def test_continuous_usage_counts_in_every_chunk(served: Live) -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}
    chunks = stream(served, "echo abc", stream_options=options)
    counts = [chunk["usage"]["completion_tokens"] for chunk in chunks]
    assert counts == sorted(counts)
    assert counts[-1] == 3


def test_stream_options_need_a_stream(served: Live) -> None:
    found = error(post(served, "echo a", stream_options={"include_usage": True}), 400)
    assert found["param"] == "stream_options"
    ask(served, "echo a", stream=False, stream_options={"include_obfuscation": True})


def test_characters_of_several_tokens_are_never_torn(served: Live) -> None:
    chunks = stream(served, "echo aé💧b")
    texts = [chunk["choices"][0]["delta"].get("content", "") for chunk in chunks]
    assert "".join(texts) == "aé💧b"


def test_max_completion_tokens_wins_over_max_tokens(served: Live) -> None:
    (choice,) = ask(served, "echo abcdef", max_completion_tokens=2, max_tokens=4)["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("ab", "length")
    (choice,) = ask(served, "echo abcdef", max_tokens=4)["choices"]
    assert choice["message"]["content"] == "abcd"


def test_the_finish_reason_is_the_same_streamed_and_not(served: Live) -> None:
    for fields in ({}, {"max_tokens": 2}, {"stop": "c"}, {"response_format": FORMAT}):
        order = f"echo {ADA}" if "response_format" in fields else "echo abcd"
        whole = ask(served, order, **fields)["choices"][0]
        last = stream(served, order, **fields)[-1]["choices"][0]
        assert whole["finish_reason"] == last["finish_reason"]
        assert whole["stop_reason"] == last["stop_reason"]


def test_every_choice_has_its_index_and_one_finish_reason(served: Live) -> None:
    body = ask(served, "seed", n=3, seed=5)
    assert [choice["index"] for choice in body["choices"]] == [0, 1, 2]
    texts = [choice["message"]["content"] for choice in body["choices"]]
    assert texts[0] == "5"
    assert len(set(texts)) == 3
    found: dict[int, str] = {}
    reasons: list[int] = []
    for chunk in stream(served, "seed", n=3, seed=5):
        (choice,) = chunk["choices"]
        found[choice["index"]] = found.get(choice["index"], "") + choice["delta"].get("content", "")
        reasons += [choice["index"]] if choice["finish_reason"] else []
    assert [found[index] for index in range(3)] == texts
    assert sorted(reasons) == [0, 1, 2]


@pytest.mark.parametrize("seed", [0, -1, -9007199254740991, 2**63 - 1, -(2**63)])
def test_a_seed_is_any_integer_of_64_bits(served: Live, seed: int) -> None:
    assert ask(served, "seed", seed=seed)["choices"][0]["message"]["content"] == str(seed)


def test_a_seed_beyond_64_bits_is_refused(served: Live) -> None:
    assert error(post(served, "seed", seed=2**63), 400)["param"] == "seed"


def test_stop_is_a_text_or_several(served: Live) -> None:
    for stop in ("c", ["x", "cd"]):
        (choice,) = ask(served, "echo abcdef", stop=stop)["choices"]
        assert choice["message"]["content"] == "ab"
        assert choice["finish_reason"] == "stop"
        assert choice["stop_reason"] == (stop if isinstance(stop, str) else "cd")
    assert error(post(served, "echo a", stop=""), 400)["param"] == "stop"
    assert error(post(served, "echo a", stop=["a"] * 17), 400)["param"] == "stop"


def test_a_stop_string_is_part_of_the_text_on_request(served: Live) -> None:
    (choice,) = ask(served, "echo abcdef", stop="cd", include_stop_str_in_output=True)["choices"]
    assert choice["message"]["content"] == "abcd"


def test_logprobs_are_null_unless_asked_for(served: Live) -> None:
    assert all(c["choices"][0]["logprobs"] is None for c in stream(served, "echo ab"))


def test_logprobs_have_a_token_its_bytes_and_alternatives(served: Live) -> None:
    (choice,) = ask(served, "echo a€", logprobs=True, top_logprobs=2)["choices"]
    entries = choice["logprobs"]["content"]
    assert [entry["bytes"] for entry in entries] == [[97], [0xE2], [0x82], [0xAC]]
    assert entries[0]["token"] == "a"
    assert entries[0]["logprob"] == -97 / 64
    assert [len(entry["top_logprobs"]) for entry in entries] == [2] * 4
    assert choice["logprobs"]["refusal"] is None


def test_no_alternatives_are_empty_lists(served: Live) -> None:
    for fields in ({"logprobs": True}, {"logprobs": True, "top_logprobs": 0}):
        (choice,) = ask(served, "echo ab", **fields)["choices"]
        assert [entry["top_logprobs"] for entry in choice["logprobs"]["content"]] == [[], []]


def test_top_logprobs_are_at_most_20_and_need_logprobs(served: Live) -> None:
    fields = {"logprobs": True, "top_logprobs": 21}
    assert error(post(served, "echo a", **fields), 400)["param"] == "top_logprobs"
    assert error(post(served, "echo a", top_logprobs=1), 400)["param"] == "top_logprobs"


def test_logprobs_of_a_stream_are_those_of_the_whole(served: Live) -> None:
    fields: dict[str, Any] = {"logprobs": True, "top_logprobs": 1, "stop": "d"}
    whole = ask(served, "echo aé💧bcdef", **fields)["choices"][0]["logprobs"]["content"]
    chunks = [chunk["choices"][0] for chunk in stream(served, "echo aé💧bcdef", **fields)]
    found = [x for chunk in chunks for x in (chunk["logprobs"] or {"content": []})["content"]]
    assert found == whole
    assert bytes(x["bytes"][0] for x in whole).decode() == "aé💧bc"


def test_keys_of_logit_bias_are_token_ids_as_text(served: Live) -> None:
    ask(served, "echo a", logit_bias={"97": -100, "98": 5.5})
    assert error(post(served, "echo a", logit_bias={"foo": 0}), 400)["param"] == "logit_bias"
    assert error(post(served, "echo a", logit_bias={"97": 101}), 400)["param"] == "logit_bias.97"


def test_a_schema_is_enforced_with_and_without_strict(served: Live) -> None:
    for strict in (None, False, True):
        form = {"type": "json_schema", "json_schema": {**FORMAT["json_schema"], "strict": strict}}
        assert (
            ask(served, f"echo {ADA}", response_format=form)["choices"][0]["message"]["content"]
            == ADA
        )
        # The scripted engine says what it likes: the independent check finds it.
        found = error(post(served, 'echo {"name":1}', response_format=form), 500)
        assert found["code"] == "invalid_output"


def test_an_invalid_end_of_a_stream_is_an_error_event_without_done(served: Live) -> None:
    response = post(served, 'echo {"name":1}', response_format=FORMAT, stream=True)
    assert response.status_code == 200
    *_, last, rest = response.text.split("\n\n")
    assert rest == ""
    found = json.loads(last.removeprefix("data: "))["error"]
    assert found["code"] == "invalid_output"
    assert found["retryable"] is False


def test_json_object_is_an_object(served: Live) -> None:
    form = {"type": "json_object"}
    assert ask(served, 'echo {"a":[1]}', response_format=form)["choices"][0]["finish_reason"]
    error(post(served, "echo [1]", response_format=form), 500)


def test_response_format_text_is_free(served: Live) -> None:
    body = ask(served, "echo [1", response_format={"type": "text"})
    assert body["choices"][0]["message"]["content"] == "[1"


def test_an_answer_completed_by_its_budget_says_stop_and_budget_forced(served: Live) -> None:
    (choice,) = ask(served, f"force {ADA}", response_format=FORMAT)["choices"]
    assert (choice["finish_reason"], choice["budget_forced"]) == ("stop", True)
    last = stream(served, f"force {ADA}", response_format=FORMAT)[-1]["choices"][0]
    assert (last["finish_reason"], last["budget_forced"]) == ("stop", True)


def test_a_schema_that_is_refused_is_found_by_its_place(served: Live) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "strin"}}}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    found = error(post(served, "echo a", response_format=form), 400)
    assert found["param"] == "response_format.json_schema.schema"
    place = "/response_format/json_schema/schema/properties/a/type"
    assert found["details"][0]["pointer"] == place


def test_documented_fields_without_effect_are_accepted(served: Live) -> None:
    ask(
        served,
        "echo a",
        user="u",
        metadata={"k": "v"},
        store=True,
        service_tier="auto",
        prediction={"type": "content", "content": "a"},
        prompt_cache_key="k",
        prompt_cache_retention="24h",
        safety_identifier="s",
        verbosity="low",
        modalities=["text"],
    )


@pytest.mark.parametrize(
    "field", ["format", "response_fromat", "guided_jsn", "structured_output", "schema", "anything"]
)
def test_an_unknown_field_is_refused_by_name(served: Live, field: str) -> None:
    found = error(post(served, "echo a", **{field: {}}), 400)
    assert (found["code"], found["param"]) == ("unknown_field", field)


def test_a_constraint_in_two_dialects_is_refused(served: Live) -> None:
    found = error(post(served, "echo a", response_format=FORMAT, regex="a"), 400)
    assert {x["pointer"] for x in found["details"]} == {
        "/response_format/json_schema/schema",
        "/regex",
    }


def test_a_regular_expression_and_a_grammar_are_enforced(served: Live) -> None:
    ask(served, "echo a", regex="[ab]")
    ask(served, "echo a", grammar='root ::= "a" | "b"')
    found = error(post(served, "echo a", regex="["), 400)
    assert found["param"] == "regex"


def test_content_may_be_a_list_of_texts(served: Live) -> None:
    parts = [{"type": "text", "text": "<<echo o"}, {"type": "text", "text": "k>>"}]
    body = {"messages": [{"role": "user", "content": parts}]}
    found = served.http.post("/v1/chat/completions", json=body).json()
    assert found["choices"][0]["message"]["content"] == "o\nk"


def test_an_image_is_refused_by_its_place(served: Live) -> None:
    parts = [{"type": "image_url", "image_url": {"url": "data:,"}}]
    body = {"messages": [{"role": "user", "content": parts}]}
    found = error(served.http.post("/v1/chat/completions", json=body), 400)
    assert found["param"] == "messages.0.content.0.image_url.url"


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant", "tool", "function"])
def test_every_role_of_openai_is_accepted(served: Live, role: str) -> None:
    messages = [{"role": role, "content": "a"}, {"role": "user", "content": "<<echo b>>"}]
    response = served.http.post("/v1/chat/completions", json={"messages": messages})
    assert response.json()["choices"][0]["message"]["content"] == "b"


def test_an_unknown_model_is_404_model_not_found(served: Live) -> None:
    found = error(post(served, "echo a", model="gpt-5"), 404)
    assert (found["code"], found["param"]) == ("model_not_found", "model")
    assert found["type"] == "invalid_request_error"


def test_an_error_has_the_request_id_of_its_header(served: Live) -> None:
    response = post(served, "echo a", model="gpt-5")
    assert response.headers["x-request-id"] == response.json()["error"]["request_id"]
    assert post(served, "echo a").headers["x-request-id"].startswith("req_")


def test_an_error_before_the_first_token_of_a_stream_has_its_status(served: Live) -> None:
    for stream in (False, True):
        found = error(post(served, "fail budget_too_small", stream=stream), 400)
        assert (found["code"], found["param"]) == ("budget_too_small", "max_tokens")
    found = error(post(served, "fail budget_too_small", max_completion_tokens=5), 400)
    assert [detail["pointer"] for detail in found["details"]] == ["/max_completion_tokens"]


def test_a_prompt_beyond_the_context_is_refused(served: Live) -> None:
    found = error(post(served, "echo " + "x" * 5000), 400)
    assert (found["code"], found["param"]) == ("context_length_exceeded", "messages")
    assert [detail["pointer"] for detail in found["details"]] == ["/messages"]
    found = error(post(served, "echo a", max_completion_tokens=5000), 400)
    assert found["param"] == "max_completion_tokens"


def test_the_client_of_openai_reads_all_of_it(client: openai.OpenAI) -> None:
    messages: Any = [{"role": "user", "content": f"<<echo {ADA}>>"}]
    whole = client.chat.completions.create(
        model="scripted", messages=messages, logprobs=True, top_logprobs=3, n=2
    )
    assert whole.choices[1].message.content == ADA
    with client.chat.completions.stream(
        model="scripted",
        messages=messages,
        response_format=FORMAT,
        stream_options={"include_usage": True},
    ) as events:
        final = events.until_done().get_final_completion()
    assert final.choices[0].message.content == ADA
    assert final.usage is not None


class Person(BaseModel):
    name: str
    age: int


def test_the_client_of_openai_parses_typed_answers(client: openai.OpenAI) -> None:
    messages: Any = [{"role": "user", "content": f"<<force {ADA}>>"}]
    answer = client.chat.completions.parse(
        model="scripted", messages=messages, response_format=Person
    )
    # It would raise on `length`: an answer completed by its budget is whole, and says `stop`.
    assert answer.choices[0].message.parsed == Person(name="Ada", age=36)
    with client.chat.completions.stream(
        model="scripted", messages=messages, response_format=Person
    ) as events:
        final = events.until_done().get_final_completion()
    assert final.choices[0].message.parsed == Person(name="Ada", age=36)


def test_the_client_of_openai_raises_its_own_errors(client: openai.OpenAI) -> None:
    messages: Any = [{"role": "user", "content": "<<echo a>>"}]
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="gpt-5", messages=messages)
    assert missing.value.code == "model_not_found"
    bad: Any = [{"role": "user", "content": '<<echo {"name":1}>>'}]
    with pytest.raises(openai.APIError, match="does not meet the schema"):
        for _ in client.chat.completions.create(
            model="scripted",
            messages=bad,
            stream=True,
            response_format=FORMAT,
        ):
            pass
