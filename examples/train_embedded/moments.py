"""Dates, times and durations as values: written in many ways, answered in one normal form."""

from __future__ import annotations

import datetime
import re

from .draw import Draw
from .numerals import date_text, integer_text, time_text
from .values import INTEGER, NUMBER, STRING, Form, Value, iso_day, plain

_OFFSET = re.compile(r"(?:Z|[+-]\d{2}:\d{2})$")
CLOCK = "^([01][0-9]|2[0-3]):[0-5][0-9]$"


def date(draw: Draw, day: datetime.date | None = None) -> Value:
    day = day or iso_day(draw)
    written, iso = date_text(draw, day), day.isoformat()
    return Value(
        written,
        (
            Form(iso, STRING | {"format": "date"}, weight=0.75),
            Form(iso, STRING, draw.pick("YYYY-MM-DD|ISO date|ISO 8601"), weight=0.12),
            Form(iso, STRING | {"pattern": r"^\d{4}-\d{2}-\d{2}$"}, weight=0.07),
            Form(written, STRING, draw.pick("as written|as printed"), weight=0.03),
            Form(day.year, INTEGER, "year only", "_year", weight=0.03),
        ),
        date,
    )


def year(draw: Draw) -> Value:
    number = draw.rng.randint(1975, 2029)
    return Value(str(number), (Form(number, INTEGER),), year)


def time(draw: Draw, minutes: int | None = None) -> Value:
    if minutes is None:
        minutes = draw.rng.randint(5, 23) * 60 + draw.rng.choice((0, 0, 0, 30, 15, 45, draw.rng.randrange(60)))
    hour, minute = divmod(minutes % 1440, 60)
    return Value(time_text(draw, hour, minute), clock_forms(draw, f"{hour:02}:{minute:02}"), time)


def clock_forms(draw: Draw, gold: str | None) -> tuple[Form, ...]:
    """The ways to ask for a time of day, `HH:MM`."""
    return (
        Form(gold, STRING | {"pattern": CLOCK}, draw.pick("|HH:MM|24-hour clock"), weight=0.6),
        Form(gold, STRING, draw.pick("HH:MM|HH:MM, 24 hours|24-hour time"), weight=0.4),
        Form(gold, STRING | {"format": draw.pick("time-local|iso-time")}, weight=0.4),
    )


def date_time(draw: Draw) -> Value:
    day, hour, minute = iso_day(draw), draw.rng.randint(0, 23), draw.rng.randint(0, 59)
    joint = draw.pick({"en": ", | at | | - ", "de": ", | um | ", "fr": ", | à | ", "es": ", | a las | "}[draw.lang])
    written = f"{date_text(draw, day)}{joint}{time_text(draw, hour, minute)}"
    return Value(written, moment_forms(draw, f"{day.isoformat()}T{hour:02}:{minute:02}"), date_time)


def moment_forms(draw: Draw, gold: str | None) -> tuple[Form, ...]:
    """The ways to ask for a date with a time, `YYYY-MM-DDTHH:MM` with seconds and an offset where they are stated."""
    date_only = Form(gold and gold[:10], STRING | {"format": "date"}, "date only", weight=0.5)
    if gold and _OFFSET.search(gold):
        formats = STRING | {"format": draw.pick("date-time|date-time|iso-date-time")}
        return Form(gold, formats), Form(gold, STRING, draw.pick("ISO 8601|with offset")), date_only
    if gold and len(gold) > len("YYYY-MM-DDTHH:MM"):
        return Form(gold, STRING | {"format": draw.pick("date-time-local|iso-date-time")}), date_only
    pattern = STRING | {"pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$"}
    return (
        Form(gold, pattern, draw.pick("|YYYY-MM-DDTHH:MM|local time, YYYY-MM-DDTHH:MM")),
        Form(gold, STRING | {"format": draw.pick("date-time-local|iso-date-time")}),
        Form(gold, STRING, "YYYY-MM-DDTHH:MM"),
        date_only,
    )


def stamp(draw: Draw) -> Value:
    """A machine's time stamp, copied as it is."""
    day = iso_day(draw).isoformat()
    clock = f"{draw.rng.randint(0, 23):02}:{draw.rng.randint(0, 59):02}:{draw.rng.randint(0, 59):02}"
    written = f"{day}T{clock}{draw.rng.choice(('Z', '+00:00', '+02:00', 'Z'))}"
    return Value(written, (Form(written, STRING | {"format": "date-time"}), Form(written, STRING)), stamp)


def duration(draw: Draw) -> Value:
    minutes = draw.rng.choice((5, 10, 15, 20, 25, 30, 40, 45, 50, 60, 75, 90, 105, 120, 150, 180))
    hours, rest = divmod(minutes, 60)
    units = {"en": "min| minutes| mins", "de": "min| Minuten| Min.", "fr": " min| minutes", "es": " min| minutos"}
    unit = draw.pick(units[draw.lang])
    unit = unit if unit.startswith(" ") else f" {unit}"
    if hours and draw.chance(0.6):
        half = {"en": " h", "de": " Std.", "fr": " h", "es": " h"}[draw.lang]
        written = f"{hours}{half}" + (f" {rest}{unit}" if rest else "")
    else:
        written = integer_text(draw, minutes) + unit
    forms = [Form(minutes, INTEGER, draw.pick("in minutes|minutes"), draw.pick("_minutes|_min"))]
    if minutes % 30 == 0:
        forms.append(Form(plain(minutes / 60), NUMBER, "in hours", "_hours", weight=0.4))
    return Value(written, tuple(forms), duration)
