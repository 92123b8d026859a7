"""The wire types of an extraction's request, with its options. Unknown fields are errors, never ignored.

Does: define shapes, defaults and bounds. Does not: examine schemas or run engines.
"""

from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    JsonValue,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from ..base import MAX_COUNT, MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS, Wire
from .document_objects import DocumentSource
from .grounding_modes import ConfidenceMode, Grounding
from .images import MAX_IMAGES, ImageInput

MAX_MESSAGES = 1024
MAX_TEXTS = 1024
MAX_EXAMPLES = 64
MAX_TOKEN_ALTERNATIVES = 20


# Requests are validated without coercion, but JSON has no tuples.
_AS_TUPLE = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)


class FormOptions(Wire):
    """Options for the form of the JSON output."""

    whitespace: Literal["compact", "spaced", "pretty"] = Field(
        default="compact",
        description="No white space; a space after each comma and colon; or one line for each member and item.",
    )
    key_order: Literal["schema", "any"] = Field(
        default="schema",
        description="Properties in the order the schema declares them, or in any order.",
    )
    extra_properties: bool = Field(
        default=False,
        description="Whether objects may have properties that their schema neither declares nor forbids.",
    )


class ExtractOptions(FormOptions):
    """Options of an extraction. The defaults are greedy and deterministic.

    With `temperature` 0 the most likely token is taken; above 0 tokens are sampled, more uniformly at higher values.
    `top_k`, `top_p` and `min_p` restrict sampling: to the `top_k` most likely tokens; to the most likely tokens with a
    total probability of `top_p`; to tokens with at least `min_p` times the probability of the most likely one. `seed`
    makes sampling repeatable. After `deadline_s` seconds the request ends with `deadline_exceeded`.
    """

    whitespace: Literal["compact", "spaced", "pretty"] = Field(
        default="compact",
        description="White space of an answer over HTTP: none; a space after each comma and "
        "colon; or one line for each member and item. The model always writes compact JSON.",
    )
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=MAX_COUNT,
        description="Maximum number of tokens of the answer. Default: those of the shortest legal answer plus room "
        "for the schema's values and the document. `usage.budget` reports it.",
    )
    not_stated: Literal["schema", "null"] = Field(
        default="schema",
        description="The value of a scalar that the document does not state: any value that the schema allows, even if "
        "made up; or null, even if the schema does not allow it.",
    )
    temperature: float = Field(default=0.0, ge=0.0, le=5.0)
    top_p: float = Field(default=1.0, ge=1e-6, le=1.0)
    top_k: int = Field(default=0, ge=0, le=MAX_COUNT, description="0 considers all tokens.")
    min_p: float = Field(default=0.0, ge=0.0, le=1.0)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    deadline_s: float | None = Field(default=None, gt=0.0, le=3600.0)
    priority: int = Field(
        default=0, ge=-100, le=100, description="Smaller values are served first."
    )
    long_documents: Literal["refuse", "windows"] = Field(
        default="refuse",
        description="What happens to a document that is longer than the context: an error; or it is read in "
        "overlapping windows and the readings are merged.",
    )
    strict_schema: bool = Field(
        default=False,
        description="Refuse a schema with unknown keywords or formats instead of reporting them.",
    )
    grounding: Grounding = Field(
        default="off",
        description="Whether the answer reports the source of each value in the document. `locate` looks the finished "
        "values up; `verbatim` does too, and makes every string that no pattern, format, constant or enumeration "
        "determines a substring of the document.",
    )
    confidence: ConfidenceMode = Field(
        default="off",
        description="Whether the answer reports how sure the model is of each value. `first_reading` computes it from "
        "the probabilities of the answer's tokens; `second_reading` also has the model write the answer once more, "
        "with some chance, and tells which values it gives again.",
    )
    draft: bool = Field(
        default=False,
        description="Whether the model first answers freely, without a constraint. That answer is the draft of the "
        "constrained one, which is the same with and without it; only an engine that follows drafts takes one.",
    )
    draft_max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=MAX_COUNT,
        description="Maximum number of tokens of the free answer, by default 1,024. Needs `draft`.",
    )
    token_alternatives: int = Field(
        default=0,
        ge=0,
        le=MAX_TOKEN_ALTERNATIVES,
        description="The confidence of each value lists its tokens, with so many of the most likely legal tokens at "
        "each place. Needs `confidence`.",
    )

    @model_validator(mode="after")
    def _alternatives_need_confidence(self) -> "ExtractOptions":
        if self.token_alternatives and self.confidence == "off":
            raise ValueError("token_alternatives needs the option confidence, which is off")
        return self

    @model_validator(mode="after")
    def _draft_tokens_need_a_draft(self) -> "ExtractOptions":
        if self.draft_max_tokens is not None and not self.draft:
            raise ValueError("draft_max_tokens needs the option draft, which is false")
        return self


Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARACTERS)]


class Example(Wire):
    """A worked example: a text, and the data that is right for it. `data` must be valid under the request's schema."""

    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARACTERS)
    data: JsonValue


class Message(Wire):
    """A message of the conversation to extract from. Messages in the role `system` are instructions, not document."""

    role: Literal["system", "user", "assistant"]
    content: str = Field(min_length=1, max_length=MAX_TEXT_CHARACTERS)


class ExtractRequest(Wire):
    """Body of `POST /v1/extract`.

    `schema` is a JSON Schema (object or boolean), or the name of a schema in the registry or the catalogue. Exactly one
    of `text`, `texts`, `messages` and `document` says what to extract from; or `images` do, alone or before a `text`.
    """

    schema_: dict[str, Any] | bool | str = Field(alias="schema")
    messages: Annotated[tuple[Message, ...], _AS_TUPLE] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_MESSAGES,
        description="A conversation in place of a document.",
    )
    texts: Annotated[tuple[Text, ...], _AS_TUPLE] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_TEXTS,
        description="Several documents, with one outcome each.",
    )
    document: DocumentSource | None = Field(
        default=None,
        description="A document as a file: PDF, DOCX, XLSX, XLS, ODS, HTML, mail or text. For a model that reads "
        "images, also an image; pages of a PDF without a text layer are drawn for it.",
    )
    images: Annotated[tuple[ImageInput, ...], _AS_TUPLE] = Field(
        default=(),
        max_length=MAX_IMAGES,
        description="Images to extract from, for a model that reads images.",
    )
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_TEXT_CHARACTERS,
        validate_default=True,
        description="The document.",
    )
    instructions: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_TEXT_CHARACTERS,
        description="What the model should know or follow in addition to the schema.",
    )
    examples: Annotated[tuple[Example, ...], _AS_TUPLE] = Field(
        default=(),
        max_length=MAX_EXAMPLES,
        description="Worked examples, shown to the model before the document.",
    )
    model: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    options: ExtractOptions = ExtractOptions()
    stream: bool = Field(
        default=False,
        description="Answer with server-sent events while the model writes.",
    )

    @model_validator(mode="after")
    def _schema_may_be_a_name(self) -> "ExtractRequest":
        check_name(self.schema_)
        return self

    @field_validator("text")
    @classmethod
    def _one_thing_to_extract_from(cls, text: str | None, info: ValidationInfo) -> str | None:
        given = [
            name for name in ("messages", "texts", "document") if info.data.get(name) is not None
        ]
        if info.data.get("images"):
            given.append("images")
        elif text is not None:
            given.append("text")
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} exclude each other: give one of them")
        if not given and {"messages", "texts", "document", "images"} <= info.data.keys():
            raise PydanticCustomError("missing", "this field is required")
        return text


def check_name(schema: object) -> None:
    """Raise ValueError for a schema name that no schema can have."""
    if not isinstance(schema, str):
        return
    if not schema.strip():
        raise ValueError("schema: a name must not be blank")
    if len(schema) > MAX_NAME_CHARACTERS:
        raise ValueError(f"schema: a name has at most {MAX_NAME_CHARACTERS} characters")
