"""Lines of advertising orders: what is sent when, how often and for how much, as several programs print it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass

from ..draw import Draw
from ..wording import digits, title_words

_SHOWS = "News at Noon|Early News|Late News|Morning Show|Game Show|Evening Magazine|Local News 6p|Prime Movie|Sunday Talk|Talk Show A|Sports Roundup|Various Daytime|Weekend News|Drive Time|ROS|Rotator 5a-12m|M-F AM Drive|5p News|6a News|Prime Access|Late Fringe|Wheel Hour|College Football|Judge Hour|Local AM News|Soap Block|Midday|News 11p Rep|Sat AM News|Overnight|Early Morning|Prime Rotator|PA 7-8p|Meet the Week"
_NETWORKS = "NEWS1|SPRT|Home & Yard|FOODNET|HIST|TRAV|CINE|WTHR|LIFE|GOLF|Discovery Two|TOON|BIZ|COMEDY|DRAMA|Kids Tv|SPORTS2|NATURE|MUSIC|CRIME"
_DAYS = "M-F|MTWTF--|Mo-Fr|-----SS|Sa-Su|M------|--W----|MTWTFSS|Su|Sa|M-Su|MTuWThF|......S|M-Sa|Th-F|-T-T---"
_TIMES = "5a-7a|6a-9a|9:00 AM-10:00 AM|12n-1p|3p-5p|5:00p-6:30p|6P-630P|7:00 PM-8:00 PM|10:00PM-11:00PM|11p-1135p|11:35p-12:37a|06:00-10:00|1500-1900|6a-12m|05:00a- 06:00a|CM 7-9p"
_RATES = (8.0, 15.0, 22.5, 25.0, 40.0, 62.5, 75.0, 90.0, 125.0, 180.0, 200.0, 350.0, 500.0, 875.0, 1200.0, 2500.0, 5000.0)  # fmt: skip
_MARKS = {"bonus": "BNS|Bonus|NC|N/C bonus|AV", "make-good": "MG|Makegood for line 1|M/G", "pre-empted": "Preempted|PRE|CR|Credit: preempted"}  # fmt: skip


@dataclass(frozen=True)
class Spot:
    """A line of an order; `weeks` are the spots of each of its weeks, and `state` says what became of it."""

    show: str
    channel: str
    time: str
    days: str
    length: str
    first: datetime.date
    last: datetime.date
    weeks: tuple[int, ...]
    rate: float
    state: str = ""

    @property
    def count(self) -> int:
        return sum(self.weeks)

    @property
    def amount(self) -> float:
        return 0.0 if self.state == "pre-empted" else round(self.count * self.rate, 2)


@dataclass(frozen=True)
class Look:
    """How one document writes its lines: dates in `shape`, amounts after `sign`, cells apart by `glue`."""

    shape: str
    sign: str
    glue: str

    def day(self, day: datetime.date) -> str:
        return day.strftime(self.shape)

    def money(self, value: float) -> str:
        return f"{self.sign}{value:,.2f}"


def spots(draw: Draw, flight: tuple[datetime.date, datetime.date], count: int, channels: list[str]) -> list[Spot]:
    """Lines within the flight: the first begins with it, and one ends with it."""
    first, last = flight
    total, cable = ((last - first).days + 7) // 7, draw.chance(0.25)
    small = draw.chance(0.5)
    found = []
    for index in range(count):
        start = 0 if index == 0 else draw.rng.randrange(total)
        length = total - start if index in (0, count - 1) else draw.rng.randint(1, min(5, total - start))
        weeks = tuple(draw.rng.choice((1, 1, 2, 3, 3, 5, 7) if small else (0, 1, 2, 4, 6, 10, 12)) for _ in range(min(length, 6)))  # fmt: skip
        weeks = weeks if any(weeks) else (*weeks[:-1], 2)
        begin = first + datetime.timedelta(days=7 * start)
        end = last if start + length >= total else begin + datetime.timedelta(days=7 * length - 1)
        state = draw.rng.choice((*_MARKS, "make-good")) if index and draw.chance(0.08) else ""
        show = draw.pick(_NETWORKS) if cable else draw.pick(_SHOWS) if draw.chance(0.75) else title_words(draw, 1, 3)
        rate = 0.0 if state in ("bonus",) else draw.rng.choice(_RATES)
        found.append(Spot(show, draw.rng.choice(channels), draw.pick(_TIMES), draw.pick(_DAYS), draw.pick(":30|:30|:15|:60|00:30|30|0:30|:10"), begin, end, weeks, rate, state))  # fmt: skip
    return found


Printer = Callable[[Draw, Look, list[Spot]], tuple[list[str], list[list[str]]]]


def _wide(draw: Draw, look: Look, found: list[Spot]) -> tuple[list[str], list[list[str]]]:
    """A row a line with all that is known of it; weeks below some of them."""
    head = draw.rng.choice(("Ch,From,To,Program,Time,Days,Len,Spots,Rate,Type,Amount", "Chan,Begin,Finish,Show,Air Time,Day,Length,#,Cost,Amount", "Stn,Start,End,Description,Time Period,Days,Sec,Spots,Unit Rate,Class,Total")).split(",")  # fmt: skip
    head.insert(0, draw.pick("Line|Ln|#"))
    sort = draw.pick("NM|TF|Loc|CM")
    rows = []
    weekly = sum(len(spot.weeks) for spot in found) < 24 and draw.chance(0.6)
    for number, spot in enumerate(found, 1):
        cells = [f"{draw.pick('N |N |R |')}{number}", spot.channel, look.day(spot.first), look.day(spot.last), spot.show, spot.time, spot.days, spot.length, str(spot.count), look.money(spot.rate), sort, look.money(spot.amount)]  # fmt: skip
        rows.append([look.glue.join(cells), *_mark(draw, spot)])
        if weekly:
            rows[-1] += [look.glue.join(part) for part in _weeks(look, spot)]
    return [look.glue.join(head)], rows


def _mark(draw: Draw, spot: Spot) -> list[str]:
    return [draw.pick(_MARKS[spot.state])] if spot.state else []


def _weeks(look: Look, spot: Spot) -> list[list[str]]:
    """For each week its days, the spots a week, and the price of one."""
    rows = []
    for index, count in enumerate(spot.weeks):
        start = spot.first + datetime.timedelta(days=7 * index)
        end = min(spot.last, start + datetime.timedelta(days=6))
        rows.append([f"wk {index + 1}", look.day(start), look.day(end), spot.days, str(count), look.money(spot.rate)])
    return rows


def _letters(draw: Draw, look: Look, found: list[Spot]) -> tuple[list[str], list[list[str]]]:
    """Counts under the letters of the days, a row a week."""
    head = [look.glue.join("Ln Program Time Len".split()), look.glue.join("Week M T W T F S S Total Rate Cost".split())]
    rows = []
    for number, spot in enumerate(found, 1):
        block = [look.glue.join((str(number), spot.show, spot.time, spot.length)), *_mark(draw, spot)]
        for index, count in enumerate(spot.weeks):
            days = [0] * 7
            for _ in range(count):
                days[draw.rng.randrange(7)] += 1
            start = look.day(spot.first + datetime.timedelta(days=7 * index))
            cost = 0.0 if spot.state == "pre-empted" else count * spot.rate
            block.append(look.glue.join((start, *(str(day) if day else "-" for day in days), str(count), look.money(spot.rate), look.money(cost))))  # fmt: skip
        if draw.chance(0.6):
            block.append(f"Line {number} total: {spot.count} spots {look.money(spot.amount)}")
        rows.append(block)
    return head, rows


def _brief(draw: Draw, look: Look, found: list[Spot]) -> tuple[list[str], list[list[str]]]:
    """A short row a line: number, days and time, program, spots, rate and total."""
    head = draw.rng.choice(("Line,Day/Time,Program,Len,Spots,Rate,Total", "#,Daypart,Description,Length,Qty,Unit Price,Extended", "Ln,Days Time,Network/Program,Sec,Units,Gross Rate,Gross"))  # fmt: skip
    rows = []
    for number, spot in enumerate(found, 1):
        cells = (str(number), f"{spot.days} {spot.time}", spot.show, spot.length, str(spot.count), look.money(spot.rate), look.money(spot.amount))  # fmt: skip
        rows.append([look.glue.join(cells), *_mark(draw, spot)])
    return [look.glue.join(head.split(","))], rows


def _stacked(draw: Draw, look: Look, found: list[Spot]) -> tuple[list[str], list[list[str]]]:
    """Each cell on a line of its own, as columns without rules are extracted."""
    head = draw.rng.choice(("Line,Program,Dates,Days,Time,Spots,Rate,Total", "No.,Description,Flight,Day,Daypart,Units,Cost,Amount"))  # fmt: skip
    rows = [
        [str(number), spot.show, f"{look.day(spot.first)}-{look.day(spot.last)}", spot.days, spot.time, str(spot.count), look.money(spot.rate), look.money(spot.amount), *_mark(draw, spot)]
        for number, spot in enumerate(found, 1)
    ]  # fmt: skip
    return head.split(","), rows


def _across(draw: Draw, look: Look, found: list[Spot]) -> tuple[list[str], list[list[str]]]:
    """The table read by columns: all programs, then all spots, then all amounts."""
    columns = (
        ["Program", *(spot.show for spot in found)],
        ["Start", *(look.day(spot.first) for spot in found)],
        ["End", *(look.day(spot.last) for spot in found)],
        [draw.pick("Spots|Units|Qty"), *(str(spot.count) for spot in found)],
        ["Rate", *(look.money(spot.rate) for spot in found)],
        [draw.pick("Total|Amount|Gross"), *(look.money(spot.amount) for spot in found)],
    )
    return [], list(columns)


def _aired(draw: Draw, look: Look, found: list[Spot]) -> tuple[list[str], list[list[str]]]:
    """Every spot with day, time and number of its tape, below the line that ordered it."""
    head = [look.glue.join(draw.rng.choice(("#,Day,Air Date,Air Time,Description,Len,Ad-ID,Rate", "Line,Date,Time Aired,Program,Length,ISCI,Amount")).split(","))]  # fmt: skip
    tape, rows = digits(draw, draw.pick("@@@@####H|@@@@##_##|@@@-####-##")), []
    number = 0
    for line, spot in enumerate(found, 1):
        ordered = look.glue.join((str(line), look.day(spot.first), look.day(spot.last), spot.show, spot.time, spot.days, str(spot.count), look.money(spot.rate), look.money(spot.amount)))  # fmt: skip
        block = [ordered, *_mark(draw, spot)]
        for week, count in enumerate(spot.weeks):
            for _ in range(count):
                number += 1
                days = min((spot.last - spot.first).days, 7 * week + draw.rng.randrange(7))
                day = spot.first + datetime.timedelta(days=days)
                clock = f"{draw.rng.randint(5, 11)}:{draw.rng.randint(0, 59):02} {draw.pick('AM|PM')}"
                paid = 0.0 if spot.state == "pre-empted" else spot.rate
                block.append(look.glue.join((str(number), f"{day:%a}", look.day(day), clock, spot.show, spot.length, tape, look.money(paid))))  # fmt: skip
        rows.append(block)
    return head, rows


def _weekly(draw: Draw, look: Look, found: list[Spot]) -> tuple[list[str], list[list[str]]]:
    """A row a line with a column for each week of the flight, as cable systems and networks print it."""
    start = min(spot.first for spot in found)
    last = max(spot.first + datetime.timedelta(days=7 * len(spot.weeks) - 7) for spot in found)
    days = [start + datetime.timedelta(days=7 * week) for week in range((last - start).days // 7 + 1)]
    name = draw.pick("Network|Net|Program|Channel / Program")
    head = [name, "Zone", "Days", "Time", "Len", "Rate", *(f"{day.month}/{day.day}" for day in days), "Total", "Cost"]
    blank, rows = draw.pick("0|-|.|0"), []
    for spot in found:
        weeks = [0] * ((spot.first - start).days // 7) + list(spot.weeks)
        counts = (weeks + [0] * len(days))[: len(days)]
        cells = [spot.show, spot.channel, spot.days, spot.time, spot.length, look.money(spot.rate), *(str(count) if count else blank for count in counts), str(spot.count), look.money(spot.amount)]  # fmt: skip
        rows.append([look.glue.join(cells), *_mark(draw, spot)])
    return [look.glue.join(head)], rows


def _listed(draw: Draw, look: Look, found: list[Spot]) -> tuple[list[str], list[list[str]]]:
    """Two lines a line: what and when, and below it how often and for how much."""
    rows = []
    times, joint, dot = draw.pick("x|spots x|@|spots @|X"), draw.pick("=|=|total|Total:"), draw.pick(".|)||:")
    for number, spot in enumerate(found, 1):
        first = f"{number}{dot} {spot.show} {spot.days} {spot.time} ({spot.length})"
        second = f"{look.day(spot.first)}-{look.day(spot.last)}  {spot.count} {times} {look.money(spot.rate)} {joint} {look.money(spot.amount)}"  # fmt: skip
        rows.append([first, second, *_mark(draw, spot)])
    return [], rows


def _account(draw: Draw, look: Look, found: list[Spot]) -> tuple[list[str], list[list[str]]]:
    """A row an invoice, with the balance after it."""
    head = [look.glue.join(("Date", draw.pick("Reference|Inv #|Transaction"), "Station", "Description", "Charges", "Balance"))]  # fmt: skip
    rows, balance = [], 0.0
    for spot in found:
        balance += spot.amount
        cells = (look.day(spot.last), digits(draw, "######-#"), spot.channel, spot.show, look.money(spot.amount), look.money(balance))  # fmt: skip
        rows.append([look.glue.join(cells)])
    return head, rows


@dataclass(frozen=True)
class Style:
    """A way to print the lines: the columns it states beside the program, how many lines and spots it suits, and for what."""

    printer: Printer
    columns: frozenset[str]
    counts: tuple[int, ...]
    kinds: frozenset[str]
    most: int = 1000


_ORDERS = frozenset(("order", "contract", "revised contract"))
_ALL = _ORDERS | {"invoice"}
_FULL = frozenset(("first", "last", "count", "rate", "amount"))
STYLES = (
    Style(_wide, _FULL | {"channel"}, (2, 3, 5, 8, 12, 16, 22), _ORDERS),
    Style(_wide, _FULL | {"channel"}, (2, 3, 5, 8, 12, 16, 24), _ALL),
    Style(_letters, frozenset(("rate",)), (1, 2, 3, 4, 6), _ORDERS),
    Style(_brief, frozenset(("count", "rate", "amount")), (2, 4, 6, 10, 14, 20, 28, 40), _ALL),
    Style(_stacked, _FULL, (1, 2, 3, 5, 8, 12, 18, 26), _ALL),
    Style(_across, _FULL, (2, 3, 4, 6, 9), _ALL),
    Style(_weekly, frozenset(("count", "rate", "amount")), (2, 5, 9, 14, 20, 28), _ORDERS),
    Style(_listed, _FULL, (1, 2, 3, 5, 8, 14, 24), _ALL),
    Style(_aired, _FULL, (1, 2, 2, 3, 4), frozenset(("invoice",)), 40),
    Style(_aired, _FULL, (1, 2, 2, 3, 4), frozenset(("invoice",)), 20),
    Style(_account, frozenset(("amount", "channel")), (1, 2, 3, 5, 8), frozenset(("statement",))),
    Style(_stacked, _FULL, (1, 2, 4, 7), frozenset(("statement",))),
)


def fewer(found: list[Spot], most: int) -> list[Spot]:
    """The first lines whose spots, printed one by one, are no more than `most`; at least one line."""
    kept: list[Spot] = []
    total = 0
    for spot in found:
        total += spot.count
        if kept and total > most:
            break
        kept.append(spot)
    return kept


def subtotals(draw: Draw, look: Look, rows: list[list[str]], found: list[Spot]) -> list[str]:
    """The rows as lines, with a sum after each few of them that is not the sum of the document."""
    if len(rows) != len(found) or len(found) < 4 or draw.chance(0.5):
        return [line for row in rows for line in row]
    size, name = draw.rng.randint(2, 6), draw.pick("Week|Month|Page|Station|Network|Zone|Daypart|Sub|Market")
    form = draw.pick("{k} total {s} {a}|{k} Total: {a}|Total for {k}: {s} spots {a}|{k} Subtotal {s} {a}|Sub-Total {k}\n{a}")  # fmt: skip
    lines: list[str] = []
    for start in range(0, len(found), size):
        part = found[start : start + size]
        amount = sum(spot.amount for spot in part)
        text = form.replace("{k}", name).replace("{s}", str(sum(spot.count for spot in part)))
        text = text.replace("{a}", look.money(amount))
        lines += [line for row in rows[start : start + size] for line in row]
        lines += text.split("\n")
    return lines
