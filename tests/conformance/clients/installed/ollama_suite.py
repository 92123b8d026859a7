"""Ollama's own client, where that is installed."""

import os

import ollama
import pytest
from pydantic import BaseModel

MODEL = os.environ["CLIENTS_MODEL"]
client = ollama.Client(os.environ["CLIENTS_URL"])


class City(BaseModel):
    """A city."""

    name: str
    population: int


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


def test_chat() -> None:
    answer = client.chat(MODEL, [{"role": "user", "content": "Hello"}])
    assert answer.message.content
    assert (answer.done, answer.done_reason) == (True, "stop")
    assert answer.eval_count
    assert answer.total_duration


def test_streams() -> None:
    pieces = list(client.chat(MODEL, [{"role": "user", "content": "Hello"}], stream=True))
    assert len(pieces) > 1
    assert [piece.done for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    texts = [part.response for part in client.generate(MODEL, "Hello", stream=True)]
    assert "".join(texts) == "".join(piece.message.content or "" for piece in pieces)


@pytest.mark.parametrize("stream", [False, True])
def test_format(stream: bool) -> None:
    schema = City.model_json_schema()
    prompt = "Describe Bern as JSON."
    if stream:
        parts = client.generate(MODEL, prompt, format=schema, stream=True)
        text = "".join(part.response for part in parts)
    else:
        text = client.generate(MODEL, prompt, format=schema).response
    assert City.model_validate_json(text) == City(name="Bern", population=134591)


def test_tools() -> None:
    answer = client.chat(MODEL, [{"role": "user", "content": "Add 2 and 3."}], tools=[add])
    (call,) = answer.message.tool_calls or ()
    assert (call.function.name, dict(call.function.arguments)) == ("add", {"a": 2, "b": 3})
    history = [
        {"role": "user", "content": "Add 2 and 3."},
        answer.message,
        {"role": "tool", "content": "5", "tool_name": "add"},
        {"role": "user", "content": "Say hello."},
    ]
    assert client.chat(MODEL, history).message.content


def test_models() -> None:
    (model,) = client.list().models
    assert model.model == MODEL
    shown = client.show(MODEL)
    assert "completion" in (shown.capabilities or ())


def test_errors() -> None:
    with pytest.raises(ollama.ResponseError) as error:
        client.chat("other", [{"role": "user", "content": "Hello"}])
    assert error.value.status_code == 404
