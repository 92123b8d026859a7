"""The wire types of Ollama's interface: chat, generate, and the descriptions of models.

Does: define shapes, defaults and bounds. Does not: translate them (`service/compat`).
"""

from typing import Any, Literal

from pydantic import Field

from ..base import MAX_COUNT, MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS, Wire
from ..openai.options import INT64, StopString

MAX_OLLAMA_MESSAGES = 10_000


class OllamaOptions(Wire):
    """Options of a generation.

    The fields from `num_ctx` on have no effect: they configure a runner of Ollama, or samplers that are not offered.
    """

    num_predict: int | None = Field(
        default=None,
        ge=-2,
        le=MAX_COUNT,
        description="Most tokens of the answer; below 0: no limit.",
    )
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    top_k: int | None = Field(default=None, ge=-1, le=MAX_COUNT)
    top_p: float | None = Field(default=None, ge=0.0, le=1.0)
    min_p: float | None = Field(default=None, ge=0.0, le=1.0)
    seed: int | None = Field(default=None, ge=-INT64, lt=INT64)
    stop: StopString | list[StopString] | None = None
    repeat_penalty: float | None = Field(default=None, ge=0.01, le=100.0)
    presence_penalty: float | None = Field(default=None, ge=-2.0, le=2.0)
    frequency_penalty: float | None = Field(default=None, ge=-2.0, le=2.0)
    num_ctx: Any = None
    num_keep: Any = None
    num_batch: Any = None
    num_gpu: Any = None
    num_thread: Any = None
    main_gpu: Any = None
    low_vram: Any = None
    numa: Any = None
    use_mmap: Any = None
    use_mlock: Any = None
    f16_kv: Any = None
    vocab_only: Any = None
    typical_p: Any = None
    tfs_z: Any = None
    repeat_last_n: Any = None
    penalize_newline: Any = None
    mirostat: Any = None
    mirostat_eta: Any = None
    mirostat_tau: Any = None


class OllamaRequest(Wire):
    """The fields that chat and generate share.

    `format` is `json` for a JSON object, or a JSON Schema; it is enforced while decoding. `keep_alive` has no effect.
    """

    model: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)
    stream: bool = True
    format: Literal["json", ""] | dict[str, Any] | bool | None = None
    options: OllamaOptions | None = None
    keep_alive: Any = Field(default=None, description="No effect.")
    think: bool | Literal["low", "medium", "high"] | None = None


class OllamaFunction(Wire):
    """A called function with its arguments as an object."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    index: int | None = None


class OllamaToolCall(Wire):
    """One call of a tool. Ollama's calls have no ids."""

    function: OllamaFunction
    id: str | None = None
    type: str | None = None


class OllamaMessage(Wire):
    """One message of a conversation. `images` are not supported. `tool_name` is the function of a tool's result."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = Field(default="", max_length=MAX_TEXT_CHARACTERS)
    images: list[Any] | None = Field(default=None, max_length=0)
    thinking: str | None = None
    tool_calls: list[OllamaToolCall] | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None


class OllamaChatRequest(OllamaRequest):
    """Body of `POST /api/chat`."""

    messages: list[OllamaMessage] = Field(min_length=1, max_length=MAX_OLLAMA_MESSAGES)
    tools: list[dict[str, Any]] | None = None


class OllamaGenerateRequest(OllamaRequest):
    """Body of `POST /api/generate`. With `raw` the prompt is continued without a chat template.

    `suffix`, `images`, `template` and `context` are not supported.
    """

    prompt: str = Field(default="", max_length=MAX_TEXT_CHARACTERS)
    system: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)
    raw: bool = False
    suffix: Literal[""] | None = None
    images: list[Any] | None = Field(default=None, max_length=0)
    template: Literal[""] | None = None
    context: list[int] | None = Field(default=None, max_length=0)


class OllamaEnd(Wire):
    """The fields of the last line of an answer. Durations are in nanoseconds."""

    done: bool
    done_reason: str | None = None
    total_duration: int | None = None
    load_duration: int | None = None
    prompt_eval_count: int | None = None
    prompt_eval_duration: int | None = None
    eval_count: int | None = None
    eval_duration: int | None = None


class OllamaAnswerMessage(Wire):
    """The message of an answer, or a part of it."""

    role: Literal["assistant"] = "assistant"
    content: str = ""
    thinking: str | None = None
    tool_calls: list[OllamaToolCall] | None = None


class OllamaChatAnswer(OllamaEnd):
    """Body of an answer of `/api/chat`, or one line of it."""

    model: str
    created_at: str
    message: OllamaAnswerMessage


class OllamaGenerateAnswer(OllamaEnd):
    """Body of an answer of `/api/generate`, or one line of it."""

    model: str
    created_at: str
    response: str
    thinking: str | None = None


class OllamaDetails(Wire):
    """Facts about a model as Ollama names them. `format` and `family` are of this service."""

    parent_model: str = ""
    format: str = "safetensors"
    family: str = "intaglio"
    families: list[str] = Field(default_factory=lambda: ["intaglio"])
    parameter_size: str
    quantization_level: str


class OllamaModel(Wire):
    """One model of a list. `digest` is of its name and facts, `size` is in bytes."""

    name: str
    model: str
    modified_at: str
    size: int
    digest: str
    details: OllamaDetails


class OllamaModels(Wire):
    """Body of `GET /api/tags`."""

    models: list[OllamaModel]


class OllamaShowRequest(Wire):
    """Body of `POST /api/show`. `name` is the older spelling of `model`."""

    model: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    name: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    verbose: bool | None = None


class OllamaShown(Wire):
    """Body of `POST /api/show`."""

    modified_at: str
    details: OllamaDetails
    model_info: dict[str, Any]
    capabilities: list[str]
    template: str = ""
    modelfile: str = ""
    parameters: str = ""
    license: str = ""


class OllamaVersion(Wire):
    """Body of `GET /api/version`: the version of this service."""

    version: str


class OllamaErrorDocument(Wire):
    """The body of every error response, and the last line of a stream that failed."""

    error: str
