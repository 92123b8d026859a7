"""Values with their written form in a document and their normal form in an answer.

A `Value` is drawn once; `written` stands in the text, and each `Form` is one way a schema may ask for it
(a date as ISO date or as written, a price as number or as object). Nothing is ever read back from the
text, so the right answer is certain.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .draw import Draw
from .numerals import amount_text, integer_text

Json = Any
STRING: dict[str, Json] = {"type": "string"}
NUMBER: dict[str, Json] = {"type": "number"}
INTEGER: dict[str, Json] = {"type": "integer"}


@dataclass(frozen=True)
class Form:
    """One normal form: the answer, its schema, a hint the description must give, a key suffix."""

    gold: Json
    schema: dict[str, Json]
    hint: str = ""
    suffix: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Value:
    """A drawn value. `remake` draws another of the same sort, for distractors."""

    written: str
    forms: tuple[Form, ...]
    remake: Callable[[Draw], Value] | None = None

    def form(self, draw: Draw) -> Form:
        return draw.rng.choices(self.forms, [form.weight for form in self.forms])[0]


def text(written: str, hint: str = "", remake: Callable[[Draw], Value] | None = None) -> Value:
    """A string that is answered exactly as it is written."""
    return Value(written, (Form(written, STRING, hint),), remake)


def blank(draw: Draw) -> Value:
    """A cell without a value."""
    return Value(draw.pick("-|—|n/a|?|none|"), (Form(None, {"type": "null"}),))


# --- numbers -------------------------------------------------------------------------------------


def plain(number: float) -> Json:
    """A number as it stands in an answer: no `.0`, at most four places."""
    rounded = round(number, 4)
    return int(rounded) if rounded == int(rounded) else rounded


def count(low: int = 1, high: int = 40, unit: str = "") -> Callable[[Draw], Value]:
    def make(draw: Draw) -> Value:
        number = draw.rng.randint(low, high)
        schema = draw.rng.choice((INTEGER, INTEGER, INTEGER | {"minimum": 0}, NUMBER))
        name = f" {draw.pick(unit)}" if unit else ""
        return Value(integer_text(draw, number) + name, (Form(number, schema),), make)

    return make


def number(low: float, high: float, places_: int = 1, unit: str = "") -> Callable[[Draw], Value]:
    def make(draw: Draw) -> Value:
        value = round(draw.rng.uniform(low, high), draw.rng.randint(0, places_))
        written = amount_text(draw, value, fixed=False)
        name = draw.pick(unit) if unit else ""
        return Value(f"{written}{name}", (Form(plain(value), NUMBER),), make)

    return make


_CURRENCIES = {
    "EUR": "€|EUR|euros|€",
    "USD": "$|USD|US$|$",
    "GBP": "£|GBP|£",
    "CHF": "CHF|Fr.|CHF",
    "SEK": "SEK|kr",
    "JPY": "¥|JPY",
    "CAD": "CAD|C$",
    "NOK": "NOK|NOK",
    "PLN": "PLN|zł",
    "AUD": "AUD|A$",
    "INR": "INR|₹",
    "DKK": "DKK|DKK",
}
_USUAL = {
    "en": "USD|GBP|EUR|USD|GBP|CAD|AUD|INR|SEK|NOK|PLN|JPY",
    "de": "EUR|EUR|CHF|EUR",
    "fr": "EUR|EUR|CHF|CAD",
    "es": "EUR|EUR|USD",
}


def currency(draw: Draw) -> str:
    return draw.rng.choice(_USUAL[draw.lang].split("|"))


def price(draw: Draw) -> float:
    high = draw.rng.choice((10, 50, 300, 2000, 20000))
    value = round(draw.rng.uniform(high / 20, high), 2)
    return float(round(value)) if draw.chance(0.25) else value


def money_text(draw: Draw, value: float, unit: str) -> str:
    sign = draw.rng.choice(_CURRENCIES[unit].split("|"))
    written = amount_text(draw, value, fixed=value != int(value) or draw.chance(0.5))
    if sign in ("€", "euros", "EUR", "kr", "zł", "kr.", "CHF", "SEK", "NOK", "PLN") and draw.chance(0.7):
        return f"{written} {sign}"
    return f"{sign}{written}" if len(sign) < 3 and draw.chance(0.9) else f"{sign} {written}"


def money(draw: Draw, value: float | None = None, unit: str = "") -> Value:
    amount = price(draw) if value is None else value
    unit = unit or currency(draw)
    names = draw.rng.choice((("amount", "currency"), ("value", "currency"), ("amount", "currency_code")))
    code_schema = draw.rng.choice((STRING, STRING | {"pattern": "^[A-Z]{3}$"}))
    gold = plain(amount)
    return Value(
        money_text(draw, amount, unit),
        (
            Form(gold, NUMBER, weight=0.7),
            Form(gold, NUMBER | {"minimum": 0}, weight=0.2),
            Form({names[0]: gold, names[1]: unit}, object_of({names[0]: NUMBER, names[1]: code_schema}), weight=0.12),
        ),
        money,
    )


def currency_value(draw: Draw, unit: str) -> Value:
    """The currency of a document as a field of its own; it is written only beside amounts."""
    pattern = STRING | {"pattern": "^[A-Z]{3}$"}
    return Value(
        unit, (Form(unit, pattern, "ISO 4217"), Form(unit, STRING, "three-letter currency code"), Form(unit, pattern))
    )


def percent(draw: Draw) -> Value:
    value = draw.rng.choice((draw.rng.randint(1, 100), round(draw.rng.uniform(0.5, 30), 1), 19, 20, 7, 5.5))
    sign = draw.pick("%| %| percent| per cent|%") if draw.lang == "en" else draw.pick(" %|%")
    return Value(
        amount_text(draw, value, fixed=False) + sign,
        (Form(plain(value), NUMBER, suffix=draw.pick("||_percent|_pct")),),
        percent,
    )


def choice(draw: Draw, options: dict[str, str]) -> Value:
    """A class from the words of the text: `options` maps each class to its phrasings."""
    picked = draw.rng.choice(list(options))
    return chosen(draw, options, picked)


def chosen(draw: Draw, options: dict[str, str], picked: str) -> Value:
    style = draw.rng.choice(
        (
            str,
            str,
            str,
            str.upper,
            lambda name: name.replace("_", "-"),
            lambda name: name.replace("_", " "),
            lambda name: name.replace("_", " ").title(),
        )
    )
    kept = [name for name in options if name == picked or draw.chance(0.9)]
    draw.rng.shuffle(kept)
    values = [style(name) for name in kept]

    def remake(other: Draw) -> Value:
        return choice(other, options)

    return Value(draw.pick(options[picked]), (Form(style(picked), STRING | {"enum": values}),), remake)


def flag(draw: Draw, yes: str, no: str) -> Value:
    truth = draw.chance(0.5)
    return Value(draw.pick(yes if truth else no), (Form(truth, {"type": "boolean"}),))


def several(draw: Draw, maker: Callable[[Draw], Value], least: int = 1, most: int = 4) -> Value:
    """A list of strings, written in one line."""
    items = list(dict.fromkeys(maker(draw).written for _ in range(draw.rng.randint(least, most))))
    return listing(draw, items)


def listing(draw: Draw, items: list[str]) -> Value:
    last = {"en": " and ", "de": " und ", "fr": " et ", "es": " y "}[draw.lang]
    glue = draw.rng.choice((", ", ", ", "; ", " / ", " · "))
    if glue == ", " and len(items) > 1 and not any(", " in item for item in items) and draw.chance(0.5):
        written = ", ".join(items[:-1]) + last + items[-1]
    else:
        written = (glue if not any("," in item for item in items) else "; ").join(items)
    schema = {"type": "array", "items": STRING}
    return Value(
        written,
        (
            Form(items, schema, draw.pick("|in order|in the order of the text|as written")),
            Form(items, schema | {"minItems": 1}) if items else Form(items, schema),
        ),
    )


def object_of(properties: dict[str, Json]) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def iso_day(draw: Draw) -> datetime.date:
    return datetime.date(2018, 1, 1) + datetime.timedelta(days=draw.rng.randrange(4000))
