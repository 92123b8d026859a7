"""A JSON Schema from examples of its documents.

Does: find types, required properties, formats, enumerations and maps that all examples share. Does not: guess bounds
or patterns: an example that was not seen would be excluded by chance.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import jsonschema

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_FORMATS: Final = ("date-time", "date", "time", "email", "uuid", "ipv4", "ipv6", "uri")
_MOST_CHOICES: Final = 12  # distinct values of an enumeration
_REPEATED: Final = 3  # how often the values of an enumeration repeat, on average
_LONGEST_CHOICE: Final = 40
_MAP_KEYS: Final = 12  # distinct keys from which an object may be a map
_MAP_SHARE: Final = 0.3  # share of the objects that have one of its keys, on average, in a map


def inferred(examples: Sequence[Any]) -> dict[str, Any]:
    """A schema that all examples satisfy. Raises ValueError without examples."""
    if not examples:
        raise ValueError("there are no examples")
    return {"$schema": DIALECT, **_schema(list(examples))}


def _schema(values: list[Any]) -> dict[str, Any]:
    """The schema of all values at one place."""
    types = _types(values)
    found: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    objects = [value for value in values if isinstance(value, dict)]
    arrays = [value for value in values if isinstance(value, list)]
    texts = [value for value in values if isinstance(value, str)]
    if objects:
        found |= _object(objects)
    items = [item for array in arrays for item in array]
    if items:
        found["items"] = _schema(items)
    if texts and (shared := _format(texts)):
        found["format"] = shared
    elif texts and not objects and not arrays and (choices := _choices(values)):
        return {"enum": choices}
    return found


def _types(values: Iterable[Any]) -> list[str]:
    seen = set(map(_type, values))
    if "number" in seen:
        seen.discard("integer")
    order = ("object", "array", "string", "integer", "number", "boolean", "null")
    return [name for name in order if name in seen]


def _type(value: Any) -> str:
    match value:
        case bool():
            return "boolean"
        case None:
            return "null"
        case str():
            return "string"
        case dict():
            return "object"
        case list():
            return "array"
        case int():
            return "integer"
        case _:
            return "integer" if value == int(value) and "." not in str(value) else "number"


def _object(objects: list[dict[str, Any]]) -> dict[str, Any]:
    counts = Counter(key for value in objects for key in value)
    values = {key: [value[key] for value in objects if key in value] for key in counts}
    if _is_map(counts, len(objects)):
        return {"additionalProperties": _schema([v for each in values.values() for v in each])}
    return {
        "properties": {key: _schema(each) for key, each in values.items()},
        "required": [key for key in values if counts[key] == len(objects)],
        "additionalProperties": False,
    }


def _is_map(counts: Counter[str], objects: int) -> bool:
    """Whether keys are data: many of them, and few objects have the same."""
    share = sum(counts.values()) / max(1, len(counts) * objects)
    return objects > 1 and len(counts) >= _MAP_KEYS and share < _MAP_SHARE


def _format(texts: list[str]) -> str | None:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    for name in _FORMATS:
        if name in checker.checkers and all(_conforms(checker, text, name) for text in texts):
            return name
    return None


def _conforms(checker: Any, text: str, name: str) -> bool:
    return bool(text) and (name != "uri" or "://" in text) and bool(checker.conforms(text, name))


def _choices(values: list[Any]) -> list[Any] | None:
    """The distinct values, if they are few short texts, or null, that repeat."""
    if any(not isinstance(value, str | None) for value in values):
        return None
    counts = Counter(values)
    if any(value is not None and len(value) > _LONGEST_CHOICE for value in counts):
        return None
    few = len(counts) <= _MOST_CHOICES and len(values) >= _REPEATED * len(counts)
    return list(counts) if few else None
