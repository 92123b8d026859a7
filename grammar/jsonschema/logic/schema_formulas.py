"""From schemas to formulas over atoms.

Does: give each sub-schema its formula, follow references in place, share equal sub-schemas. Does not: translate single
keywords (`keyword_formulas`), judge values (`evaluate`) or build automata (`scalars`).
"""

from ...contract.errors import ConstraintTooLarge, Refusal, UnsupportedConstraint
from ..read.dynamic_scope import Place, Schema
from ..read.resolve import Schemas, Scope
from ..read.values import Json
from .atoms import SubSchema
from .formula import Formula, Pool
from .keyword_formulas import BUILDERS, Builder, Keyword, reference

# In-place applicators nested deeper than this are refused: they are followed by recursion.
DEEPEST = 120


class SchemaFormulas:
    """The formulas of one schema document. Owns the pool and the sub-schemas."""

    def __init__(self, schemas: Schemas, formats: bool, document: str | None = None) -> None:
        """`formats`: whether `format` is asserted wherever the dialect has the format. `document`: see `SubSchemas`."""
        self.pool = Pool()
        self.schemas = schemas
        self.formats = formats
        self.document = document
        self.demanded: dict[
            str, int
        ] = {}  # rank of each required name, in the order of the schemas
        self._formulas: dict[Place, Formula] = {}
        self._by_key: dict[object, Formula] = {}
        self._open: dict[Place, None] = {}
        self._places: dict[object, Place] = {}
        self.root = self.sub(Place(schemas.root, Scope()))

    @property
    def built(self) -> tuple[Place, ...]:
        """The places with a formula."""
        return tuple(self._formulas)

    @property
    def reached(self) -> tuple[Formula, ...]:
        """The formulas of the sub-schemas in the order of their first use."""
        return tuple(self._by_key.values())

    def mentions(self, keyword: str) -> bool:
        """Whether a schema with a formula has a keyword."""
        schemas = (self.schemas.value(place.site) for place in self._formulas)
        return any(isinstance(schema, dict) and keyword in schema for schema in schemas)

    def sub(self, place: Place) -> SubSchema:
        """The sub-schema at a place; equal ones have equal keys."""
        key = self._key(place)
        self._places.setdefault(key, place)
        return SubSchema(key, place.site.where, self._of_sub)

    def below(self, place: Place, *keys: str | int) -> SubSchema:
        """The sub-schema below a place at `keys`."""
        return self.sub(self.step(place, *keys))

    def step(self, place: Place, *keys: str | int) -> Place:
        """The place below a place at `keys`."""
        return Place(self.schemas.below(place.site, *keys), place.scope)

    def _of_sub(self, sub: SubSchema) -> Formula:
        formula = self._by_key.get(sub.key)
        if formula is None:
            formula = self._by_key[sub.key] = self.formula(self._places[sub.key])
        return formula

    def _key(self, place: Place) -> object:
        """A key that is equal for schemas with the same text if nothing in the text depends on its place."""
        site = place.site
        value = self.schemas.value(site)
        if isinstance(value, bool):
            return value
        try:
            text = repr(value)  # `repr` puts names without single quotes in single quotes
        except RecursionError:
            return place
        if site.dialect.id_keyword == "id" and "'id'" in text:
            return place
        if "'$" not in text:
            return (text, site.dialect.uri)
        if any(name in text for name in ("'$id'", "'$anchor'", "'$dynamicAnchor'")):
            return place
        if any(name in text for name in ("'$ref'", "'$dynamicRef'", "'$recursiveRef'")):
            return (text, site.dialect.uri, site.document, site.base, place.scope)
        return (text, site.dialect.uri)

    def formula(self, place: Place) -> Formula:
        """The formula of the schema at a place.

        Raises:
            UnsupportedConstraint: the schema refers to itself in place, or a part of it is refused.
            InvalidConstraint: a reference has no target.
            ConstraintTooLarge: in-place applicators are nested too deeply.
        """
        known = self._formulas.get(place)
        if known is not None:
            return known
        where = place.site.where
        if place in self._open:
            refusal = Refusal(
                where, "$ref", "the schema refers to itself in place", "break the reference cycle"
            )
            raise UnsupportedConstraint(f"{where or '/'}: {refusal.reason}", (refusal,))
        if len(self._open) > DEEPEST:
            raise ConstraintTooLarge(f"{where}: schemas are nested too deeply in place")
        self._open[place] = None
        try:
            formula = self._build(place)
        finally:
            self._open.pop(place)
        self._formulas[place] = formula
        return formula

    def _build(self, place: Place) -> Formula:
        schema = self.schemas.value(place.site)
        if not isinstance(schema, dict):
            return self.pool.constant(bool(schema))
        dialect = place.site.dialect
        if self.schemas.dynamic:
            place = Place(place.site, place.scope.entered(place.site.base))
        if dialect.ref_alone and "$ref" in schema:
            return reference(Keyword(self, place, schema, schema["$ref"]))
        builders: dict[Builder, Json] = {}
        for keyword, value in schema.items():
            builder = BUILDERS.get(keyword) if keyword in dialect.keywords else None
            if builder is not None:
                builders.setdefault(builder, value)
        return self.pool.all(
            [builder(Keyword(self, place, schema, value)) for builder, value in builders.items()]
        )

    def targets(self, place: Place, schema: Schema) -> list[Place]:
        """The targets of the references at a place."""
        site, found = place.site, []
        in_force = site.dialect.keywords
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = schema.get(keyword)
            if keyword not in in_force or not isinstance(reference, str):
                continue
            if keyword == "$ref":
                target = self.schemas.resolve(site, reference)
            elif keyword == "$dynamicRef":
                target = self.schemas.resolve_dynamic(site, reference, place.scope)
            else:
                target = self.schemas.resolve_recursive(site, place.scope)
            found.append(Place(target, place.scope))
        return found
