"""JSON as RFC 8259 has it, and no more: what Python's parser lets through beyond that is refused.

Does: parse bytes or text with unique keys, finite numbers, whole characters and bounded depth. Does not: judge shapes.
"""

import json
import math
import re
from typing import Any

from .errors import InvalidJson

_MAYBE_LONE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse(data: bytes | str, *, max_depth: int) -> Any:
    """The value of a JSON document; `max_depth` is how many arrays and objects may lie in one another.

    Raises:
        InvalidJson: `data` is not such a document; the message says why and where.
    """
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidJson(
                f"the body is not UTF-8: byte 0x{error.object[error.start]:02x} at {error.start}",
                hint="encode the body as UTF-8",
            ) from None
    try:
        value = json.loads(
            data,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_bounded,
        )
    except json.JSONDecodeError as error:
        raise InvalidJson(
            f"malformed JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None
    except RecursionError:
        raise _too_deep(max_depth) from None
    _check_depth(value, max_depth)
    if _MAYBE_LONE_SURROGATE.search(data):
        _check_characters(value)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise InvalidJson(
                    f"the key {_shown(name)} stands twice in one object",
                    hint="give every key once",
                )
            seen.add(name)
    return found


def _no_constant(name: str) -> Any:
    raise InvalidJson(f"{name} is not JSON", hint="use null or a finite number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise InvalidJson(f"the number {_shown(text)} is too large for a double")
    return value


def _bounded(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidJson(f"an integer has {len(text)} digits, too many to read") from None


def _check_depth(value: Any, limit: int) -> None:
    level = [value]
    depth = 0
    while True:
        level = [item for item in level if isinstance(item, dict | list)]
        if not level:
            return
        depth += 1
        if depth > limit:
            raise _too_deep(limit)
        level = [
            inner for item in level for inner in (item.values() if isinstance(item, dict) else item)
        ]


def _check_characters(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidJson(
            f"a string holds half of a surrogate pair (\\u{ord(error.object[error.start]):04x})",
            hint="escape characters beyond U+FFFF as both halves of the pair, or not at all",
        ) from None


def _too_deep(limit: int) -> InvalidJson:
    return InvalidJson(f"arrays and objects are nested deeper than {limit}")


def _shown(text: str) -> str:
    return json.dumps(text if len(text) <= 40 else text[:40] + "…")
