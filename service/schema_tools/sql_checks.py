"""Conditions of checks in SQL, as keywords of JSON Schema.

Does: divide a condition at its ANDs; state `IN`, `BETWEEN` and comparisons with numbers in the schema of their column.
Does not: evaluate expressions: a condition that it cannot state it leaves to the caller.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from .source_text import Words, unquoted

_BOUNDS: Final = {
    ">": "exclusiveMinimum",
    ">=": "minimum",
    "<": "exclusiveMaximum",
    "<=": "maximum",
}


def check_conditions(words: Words) -> list[list[str]]:
    """Read a condition in parentheses; the conditions that it joins by AND."""
    texts, depth = list[str](), 0
    while True:
        word = words.take()
        depth += (word.text == "(") - (word.text == ")")
        texts.append(word.text)
        if depth == 0 or word.kind == "end":
            return conjuncts(texts[1:-1])


def conjuncts(condition: list[str]) -> list[list[str]]:
    """The conditions that a condition joins by AND, without parentheses around them."""
    while _is_enclosed(condition):
        condition = condition[1:-1]
    parts, depth, begin, between = list[list[str]](), 0, 0, False
    for at, text in enumerate(condition):
        depth += (text == "(") - (text == ")")
        word = text.lower() if depth == 0 else ""
        if word == "or":
            return [condition]
        if word == "between":
            between = True
        elif word == "and" and between:
            between = False
        elif word == "and":
            parts.append(condition[begin:at])
            begin = at + 1
    if not parts:
        return [condition]
    return [each for part in (*parts, condition[begin:]) for each in conjuncts(part)]


def _is_enclosed(condition: list[str]) -> bool:
    """Whether the first parenthesis of a condition ends with it."""
    depth = 0
    for at, text in enumerate(condition):
        depth += (text == "(") - (text == ")")
        if depth == 0:
            return at > 0 and at == len(condition) - 1
    return False


def apply_condition(condition: list[str], columns: dict[str, Any]) -> bool:
    """Add a condition to the schema of its column; whether a keyword states it."""
    if len(condition) < 3 or unquoted(condition[0]) not in columns:
        return False
    column, sign = columns[unquoted(condition[0])], condition[1].lower()
    if sign == "in":
        values = [_literal(text) for text in condition[3:-1:2]]
        if None in values:
            return False
        _list_values(column, values)
        return True
    numbers = [_literal(text) for text in condition[2::2]]
    if not {"integer", "number"} & set(_kinds(column)):
        return False
    if not all(isinstance(number, int | float) for number in numbers):
        return False
    if sign == "between" and len(condition) == 5:
        _bound(column, "minimum", numbers[0])
        _bound(column, "maximum", numbers[1])
        return True
    if sign not in _BOUNDS or len(condition) != 3:
        return False
    _bound(column, _BOUNDS[sign], numbers[0])
    return True


def _kinds(column: dict[str, Any]) -> list[str]:
    kinds = column.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _bound(column: dict[str, Any], keyword: str, number: Any) -> None:
    """Add a bound; of two, the narrower one holds."""
    narrower = min if keyword.endswith("aximum") else max
    column[keyword] = narrower(number, column.get(keyword, number))


def _list_values(column: dict[str, Any], values: list[Any]) -> None:
    """Allow only those of some values that the column allowed before."""
    within: dict[str, Callable[[Any, Any], bool]] = {
        "minimum": lambda value, bound: value >= bound,
        "exclusiveMinimum": lambda value, bound: value > bound,
        "maximum": lambda value, bound: value <= bound,
        "exclusiveMaximum": lambda value, bound: value < bound,
        "enum": lambda value, listed: value in listed,
    }
    allowed = [
        value
        for value in values
        if all(
            key not in column
            or (isinstance(value, str) and key != "enum")
            or holds(value, column[key])
            for key, holds in within.items()
        )
    ]
    nullable = "null" in _kinds(column)
    column.clear()
    column["enum"] = [*allowed, None] if nullable else allowed


def _literal(text: str) -> str | int | float | None:
    """The value of a text or number in SQL; None for anything else."""
    if text[:1] == "'":
        return unquoted(text)
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return float(text) if "." in text else int(text)
    return None
