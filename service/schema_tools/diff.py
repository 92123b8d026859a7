"""The differences between two JSON Schemas, and the effect of each on the valid documents.

Does: compare keywords place by place, along references within a document. Does not: decide whether two schemas mean the
same: a difference in `anyOf`, `oneOf`, `not` or a pattern is reported as one of unknown effect.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from intaglio.schemas.json_pointer import child_pointer, local_target

Schema = Mapping[str, Any] | bool

NARROWER: Final = "narrower"
"""Some documents of the old schema are no longer valid."""
WIDER: Final = "wider"
"""Some documents of the new schema were not valid before."""
UNKNOWN: Final = "unknown"
SAME: Final = "same"
"""Only annotations differ."""

_LOWER: Final = (
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
    "minContains",
)
_UPPER: Final = (
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
    "maxContains",
)
_NOTES: Final = (
    "title", "description", "examples", "default", "deprecated", "$comment", "$schema", "$id", "readOnly", "writeOnly",
)  # fmt: skip
_HANDLED: Final = {
    "type", "enum", "const", "properties", "required", "additionalProperties", "items", "$defs", "definitions", "$ref",
    *_LOWER, *_UPPER,
}  # fmt: skip
_DEEPEST: Final = 64


@dataclass(frozen=True, slots=True)
class Change:
    """One difference at a JSON Pointer: what changed, and its effect on the set of valid documents."""

    pointer: str
    effect: str
    what: str


def changes(old: Schema, new: Schema) -> list[Change]:
    """All differences, in the order of the new schema."""
    return list(_Comparison(old, new).at("", old, new, 0))


class _Comparison:
    def __init__(self, old: Schema, new: Schema) -> None:
        self.roots = old, new
        self.seen: set[tuple[str, str]] = set()

    def at(self, pointer: str, old: Schema, new: Schema, depth: int) -> Iterator[Change]:
        """The differences of two schemas at one place."""
        names = _reference(old), _reference(new)
        if names != ("", ""):
            if names in self.seen:
                return
            self.seen.add(names)
        old, new = _resolved(old, self.roots[0]), _resolved(new, self.roots[1])
        if old == new:
            return
        unfollowed = _reference(old), _reference(new)
        if unfollowed[0] != unfollowed[1]:
            was, is_now = (_shown(name) if name else "none" for name in unfollowed)
            yield Change(f"{pointer}/$ref", UNKNOWN, f"was {was}, is {is_now}: not followed")
        elif depth > _DEEPEST:
            yield Change(pointer, UNKNOWN, "nested too deep to compare")
        elif isinstance(old, bool) or isinstance(new, bool):
            yield from _booleans(pointer, old, new)
        else:
            yield from self._keywords(pointer, old, new, depth)

    def _keywords(
        self, pointer: str, old: Mapping[str, Any], new: Mapping[str, Any], depth: int
    ) -> Iterator[Change]:
        yield from _sets(pointer, old, new)
        yield from _bounds(pointer, old, new)
        yield from self._properties(pointer, old, new, depth)
        for keyword in ("items", "additionalProperties"):
            if keyword in old or keyword in new:
                yield from self.at(
                    f"{pointer}/{keyword}",
                    old.get(keyword, True),
                    new.get(keyword, True),
                    depth + 1,
                )
        for keyword in dict.fromkeys((*old, *new)):
            if keyword not in _HANDLED and old.get(keyword) != new.get(keyword):
                yield _other(pointer, keyword, old, new)

    def _properties(
        self, pointer: str, old: Mapping[str, Any], new: Mapping[str, Any], depth: int
    ) -> Iterator[Change]:
        before, after = old.get("properties", {}), new.get("properties", {})
        for name in dict.fromkeys((*after, *before)):
            place = child_pointer(f"{pointer}/properties", name)
            if name in before and name in after:
                yield from self.at(place, before[name], after[name], depth + 1)
            elif name in after:
                yield _one_sided(place, old, "added", (WIDER, NARROWER))
            else:
                yield _one_sided(place, new, "removed", (NARROWER, WIDER))
        required = set(old.get("required", ())), set(new.get("required", ()))
        for name in sorted(required[1] - required[0]):
            yield Change(f"{pointer}/required", NARROWER, f"{name!r} is required now")
        for name in sorted(required[0] - required[1]):
            yield Change(f"{pointer}/required", WIDER, f"{name!r} is no longer required")


def _one_sided(place: str, other: Mapping[str, Any], what: str, effects: tuple[str, str]) -> Change:
    """A property that one schema names. `effects`: if the other one is closed, and if it allows any value there."""
    rest = other.get("additionalProperties", True)
    if rest is False:
        return Change(place, effects[0], f"property {what}")
    if rest is True or rest == {}:
        return Change(
            place, effects[1], f"property {what}; the other schema allows any value there"
        )
    return Change(
        place, UNKNOWN, f"property {what}; the other schema has additionalProperties for it"
    )


def _booleans(pointer: str, old: Schema, new: Schema) -> Iterator[Change]:
    shown = _shown(old), _shown(new)
    if new is False or old is True or old == {}:
        if new is not True and new != {}:
            yield Change(pointer, NARROWER, f"was {shown[0]}, is {shown[1]}")
    else:
        yield Change(pointer, WIDER, f"was {shown[0]}, is {shown[1]}")


def _sets(pointer: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Changes of `type`, `enum` and `const`, each as a set of values."""
    types = _types(old), _types(new)
    yield from _set_changes(f"{pointer}/type", *types, "type")
    choices = _choices(old), _choices(new)
    place = f"{pointer}/{'const' if 'const' in new or 'const' in old else 'enum'}"
    if choices[0] is None and choices[1] is not None:
        yield Change(place, NARROWER, "only some values are valid now")
    elif choices[0] is not None and choices[1] is None:
        yield Change(place, WIDER, "any value is valid now")
    elif choices[0] is not None and choices[1] is not None:
        yield from _set_changes(place, choices[0], choices[1], "value")


def _set_changes(pointer: str, old: set[str], new: set[str], word: str) -> Iterator[Change]:
    for each in sorted(old - new):
        yield Change(pointer, NARROWER, f"{word} {each} removed")
    for each in sorted(new - old):
        yield Change(pointer, WIDER, f"{word} {each} added")


_TYPES: Final = {"object", "array", "string", "integer", "number", "boolean", "null"}


def _types(schema: Mapping[str, Any]) -> set[str]:
    given = schema.get("type", sorted(_TYPES))
    found = {given} if isinstance(given, str) else set(given)
    return found | {"integer"} if "number" in found else found


def _choices(schema: Mapping[str, Any]) -> set[str] | None:
    if "const" in schema:
        return {_shown(schema["const"])}
    return set(map(_shown, schema["enum"])) if "enum" in schema else None


def _bounds(pointer: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for keyword in (*_LOWER, *_UPPER):
        before, after = old.get(keyword), new.get(keyword)
        if before == after:
            continue
        shown = [_shown(each[keyword]) if keyword in each else "absent" for each in (old, new)]
        what = f"was {shown[0]}, is {shown[1]}"
        if isinstance(before, bool) or isinstance(after, bool):
            yield Change(f"{pointer}/{keyword}", UNKNOWN, what)
        elif before is None or after is None:
            yield Change(f"{pointer}/{keyword}", NARROWER if before is None else WIDER, what)
        else:
            tighter = after > before if keyword in _LOWER else after < before
            yield Change(f"{pointer}/{keyword}", NARROWER if tighter else WIDER, what)


def _other(pointer: str, keyword: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Change:
    place = child_pointer(pointer, keyword)
    if keyword in _NOTES:
        return Change(place, SAME, "annotation changed")
    if keyword not in old:
        alone = keyword in ("pattern", "format", "multipleOf", "uniqueItems", "allOf", "not")
        return Change(
            place, NARROWER if alone else UNKNOWN, f"{keyword} added: {_shown(new[keyword])}"
        )
    if keyword not in new:
        alone = keyword in ("pattern", "format", "multipleOf", "uniqueItems", "allOf", "not")
        return Change(place, WIDER if alone else UNKNOWN, f"{keyword} removed")
    return Change(place, UNKNOWN, f"was {_shown(old[keyword])}, is {_shown(new[keyword])}")


def _reference(schema: Schema) -> str:
    return "" if isinstance(schema, bool) else str(schema.get("$ref", ""))


def _resolved(schema: Schema, root: Schema) -> Schema:
    """The schema with a reference into its document followed, and its own keywords beside it. Others are kept."""
    for _ in range(_DEEPEST):
        name = _reference(schema)
        if not name.startswith("#/") or isinstance(schema, bool):
            return schema
        target = local_target(root, name)
        if target is None:
            return schema
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target, **beside} if isinstance(target, Mapping) else target
    return schema


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 60 else text[:57] + "..."
