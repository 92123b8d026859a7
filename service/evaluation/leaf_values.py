"""Whether two leaves of JSON values are equal, or say the same in another form.

Does: compare scalars, empty arrays and empty objects exactly, and as text, numbers or dates. Does not: list the leaves
of a value (`schemas/json_pointer`), or pair those of two values (`leaf_pairs`).
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Final, Literal

from pydantic import JsonValue

Agreement = Literal["exact", "text", "number", "date", "none"]

_MOST_CHARACTERS: Final = 64  # a longer text is not read as a number or a date
_CLOSE: Final = Decimal("1e-9")  # numbers this close, relatively, differ by rounding only
_MONEY: Final = re.compile(
    r"(?:[A-Z]{3}|[$€£¥])?\s*([+-]?)((?!0\d)\d(?:[\d.,' ]*\d)?)\s*(?:[A-Z]{3}|[$€£¥%])?"
)
# A number with a decimal point, and one with a decimal comma; groups of three digits have one kind of mark.
_POINT: Final = re.compile(r"(\d+|\d{1,3}(?:([,' ])\d{3})(?:\2\d{3})*)(?:\.(\d+))?")
_COMMA: Final = re.compile(r"(\d+|\d{1,3}(?:([.' ])\d{3})(?:\2\d{3})*)(?:,(\d+))?")
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero",
            "february feb februar février febrero",
            "march mar märz mars marzo",
            "april apr avril abril",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet julio",
            "august aug août agosto",
            "september sep sept septembre septiembre",
            "october oct oktober okt octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre diciembre",
        ),
        1,
    )
    for name in names.split()
}
_DIGITAL: Final = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})")
_ISO: Final = re.compile(r"(\d{4})[./-](\d{1,2})[./-](\d{1,2})(?:T00:00(?::00)?(?:Z|[+-]00:00)?)?")
_DAY_FIRST: Final = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th|er|\.)?\s+(?:of |de )?(\w+)\.?,?\s+(?:de )?(\d{4})"
)
_MONTH_FIRST: Final = re.compile(r"(\w+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")


def is_blank(value: JsonValue) -> bool:
    """Whether a leaf states nothing: null, an empty array or an empty object."""
    return value is None or value == [] or value == {}


def agreement(gold: JsonValue, given: JsonValue) -> Agreement:
    """How a given leaf agrees with the gold one.

    `exact`: equal as JSON values, numbers by value. `text`: equal but for case, white space, the form of characters and
    punctuation at the ends. `number`, `date`: the same number or date written differently; a text that can be read in
    two ways (`03/04/2026`, `1,234`) agrees with both.
    """
    if same(gold, given):
        return "exact"
    if isinstance(gold, bool) or isinstance(given, bool):
        return "none"
    if not isinstance(gold, str | int | float) or not isinstance(given, str | int | float):
        return "none"
    if isinstance(gold, str) and isinstance(given, str) and _folded(gold) == _folded(given):
        return "text"
    if _numbers_agree(gold, given):
        return "number"
    return "date" if _dates(gold) & _dates(given) else "none"


def same(gold: JsonValue, given: JsonValue) -> bool:
    """Equal as JSON values: 12 equals 12.0, but true is not 1."""
    if isinstance(gold, bool) or isinstance(given, bool):
        return gold is given
    if isinstance(gold, int | float) and isinstance(given, int | float):
        return gold == given
    return type(gold) is type(given) and gold == given


def _folded(text: str) -> str:
    words = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    begin, end = 0, len(words)
    while begin < end and not words[begin].isalnum():
        begin += 1
    while end > begin and not words[end - 1].isalnum():
        end -= 1
    return words[begin:end] or words


def _numbers_agree(gold: str | float, given: str | float) -> bool:
    if isinstance(gold, str) or isinstance(given, str):
        return bool(_numbers(gold) & _numbers(given))
    one, other = Decimal(str(gold)), Decimal(str(given))
    return abs(one - other) <= _CLOSE * max(abs(one), abs(other))


def _numbers(value: str | float) -> frozenset[Decimal]:
    """The numbers that a leaf can be read as: `1,234` is 1234 and 1.234; `007` is a code and no number."""
    if not isinstance(value, str):
        return frozenset((Decimal(str(value)),))
    if len(value) > _MOST_CHARACTERS:
        return frozenset()
    found = _MONEY.fullmatch(unicodedata.normalize("NFKC", value).strip())
    if found is None:
        return frozenset()
    sign, digits = found.groups()
    readings = (form.fullmatch(digits) for form in (_POINT, _COMMA))
    return frozenset(
        Decimal(f"{sign}{re.sub(r'[^0-9]', '', reading[1])}.{reading[3] or 0}")
        for reading in readings
        if reading is not None
    )


def _dates(value: str | float) -> frozenset[date]:
    """The dates that a text can be read as: `03/04/2026` is the third of April and the fourth of March."""
    if not isinstance(value, str) or len(value) > _MOST_CHARACTERS:
        return frozenset()
    text = unicodedata.normalize("NFKC", value).casefold().strip(" .,")
    if found := _ISO.fullmatch(text.upper()):
        return frozenset(_day(*map(int, found.groups())))
    if found := _DIGITAL.fullmatch(text):
        first, second, year = map(int, found.groups())
        year += 2000 if year < 100 else 0
        return frozenset((*_day(year, second, first), *_day(year, first, second)))
    if found := _DAY_FIRST.fullmatch(text):
        day, month, year_text = found.groups()
        return frozenset(_day(int(year_text), _MONTHS.get(month, 0), int(day)))
    if found := _MONTH_FIRST.fullmatch(text):
        month, day, year_text = found.groups()
        return frozenset(_day(int(year_text), _MONTHS.get(month, 0), int(day)))
    return frozenset()


def _day(year: int, month: int, day: int) -> Iterator[date]:
    try:
        yield date(year, month, day)
    except ValueError:
        return
