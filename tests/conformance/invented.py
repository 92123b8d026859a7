"""Generated schemas and values from few names, numbers and words, so that assertions often interact.

Does: draw both from a random source (also one that hypothesis gives, which then shrinks). Does not: know what is valid.
"""

import random
from collections.abc import Callable
from typing import Any

Json = Any
NAMES = ("a", "b", "c", "xa", "xb", "longer name", "é", "")
WORDS = (
    "",
    "a",
    "ab",
    "abc",
    "b",
    "xa",
    "1",
    "é",
    "🙂",
    'q"\\',
    "aaaa",
    "2024-02-29",
    "12:30:00Z",
    "\n",
)
NUMBERS = (0, 1, 2, 3, -1, 5, 10, 0.5, 1.5, -2.25, 100, 7, 1e3)
PATTERNS = (
    "^a", "b$", "^[a-c]*$", "a|b", "^x", "^.{1,3}$", r"\d", "^(ab|a)+$", "^[^a]*$", "é", "^$", "(?=.*b)a", "^(?!a)",
)  # fmt: skip
FORMATS = ("date", "time", "date-time", "email", "ipv4", "ipv6", "uuid", "uri", "hostname", "duration", "regex",
           "json-pointer")  # fmt: skip
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
MOST_DEPTH = 3


def schema(choose: random.Random) -> Json:
    """A schema of draft 2020-12; references go to its own definitions and back to itself."""
    made = _schema(choose, 0)
    if isinstance(made, dict) and choose.random() < 0.3:
        made["$defs"] = {"one": _schema(choose, 1), "two": _schema(choose, 1)}
    else:
        _without_references(made)
    return made


def value(choose: random.Random, depth: int = 0) -> Json:
    """Any value."""
    kinds = 6 if depth < MOST_DEPTH else 4
    match choose.randrange(kinds):
        case 0:
            return choose.choice((None, True, False))
        case 1:
            return choose.choice(NUMBERS)
        case 2 | 3:
            return choose.choice(WORDS)
        case 4:
            return [value(choose, depth + 1) for _ in range(choose.randrange(4))]
        case _:
            names = choose.sample(NAMES, choose.randrange(4))
            return {name: value(choose, depth + 1) for name in names}


def near(choose: random.Random, part: Json, depth: int = 0) -> Json:
    """A value that has a chance to be valid against a schema."""
    if not isinstance(part, dict) or choose.random() < 0.1 or depth > 5:
        return value(choose, min(depth, MOST_DEPTH))
    if "const" in part:
        return part["const"]
    if "enum" in part:
        return choose.choice(part["enum"])
    for word in ("allOf", "anyOf", "oneOf"):
        if word in part and choose.random() < 0.5:
            return near(choose, choose.choice(part[word]), depth + 1)
    kind = part.get("type") or choose.choice(TYPES)
    kind = choose.choice(kind) if isinstance(kind, list) else kind
    if kind == "object":
        names = set(part.get("required", ())) | {
            n for n in part.get("properties", ()) if choose.random() < 0.6
        }
        if choose.random() < 0.4:
            names.add(choose.choice(NAMES))
        ordered = [n for n in part.get("properties", ()) if n in names]
        ordered += sorted(names - set(ordered))
        inner = part.get("properties", {})
        other = part.get("additionalProperties", True)
        return {name: near(choose, inner.get(name, other), depth + 1) for name in ordered}
    if kind == "array":
        first, rest = part.get("prefixItems", []), part.get("items", True)
        count = choose.randrange(part.get("minItems", 0), part.get("minItems", 0) + 4)
        return [near(choose, first[i] if i < len(first) else rest, depth + 1) for i in range(count)]
    if kind in ("integer", "number"):
        low: Any = part.get("minimum", part.get("exclusiveMinimum", 0))
        return choose.choice((choose.choice(NUMBERS), low, low + 1, part.get("multipleOf", 1) * 3))
    if kind == "string":
        return choose.choice(WORDS)
    return None if kind == "null" else choose.random() < 0.5


def _schema(choose: random.Random, depth: int) -> Json:
    if choose.random() < 0.06:
        return choose.random() < 0.8
    if depth and choose.random() < 0.08:
        return {"$ref": choose.choice(("#/$defs/one", "#/$defs/two", "#"))}
    made: dict[str, Json] = {}
    kind = choose.choice(TYPES)
    if choose.random() < 0.8:
        made["type"] = choose.sample(TYPES, 2) if choose.random() < 0.2 else kind
    if choose.random() < 0.12:
        _exactly(choose, made)
    for _ in range(choose.randrange(3)):
        choose.choice(_WORDS[kind])(choose, made, depth)
    if depth < MOST_DEPTH and choose.random() < 0.35:
        choose.choice(_APPLIED)(choose, made, depth)
    return made


def _exactly(choose: random.Random, made: dict[str, Json]) -> None:
    if choose.random() < 0.3:
        made["const"] = value(choose, 1)
    else:
        made["enum"] = [value(choose, 2) for _ in range(choose.randrange(1, 4))]


def _number(choose: random.Random, made: dict[str, Json], _: int) -> None:
    word = choose.choice(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    )
    made[word] = (
        choose.choice((1, 2, 3, 0.5, 0.25, 10)) if word == "multipleOf" else choose.choice(NUMBERS)
    )


def _string(choose: random.Random, made: dict[str, Json], _: int) -> None:
    match choose.randrange(4):
        case 0:
            made["minLength"] = choose.randrange(4)
        case 1:
            made["maxLength"] = choose.randrange(6)
        case 2:
            made["pattern"] = choose.choice(PATTERNS)
        case _:
            made["format"] = choose.choice(FORMATS)


def _array(choose: random.Random, made: dict[str, Json], depth: int) -> None:
    match choose.randrange(7):
        case 0:
            made["minItems"] = choose.randrange(3)
        case 1:
            made["maxItems"] = choose.randrange(5)
        case 2:
            made["uniqueItems"] = True
        case 3:
            made["items"] = _inner(choose, depth)
        case 4:
            made["prefixItems"] = [_inner(choose, depth) for _ in range(choose.randrange(1, 3))]
        case 5:
            made["contains"] = _inner(choose, depth)
            if choose.random() < 0.4:
                made[choose.choice(("minContains", "maxContains"))] = choose.randrange(3)
        case _:
            made["unevaluatedItems"] = _inner(choose, depth)


def _object(choose: random.Random, made: dict[str, Json], depth: int) -> None:
    match choose.randrange(9):
        case 0 | 1 | 2:
            names = choose.sample(NAMES, choose.randrange(1, 4))
            made["properties"] = {name: _inner(choose, depth) for name in names}
        case 3:
            made["required"] = choose.sample(NAMES, choose.randrange(1, 3))
        case 4:
            made["additionalProperties"] = _inner(choose, depth)
        case 5:
            made["patternProperties"] = {choose.choice(PATTERNS): _inner(choose, depth)}
        case 6:
            made["propertyNames"] = choose.choice(
                (
                    {"maxLength": 2},
                    {"pattern": "^[a-z]"},
                    {"enum": ["a", "b", "xa"]},
                    {"not": {"const": "a"}},
                )
            )
        case 7:
            made[choose.choice(("minProperties", "maxProperties"))] = choose.randrange(1, 4)
        case _:
            _dependent(choose, made, depth)


def _dependent(choose: random.Random, made: dict[str, Json], depth: int) -> None:
    match choose.randrange(3):
        case 0:
            made["dependentRequired"] = {choose.choice(NAMES): choose.sample(NAMES, 1)}
        case 1:
            made["dependentSchemas"] = {choose.choice(NAMES): _inner(choose, depth)}
        case _:
            made["unevaluatedProperties"] = _inner(choose, depth)


def _any_of(choose: random.Random, made: dict[str, Json], depth: int) -> None:
    word = choose.choice(("anyOf", "oneOf", "allOf"))
    made[word] = [_inner(choose, depth) for _ in range(choose.randrange(1, 4))]


def _not(choose: random.Random, made: dict[str, Json], depth: int) -> None:
    made["not"] = _inner(choose, depth)


def _if(choose: random.Random, made: dict[str, Json], depth: int) -> None:
    made["if"] = _inner(choose, depth)
    for word in ("then", "else"):
        if choose.random() < 0.7:
            made[word] = _inner(choose, depth)


def _inner(choose: random.Random, depth: int) -> Json:
    if depth >= MOST_DEPTH:
        return choose.choice(
            (True, {"type": choose.choice(TYPES[:5])}, {"const": choose.choice(WORDS)})
        )
    return _schema(choose, depth + 1)


def _without_references(part: Json) -> None:
    if isinstance(part, list):
        for each in part:
            _without_references(each)
    elif isinstance(part, dict):
        if str(part.get("$ref", "")).startswith("#/"):
            part["$ref"] = "#"
        for key, each in part.items():
            if key not in ("const", "enum"):
                _without_references(each)


_Word = Callable[[random.Random, dict[str, Json], int], None]
_SCALAR: tuple[_Word, ...] = (_number, _string, _object, _array)
_WORDS: dict[str, tuple[_Word, ...]] = {
    "null": _SCALAR,
    "boolean": _SCALAR,
    "integer": (_number,),
    "number": (_number,),
    "string": (_string,),
    "array": (_array,),
    "object": (_object,),
}
_APPLIED: tuple[_Word, ...] = (_any_of, _any_of, _not, _if)
