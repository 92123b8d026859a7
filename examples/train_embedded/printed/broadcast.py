"""Orders, contracts and invoices for advertising on the air: a head of small boxes, many lines of spots, sums at the end."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from ..draw import Draw
from ..entities import city_name, company_name, given_name, person_name, phone, street_name
from ..real.records import Record, Sort, Stated, Table
from ..values import iso_day, plain
from ..wording import digits, title_words

_SHOWS = "News at Noon|Early News|Late News|Morning Show|Game Show|Evening Magazine|Local News 6p|Local News 11p|Prime Movie|Sunday Talk|Talk Show A|Sports Roundup|Various Daytime|Weekend News|Drive Time|ROS|Rotator 5a-12m"
_DAYS = "M-F|MTWTF--|Mo-Fr|-----SS|Sa-Su|M------|--W----|MTWTFSS|Su|Sa"
_TIMES = "5a-7a|6a-9a|9:00 AM-10:00 AM|12n-1p|3p-5p|5:00p-6:30p|6P-630P|7:00 PM-8:00 PM|10:00PM-11:00PM|11p-1135p|11:35p-12:37a"


@dataclass(frozen=True)
class Spot:
    """One line of an order: what is sent when, how often, and for how much."""

    show: str
    first: datetime.date
    last: datetime.date
    count: int
    rate: float

    @property
    def amount(self) -> float:
        return round(self.count * self.rate, 2)


_HEADS = (
    "Line|Ch|From|To|Program|Time|Days|Length|Spots|Rate|Amount",
    "#|Day/Time|Program|Len|Wk Of|Spots|Rate|Total",
    "Ln|Dates|Time|Program|Units|Gross Rate|Gross Total",
    "Line|Date|Time Aired|Length|Description|Amount",
)
_TOTALS_ONLY = 3  # the layout whose lines state neither number nor rate


def _dollars(value: float, sign: str) -> str:
    return f"{sign}{value:,.2f}"


def _spots(draw: Draw, first: datetime.date, last: datetime.date) -> list[Spot]:
    """Lines that lie within the flight and together cover it."""
    rng, weeks = draw.rng, max(1, ((last - first).days + 1) // 7)
    spots = []
    for _ in range(rng.choice((2, 4, 6, 8, 12, 16, 22))):
        begin = first + datetime.timedelta(days=7 * rng.randrange(weeks))
        spots.append(
            Spot(
                draw.pick(_SHOWS),
                begin,
                min(last, begin + datetime.timedelta(days=6)),
                rng.choice((1, 1, 2, 3, 4, 5, 7, 10)),
                float(rng.choice((15, 25, 40, 75, 90, 125, 200, 350, 500, 875, 1200, 2500))),
            )
        )
    return sorted(spots, key=lambda spot: spot.first)


def _lines(draw: Draw, spots: list[Spot], shape: str, layout: int) -> list[str]:
    """The lines as one of the usual programs prints them; dates in `shape`, and a week below some lines."""
    channel, sign, glue = digits(draw, "@@@@"), draw.pick("|$"), draw.rng.choice((" ", "  ", "\t"))
    found = [glue.join(_HEADS[layout].split("|"))]
    for number, spot in enumerate(spots, 1):
        begin, end = spot.first.strftime(shape), spot.last.strftime(shape)
        time, days, length = draw.pick(_TIMES), draw.pick(_DAYS), draw.pick(":30|:30|:15|:60|00:30")
        rate, amount, count = _dollars(spot.rate, sign), _dollars(spot.amount, sign), str(spot.count)
        cells = (
            (f"N {number}", channel, begin, end, spot.show, time, days, length, count, rate, amount),
            (str(number), f"{days} {time}", spot.show, length, begin, count, rate, amount),
            (str(number), f"{begin}-{end}", time, spot.show, count, rate, amount),
            (str(number), begin, time, length, spot.show, amount),
        )[layout]
        found.append(glue.join(cells))
        if layout == 0 and draw.chance(0.3):
            found.append(f"Weeks: {begin} {end} {days} {count} {rate}")
    return found


def _boxes(draw: Draw, boxes: list[tuple[str, str]]) -> list[str]:
    """The head's labels and values: beside, below, or labels first and then all values, as text layers have them."""
    shape = draw.rng.randrange(4)
    if shape == 0:
        return [f"{label}: {value}" for label, value in boxes]
    if shape == 1:
        return [line for label, value in boxes for line in (label, value)]
    if shape == 2:
        pairs = [boxes[start : start + 2] for start in range(0, len(boxes), 2)]
        return [draw.rng.choice(("   ", "  ")).join(f"{label} {value}" for label, value in pair) for pair in pairs]
    return [line for part in (boxes[:4], boxes[4:]) for line in (*(b[0] for b in part), *(b[1] for b in part))]


def _advertiser(draw: Draw) -> str:
    """A campaign, an association or a firm."""
    name = person_name(draw)
    return draw.rng.choice(
        (
            f"{name.split()[-1]} for {draw.pick('Senate|Congress|Governor|Mayor|Sheriff|State House|Judge|Council')}",
            f"{draw.pick('Friends of|Citizens for|Committee to Elect|People for')} {name}",
            f"{draw.pick('Alliance for|Voters for|Association of|Fund for')} {title_words(draw, 1, 3)}",
            company_name(draw),
        )
    )


def order(draw: Draw, pieces: list[str]) -> Record:
    """An order, a contract or an invoice of a station."""
    rng = draw.rng
    draw = Draw(rng, draw.split)  # these forms are American
    kind = rng.choice(("contract", "order", "invoice"))
    first = iso_day(draw)
    last = first + datetime.timedelta(days=rng.choice((2, 6, 6, 13, 20, 27, 34, 62, 90)))
    spots, layout = _spots(draw, first, last), rng.randrange(len(_HEADS))
    gross = round(sum(spot.amount for spot in spots), 2)
    share = rng.choice((0.15, 0.15, 0.0))
    net = round(gross * (1 - share), 2)
    shape = draw.pick("%m/%d/%y|%m/%d/%Y|%m/%d/%y|%b %d, %Y|%m-%d-%y|%Y-%m-%d")
    number = digits(draw, draw.pick("#######|######|####-##|######-#|@@@#####|#####|########-#"))
    station = digits(draw, draw.pick("@@@@|@@@@-TV|@@@@-DT|@@@"))
    buyer, agency, clerk = _advertiser(draw), company_name(draw), person_name(draw)
    has_agency, has_product, has_estimate = draw.chance(0.75), draw.chance(0.6), draw.chance(0.5)
    product, estimate = title_words(draw, 1, 3), digits(draw, draw.pick("####|##|#####"))
    shown = buyer + (f" ({digits(draw, '#####')})" if draw.chance(0.2) else "")
    own = {
        "contract": "Contract / Revision|Contract #|Contract No.|CONTRACT",
        "order": "Order #|Order Number|Order|Contract/Order",
        "invoice": "Invoice #|Invoice Number|INVOICE NO.|Invoice",
    }
    flight = draw.pick("Flight Dates|Contract Dates|Order Flight|Flight|Start/End Date|Schedule Dates")
    if kind == "invoice":
        flight = draw.pick("Billing Period|Invoice Period|Broadcast Month|Flight Dates")
    dash = draw.pick(" - |-| to | / ")
    boxes = [
        (draw.pick(own[kind]), number),
        (draw.pick("Advertiser|Advertiser Name|ADVERTISER|Account"), shown),
        (flight, f"{first.strftime(shape)}{dash}{last.strftime(shape)}"),
        (draw.pick("Station|Property|Market/Station"), station),
        (draw.pick("Print Date|Printed|Original Date|Entered"), (first - datetime.timedelta(days=rng.randint(1, 20))).strftime(shape)),
    ]  # fmt: skip
    boxes += [(draw.pick("Agency|Billing Agency|Agency Name"), agency)] if has_agency else []
    boxes += [(draw.pick("Product|Product Desc|Brand"), product)] if has_product else []
    boxes += [(draw.pick("Estimate #|Estimate|Est. No."), estimate)] if has_estimate else []
    boxes += [(draw.pick("Account Executive|Salesperson|AE|Sales Rep"), clerk)] if draw.chance(0.7) else []
    boxes += [("Order #", digits(draw, "#######"))] if kind == "invoice" and draw.chance(0.6) else []
    boxes += [(draw.pick("Alt Order #|Agency Ref|Deal #"), digits(draw, "########"))] if draw.chance(0.4) else []
    boxes += [(draw.pick("Billing Cycle|Billing Calendar|Demographic|Special Handling"), draw.pick("EOM/EOC|Broadcast|Adults 35+|Cash in advance|Weekly"))]  # fmt: skip
    rng.shuffle(boxes)
    sign = draw.pick("$|$|")
    sums = [(draw.pick("Gross Amount|Total Gross|Gross Total|Gross Billing|TOTAL GROSS"), _dollars(gross, sign))]
    if share:
        sums.append((draw.pick("Agency Commission|Less Commission"), _dollars(round(gross - net, 2), sign)))
        sums.append((draw.pick("Net Amount|Net Due|Total Net|Amount Due"), _dollars(net, sign)))
    total = sum(spot.count for spot in spots)
    counted = draw.chance(0.6)
    foot = [f"{draw.pick('Total Spots|# Spots|Spots|Total Units')}{draw.pick(': | ')}{total}"] if counted else []
    foot += [f"{label}{draw.pick(': | |  ')}{amount}" for label, amount in sums]
    head = [station, f"{rng.randint(10, 9900)} {street_name(draw)}", f"{city_name(draw)}, {digits(draw, '@@ #####')}", phone(draw).written]  # fmt: skip
    text = "\n".join(
        (
            *(head if draw.chance(0.7) else []),
            draw.pick(f"{kind.upper()}|{kind.title()}|Page 1 of {rng.randint(1, 6)}|{kind.title()} Agreement Between:"),
            *([f"Attn: {given_name(draw)}"] if draw.chance(0.2) else []),
            *_boxes(draw, boxes),
            *_lines(draw, spots, shape, layout),
            *foot,
            draw.pick("|Codes: N new, R revised, C cancelled|Payment is due on receipt.|Signature: ________  Date: ________|Rates are guaranteed for this order only."),
        )
    ).strip()  # fmt: skip
    columns: tuple[tuple[str, Sort], ...] = (
        ("program|description|show|programme", "text"),
        ("spots|units|quantity", "number"),
        ("rate|spot_rate|price", "number"),
    )
    rows = tuple((spot.show, spot.count, plain(spot.rate)) for spot in spots)
    facts = (
        Stated("document_number|contract_number|order_number|number|contract_no" if kind != "invoice" else "document_number|invoice_number|number|invoice_no", number, notes="as printed|number of this document"),
        Stated("advertiser|advertiser_name|client|account", buyer, notes="not the agency|as printed, without a number in brackets"),
        Stated("agency|agency_name|media_buyer", agency if has_agency else None, notes="null if there is none"),
        Stated("station|call_sign|property", station ),
        Stated("product|product_name|brand", product if has_product else None),
        Stated("estimate_number|estimate", estimate if has_estimate else None),
        Stated("gross_amount|gross_total|total_gross|gross", plain(gross), "number", "of the whole document, before commission"),
        Stated("net_amount|net_due|net_total", plain(net) if share else None, "number", "after the agency's commission"),
        Stated("agency_commission|commission", plain(round(gross - net, 2)) if share else None, "number"),
        Stated("flight_from|flight_start|start_date|first_day|period_from", first.isoformat(), "date", "first day of the flight|first day of the flight or billed period"),
        Stated("flight_to|flight_end|end_date|last_day|period_to", last.isoformat(), "date", "last day of the flight|last day of the flight or billed period"),
        Stated("total_spots|spots|number_of_spots", total if counted else None, "number"),
        Stated("document_type|kind|type", kind, "enum", "", ("contract", "invoice", "order")),
    )  # fmt: skip
    lines = (Table("lines|spots|schedule|line_items", columns, rows, "one for each line, in order"),)
    return Record("broadcast", text, facts, lines if layout != _TOTALS_ONLY and len(spots) <= 12 else ())
