"""Input and result types of the SDK.

Does: define the options of a call and the result with typed `data`. Does not: handle HTTP.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Generic, Literal, TypedDict, TypeVar

from intaglio.schemas.contract import Contract
from intaglio.schemas.wire import AnswerWarning, ExtractOptions, ExtractResult, Timings, Usage
from pydantic import JsonValue, ValidationError
from pydantic_core import from_json

from .errors import UnexpectedAnswer
from .shapes import Shape

T = TypeVar("T")


class Options(TypedDict, total=False):
    """Options of an extraction, all optional. Bounds and defaults: `intaglio.schemas.wire.ExtractOptions`."""

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


@dataclass(frozen=True, slots=True)
class Extraction(Generic[T]):
    """The result of one extraction. `data` is valid under the whole schema and has the requested type.

    `raw` is the service's answer as received; `request_id` identifies the call in the service's log; `contract` lists
    which keywords of the schema are enforced and which are unknown; `warnings` report values that were ended early, or
    are null because the document does not state them.
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


def request_body(
    shape: Shape[Any], text: object, model: str | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The body of `POST /v1/extract`. Raises TypeError for a text that is not a str, or an unknown option.

    The service validates the values of options, because it knows its own bounds.
    """
    if not isinstance(text, str):
        decode = isinstance(text, bytes | bytearray | memoryview)
        hint = ": decode it first, for instance bytes(text).decode()" if decode else ""
        raise TypeError(f"text must be a str, not {type(text).__name__}{hint}")
    for name in options:
        if name not in ExtractOptions.model_fields:
            close = get_close_matches(name, ExtractOptions.model_fields, n=1)
            suggestion = f"; did you mean {close[0]}?" if close else ""
            raise TypeError(f"extract() has no option {name!r}{suggestion}")
    body: dict[str, Any] = {"schema": shape.schema, "text": text}
    if model is not None:
        body["model"] = model
    if options:
        body["options"] = dict(options)
    return body


def extraction(content: bytes, shape: Shape[T], request_id: str | None) -> Extraction[T]:
    """Parse the answer to an extract request. Raises `UnexpectedAnswer` or `ResultMismatch`."""
    try:
        # Ignore fields of newer services that this SDK does not know.
        result = ExtractResult.model_validate_json(content, extra="ignore")
    except ValidationError as error:
        raise unexpected(content, request_id) from error
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
        raw=from_json(content),
        contract=result.contract,
        warnings=result.warnings,
    )


def unexpected(content: bytes, request_id: str | None) -> UnexpectedAnswer:
    excerpt = " ".join(content[:200].decode("utf-8", "replace").split())
    return UnexpectedAnswer(
        f"the answer is not one of this service's: {excerpt!r}",
        hint="does base_url point at an Intaglio service, and are both of compatible versions?",
        request_id=request_id,
    )
