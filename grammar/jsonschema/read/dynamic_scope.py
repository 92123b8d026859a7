"""Schemas with their dynamic scope, and the keywords of array items in each draft.

Does: define places. Does not: build formulas (`logic`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .resolve import SchemaLocation, Scope
from .values import Json

Schema: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Place:
    """A schema together with the dynamic scope in which it was reached."""

    site: SchemaLocation
    scope: Scope

    def __hash__(self) -> int:
        """The hash of the pointer, which distinguishes nearly all places."""
        return hash(self.site.pointer)


def item_parts(place: Place, schema: Schema) -> tuple[list[tuple[str, int]], str | None]:
    """(locations of the schemas of the first items, keyword of the schema of the others), in any draft."""
    keywords = place.site.dialect.keywords
    first = "prefixItems" if place.site.dialect.name == "2020-12" else "items"
    heads = schema.get(first) if first in keywords else None
    prefix = [(first, i) for i in range(len(heads))] if isinstance(heads, list) else []
    if first == "prefixItems" or not isinstance(heads, list):
        return prefix, "items" if "items" in schema and "items" in keywords else None
    additional = "additionalItems" in schema and "additionalItems" in keywords
    return prefix, "additionalItems" if additional else None
