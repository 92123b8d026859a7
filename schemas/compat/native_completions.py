"""The wire types of the native interfaces of llama.cpp (`/completion`) and SGLang (`/generate`).

Does: define shapes, defaults and bounds. Does not: translate them (`service/compat`).
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from ..base import MAX_COUNT, MAX_NAME_CHARACTERS, Wire
from ..dialects.llama_cpp_fields import LlamaCppFields
from ..dialects.sglang_fields import SglangFields
from ..openai.options import INT64, StopString
from ..openai.text_completions import PromptText

Stops = Annotated[list[StopString], Field(max_length=16)]


class LlamaCppRequest(LlamaCppFields):
    """Body of `POST /completion`. `n_predict` below 0 means no limit, a `seed` below 0 none.

    The fields from `cache_prompt` on have no effect.
    """

    prompt: PromptText | list[int]
    n_predict: int | None = Field(default=None, ge=-2, le=MAX_COUNT)
    stream: bool = False
    stop: Stops = Field(default_factory=list)
    temperature: float = Field(default=0.8, ge=0.0, le=2.0)
    top_k: int = Field(default=40, ge=-1, le=MAX_COUNT)
    top_p: float = Field(default=0.95, ge=0.0, le=1.0)
    min_p: float = Field(default=0.05, ge=0.0, le=1.0)
    seed: int | None = Field(default=None, ge=-INT64, lt=INT64)
    repeat_penalty: float = Field(default=1.0, ge=0.01, le=100.0)
    presence_penalty: float = Field(default=0.0, ge=-2.0, le=2.0)
    frequency_penalty: float = Field(default=0.0, ge=-2.0, le=2.0)
    ignore_eos: bool = False
    model: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    cache_prompt: Any = None
    id_slot: Any = None
    n_keep: Any = None
    repeat_last_n: Any = None
    typical_p: Any = None
    samplers: Any = None
    mirostat: Any = None
    mirostat_tau: Any = None
    mirostat_eta: Any = None
    t_max_predict_ms: Any = None
    timings_per_token: Any = None


class LlamaCppAnswer(Wire):
    """Body of an answer of `/completion`, or one event of it: then only the last one has more than `content`."""

    index: int = 0
    content: str
    stop: bool
    model: str | None = None
    stop_type: Literal["eos", "limit", "word", "none"] = "none"
    stopping_word: str = ""
    tokens_predicted: int = 0
    tokens_evaluated: int = 0
    tokens_cached: int = 0
    truncated: bool = False


class SglangSampling(SglangFields):
    """`sampling_params` of SGLang, with its constraints. The last three fields have no effect."""

    max_new_tokens: int | None = Field(default=128, ge=1, le=MAX_COUNT)
    structural_tag: str | dict[str, Any] | None = None
    temperature: float = Field(default=1.0, ge=0.0, le=2.0)
    top_p: float = Field(default=1.0, ge=0.0, le=1.0)
    top_k: int = Field(default=-1, ge=-1, le=MAX_COUNT)
    min_p: float = Field(default=0.0, ge=0.0, le=1.0)
    stop: StopString | Stops | None = None
    stop_token_ids: list[int] | None = Field(default=None, max_length=64)
    presence_penalty: float = Field(default=0.0, ge=-2.0, le=2.0)
    frequency_penalty: float = Field(default=0.0, ge=-2.0, le=2.0)
    repetition_penalty: float = Field(default=1.0, ge=0.01, le=100.0)
    sampling_seed: int | None = Field(default=None, ge=-INT64, lt=INT64)
    ignore_eos: bool = False
    n: int = Field(default=1, ge=1, le=128)
    skip_special_tokens: Any = None
    spaces_between_special_tokens: Any = None
    no_stop_trim: Literal[False] = False


class SglangRequest(Wire):
    """Body of `POST /generate`: a prompt as `text` or as `input_ids`. `rid` has no effect."""

    text: PromptText | None = None
    input_ids: list[int] | None = None
    sampling_params: SglangSampling = SglangSampling()
    stream: bool = False
    return_logprob: Literal[False] = False
    rid: Any = None


class SglangFinish(Wire):
    """The reason of an end: `matched` is a stop string, `length` the limit."""

    type: Literal["stop", "length"]
    matched: str | None = None
    length: int | None = None


class SglangMeta(Wire):
    """Facts about an answer. `finish_reason` is null before the end."""

    id: str
    finish_reason: SglangFinish | None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0


class SglangAnswer(Wire):
    """Body of an answer of `/generate`, or one event of it; `text` is all of the text so far."""

    text: str
    index: int = 0
    meta_info: SglangMeta
