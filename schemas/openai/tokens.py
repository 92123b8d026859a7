"""The wire types of `POST /tokenize` and `POST /detokenize`, as vLLM has them.

Does: define shapes and bounds. Does not: tokenise.
"""

from typing import Self

from pydantic import Field, model_validator

from ..base import MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS, Wire
from .chat_completions import MAX_MESSAGES, ChatMessage


class TokenizeRequest(Wire):
    """Body of `POST /tokenize`: a `prompt`, or the `messages` of a chat.

    `add_special_tokens` has no effect: a text never becomes control tokens, and those of a chat come from its template.
    """

    model: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    prompt: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)
    messages: list[ChatMessage] | None = Field(default=None, min_length=1, max_length=MAX_MESSAGES)
    add_special_tokens: bool | None = None
    add_generation_prompt: bool = True
    return_token_strs: bool | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.prompt is None) == (self.messages is None):
            raise ValueError("needs either prompt or messages")
        return self


class TokenizeResult(Wire):
    """The tokens of a text; `token_strs` on request."""

    count: int
    max_model_len: int
    tokens: list[int]
    token_strs: list[str] | None = None


class DetokenizeRequest(Wire):
    """Body of `POST /detokenize`."""

    model: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    tokens: list[int] = Field(max_length=1_000_000)


class DetokenizeResult(Wire):
    """The text of tokens. Control tokens have none; bytes that are not UTF-8 become U+FFFD."""

    prompt: str
