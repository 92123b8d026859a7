"""Reasoning in chat completions: the requests that have it, and its place in answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.schemas.openai.chat_completions import ChatCompletion

from tests.support.live_service import Live, live
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

# The model reasons unless it is told otherwise, as Qwen 3 does.
TEMPLATE = (
    "{% for m in messages %}{{ m.content }}\n{% endfor %}"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}"
)

# The model has channels, as gpt-oss does; the template has the engine say how much it is to reason.
CHANNELS = (
    "{% for m in messages %}{{ m.content }}{% endfor %}<<echo {{ reasoning_effort or 'medium' }}>>"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}{# <|channel|>analysis<|message|> #}"
)


@pytest.fixture(scope="module")
def thinking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder: Path = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    with live(launch(), folder) as running:
        yield running


@pytest.fixture(scope="module")
def channels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder: Path = write_checkpoint(tmp_path_factory.mktemp("channels") / "scripted", LLAMA)
    (folder / "chat_template.jinja").write_text(CHANNELS)
    with live(launch(), folder) as running:
        yield running


def ask(served: Live, said: str, **fields: Any) -> Any:
    messages = [{"role": "user", "content": f"<<echo {said}>>"}]
    response = served.http.post("/v1/chat/completions", json={"messages": messages, **fields})
    assert response.status_code == 200, response.text
    ChatCompletion.model_validate_json(response.content, strict=True)
    return response.json()


def message(answer: Any) -> tuple[str | None, str]:
    (choice,) = answer["choices"]
    return choice["message"].get("reasoning_content"), choice["message"]["content"]


def test_reasoning_is_apart_from_the_content(thinking: Live) -> None:
    answer = ask(thinking, "abc</think>d")
    # The scripted engine says the same to both requests of the generation.
    assert message(answer) == ("abc", "abc</think>d")
    assert answer["usage"]["completion_tokens_details"] == {"reasoning_tokens": 11}


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_effort": "none"},
        {"thinking_token_budget": 0},
        {"chat_template_kwargs": {"enable_thinking": False}},
    ],
)
def test_a_request_can_turn_it_off(thinking: Live, fields: dict[str, Any]) -> None:
    answer = ask(thinking, "abc", **fields)
    assert message(answer) == (None, "abc")
    assert "completion_tokens_details" not in answer["usage"]


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"thinking_token_budget": 5}, 5),
        ({"max_tokens": 40, "reasoning_effort": "low"}, 10),
        ({"max_tokens": 40}, 20),
    ],
)
def test_a_budget_bounds_it(thinking: Live, fields: dict[str, Any], count: int) -> None:
    reasoning, content = message(ask(thinking, "x" * 30, **fields))
    assert reasoning == "x" * count
    assert content.startswith("x")


def test_a_stream_has_it_before_the_content(thinking: Live) -> None:
    messages = [{"role": "user", "content": "<<echo ab</think>c>>"}]
    response = thinking.http.post(
        "/v1/chat/completions", json={"messages": messages, "stream": True}
    )
    lines = [line for line in response.text.split("\n\n") if "delta" in line]
    places = [line.find("reasoning_content") >= 0 for line in lines]
    assert places.index(True) == 1
    assert places[1:] == sorted(places[1:], reverse=True)
    read = [json.loads(line.removeprefix("data: "))["choices"][0]["delta"] for line in lines]
    assert "".join(delta.get("reasoning_content", "") for delta in read) == "ab"


def test_models_without_reasoning_ignore_the_fields(served: Live) -> None:
    fields: dict[str, Any] = {"reasoning_effort": "high", "thinking_token_budget": 3}
    assert message(ask(served, "abc", **fields)) == (None, "abc")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        (
            {"chat_template_kwargs": {"enable_thinking": "no"}},
            "chat_template_kwargs.enable_thinking",
        ),
        ({"chat_template_kwargs": {"messages": []}}, "chat_template_kwargs.messages"),
        ({"reasoning_effort": "much"}, "reasoning_effort"),
    ],
)
def test_what_makes_no_sense_is_refused(thinking: Live, fields: dict[str, Any], param: str) -> None:
    given = {"messages": [{"role": "user", "content": "x"}], **fields}
    response = thinking.http.post("/v1/chat/completions", json=given)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param


@pytest.mark.parametrize(
    ("effort", "told"), [(None, "medium"), ("minimal", "low"), ("high", "high"), ("xhigh", "high")]
)
def test_a_model_with_channels_reasons_as_much_as_it_is_told(
    channels: Live, effort: str | None, told: str
) -> None:
    fields = {} if effort is None else {"reasoning_effort": effort}
    assert message(ask(channels, "", **fields)) == (told, told)


def test_a_model_with_channels_answers_at_once_where_it_is_told_to(channels: Live) -> None:
    answer = ask(channels, "", reasoning_effort="none")
    assert message(answer) == (None, "low")
    prompt = "<<echo >><<echo low>><|start|>assistant<|channel|>final<|message|>"
    assert answer["usage"]["prompt_tokens"] == len(prompt)  # all of it bytes, in this vocabulary
