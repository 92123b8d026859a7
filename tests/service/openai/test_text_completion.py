"""Completions as they are on the wire."""

import json
from typing import Any

import httpx2
import openai
import pytest
from intaglio.schemas.openai.text_completions import Completion

from tests.support.live_service import Live


def post(served: Live, prompt: Any, **fields: Any) -> httpx2.Response:
    return served.http.post("/v1/completions", json={"prompt": prompt, **fields})


def ask(served: Live, prompt: Any, **fields: Any) -> Any:
    response = post(served, prompt, **fields)
    assert response.status_code == 200, response.text
    Completion.model_validate_json(response.content, strict=True)
    return response.json()


def stream(served: Live, prompt: Any, **fields: Any) -> list[Any]:
    response = post(served, prompt, stream=True, **fields)
    assert response.status_code == 200, response.text
    events = response.text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    chunks = [event.removeprefix("data: ") for event in events[:-2]]
    for chunk in chunks:
        if "usage" in json.loads(chunk):
            Completion.model_validate_json(chunk, strict=True)
    return [json.loads(chunk) for chunk in chunks]


def refusal(response: httpx2.Response) -> Any:
    assert response.status_code == 400, response.text
    return response.json()["error"]


def test_a_completion_has_every_field_of_openai(served: Live) -> None:
    body = ask(served, "<<echo hello>>")
    assert body["id"].startswith("cmpl-")
    assert body["object"] == "text_completion"
    (choice,) = body["choices"]
    assert choice["text"] == "hello"
    assert choice["finish_reason"] == "stop"
    assert choice["logprobs"] is None
    assert body["usage"]["total_tokens"] == len("<<echo hello>>hello")


def test_the_default_budget_is_16_tokens(served: Live) -> None:
    (choice,) = ask(served, f"<<echo {'x' * 40}>>")["choices"]
    assert (choice["text"], choice["finish_reason"]) == ("x" * 16, "length")


def test_prompts_are_texts_or_tokens_or_lists_of_them(served: Live) -> None:
    first, second = "<<echo a>>", "<<echo b>>"
    tokens = [list(first.encode()), list(second.encode())]
    assert ask(served, tokens[0])["choices"][0]["text"] == "a"
    for prompts in ([first, second], tokens):
        choices = ask(served, prompts, n=2)["choices"]
        assert [choice["index"] for choice in choices] == [0, 1, 2, 3]
        assert [choice["text"] for choice in choices] == ["a", "a", "b", "b"]
        chunks = stream(served, prompts, n=2)
        texts = ["", "", "", ""]
        for chunk in chunks:
            texts[chunk["choices"][0]["index"]] += chunk["choices"][0]["text"]
        assert texts == ["a", "a", "b", "b"]


@pytest.mark.parametrize("prompt", [[], [[]], [[300]], [-1], "", None, 5, [1, "a"]])
def test_what_is_no_prompt_is_refused(served: Live, prompt: Any) -> None:
    refusal(post(served, prompt))


def test_echo_puts_the_prompt_before_each_text(served: Live) -> None:
    for prompt in ("<<echo a>>", list(b"<<echo a>>")):
        assert ask(served, prompt, echo=True)["choices"][0]["text"] == "<<echo a>>a"
    texts = [chunk["choices"][0]["text"] for chunk in stream(served, "<<echo a>>", echo=True)]
    assert "".join(texts) == "<<echo a>>a"
    assert refusal(post(served, "a", echo=True, logprobs=0))["param"] == "echo"


def test_what_is_not_there_is_refused_clearly(served: Live) -> None:
    assert "fill in the middle" in refusal(post(served, "a", suffix="b"))["message"]
    assert refusal(post(served, "a", best_of=2))["param"] == "best_of"
    ask(served, "<<echo a>>", best_of=1)
    assert refusal(post(served, "a", logprobs=21))["param"] == "logprobs"
    assert refusal(post(served, ["a"] * 65, n=2))["param"] == "n"


def test_logprobs_have_tokens_offsets_and_alternatives(served: Live) -> None:
    whole = ask(served, "<<echo a€b>>", logprobs=1)["choices"][0]["logprobs"]
    assert whole["tokens"] == ["a", "bytes:\\xe2", "bytes:\\x82", "bytes:\\xac", "b"]
    assert whole["text_offset"] == [0, 1, 1, 1, 2]
    assert whole["token_logprobs"][0] == -97 / 64
    assert whole["top_logprobs"][0] == {"a": -97 / 64}
    chunks = [
        chunk["choices"][0]["logprobs"] for chunk in stream(served, "<<echo a€b>>", logprobs=1)
    ]
    for key in whole:
        assert [x for chunk in chunks for x in (chunk or {key: []})[key]] == whole[key]


def test_a_stream_ends_with_one_reason_and_usage_on_request(served: Live) -> None:
    chunks = stream(served, "<<echo abc>>", stream_options={"include_usage": True})
    *_, end, last = chunks
    assert end["choices"][0]["finish_reason"] == "stop"
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == 3
    assert all(chunk["usage"] is None for chunk in chunks[:-1])


def test_a_constraint_holds_here_too(served: Live) -> None:
    form = {"type": "json_object"}
    assert ask(served, '<<echo {"a":1}>>', response_format=form)["choices"][0]["text"] == '{"a":1}'
    assert post(served, "<<echo a>>", response_format=form).status_code == 500


def test_the_client_of_openai_reads_completions(client: openai.OpenAI) -> None:
    whole = client.completions.create(
        model="scripted", prompt=["<<echo a>>", "<<echo b>>"], n=2, logprobs=2, max_tokens=5
    )
    assert [choice.text for choice in whole.choices] == ["a", "a", "b", "b"]
    # The client's type has no null for the reason of a chunk, which OpenAI sends before the last one.
    with openai.OpenAI(base_url=client.base_url, api_key="any", max_retries=0) as loose:
        chunks = loose.completions.create(model="scripted", prompt="<<echo abc>>", stream=True)
        assert "".join(chunk.choices[0].text for chunk in chunks) == "abc"
