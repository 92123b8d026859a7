"""Parsing of requests: from bytes to validated wire types, constraints and sampling parameters.

Does: parse a body and report every mistake by JSON Pointer; convert options to sampling parameters and a constraint.
Every field is either mapped or refused. Does not: examine the meaning of a schema.
"""

import codecs
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pydantic
from intaglio.engine.api import SamplingParams
from intaglio.grammar.api import Constraint, KeyOrder, Kind, Whitespace, parse_json
from intaglio.grammar.api import InvalidJson as BadJson
from intaglio.schemas.base import Wire
from intaglio.schemas.extraction.explanation import ExplainRequest
from intaglio.schemas.extraction.requests import ExtractOptions, ExtractRequest, FormOptions
from intaglio.schemas.jobs import JobSpec
from intaglio.schemas.json_pointer import pointer_of
from intaglio.schemas.openai.batches import BatchRequest
from intaglio.schemas.problem import Detail
from intaglio.schemas.registry import RegisterSchema

from ..errors import InvalidBody, InvalidJson, ServiceError, UnknownField
from .body_places import located
from .unknown_fields import meant_field, own_mistakes

MAX_DETAILS = 20
SCORED_TOKENS = 32
"""The most likely tokens at each place, among which a confidence looks for null."""

_KINDS = {
    "string_type": "a string",
    "list_type": "a JSON array",
    "tuple_type": "a JSON array",
    "dict_type": "a JSON object",
    "model_type": "a JSON object",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "a boolean",
    "none_required": "null",
}
"""What the errors of pydantic say that a value is not."""

R = TypeVar("R", bound=Wire)


def extract_request(body: bytes, *, max_depth: int) -> ExtractRequest:
    """Parse the body of `POST /v1/extract`.

    Raises:
        InvalidJson: the body is not strict JSON.
        UnknownField: a field does not exist.
        InvalidBody: a field is missing or has a wrong type or value.
    """
    return checked(_parsed(body, max_depth))


def form_request(body: bytes, *, max_depth: int) -> ExtractRequest:
    """Parse the JSON in a form that has a file beside it. Raises as `extract_request`."""
    value = _parsed(body, max_depth)
    if not isinstance(value, dict):
        return checked(value)
    given = [name for name in ("text", "texts", "messages", "document", "images") if name in value]
    if given:
        raise InvalidBody(
            f"{given[0]} and the file of the form exclude each other", param=f"request.{given[0]}"
        )
    # The file gives the text, which comes later; any text makes the rest of the body valid.
    return checked({**value, "text": "-"})


def image_form_request(body: bytes, *, max_depth: int) -> ExtractRequest:
    """Parse the JSON in a form that has images beside it, and perhaps a text in it. Raises as `extract_request`."""
    value = _parsed(body, max_depth)
    if not isinstance(value, dict) or "text" in value:
        return checked(value)
    found = checked({**value, "text": "-"})  # as above
    return found.model_copy(update={"text": None})


def options_of(written: bytes, *, max_depth: int = 8) -> ExtractOptions:
    """Parse the options of an extraction alone. Raises as `extract_request`, with pointers into the options."""
    return validated(ExtractOptions, _parsed(written, max_depth))


def explain_request(body: bytes, *, max_depth: int) -> ExplainRequest:
    """Parse the body of `POST /v1/schemas/explain`. Raises as `extract_request`."""
    return validated(ExplainRequest, _parsed(body, max_depth))


def register_request(body: bytes, *, max_depth: int) -> RegisterSchema:
    """Parse the body of `POST /v1/schemas`. Raises as `extract_request`."""
    return validated(RegisterSchema, _parsed(body, max_depth))


def job_request(body: bytes, *, max_depth: int) -> JobSpec:
    """Parse the body of `POST /v1/jobs`. Raises as `extract_request`."""
    # Stricter than the next parser: no duplicate keys, no NaN, bounded depth.
    value = _parsed(body, max_depth)
    try:
        return JobSpec.model_validate_json(body, strict=True, by_alias=True, by_name=False)
    except pydantic.ValidationError as error:
        raise _body_error(error, JobSpec, value) from None


def request_body(kind: type[R], body: bytes, *, max_depth: int) -> R:
    """Parse a body into any wire type. Raises as `extract_request`."""
    return validated(kind, _parsed(body, max_depth))


def batch_request(body: bytes, *, max_depth: int) -> BatchRequest:
    """Parse the body of `POST /v1/batches`. Raises as `extract_request`."""
    return validated(BatchRequest, _parsed(body, max_depth))


def _parsed(body: bytes, max_depth: int) -> Any:
    if not body.strip():
        raise InvalidJson("the body is empty", hint="send a JSON object")
    if body.startswith(codecs.BOM_UTF8):
        raise InvalidJson(
            "the body begins with a byte order mark", hint="encode the body as UTF-8 without one"
        )
    try:
        return parse_json(body.decode("utf-8"), depth=max_depth)
    except UnicodeDecodeError as error:
        raise InvalidJson(
            f"the body is not UTF-8: byte 0x{body[error.start]:02x} at {error.start}",
            hint="encode the body as UTF-8",
        ) from None
    except BadJson as error:
        reason, place = f"the body is not JSON: {error}", error.place or ()
        details = (Detail(pointer=pointer_of(place), reason=reason, hint=error.hint),)
        raise InvalidJson(
            reason,
            param=".".join(map(str, place)) or None,
            hint=error.hint,
            details=() if error.place is None else details,
        ) from None


def checked(value: Any) -> ExtractRequest:
    """Validate `value` as an extraction request. Types are not coerced: `"5"` is not a number. Raises as
    `extract_request`.
    """
    return validated(ExtractRequest, value)


def validated(kind: type[R], value: Any) -> R:
    """A value as a wire type. Types are not coerced. Raises as `extract_request`, except for bad JSON."""
    try:
        return kind.model_validate(value, strict=True, by_alias=True, by_name=False)
    except pydantic.ValidationError as error:
        raise _body_error(error, kind, value) from None


def extraction_constraint(schema: dict[str, Any] | bool, options: ExtractOptions) -> Constraint:
    """The constraint of an extraction. It requires compact JSON, under which models extract best; white space is added
    when the answer is sent.
    """
    return schema_constraint(schema, options.model_copy(update={"whitespace": "compact"}))


def schema_constraint(schema: dict[str, Any] | bool, options: FormOptions) -> Constraint:
    """The constraint for JSON under `schema`. The key order of the schema is kept because it may be the order of the
    output.
    """
    source = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return Constraint(
        Kind.JSON_SCHEMA,
        source,
        Whitespace(options.whitespace),
        extra_properties=options.extra_properties,
        key_order=KeyOrder(options.key_order),
        short_numbers=True,
    )


def sampling(options: ExtractOptions, max_tokens: int) -> SamplingParams:
    """The sampling parameters of an extraction with a known budget."""
    scored = options.confidence != "off"
    return SamplingParams(
        max_tokens=max_tokens,
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        min_p=options.min_p,
        seed=options.seed,
        logprobs=SCORED_TOKENS if scored else None,
        masked_share=scored,
    )


def _body_error(error: pydantic.ValidationError, kind: type[Wire], body: Any) -> ServiceError:
    """The error for an invalid body. It shows the caller's field names, but no values."""
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    causes = located(own_mistakes(errors), body)
    if unknown := [cause for cause in causes if cause["type"] == "extra_forbidden"]:
        details = tuple(
            Detail(
                pointer=pointer_of(cause["loc"]),
                reason="there is no such field",
                hint=meant_field(cause["loc"], kind),
            )
            for cause in unknown[:MAX_DETAILS]
        )
        return UnknownField(
            f"the body has an unknown field: {details[0].pointer}",
            param=_dotted(unknown[0]["loc"]),
            hint=details[0].hint,
            details=details,
        )
    found: dict[tuple[str | int, ...], list[Mapping[str, Any]]] = {}
    for cause in causes:
        found.setdefault(_pointer_of(cause["loc"]), []).append(cause)
    details = tuple(
        Detail(pointer=pointer_of(place), reason=_joint_reason(place, of_place))
        for place, of_place in list(found.items())[:MAX_DETAILS]
    )
    first = next(iter(found))
    where = details[0].pointer or "the body"
    return InvalidBody(
        f"{where}: {details[0].reason}", param=_dotted(first) or None, details=details
    )


def _pointer_of(loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The JSON Pointer of a mistake; the branches of the union type of `schema` share one place."""
    return ("schema",) if loc[:1] == ("schema",) else loc


def _joint_reason(place: tuple[str | int, ...], causes: Sequence[Mapping[str, Any]]) -> str:
    """Why no type of a union fits a value: what is wrong with it for the type that it has, else the types."""
    fitting = [cause for cause in causes if cause["type"] not in _KINDS]
    if len(causes) == 1 or fitting:
        last = (fitting or causes)[-1]
        return _reason(last["type"], last["msg"], place)
    return f"must be {' or '.join(dict.fromkeys(_KINDS[cause['type']] for cause in causes))}"


def _reason(kind: str, message: str, loc: tuple[str | int, ...]) -> str:
    if loc[:1] == ("schema",) and kind != "missing":
        return "must be a JSON Schema (an object or a boolean) or the name of one in the catalogue"
    if kind in ("model_type", "dataclass_type"):
        return "must be a JSON object"
    if kind == "tuple_type":
        return "must be a JSON array"
    if kind == "missing":
        return "this field is required"
    if kind == "union_tag_invalid":
        return f"type should be one of {message.rpartition('expected tags: ')[2]}"
    found = message.removeprefix("Value error, ").removeprefix("Input ")
    return found.replace(" after validation", "")


def _dotted(loc: tuple[str | int, ...]) -> str:
    return ".".join(str(part) for part in loc)
