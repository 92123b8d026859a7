"""Which members and items a schema's in-place sub-schemas evaluate, and on which condition: what `unevaluated*` asks.

Does: collect covers with the formula that has to hold for each to count. Does not: judge.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..read.dynamic_scope import Place, Schema, item_parts
from .atoms import ItemCover, KeyCover, Required, Types
from .formula import Formula

if TYPE_CHECKING:  # the builders of `unevaluated*` there call this module
    from .normalize import Normal

OBJECTS = Types(frozenset({"object"}))


def member_covers(normal: "Normal", place: Place) -> Iterator[tuple[KeyCover, Formula]]:
    """The covers of a schema's `properties` and the like and of all schemas applied in place.

    Its own `unevaluatedProperties`, which asks, covers nothing.
    """
    for where, condition, is_top in _in_place(normal, place, normal.pool.true):
        cover = _key_cover(where, _members(normal, where), is_top)
        if cover is not None:
            yield cover, condition


def item_covers(normal: "Normal", place: Place) -> Iterator[tuple[ItemCover, Formula]]:
    """The same for items."""
    for where, condition, is_top in _in_place(normal, place, normal.pool.true):
        cover = _item_cover(normal, where, _members(normal, where), is_top)
        if cover is not None:
            yield cover, condition


def _members(normal: "Normal", place: Place) -> Schema:
    schema = normal.schemas.value(place.site)
    return schema if isinstance(schema, dict) else {}


def _key_cover(place: Place, schema: Schema, is_top: bool) -> KeyCover | None:
    keywords = place.site.dialect.keywords
    if "additionalProperties" in schema and "additionalProperties" in keywords:
        return KeyCover(frozenset(), (), everything=True)
    if not is_top and "unevaluatedProperties" in schema and "unevaluatedProperties" in keywords:
        return KeyCover(frozenset(), (), everything=True)
    named, patterns = schema.get("properties"), schema.get("patternProperties")
    names = frozenset(named) if isinstance(named, dict) else frozenset()
    sources = tuple(patterns) if isinstance(patterns, dict) else ()
    return KeyCover(names, sources, everything=False) if names or sources else None


def _item_cover(normal: "Normal", place: Place, schema: Schema, is_top: bool) -> ItemCover | None:
    dialect = place.site.dialect
    prefix, rest = item_parts(place, schema)
    if rest is not None or (
        not is_top and "unevaluatedItems" in schema and "unevaluatedItems" in dialect.keywords
    ):
        return ItemCover(0, None, everything=True)
    contains = None
    if "contains" in schema and dialect.name == "2020-12":
        contains = normal.below(place, "contains")
    return ItemCover(len(prefix), contains, everything=False) if prefix or contains else None


def _in_place(
    normal: "Normal", place: Place, condition: Formula, is_top: bool = True
) -> Iterator[tuple[Place, Formula, bool]]:
    """Every schema applied to the same value that can evaluate something, with the condition under which it counts."""
    pool, schema = normal.pool, _members(normal, place)
    if not schema:
        return
    if normal.schemas.dynamic:
        place = Place(place.site, place.scope.entered(place.site.base))
    hidden = place.site.dialect.ref_alone and "$ref" in schema
    if not hidden:
        yield place, condition, is_top
    for below, extra in _applied(normal, place, {"$ref": schema["$ref"]} if hidden else schema):
        holds = pool.all([condition, extra, normal.formula(below)])
        if holds is not pool.false:
            yield from _in_place(normal, below, holds, is_top=False)


def _applied(normal: "Normal", place: Place, schema: Schema) -> Iterator[tuple[Place, Formula]]:
    """The schemas directly applied in place, each with what must hold besides itself."""
    pool, keywords = normal.pool, place.site.dialect.keywords
    yield from ((target, pool.true) for target in normal.targets(place, schema))
    for keyword in ("allOf", "anyOf", "oneOf"):
        value = schema.get(keyword)
        if keyword in keywords and isinstance(value, list):
            yield from ((normal.step(place, keyword, i), pool.true) for i in range(len(value)))
    if "if" in schema and "if" in keywords:
        condition = normal.step(place, "if")
        holds = normal.formula(condition)
        yield condition, pool.true
        if "then" in schema:
            yield normal.step(place, "then"), holds
        if "else" in schema:
            yield normal.step(place, "else"), pool.no(holds)
    for keyword in ("dependentSchemas", "dependencies"):
        value = schema.get(keyword)
        if keyword in keywords and isinstance(value, dict):
            for name, part in value.items():
                if not isinstance(part, list):
                    has = [pool.of(OBJECTS), pool.of(Required(frozenset({name})))]
                    yield normal.step(place, keyword, name), pool.all(has)
