"""JSON Schemas of Python types, as narrow as the types.

Does: generate the schema with Pydantic, and say in it what Pydantic leaves to its validators: without that, an answer
could meet the schema and not the type. Does not: read answers (`shapes`).
"""

from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

_WHOLE_KEY: Final = "^(?:0|-?[1-9][0-9]{0,17})$"
# A `timedelta` has less than 10^9 days: years, months and weeks of six digits, all else of nine.
_DURATION: Final = "^P(?:[0-9]{1,6}[YMWD])*(?:T(?:[0-9]{1,9}[HMS])+)?$"
_HOSTS: Final = frozenset({"http", "https", "ws", "wss", "ftp"})  # their URLs must name one

# Formats that Pydantic has by itself, and the keywords that mean the same.
_OWN_FORMATS: Final[dict[str, JsonSchemaValue]] = {
    "ipvanyaddress": {
        "anyOf": [{"type": "string", "format": "ipv4"}, {"type": "string", "format": "ipv6"}]
    },
    **{
        f"uuid{version}": {
            "type": "string",
            "format": "uuid",
            "pattern": f"^.{{14}}{version}.{{4}}[89ABab]",
        }
        for version in range(1, 9)
    },
}


class ClosedSchema(GenerateJsonSchema):
    """A JSON Schema generator that closes objects and states what a type requires of its values.

    Objects allow only the properties that their type declares, times have the offset that their type requires, and
    decimals, durations, URLs, UUIDs and the keys of maps are what their types can hold. Pydantic leaves objects open
    and ignores unknown properties; under an open schema a model would spend tokens on properties that are dropped. A
    type with `extra="allow"` keeps its objects open.
    """

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        """The schema of a part of the type; formats of Pydantic's own are replaced by keywords of JSON Schema."""
        found = super().generate_inner(schema)
        own = _OWN_FORMATS.get(str(found.get("format"))) if found.get("type") == "string" else None
        if own is None:
            return found
        return {
            name: value for name, value in found.items() if name not in ("type", "format")
        } | own

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return _closed(super().model_schema(schema))

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return _closed(super().dataclass_schema(schema))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return _closed(super().typed_dict_schema(schema))

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """A number with the places that the type has. Pydantic also permits any string, which a model would write."""
        found = super().decimal_schema(schema)
        numbers = [part for part in found.get("anyOf", ()) if part.get("type") == "number"]
        return _with_places(numbers[0] if numbers else found, schema)

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        return _time(schema, "date-time", "date-time-local", "iso-date-time")

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        return _time(schema, "time", "time-local", "iso-time")

    def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
        """A duration that a `timedelta` can hold; it has less than 1,000,000,000 days."""
        found = super().timedelta_schema(schema)
        return found | {"pattern": _DURATION} if found.get("format") == "duration" else found

    def url_schema(self, schema: core_schema.UrlSchema) -> JsonSchemaValue:
        """A URL with a scheme that the type allows."""
        return super().url_schema(schema) | _scheme(schema)

    def multi_host_url_schema(self, schema: core_schema.MultiHostUrlSchema) -> JsonSchemaValue:
        """A URL with a scheme that the type allows."""
        return super().multi_host_url_schema(schema) | _scheme(schema)

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """An object; if the keys of the dictionary are whole numbers, its names are such."""
        found = super().dict_schema(schema)
        if _kind(schema.get("keys_schema")) == "int":
            found.setdefault("propertyNames", {"pattern": _WHOLE_KEY})
        return found


def _time(
    schema: core_schema.DatetimeSchema | core_schema.TimeSchema, aware: str, naive: str, either: str
) -> JsonSchemaValue:
    """The format of a time, depending on the offset that its type requires.

    Pydantic uses `date-time` or `time` for all of them, which require an offset and seconds: for a text that says 14:30
    a model would have to invent both.
    """
    constraint = schema.get("tz_constraint")
    offset = aware if constraint == "aware" or isinstance(constraint, int) else either
    return {"type": "string", "format": naive if constraint == "naive" else offset}


def _closed(schema: JsonSchemaValue) -> JsonSchemaValue:
    if schema.get("type") == "object" and "properties" in schema:
        return {"additionalProperties": False} | schema
    return schema


def _with_places(found: JsonSchemaValue, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
    """A number with at most the digits before and after the point that `max_digits` and `decimal_places` allow."""
    places, digits = schema.get("decimal_places"), schema.get("max_digits")
    added: JsonSchemaValue = {}
    if places is not None and "multipleOf" not in found:
        added["multipleOf"] = float(f"1e-{places}") if places else 1
    if digits is not None:
        bound = 10 ** max(0, digits - (places or 0))
        if found.get("maximum", bound) >= bound:
            added["exclusiveMaximum"] = min(bound, found.get("exclusiveMaximum", bound))
        if found.get("minimum", -bound) <= -bound:
            added["exclusiveMinimum"] = max(-bound, found.get("exclusiveMinimum", -bound))
    return found | added


def _scheme(schema: core_schema.UrlSchema | core_schema.MultiHostUrlSchema) -> JsonSchemaValue:
    """The pattern of the schemes that a type of URLs allows; none if it allows all."""
    schemes = schema.get("allowed_schemes")
    if not schemes:
        return {}
    needs_host = schema.get("host_required") or _HOSTS.issuperset(schemes)
    names = "|".join(scheme.replace("+", r"\+").replace(".", r"\.") for scheme in schemes)
    return {"pattern": f"^(?:{names})://{'[0-9A-Za-z[]' if needs_host else ''}"}


def _kind(schema: CoreSchema | None) -> str | None:
    """The type of a value, without what is done before or after it is validated."""
    while schema is not None and schema["type"] in (
        "function-after",
        "function-before",
        "function-wrap",
    ):
        schema = schema.get("schema")
    return None if schema is None else schema["type"]
