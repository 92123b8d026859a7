"""What goes over the wire: requests and results of the service. Unknown fields are errors, never ignored.

Does: shapes, defaults and bounds. Does not: judge schemas or know engines.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from .contract import Contract

MAX_TEXT_CHARACTERS = 1_000_000
MAX_NAME_CHARACTERS = 1024
MAX_COUNT = 2**31 - 1


class Wire(BaseModel):
    """Base of all wire types: frozen, extra fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class FormOptions(Wire):
    """How the JSON of an answer is written."""

    whitespace: Literal["compact", "spaced", "pretty"] = Field(
        default="compact",
        description="None; a blank after each comma and colon; or a line for each member and item.",
    )
    key_order: Literal["schema", "any"] = Field(
        default="schema",
        description="Properties in the order the schema declares them, or in any order.",
    )
    extra_properties: bool = Field(
        default=False,
        description="Whether objects may hold properties that their schema neither names nor forbids.",
    )


class ExtractOptions(FormOptions):
    """How an extraction runs. The defaults are greedy and deterministic.

    With `temperature` 0 the likeliest token is taken; above 0 tokens are drawn, the more evenly the higher it is.
    `top_k`, `top_p` and `min_p` leave fewer tokens to draw from: the `top_k` likeliest; the likeliest that together
    have the probability `top_p`; those with at least `min_p` times the probability of the likeliest. `seed` makes draws
    repeatable. After `deadline_s` seconds the request ends with `deadline_exceeded`.
    """

    whitespace: Literal["compact", "spaced", "pretty"] = Field(
        default="compact",
        description="How an answer over HTTP is laid out: without white space; with a blank after each comma and "
        "colon; or with a line for each member and item. The model always writes compact JSON.",
    )
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=MAX_COUNT,
        description="Most tokens the answer may take; default: those of the shortest legal answer, and room for what "
        "the schema asks and the document holds. `usage.budget` tells how many.",
    )
    not_stated: Literal["schema", "null"] = Field(
        default="schema",
        description="What stands for a scalar that the document does not state: what the schema lets in, even if it "
        "has to be made up; or null, also where the schema does not let it in.",
    )
    temperature: float = Field(default=0.0, ge=0.0, le=5.0)
    top_p: float = Field(default=1.0, ge=1e-6, le=1.0)
    top_k: int = Field(default=0, ge=0, le=MAX_COUNT, description="0 considers all tokens.")
    min_p: float = Field(default=0.0, ge=0.0, le=1.0)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    deadline_s: float | None = Field(default=None, gt=0.0, le=3600.0)
    priority: int = Field(default=0, ge=-100, le=100, description="Smaller is served first.")
    strict_schema: bool = Field(
        default=False,
        description="Refuse a schema with keywords or formats that are not known, instead of telling of them.",
    )


class ExtractRequest(Wire):
    """Body of `POST /v1/extract`.

    `schema` is a JSON Schema (object or boolean) or the name of a schema in the catalogue.
    """

    schema_: dict[str, Any] | bool | str = Field(alias="schema")
    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARACTERS)
    model: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    options: ExtractOptions = ExtractOptions()

    @model_validator(mode="after")
    def _schema_may_be_a_name(self) -> "ExtractRequest":
        check_name(self.schema_)
        return self


def check_name(schema: object) -> None:
    """Raise ValueError where a schema is given by a name that no schema can have."""
    if not isinstance(schema, str):
        return
    if not schema.strip():
        raise ValueError("schema: a name must not be blank")
    if len(schema) > MAX_NAME_CHARACTERS:
        raise ValueError(f"schema: a name has at most {MAX_NAME_CHARACTERS} characters")


class Usage(Wire):
    """Tokens of one request.

    `budget_forced` says that the answer needed more tokens than it had, so its rest was completed by the shortest way
    the schema allows: it is valid, and its last values may be emptier than the text. Raise `max_tokens`.

    `budget` is the most tokens that the answer could take, and `budget_from` says where it comes from: `max_tokens` of
    the request, the `default` for its schema and document, or the model's `context`, which left less than that.
    """

    prompt_tokens: int
    output_tokens: int
    total_tokens: int
    forced_tokens: int = 0
    budget_forced: bool = False
    budget: int | None = None
    budget_from: Literal["max_tokens", "default", "context"] | None = None


class Timings(Wire):
    """Where the time of one request went, in milliseconds."""

    queue_ms: float
    prefill_ms: float
    decode_ms: float
    total_ms: float


class AnswerWarning(Wire):
    """Something about a value that its validity does not tell. `pointer` is a JSON Pointer into `data`.

    `kind` is `looped`: the value repeated itself and was ended; `budget_forced`: the budget was reached in it;
    `not_stated`: it is null because the request wanted that for what is not stated, and the schema alone would not take
    it. There may be other kinds.
    """

    pointer: str
    kind: str
    message: str
    hint: str = ""


class ExtractResult(Wire):
    """Body of a successful extraction: `data` is valid against the whole schema, always.

    `valid` is the verdict of the final, independent check; a result that fails it is never sent as a success, so it is
    true here. `finish` is `stop`, because a truncated document is an error and not a result. `contract` tells what of
    the schema that verdict is about. `warnings` tell of values that are not what the document says; with
    `not_stated: "null"` `data` is valid against the schema with null let in.
    """

    id: str
    model: str
    data: JsonValue
    valid: Literal[True] = True
    finish: Literal["stop"] = "stop"
    usage: Usage
    timings: Timings
    contract: Contract = Contract()
    warnings: tuple[AnswerWarning, ...] = ()


class ModelCard(Wire):
    """One entry of `GET /v1/models`."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "intaglio"
    context_length: int
    parameters: int


class ModelList(Wire):
    """Body of `GET /v1/models`."""

    object: Literal["list"] = "list"
    data: tuple[ModelCard, ...]


class Health(Wire):
    """Body of `GET /health` and `GET /ready`."""

    status: Literal["ok", "loading model", "stopping", "engine down"]


class Version(Wire):
    """Body of `GET /version`."""

    version: str
    model: str
