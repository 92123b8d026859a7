"""From what a caller wants to have, to a JSON Schema and back to a value of that type.

Does: accept a JSON Schema, the name of a schema in the catalogue, or any type Pydantic understands; make the schema;
read an answer into the type. Does not: judge the schema (the service does).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, JsonValue, PydanticUserError, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema, to_json

from .errors import ResultMismatch

T = TypeVar("T")


class ClosedSchema(GenerateJsonSchema):
    """JSON Schema in which an object has the properties its type declares, and no others, and times the offset that
    their type asks for.

    Pydantic leaves objects open and drops what it does not know; a model that decodes under an open schema would spend
    its tokens on properties that are dropped. A type that asks for extra properties (`extra="allow"`) keeps them.
    """

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return _closed(super().model_schema(schema))

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return _closed(super().dataclass_schema(schema))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return _closed(super().typed_dict_schema(schema))

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        return _time(schema, "date-time", "date-time-local", "iso-date-time")

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        return _time(schema, "time", "time-local", "iso-time")


def _time(
    schema: core_schema.DatetimeSchema | core_schema.TimeSchema, aware: str, naive: str, either: str
) -> JsonSchemaValue:
    """The format of a time by what its type says of offsets.

    Pydantic calls all of them `date-time` or `time`, which demand an offset and seconds: a model would have to invent
    those for a text that says 14:30.
    """
    constraint = schema.get("tz_constraint")
    offset = aware if constraint == "aware" or isinstance(constraint, int) else either
    return {"type": "string", "format": naive if constraint == "naive" else offset}


def _closed(schema: JsonSchemaValue) -> JsonSchemaValue:
    if schema.get("type") == "object" and "properties" in schema:
        return {"additionalProperties": False} | schema
    return schema


@dataclass(frozen=True, slots=True)
class Shape(Generic[T]):
    """What goes to the service as `schema`, and how its answer becomes a `T`."""

    schema: dict[str, Any] | bool | str
    adapter: TypeAdapter[T] | None

    def read(
        self, data: JsonValue, request_id: str | None = None, unstated: Sequence[str] = ()
    ) -> T:
        """`data` as a `T`. Raises `ResultMismatch` where a validator of the type refuses it.

        `unstated`: where it is null because the caller agreed to that, and not by the schema.
        """
        if self.adapter is None:
            return data  # type: ignore[return-value]  # T is Any where there is no type
        try:
            # As JSON, because strict types take "2026-01-31" for a date from JSON only.
            return self.adapter.validate_json(to_json(data))
        except ValidationError as error:
            if unstated:
                message = f"null, which not_stated='null' lets in at {', '.join(unstated)}, is not of the type"
                hint = "declare these fields as Optional, for instance `str | None`"
                raise ResultMismatch(message, data, request_id, hint) from error
            message = f"the result is valid JSON for the schema but not for the type: {error}"
            raise ResultMismatch(message, data, request_id) from error


def shape_of(schema: Any) -> Shape[Any]:
    """Understand `schema`. Raises TypeError for what is neither a schema, a name, nor a type."""
    if isinstance(schema, str | bool):
        return Shape(schema, None)
    if isinstance(schema, Mapping):
        return Shape(dict(schema), None)
    if schema is None or isinstance(schema, BaseModel):
        raise TypeError(_unusable(schema))
    try:
        adapter = schema if isinstance(schema, TypeAdapter) else TypeAdapter(schema)
        return Shape(adapter.json_schema(schema_generator=ClosedSchema), adapter)
    except PydanticUserError as error:
        # What follows the first line is advice for those who write types for pydantic.
        reason, _, _ = error.message.partition("\n")
        raise TypeError(f"{_unusable(schema)}: {reason}") from error


def _unusable(schema: object) -> str:
    return (
        "schema must be a JSON Schema (dict or bool), the name of a schema in the catalogue, or a type "
        f"(a Pydantic model class, a dataclass, a TypedDict, list[…], a TypeAdapter), not {schema!r}"
    )
