"""The items of OpenAI's responses: messages, calls, results of calls, and reasoning.

Does: define shapes and bounds. Does not: turn items into prompts or answers into items (`service/openai`).
"""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from ..base import MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS, Wire
from .tools import FunctionName

MAX_PARTS = 4096

ItemStatus = Literal["in_progress", "completed", "incomplete"]


class InputPart(Wire):
    """A part of a message: text, or the text of a refusal. `annotations` and `logprobs` have no effect.

    Images and files are not supported.
    """

    type: Literal["input_text", "output_text", "text", "summary_text", "reasoning_text", "refusal"]
    text: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)
    refusal: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)
    annotations: list[Any] | None = None
    logprobs: list[Any] | None = None


class _InputBase(Wire):
    id: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    status: ItemStatus | None = None


class InputMessage(_InputBase):
    """A message. `phase` has no effect."""

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: (
        Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)]
        | Annotated[list[InputPart], Field(max_length=MAX_PARTS)]
    )
    phase: str | None = None


class InputCall(_InputBase):
    """A call that the model made. `arguments` is JSON text of an object."""

    type: Literal["function_call"]
    call_id: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)
    name: FunctionName
    arguments: str = Field(max_length=MAX_TEXT_CHARACTERS)


class InputCallOutput(_InputBase):
    """The result of a call."""

    type: Literal["function_call_output"]
    call_id: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)
    output: (
        Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)]
        | Annotated[list[InputPart], Field(max_length=MAX_PARTS)]
    )


class InputReasoning(_InputBase):
    """Reasoning of the model. `summary` and `encrypted_content` have no effect."""

    type: Literal["reasoning"]
    summary: list[InputPart] = Field(default_factory=list, max_length=MAX_PARTS)
    content: list[InputPart] | None = Field(default=None, max_length=MAX_PARTS)
    encrypted_content: str | None = None


def _kind(value: Any) -> str | None:
    if isinstance(value, dict):
        return str(value.get("type") or "message")
    return getattr(value, "type", None)


InputItem = Annotated[
    Annotated[InputMessage, Tag("message")]
    | Annotated[InputCall, Tag("function_call")]
    | Annotated[InputCallOutput, Tag("function_call_output")]
    | Annotated[InputReasoning, Tag("reasoning")],
    Discriminator(_kind),
]
"""An item of the input. An item without `type` is a message."""


class OutputPart(Wire):
    """A text in an output item. `logprobs` has entries if they were asked for."""

    type: Literal["output_text"] = "output_text"
    text: str
    annotations: list[Any] = Field(default_factory=list)
    logprobs: list[Any] = Field(default_factory=list)


class OutputMessage(Wire):
    """A message of the model."""

    type: Literal["message"] = "message"
    id: str
    status: ItemStatus
    role: Literal["assistant"] = "assistant"
    content: list[OutputPart]


class OutputCall(Wire):
    """A call of a function. A result refers to its `call_id`. `arguments` is JSON text of an object."""

    type: Literal["function_call"] = "function_call"
    id: str
    call_id: str
    name: str
    arguments: str
    status: ItemStatus


class ReasoningPart(Wire):
    """The text of reasoning."""

    type: Literal["reasoning_text"] = "reasoning_text"
    text: str


class OutputReasoning(Wire):
    """The model's reasoning before its answer. `summary` is always empty."""

    type: Literal["reasoning"] = "reasoning"
    id: str
    summary: list[Any] = Field(default_factory=list)
    content: list[ReasoningPart]
    status: ItemStatus


OutputItem = OutputMessage | OutputCall | OutputReasoning
