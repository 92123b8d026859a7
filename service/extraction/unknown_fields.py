"""Errors about fields that a body may not have, with hints that name the fields that were meant.

Does: tell unknown fields from consequences of a wrong type, and word a hint for each. Does not: place mistakes
(`body_places`), or word any others (`translate`).
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, get_args, get_origin

from intaglio.schemas.base import Wire
from intaglio.schemas.json_pointer import pointer_of

Place = tuple[str | int, ...]

_MOST_LISTED: Final = 16  # fields that a hint lists in full
_LEAST_RATIO: Final = 0.7  # below it, stop and store are alike

_OTHER_NAMES: Final[Mapping[str, Place]] = {
    "function_call": ("tool_choice",),
    "functions": ("tools",),
    "messages": ("input",),
    "response_format": ("text", "format"),
}
"""Fields of OpenAI's other interfaces, and the places where this one may have what they mean."""


def own_mistakes(causes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The errors of pydantic without the unknown fields of an object, or a branch of a union, with a wrong `type`:
    they may be right for the type that was meant.
    """
    mistyped = {
        cause["loc"][:-1]
        for cause in causes
        if cause["type"] == "literal_error" and cause["loc"][-1] == "type"
    }
    return [
        cause
        for cause in causes
        if cause["type"] != "extra_forbidden" or cause["loc"][:-1] not in mistyped
    ]


def meant_field(loc: Place, kind: type[Wire]) -> str:
    """A hint about an unknown field of a body of `kind`: where a field of this name or meaning is, else similar ones if
    there are many, else all.
    """
    owner, name = _owner(loc, kind), str(loc[-1])
    if elsewhere := _elsewhere(name, owner, kind, loc[:-1]):
        return f"it belongs at {elsewhere}"
    known = _fields_of(owner)
    other = _OTHER_NAMES.get(name, ())
    if other and other[0] in known:
        return f"give {pointer_of((*loc[:-1], *other))} instead"
    similar = (
        get_close_matches(name, known, cutoff=_LEAST_RATIO) if len(known) > _MOST_LISTED else ()
    )
    if similar:
        return f"did you mean {' or '.join(similar)}"
    return f"the fields are {', '.join(known)}"


def _elsewhere(name: str, owner: type[Wire], kind: type[Wire], place: Place) -> str | None:
    """The JSON Pointer of a field of this name in an object within `owner`, which is at `place`, or in the body."""
    for member, field in owner.model_fields.items():
        if get_origin(field.annotation) is list:  # the field would belong to one of many items
            continue
        parts = (field.annotation, *get_args(field.annotation))
        if any(name in _fields_of(part) for part in parts if _is_wire(part)):
            return pointer_of((*place, field.alias or member, name))
    return pointer_of((name,)) if place and name in _fields_of(kind) else None


def _is_wire(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Wire)


def _owner(loc: Place, kind: type[Wire]) -> type[Wire]:
    """The type of the object with an unknown field."""
    owner = kind
    for part in loc[:-1]:
        # None for an index: an item of the previous field.
        field = owner.model_fields.get(str(part))
        types = _inner_types(None if field is None else field.annotation)
        owner = next((each for each in types if _is_wire(each)), owner)
    return owner


def _fields_of(owner: type[Wire]) -> list[str]:
    return [field.alias or name for name, field in owner.model_fields.items()]


def _inner_types(annotation: Any) -> Iterator[Any]:
    """An annotation and all types within it."""
    yield annotation
    for inner in get_args(annotation):
        yield from _inner_types(inner)
