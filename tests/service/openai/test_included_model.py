"""Tools with the included model, over HTTP: arguments are compact, valid, and the values of the message."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from intaglio.engine.api import EngineConfig, Launch, model_folder

from tests.support.live_service import Live, live


def function(name: str, does: str, **types: str) -> Any:
    parameters = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in types.items()},
        "required": list(types),
    }
    given = {"name": name, "description": does, "parameters": parameters}
    return {"type": "function", "function": given}


WEATHER = function("get_weather", "The weather of a city", city="string", days="integer")
ORDER = function("order_item", "Order a product", product="string", quantity="integer")
INVOICE = function("pay_invoice", "Pay an invoice", number="string", amount="number")
LISBON = "What is the weather in Lisbon for the next 3 days?"
CASES = [
    (WEATHER, LISBON, '{"city":"Lisbon","days":3}'),
    (ORDER, "Please order 12 ceramic mugs.", '{"product":"ceramic mugs","quantity":12}'),
    (INVOICE, "Pay invoice INV-2041 over 312.50 EUR.", '{"number":"INV-2041","amount":312.5}'),
]


@pytest.fixture(scope="module")
def included() -> Iterator[Live]:
    folder = model_folder(None)
    settings = {"model": str(folder), "device": "cpu", "num_blocks": 512, "grammar_warm": 0}
    engine = EngineConfig.load(settings, environ={})
    with live(Launch.of(engine), folder) as running:
        yield running


def ask(included: Live, text: str, **fields: Any) -> Any:
    messages = [{"role": "user", "content": text}]
    body = {"messages": messages, "temperature": 0, **fields}
    response = included.http.post("/v1/chat/completions", json=body)
    assert response.status_code == 200, response.text
    return response.json()["choices"][0]


@pytest.mark.parametrize("choice", ["auto", "required", "function"])
@pytest.mark.parametrize(("tool", "text", "arguments"), CASES)
def test_arguments_are_compact_and_right(
    included: Live, tool: Any, text: str, arguments: str, choice: str
) -> None:
    name = tool["function"]["name"]
    named = {"type": "function", "function": {"name": name}}
    fields = {"tools": [tool], "tool_choice": named if choice == "function" else choice}
    (call,) = ask(included, text, **fields)["message"]["tool_calls"]
    assert call["function"] == {"name": name, "arguments": arguments}


def test_a_named_function_among_several_is_called_with_the_right_values(included: Live) -> None:
    named = {"type": "function", "function": {"name": "get_weather"}}
    tools = [ORDER, INVOICE, WEATHER]
    (call,) = ask(included, LISBON, tools=tools, tool_choice=named)["message"]["tool_calls"]
    assert call["function"] == {"name": "get_weather", "arguments": '{"city":"Lisbon","days":3}'}


def test_a_form_of_the_answer_is_compact_and_right_together_with_tools(included: Live) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["name", "days"],
    }
    form = {"type": "json_schema", "json_schema": {"name": "stay", "schema": schema}}
    choice = ask(included, "Name: Ada Lovelace. Days: 4.", tools=[ORDER], response_format=form)
    assert choice["finish_reason"] == "stop"
    content = choice["message"]["content"]
    assert content == json.dumps({"name": "Ada Lovelace", "days": 4}, separators=(",", ":"))
    required = ask(included, LISBON, tools=[WEATHER], response_format=form, tool_choice="required")
    (call,) = required["message"]["tool_calls"]
    assert call["function"]["arguments"] == '{"city":"Lisbon","days":3}'
