"""The JSON Schema of JSON Schemas with our keyword `x-intaglio`, for editors and other validators.

Does: extend the meta-schema of draft 2020-12 by reference. Does not: validate (`service/extraction`), or state what
else the compiler refuses (`docs/explain.md`).
"""

from typing import Any, Final

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
IDENTIFIER: Final = "urn:intaglio:dialect:1"
"""The `$id` of the dialect: for `$schema`, or for the settings of an editor."""


def dialect() -> dict[str, Any]:
    """The schema. The keyword may be stated wherever a schema may."""
    return {
        "$schema": DIALECT,
        "$id": IDENTIFIER,
        "title": "JSON Schema with x-intaglio",
        "$dynamicAnchor": "meta",
        "$ref": DIALECT,
        "type": ["object", "boolean"],
        "properties": {
            "x-intaglio": {
                "title": "How a value is bound to the document",
                "type": "object",
                "properties": {
                    "verbatim": {
                        "description": "The string is a substring of the document that the request brings.",
                        "type": "boolean",
                    }
                },
                "required": ["verbatim"],
                "additionalProperties": False,
            }
        },
    }
