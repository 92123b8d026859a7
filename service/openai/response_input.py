"""The input of a response as a conversation: items to messages.

Does: put calls and the text before them into one message, as chats have it, and reject parts that are not text; write
items of a kept input. Does not: render messages (`chat_prompt`), or read items (`schemas/openai/responses_items.py`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from intaglio.schemas.openai.responses_items import (
    InputCall,
    InputCallOutput,
    InputItem,
    InputMessage,
    InputPart,
    InputReasoning,
)

Message = dict[str, Any]
"""A message as `tools.tool_messages.template_messages` takes it."""


def conversation(
    given: str | Sequence[InputItem] | None, instructions: str | None
) -> list[Message]:
    """The messages of an input: the instructions as the system's, a text as the user's."""
    found: list[Message] = []
    if instructions:
        found.append({"role": "system", "content": instructions})
    if isinstance(given, str):
        return [*found, {"role": "user", "content": given}]
    reasoning = ""
    for item in given or ():
        match item:
            case InputMessage():
                role = "system" if item.role == "developer" else item.role
                message: Message = {"role": role, "content": _text(item.content)}
                if role == "assistant" and reasoning:
                    message["reasoning_content"] = reasoning
                reasoning = ""
                found.append(message)
            case InputCall():
                _add_call(found, item, reasoning)
                reasoning = ""
            case InputCallOutput():
                output = _text(item.output)
                found.append({"role": "tool", "content": output, "tool_call_id": item.call_id})
            case InputReasoning():
                reasoning = _text(item.content or ())
    return _system_first(found)


def listed(item: Mapping[str, Any], number: int) -> dict[str, Any]:
    """An item of a kept input as clients read it: with an id, and the text of a message as a part."""
    found = {**item, "id": item.get("id") or f"item_{number}"}
    if isinstance(text := item.get("content"), str):
        kind = "output_text" if item["role"] == "assistant" else "input_text"
        more: dict[str, Any] = {"annotations": []} if kind == "output_text" else {}
        found["content"] = [{"type": kind, "text": text, **more}]
    return found


def _add_call(found: list[Message], item: InputCall, reasoning: str) -> None:
    """Add a call to the assistant's message, if that is the last one, or as a new one."""
    if not found or found[-1]["role"] != "assistant":
        found.append({"role": "assistant", "content": None})
        if reasoning:
            found[-1]["reasoning_content"] = reasoning
    call = {"id": item.call_id, "name": item.name, "arguments": item.arguments}
    found[-1].setdefault("tool_calls", []).append(call)


def _text(content: str | Iterable[InputPart]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join((part.refusal if part.text is None else part.text) or "" for part in content)


def _system_first(messages: list[Message]) -> list[Message]:
    """One system message in front, where many templates require it, if the first ones are the system's."""
    count = 0
    while count < len(messages) and messages[count]["role"] == "system":
        count += 1
    if count < 2:
        return messages
    text = "\n\n".join(message["content"] for message in messages[:count])
    return [{"role": "system", "content": text}, *messages[count:]]
