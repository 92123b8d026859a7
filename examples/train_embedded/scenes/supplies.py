"""What fills the slots of scenes: a value for each sort of slot."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..draw import Draw
from ..entities import address, city, company, email, iban, job_title, person, phone, street, url
from ..moments import date, date_time, duration, time, year
from ..numerals import DAYS, MONTHS, integer_text
from ..values import NUMBER, STRING, Form, Value, count, money, number, object_of, percent, several, text
from ..wording import coined, digits, phrase, title, title_words
from . import figures
from .vocabulary import clause, dish, duty, goods, material, place, reason, room, subject, symptom
from .wordlists import LISTS

if TYPE_CHECKING:
    from .scene import Drawing


def supply(drawing: Drawing, sort: str) -> Value:
    """A value of a sort; the words after the first are what the sort is told."""
    name, _, told = sort.partition(" ")
    return _SORTS[name](drawing, told)


def _plain(maker: Callable[[Draw], Value]) -> Callable[[Drawing, str], Value]:
    return lambda drawing, _: maker(drawing.draw)


def _said(maker: Callable[[Draw], str]) -> Callable[[Drawing, str], Value]:
    def make(drawing: Drawing, told: str) -> Value:
        made = maker(drawing.draw)
        return text(made[:1].upper() + made[1:] if told == "up" else made)

    return make


def _range(told: str) -> tuple[float, float]:
    low, _, high = told.partition("-")
    return float(low), float(high or low)


def _count(drawing: Drawing, told: str) -> Value:
    low, high = _range(told or "2-40")
    return count(int(low), int(high))(drawing.draw)


def _number(drawing: Drawing, told: str) -> Value:
    span, _, places = told.partition(" ")
    return number(*_range(span), int(places or 1))(drawing.draw)


def _money(drawing: Drawing, told: str) -> Value:
    """An amount in the currency of the document."""
    drawing.paid = True
    amount = None
    if told:
        low, high = _range(told)
        amount = round(drawing.draw.rng.uniform(low, high), 2)
        if drawing.draw.chance(0.4):
            amount = float(round(amount)) or 1.0
    return money(drawing.draw, amount, drawing.unit)


def _amount(drawing: Drawing, told: str) -> Value:
    """An amount without its currency."""
    low, high = _range(told or "1-900")
    amount = round(drawing.draw.rng.uniform(low, high), 2)
    return Value(
        f"{amount:.2f}" if drawing.draw.lang == "en" else f"{amount:.2f}".replace(".", ","), (Form(amount, NUMBER),)
    )


def _today(drawing: Drawing, told: str) -> Value:
    """The date of the document; later ones may go without a year."""
    drawing.dated = True
    return date(drawing.draw, drawing.day)


def _later(drawing: Drawing, told: str) -> Value:
    """A date some days (by default up to 90) after that of the document."""
    low, high = _range(told or "1-90")
    return _dated(drawing, drawing.day + datetime.timedelta(days=drawing.draw.rng.randint(int(low), int(high))))


def _earlier(drawing: Drawing, told: str) -> Value:
    low, high = _range(told or "1-60")
    return _dated(drawing, drawing.day - datetime.timedelta(days=drawing.draw.rng.randint(int(low), int(high))))


def _dated(drawing: Drawing, day: datetime.date) -> Value:
    """A day as a date; without its year where the document has one that is the same."""
    draw = drawing.draw
    whole = date(draw, day)
    around = drawing if drawing.parent is None else drawing.parent
    if not around.dated or day.year != drawing.day.year or draw.chance(0.45):
        return whole
    forms = tuple(form for form in whole.forms if form.gold == day.isoformat() and "as" not in form.hint)
    return Value(_yearless(draw, day), forms, whole.remake)


def _yearless(draw: Draw, day: datetime.date) -> str:
    month, name = MONTHS[draw.lang][day.month - 1], DAYS[draw.lang][day.weekday()]
    if draw.lang == "de":
        return draw.rng.choice(
            (
                f"{day.day}.{day.month}.",
                f"{day.day}. {month}",
                f"{name}, {day.day}. {month}",
                f"{day.day:02}.{day.month:02}.",
            )
        )
    if draw.lang == "fr":
        return draw.rng.choice((f"{day.day} {month}", f"{name} {day.day} {month}"))
    if draw.lang == "es":
        return draw.rng.choice((f"{day.day} de {month}", f"{name} {day.day} de {month}"))
    short = month[:3]
    return draw.rng.choice((f"{day.day} {month}", f"{month} {day.day}", f"{name} {day.day} {month}", f"{name}, {month} {day.day}", f"{day.day} {short}", f"{short} {day.day}", f"{name[:3]} {day.day} {short}"))  # fmt: skip


def _clock(drawing: Drawing, told: str) -> Value:
    low, high = _range(told or "7-21")
    return time(
        drawing.draw,
        drawing.draw.rng.randint(int(low), int(high)) * 60 + drawing.draw.rng.choice((0, 0, 15, 30, 30, 45, 5, 20)),
    )


def _code(drawing: Drawing, told: str) -> Value:
    return text(digits(drawing.draw, drawing.draw.pick(told or "@@-####|######|@@##-###|##/####|@####|@@@ ###")))


def _words(drawing: Drawing, told: str) -> Value:
    """One of the alternatives that the sort names, copied as it stands; `/` stands between them."""
    return text(drawing.draw.pick(told.replace("/", "|")))


def _name(drawing: Drawing, told: str) -> Value:
    """A person by name alone, without title."""
    found = person(drawing.draw)
    form = found.forms[0]
    return Value(str(form.gold), (Form(form.gold, STRING), *found.forms[1:]), found.remake)


def _list(drawing: Drawing, told: str) -> Value:
    """Several values of one sort in a line: `goods 1-4`."""
    sort, _, span = told.partition(" ")
    low, high = _range(span or "2-4")
    return several(drawing.draw, lambda _: supply(drawing, sort), int(low), int(high))


def _age(drawing: Drawing, told: str) -> Value:
    low, high = _range(told or "18-90")
    years = drawing.draw.rng.randint(int(low), int(high))
    return Value(integer_text(drawing.draw, years), (Form(years, {"type": "integer"}),))


def _author(drawing: Drawing, told: str) -> Value:
    """A person as lists of references print names: family name first, given names often as initials."""
    draw = drawing.draw
    gold = next(form.gold for form in person(draw).forms if isinstance(form.gold, dict))
    given, family = list(gold.values())
    if draw.chance(0.7):
        given = " ".join(f"{name[0]}." for name in given.split())
        given += f" {draw.rng.choice('ABCDEFGHJKLMNPRSTW')}." if draw.chance(0.4) else ""
    written = f"{family}, {given}" if told != "first" else f"{given} {family}"
    names = {"given": given, "family": family}
    return Value(written, (Form(written, STRING), Form(names, object_of({"given": STRING, "family": STRING}))))


def _relative(drawing: Drawing, told: str) -> Value:
    """A day that is named by its distance from the document's date."""
    words = {
        "tomorrow": 1,
        "the day after tomorrow": 2,
        "in three days": 3,
        "in a week": 7,
        "in two weeks": 14,
        "today": 0,
        "a week from today": 7,
    }
    said = drawing.draw.rng.choice(list(words))
    day = drawing.day + datetime.timedelta(days=words[said])
    whole = date(drawing.draw, day)
    return Value(said, tuple(form for form in whole.forms if form.gold == day.isoformat() and "as" not in form.hint))


def _of(drawing: Drawing, told: str) -> Value:
    """An entry of one of the word lists: `of product`; `of product up` begins with a capital."""
    name, _, case = told.partition(" ")

    def make(draw: Draw) -> Value:
        found = figures.picked(draw, LISTS, name)
        return text(found[:1].upper() + found[1:] if case else found, remake=make)

    made = make(drawing.draw)
    for _ in range(4):
        if not drawing.has(made.written):
            break
        made = make(drawing.draw)
    return made


def _brand(draw: Draw) -> str:
    return draw.rng.choice(
        (
            coined(draw).capitalize(),
            title_words(draw, 1, 2),
            f"{coined(draw).capitalize()} {digits(draw, draw.pick('##|@##|###|@@-##|@###|##0'))}",
        )
    )


_SORTS: dict[str, Callable[[Drawing, str], Value]] = {
    "person": _plain(person), "name": _name, "company": _plain(company), "city": _plain(city), "street": _plain(street),
    "address": _plain(address), "email": _plain(email), "phone": _plain(phone), "url": _plain(url), "iban": _plain(iban),
    "job": _plain(job_title), "date": _plain(date), "datetime": _plain(date_time), "time": _clock, "duration": _plain(duration), "year": _plain(year),
    "today": _today, "later": _later, "earlier": _earlier, "count": _count, "number": _number, "money": _money, "amount": _amount,
    "percent": _plain(percent), "code": _code, "words": _words, "title": _plain(title), "phrase": _plain(phrase), "list": _list, "age": _age,
    "goods": _said(goods), "dish": _said(dish), "duty": _said(duty), "clause": _said(clause), "place": _said(place), "reason": _said(reason), "author": _author, "relative": _relative,
    "subject": _said(subject), "material": _said(material), "symptom": _said(symptom), "room": _said(room), "brand": _said(_brand),
    "of": _of, "spelled": figures.spelled, "grand": figures.grand, "big": figures.big, "spoken": figures.spoken, "days": figures.days, "months": figures.months,
    "floor": figures.floor, "stars": figures.stars, "country": figures.country, "tel": figures.telephone, "measure": figures.measure,
    "total": figures.total, "times": figures.times, "share": figures.share, "difference": figures.difference, "vat": figures.vat, "birth": figures.birth,
}  # fmt: skip
