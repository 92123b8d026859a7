"""How numbers, dates and times are written in four languages."""

from __future__ import annotations

import datetime

from .draw import Draw, Language

_WORDS: dict[Language, tuple[str, ...]] = {
    "en": tuple("zero one two three four five six seven eight nine ten eleven twelve".split()),
    "de": tuple("null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()),
    "fr": tuple("zéro un deux trois quatre cinq six sept huit neuf dix onze douze".split()),
    "es": tuple("cero un dos tres cuatro cinco seis siete ocho nueve diez once doce".split()),
}
_TENS: dict[Language, tuple[str, ...]] = {
    "en": tuple("twenty thirty forty fifty sixty seventy eighty ninety".split()),
    "de": tuple("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()),
    "fr": tuple("vingt trente quarante cinquante soixante".split()),
    "es": tuple("veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()),
}
MONTHS: dict[Language, tuple[str, ...]] = {
    "en": tuple("January February March April May June July August September October November December".split()),
    "de": tuple("Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()),
    "fr": tuple("janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()),
    "es": tuple("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()),
}
DAYS: dict[Language, tuple[str, ...]] = {
    "en": tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()),
    "de": tuple("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split()),
    "fr": tuple("lundi mardi mercredi jeudi vendredi samedi dimanche".split()),
    "es": tuple("lunes martes miércoles jueves viernes sábado domingo".split()),
}


def integer_text(draw: Draw, number: int) -> str:
    """A whole number; small ones sometimes as a word."""
    words = _WORDS[draw.lang]
    if 2 <= number < len(words) and draw.chance(0.15):
        return words[number]
    tens = _TENS[draw.lang]
    if number % 10 == 0 and 2 <= number // 10 < len(tens) + 2 and draw.chance(0.4):
        return tens[number // 10 - 2]
    return amount_text(draw, number, fixed=False)


def amount_text(draw: Draw, value: float, fixed: bool) -> str:
    """A number with the marks of the language; `fixed` asks for two decimals."""
    plain = f"{abs(value):.2f}" if fixed else f"{round(abs(value), 4):f}".rstrip("0").rstrip(".")
    whole, _, part = plain.partition(".")
    thousands, point = _marks(draw)
    if len(whole) > 3 and (len(whole) > 4 or draw.chance(0.75)):
        groups = [whole[max(0, end - 3) : end] for end in range(len(whole), 0, -3)]
        whole = thousands.join(reversed(groups))
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}{point}{part}" if part else f"{sign}{whole}"


def _marks(draw: Draw) -> tuple[str, str]:
    if draw.lang == "en":
        return ("," if draw.chance(0.85) else ""), "."
    if draw.lang == "fr":
        return draw.rng.choice((" ", "\u00a0", "", ".")), ","
    return (draw.rng.choice((".", ".", ".", " ", "")) if draw.chance(0.92) else "'"), ","


def date_text(draw: Draw, day: datetime.date) -> str:
    """One of the ways a date is written; day and month are never left to guessing."""
    rng, lang = draw.rng, draw.lang
    month = MONTHS[lang][day.month - 1]
    name = DAYS[lang][day.weekday()]
    if rng.random() < 0.14:
        return day.isoformat()
    if lang == "en":
        text = _english(draw, day, month)
        if draw.chance(0.18) and not text.startswith("the"):
            return f"{name if draw.chance(0.6) else name[:3]}{rng.choice((', ', ' '))}{text}"
        return text
    joint = {"de": ". ", "fr": " ", "es": " de "}[lang]
    if draw.chance(0.5):
        dotted = "." if lang == "de" else rng.choice(("/", "/", "-", "."))
        width = "02" if draw.chance(0.7) else ""
        year = day.year if draw.chance(0.8) else f"{day.year % 100:02}"
        return f"{day.day:{width}}{dotted}{day.month:{width}}{dotted}{year}"
    number = "1er" if lang == "fr" and day.day == 1 else str(day.day)
    shown = f"{number}{joint}{month}{' de ' if lang == 'es' else ' '}{day.year}"
    return (
        f"{name}{', ' if lang != 'fr' else ' '}{'den ' if lang == 'de' else ''}{shown}" if draw.chance(0.25) else shown
    )


def _english(draw: Draw, day: datetime.date, month: str) -> str:
    short = month[:3]
    ordinal = f"{day.day}{_ordinal(day.day)}"
    numeric = f"{day.day:02}/{day.month:02}/{day.year}" if day.day > 12 else f"{day.day} {short} {day.year}"
    american = f"{day.month:02}/{day.day:02}/{day.year}" if day.day > 12 else f"{month} {day.day}, {day.year}"
    brief = (
        f"{day.month:02}/{day.day:02}/{day.year % 100:02}"
        if day.day > 12
        else f"{day.day:02}-{short}-{day.year % 100:02}"
    )
    shapes = (
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{short} {day.day}, {day.year}",
        f"{day.day} {short} {day.year}",
        f"{ordinal} {month} {day.year}",
        f"{month} {ordinal}, {day.year}",
        f"{day.day}.{day.month}.{day.year}",
        f"{day.day:02}.{day.month:02}.{day.year}",
        f"{day.day:02}-{short}-{day.year}",
        f"{day.year}/{day.month:02}/{day.day:02}",
        f"{short.upper()} {day.day:02} {day.year}",
        f"the {ordinal} of {month} {day.year}",
        numeric,
        american,
        brief,
    )
    return draw.rng.choice(shapes)


def _ordinal(number: int) -> str:
    return "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def time_text(draw: Draw, hour: int, minute: int) -> str:
    """One of the ways a time of day is written; the answer is always HH:MM on 24 hours."""
    rng = draw.rng
    if draw.lang == "en" and draw.chance(0.55):
        half = rng.choice((" am| pm", "am|pm", " AM| PM", "AM|PM", " a.m.| p.m.")).split("|")
        shown = hour % 12 or 12
        glue = rng.choice((":", ":", "."))
        body = f"{shown}" if minute == 0 and draw.chance(0.6) else f"{shown}{glue}{minute:02}"
        return body + half[hour >= 12]
    if draw.lang == "de" and draw.chance(0.6):
        return f"{hour} Uhr" if minute == 0 and draw.chance(0.6) else f"{hour}{rng.choice(':.')}{minute:02} Uhr"
    if draw.lang == "fr" and draw.chance(0.6):
        return f"{hour}{rng.choice(('h', ' h '))}{minute:02}" if minute or draw.chance(0.3) else f"{hour}h"
    if draw.lang == "es" and draw.chance(0.4):
        return f"{hour}:{minute:02} h" if draw.chance(0.7) else f"{hour}.{minute:02} horas"
    return f"{hour:02}:{minute:02}" if draw.chance(0.8) else f"{hour}:{minute:02}"
