"""What each wire format lets a model write, and that it is read back as written, however it is divided."""

import json
import random
from functools import cache
from typing import Any

import jsonschema
import pytest
from intaglio.grammar.api import Compiler, DeviceTables, Violation, tables_of
from intaglio.service.tools.known_formats import FORMATS, format_of
from intaglio.service.tools.reply_parts import (
    ContentText,
    ReplyPart,
    ToolCallArguments,
    ToolCallStart,
)
from intaglio.service.tools.tool_format import ToolFormat
from intaglio.service.tools.tool_plan import ToolPlan, plan_tools
from intaglio.service.tools.tool_reader import ToolReader, read_whole
from intaglio.service.tools.tool_values import Tool, ToolChoice

from tests.support.tokens import small

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = (Tool("get_weather", "The weather.", CITY), Tool("now"))
WEATHER = ("get_weather", {"city": 'Aix "}]" \\ é', "days": 3})
NOW: tuple[str, dict[str, object]] = ("now", {})
ALL = sorted(FORMATS)


@cache
def compiler() -> Compiler:
    return Compiler(small().vocabulary(), small().canonical)


def takes(plan: ToolPlan, text: str) -> bool:
    matcher = compiler().compile(plan.constraint).matcher()
    try:
        for token in (*small().canonical(text.encode()), small().end_ids[0]):
            matcher.accept(token)
    except Violation:
        return False
    return matcher.finished


def written(form: ToolFormat, calls: list[tuple[str, Any]], opening: int = 0) -> str:
    """Calls as a model writes them."""
    texts = [
        form.before_name + name + form.after_name + form.written(given) + form.after_arguments
        for name, given in calls
    ]
    return form.openings[opening] + form.between.join(texts) + form.closing


@pytest.mark.parametrize("name", ALL)
def test_calls_of_known_tools_are_allowed(name: str) -> None:
    form = FORMATS[name]
    plan = plan_tools(form, TOOLS, ToolChoice())
    for opening in range(len(form.openings)):
        assert takes(plan, written(form, [WEATHER], opening))
        assert takes(plan, written(form, [NOW], opening))
    assert takes(plan, "It is sunny. {} <tool [TOOL")
    assert takes(plan, "")
    assert not takes(plan, written(form, [("other", {})]))
    assert not takes(plan, written(form, [("get_weather", {"town": "Aix"})]))
    assert not takes(plan, written(form, [("get_weather", {})]))
    assert not takes(plan, form.trigger)


@pytest.mark.parametrize("name", ALL)
def test_a_function_gets_no_argument_that_its_parameters_do_not_declare(name: str) -> None:
    form = FORMATS[name]
    open_schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    plan = plan_tools(form, (Tool("get_weather", "", open_schema),), ToolChoice(mode="required"))
    assert takes(plan, written(form, [("get_weather", {"city": "Aix"})]))
    assert not takes(plan, written(form, [("get_weather", {"city": "Aix", "town": "Aix"})]))
    asks = {**open_schema, "additionalProperties": {"type": "integer"}}
    plan = plan_tools(form, (Tool("get_weather", "", asks),), ToolChoice(mode="required"))
    assert takes(plan, written(form, [("get_weather", {"city": "Aix", "days": 3})]))


@pytest.mark.parametrize("name", ALL)
def test_text_may_precede_calls_where_the_format_has_a_mark(name: str) -> None:
    form = FORMATS[name]
    text = "Let me see.\n" + written(form, [NOW])
    assert takes(plan_tools(form, TOOLS, ToolChoice()), text)
    content, calls = read_whole(ToolReader(form), text)
    if form.only_at_start:
        assert (content, calls) == (text, ())
    else:
        assert content == "Let me see.\n"
        assert [(call.name, call.arguments) for call in calls] == [("now", "{}")]


@pytest.mark.parametrize("name", ALL)
def test_nothing_follows_calls(name: str) -> None:
    form = FORMATS[name]
    assert not takes(plan_tools(form, TOOLS, ToolChoice()), written(form, [NOW]) + " So.")


@pytest.mark.parametrize("name", ALL)
def test_required_means_a_call(name: str) -> None:
    plan = plan_tools(FORMATS[name], TOOLS, ToolChoice("required"))
    assert takes(plan, written(FORMATS[name], [NOW]))
    assert not takes(plan, "It is sunny.")
    assert not takes(plan, "")


@pytest.mark.parametrize("name", ALL)
def test_a_choice_of_tools_excludes_the_others(name: str) -> None:
    plan = plan_tools(FORMATS[name], TOOLS, ToolChoice("required", frozenset({"now"})))
    assert takes(plan, written(FORMATS[name], [NOW]))
    assert not takes(plan, written(FORMATS[name], [WEATHER]))


def test_a_choice_without_tools_is_an_error() -> None:
    with pytest.raises(ValueError, match="no tool"):
        plan_tools(FORMATS["hermes"], TOOLS, ToolChoice("required", frozenset({"other"})))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("parallel", [True, False])
def test_calls_are_parallel_where_that_is_allowed(name: str, *, parallel: bool) -> None:
    form = FORMATS[name]
    plan = plan_tools(form, TOOLS, ToolChoice("required", parallel=parallel))
    assert takes(plan, written(form, [WEATHER]))
    assert takes(plan, written(form, [WEATHER, NOW, NOW])) == (parallel and form.several)


@pytest.mark.parametrize("name", ["hermes", "mistral", "mistral_args"])
def test_answers_without_calls_may_have_a_schema(name: str) -> None:
    form = FORMATS[name]
    content = {"type": "json_schema", "json_schema": {"type": "object", "properties": {}}}
    plan = plan_tools(form, TOOLS, ToolChoice(), content)
    assert takes(plan, "{}")
    assert takes(plan, written(form, [NOW]))
    assert not takes(plan, "It is sunny.")


@pytest.mark.parametrize("name", ["hermes", "mistral", "mistral_args"])
def test_only_arguments_have_the_white_space_of_the_format(name: str) -> None:
    form = FORMATS[name]
    content = {"type": "json_schema", "json_schema": CITY}
    plan = plan_tools(form, TOOLS, ToolChoice(), content)
    assert takes(plan, '{"city":"Aix","days":3}')
    assert not takes(plan, '{"city": "Aix", "days": 3}')
    call = written(form, [("get_weather", {"city": "Aix", "days": 3})])
    assert '{"city": "Aix", "days": 3}' in call
    assert takes(plan, call)
    assert not takes(plan, call.replace('"city": ', '"city":'))


def test_an_extraction_model_calls_in_compact_json_and_is_shown_the_schema_of_a_call() -> None:
    form = FORMATS["extraction"]
    plan = plan_tools(form, TOOLS[:1], ToolChoice("required"))
    call = '{"name":"get_weather","arguments":{"city":"Aix","days":3}}'
    assert takes(plan, call)
    assert not takes(plan, call.replace(",", ", "))
    assert plan.shown is not None
    jsonschema.validate(json.loads(call), plan.shown)
    several = plan_tools(form, TOOLS, ToolChoice("required")).shown
    assert several is not None
    for each in (call, '{"name":"now","arguments":{}}'):
        jsonschema.validate(json.loads(each), several)
    assert plan_tools(FORMATS["hermes"], TOOLS, ToolChoice()).shown is None


@pytest.mark.parametrize("name", ALL)
def test_masks_are_made_on_the_device(name: str) -> None:
    plan = plan_tools(FORMATS[name], TOOLS, ToolChoice())
    assert isinstance(tables_of(plan.constraint), DeviceTables)


def joined(events: list[ReplyPart]) -> list[ReplyPart]:
    """Events with neighbouring pieces joined."""
    found: list[ReplyPart] = []
    for event in events:
        match found[-1:], event:
            case [ContentText(before)], ContentText(text):
                found[-1] = ContentText(before + text)
            case [ToolCallArguments(index, before)], ToolCallArguments(same, text) if index == same:
                found[-1] = ToolCallArguments(index, before + text)
            case _:
                found.append(event)
    return found


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", range(8))
def test_the_division_of_a_text_changes_nothing(name: str, seed: int) -> None:
    form, draw = FORMATS[name], random.Random(seed)
    calls = [draw.choice([WEATHER, NOW]) for _ in range(1 + draw.randrange(3) * form.several)]
    before = "" if form.only_at_start else draw.choice(["", "a <", "<tool_", "[TOOL_CALLS", "\n"])
    text = draw.choice([before + written(form, calls), "only text < [", '{"name'])
    whole = ToolReader(form, new_id=lambda: "id")
    expected = joined([*whole.read(text), *whole.finish()])
    reader = ToolReader(form, new_id=lambda: "id")
    events: list[ReplyPart] = []
    at = 0
    while at < len(text):
        size = draw.randint(1, 5)
        events += reader.read(text[at : at + size])
        at += size
    events += reader.finish()
    assert joined(events) == expected
    if text.startswith(before) and "only" not in text and text != '{"name':
        starts = [event for event in events if isinstance(event, ToolCallStart)]
        assert [(start.index, start.name) for start in starts] == [
            (index, call[0]) for index, call in enumerate(calls)
        ]
        pieces = [e.text for e in joined(events) if isinstance(e, ToolCallArguments)]
        assert [json.loads(piece) for piece in pieces] == [given for _, given in calls]


def test_ids_are_new_and_have_the_required_length() -> None:
    ids = {FORMATS["mistral"].new_id() for _ in range(50)}
    assert len(ids) == 50
    assert all(len(each) == 9 and each.isalnum() for each in ids)
    assert FORMATS["hermes"].new_id().startswith("call_")


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("{{ '[TOOL_CALLS]' }}{{ '[ARGS]' }}", "mistral_args"),
        ("{{ '[TOOL_CALLS] [' }}", "mistral"),
        ("{{ '<tool_call>' }}", "hermes"),
        ("<|start_header_id|>{% if tools %}", "llama3"),
        ("{{ messages }}", "hermes"),
        ("{{ schema }}{{ document }}", "extraction"),
    ],
)
def test_a_template_tells_the_format(template: str, name: str) -> None:
    assert format_of(template).name == name
    assert format_of(template, "llama3").name == "llama3"
    with pytest.raises(KeyError):
        format_of(template, "other")
