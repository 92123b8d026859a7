"""The members and items that a schema and its in-place sub-schemas evaluate, for `unevaluated*`.

Does: collect covers, each with the condition under which it counts. Does not: judge values.
"""

from collections.abc import Iterator

from ..read.dynamic_scope import Place, Schema, item_parts
from .atoms import ItemCover, MemberCover, Required, Types
from .formula import Formula
from .sub_schemas import SubSchemas

OBJECTS = Types(frozenset({"object"}))


def member_covers(formulas: SubSchemas, place: Place) -> Iterator[tuple[MemberCover, Formula]]:
    """The covers of the `properties` etc. of a schema and of all schemas applied in place.

    Its own `unevaluatedProperties`, which the covers are for, covers nothing.
    """
    for where, condition, is_top in _in_place(formulas, place, formulas.pool.true):
        cover = _key_cover(where, _members(formulas, where), is_top)
        if cover is not None:
            yield cover, condition


def item_covers(formulas: SubSchemas, place: Place) -> Iterator[tuple[ItemCover, Formula]]:
    """The covers of items, collected in the same way."""
    for where, condition, is_top in _in_place(formulas, place, formulas.pool.true):
        cover = _item_cover(formulas, where, _members(formulas, where), is_top)
        if cover is not None:
            yield cover, condition


def _members(formulas: SubSchemas, place: Place) -> Schema:
    schema = formulas.schemas.value(place.site)
    return schema if isinstance(schema, dict) else {}


def _key_cover(place: Place, schema: Schema, is_top: bool) -> MemberCover | None:
    keywords = place.site.dialect.keywords
    if "additionalProperties" in schema and "additionalProperties" in keywords:
        return MemberCover(frozenset(), (), everything=True)
    if not is_top and "unevaluatedProperties" in schema and "unevaluatedProperties" in keywords:
        return MemberCover(frozenset(), (), everything=True)
    named, patterns = schema.get("properties"), schema.get("patternProperties")
    names = frozenset(named) if isinstance(named, dict) else frozenset()
    sources = tuple(patterns) if isinstance(patterns, dict) else ()
    return MemberCover(names, sources, everything=False) if names or sources else None


def _item_cover(
    formulas: SubSchemas, place: Place, schema: Schema, is_top: bool
) -> ItemCover | None:
    dialect = place.site.dialect
    prefix, rest = item_parts(place, schema)
    if rest is not None or (
        not is_top and "unevaluatedItems" in schema and "unevaluatedItems" in dialect.keywords
    ):
        return ItemCover(0, None, everything=True)
    contains = None
    if "contains" in schema and dialect.name == "2020-12":
        contains = formulas.below(place, "contains")
    return ItemCover(len(prefix), contains, everything=False) if prefix or contains else None


def _in_place(
    formulas: SubSchemas, place: Place, condition: Formula, is_top: bool = True
) -> Iterator[tuple[Place, Formula, bool]]:
    """Every schema applied to the same value, the condition under which it counts, and whether it is the top one."""
    pool, schema = formulas.pool, _members(formulas, place)
    if not schema:
        return
    if formulas.schemas.dynamic:
        place = Place(place.site, place.scope.entered(place.site.base))
    hidden = place.site.dialect.ref_alone and "$ref" in schema
    if not hidden:
        yield place, condition, is_top
    for below, extra in _applied(formulas, place, {"$ref": schema["$ref"]} if hidden else schema):
        holds = pool.all([condition, extra, formulas.formula(below)])
        if holds is not pool.false:
            yield from _in_place(formulas, below, holds, is_top=False)


def _applied(formulas: SubSchemas, place: Place, schema: Schema) -> Iterator[tuple[Place, Formula]]:
    """The schemas directly applied in place, each with the condition that must hold in addition to itself."""
    pool, keywords = formulas.pool, place.site.dialect.keywords
    yield from ((target, pool.true) for target in formulas.targets(place, schema))
    for keyword in ("allOf", "anyOf", "oneOf"):
        value = schema.get(keyword)
        if keyword in keywords and isinstance(value, list):
            yield from ((formulas.step(place, keyword, i), pool.true) for i in range(len(value)))
    if "if" in schema and "if" in keywords:
        condition = formulas.step(place, "if")
        holds = formulas.formula(condition)
        yield condition, pool.true
        if "then" in schema:
            yield formulas.step(place, "then"), holds
        if "else" in schema:
            yield formulas.step(place, "else"), pool.no(holds)
    for keyword in ("dependentSchemas", "dependencies"):
        value = schema.get(keyword)
        if keyword in keywords and isinstance(value, dict):
            for name, part in value.items():
                if not isinstance(part, list):
                    has = [pool.of(OBJECTS), pool.of(Required(frozenset({name})))]
                    yield formulas.step(place, keyword, name), pool.all(has)
