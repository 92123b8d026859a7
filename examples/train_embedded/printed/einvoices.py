"""Invoices with all that an electronic invoice has, printed: parties, many lines, several rates of tax, terms of payment.

Sums are right: lines, allowances and charges make the base of each rate, and taxes and prepayments the amount due. Names are
those of the terms of EN 16931 as programs print them, in English, German and French.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from ..draw import Draw
from ..entities import city_name, company_name, person_name, phone, street_name
from ..numerals import amount_text, date_text
from ..pools import places
from ..real.records import Record, Sort, Stated, Table
from ..values import iso_day, plain
from ..wording import digits, title_words
from .bill_lines import Totals

_WORDS = {
    "en": {
        "title": "Invoice|INVOICE|Tax invoice|Commercial invoice", "number": "Invoice number|Invoice no.|Document no.", "date": "Invoice date|Issue date|Date", "due": "Due date|Payment due date", "delivery": "Delivery date|Actual delivery date|Date of supply", "order": "Purchase order|Order reference|Your order", "reference": "Buyer reference|Your reference", "seller": "Seller|Supplier|From", "buyer": "Buyer|Bill to|Invoiced to|Customer", "net": "Sum of line net amounts|Total of lines|Net total|Subtotal", "base": "Total without VAT|Tax basis total|Total before tax", "tax": "VAT total|Total VAT|Tax total", "gross": "Total with VAT|Invoice total|Gross total|Grand total", "prepaid": "Paid amount|Prepaid", "open": "Amount due for payment|Amount due|Payable", "rate": "VAT {r}% on {b}: {t}|{r}%  {b}  {t}|Standard rate {r} %, taxable {b}, tax {t}", "allow": "Allowance: volume discount|Discount|Less bonus", "charge": "Charge: freight|Shipping|Packaging", "terms": "Payment within {n} days without deduction.|Net {n} days.|Payable within {n} days, 2% discount within 10 days.", "head": "Pos|Article|Description|Quantity|Unit price|VAT|Net amount", "units": "pcs|kg|h|m|box|C62|HUR|pair", "unit": "Currency|Document currency|All amounts in",
    },
    "de": {
        "title": "Rechnung|RECHNUNG|Handelsrechnung", "number": "Rechnungsnummer|Rechnungs-Nr.|Rechnung Nr.|Belegnummer", "date": "Rechnungsdatum|Datum|Belegdatum", "due": "Fälligkeitsdatum|Fällig am|Zahlbar bis", "delivery": "Lieferdatum|Leistungsdatum|Tatsächlicher Lieferungszeitpunkt", "order": "Bestellnummer|Ihre Bestellung|Auftragsnummer", "reference": "Käuferreferenz|Leitweg-ID|Ihr Zeichen", "seller": "Verkäufer|Lieferant|Rechnungssteller", "buyer": "Käufer|Rechnungsempfänger|Kunde|Rechnung an", "net": "Summe der Positionen|Positionssumme|Warenwert|Zwischensumme", "base": "Gesamtsumme ohne USt.|Steuerbasisbetrag|Nettobetrag|Summe netto", "tax": "Summe Umsatzsteuer|Steuergesamtbetrag|USt. gesamt|MwSt. gesamt", "gross": "Gesamtsumme inkl. USt.|Bruttosumme|Rechnungsbetrag|Gesamtbetrag brutto", "prepaid": "Bereits gezahlt|Anzahlung|Vorauszahlung", "open": "Fälliger Betrag|Zahlbetrag|Offener Betrag", "rate": "USt. {r} % auf {b}: {t}|{r}%  {b}  {t}|MwSt. {r} % von {b} = {t}", "allow": "Abschlag: Mengenrabatt|Rabatt|Nachlass", "charge": "Zuschlag: Fracht|Versandkosten|Verpackung", "terms": "Zahlbar innerhalb von {n} Tagen ohne Abzug.|Zahlungsziel {n} Tage netto.|Bei Zahlung innerhalb von 10 Tagen 2 % Skonto, {n} Tage netto.", "head": "Pos.|Art.-Nr.|Bezeichnung|Menge|Einzelpreis|USt.|Betrag netto", "units": "Stk.|kg|Std.|m|Karton|Stück|C62|Paar", "unit": "Währung|Alle Beträge in",
    },
    "fr": {
        "title": "Facture|FACTURE", "number": "Facture n°|Numéro de facture|N° de facture", "date": "Date de facture|Date d'émission|Date", "due": "Échéance|Date d'échéance", "delivery": "Date de livraison|Livré le", "order": "Bon de commande|Commande n°|Votre commande", "reference": "Référence acheteur|Votre référence", "seller": "Vendeur|Fournisseur", "buyer": "Acheteur|Client|Facturé à", "net": "Total des lignes|Sous-total|Montant des lignes", "base": "Total HT|Montant hors taxe|Base HT", "tax": "Total TVA|Montant de la TVA", "gross": "Total TTC|Montant TTC", "prepaid": "Acompte versé|Déjà réglé", "open": "Net à payer|Reste à payer", "rate": "TVA {r} % sur {b} : {t}|{r}%  {b}  {t}", "allow": "Remise|Rabais sur quantité", "charge": "Frais de port|Emballage", "terms": "Paiement à {n} jours.|Payable sous {n} jours, sans escompte.", "head": "N°|Réf.|Désignation|Quantité|Prix unitaire|TVA|Montant HT", "units": "pce|kg|h|m|carton|U", "unit": "Devise|Montants en",
    },
}  # fmt: skip
_RATES = {"en": (20.0, 5.0, 0.0), "de": (19.0, 7.0, 0.0), "fr": (20.0, 10.0, 5.5)}


@dataclass(frozen=True)
class Line:
    """One line of an invoice."""

    name: str
    count: float
    price: float
    rate: float

    @property
    def net(self) -> float:
        return round(self.count * self.price, 2)


@dataclass(frozen=True)
class Sums(Totals):
    """What an invoice adds up to; `taxes` has rate, base and tax of each rate, `change` is a discount below 0 or a charge."""

    lines: float
    change: float
    taxes: tuple[tuple[float, float, float], ...]
    prepaid: float

    @property
    def base(self) -> float:
        return round(self.lines + self.change, 2)


def _lines(draw: Draw) -> list[Line]:
    rng = draw.rng
    rates = rng.sample(_RATES[draw.lang], rng.choice((1, 1, 2, 2, 3)))
    return [
        Line(
            title_words(draw, 1, 4),
            rng.choice((1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0, 20.0, 24.0, 50.0, 0.5, 1.5, 2.25)),
            round(rng.uniform(0.5, rng.choice((9, 60, 400, 2000))), 2),
            rng.choice(rates),
        )
        for _ in range(rng.choice((1, 2, 3, 4, 5, 6, 8, 10, 12, 15)))
    ]


def _sums(draw: Draw, lines: list[Line]) -> Sums:
    """The sums of the lines; a discount or a charge goes to the rate of the first line."""
    net = round(sum(line.net for line in lines), 2)
    change = draw.rng.choice((0.0, 0.0, 0.0, 1.0, -1.0)) * round(net * draw.rng.choice((0.02, 0.03, 0.05, 0.1)), 2)
    taxes = []
    for rate in sorted({line.rate for line in lines}, reverse=True):
        base = sum(line.net for line in lines if line.rate == rate) + (change if rate == lines[0].rate else 0)
        taxes.append((rate, round(base, 2), round(base * rate / 100, 2)))
    sums = Sums(net, change, tuple(taxes), 0.0)
    prepaid = round(sums.gross * draw.rng.choice((0.2, 0.5)), 2) if draw.chance(0.15) else 0.0
    return Sums(net, change, tuple(taxes), prepaid)


def _party(draw: Draw, name: str, label: str) -> list[str]:
    """A block of a party: name first, with its address and numbers; the label stands above or before the name."""
    town = f"{draw.pick(places(draw.lang).zip)} {city_name(draw)}"
    extra = [
        f"{draw.pick('VAT ID|USt-IdNr.|N° TVA' if draw.lang != 'en' else 'VAT ID|VAT no.|Tax ID')}: {digits(draw, draw.pick('DE#########|GB#########|FR###########|ATU########'))}",
        f"{draw.pick('Tel.|Phone|Tél.')} {phone(draw).written}",
        f"{draw.pick('Contact|Attn.|z. Hd.')}: {person_name(draw)}",
        f"GLN {digits(draw, '#############')}",
    ]
    own = [name, *draw.rng.sample(extra[2:3], draw.rng.randint(0, 1)), street_name(draw), town]
    lines = own + draw.rng.sample([extra[0], extra[1], extra[3]], draw.rng.randint(0, 2))
    if not label:
        return lines
    return [label, *lines] if draw.chance(0.6) else [f"{label}: {name}", *lines[1:]]


def _table(draw: Draw, lines: list[Line], words: dict[str, str], unit: str) -> list[str]:
    """The lines of the table: a row each, a cell each, or a row with a description below it."""
    shape, glue = draw.rng.randrange(4), draw.rng.choice((" ", "  ", "   ", "\t", " | "))
    found = [("\n" if shape == 1 else glue).join(words["head"].split("|"))]
    coded, dear = draw.chance(0.5), draw.pick(f"||| {unit}")
    for number, line in enumerate(lines, 1):
        rate = f"{amount_text(draw, line.rate, fixed=False)}{draw.pick('%| %')}"
        count = f"{amount_text(draw, line.count, fixed=False)} {draw.pick(words['units'])}"
        code = [digits(draw, draw.pick("@@###|######|@-####|#############"))] if coded else []
        cells = [str(number), *code, line.name, count, amount_text(draw, line.price, fixed=True), rate, amount_text(draw, line.net, fixed=True) + dear]  # fmt: skip
        found.append(("\n" if shape == 1 else glue).join(cells))
        if shape == 2 and draw.chance(0.5):
            found.append(f"    {draw.pick('GTIN|EAN|Charge|Lot')}: {digits(draw, '#############')}")
    return found


def _footer(draw: Draw, sums: Sums, words: dict[str, str], unit: str) -> list[str]:
    """The sums, from the lines to the amount due."""
    dear = draw.pick(f"| {unit}| {unit}|")
    colon = draw.rng.choice((": ", "  ", "\n"))

    def money(value: float) -> str:
        return amount_text(draw, value, fixed=True) + dear

    rows = [f"{draw.pick(words['net'])}{colon}{money(sums.lines)}"] if sums.change or draw.chance(0.4) else []
    if sums.change:
        label = draw.pick(words["allow" if sums.change < 0 else "charge"])
        rows.append(f"{label}{colon}{'-' if sums.change < 0 else ''}{money(abs(sums.change))}")
    rows.append(f"{draw.pick(words['base'])}{colon}{money(sums.base)}")
    form = draw.pick(words["rate"])
    for rate, base, tax in sums.taxes:
        rate_text = amount_text(draw, rate, fixed=False)
        rows.append(form.replace("{r}", rate_text).replace("{b}", money(base)).replace("{t}", money(tax)))
    rows += [
        f"{draw.pick(words['tax'])}{colon}{money(sums.tax)}",
        f"{draw.pick(words['gross'])}{colon}{money(sums.gross)}",
    ]
    if sums.prepaid:
        rows.append(f"{draw.pick(words['prepaid'])}{colon}{money(sums.prepaid)}")
    if sums.prepaid or draw.chance(0.3):
        rows.append(f"{draw.pick(words['open'])}{colon}{money(sums.due)}")
    return rows


def einvoice(draw: Draw, pieces: list[str]) -> Record:
    """An invoice of a firm to a firm."""
    rng = draw.rng
    draw = Draw(rng, draw.split, draw.lang if draw.lang in _WORDS else "en")
    words = _WORDS[draw.lang]
    unit = rng.choice(("EUR", "EUR", "GBP", "USD")) if draw.lang == "en" else rng.choice(("EUR", "EUR", "EUR", "CHF"))
    lines = _lines(draw)
    sums = _sums(draw, lines)
    seller, buyer = company_name(draw), company_name(draw)
    day, days = iso_day(draw), rng.choice((7, 14, 30, 60))
    due, delivery = day + datetime.timedelta(days=days), day - datetime.timedelta(days=rng.randint(1, 20))
    number = digits(
        draw, draw.pick("######|RE-20##-####|20##/####|R-#####|INV-#####|@@-20##-###|##########|F20##-####")
    )
    order, reference = digits(draw, draw.pick("B-#####|45########|PO-####|20##-####")), digits(draw, draw.pick("#####-####-##|@@-###|04011000-#####-##"))  # fmt: skip
    told = {name: draw.chance(0.55) for name in ("due", "delivery", "order", "reference", "iban", "terms")}
    pairs = [(draw.pick(words["number"]), number), (draw.pick(words["date"]), date_text(draw, day))]
    pairs += [(draw.pick(words["due"]), date_text(draw, due))] if told["due"] else []
    pairs += [(draw.pick(words["delivery"]), date_text(draw, delivery))] if told["delivery"] else []
    pairs += [(draw.pick(words["order"]), order)] if told["order"] else []
    pairs += [(draw.pick(words["reference"]), reference)] if told["reference"] else []
    rng.shuffle(pairs)
    glue = rng.choice((": ", " ", "\n", ":  "))
    iban = digits(draw, "DE## #### #### #### #### ##")
    foot = [draw.pick(words["terms"]).replace("{n}", str(days))] if told["terms"] else []
    foot += [f"IBAN: {iban}{digits(draw, draw.pick('| BIC: @@@@DE##'))}"] if told["iban"] else []
    blocks = [
        _party(draw, seller, draw.pick(words["seller"]) if draw.chance(0.5) else ""),
        _party(draw, buyer, draw.pick(words["buyer"])),
        [draw.pick(words["title"]), *(f"{label}{glue}{value}" for label, value in pairs)],
    ]
    if draw.chance(0.3):
        blocks.insert(0, blocks.pop())
    note = [f"{draw.pick(words['unit'])}: {unit}"] if draw.chance(0.6) else []
    table, footer = _table(draw, lines, words, unit), _footer(draw, sums, words, unit)
    parts = [line for block in (*blocks, note, table, footer, foot) for line in block]
    text = "\n".join(parts)
    return Record("e-invoice", text, (
        Stated("invoice_number|number|document_number|invoice_no", number, notes="as printed"),
        Stated("issue_date|invoice_date|date|issued_on", day.isoformat(), "date"),
        Stated("due_date|payable_by|due", due.isoformat() if told["due"] else None, "date", "null if no day is given"),
        Stated("delivery_date|supply_date|delivered_on", delivery.isoformat() if told["delivery"] else None, "date"),
        Stated("seller|supplier|vendor|seller_name|issuer", seller, notes="name of the company that issued the invoice|name of the seller"),
        Stated("buyer|customer|buyer_name|bill_to", buyer, notes="name of the customer"),
        Stated("order_number|purchase_order|order_reference", order if told["order"] else None),
        Stated("buyer_reference|your_reference", reference if told["reference"] else None),
        Stated("net_total|total_without_vat|tax_basis|net_amount", plain(sums.base), "number", "total before VAT|after allowances and charges, before tax"),
        Stated("vat_total|tax_total|total_vat|tax_amount", plain(sums.tax), "number", "VAT of the whole invoice|sum over all rates"),
        Stated("gross_total|total_with_vat|invoice_total|grand_total", plain(sums.gross), "number", "total with VAT|before prepayments"),
        Stated("prepaid|paid_amount|already_paid", plain(sums.prepaid) if sums.prepaid else None, "number", "null if nothing was paid before"),
        Stated("currency|currency_code", unit if unit in text else None, "enum", "", ("EUR", "USD", "GBP", "CHF")),
        Stated("iban|account", iban if told["iban"] else None, notes="as printed"),
    ), (_line_table(lines), _tax_table(sums)))  # fmt: skip


def _line_table(lines: list[Line]) -> Table:
    columns: tuple[tuple[str, Sort], ...] = (
        ("item|name|description|product", "text"),
        ("quantity|qty|count", "number"),
        ("unit_price|net_price|price", "number"),
        ("vat_rate|tax_rate|rate", "number"),
        ("net_amount|line_total|amount|total", "number"),
    )
    rows = tuple((each.name, plain(each.count), plain(each.price), plain(each.rate), plain(each.net)) for each in lines)
    return Table("lines|items|positions|line_items|invoice_lines", columns, rows, "the invoiced items, in order")


def _tax_table(sums: Sums) -> Table:
    columns: tuple[tuple[str, Sort], ...] = (
        ("rate|vat_rate|percent", "number"),
        ("base|taxable_amount|basis", "number"),
        ("tax|tax_amount|vat", "number"),
    )
    rows = tuple((plain(rate), plain(base), plain(tax)) for rate, base, tax in sums.taxes)
    return Table("vat_breakdown|taxes|tax_rates|by_rate", columns, rows, "one for each rate of tax, in order")
