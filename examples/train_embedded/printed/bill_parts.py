"""How one electronic invoice writes amounts, days and lines: tables in several orders, page breaks with sums carried over."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace

from ..draw import Draw
from ..numerals import MONTHS
from ..wording import digits
from .bill_lines import Columns, Line

_DAYS = {"de": "%d.%m.%Y|%d.%m.%Y|%d.%m.%y|%Y-%m-%d|M", "fr": "%d/%m/%Y|%d/%m/%Y|%d-%m-%Y|%Y-%m-%d|M|%d.%m.%y", "en": "%d %b %Y|%d-%b-%Y|%Y-%m-%d|%d.%m.%Y|M|%Y/%m/%d"}  # fmt: skip


@dataclass(frozen=True)
class Look:
    """The marks of one document."""

    thousands: str
    point: str
    before: str
    after: str
    behind: bool
    percent: str
    days: str
    months: tuple[str, ...]
    glue: str

    def number(self, value: float, places: int = 2) -> str:
        whole, _, part = f"{abs(value):,.{places}f}".partition(".")
        whole = whole.replace(",", self.thousands)
        sign = "-" if value < 0 else ""
        found = f"{whole}{self.point}{part}" if part else whole
        return f"{found}{sign}" if self.behind else f"{sign}{found}"

    def money(self, value: float) -> str:
        return f"{self.before}{self.number(value)}{self.after}"

    def price(self, value: float) -> str:
        return self.number(value, 2 if round(value, 2) == round(value, 4) else 4)

    def count(self, value: float) -> str:
        places = next(places for places in range(5) if round(value, places) == round(value, 4))
        return self.number(value, places)

    def rate(self, value: float) -> str:
        return f"{self.number(value, 0 if value == int(value) else 1)}{self.percent}"

    def day(self, day: datetime.date) -> str:
        if self.days == "M":
            return f"{day.day}{'.' if self.months[0] == 'Januar' else ''} {self.months[day.month - 1]} {day.year}"
        return day.strftime(self.days)


def look(draw: Draw, unit: str) -> Look:
    rng = draw.rng
    marks = {"de": ((".", ","), (".", ","), (" ", ","), ("", ","), ("'", ".")), "fr": ((" ", ","), ("\u00a0", ","), ("", ","), (".", ",")), "en": ((",", "."), (",", "."), ("", "."))}  # fmt: skip
    thousands, point = rng.choice(marks.get(draw.lang, marks["en"]))
    sign = {"EUR": "€", "GBP": "£", "USD": "$"}.get(unit, unit)
    before = rng.choice(("", "", sign)) if draw.lang == "en" and len(sign) == 1 else rng.choice(("", "", "", f"{unit} "))  # fmt: skip
    after = "" if before else rng.choice(("", "", f" {unit}", f" {sign}", sign if len(sign) == 1 else ""))
    glue = rng.choice((" ", " ", "  ", "   ", "\t", " | "))
    percent = rng.choice((" %", "%", "%", ""))
    behind = draw.lang == "de" and draw.chance(0.12)
    return Look(thousands, point, before, after, behind, percent, draw.pick(_DAYS[draw.lang]), MONTHS[draw.lang], glue)


def _numbers(words: dict[str, str], line: Line) -> list[str]:
    """The numbers of an article with their labels."""
    named = (("article", line.article), ("buyers_article", line.buyers), ("gtin", line.gtin))
    return [f"{words[name]}: {value}" for name, value in named if value]


def _changed(words: dict[str, str], marks: Look, line: Line) -> list[str]:
    """The discount or the charge of a line."""
    if not line.change:
        return []
    gross = round(line.count * line.price, 2)
    label = words["allowance" if line.change * gross < 0 else "charge"]
    share = marks.number(abs(line.change / gross) * 100, 0)
    return [f"{label} {share} %: {marks.money(line.change)}"]


@dataclass(frozen=True)
class Grid:
    """The order and form of a table's rows."""

    shape: int
    first: str
    numbered: bool
    joined: bool


def grid(draw: Draw) -> Grid:
    first = draw.pick("name|name|name|article|count")
    return Grid(draw.rng.randrange(5), first, draw.chance(0.8), draw.chance(0.7))


def heads(words: dict[str, str], form: Grid, parts: Columns) -> list[str]:
    names = ["count", *(() if form.joined else ("unit",)), *(("list", "discount") if parts.listed else ()), "price"]
    names = ["name", *names] if form.first != "count" else [*names[:1], "name", *names[1:]]
    names = [*(("article",) if form.first == "article" and parts.article else ()), *names]
    names = [*(("pos",) if form.numbered else ()), *names, *(("line_rate",) if parts.rated else ()), "net"]
    return [words[name] for name in names]


def row(words: dict[str, str], marks: Look, form: Grid, parts: Columns, line: Line, number: int) -> list[str]:
    """The lines of text of one line of the invoice."""
    count, unit = marks.count(line.count), line.unit
    amounts = [f"{count} {unit}"] if form.joined else [count, unit]
    name = line.name
    cells = [name, *amounts] if form.first != "count" else [amounts[0], name, *amounts[1:]]
    if form.first == "article" and line.article:
        cells.insert(0, line.article)
        line = replace(line, article="")
    if line.listed != line.price:
        share = round((1 - line.price / line.listed) * 100) if line.listed else 0
        cells += [marks.price(line.listed), f"{share}{marks.percent or '%'}"]
    cells += [marks.price(line.price), *((marks.rate(line.rate),) if parts.rated else ()), marks.money(line.net)]
    cells = [str(number), *cells] if form.numbered else cells
    below = [*_numbers(words, line), *([line.description] if line.description else [])]
    if form.shape == 0 or form.shape == 1:
        found = [marks.glue.join(cells), *below]
    elif form.shape == 2:
        found = [*cells, *below]
    elif form.shape == 3:
        index = cells.index(name)
        found = [marks.glue.join(cells[: index + 1]), *below, marks.glue.join(cells[index + 1 :])]
    else:
        rest = [cell for cell in cells if cell != name]
        found = [name, *below, marks.glue.join(rest)]
    return found + _changed(words, marks, line)


def table(draw: Draw, words: dict[str, str], marks: Look, parts: Columns, found: list[Line]) -> list[str]:
    """The rows with orders and delivery notes between them, broken by pages that carry the sum over."""
    form = grid(draw)
    head = heads(words, form, parts)
    top = head if form.shape == 2 or draw.chance(0.15) else [marks.glue.join(head)]
    size = draw.rng.randint(3, 9) if len(found) > 4 and draw.chance(0.5) else 1000
    noted = draw.chance(0.2)
    lines, total, page = list(top), 0.0, 1
    pages = str((len(found) - 1) // size + 1)
    for number, line in enumerate(found, 1):
        if noted and (number == 1 or draw.chance(0.3)):
            day = marks.day(datetime.date(2018, 1, 1) + datetime.timedelta(days=draw.rng.randrange(3000)))
            note = words["ref"].replace("{a}", digits(draw, "8#######")).replace("{d}", day)
            lines.append(note.replace("{b}", digits(draw, "45######")))
        lines += row(words, marks, form, parts, line, number)
        total += line.net
        if number % size == 0 and number < len(found):
            here, after = str(page), str(page + 1)
            carry, brought = (words[name].replace("{n}", here).replace("{m}", after) for name in ("carry", "brought"))
            sum_ = marks.money(round(total, 2))
            lines += [f"{carry} {sum_}", words["page"].replace("{n}", here).replace("{m}", pages)]
            lines += [f"{brought} {sum_}", *(top if draw.chance(0.5) else [])]
            page += 1
    return lines
