"""Any number of realistic, distinct schemas, each with a short document.

`schema(number)` is the same in every run: property names, enumerations, patterns, formats, bounds and nesting are drawn
from `number` alone.
"""

import random
from collections.abc import Callable
from typing import Any, Final

Schema = dict[str, Any]

_FIRST: Final = [
    "order",
    "invoice",
    "customer",
    "delivery",
    "account",
    "contract",
    "payment",
    "shipment",
    "ticket",
    "product",
    "employee",
    "patient",
    "vehicle",
    "policy",
    "claim",
    "meeting",
    "recipe",
    "property",
    "flight",
    "booking",
    "asset",
    "device",
    "supplier",
    "warehouse",
    "campaign",
]
_SECOND: Final = [
    "number",
    "date",
    "total",
    "status",
    "name",
    "code",
    "reference",
    "amount",
    "currency",
    "address",
    "email",
    "phone",
    "category",
    "weight",
    "priority",
    "owner",
    "region",
    "quantity",
    "rate",
    "comment",
    "version",
    "start",
    "end",
    "limit",
    "score",
]
_CITIES: Final = [
    "Leipzig",
    "Lyon",
    "Porto",
    "Gdansk",
    "Turin",
    "Ghent",
    "Malmo",
    "Brno",
    "Cork",
    "Graz",
]


def _text(dice: random.Random) -> Schema:
    return {"type": "string", "maxLength": dice.randint(3, 200)}


def _pattern(dice: random.Random) -> Schema:
    letters = "".join(dice.sample("ABCDEFGHJKLMNPRSTUVWXYZ", dice.randint(2, 4)))
    low = dice.randint(2, 4)
    patterns = (
        f"^{letters}-[0-9]{{{low},{low + dice.randint(0, 4)}}}$",
        f"^[{letters}]{{{low}}}[a-z0-9]{{1,{low + 4}}}$",
        f"^({letters}|{letters.lower()})/\\d{{4}}/[A-F0-9]{{{low}}}$",
    )
    return {"type": "string", "pattern": dice.choice(patterns)}


def _enumeration(dice: random.Random) -> Schema:
    values = [f"{dice.choice(_SECOND)}_{dice.randint(0, 9999)}" for _ in range(dice.randint(2, 12))]
    return {"enum": list(dict.fromkeys(values))}


def _format(dice: random.Random) -> Schema:
    return {"type": "string", "format": dice.choice(("date", "date-time", "email", "uuid", "ipv4"))}


def _integer(dice: random.Random) -> Schema:
    low = dice.randint(-50, 100)
    return {"type": "integer", "minimum": low, "maximum": low + dice.randint(1, 100_000)}


def _number(dice: random.Random) -> Schema:
    return {"type": "number", "minimum": 0, "exclusiveMaximum": dice.randint(10, 10**6)}


def _unique(dice: random.Random) -> Schema:
    return {
        "type": "array",
        "items": _enumeration(dice),
        "uniqueItems": True,
        "maxItems": dice.randint(1, 3),
    }


def _list(dice: random.Random) -> Schema:
    return {"type": "array", "items": _object(dice, 2, 1), "maxItems": dice.randint(1, 3)}


def _nullable(dice: random.Random) -> Schema:
    return {"anyOf": [_text(dice), {"type": "null"}]}


_SCALARS: Final[tuple[Callable[[random.Random], Schema], ...]] = (
    _text,
    _pattern,
    _enumeration,
    _format,
    _integer,
    _number,
    _nullable,
    lambda _: {"type": "boolean"},
)
_NESTED: Final[tuple[Callable[[random.Random], Schema], ...]] = (_list, _unique)


def _object(dice: random.Random, most: int, depth: int) -> Schema:
    count = dice.randint(1, most)
    names = [f"{dice.choice(_FIRST)}_{dice.choice(_SECOND)}" for _ in range(count)]
    kinds = _SCALARS if depth else (*_SCALARS, *_NESTED)
    properties = {name: dice.choice(kinds)(dice) for name in names}
    required = [name for name in properties if dice.random() < 0.5]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def schema(number: int) -> Schema:
    """The schema of a number: an object of one to six properties."""
    dice = random.Random(f"schema {number}")
    made = _object(dice, 6, 0)
    return {**made, "title": f"{dice.choice(_FIRST)} {number}"}


def document(number: int) -> str:
    """A short document, different for each number."""
    dice = random.Random(f"document {number}")
    words = " ".join(dice.choice((*_FIRST, *_SECOND)) for _ in range(4))
    return (
        f"No. {number}: {words}, {dice.choice(_CITIES)}, {dice.randint(1, 28)} May 2026, "
        f"{dice.randint(1, 9999)} EUR, {dice.choice(_CITIES).lower()}@example.com"
    )
