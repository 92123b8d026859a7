"""Conversion between Python types and JSON Schemas, and of answers to typed values.

Does: accept a JSON Schema, the name of a catalogue schema, or any type that Pydantic supports; build the schema; parse
an answer into the type. Does not: examine the schema (the service does).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isroutine
from os import PathLike
from typing import Any, Generic, TypeVar

from intaglio.schemas import catalogue
from pydantic import BaseModel, JsonValue, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import SchemaError, to_json

from .closed_schema import ClosedSchema
from .errors import ResultMismatch
from .partial import partial_adapter

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shape(Generic[T]):
    """The `schema` to send to the service, and the conversion of its answer to a `T`."""

    schema: dict[str, Any] | bool | str
    adapter: TypeAdapter[T] | None
    kind: Any = None
    """The type, where it is known."""

    def read_partial(self, data: JsonValue, request_id: str | None = None) -> Any:
        """Convert incomplete data to the partial form of the type; `data` itself if the type is not known.

        Raises:
            ResultMismatch: a validator within the type refuses a value.
        """
        if self.kind is None or data is None:
            return data
        try:
            return partial_adapter(self.kind).validate_json(to_json(data))
        except ValidationError as error:
            message = (
                f"a part of the result is valid JSON for the schema but not for the type: {error}"
            )
            raise ResultMismatch(message, data, request_id) from error

    def write(self, data: Any) -> JsonValue:
        """The JSON value of `data`, which is a `T` or a JSON value already."""
        if self.adapter is None or isinstance(data, Mapping):
            return data  # type: ignore[no-any-return]
        found: JsonValue = self.adapter.dump_python(data, mode="json", by_alias=True)
        return found

    def read(
        self, data: JsonValue, request_id: str | None = None, unstated: Sequence[str] = ()
    ) -> T:
        """Convert `data` to a `T`. Raises `ResultMismatch` if a validator of the type refuses it.

        `unstated`: the places that are null by the caller's option and not by the schema.
        """
        if self.adapter is None:
            return data  # type: ignore[return-value]  # T is Any where there is no type
        try:
            # As JSON, because strict types accept "2026-01-31" as a date from JSON only.
            return self.adapter.validate_json(to_json(data))
        except ValidationError as error:
            if unstated:
                message = f"null, which not_stated='null' allows at {', '.join(unstated)}, is not of the type"
                hint = "declare these fields as Optional, for instance `str | None`"
                raise ResultMismatch(message, data, request_id, hint) from error
            message = f"the result is valid JSON for the schema but not for the type: {error}"
            raise ResultMismatch(message, data, request_id) from error


def shape_of(schema: Any) -> Shape[Any]:
    """The shape of `schema`. Raises TypeError if it is not a schema, a name or a type."""
    if isinstance(schema, str | PathLike):
        name = str(schema)
        other = catalogue.not_a_name(name)
        # "a.json" may be the name of a registered schema, which the service knows; none of the others can be a name.
        if isinstance(schema, PathLike) or (other and set(name) & set("{[/\\")):
            raise TypeError(
                f"{name[:80]!r} is not the name of a schema: {other or catalogue.PATH_HINT}"
            )
        return Shape(name, None)
    if isinstance(schema, bool):
        return Shape(schema, None)
    if isinstance(schema, Mapping):
        return Shape(dict(schema), None)
    # A function has a schema in Pydantic, that of its arguments; and reading an answer would call it.
    if schema is None or isinstance(schema, BaseModel | partial) or isroutine(schema):
        raise TypeError(_unusable(schema))
    try:
        given = isinstance(schema, TypeAdapter)
        adapter = schema if given else TypeAdapter(schema)
        kind = None if given else schema
        return Shape(adapter.json_schema(schema_generator=ClosedSchema), adapter, kind)
    except PydanticUserError as error:
        # The lines after the first are advice for authors of pydantic types.
        reason, _, _ = error.message.partition("\n")
        raise TypeError(f"{_unusable(schema)}: {reason}") from error
    except SchemaError as error:
        # Such as a pattern that the validator of Pydantic cannot run.
        reason = " ".join(str(error).split())
        raise TypeError(f"Pydantic cannot validate {schema!r}: {reason}") from error


def _unusable(schema: object) -> str:
    return (
        "schema must be a JSON Schema (dict or bool), the name of a schema in the catalogue, or a type "
        f"(a Pydantic model class, a dataclass, a TypedDict, list[…], a TypeAdapter), not {schema!r}"
    )
