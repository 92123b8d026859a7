"""The prompt of a conversation, from messages to tokens.

Does: bring messages into the form that chat templates expect, with tools and open reasoning where there are any, and
render them. Does not: change their contents, or show the model the schema of its answer, unless its template prints it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from intaglio.engine.api import Piece, marks_of, opening, switch_of
from intaglio.schemas.openai.chat_completions import ChatMessage, ContentPart

from ..dialects.stated import refused
from ..extraction.outline import outline
from ..extraction.prompt_text import prompt_text
from ..extraction.text_model import TextModel
from ..images.image_source import ImageSource, image_source
from ..tools.known_formats import format_of
from ..tools.tool_format import ToolFormat
from ..tools.tool_messages import template_messages, template_tools
from ..tools.tool_values import Tool

# Roles that templates do not know: `developer` is OpenAI's newer name for `system`, `function` the older one for
# `tool`.
_ROLES: Final = {"developer": "system", "function": "tool"}

_EFFORTS: Final = {"none": "low", "minimal": "low", "xhigh": "high"}
"""OpenAI's names that templates with a `reasoning_effort` do not know."""

_OWN: Final = frozenset({"messages", "tools", "schema", "document", "add_generation_prompt"})

Message = dict[str, Any]
"""A message as `tool_messages.template_messages` takes it."""


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """The parts of a prompt other than its messages.

    `tools` are described to the model; `variables` are the caller's, for the template. `reasons`: whether the model may
    reason; None: as its template has it. `effort` is how much, as OpenAI names it. `schema` is the one that the answer
    will meet. `pointer`: the place of the messages in the request.
    """

    tools: Sequence[Tool] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)
    reasons: bool | None = None
    effort: str | None = None
    schema: Any = None
    pointer: str = "/messages"


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """A rendered prompt. `reasons`: whether it leaves reasoning open, which the answer follows."""

    tokens: tuple[int, ...]
    reasons: bool = False


def chat_prompt(
    model: TextModel, messages: Sequence[Message], form: ToolFormat, options: PromptOptions
) -> ChatPrompt:
    """The prompt of a conversation, at the end of which the model answers.

    Templates of extraction models, the embedded one among them, print the schema in short form as `schema`, and the
    texts of the user as `document`, without control characters; other templates see the messages only, unchanged.

    Raises:
        InvalidBody: the arguments of a call are not a JSON object, or a variable has a name of the service's own.
        InvalidRequest: the template refuses the messages.
    """
    source = model.chat.source
    prepared = template_messages(messages, options.tools, form, source, options.pointer)
    variables = _variables(prepared, options)
    if "reasoning_effort" in source and options.effort is not None:
        variables.setdefault("reasoning_effort", _EFFORTS.get(options.effort, options.effort))
    pieces = model.chat.render(prepared, variables)
    marks = marks_of(source)
    if marks is None:
        return ChatPrompt(model.tokenizer.encode_pieces(pieces))
    switch = switch_of(variables) if options.reasons is None else options.reasons
    begin = opening(marks, "".join(piece.text for piece in pieces[-2:]), switch, source)
    pieces.append(Piece(begin.text, trusted=True))
    return ChatPrompt(model.tokenizer.encode_pieces(pieces), begin.reasons)


def chat_tokens(
    model: TextModel,
    messages: list[ChatMessage],
    *,
    add_generation_prompt: bool = True,
) -> tuple[int, ...]:
    """The tokens of a conversation without tools.

    Raises:
        InvalidBody: a message has no content, or the arguments of a call are not a JSON object.
        InvalidRequest: the template refuses the messages.
    """
    for image in image_sources(messages):
        raise refused(
            image.pointer,
            "the tokens of images are not listed",
            "POST /v1/chat/completions counts them in usage",
        )
    source = model.chat.source
    prepared = template_messages(conversation(messages), (), format_of(source), source)
    variables = _variables(prepared, PromptOptions())
    return model.chat.encode(prepared, variables, add_generation_prompt=add_generation_prompt)


def conversation(messages: Sequence[ChatMessage]) -> list[Message]:
    """Messages without OpenAI's names and parts.

    Raises:
        InvalidBody: a message has neither content nor calls.
    """
    return [_message(index, message) for index, message in enumerate(messages)]


def _message(index: int, message: ChatMessage) -> Message:
    content = message.content
    if isinstance(content, list):
        content = _parts(content)
    if content is None:
        content = message.refusal
    if content is None and not message.tool_calls:
        raise refused(f"/messages/{index}/content", "this field is required")
    found: Message = {"role": _ROLES.get(message.role, message.role), "content": content}
    if message.tool_calls:
        found["tool_calls"] = [
            {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
            for call in message.tool_calls
        ]
    for name in ("name", "tool_call_id", "reasoning_content"):
        value = getattr(message, name)
        if value is not None:
            found[name] = value
    return found


def user_text(messages: Sequence[Message]) -> str:
    """The text of the user: the document, for a model that extracts."""
    said = (message["content"] or "" for message in messages if message["role"] == "user")
    return "\n\n".join(
        each if isinstance(each, str) else "\n".join(part.get("text", "") for part in each)
        for each in said
    )


def image_sources(messages: Sequence[ChatMessage]) -> list[ImageSource]:
    """The images of a conversation, in its order.

    Raises:
        InvalidBody: an image is not a data URL, or in another message than one of the user.
    """
    found = []
    for index, message in enumerate(messages):
        parts = message.content if isinstance(message.content, list) else ()
        for number, part in enumerate(parts):
            if part.image_url is None:
                continue
            pointer = f"/messages/{index}/content/{number}/image_url/url"
            if message.role != "user":
                raise refused(pointer, "images are read in messages of the user only")
            found.append(image_source(part.image_url.url, part.image_url.detail, pointer))
    return found


def _parts(content: Sequence[ContentPart]) -> Any:
    """The text of a message; with images, the parts in the form of chat templates."""
    if not any(part.image_url for part in content):
        return "\n".join(_texts(content))
    return [
        {"type": "image"} if part.image_url else {"type": "text", "text": "".join(_texts([part]))}
        for part in content
    ]


def _variables(messages: Sequence[Message], options: PromptOptions) -> dict[str, Any]:
    for name in options.variables:
        if name in _OWN:
            place = f"/chat_template_kwargs/{name}"
            raise refused(place, "the service sets this variable itself", "omit it")
    variables = {
        **options.variables,
        "schema": outline(options.schema) if isinstance(options.schema, Mapping) else "",
        "document": prompt_text(user_text(messages)),
    }
    if options.tools:
        variables["tools"] = template_tools(options.tools)
    if options.reasons is not None:
        variables.setdefault("enable_thinking", options.reasons)
    return variables


def _texts(parts: Iterable[ContentPart]) -> Iterable[str]:
    for part in parts:
        yield (part.text if part.type == "text" else part.refusal) or ""
