"""A strict JSON parser.

Does: refuse duplicate keys, NaN and infinities, numbers out of the range of a float, lone surrogates, and texts over a
bound of depth or size. Does not: validate against a schema.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

MOST_CHARACTERS = 64 * 1024 * 1024
DEEPEST = 200

_AS_STRING = "write it as a string"

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BESIDE_BRACKETS = re.compile(r"[^\[\]{}]+")
_TOKEN = re.compile(rf"{_STRING.pattern}|[\[\]{{}}]", re.DOTALL)


Place = tuple[str | int, ...]
"""Names and indices from the root of a document to a value."""


class InvalidJson(ValueError):
    """The text is not JSON, or is JSON that `parse_json` refuses; the message says why.

    `place`: the value that is refused; None where the text has no values, and the message names a character. `hint`
    says how to mend it; empty where the message does.
    """

    def __init__(self, message: str, hint: str = "", place: Place | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.place = place


@dataclass(frozen=True, slots=True)
class _Refused:
    """In place of a value that is refused, or that has one within: the place of that, from here."""

    place: Place


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
    number = _decimal if exact else _float
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=number,
            parse_int=_integer,
        )
    except InvalidJson as error:
        error.place = _refused_place(text, number)
        raise
    except RecursionError as error:
        raise InvalidJson("nested too deeply") from error
    except ValueError as error:
        raise InvalidJson(str(error)) from error
    if "\\u" in text or not text.isascii():
        try:
            json.dumps(value, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError as error:
            raise InvalidJson(
                "a string contains half a surrogate pair",
                "escape a character beyond U+FFFF by two surrogates, or write it as it is",
                _unpaired_place(value),
            ) from error
    return value


def _refused_place(text: str, number: Callable[[str], Any]) -> Place | None:
    """The place of the first value that a hook refuses; None if the text breaks off after it."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_marked_object,
            parse_constant=_marked(_constant),
            parse_float=_marked(number),
            parse_int=_marked(_integer),
        )
    except ValueError:
        return None
    return _place_within(value)


def _marked(hook: Callable[[str], Any]) -> Callable[[str], Any]:
    """A hook that returns a `_Refused` where `hook` refuses a value."""

    def marked(text: str) -> Any:
        try:
            return hook(text)
        except InvalidJson:
            return _Refused(())

    return marked


def _marked_object(pairs: list[tuple[str, Any]]) -> Any:
    for name, value in pairs:
        within = _place_within(value)
        if within is not None:
            return _Refused((name, *within))
    try:
        return _object(pairs)
    except InvalidJson as error:
        return _Refused(error.place or ())


def _place_within(value: Any) -> Place | None:
    """The place of a `_Refused` that is the value, or an item of lists in it: objects with one are replaced by one."""
    if isinstance(value, _Refused):
        return value.place
    for index, item in enumerate(value if isinstance(value, list) else ()):
        within = _place_within(item)
        if within is not None:
            return (index, *within)
    return None


def _unpaired_place(value: Any) -> Place | None:
    """The place of the first string with half a surrogate pair; of the object for the name of a member."""
    if isinstance(value, str):
        return () if _is_unpaired(value) else None
    if isinstance(value, dict):
        if any(map(_is_unpaired, value)):
            return ()
        members = list(value.items())
    else:
        members = list(enumerate(value)) if isinstance(value, list) else []
    for key, member in members:
        within = _unpaired_place(member)
        if within is not None:
            return (key, *within)
    return None


def _is_unpaired(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


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
                reason = f"key {name[:40]!r} occurs twice in one object"
                raise InvalidJson(reason, "keep one of them", (name,))
            seen.add(name)
    return value


def _constant(name: str) -> NoReturn:
    raise InvalidJson(f"{name} is not JSON", "write a number, or null")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise InvalidJson(f"number {text[:40]} is out of range", _AS_STRING)
    return value


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # the exponent is out of the range of a Decimal
        if not text.lower().partition("e")[0].strip("-0."):
            return Decimal(0)
        raise InvalidJson(f"number {text[:40]} is out of range", _AS_STRING) from None


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:  # longer than Python converts, which would take too long
        reason = f"an integer of {len(text)} digits is out of range"
        raise InvalidJson(reason, _AS_STRING) from error
