"""Dates as pages print them: many spellings of one day, and the day of a spelling."""

from __future__ import annotations

import datetime
import random
import re

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_NUMBERS = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?[ \-.]+([A-Z][a-z]{2,8})\.?,?[ \-.]+(\d{4})\b")
_MONTH_FIRST = re.compile(r"\b([A-Z][a-z]{2,8})\.?[ \-]+(\d{1,2})(?:st|nd|rd|th)?,?[ \-]+(\d{4})\b")
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")


def printed(day: datetime.date, rng: random.Random) -> str:
    """`day` in one of the unambiguous spellings of English pages."""
    month = MONTHS[day.month - 1]
    return rng.choice(
        (
            f"{month} {day.day}, {day.year}",
            f"{day.day} {month} {day.year}",
            f"{month[:3]} {day.day}, {day.year}",
            f"{day.day} {month[:3]} {day.year}",
            f"{day:%A}, {month} {day.day}, {day.year}",
            f"{day:%a} {day.day} {month} {day.year}",
            day.isoformat(),
            f"{day.day:02}-{month[:3]}-{day.year}",
        )
    )


def read(text: str) -> str | None:
    """The ISO date of the only date in `text`; None where there is none, or more than one."""
    days = set()
    for found in _ISO.finditer(text):
        days.add(_day(*(int(part) for part in found.groups())))
    for found in _DAY_FIRST.finditer(text):
        days.add(_day(int(found[3]), _NUMBERS.get(found[2][:3].lower(), 0), int(found[1])))
    for found in _MONTH_FIRST.finditer(text):
        days.add(_day(int(found[3]), _NUMBERS.get(found[1][:3].lower(), 0), int(found[2])))
    return days.pop() if len(days) == 1 else None


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return None
