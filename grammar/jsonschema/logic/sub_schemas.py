"""The interface through which the translation of a keyword reaches the schemas around it.

Does: declare the interface that `schema_formulas` implements, so that translations need not import it.
"""

from typing import Protocol

from ..read.dynamic_scope import Place, Schema
from ..read.resolve import Schemas
from .atoms import SubSchema
from .formula import Formula, Pool


class SubSchemas(Protocol):
    """The schemas of a document and their formulas.

    `formats`: whether `format` is asserted in every draft. `demanded`: the rank of each required name.
    `document`: the text of which verbatim strings are substrings; None: there is none.
    """

    pool: Pool
    schemas: Schemas
    formats: bool
    demanded: dict[str, int]
    document: str | None

    def below(self, place: Place, *keys: str | int) -> SubSchema:
        """The sub-schema below a place at `keys`, which is about a part of the value."""

    def step(self, place: Place, *keys: str | int) -> Place:
        """The place below a place at `keys`."""

    def formula(self, place: Place) -> Formula:
        """The formula of the schema at a place, which is about the same value."""

    def targets(self, place: Place, schema: Schema) -> list[Place]:
        """The targets of the references at a place."""
