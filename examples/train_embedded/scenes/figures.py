"""Figures in words and short forms: values that are written in one way and answered in another."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..draw import Draw
from ..entities import phone
from ..moments import date, time
from ..numerals import amount_text, integer_text
from ..values import INTEGER, NUMBER, STRING, Form, Value, money, plain

if TYPE_CHECKING:
    from .scene import Drawing

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SIGNS = {"EUR": "€", "USD": "$", "GBP": "£", "INR": "₹", "JPY": "¥", "CAD": "C$", "AUD": "A$"}
_HOURS = {
    "en": "twelve one two three four five six seven eight nine ten eleven".split(),
    "de": "zwölf eins zwei drei vier fünf sechs sieben acht neun zehn elf".split(),
}
_DAYS = {
    "en": "a week=7|one week=7|two weeks=14|a fortnight=14|ten days=10|three weeks=21|14 days=14|30 days=30|thirty days=30|five days=5|48 hours=2|two days=2|four weeks=28|7 days=7|10 days=10|21 days=21|six weeks=42|60 days=60|ninety days=90|three days=3|eight days=8|72 hours=3",
    "de": "eine Woche=7|zwei Wochen=14|14 Tage=14|zehn Tage=10|drei Wochen=21|30 Tage=30|vier Wochen=28|acht Tage=8|48 Stunden=2|sechs Wochen=42|7 Tage=7",
    "fr": "une semaine=7|huit jours=8|deux semaines=14|15 jours=15|quinze jours=15|trois semaines=21|30 jours=30|dix jours=10|48 heures=2",
    "es": "una semana=7|dos semanas=14|quince días=15|30 días=30|tres semanas=21|diez días=10|48 horas=2",
}
_MONTHS = {
    "en": "a year=12|one year=12|six months=6|half a year=6|two years=24|18 months=18|a year and a half=18|three months=3|24 months=24|three years=36|12 months=12|nine months=9|a quarter=3|36 months=36|five years=60|two and a half years=30|four months=4|ten months=10",
    "de": "ein Jahr=12|ein halbes Jahr=6|sechs Monate=6|zwei Jahre=24|anderthalb Jahre=18|drei Monate=3|24 Monate=24|12 Monate=12|drei Jahre=36|18 Monate=18|fünf Jahre=60",
    "fr": "un an=12|six mois=6|deux ans=24|un an et demi=18|trois mois=3|24 mois=24|12 mois=12|trois ans=36",
    "es": "un año=12|seis meses=6|dos años=24|año y medio=18|tres meses=3|24 meses=24|12 meses=12|tres años=36",
}
_FLOORS = {
    "en": "ground floor=0|first floor=1|second floor=2|third floor=3|fourth floor=4|fifth floor=5|1st floor=1|2nd floor=2|3rd floor=3|4th floor=4|6th floor=6|7th floor=7|eighth floor=8|floor 5=5|floor 9=9|level 3=3",
    "de": "Erdgeschoss=0|EG=0|ersten Stock=1|zweiten Stock=2|dritten Stock=3|1. OG=1|2. OG=2|3. OG=3|4. OG=4|5. Stock=5|vierten Obergeschoss=4|Hochparterre=0",
    "fr": "rez-de-chaussée=0|RDC=0|premier étage=1|1er étage=1|2e étage=2|deuxième étage=2|3e étage=3|troisième étage=3|4e étage=4|5ème étage=5|sixième étage=6",
    "es": "planta baja=0|primer piso=1|segundo piso=2|tercer piso=3|cuarta planta=4|2.ª planta=2|quinto piso=5",
}
_COUNTRIES = "Germany=DE|France=FR|Spain=ES|Italy=IT|Ireland=IE|Austria=AT|Switzerland=CH|Belgium=BE|Denmark=DK|Sweden=SE|Norway=NO|Finland=FI|Poland=PL|Portugal=PT|Greece=GR|Hungary=HU|Romania=RO|Croatia=HR|Estonia=EE|Latvia=LV|Lithuania=LT|Slovenia=SI|Iceland=IS|Turkey=TR|Canada=CA|Mexico=MX|Brazil=BR|Japan=JP|India=IN|Australia=AU|New Zealand=NZ|South Africa=ZA|Kenya=KE|Morocco=MA|Singapore=SG|Thailand=TH|Chile=CL|Argentina=AR|Luxembourg=LU|Malta=MT|Cyprus=CY|the Netherlands=NL"
_CODES = dict(each.split("=") for each in _COUNTRIES.split("|"))


def _span(given: str) -> tuple[int, int]:
    low, _, high = given.partition("-")
    return int(low), int(high or low)


def _in_words(number: int) -> str:
    """A number below a thousand in English words."""
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_ONES[rest]}" if rest else "")
    hundreds, rest = divmod(number, 100)
    return f"{_ONES[hundreds]} hundred" + (f" and {_in_words(rest)}" if rest else "")


def spelled(drawing: Drawing, given: str) -> Value:
    """A whole number in words, in English; `spelled 2-120`."""
    number = drawing.draw.rng.randint(*_span(given or "2-99"))
    written = _in_words(number) if drawing.draw.lang == "en" else integer_text(drawing.draw, number)
    return Value(written, (Form(number, INTEGER),))


def grand(drawing: Drawing, given: str) -> Value:
    """Thousands of money in short: `45k`; `grand 30-60 bare` is without the sign of the currency."""
    draw = drawing.draw
    drawing.paid = True
    span, _, bare = given.partition(" ")
    number = draw.rng.randint(*_span(span))
    if draw.lang == "en":
        written = draw.rng.choice(
            (f"{number}k", f"{number}K", f"{number * 1000:,}", f"{number * 1000:,}", f"{number}000")
        )
    else:
        point = {"de": ".", "fr": " ", "es": "."}[draw.lang]
        written = draw.rng.choice((f"{number}{point}000", f"{number} 000", f"{number}000"))
    sign = _SIGNS.get(drawing.unit, drawing.unit)
    if not bare and draw.lang == "en":
        written = f"{sign}{written}" if len(sign) < 3 else f"{sign} {written}"
    elif not bare:
        written = f"{written} {sign}"
    return Value(written, (Form(number * 1000, NUMBER), Form(number * 1000, INTEGER, weight=0.4)))


def big(drawing: Drawing, given: str) -> Value:
    """A large number as news write it: `1.2 million`, `340 thousand`, `12,500`."""
    draw = drawing.draw
    shape = draw.rng.randrange(3)
    if draw.lang != "en" or shape == 2:
        number = draw.rng.randint(11, 990) * 100
        return Value(amount_text(draw, number, fixed=False), (Form(number, INTEGER),))
    if shape:
        number = draw.rng.randint(11, 990)
        return Value(f"{number} thousand", (Form(number * 1000, INTEGER),))
    tenths = draw.rng.randint(11, 95)
    return Value(f"{plain(tenths / 10)} million", (Form(tenths * 100_000, INTEGER),))


def spoken(drawing: Drawing, given: str) -> Value:
    """A time as people say it: `half past seven in the evening`; `spoken 8-18`."""
    draw = drawing.draw
    low, high = _span(given or "8-20")
    hour, minute = draw.rng.randint(low, high), draw.rng.choice((0, 15, 30, 45))
    whole = time(draw, hour * 60 + minute)
    names = _HOURS.get(draw.lang)
    if names is None:
        return whole
    this, after = names[hour % 12], names[(hour + 1) % 12]
    if draw.lang == "de":
        part = "morgens" if hour < 11 else "mittags" if hour < 14 else "nachmittags" if hour < 18 else "abends"
        start = f"Punkt {this}" if this != "eins" else "Punkt ein Uhr"
        shown = {0: start, 15: f"Viertel nach {this}", 30: f"halb {after}", 45: f"Viertel vor {after}"}[minute]
    else:
        part = "in the morning" if hour < 12 else "in the afternoon" if hour < 18 else "in the evening"
        start = f"{this} o'clock"
        shown = {0: start, 15: f"quarter past {this}", 30: f"half past {this}", 45: f"quarter to {after}"}[minute]
        if minute == 0 and hour == 12:
            return replace(whole, written=draw.rng.choice(("noon", "midday", "12 noon")))
    return replace(whole, written=f"{shown} {part}")


def _listed(lists: dict[str, str], hint: str, suffix: str) -> Callable[[Drawing, str], Value]:
    """A sort whose written forms and answers stand in a list for each language."""

    def make(drawing: Drawing, given: str) -> Value:
        written, _, number = drawing.draw.pick(lists[drawing.draw.lang]).partition("=")
        forms = [Form(int(number), INTEGER, hint, suffix), Form(written, STRING, "as written", weight=0.15)]
        return Value(written, tuple(forms))

    return make


days = _listed(_DAYS, "in days", "_days")
months = _listed(_MONTHS, "in months", "_months")
floor = _listed(_FLOORS, "0 is the ground floor", "")


def birth(drawing: Drawing, given: str) -> Value:
    """A date of birth of somebody between childhood and old age."""
    low, high = _span(given or "6-90")
    days_ago = drawing.draw.rng.randint(low * 365, high * 365)
    return date(drawing.draw, drawing.day - datetime.timedelta(days=days_ago))


def stars(drawing: Drawing, given: str) -> Value:
    """A rating out of five: `4/5`, `four out of five`, `★★★★☆`; `stars 1-2` limits it."""
    draw = drawing.draw
    number = draw.rng.randint(*_span(given or "1-5"))
    plural = "s" if number > 1 else ""
    shapes = [f"{number}/5", f"{number} out of 5", "★" * number + "☆" * (5 - number), f"{number} star{plural}", "★" * number, f"{_ONES[number]} out of five", f"{_ONES[number]} star{plural}"]  # fmt: skip
    if draw.lang != "en":
        shapes = [f"{number}/5", "★" * number + "☆" * (5 - number), "★" * number]
    return Value(draw.rng.choice(shapes), (Form(number, INTEGER), Form(number, NUMBER, weight=0.3)))


def country(drawing: Drawing, given: str) -> Value:
    """A country by its English name, asked for as written or by its code."""
    name = drawing.draw.pick("|".join(_CODES))
    code = STRING | {"pattern": "^[A-Z]{2}$"}
    hint = drawing.draw.pick("ISO 3166-1 alpha-2|two-letter country code|two-letter code")
    bare = name.removeprefix("the ")
    return Value(name, (Form(bare, STRING, weight=0.6), Form(_CODES[name], code, hint, weight=0.4)))


def telephone(drawing: Drawing, given: str) -> Value:
    """A number, asked for as written or as digits alone."""
    found = phone(drawing.draw)
    if "(0)" in found.written:
        return found
    bare = "".join(sign for sign in found.written if sign.isdigit() or sign == "+")
    forms = (*found.forms, Form(bare, STRING, "digits only, no spaces", weight=0.12))
    return replace(found, forms=forms)


def measure(drawing: Drawing, given: str) -> Value:
    """A number with its unit: `measure 2-40 kg`, with one decimal where the span is small."""
    draw = drawing.draw
    span, _, unit = given.partition(" ")
    low, high = _span(span)
    number = plain(round(draw.rng.uniform(low, high), 1 if high < 60 and draw.chance(0.6) else 0))
    written = f"{amount_text(draw, number, fixed=False)}{draw.rng.choice((' ', ' ', ''))}{unit}"
    return Value(written, (Form(number, NUMBER, f"in {unit}"), Form(written, STRING, "as written", weight=0.3)))


def picked(draw: Draw, lists: dict[str, str], name: str) -> str:
    """An entry of a list; `{other}` in an entry is an entry of another list."""
    found = draw.pick(lists[name])
    while "{" in found:
        before, _, rest = found.partition("{")
        inner, _, after = rest.partition("}")
        found = f"{before}{picked(draw, lists, inner)}{after}"
    return found


def _known(drawing: Drawing, name: str) -> float:
    """The number that a slot has, summed over the rows of `table.column`; 0 where none is written."""
    table, _, column = name.partition(".")
    if column:
        rows = drawing.rows.get(table, [])
        return sum(math.prod(_known(row, part) for part in column.split("*")) for row in rows)
    value = drawing.known(name)
    gold = value.forms[0].gold if value is not None else None
    return float(gold) if isinstance(gold, int | float) else 0.0


def _worth(drawing: Drawing, amount: float) -> Value:
    drawing.paid = True
    return money(drawing.draw, round(amount, 2), drawing.unit)


def total(drawing: Drawing, given: str) -> Value:
    """An amount that adds up: `total lines.amount tax -discount`, where what is not written counts as 0."""
    parts = given.split()
    return _worth(drawing, sum(-_known(drawing, p[1:]) if p[0] == "-" else _known(drawing, p) for p in parts))


def times(drawing: Drawing, given: str) -> Value:
    """The product of two slots, as an amount: `times q each`."""
    first, second = given.split()
    return _worth(drawing, _known(drawing, first) * _known(drawing, second))


def share(drawing: Drawing, given: str) -> Value:
    """A percentage of an amount: `share net rate` by another slot, `share net 20-80` by chance."""
    name, by = given.split()
    rate = _known(drawing, by) if by.isidentifier() else drawing.draw.rng.randint(*_span(by))
    return _worth(drawing, _known(drawing, name) * rate / 100)


def difference(drawing: Drawing, given: str) -> Value:
    """How much larger the first of two whole numbers is."""
    first, second = given.split()
    number = int(_known(drawing, first) - _known(drawing, second))
    return Value(amount_text(drawing.draw, number, fixed=False), (Form(number, INTEGER),))


def vat(drawing: Drawing, given: str) -> Value:
    """A usual rate of value added tax."""
    rate = drawing.draw.rng.choice((5, 5.5, 7, 8.1, 10, 13, 19, 19, 20, 20, 21, 22, 23, 25))
    sign = drawing.draw.pick("%| %|%| percent|% ") if drawing.draw.lang == "en" else " %"
    written = f"{amount_text(drawing.draw, rate, fixed=False)}{sign.rstrip()}"
    return Value(written, (Form(rate, NUMBER, suffix=drawing.draw.pick("|_percent|")),))
