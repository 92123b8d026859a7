"""Unknown fields are told where what they mean belongs, and are no mistake in an object of a wrong type."""

from typing import Any

import pytest
from intaglio.schemas.base import Wire
from intaglio.schemas.openai.chat_completions import ChatRequest
from intaglio.schemas.openai.responses import ResponsesRequest
from intaglio.service.errors import InvalidBody, UnknownField
from intaglio.service.extraction.translate import validated

CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "x"}]}


@pytest.mark.parametrize(
    ("kind", "body", "hint"),
    [
        (ChatRequest, CHAT | {"functions": []}, "give /tools instead"),
        (ChatRequest, CHAT | {"function_call": "auto"}, "give /tool_choice instead"),
        (ResponsesRequest, {"messages": []}, "give /input instead"),
        (ResponsesRequest, {"response_format": {}}, "give /text/format instead"),
        (ResponsesRequest, {"max_tokens": 5}, "did you mean max_output_tokens"),
    ],
)
def test_a_field_of_another_interface_is_told_its_name_here(
    kind: type[Wire], body: dict[str, Any], hint: str
) -> None:
    with pytest.raises(UnknownField) as refused:
        validated(kind, body)
    assert [detail.hint for detail in refused.value.details] == [refused.value.hint] == [hint]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (ChatRequest, CHAT | {"audio": {"voice": "x"}}),  # messages have one, too
        (ResponsesRequest, {"stop": "x"}),  # store and top_p are spelt alike
    ],
)
def test_a_field_without_a_likely_meaning_gets_no_guess(
    kind: type[Wire], body: dict[str, Any]
) -> None:
    with pytest.raises(UnknownField) as refused:
        validated(kind, body)
    assert refused.value.hint.startswith("the fields are ")


@pytest.mark.parametrize(
    ("kind", "body", "place"),
    [
        (ChatRequest, CHAT | {"tools": [{"type": "custom", "custom": {"name": "x"}}]},
         "/tools/0/type"),
        (ResponsesRequest, {"tools": [{"type": "mcp", "server_url": "x"}]}, "/tools/0/type"),
        (ResponsesRequest, {"input": [{"role": "user", "content": [
            {"type": "input_file", "file_id": "x"}]}]}, "/input/0/content/0/type"),
    ],
)  # fmt: skip
def test_fields_of_an_object_with_a_wrong_type_are_not_the_mistake(
    kind: type[Wire], body: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidBody) as refused:
        validated(kind, body)
    assert refused.value.details[0].pointer == place


def test_an_unknown_field_beside_a_right_type_stays_the_mistake() -> None:
    choice = {"type": "function", "name": "f"}
    tools = [{"type": "function", "function": {"name": "f"}}]
    with pytest.raises(UnknownField) as refused:
        validated(ChatRequest, CHAT | {"tools": tools, "tool_choice": choice})
    assert refused.value.details[0].pointer == "/tool_choice/name"


def test_a_wrong_type_of_an_item_is_told_the_types_there_are() -> None:
    with pytest.raises(InvalidBody) as refused:
        validated(ResponsesRequest, {"input": [{"type": "item_reference", "id": "x"}]})
    assert refused.value.details[0].reason == (
        "type should be one of 'message', 'function_call', 'function_call_output', 'reasoning'"
    )
