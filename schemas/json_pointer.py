"""JSON Pointers (RFC 6901): the places of values in JSON documents.

Does: write pointers, read them, follow them, and follow the local references of JSON Schemas. Does not: load other
documents.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from pydantic import JsonValue


def pointer_of(keys: Iterable[str | int]) -> str:
    """The pointer along these keys from the root: `("schema", "a/b", 0)` becomes `/schema/a~1b/0`."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


def child_pointer(pointer: str, key: str | int) -> str:
    """The pointer to the member or item `key` of the value at `pointer`."""
    return pointer + pointer_of((key,))


def pointer_keys(pointer: str) -> list[str]:
    """The keys along a pointer, unescaped; indices of arrays are digits."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def value_at(document: Any, pointer: str) -> Any:
    """The value at a pointer. Raises LookupError if the document has no such place."""
    if pointer and not pointer.startswith("/"):
        raise LookupError(pointer)
    value = document
    for key in pointer_keys(pointer):
        if isinstance(value, Mapping):
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdecimal():
            value = value[int(key)]
        else:
            raise LookupError(pointer)
    return value


def local_target(schema: Any, reference: str) -> Any:
    """The sub-schema of the document `schema` that a reference such as `#/$defs/a` names; None for any other."""
    if not reference.startswith("#"):
        return None
    try:
        return value_at(schema, unquote(reference[1:]))
    except LookupError:
        return None


def leaves(value: JsonValue, pointer: str = "") -> Iterator[tuple[str, JsonValue]]:
    """The scalars, empty arrays and empty objects of a value, each with its pointer; `pointer` is that of the value."""
    if isinstance(value, dict) and value:
        for key, member in value.items():
            yield from leaves(member, child_pointer(pointer, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, child_pointer(pointer, index))
    else:
        yield pointer, value
