"""The schema of a row in a job that extends an earlier one: the earlier values are fixed.

Does: allow only the earlier values, so that the grammar forces them and the model generates only the new ones. Does
not: run anything.
"""

from intaglio.schemas import catalogue
from pydantic import JsonValue

from .backends import Schema


def with_fixed_values(schema: Schema, given: dict[str, JsonValue] | None) -> Schema:
    """`schema` with every property in `given` fixed to its value; unchanged if nothing is given."""
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
