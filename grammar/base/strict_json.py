"""A strict JSON parser.

Does: refuse duplicate keys, NaN and infinities, numbers out of the range of a float, lone surrogates, and texts over a
bound of depth or size. Does not: validate against a schema.
"""

import json
import math
import re
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

MOST_CHARACTERS = 64 * 1024 * 1024
DEEPEST = 200

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BESIDE_BRACKETS = re.compile(r"[^\[\]{}]+")
_TOKEN = re.compile(rf"{_STRING.pattern}|[\[\]{{}}]", re.DOTALL)


class InvalidJson(ValueError):
    """The text is not JSON, or is JSON that `parse_json` refuses; the message says why."""


def parse_json(
    text: str,
    *,
    depth: int = DEEPEST,
    characters: int = MOST_CHARACTERS,
    exact: bool = False,
) -> Any:
    """Parse a JSON text. With `exact`, numbers written with a point or an exponent become `Decimal`s.

    Raises:
        InvalidJson: `text` is not JSON; it is longer than `characters` or nested more than `depth` deep; an object has
            a key twice, a number is not finite, or a string contains half a surrogate pair.
    """
    if len(text) > characters:
        raise InvalidJson(f"longer than {characters} characters")
    _check_depth(text, depth)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_decimal if exact else _float,
            parse_int=_integer,
        )
    except InvalidJson:
        raise
    except RecursionError as error:
        raise InvalidJson("nested too deeply") from error
    except ValueError as error:
        raise InvalidJson(str(error)) from error
    if "\\u" in text or not text.isascii():
        try:
            json.dumps(value, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError as error:
            raise InvalidJson("a string contains half a surrogate pair") from error
    return value


def _check_depth(text: str, limit: int) -> None:
    if text.count("{") + text.count("[") <= limit:
        return
    depth = deepest = 0
    for bracket in _BESIDE_BRACKETS.sub("", _STRING.sub("", text)):
        if bracket in "[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    if deepest > limit:
        raise InvalidJson(f"nested more than {limit} levels deep (char {_place_of(text, limit)})")


def _place_of(text: str, limit: int) -> int:
    """The place of the first bracket that is nested deeper than `limit`."""
    depth = 0
    for match in _TOKEN.finditer(text):
        first = match.group()[0]
        depth += (first in "[{") - (first in "]}")
        if depth > limit:
            return match.start()
    return len(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise InvalidJson(f"key {name[:40]!r} occurs twice in one object")
            seen.add(name)
    return value


def _constant(name: str) -> NoReturn:
    raise InvalidJson(f"{name} is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise InvalidJson(f"number {text[:40]} is out of range")
    return value


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # the exponent is out of the range of a Decimal
        if not text.lower().partition("e")[0].strip("-0."):
            return Decimal(0)
        raise InvalidJson(f"number {text[:40]} is out of range") from None


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:  # longer than Python converts, which would take too long
        raise InvalidJson(f"an integer of {len(text)} digits is out of range") from error
