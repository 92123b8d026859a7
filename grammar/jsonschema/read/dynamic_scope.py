"""Schemas in the dynamic scope they were reached in, and how the drafts spell the items of arrays.

Does: name places. Does not: build formulas (`formulas`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .resolve import SchemaLocation, Scope
from .values import Json

Schema: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Place:
    """A schema in the dynamic scope it was reached in."""

    site: SchemaLocation
    scope: Scope

    def __hash__(self) -> int:
        """Of what mostly tells places apart."""
        return hash(self.site)


def item_parts(place: Place, schema: Schema) -> tuple[list[tuple[str, int]], str | None]:
    """Where the schemas of the first items and of the others stand, whatever the draft calls them."""
    keywords = place.site.dialect.keywords
    first = "prefixItems" if place.site.dialect.name == "2020-12" else "items"
    heads = schema.get(first) if first in keywords else None
    prefix = [(first, i) for i in range(len(heads))] if isinstance(heads, list) else []
    if first == "prefixItems" or not isinstance(heads, list):
        return prefix, "items" if "items" in schema and "items" in keywords else None
    additional = "additionalItems" in schema and "additionalItems" in keywords
    return prefix, "additionalItems" if additional else None
