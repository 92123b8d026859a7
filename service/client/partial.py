"""Types for results that are still being written: as the type of the result, with every field optional.

Does: derive the type and convert incomplete data to it. Does not: validate complete results (`shapes`).

A field without a value yet is None; a TypedDict lacks its key. Bounds on the number of items do not hold before a list
is complete, so they are dropped. Where only the rest of a value would decide between several types, and in recursive
types, the JSON value itself is given.
"""

import dataclasses
import types
from collections.abc import Mapping
from functools import lru_cache
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, ConfigDict, Field, JsonValue, RootModel, TypeAdapter, create_model
from typing_extensions import TypedDict, is_typeddict

_CONTAINERS = (list, dict, tuple, set, frozenset)


@lru_cache(maxsize=256)
def partial_adapter(kind: Any) -> TypeAdapter[Any]:
    """Converts incomplete data to the partial form of `kind`."""
    return TypeAdapter(partial_type(kind))


def partial_type(kind: Any) -> Any:
    """The type of an incomplete `kind`."""
    return _partial(kind, frozenset())


def _partial(kind: Any, within: frozenset[Any]) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Required, NotRequired):
        return _partial(inner[0], within)
    if origin is Annotated:
        # Bounds of a container hold for the whole of it only.
        return _partial(inner[0], within) if _is_container(inner[0]) else kind
    if origin in (Union, types.UnionType):
        return _partial_union(inner, within)
    if origin in (list, dict):
        return origin[tuple(_partial(part, within) for part in inner)]
    if origin in _CONTAINERS:
        return JsonValue
    if not _is_container(kind):
        return kind
    if kind in within:
        return JsonValue
    within |= {kind}
    if isinstance(kind, type) and issubclass(kind, RootModel):
        return _partial(kind.model_fields["root"].annotation, within)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _partial_model(kind, within)
    if is_typeddict(kind):
        fields = get_type_hints(kind, include_extras=True)
        found = {name: _partial(part, within) for name, part in fields.items()}
        return TypedDict(f"Partial{kind.__name__}", found, total=False)  # type: ignore[operator]  # mypy knows no dynamic TypedDict
    if dataclasses.is_dataclass(kind):
        return _partial_dataclass(kind, within)
    return JsonValue


def _partial_union(parts: tuple[Any, ...], within: frozenset[Any]) -> Any:
    containers = [part for part in parts if _is_container(part)]
    if not containers:
        return Union[parts]  # noqa: UP007  made at run time
    if len(containers) > 1:
        return JsonValue
    others = [part for part in parts if not _is_container(part)]
    return Union[(_partial(containers[0], within), *others)]


def _partial_model(kind: type[BaseModel], within: frozenset[Any]) -> Any:
    fields: dict[str, Any] = {}
    for name, info in kind.model_fields.items():
        part = _optional(_partial(info.annotation, within))
        alias = info.validation_alias or info.alias
        fields[name] = (part, Field(default=None, validation_alias=alias, alias=info.alias))
    config = ConfigDict(extra="ignore", arbitrary_types_allowed=True, populate_by_name=True)
    return create_model(f"Partial{kind.__name__}", __config__=config, **fields)


def _partial_dataclass(kind: Any, within: frozenset[Any]) -> Any:
    hints = get_type_hints(kind, include_extras=True)
    parts: list[Any] = []
    for member in dataclasses.fields(kind):
        part = _optional(_partial(hints[member.name], within))
        parts.append((member.name, part, dataclasses.field(default=None)))
    return dataclasses.make_dataclass(f"Partial{kind.__name__}", parts)


def _optional(kind: Any) -> Any:
    return Union[(kind, None)]  # noqa: UP007  made at run time


def _is_container(kind: Any) -> bool:
    """Whether values of a type can be incomplete."""
    origin = get_origin(kind)
    if origin in (Annotated, Required, NotRequired):
        return _is_container(get_args(kind)[0])
    if origin in (Union, types.UnionType):
        return any(_is_container(part) for part in get_args(kind))
    if origin is Literal:
        return False
    kind = origin or kind
    if not isinstance(kind, type):
        return False
    return (
        issubclass(kind, (BaseModel, Mapping, *_CONTAINERS))
        or dataclasses.is_dataclass(kind)
        or is_typeddict(kind)
    )
