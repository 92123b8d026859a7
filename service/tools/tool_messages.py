"""Tools, calls and results in the form that chat templates render.

Does: parse the arguments of earlier calls, shorten ids where a template requires it, and describe tools and write calls
as plain text for templates that do not render tools. Does not: render (`ChatTemplate`).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from intaglio.grammar.api import InvalidJson, parse_json
from intaglio.schemas.problem import Detail

from ..errors import InvalidBody
from .known_formats import renders_tools
from .tool_format import ToolFormat
from .tool_values import Tool

Message = dict[str, Any]

_INTRODUCTION: Final = (
    "You may call functions. Each line describes one:\n{tools}\n"
    "To call a function, answer with {call} and nothing after it."
)


def template_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The value of a template's variable `tools`."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters or {"type": "object", "properties": {}}),
            },
        }
        for tool in tools
    ]


def template_messages(
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Tool],
    form: ToolFormat,
    template: str,
    pointer: str = "/messages",
) -> list[Message]:
    """Messages of a conversation, for a template with the source `template`.

    A message has `role`, `content` (text or None) and, where they apply, `tool_calls` (each with `id`, `name` and
    `arguments`, as JSON text), `tool_call_id` and `name`. `pointer`: the place of the messages in the request.

    Raises:
        InvalidBody: the arguments of a call are not a JSON object.
    """
    native = renders_tools(template)
    names: dict[str, str] = {}
    found = []
    for number, message in enumerate(messages):
        each: Message = {"role": message["role"], "content": message.get("content") or ""}
        if message.get("name"):
            each["name"] = message["name"]
        if message.get("reasoning_content"):
            each["reasoning_content"] = message["reasoning_content"]
        calls = message.get("tool_calls") or ()
        names.update({call["id"]: call["name"] for call in calls})
        if calls:
            place = f"{pointer}/{number}/tool_calls"
            parsed = [_parsed(call, f"{place}/{i}") for i, call in enumerate(calls)]
            if native:
                each["tool_calls"] = [
                    _call(*call, form) for call in zip(calls, parsed, strict=True)
                ]
            else:
                each["content"] += _written(calls, parsed, form)
        if message["role"] == "tool":
            _add_result(each, message, names, form, native=native)
        found.append(each)
    if tools and not native:
        _introduce(found, tools, form)
    return found


def short_id(call: str, form: ToolFormat) -> str:
    """The id of a call as templates of this format accept it: of a given length, where they check it."""
    if form.id_length is None or (len(call) == form.id_length and call.isalnum()):
        return call
    return hashlib.sha256(call.encode()).hexdigest()[: form.id_length]


def _parsed(call: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    reason = "the arguments are not a JSON object"
    try:
        value = parse_json(call["arguments"] or "{}")
    except InvalidJson as error:
        reason = f"{reason}: {error}"
        value = None
    if isinstance(value, dict):
        return value
    place = f"{pointer}/function/arguments"
    raise InvalidBody(
        f"{place}: {reason}",
        param=place[1:].replace("/", "."),
        hint="give the arguments as the service returned them",
        details=(Detail(pointer=place, reason=reason),),
    )


def _call(call: Mapping[str, Any], arguments: dict[str, Any], form: ToolFormat) -> Message:
    return {
        "id": short_id(call["id"], form),
        "type": "function",
        "function": {"name": call["name"], "arguments": arguments},
    }


def _add_result(
    each: Message,
    message: Mapping[str, Any],
    names: Mapping[str, str],
    form: ToolFormat,
    *,
    native: bool,
) -> None:
    """Add the name and id of the call to its result."""
    call = message.get("tool_call_id") or ""
    name = message.get("name") or names.get(call, "")
    if native:
        each["tool_call_id"] = short_id(call, form)
        each["name"] = name
    else:
        each.update(role="user", content=f"Result of {name or 'the call'}: {each['content']}")


def _written(
    calls: Sequence[Mapping[str, Any]], parsed: Sequence[dict[str, Any]], form: ToolFormat
) -> str:
    """Calls as the model would have written them."""
    written = [
        f"{form.before_name}{call['name']}{form.after_name}"
        f"{form.written(arguments)}{form.after_arguments}"
        for call, arguments in zip(calls, parsed, strict=True)
    ]
    opening = form.openings[0]
    return opening + form.between.join(written) + form.closing


def _introduce(messages: list[Message], tools: Sequence[Tool], form: ToolFormat) -> None:
    """Describe the tools in the system message."""
    lines = [json.dumps(tool["function"], ensure_ascii=False) for tool in template_tools(tools)]
    call = form.openings[0] + (
        f"{form.before_name}NAME{form.after_name}{{...}}{form.after_arguments}{form.closing}"
    )
    text = _INTRODUCTION.format(tools="\n".join(lines), call=call)
    if messages and messages[0]["role"] in ("system", "developer"):
        messages[0]["content"] = f"{messages[0]['content']}\n\n{text}".strip()
    else:
        messages.insert(0, {"role": "system", "content": text})
