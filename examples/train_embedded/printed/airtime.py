"""Papers of advertising on the air as traffic systems print them and text extraction reads them.

Orders, contracts, revised contracts, invoices and statements: several numbers, several periods, an advertiser in two
spellings, many lines with sub-totals, of which only the sums of the whole document are asked for.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from ..draw import Draw
from ..entities import city_name, company_name, family_name, given_name, person_name, phone
from ..real.records import Record, Sort, Stated, Table
from ..values import iso_day, plain
from ..wording import digits, title_words
from . import airtime_lines
from .airtime_lines import Look, Spot, Style
from .text_layers import Box, laid, misread, paged, unlabelled

_OFFICES = "Senate|Congress|Governor|Mayor|Sheriff|State House|Judge|Council|Assembly|Treasurer|School Board|Attorney General|US Senate|Clerk"
_TITLES = {
    "order": "ORDER|Order|Broadcast Order|Order Confirmation|Agency Order|SALES ORDER|Electronic Order|Insertion Order",
    "contract": "CONTRACT|Contract|Contract Agreement Between:|Broadcast Contract|Time Order / Contract|Station Contract",
    "revised contract": "CONTRACT REVISION|Revised Contract|Contract - Revised|REVISION OF CONTRACT|Contract (Mod.)",
    "invoice": "INVOICE|Invoice|Broadcast Invoice|Invoice - Final|Original Invoice|ADVERTISING INVOICE",
    "statement": "STATEMENT|Statement of Account|Billing Statement|Monthly Statement",
}  # fmt: skip
_OWN = {
    "order": "Order #|Order Number|Order|Order No|Order ID|ORDER NUMBER|Worksheet #",
    "contract": "Contract #|Contract Number|Contract / Revision|CONTRACT|Contract No.|Contract Num|Contract ID",
    "revised contract": "Contract #|Contract / Revision|Contract Number|CONTRACT|Contract No.",
    "invoice": "Invoice #|Invoice Number|INVOICE NO.|Invoice|Invoice Num|Inv. No.",
    "statement": "Statement #|Statement Number|Statement No.|Invoice #",
}
_STATES = "AL|AZ|CA|CO|FL|GA|IA|IL|IN|KS|KY|MI|MN|MO|MT|NC|NE|NH|NJ|NM|NV|NY|OH|OK|OR|PA|SC|TN|TX|VA|WA|WI|DC"
_AGENCIES = "Media|Strategies|Media Group|Buying Services|Communications|Advertising|Media Partners|& Associates|Consulting|Targeted Media|Media LLC"
_NUMBERS = "#######|######|#####|####-##|######-#|@@@#####|########|########-#|@-####|WOC########|##-#####|@@######-##"


@dataclass(frozen=True)
class Paper:
    """What one paper states; `periods` are first and last days of the flight and of what is billed."""

    kind: str
    number: str
    numbers: dict[str, str]
    buyer: str
    account: str
    product: str
    agency: str
    clerk: str
    station: str
    owner: str
    street: str
    town: str
    flight: tuple[datetime.date, datetime.date]
    billed: tuple[datetime.date, datetime.date] | None
    printed: datetime.date
    spots: tuple[Spot, ...]
    style: Style
    share: float
    previous: float

    @property
    def gross(self) -> float:
        return round(sum(spot.amount for spot in self.spots), 2)

    @property
    def commission(self) -> float:
        return round(self.gross * self.share, 2)

    @property
    def net(self) -> float:
        return round(self.gross - self.commission, 2)

    @property
    def due(self) -> float:
        return round(self.net + self.previous, 2)

    @property
    def billing(self) -> bool:
        return self.billed is not None


def _road(draw: Draw) -> str:
    name = family_name(draw) if draw.chance(0.5) else title_words(draw, 1, 2)
    end = draw.pick("Street|Ave|Avenue|Blvd|Road|Rd.|Parkway|Drive|St NW|Plaza|Hwy 9")
    suite = f" {draw.pick('Suite|Ste.|Floor|Ste')} {draw.rng.randint(1, 900)}" if draw.chance(0.25) else ""
    return f"{draw.rng.randint(10, 9900)} {draw.pick('|||N. |West ')}{name} {end}{suite}"


def _town(draw: Draw) -> str:
    return f"{city_name(draw)}, {draw.pick(_STATES)} {digits(draw, draw.pick('#####|#####|#####-####'))}"


def _advertiser(draw: Draw, year: int) -> tuple[str, str]:
    """The advertiser and its matter: a candidate, a committee, an issue, an association, or a firm."""
    given, family, office = given_name(draw), family_name(draw), draw.pick(_OFFICES)
    issue = draw.pick("Yes on|No on|Vote No on|Protect|Stop") + f" {draw.pick('Prop|Measure|Question|Issue|Amendment')} {draw.rng.randint(1, 60)}"  # fmt: skip
    topic = title_words(draw, 1, 3)
    flight = draw.pick("Flight|Est|Wk|FLT|Buy") + f" {draw.rng.randint(1, 9)}"
    people = (
        (f"{family} for {office}", f"{family} {office} {year}"),
        (f"{given} {family} for {office}", draw.pick("Candidate|Political|CAND|POL TV") + f" {flight}"),
        (f"{family}/{draw.pick('D|R|I|NP')}/{office}", f"{given} {family}"),
        (f"{draw.pick('Friends of|Citizens for|Committee to Elect|People for|Elect')} {given} {family}", f"{office} {draw.pick('General|Primary|Runoff')}"),
        (issue, f"{draw.pick('Issue|ISS|Ballot')} {year}"),
        (f"POL/{family}/{draw.pick('DEM|REP|IND')}/{office.upper()}", f"{family} {flight}"),
    )  # fmt: skip
    bodies = (
        (f"{draw.pick('Alliance for|Voters for|Americans for|Fund for|Coalition for')} {topic}", flight),
        (f"{topic} {draw.pick('PAC|Action|Action Fund|Super PAC|Victory Fund|Association|Council')}", topic),
        (f"{draw.pick('State Party of|Chamber of|Committee of|Teachers of')} {city_name(draw)}", f"Issue - {topic}"),
    )
    firms = ((company_name(draw), topic), (f"{topic} {draw.pick('Ford|Furniture|Dental|Casino|Roofing|Law Firm|Chevrolet')}", f"{draw.pick('Spring|Fall|Holiday')} {year}"))  # fmt: skip
    return draw.rng.choice(draw.rng.choice((people, people, bodies, firms)))


def _again(draw: Draw, paper: Paper) -> str:
    """The advertiser in another spelling, as a block of an address or a line of a summary has it."""
    name = paper.buyer
    return draw.rng.choice((
        name.upper(),
        f"{name.upper()} - {paper.product.upper()}",
        name.replace(" for ", " 4 ").replace(" and ", " & "),
        f"{name.split(' ')[0][:12].upper()}/{digits(draw, '###')}",
        f"{name} {draw.pick('(GEN)|Acct|Inc|TV|Political')}",
        name.replace("Committee", "Cmte").replace("Citizens", "Ctzns")[:22],
    ))  # fmt: skip


def _numbers(draw: Draw, billing: bool) -> dict[str, str]:
    """Numbers beside the document's own."""
    shapes = {"alternate": "########|ALT#####|#####|OR######", "estimate": "####|##|#####|EST ##|###-##", "deal": "#######|D-####", "customer": "#####|@@####|######", "product code": "###|@@@|####", "revision": "#|##", "agency code": "####|@@##", "order": _NUMBERS}  # fmt: skip
    shares = {"alternate": 0.5, "estimate": 0.6, "deal": 0.15, "customer": 0.3, "product code": 0.25, "revision": 0.5, "agency code": 0.25, "order": 0.8 if billing else 0.0}  # fmt: skip
    return {name: digits(draw, draw.pick(shape)) for name, shape in shapes.items() if draw.chance(shares[name])}


def _paper(draw: Draw) -> tuple[Paper, Look]:
    rng = draw.rng
    kind = rng.choice(("order", "order", "contract", "contract", "revised contract", "invoice", "invoice", "statement"))
    billing = kind in ("invoice", "statement")
    first = iso_day(draw)
    last = first + datetime.timedelta(days=rng.choice((0, 2, 4, 6, 6, 6, 9, 13, 20, 27, 34, 62, 90)))
    billed = (first, last) if draw.chance(0.3) else (first.replace(day=1), _month_end(last))
    channels = [digits(draw, draw.pick("K@@@|W@@@")) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    style = rng.choice([each for each in airtime_lines.STYLES if kind in each.kinds])
    spots = airtime_lines.spots(draw, (first, last), rng.choice(style.counts), channels)
    spots = airtime_lines.fewer(spots, style.most)
    buyer, product = _advertiser(draw, first.year)
    agency = (
        rng.choice((title_words(draw, 1, 2), title_words(draw, 1, 1), family_name(draw))) + f" {draw.pick(_AGENCIES)}"
    )
    agency = company_name(draw) if draw.chance(0.15) else agency
    station = channels[0] + draw.pick("|-TV|-DT|-FM|-AM|-TV|+| (CBX)|-CD|.2")
    owner = f"{title_words(draw, 1, 2)} {draw.pick('Broadcasting|Television|Media|Stations, LLC|Radio Group|Cable Sales|Communications')}"  # fmt: skip
    look = Look(draw.pick("%m/%d/%y|%m/%d/%Y|%m/%d/%y|%b %d, %Y|%m-%d-%y|%Y-%m-%d|%b%d/%y|%d-%b-%Y|%m.%d.%y"), draw.pick("$|$|| $"), rng.choice((" ", " ", "  ", "   ", "\t", " | ")))  # fmt: skip
    previous = round(rng.uniform(50, 9000), 2) if kind == "statement" or (billing and draw.chance(0.1)) else 0.0
    paper = Paper(
        kind, digits(draw, draw.pick(_NUMBERS)), _numbers(draw, billing), buyer,
        digits(draw, draw.pick("#####|####|######|@###")) if draw.chance(0.35) else "",
        product if draw.chance(0.7) else "", agency if draw.chance(0.75) else "", person_name(draw) if draw.chance(0.75) else "",
        station, owner, _road(draw), _town(draw), (first, last), billed if billing else None,
        (billed[1] + datetime.timedelta(days=rng.randint(0, 9))) if billing else first - datetime.timedelta(days=rng.randint(1, 25)),
        tuple(spots), style, rng.choice((0.15, 0.15, 0.15, 0.0, 0.1)), previous,
    )  # fmt: skip
    return paper, look


def _month_end(day: datetime.date) -> datetime.date:
    return (day.replace(day=28) + datetime.timedelta(days=4)).replace(day=1) - datetime.timedelta(days=1)


def _period(draw: Draw, look: Look, days: tuple[datetime.date, datetime.date]) -> str:
    return draw.pick(" - |-| to | / | thru | – ").join(look.day(day) for day in days)


def _times(draw: Draw, paper: Paper, look: Look) -> tuple[list[Box], bool]:
    """The boxes with days, and whether the flight is among them."""
    told = not paper.billed or draw.chance(0.6)
    boxes = []
    if told and draw.chance(0.25):
        names = draw.pick("Start Date,End Date|Flight Start,Flight End|From,To|First Air Date,Last Air Date").split(",")
        boxes += [Box(name, look.day(day), "date") for name, day in zip(names, paper.flight, strict=True)]
    elif told:
        label = draw.pick("Flight Dates|Contract Dates|Order Flight|Flight|Start/End Date|Schedule Dates|Flight Start/End|Run Dates|Order Dates|Schedule")  # fmt: skip
        boxes.append(Box(label, _period(draw, look, paper.flight), "period"))
    if paper.billed:
        label = draw.pick("Billing Period|Invoice Period|Bill Period|Period|Invoice Dates|Service Period")
        boxes.append(Box(label, _period(draw, look, paper.billed), "period"))
        if draw.chance(0.4):
            boxes.append(Box(draw.pick("Invoice Month|Billing Month|Broadcast Month"), f"{paper.billed[1]:%B %Y}", "other"))  # fmt: skip
        boxes.append(Box(draw.pick("Invoice Date|Inv Date|Date|Billing Date"), look.day(paper.printed), "date"))
        if draw.chance(0.5):
            boxes.append(Box("Due Date", look.day(paper.printed + datetime.timedelta(days=30)), "date"))
    else:
        boxes.append(Box(draw.pick("Print Date|Printed|Printed on|Date Printed|Run Date"), look.day(paper.printed), "date"))  # fmt: skip
        if draw.chance(0.5):
            original = paper.printed - datetime.timedelta(days=draw.rng.randint(0, 9))
            label = draw.pick("Original Date / Revision|Date Entered|Order Date|Entry Date|Contract Date|Created")
            boxes.append(Box(label, look.day(original), "date"))
    return boxes, told


def _names(draw: Draw, paper: Paper) -> list[Box]:
    """The boxes of numbers, parties and people."""
    revised = "/" if paper.kind == "revised contract" or draw.chance(0.2) else ""
    number = paper.number + (f" {revised} {paper.numbers.get('revision', '')}".rstrip() if revised else "")
    buyer = paper.buyer + (draw.pick(" ({a})|({a})| [{a}]| ({a})").replace("{a}", paper.account) if paper.account else "")  # fmt: skip
    labels = {"alternate": "Alt Order #|Alternate Order #|Alt. Order No|Agency Order #|Alt Order Number", "estimate": "Estimate #|Estimate|Est. No.|Estimate Number|EST", "deal": "Deal #|Deal|Deal Number", "customer": "Advertiser Code|Adv Code|Customer #|Advertiser Ref|IDB#", "product code": "Product Code|Prod Code|Product 1/2", "agency code": "Agency Code|Agency Ref|Agy Code", "order": "Order #|Order Number|Contract #|Station Order #|Contract Number|Order"}  # fmt: skip
    boxes = [
        Box(draw.pick(_OWN[paper.kind]), number, "number"),
        Box(draw.pick("Advertiser|Advertiser Name|ADVERTISER|Account|Client|Customer|Advertiser"), buyer, "name"),
        Box(draw.pick("Station|Property|Station(s)|Market/Station|Property Name|Outlet"), paper.station),
    ]
    boxes += [Box(draw.pick(labels[name]), value, "number") for name, value in paper.numbers.items() if name in labels]
    if paper.agency:
        boxes.append(Box(draw.pick("Agency|Billing Agency|Agency Name|Agency/Buyer|AGENCY"), paper.agency, "name"))
    if paper.product:
        boxes.append(Box(draw.pick("Product|Product Desc|Brand|Product Name|Product Description"), paper.product, "name"))  # fmt: skip
    if paper.clerk:
        label = draw.pick("Account Executive|Salesperson|AE|Sales Rep|Acct Exec|Seller|Account Exec")
        boxes.append(Box(label, paper.clerk, "name"))
    if draw.chance(0.3):
        boxes.append(Box(draw.pick("Buyer|Agency Buyer|Buyer Name|Attn"), person_name(draw), "name"))
    extras = "Billing Cycle=EOM/EOC|Billing Calendar=Broadcast|Demographic=Adults 35+|Special Handling=None|Demo=HH|Sales Office=NAT-DC|Sales Region=NAT|Cash/Trade=Cash|Revenue Code=POL-CAN|Order Type=GENERAL|Invoice Frequency=Weekly|Separation=30|Spot Length=30|Agency Commission=15%|Rep Office=CHI|Invoice Type=Regular|Priority=P-01|Order Status=Confirmed|Billing Type=Cash"  # fmt: skip
    found = (extra.split("=") for extra in draw.some(extras, 0, 6))
    boxes += [Box(label, value) for label, value in found]
    return boxes


def _letterhead(draw: Draw, paper: Paper) -> tuple[list[str], bool]:
    """The station's block, and whether its address stands in one line."""
    single = draw.chance(0.4)
    place = [f"{paper.street}, {paper.town}"] if single else [paper.street, paper.town]
    extra = [f"{draw.pick('Main: |Phone: |Tel |')}{phone(draw).written}", f"Fax: {phone(draw).written}", f"www.{paper.station[:4].lower()}.com"]  # fmt: skip
    name = draw.rng.choice(([paper.owner], [paper.station, paper.owner], [paper.owner, paper.station], [f"{paper.station} / {paper.owner}"]))  # fmt: skip
    return [*name, *place, *draw.rng.sample(extra, draw.rng.randint(0, 2))], single


def _bill_to(draw: Draw, paper: Paper) -> list[str]:
    """Where the paper is sent: the agency, or the advertiser in another spelling."""
    name = paper.agency or paper.buyer
    lead = draw.pick("Bill To:|And:|Send Payment From|Sold To|Attention: Accounts Payable||To:")
    other = [_again(draw, paper)] if draw.chance(0.5) else []
    return [line for line in (lead, name, *other, _road(draw), _town(draw)) if line]


def _sums(draw: Draw, paper: Paper, look: Look) -> tuple[list[str], bool, float | None]:
    """The sums of the document, whether they include commission and net, and what is due, where they say it."""
    told = bool(paper.share) and draw.chance(0.85)
    total = draw.pick("Gross Amount|Total Gross|Gross Total|Gross Billing|TOTAL GROSS|Totals|Grand Total|Actual Gross Billing|Gross|Total Gross Amount")  # fmt: skip
    boxes = [Box(total, look.money(paper.gross), "number")]
    if told:
        part = look.money(paper.commission)
        boxes.append(Box(draw.pick("Agency Commission|Less Commission|Commission (15%)|Agency Comm." if paper.share == 0.15 else "Agency Commission|Commission|Agency Comm."), draw.rng.choice((part, f"({part})", f"-{part}")), "number"))  # fmt: skip
        boxes.append(Box(draw.pick("Net Amount|Total Net|Net Total|Net|Net Billing"), look.money(paper.net), "number"))
    if paper.previous:
        label = draw.pick("Previous Balance|Balance Forward|Prior Balance|Past Due")
        boxes.insert(draw.rng.choice((0, len(boxes))), Box(label, look.money(paper.previous), "number"))
    due = None
    if paper.previous or (paper.billing and draw.chance(0.5)):
        due = paper.due if told or not paper.share else round(paper.gross + paper.previous, 2)
        label = draw.pick("Amount Due|Total Due|Please Pay|Balance Due|Pay This Amount")
        boxes.append(Box(label, look.money(due), "number"))
    months = []
    if draw.chance(0.35):
        label = draw.pick("Month|Calendar Month|Broadcast Month|Period")
        names = (label, "# Spots", "Gross", *(("Net",) if told else ()))
        months = [look.glue.join(names), *_months(paper, look, net=told)]
    return [*months, *laid(draw, boxes)], told, due


def _months(paper: Paper, look: Look, net: bool) -> list[str]:
    """A line for each month of the schedule, by the first day of each line of it."""
    rows = []
    for month in sorted({(spot.first.year, spot.first.month) for spot in paper.spots}):
        part = [spot for spot in paper.spots if (spot.first.year, spot.first.month) == month]
        amount, count = sum(spot.amount for spot in part), sum(spot.count for spot in part)
        start = min(spot.first for spot in part)
        cells = [f"{start:%B %Y}", str(count), look.money(amount)]
        rows.append(look.glue.join((*cells, look.money(round(amount * (1 - paper.share), 2))) if net else cells))
    return rows


_LEGAL = "Codes: N new, R revised, C cancelled|Payment is due on receipt.|Signature: ________  Date: ________|Rates are guaranteed for this order only.|Station does not discriminate in the sale of time.|All times are local.|Remit to the address above.|Spots not run will be credited.|This order is subject to the station's terms.|Accepted for station by: ______|Net 30 days. Late fee 1.5 % a month.|We warrant these spots ran as shown.|Times are approximate.||"


def paper(draw: Draw, pieces: list[str]) -> Record:
    """An order, a contract, a revised contract, an invoice or a statement of a station or a cable system."""
    rng = draw.rng
    draw = Draw(rng, draw.split)  # these forms are American
    found, look = _paper(draw)
    times, has_flight = _times(draw, found, look)
    boxes = unlabelled(draw, _names(draw, found) + times, 0.06)
    rng.shuffle(boxes)
    cut = rng.randint(0, len(boxes)) if draw.chance(0.6) else len(boxes)
    letterhead, single = _letterhead(draw, found)
    shows_station = draw.chance(0.75)
    sums, net, due = _sums(draw, found, look)
    counted = draw.chance(0.55)
    total = sum(spot.count for spot in found.spots)
    if counted:
        label = draw.pick("Total Spots|# Spots|Spots|Total Units|Number of Spots")
        sums.insert(rng.choice((0, len(sums))), f"{label}{draw.pick(': | |  ')}{total}")
    head, rows = found.style.printer(draw, look, list(found.spots))
    own = [f"{draw.pick(_OWN[found.kind])} {found.number}", _again(draw, found)] if draw.chance(0.5) else [found.buyer]
    body = [*head, *airtime_lines.subtotals(draw, look, rows, list(found.spots))]
    size = 16 if len(body) < 3 * len(found.spots) + 4 else 45
    table = paged(draw, body, [*own, *(head if len(head) < 3 else [])], size)
    title = [draw.pick(_TITLES[found.kind])]
    parts = [
        title,
        letterhead if shows_station else [],
        laid(draw, boxes[:cut]),
        laid(draw, boxes[cut:]),
        _bill_to(draw, found) if draw.chance(0.7) else [],
    ]
    if draw.chance(0.5):
        rng.shuffle(parts)
    rest = [table, sums] if draw.chance(0.8) else [sums, table]
    order = (*rest, *parts) if draw.chance(0.12) else (*parts, *rest)  # some heads are read after their table
    legal = [line for line in draw.some(_LEGAL, 0, 3) if line]
    lines = [line for part in (*order, legal) for line in part]
    facts = _facts(found, has_flight, net, total if counted else None, shows_station, single)
    if found.billed:
        note = "what is left to pay, null if not stated"
        facts += (Stated("amount_due|balance_due|total_due", None if due is None else plain(due), "number", note),)
    if draw.chance(0.12):
        kept = [str(fact.value) for fact in facts if fact.sort == "text" and fact.value]
        lines = misread(draw, lines, [*kept, *(spot.show for spot in found.spots)])
    return Record("broadcast", "\n".join(lines), facts, _tables(found))


def _facts(paper: Paper, flight: bool, net: bool, total: int | None, station: bool, single: bool) -> tuple[Stated, ...]:
    """What is asked; the description says which of the numbers and periods is meant."""
    first, last = paper.flight if flight or not paper.billed else paper.billed
    stated = paper.numbers.get
    facts = [
        Stated("advertiser|advertiser_name|client|account|sponsor", paper.buyer, notes="not the agency|as printed, without a number in brackets|who advertises"),
        Stated("agency|agency_name|media_buyer|buying_agency", paper.agency or None, notes="null if there is none|the firm that buys for the advertiser"),
        Stated("station|call_sign|property|outlet", paper.station, notes="call letters as printed"),
        Stated("product|product_name|brand|product_description", paper.product or None, notes="what is advertised, null if not given"),
        Stated("account_executive|salesperson|sales_rep", paper.clerk or None, notes="of the station"),
        Stated("estimate_number|estimate", stated("estimate"), notes="the agency's estimate"),
        Stated("alternate_order_number|alt_order|agency_order_number", stated("alternate")),
        Stated("gross_amount|gross_total|total_gross|gross|total_amount", plain(paper.gross), "number", "of the whole document, before commission|not a sub-total|before the agency's commission"),
        Stated("net_amount|net_total|total_net", plain(paper.net) if net else None, "number", "after the agency's commission"),
        Stated("agency_commission|commission", plain(paper.commission) if net else None, "number", "as a positive number"),
        Stated("flight_from|flight_start|start_date|first_day", first.isoformat(), "date", "first day of the flight|first day on the air that was ordered, or of the billed period"),
        Stated("flight_to|flight_end|end_date|last_day", last.isoformat(), "date", "last day of the flight|last day of the schedule, or of the billed period"),
        Stated("total_spots|number_of_spots", total, "number", "of the whole document"),
        Stated("document_type|kind|type", paper.kind, "enum", "", tuple(_TITLES)),
    ]  # fmt: skip
    what = {"invoice": "number of the invoice, not of the order", "statement": "number of the statement", "order": "number of the order, not an alternate or estimate number"}.get(paper.kind, "number of the contract, without its revision")  # fmt: skip
    own = {"invoice": "invoice_number|invoice_no|", "statement": "statement_number|", "order": "order_number|contract_number|contract_num|"}.get(paper.kind, "contract_number|order_number|contract_num|")  # fmt: skip
    facts.insert(0, Stated(own + "document_number|number", paper.number, notes=f"{what}|number of this document, as printed"))  # fmt: skip
    if paper.billed:
        if stated("order"):
            facts.append(Stated("order_number|contract_number|station_order", stated("order"), notes="number of the order that is billed, not of the invoice"))  # fmt: skip
        facts.append(Stated("billed_from|invoice_from|period_from", paper.billed[0].isoformat(), "date", "first day of the billed period"))  # fmt: skip
        facts.append(Stated("billed_to|invoice_to|period_to", paper.billed[1].isoformat(), "date", "last day of the billed period"))  # fmt: skip
        facts.append(Stated("invoice_date|issued_on|date", paper.printed.isoformat(), "date"))
        facts.append(Stated("previous_balance|balance_forward", plain(paper.previous) if paper.previous else None, "number"))  # fmt: skip
    else:
        facts.append(Stated("print_date|printed_on", paper.printed.isoformat(), "date", "day when it was printed"))
    if station:
        facts.append(Stated("station_owner|broadcaster|company", paper.owner, notes="firm that owns the station"))
        place = ("station_address|tv_address|address", f"{paper.street}, {paper.town}") if single else ("station_street|street", paper.street)  # fmt: skip
        facts.append(Stated(*place, notes="of the station"))
    return tuple(facts)


def _tables(paper: Paper) -> tuple[Table, ...]:
    if len(paper.spots) > 16:
        return ()
    names: dict[str, tuple[str, Sort]] = {
        "show": ("program|description|show|program_description", "text"),
        "channel": ("channel|station", "text"),
        "first": ("start_date|from|program_start", "date"),
        "last": ("end_date|to|program_end", "date"),
        "count": ("spots|units|quantity", "number"),
        "rate": ("rate|spot_rate|price", "number"),
        "amount": ("amount|total|line_total|sub_amount", "number"),
    }
    kept = [name for name in names if name == "show" or name in paper.style.columns]
    rows = tuple(tuple(_cell(getattr(spot, name)) for name in kept) for spot in paper.spots)
    note = "one for each ordered line, in order|lines of the schedule, not sub-totals"
    return (Table("lines|spots|schedule|line_items", tuple(names[name] for name in kept), rows, note),)


def _cell(value: str | float | datetime.date) -> str | float:
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value if isinstance(value, str) else float(plain(value)) if value != int(value) else int(value)
