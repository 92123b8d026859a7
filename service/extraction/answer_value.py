"""The value of a finished output: parsed, checked against the schema, and valid in binary floats as well.

Does: find numbers that a float rounds; write whole ones as integers, which are exact, and move others to the float on
the other side where the nearest one breaks the schema (4.99999999999999999999 below 5). Does not: judge (`validate`).
"""

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from intaglio.grammar.api import InvalidJson, parse_json

from ..errors import InvalidOutput

MAX_OUTPUT_DEPTH: Final = 512

Place = tuple[str | int, ...]


def checked_value(
    text: str, schema: Mapping[str, Any] | bool, source: str | None
) -> tuple[Any, Any]:
    """The value of an output with numbers as floats, and with numbers as written. Both are valid.

    Raises:
        InvalidOutput: the text is not JSON, or its value is not valid.
    """
    # The import takes most of a second, which must not delay the start of a server.
    from .validate import check, faults

    data, digits = output_value(text), output_value(text, exact=True)
    # As written: a float would lose the digits that decide `multipleOf`.
    check(digits, schema, source)
    rounded = _rounded(digits)
    if rounded:
        data = _fitted(data, rounded, lambda value: len(list(faults(value, schema, source))))
        check(data, schema, source)
    return data, digits


def output_value(text: str, *, exact: bool = False) -> Any:
    """The value of an output, with numbers as written if `exact`. Raises `InvalidOutput` if it is not JSON."""
    try:
        return parse_json(text, depth=MAX_OUTPUT_DEPTH, exact=exact)
    except InvalidJson:
        raise InvalidOutput(
            "the output is not JSON",
            hint="this is a defect of the service: please report it with the schema",
        ) from None


def _fitted(data: Any, rounded: list[tuple[Place, Decimal]], faults: Callable[[Any], int]) -> Any:
    """`data`, changed in place at the places of `rounded`, with as few `faults` as floats and integers allow."""
    root = [data]  # so that a number at the root has a container, too
    parts = []
    for place, exact in rounded:
        if exact == exact.to_integral_value():
            _put(root, place, int(exact))
        else:
            parts.append((place, exact))
    left = faults(root[0])
    for place, exact in parts:
        if not left:
            break
        nearest = float(exact)
        _put(root, place, math.nextafter(nearest, -math.inf if nearest > exact else math.inf))
        found = faults(root[0])
        if found >= left:
            _put(root, place, nearest)
        left = min(left, found)
    return root[0]


def _rounded(digits: Any) -> list[tuple[Place, Decimal]]:
    """The places and exact values of the numbers that a float does not hold."""
    found: list[tuple[Place, Decimal]] = []
    todo: list[tuple[Place, Any]] = [((), digits)]
    while todo:
        place, value = todo.pop()
        if isinstance(value, dict):
            todo.extend(((*place, name), member) for name, member in value.items())
        elif isinstance(value, list):
            todo.extend(((*place, index), item) for index, item in enumerate(value))
        elif isinstance(value, Decimal) and Decimal(repr(float(value))) != value:
            found.append((place, value))
    return found


def _put(root: list[Any], place: Place, value: Any) -> None:
    """Replace the value at a place of `root[0]`."""
    *path, last = (0, *place)
    container: Any = root
    for part in path:
        container = container[part]
    container[last] = value
