"""The wire types of OpenAI's responses: request and response. Items and their parts: `responses_items`.

Does: define shapes, defaults and bounds. Does not: render prompts or generate (`service/openai`).
"""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from ..base import MAX_COUNT, MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS, Wire
from .responses_items import InputItem, OutputItem
from .tools import MAX_TOOLS, FunctionName

MAX_ITEMS = 10_000

MetadataValue = Annotated[str, StringConstraints(max_length=512)]
Identifier = Annotated[str, StringConstraints(max_length=MAX_NAME_CHARACTERS)]


class TextFormat(Wire):
    """The form of the text. A schema is enforced with and without `strict`; `name` and `description` have no effect."""

    type: Literal["text", "json_object", "json_schema"]
    name: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    description: str | None = None
    schema_: dict[str, Any] | bool | None = Field(default=None, alias="schema")
    strict: bool | None = None


class TextOptions(Wire):
    """Options of the text of an answer. `verbosity` has no effect."""

    format: TextFormat | None = None
    verbosity: str | None = None


class FunctionTool(Wire):
    """A function that the model may call. `parameters` is the JSON Schema of its arguments, an object."""

    type: Literal["function"]
    name: FunctionName
    description: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class NamedTool(Wire):
    """The name of a function."""

    type: Literal["function"]
    name: FunctionName


class AllowedFunctions(Wire):
    """The functions that may be called; with `required`, one of them must be."""

    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"]
    tools: list[NamedTool] = Field(min_length=1, max_length=MAX_TOOLS)


FunctionChoiceField = Literal["none", "auto", "required"] | NamedTool | AllowedFunctions


class ReasoningOptions(Wire):
    """How much the model may reason, where its template lets it. `summary` and `generate_summary` have no effect."""

    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    summary: str | None = None
    generate_summary: str | None = None


class ResponseStreamOptions(Wire):
    """Options of a stream. `include_obfuscation` has no effect."""

    include_obfuscation: bool | None = None


class ResponsesRequest(Wire):
    """Body of `POST /v1/responses`.

    `input` is a text or items; where there are `instructions`, which come before it, it may be left out.
    `text.format` and `tools` are enforced while decoding. `include` may ask for `message.output_text.logprobs`;
    other values have no effect. `truncation` must be `disabled`, or `auto`, which is refused where the input is too
    long. `store` keeps the response where the server has a data folder; `previous_response_id` continues a kept
    one. `user`, `safety_identifier`, `prompt_cache_key`, `prompt_cache_retention`, `service_tier`, `max_tool_calls`
    and `stream_options` have no effect.
    """

    model: Identifier | None = None
    input: (
        Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARACTERS)] | list[InputItem] | None
    ) = Field(default=None)
    instructions: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)
    previous_response_id: Identifier | None = None
    include: list[str] | None = Field(default=None, max_length=32)
    tools: list[FunctionTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: FunctionChoiceField | None = None
    parallel_tool_calls: bool | None = None
    max_tool_calls: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    metadata: dict[str, MetadataValue] | None = Field(default=None, max_length=16)
    text: TextOptions | None = None
    reasoning: ReasoningOptions | None = None
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    top_p: float | None = Field(default=None, ge=0.0, le=1.0)
    presence_penalty: float | None = Field(default=None, ge=-2.0, le=2.0)
    frequency_penalty: float | None = Field(default=None, ge=-2.0, le=2.0)
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    max_output_tokens: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    stream: bool | None = None
    stream_options: ResponseStreamOptions | None = None
    store: bool | None = None
    background: Literal[False] | None = None
    truncation: Literal["auto", "disabled"] | None = None
    service_tier: str | None = None
    user: str | None = None
    safety_identifier: Identifier | None = None
    prompt_cache_key: Identifier | None = None
    prompt_cache_retention: str | None = None


class IncompleteDetails(Wire):
    """Why a response is incomplete."""

    reason: Literal["max_output_tokens", "content_filter"]


class ResponseError(Wire):
    """Why a response failed."""

    code: str
    message: str


class InputTokensDetails(Wire):
    """Input tokens by origin: `cached_tokens` were found in the prefix cache, `cache_write_tokens` were not."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputTokensDetails(Wire):
    """Output tokens by use."""

    reasoning_tokens: int = 0


class ResponseUsage(Wire):
    """Token counts of a response."""

    input_tokens: int
    input_tokens_details: InputTokensDetails
    output_tokens: int
    output_tokens_details: OutputTokensDetails
    total_tokens: int


class ResponseObject(Wire):
    """A response: the options it was made with, its output items and its usage.

    `status` is `in_progress` while it streams, `completed`, `incomplete` if `max_output_tokens` cut it off, or
    `failed`. With `budget_forced` the answer was completed in the shortest way because its budget ran out.
    """

    id: str
    object: Literal["response"] = "response"
    created_at: int
    completed_at: int | None
    status: Literal["in_progress", "completed", "incomplete", "failed"]
    error: ResponseError | None
    incomplete_details: IncompleteDetails | None
    instructions: str | None
    model: str
    output: list[OutputItem]
    previous_response_id: str | None
    parallel_tool_calls: bool
    tools: list[FunctionTool]
    tool_choice: FunctionChoiceField
    max_output_tokens: int | None
    max_tool_calls: int | None
    metadata: dict[str, str]
    reasoning: ReasoningOptions | None
    text: TextOptions
    temperature: float
    top_p: float
    presence_penalty: float
    frequency_penalty: float
    top_logprobs: int
    truncation: Literal["auto", "disabled"]
    usage: ResponseUsage | None
    store: bool
    background: bool
    service_tier: str
    user: str | None
    safety_identifier: str | None
    prompt_cache_key: str | None
    budget_forced: bool = False


class ResponseEvent(Wire):
    """One event of a streamed response; its fields depend on `type`. `sequence_number` counts from 0."""

    model_config = Wire.model_config | {"extra": "allow"}

    type: str
    sequence_number: int


class ResponseDeleted(Wire):
    """Body of an answered `DELETE /v1/responses/{id}`."""

    id: str
    object: Literal["response"] = "response"
    deleted: bool = True


class ResponseItems(Wire):
    """The items before the output of a response, all on one page."""

    object: Literal["list"] = "list"
    data: list[dict[str, Any]]
    first_id: str | None
    last_id: str | None
    has_more: bool = False
