"""The wire types of OpenAI's chat completions: request, response and chunks.

Does: define shapes, defaults and bounds. Does not: render prompts or generate (`service/openai`).
"""

from typing import Any, Literal

from pydantic import Field, model_validator

from ..base import MAX_COUNT, MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS, Wire
from .options import MAX_TOP_LOGPROBS, CompletionUsage, OpenAIOptions
from .reasoning import ReasoningFields
from .tools import EarlierCall, ToolFields

MAX_MESSAGES = 10_000

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "function_call"]


class ImageUrl(Wire):
    """An image as a data URL in base64; other addresses are refused. With `detail` low it has few tokens."""

    url: str
    detail: Literal["auto", "low", "high"] | None = None


class ContentPart(Wire):
    """One part of a message: text, the text of a refusal, or an image. Audio and files are not supported."""

    type: Literal["text", "refusal", "image_url"]
    image_url: ImageUrl | None = None
    text: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)
    refusal: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)

    @model_validator(mode="before")
    @classmethod
    def _is_supported(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("type") not in ("text", "refusal", "image_url"):
            raise ValueError(
                "must be a part of type text or image_url: audio and files are not supported"
            )
        if isinstance(value, dict) and (value["type"] == "image_url") != ("image_url" in value):
            raise ValueError(
                "a part of type image_url has the field image_url, and no other has it"
            )
        return value


class ChatMessage(Wire):
    """One message of a conversation. `developer` is another name for `system`.

    An answer of the model may have `tool_calls`; a message of the role `tool` is the result of the call
    `tool_call_id`. `name` is that of a tool, otherwise it has no effect. `annotations` and `audio`, which clients send
    back with an answer, have no effect; `function_call` must be null.
    """

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None
    name: str | None = None
    refusal: str | None = None
    tool_calls: list[EarlierCall] | None = Field(default=None, max_length=MAX_MESSAGES)
    tool_call_id: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    reasoning_content: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)
    annotations: Any = Field(default=None, description="No effect.")
    audio: None = None
    function_call: None = None


class ChatRequest(OpenAIOptions, ToolFields, ReasoningFields):
    """Body of `POST /v1/chat/completions`.

    `max_completion_tokens` is preferred to the older `max_tokens`. `top_logprobs` needs `logprobs`. `verbosity`,
    `prediction` and `modalities` of text have no effect.

    `draft`, an addition of ours, has the model answer freely first, without the constraint of the request. That answer,
    of at most `draft_max_tokens` tokens (1,024 by default), is the draft of the constrained one, which is the same with
    and without it.
    """

    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    max_tokens: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0, le=MAX_TOP_LOGPROBS)
    modalities: list[Literal["text"]] | None = Field(default=None, description="No effect.")
    verbosity: str | None = Field(default=None, description="No effect.")
    prediction: Any = Field(default=None, description="No effect.")
    draft: bool = False
    draft_max_tokens: int | None = Field(default=None, ge=1, le=MAX_COUNT)


class TopLogprob(Wire):
    """One token with its log-probability; `bytes` are those of the token, of which `token` shows what is text."""

    token: str
    logprob: float
    bytes: list[int] | None


class ChatTokenLogprob(TopLogprob):
    """One token of an answer, and the most likely ones in its place."""

    top_logprobs: list[TopLogprob]


class ChoiceLogprobs(Wire):
    """The log-probabilities of the tokens of an answer."""

    content: list[ChatTokenLogprob] | None
    refusal: list[ChatTokenLogprob] | None = None


class CalledFunction(Wire):
    """A function that the model calls. `arguments` is JSON text."""

    name: str
    arguments: str


class ToolCall(Wire):
    """One call of a tool."""

    id: str
    type: Literal["function"] = "function"
    function: CalledFunction


class CalledFunctionDelta(Wire):
    """The new part of a called function: its name once, then pieces of its arguments."""

    name: str | None = None
    arguments: str | None = None


class ToolCallDelta(Wire):
    """The new part of a call. `index` is always present; `id`, `type` and the name only in the first part."""

    index: int
    id: str | None = None
    type: Literal["function"] | None = None
    function: CalledFunctionDelta


class ChatAnswer(Wire):
    """The message of a choice. `refusal` is always null: the model is not asked whether it wants to answer.

    `content` is null if tools were called instead. `reasoning_content` and `tool_calls` are absent if there are none.
    """

    role: Literal["assistant"] = "assistant"
    content: str | None
    refusal: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None


class ChatChoice(Wire):
    """One answer.

    `stop_reason` is the stop string that ended it. With `budget_forced` the answer needed more tokens than it had, and
    was completed in the shortest way its schema allows.
    """

    index: int
    message: ChatAnswer
    logprobs: ChoiceLogprobs | None
    finish_reason: FinishReason
    stop_reason: str | None = None
    budget_forced: bool = False


class ChatCompletion(Wire):
    """Body of an answered chat completion."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChatChoice]
    usage: CompletionUsage
    system_fingerprint: str | None = None


class ChatDelta(Wire):
    """The new part of a choice's message. Fields that have nothing new are absent."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCallDelta] | None = None


class ChatChunkChoice(Wire):
    """The new part of a choice. Fields as in `ChatChoice`."""

    index: int
    delta: ChatDelta
    logprobs: ChoiceLogprobs | None = None
    finish_reason: FinishReason | None = None
    stop_reason: str | None = None
    budget_forced: bool = False


class ChatChunk(Wire):
    """One event of a streamed chat completion. `choices` is empty in the last one, which has `usage` on request."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChatChunkChoice]
    usage: CompletionUsage | None = None
    system_fingerprint: str | None = None
