"""The options that OpenAI's chat completions and completions share, with vLLM's additions.

Does: define the fields and their bounds. Does not: convert them (`service/openai/sampling_options.py`).
"""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from ..base import MAX_COUNT, MAX_NAME_CHARACTERS, Wire
from ..dialects.constraint_fields import ConstraintFields

MAX_CHOICES = 128
MAX_STOPS = 16
MAX_TOP_LOGPROBS = 20
INT64 = 2**63

StopString = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class StreamOptions(Wire):
    """Options of a stream. `include_usage` adds a last chunk with the token counts; `continuous_usage_stats` adds the
    counts so far to every chunk. `include_obfuscation` has no effect.
    """

    include_usage: bool | None = None
    continuous_usage_stats: bool | None = None
    include_obfuscation: bool | None = None


class IgnoredFields(Wire):
    """Fields that clients of OpenAI send and that have no effect here. Any other unknown field is an error."""

    user: Any = Field(default=None, description="No effect.")
    metadata: Any = Field(default=None, description="No effect: nothing is stored.")
    store: bool | None = Field(default=None, description="No effect: nothing is stored.")
    service_tier: str | None = Field(default=None, description="No effect.")
    safety_identifier: str | None = Field(default=None, description="No effect.")
    prompt_cache_key: str | None = Field(
        default=None, description="No effect: prefixes are found by their content."
    )
    prompt_cache_retention: str | None = Field(default=None, description="No effect.")


class SamplingFields(Wire):
    """How tokens are chosen. `seed` makes the choice repeatable, for each of the `n` answers.

    `stop` ends an answer before the first of these texts. `logit_bias` maps token ids to what is added to their logits.
    `top_k`, `min_p`, `repetition_penalty`, `stop_token_ids`, `ignore_eos`, `include_stop_str_in_output` and `priority`
    (smaller values first) are additions of vLLM.
    """

    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    top_p: float | None = Field(default=None, ge=0.0, le=1.0)
    n: int | None = Field(default=None, ge=1, le=MAX_CHOICES)
    seed: int | None = Field(default=None, ge=-INT64, lt=INT64)
    stop: StopString | Annotated[list[StopString], Field(max_length=MAX_STOPS)] | None = None
    presence_penalty: float | None = Field(default=None, ge=-2.0, le=2.0)
    frequency_penalty: float | None = Field(default=None, ge=-2.0, le=2.0)
    logit_bias: dict[str, Annotated[float, Field(ge=-100, le=100)]] | None = None
    top_k: int | None = Field(default=None, ge=-1, le=MAX_COUNT)
    min_p: float | None = Field(default=None, ge=0.0, le=1.0)
    repetition_penalty: float | None = Field(default=None, ge=0.01, le=100.0)
    stop_token_ids: list[int] | None = Field(default=None, max_length=64)
    ignore_eos: bool | None = None
    include_stop_str_in_output: bool | None = None
    priority: int | None = Field(default=None, ge=-100, le=100)


class OpenAIOptions(ConstraintFields, SamplingFields, IgnoredFields):
    """Everything that a chat completion and a completion may ask for alike."""

    model: str | None = Field(
        default=None,
        max_length=MAX_NAME_CHARACTERS,
        description="The loaded model; by default that one.",
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None


class PromptTokensDetails(Wire):
    """Prompt tokens by origin: `cached_tokens` were found in the prefix cache, `image_tokens` are those of images."""

    cached_tokens: int = 0
    image_tokens: int = 0


class CompletionTokensDetails(Wire):
    """Output tokens by use: `reasoning_tokens` came before the answers, `draft_tokens` are those of free answers.

    `accepted_tokens` are tokens of the answers that were computed ahead, as drafts.
    """

    reasoning_tokens: int = 0
    draft_tokens: int = 0
    accepted_tokens: int = 0


class CompletionUsage(Wire):
    """Token counts of a request. The prompt counts once, whatever the number of choices."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokensDetails = PromptTokensDetails()
    completion_tokens_details: CompletionTokensDetails | None = None


class OpenAIError(Wire):
    """One error. `param` is the field that caused it, `hint` says what to do; `retryable` whether to try again."""

    message: str
    type: str
    param: str | None
    code: str
    hint: str = ""
    retryable: bool = False
    details: list[Any] = Field(default_factory=list)
    request_id: str | None = None


class OpenAIErrorDocument(Wire):
    """The body of every error response of an OpenAI-compatible path."""

    error: OpenAIError
