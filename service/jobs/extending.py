"""Adding to results that are there: the schema of a row whose earlier values stay.

Does: make old values the only legal ones, so that the grammar writes them and the model is asked for the new ones only.
Does not: run anything.
"""

from pydantic import JsonValue

from ...schemas import catalogue
from .extracting import Schema


def with_fixed_values(schema: Schema, given: dict[str, JsonValue] | None) -> Schema:
    """`schema`, with every property in `given` held to its value; as it is where nothing is given."""
    if given is None:
        return schema
    whole = catalogue.get(schema).schema if isinstance(schema, str) else schema
    if isinstance(whole, bool):
        return whole
    named = whole.get("properties")
    held = {name: value for name, value in given.items() if not named or name in named}
    if not held:
        return whole
    constant = {name: {"const": value} for name, value in held.items()}
    return {"allOf": [whole, {"properties": constant, "required": list(held)}]}
