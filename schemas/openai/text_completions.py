"""The wire types of OpenAI's completions: request, response and chunks.

Does: define shapes, defaults and bounds. Does not: generate (`service/openai`).
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from ..base import MAX_COUNT, MAX_TEXT_CHARACTERS, Wire
from .options import CompletionUsage, OpenAIOptions

MAX_PROMPTS = 128

PromptText = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARACTERS)]


class CompletionRequest(OpenAIOptions):
    """Body of `POST /v1/completions`.

    `prompt` is a text or its token ids, or a list of either; each has `n` choices. `logprobs` is the number of the most
    likely tokens to report. `echo` puts the prompt before the text; it cannot be combined with `logprobs`. `best_of`
    must equal `n`. `suffix` is not supported.
    """

    prompt: PromptText | list[PromptText] | list[int] | list[list[int]]
    max_tokens: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    logprobs: int | None = Field(default=None, ge=0, le=20)
    echo: bool | None = None
    best_of: int | None = Field(default=None, ge=1, le=128)
    suffix: str | None = None


class CompletionLogprobs(Wire):
    """The tokens of a text: spelling, log-probability, most likely tokens, and offset in the text in characters."""

    tokens: list[str]
    token_logprobs: list[float]
    top_logprobs: list[dict[str, float]] | None
    text_offset: list[int]


class CompletionChoice(Wire):
    """One text, or in a chunk the new part of it. `finish_reason` is null only before its end."""

    index: int
    text: str
    logprobs: CompletionLogprobs | None
    finish_reason: Literal["stop", "length"] | None
    stop_reason: str | None = None
    budget_forced: bool = False


class Completion(Wire):
    """Body of an answered completion; also one event of a streamed one, in which `usage` is null before the last."""

    id: str
    object: Literal["text_completion"] = "text_completion"
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage | None
    system_fingerprint: str | None = None
