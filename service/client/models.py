"""Input and result types of the SDK.

Does: define the options of a call and the result with typed `data`. Does not: handle HTTP.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Generic, Literal, TypedDict, TypeVar

from intaglio.schemas.extraction.contract import Contract
from intaglio.schemas.extraction.document_objects import DocumentSummary
from intaglio.schemas.extraction.grounding import FieldReport
from intaglio.schemas.extraction.grounding_modes import ConfidenceMode, Grounding
from intaglio.schemas.extraction.images import ImageReading
from intaglio.schemas.extraction.requests import ExtractOptions
from intaglio.schemas.extraction.results import (
    AnswerWarning,
    ExtractResult,
    Timings,
    Usage,
    WindowedReading,
)
from intaglio.schemas.jobs import Source
from pydantic import JsonValue, ValidationError
from pydantic_core import from_json

from .errors import UnexpectedAnswer
from .file_input import FileInput, document_part, image_parts
from .notebook_view import extraction_table
from .shapes import Shape

T = TypeVar("T")


class Options(TypedDict, total=False):
    """Options of an extraction, all optional. Bounds and defaults: `ExtractOptions` in `schemas.extraction`."""

    max_tokens: int | None
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    seed: int | None
    whitespace: Literal["compact", "spaced", "pretty"]
    key_order: Literal["schema", "any"]
    extra_properties: bool
    deadline_s: float | None
    priority: int
    strict_schema: bool
    not_stated: Literal["schema", "null"]
    grounding: Grounding
    confidence: ConfidenceMode
    token_alternatives: int
    draft: bool
    draft_max_tokens: int | None
    long_documents: Literal["refuse", "windows"]


class GuidanceOptions(Options, total=False):
    """Options of an extraction that say more to the model: `instructions`, and `examples` of texts with their data.

    `adapter` is the name of a LoRA adapter of the model; on the wire it takes the place of the model's name.

    The data of an example is of the type that is extracted, or a JSON value.
    """

    instructions: str | None
    adapter: str | None
    examples: Sequence[tuple[str, Any]]


class FileOptions(GuidanceOptions, total=False):
    """Options of an extraction from a file in the place of a text.

    `file` is a path, the bytes of a file, or (name, bytes). `attachment` reads this attachment of the file instead; the
    first one is 0. `images` are files of images, for a model that reads images: alone or before a text.
    """

    file: FileInput | None
    images: Sequence[FileInput]
    attachment: int | None


class CallOptions(FileOptions, total=False):
    """Options of a call. `document` is the id of an uploaded document in the place of a text. With an `idempotency_key`
    a repeated call gets the answer of the first one, for a day.
    """

    document: str | None
    idempotency_key: str | None


KEY_HEADER = "idempotency-key"
FILE_OPTIONS = ("file", "document", "attachment", "images")


@dataclass(frozen=True, slots=True)
class Extraction(Generic[T]):
    """The result of one extraction. `data` is valid under the whole schema and has the requested type.

    `raw` is the service's answer as received; `request_id` identifies the call in the service's log; `contract` lists
    which keywords of the schema are enforced and which are unknown; `warnings` report values that were ended early, or
    are null because the document does not state them; `fields` has the source of each scalar, by JSON Pointer, if
    `grounding` was asked for; `reading` describes how a document longer than the context was read; `images`
    are those that the model saw.
    """

    data: T
    valid: bool
    finish: str
    usage: Usage
    timings: Timings
    id: str
    model: str
    request_id: str | None
    raw: Mapping[str, JsonValue]
    contract: Contract = field(default_factory=Contract)
    warnings: tuple[AnswerWarning, ...] = ()
    fields: Mapping[str, FieldReport] = field(default_factory=dict)
    reading: WindowedReading | None = None
    document: DocumentSummary | None = None
    images: tuple[ImageReading, ...] = ()

    def _repr_html_(self) -> str:
        """This extraction as a table, for notebooks."""
        return extraction_table(self.raw)


def request_body(
    shape: Shape[Any], text: object, model: str | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The body of `POST /v1/extract` for a text, the messages of a conversation, or files among the options.

    The service validates the values of options, because it knows its own bounds.

    Raises:
        TypeError: the text is neither a str nor a list of messages, or an option is unknown.
    """
    others = {name: value for name, value in options.items() if name not in FILE_OPTIONS}
    body, part = shared_body(shape, model, others), document_part(options)
    images = image_parts(options)
    if part is not None:
        if text is not None or images:
            raise TypeError("text and images exclude file and document: give one of them")
        return {**body, "document": part}
    if images:
        body["images"] = images
        if text is None:
            return body
    if isinstance(text, str):
        return {**body, "text": text}
    if isinstance(text, Sequence) and all(isinstance(part, Mapping) for part in text):
        return {**body, "messages": [dict(part) for part in text]}
    raise TypeError(_not_text(text))


def many_bodies(texts: object) -> list[str]:
    """The texts of a call for many. Raises TypeError for a mapping, or if one is not a str."""
    if isinstance(texts, str | Mapping) or not isinstance(texts, Iterable):
        raise TypeError(f"texts must be several str, such as a list, not {type(texts).__name__}")
    found = list(texts)
    for text in found:
        if not isinstance(text, str):
            raise TypeError(_not_text(text))
    return found


def shared_body(shape: Shape[Any], model: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request without its text or document. Raises TypeError for an unknown option."""
    given = dict(options)
    body: dict[str, Any] = {"schema": shape.schema}
    given.pop("idempotency_key", None)
    adapter = given.pop("adapter", None)
    instructions, examples = given.pop("instructions", None), given.pop("examples", ())
    if instructions is not None:
        body["instructions"] = instructions
    if examples:
        body["examples"] = [_example(each, shape) for each in examples]
    for name in given:
        if name not in ExtractOptions.model_fields:
            known = [
                *ExtractOptions.model_fields,
                "instructions",
                "examples",
                "adapter",
                *FILE_OPTIONS,
            ]
            close = get_close_matches(name, known, n=1)
            suggestion = f"; did you mean {close[0]}?" if close else ""
            raise TypeError(f"extract() has no option {name!r}{suggestion}")
    if model is not None and adapter is not None:
        raise TypeError("adapter excludes model: an adapter's name takes the place of the model's")
    if model is not None or adapter is not None:
        body["model"] = model if adapter is None else adapter
    if given:
        body["options"] = given
    return body


def _example(example: object, shape: Shape[Any]) -> dict[str, Any]:
    if isinstance(example, str) or not isinstance(example, Sequence) or len(example) != 2:
        raise TypeError(f"examples must be pairs of a text and its data, not {example!r:.80}")
    text, data = example
    return {"text": text, "data": shape.write(data)}


def key_header(options: Mapping[str, Any]) -> dict[str, str]:
    """The header of an idempotency key, if the options have one.

    Raises:
        TypeError: it is not a str.
        ValueError: no header can carry it.
    """
    key = options.get("idempotency_key")
    if key is None:
        return {}
    if not isinstance(key, str):
        raise TypeError(f"idempotency_key must be a str, not {type(key).__name__}")
    if not key.strip() or not (key.isascii() and key.isprintable()):
        raise ValueError(
            f"idempotency_key must have printable characters of ASCII only, not {key[:80]!r}"
        )
    return {KEY_HEADER: key}


def source_part(source: object) -> dict[str, Any]:
    """The field `source` of a job. The service validates its values. Raises TypeError if it is not a mapping."""
    if isinstance(source, Source):
        return source.model_dump(mode="json", exclude_defaults=True)
    if isinstance(source, Mapping):
        return dict(source)
    example = f'{{"path": {source!r}, "text": "…"}}' if isinstance(source, str) else "a dict"
    raise TypeError(
        f"source must be a Source or a mapping of its fields, such as {example}, "
        f"not {type(source).__name__}"
    )


def _not_text(text: object) -> str:
    hint = ""
    if isinstance(text, bytes | bytearray | memoryview):
        hint = ": decode it first, for instance bytes(text).decode()"
    elif isinstance(text, list | tuple):
        hint = ": extract_many takes several texts"
    return f"text must be a str, not {type(text).__name__}{hint}"


def extraction(content: bytes, shape: Shape[T], request_id: str | None) -> Extraction[T]:
    """Parse the answer to an extract request. Raises `UnexpectedAnswer` or `ResultMismatch`."""
    try:
        # Ignore fields of newer services that this SDK does not know.
        result = ExtractResult.model_validate_json(content, extra="ignore")
    except ValidationError as error:
        raise unexpected(content, request_id) from error
    return typed(result, shape, request_id, from_json(content))


def typed(
    result: ExtractResult,
    shape: Shape[T],
    request_id: str | None,
    raw: Mapping[str, JsonValue] | None = None,
) -> Extraction[T]:
    """A result with `data` of the requested type. Raises `ResultMismatch`. `raw`: the answer as received."""
    unstated = [warning.pointer for warning in result.warnings if warning.kind == "not_stated"]
    return Extraction(
        data=shape.read(result.data, request_id, unstated),
        valid=result.valid,
        finish=result.finish,
        usage=result.usage,
        timings=result.timings,
        id=result.id,
        model=result.model,
        request_id=request_id,
        raw=result.model_dump(mode="json") if raw is None else raw,
        contract=result.contract,
        warnings=result.warnings,
        fields=result.fields,
        reading=result.reading,
        document=result.document,
        images=result.images,
    )


def unexpected(content: bytes, request_id: str | None) -> UnexpectedAnswer:
    excerpt = " ".join(content[:200].decode("utf-8", "replace").split())
    return UnexpectedAnswer(
        f"the answer is not one of this service's: {excerpt!r}",
        hint="does base_url point at an Intaglio service, and are both of compatible versions?",
        request_id=request_id,
    )
