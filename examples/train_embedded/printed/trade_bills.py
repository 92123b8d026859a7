"""Electronic invoices and credit notes in many layouts: letters, and viewers that name every term, with its number or without.

Sums are right in every document. Other parties, articles' numbers and orders stand around what is asked.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..draw import Draw
from ..entities import city_name, company_name, domain_name, email_of, person_name, phone, street_name
from ..pools import places
from ..real.records import Record, Sort, Stated, Table
from ..values import iso_day, plain
from ..wording import digits, title_words
from .bill_lines import Columns, Line, Sums, columns, lines, sums
from .bill_parts import Look, look, table
from .bill_words import CODES, TYPES, speaks, terms
from .text_layers import Box, Kind, laid

_NUMBERS = "######|RE-20##-####|20##/####|R-#####|INV-#####|@@-20##-###|##########|F20##-####|#######|90######|R20######|##-#####|@@@######|SI-######|20##-####-#"
_EARLIER = {"en": "Original invoice|Credit for invoice|Preceding invoice", "de": "Zu Rechnung Nr.|Ursprungsrechnung|Bezug Rechnung", "fr": "Facture d'origine|Sur facture n°"}  # fmt: skip
_LATE = ("terms", "iban", "bic")
_SHARES = {"due": 0.5, "reference": 0.35, "project": 0.2, "contract": 0.15, "order": 0.55, "sales": 0.35, "despatch": 0.35, "delivery": 0.55, "customer": 0.55, "from": 0.12}  # fmt: skip

_Term = Callable[[str, str], list[str]]


@dataclass(frozen=True)
class Party:
    """A firm with its address and the people and numbers beside it; parts that are empty are not printed."""

    name: str
    department: str
    contact: str
    street: str
    town: str
    vat: str
    phone: str
    email: str


@dataclass(frozen=True)
class Bill:
    """What one invoice states; `told` are the texts of its terms and `days` the days behind some of them."""

    kind: str
    unit: str
    told: dict[str, str]
    days: dict[str, datetime.date]
    earlier: str
    seller: Party
    buyer: Party
    payee: Party | None
    place: Party | None
    parts: Columns
    lines: tuple[Line, ...]
    sums: Sums


def _party(draw: Draw, rich: float) -> Party:
    name, person = company_name(draw), person_name(draw)
    vat = {
        "de": "DE#########|ATU########|DE#########",
        "fr": "FR###########",
        "en": "GB#########|IE#######@|NL#########B01",
    }
    return Party(
        name, "", person if draw.chance(rich) else "", street_name(draw), f"{draw.pick(places(draw.lang).zip)} {city_name(draw)}",
        digits(draw, draw.pick(vat[draw.lang])) if draw.chance(rich + 0.2) else "", phone(draw).written if draw.chance(rich) else "",
        email_of(draw, person, domain_name(draw)) if draw.chance(rich) else "",
    )  # fmt: skip


def _bill(draw: Draw, words: dict[str, str]) -> tuple[Bill, Look]:
    rng = draw.rng
    kind = rng.choice((*TYPES, *("invoice",) * 5, "credit_note"))
    unit = rng.choice(("EUR", "EUR", "GBP", "USD")) if draw.lang == "en" else rng.choice(("EUR", "EUR", "EUR", "EUR", "CHF"))  # fmt: skip
    marks, parts = look(draw, unit), columns(draw)
    found = lines(draw, parts, words["units"], -1 if kind == "credit_note" and draw.chance(0.4) else 1)
    day = iso_day(draw)
    term, since = rng.choice((14, 14, 21, 30, 30, 45, 60)), day - datetime.timedelta(days=rng.randint(20, 40))
    days = {"date": day, "due": day + datetime.timedelta(days=term), "delivery": day - datetime.timedelta(days=rng.randint(0, 20)), "from": since, "to": since + datetime.timedelta(days=rng.randint(6, 19))}  # fmt: skip
    shapes = {"reference": "#####-####-##|@@-###|04011000-#####-##|991-#####-##|KST ####", "project": "P-####|BV ###|20##-@@|#####.##", "contract": "V-#####|RV-20##-##|CT######", "order": "B-#####|45########|PO-####|20##-####|BE######|@@##-####", "sales": "AB-#####|1#######|SO-######|A20##-###", "despatch": "LS-#####|8#######|DN######|BL####", "customer": "#####|K####|1#####|D-#####|C#####"}  # fmt: skip
    told = {"number": _code(draw, _NUMBERS, day), "date": marks.day(day)}
    for name, share in _SHARES.items():
        if draw.chance(share):
            told[name] = marks.day(days[name]) if name in days else _code(draw, shapes[name], day)
    if "from" in told:
        told["to"] = marks.day(days["to"])
    if draw.chance(0.6):
        country = {"de": "DE", "fr": "FR", "en": "GB"}[draw.lang]
        told["iban"] = digits(draw, country + draw.pick("## #### #### #### #### ##|####################|## #### #### #### #### ##"))  # fmt: skip
        told |= {"bic": digits(draw, f"@@@@{country}@@|@@@@{country}##XXX".split("|")[rng.randrange(2)])} if draw.chance(0.6) else {}  # fmt: skip
    if draw.chance(0.6):
        told["terms"] = words["days"].replace("{n}", str(term))
    buyer = _party(draw, 0.25)
    buyer = replace(buyer, department=words["department"] if draw.chance(0.3) else "", phone="", email="")
    payee = _party(draw, 0.0) if draw.chance(0.1) else None
    place = replace(_party(draw, 0.0), vat="") if draw.chance(0.2) else None
    whole = sums(draw, found, words)
    whole = replace(whole, prepaid=0.0) if kind == "credit_note" else whole
    earlier = _code(draw, _NUMBERS, day) if kind in ("credit_note", "corrected_invoice") and draw.chance(0.7) else ""  # fmt: skip
    return Bill(kind, unit, told, days, earlier, _party(draw, 0.4), buyer, payee, place, parts, tuple(found), whole), marks  # fmt: skip


def _code(draw: Draw, shapes: str, day: datetime.date) -> str:
    """A number in one of the shapes; `20##` in it is the year of the invoice."""
    return digits(draw, draw.pick(shapes).replace("20##", str(day.year)))


def _number_label(bill: Bill, words: dict[str, str]) -> str:
    return words["credit" if bill.kind == "credit_note" else "number"]


def _totals(draw: Draw, bill: Bill, words: dict[str, str], marks: Look) -> list[tuple[str, float]]:
    """The sums from the lines to what is to be paid, each with the name of its term."""
    found, whole = [], bill.sums
    if whole.changes or draw.chance(0.4):
        found.append(("lines", whole.lines))
    if whole.allowances and draw.chance(0.6):
        found.append(("allowances", whole.allowances))
    if whole.charges and draw.chance(0.6):
        found.append(("charges", whole.charges))
    found += [("base", whole.base), ("tax", whole.tax), ("gross", whole.gross)]
    found += [("prepaid", whole.prepaid)] if whole.prepaid else []
    return found + ([("open", whole.due)] if whole.prepaid or draw.chance(0.35) else [])


def _sums(draw: Draw, bill: Bill, words: dict[str, str], marks: Look) -> list[str]:
    """The sums as boxes, with discounts, charges and the tax of each rate among them or in a table of its own."""
    boxes = []
    apart = draw.chance(0.4)
    for name, value in _totals(draw, bill, words, marks):
        if name == "base":
            boxes += [Box(each.label, marks.money(each.amount), "number") for each in bill.sums.changes]
        if name == "tax" and not apart:
            form = draw.pick("{t} {r}|{t} {r} ({b})|{r} {t} / {b}|+ {t} {r}|{t} {r}, {l} {b}")
            for rate, base, tax in bill.sums.taxes:
                label = form.replace("{t}", words["amount"]).replace("{r}", marks.rate(rate)).replace("{l}", words["taxable"])  # fmt: skip
                boxes.append(Box(label.replace("{b}", marks.money(base)), marks.money(tax), "number"))
            if len(bill.sums.taxes) == 1 and draw.chance(0.6):
                continue
        boxes.append(Box(words[name], marks.money(value), "number"))
    rows = []
    if apart:
        head = [words["rate"], words["taxable"], words["amount"]]
        cells = [[marks.rate(rate), marks.money(base), marks.money(tax)] for rate, base, tax in bill.sums.taxes]
        flat = draw.chance(0.3)
        rows = [line for part in (head, *cells) for line in (part if flat else [marks.glue.join(part)])]
    found = laid(draw, boxes)
    return rows + found if draw.chance(0.5) else found + rows


def _block(party: Party, words: dict[str, str], side: str, label: str) -> list[str]:
    """The lines of a party's block, with its label above the name or before it."""
    contact = f"{words[f'{side}_contact']} {party.contact}" if party.contact else ""
    vat = f"{words[f'{side}_vat']}: {party.vat}" if party.vat else ""
    below = [
        party.department,
        contact,
        party.street,
        party.town,
        vat,
        party.phone and f"Tel. {party.phone}",
        party.email,
    ]
    return [line for line in (label, party.name, *below) if line]


def _letter(draw: Draw, bill: Bill, words: dict[str, str], marks: Look) -> list[str]:
    """An invoice as a letter: seller above, below or in a block of its own, and the rest around the table."""
    rng = draw.rng
    seller, buyer = _block(bill.seller, words, "seller", ""), _block(bill.buyer, words, "buyer", "")
    order = [name for name in bill.told if name not in _LATE]
    rng.shuffle(order)
    kinds: dict[str, Kind] = {"date": "date", "due": "date", "delivery": "date", "from": "date", "to": "date"}
    boxes = [Box(_number_label(bill, words) if name == "number" else words[name], bill.told[name], kinds.get(name, "number")) for name in order]  # fmt: skip
    if bill.earlier:
        boxes.append(Box(draw.pick(_EARLIER[draw.lang]), bill.earlier, "number"))
    where = rng.choice(("above", "above", "block", "below"))
    sender = f"{bill.seller.name}{draw.pick(' · | - |, | • ')}{bill.seller.street}{draw.pick(' · |, | - ')}{bill.seller.town}"
    top = seller if where == "above" else [words["seller"], *seller] if where == "block" else []
    if (where == "below" and draw.chance(0.5)) or draw.chance(0.15):
        buyer = [sender, *buyer]
    elif draw.chance(0.6):
        buyer = [words["buyer"], *buyer]
    others = _block(bill.place, words, "buyer", words["place"]) if bill.place else []
    head = [top, buyer, [words[bill.kind], *laid(draw, boxes)], others]
    if draw.chance(0.35):
        rng.shuffle(head)
    note = [f"{words['currency']}{draw.pick(': | ')}{bill.unit}"] if draw.chance(0.45) else []
    foot = [*_payment(draw, bill, words), *(seller if where == "below" else []), *_registered(draw)]
    body = [*note, *table(draw, words, marks, bill.parts, list(bill.lines)), *_sums(draw, bill, words, marks)]
    page = [words["page"].replace("{n}", "1").replace("{m}", "1")] if draw.chance(0.2) else []
    parts = (foot, *head, body) if draw.chance(0.1) else (*head, body, foot)
    return [line for part in (*parts, page) for line in part]


def _payment(draw: Draw, bill: Bill, words: dict[str, str]) -> list[str]:
    """Terms, payee and account."""
    found = [bill.told["terms"]] if "terms" in bill.told else []
    found += [f"{words['payee']}: {bill.payee.name}", f"{bill.payee.street}, {bill.payee.town}"] if bill.payee else []
    bank = [f"{words['bank']}: {title_words(draw, 1, 2)} Bank"] if draw.chance(0.4) else []
    account = [f"{words[name]}{draw.pick(': | ')}{bill.told[name]}" for name in ("iban", "bic") if name in bill.told]
    return [
        *found,
        *(bank if account else []),
        *(account if draw.chance(0.6) else [" ".join(account)] if account else []),
    ]


def _registered(draw: Draw) -> list[str]:
    """Register court and directors of a firm, as the small print of some invoices states them."""
    if draw.chance(0.65):
        return []
    town, name = city_name(draw), person_name(draw)
    lines = {"de": f"Amtsgericht {town} HRB {digits(draw, '#####')}|Geschäftsführer: {name}|Steuernummer {digits(draw, '##/###/#####')}|Gerichtsstand {town}", "fr": f"RCS {town} {digits(draw, '### ### ###')}|SIRET {digits(draw, '### ### ### #####')}|Gérant : {name}|APE {digits(draw, '####@')}", "en": f"Registered in {town}, no. {digits(draw, '########')}|Director: {name}|Company reg. {digits(draw, '#######')}"}  # fmt: skip
    found = lines[draw.lang].split("|")
    kept = draw.rng.sample(found, draw.rng.randint(1, len(found)))
    return kept if draw.chance(0.6) else [draw.rng.choice((" | ", " · ", "  ")).join(kept)]


def _viewed(draw: Draw, bill: Bill, words: dict[str, str], marks: Look) -> list[str]:
    """An invoice as a viewer shows it: sections of terms, with the numbers of the standard or without."""
    form = draw.pick("{l} (BT-{c}): {v}|BT-{c} {l}: {v}|BT-{c} {l}\n{v}|{l}: {v}|{l}: {v}|{l}\n{v}|{l}\t{v}|{l} [BT-{c}] {v}|{v}\n{l}|{l} BT-{c}\n{v}")  # fmt: skip

    def term(name: str, value: str, label: str = "") -> list[str]:
        found = form.replace("{l}", label or words[name]).replace("{c}", str(CODES[name]))
        return found.replace("{v}", value).split("\n")

    def party(side: str, each: Party) -> list[str]:
        told = [*term(side, each.name), each.department, each.street, each.town]
        told += term(f"{side}_vat", each.vat) if each.vat else []
        told += term(f"{side}_contact", each.contact) if each.contact else []
        return [line for line in (words[f"{side}_head"], *told, each.phone, each.email) if line]

    kept = [name for name in bill.told if name not in _LATE]
    draw.rng.shuffle(kept)
    head = [words["head"], words[bill.kind]]
    for name in kept:
        head += term(name, bill.told[name], _number_label(bill, words) if name == "number" else "")
    head += term("currency", bill.unit)
    head += [f"{draw.pick(_EARLIER[draw.lang])}: {bill.earlier}"] if bill.earlier else []
    pay = [words["pay_head"], *(line for name in _LATE if name in bill.told for line in term(name, bill.told[name]))]
    pay += term("payee", bill.payee.name) if bill.payee else []
    place = [*term("place", bill.place.name), bill.place.street, bill.place.town] if bill.place else []
    total = [words["sum_head"]]
    for name, value in _totals(draw, bill, words, marks):
        total += term(name, marks.money(value))
    total += [f"{each.label}: {marks.money(each.amount)}" for each in bill.sums.changes]
    taxes = [words["tax_head"]]
    for rate, base, tax in bill.sums.taxes:
        taxes += [
            *term("rate", marks.rate(rate)),
            *term("taxable", marks.money(base)),
            *term("amount", marks.money(tax)),
        ]
    rows = _positions(bill, words, marks, term) if len(bill.lines) < 11 and draw.chance(0.8) else table(draw, words, marks, bill.parts, list(bill.lines))  # fmt: skip
    parties = [party("seller", bill.seller), party("buyer", bill.buyer)]
    draw.rng.shuffle(parties)
    sections = [[head, *parties, place], [*parties, head, place]][draw.rng.randrange(2)]
    rest = [[rows, total, taxes, pay], [total, taxes, pay, rows], [taxes, total, rows, pay]][draw.rng.randrange(3)]
    return [line for section in (*sections, *rest) for line in section]


def _positions(bill: Bill, words: dict[str, str], marks: Look, term: _Term) -> list[str]:
    found = []
    for number, line in enumerate(bill.lines, 1):
        told = [("pos", str(number)), ("name", line.name), ("description", line.description), ("article", line.article), ("buyers_article", line.buyers), ("gtin", line.gtin), ("count", marks.count(line.count)), ("unit", line.unit)]  # fmt: skip
        told += [("list", marks.price(line.listed)), ("discount", marks.price(round(line.listed - line.price, 4)))] if line.listed != line.price else []  # fmt: skip
        told += [("price", marks.price(line.price)), ("line_rate", marks.rate(line.rate))]
        told += [("allowance" if line.change * line.count < 0 else "charge", marks.money(line.change))] if line.change else []  # fmt: skip
        told.append(("net", marks.money(line.net)))
        found.append(words["line_head"].replace("{n}", str(number)))
        found += [text for name, value in told if value for text in term(name, value)]
    return found


def bill(draw: Draw, pieces: list[str]) -> Record:
    """An invoice or a credit note of a firm to a firm, as a letter or as a viewer shows it."""
    draw = Draw(draw.rng, draw.split, draw.lang if speaks(draw.lang) else draw.rng.choice(("en", "de", "de", "fr")))
    words = terms(draw)
    found, marks = _bill(draw, words)
    text = "\n".join((_letter if draw.chance(0.65) else _viewed)(draw, found, words, marks))
    sign = {"EUR": "€", "GBP": "£", "USD": "$"}.get(found.unit, found.unit)
    shown = found.unit in text or sign in text
    return Record("e-invoice", text, _facts(found, shown), (_line_table(found), _tax_table(found.sums)))


def _facts(bill: Bill, shown: bool) -> tuple[Stated, ...]:
    told, days, whole = (
        bill.told.get,
        {name: day.isoformat() for name, day in bill.days.items() if name in bill.told},
        bill.sums,
    )
    own = (
        "credit_note_number|invoice_number|document_number|number"
        if bill.kind == "credit_note"
        else "invoice_number|number|document_number|invoice_no"
    )
    return (
        Stated(own, told("number"), notes="as printed|number of this document"),
        Stated("issue_date|invoice_date|date|issued_on", days["date"], "date"),
        Stated("due_date|payable_by|due", days.get("due"), "date", "null if no day is given"),
        Stated("delivery_date|supply_date|delivered_on", days.get("delivery"), "date"),
        Stated("period_start|period_from|service_from", days.get("from"), "date"),
        Stated("period_end|period_to|service_to", days.get("to"), "date"),
        Stated("seller|supplier|vendor|seller_name|issuer", bill.seller.name, notes="name of the company that issued the invoice|name of the seller"),
        Stated("seller_vat_id|vat_id|supplier_vat_number", bill.seller.vat or None, notes="of the seller"),
        Stated("buyer|customer|buyer_name|bill_to", bill.buyer.name, notes="name of the customer|firm that is invoiced, not where the goods go"),
        Stated("buyer_vat_id|customer_vat_id", bill.buyer.vat or None),
        Stated("buyer_contact|contact_of_buyer|attention", bill.buyer.contact or None, notes="person at the customer"),
        Stated("seller_contact|contact|clerk", bill.seller.contact or None, notes="person at the seller"),
        Stated("payee|payee_name|pay_to", bill.payee.name if bill.payee else None, notes="null unless another than the seller is paid"),
        Stated("delivered_to|ship_to|deliver_to_name", bill.place.name if bill.place else None, notes="null if no other address is given"),
        Stated("order_number|purchase_order|order_reference", told("order"), notes="the buyer's order"),
        Stated("sales_order|seller_order_number|order_confirmation", told("sales"), notes="the seller's number of the order"),
        Stated("delivery_note|despatch_advice|delivery_note_number", told("despatch")),
        Stated("customer_number|customer_id|account_number", told("customer")),
        Stated("buyer_reference|your_reference", told("reference")),
        Stated("project|project_number", told("project")),
        Stated("contract_number|contract", told("contract")),
        Stated("original_invoice|preceding_invoice", bill.earlier or None, notes="invoice that this document corrects"),
        Stated("net_total|total_without_vat|tax_basis|net_amount", plain(whole.base), "number", "total before VAT|after allowances and charges, before tax"),
        Stated("vat_total|tax_total|total_vat|tax_amount", plain(whole.tax), "number", "VAT of the whole invoice|sum over all rates"),
        Stated("gross_total|total_with_vat|invoice_total|grand_total", plain(whole.gross), "number", "total with VAT|before prepayments"),
        Stated("prepaid|paid_amount|already_paid", plain(whole.prepaid) if whole.prepaid else None, "number", "null if nothing was paid before"),
        Stated("amount_due|payable|open_amount", plain(whole.due), "number", "what is left to pay|total with VAT less what was paid before"),
        Stated("currency|currency_code", bill.unit if shown else None, "enum", "", ("EUR", "USD", "GBP", "CHF")),
        Stated("iban|account", told("iban"), notes="as printed"),
        Stated("bic|swift", told("bic")),
        Stated("payment_terms|terms", told("terms"), notes="as written"),
        Stated("document_type|kind|type", bill.kind, "enum", "", TYPES),
    )  # fmt: skip


def _line_table(bill: Bill) -> Table:
    columns: list[tuple[str, Sort]] = [
        ("item|name|description|product|item_name", "text"),
        ("quantity|qty|count", "number"),
        ("unit|unit_code|unit_of_measure", "text"),
        ("unit_price|net_price|price", "number"),
        ("net_amount|line_total|amount|total", "number"),
    ]
    rows = [[each.name, plain(each.count), each.unit, plain(each.price), plain(each.net)] for each in bill.lines]
    if bill.parts.rated:
        columns.append(("vat_rate|tax_rate|rate", "number"))
        rows = [[*row, plain(each.rate)] for row, each in zip(rows, bill.lines, strict=True)]
    if bill.parts.article:
        columns.append(("article_number|item_number|sku|sellers_item_id", "text"))
        rows = [[*row, each.article] for row, each in zip(rows, bill.lines, strict=True)]
    note = "the invoiced items, in order"
    return Table("lines|items|positions|line_items|invoice_lines", tuple(columns), tuple(map(tuple, rows)), note)


def _tax_table(whole: Sums) -> Table:
    columns: tuple[tuple[str, Sort], ...] = (
        ("rate|vat_rate|percent", "number"),
        ("base|taxable_amount|basis", "number"),
        ("tax|tax_amount|vat", "number"),
    )
    rows = tuple((plain(rate), plain(base), plain(tax)) for rate, base, tax in whole.taxes)
    return Table("vat_breakdown|taxes|tax_rates|by_rate", columns, rows, "one for each rate of tax")
