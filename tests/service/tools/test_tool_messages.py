"""Tools, calls and results as templates need them: whole templates of each family, and templates without tools."""

import json
from typing import Any

import pytest
from intaglio.engine.api import ChatTemplate
from intaglio.service.errors import InvalidBody
from intaglio.service.tools.known_formats import FORMATS, format_of
from intaglio.service.tools.tool_messages import short_id, template_messages, template_tools
from intaglio.service.tools.tool_reader import ToolReader, read_whole
from intaglio.service.tools.tool_values import Tool

from tests.support.tokens import small

TOOLS = (Tool("now", "The time.", {"type": "object", "properties": {"zone": {"type": "string"}}}),)
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "What time is it?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_abc", "name": "now", "arguments": '{"zone": "UTC"}'}],
    },
    {"role": "tool", "tool_call_id": "call_abc", "content": "12:00"},
]
# Templates as published ones are written, with one thing each that a careless rendering breaks.
TEMPLATES = {
    "hermes": (
        "{% for t in tools %}{{ t | tojson }}{% endfor %}{% for m in messages %}<{{ m.role }}>{{ m.content }}"
        "{% for c in m.tool_calls %}{% if c.function %}{% set c = c.function %}{% endif %}"
        '<tool_call>\n{"name": "{{ c.name }}", "arguments": {{ c.arguments | tojson }}}\n</tool_call>'
        "{% endfor %}{% endfor %}"
    ),
    "llama3": (
        "{% if tools is not none %}{% for t in tools %}{{ t | tojson(indent=4) }}{% endfor %}{% endif %}"
        "{% for m in messages %}<|start_header_id|>{{ m.role }}{% if 'tool_calls' in m %}"
        "{% if m.tool_calls|length != 1 %}{{ raise_exception('one call') }}{% endif %}"
        "{% set c = m.tool_calls[0].function %}"
        '{"name": "{{ c.name | trim }}", "parameters": {{ c.arguments | tojson }}}'
        "{% else %}{{ m.content }}{% endif %}{% endfor %}"
    ),
    "mistral": (
        "[AVAILABLE_TOOLS] [{% for t in tools %}{{ t.function | tojson }}{% endfor %}]"
        "{% for m in messages %}{% if m.tool_calls %}[TOOL_CALLS] ["
        "{% for c in m.tool_calls %}{% if c.id|length != 9 %}{{ raise_exception('nine') }}{% endif %}"
        '{{ c.function|tojson }}, "id": "{{ c.id }}"{% endfor %}]'
        "{% elif m.role == 'tool' %}{% if m.tool_call_id|length != 9 %}{{ raise_exception('nine') }}"
        "{% endif %}[TOOL_RESULTS]{{ m.tool_call_id }}{{ m.content }}{% else %}{{ m.content }}{% endif %}"
        "{% endfor %}"
    ),
}


def rendered(source: str, talk: list[dict[str, Any]], tools: tuple[Tool, ...] = TOOLS) -> str:
    form = format_of(source)
    messages = template_messages(talk, tools, form, source)
    template = ChatTemplate(small(), source)
    pieces = template.render(messages, {"tools": template_tools(tools)})
    return "".join(piece.text for piece in pieces)


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_a_template_renders_tools_calls_and_results(name: str) -> None:
    source = TEMPLATES[name]
    assert format_of(source).name == name
    text = rendered(source, TALK)
    assert '"description": "The time."' in text
    assert '"zone": "UTC"' in text
    assert "12:00" in text
    assert "None" not in text


def test_ids_have_the_length_that_a_template_checks() -> None:
    mistral = FORMATS["mistral"]
    assert short_id("call_abc", mistral) == short_id("call_abc", mistral) != "call_abc"
    assert len(short_id("call_abc", mistral)) == 9
    assert short_id("a1b2c3d4e", mistral) == "a1b2c3d4e"
    assert short_id("call_abc", FORMATS["hermes"]) == "call_abc"


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_template_without_tools_gets_them_as_text(name: str) -> None:
    plain = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    form = FORMATS[name]
    system, _, call, result = template_messages(TALK, TOOLS, form, plain)
    assert system["role"] == "system"
    assert '"name": "now"' in system["content"]
    assert form.before_name in system["content"]
    _, (made,) = read_whole(ToolReader(form), call["content"])
    assert (made.name, json.loads(made.arguments)) == ("now", {"zone": "UTC"})
    assert result == {"role": "user", "content": "Result of now: 12:00"}


def test_tools_are_added_to_the_callers_system_message() -> None:
    talk = [{"role": "system", "content": "Be brief."}, *TALK[:1]]
    messages = template_messages(talk, TOOLS, FORMATS["hermes"], "{{ messages }}")
    assert len(messages) == 2
    assert messages[0]["content"].startswith("Be brief.\n\nYou may call functions.")


@pytest.mark.parametrize("arguments", ["[1]", "{", "nul"])
def test_arguments_that_are_no_object_are_refused_at_their_place(arguments: str) -> None:
    call = {"id": "a", "name": "now", "arguments": arguments}
    talk = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    with pytest.raises(InvalidBody) as caught:
        template_messages(talk, TOOLS, FORMATS["hermes"], TEMPLATES["hermes"])
    assert caught.value.details[0].pointer == "/messages/0/tool_calls/0/function/arguments"
    assert caught.value.param == "messages.0.tool_calls.0.function.arguments"
