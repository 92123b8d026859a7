"""The keywords below which a JSON Schema describes parts of a value, or a value in a certain case.

Does not: name those where a wider or narrower sub-schema reverses what the whole means: `if`, `not`, `contains`.
"""

from typing import Final

SCHEMA_MAPS: Final = (
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
)
"""Their value is an object of sub-schemas by name."""

SUBSCHEMAS: Final = (
    "additionalProperties",
    "unevaluatedProperties",
    "additionalItems",
    "unevaluatedItems",
    "items",
    "then",
    "else",
)
"""Their value is one sub-schema, that of `items` also a list."""
