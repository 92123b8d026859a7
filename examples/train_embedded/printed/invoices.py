"""Invoices as the text layer of a PDF gives them: labels and values apart, cells on lines of their own."""

from __future__ import annotations

import datetime

from ..draw import Draw
from ..entities import city_name, company_name, person_name, street_name
from ..numerals import amount_text, date_text
from ..pools import places
from ..real.records import Record, Sort, Stated, Table
from ..values import currency, iso_day, plain
from ..wording import digits, title_words

_WORDS = {
    "en": ("Invoice|Tax Invoice|INVOICE", "Invoice No.|Invoice number|Document no.|Invoice #", "Date|Invoice date|Date of issue", "Due date|Payable by|Due", "Customer no.|Customer ID", "Order no.|Your order|PO", "Net amount|Subtotal|Net total|Total net|Sum of lines", "VAT|Sales tax|Tax", "Total|Gross amount|Amount due|Invoice total|Total incl. VAT", "Pos|Item|Description|Qty|Unit price|Amount", "Bill to|Customer|Buyer|Invoice to"),
    "de": ("Rechnung|RECHNUNG|Handelsrechnung", "Rechnungsnummer|Rechnungs-Nr.|Rechnung Nr.|Belegnummer", "Datum|Rechnungsdatum|Belegdatum", "Fällig am|Zahlbar bis|Fälligkeit", "Kundennummer|Kunden-Nr.", "Bestellnummer|Auftrag|Bestellung", "Nettobetrag|Summe netto|Zwischensumme|Warenwert netto|Positionssumme", "MwSt.|USt.|Umsatzsteuer|Mehrwertsteuer", "Gesamtbetrag|Bruttobetrag|Rechnungsbetrag|Gesamt brutto|Zahlbetrag", "Pos.|Bezeichnung|Artikel|Menge|Einzelpreis|Gesamtpreis", "Rechnungsempfänger|Käufer|Kunde|An"),
    "fr": ("Facture|FACTURE", "Facture n°|Numéro de facture|N°", "Date|Date de facture|Date d'émission", "Échéance|Payable avant le", "N° client|Client n°", "Commande|Votre commande", "Total HT|Montant HT|Total net HT", "TVA|Montant TVA", "Total TTC|Montant TTC|Net à payer", "Réf.|Désignation|Quantité|Prix unitaire|Montant HT|Total", "Client|Facturé à|Acheteur"),
    "es": ("Factura|FACTURA", "Factura nº|Número de factura", "Fecha|Fecha de emisión", "Vencimiento|Pagar antes del", "Cliente nº", "Pedido|Su pedido", "Base imponible|Importe neto|Subtotal", "IVA|Cuota IVA", "Total|Importe total|Total factura", "Pos.|Descripción|Cantidad|Precio|Importe", "Cliente|Facturar a"),
}  # fmt: skip


def _party(draw: Draw, name: str) -> list[str]:
    town = f"{draw.pick(places(draw.lang).zip)} {city_name(draw)}"
    return [name, *([person_name(draw)] if draw.chance(0.2) else []), street_name(draw), town]


def _pairs(draw: Draw, pairs: list[tuple[str, str]]) -> str:
    """Labels with their values, side by side or all labels before all values."""
    shape = draw.rng.randrange(6)
    if shape == 0:
        return "\n".join((*(label for label, _ in pairs), *(value for _, value in pairs)))
    if shape == 1:
        return "\n".join(f"{label}\n{value}" for label, value in pairs)
    if shape == 2:
        return "   ".join(f"{label}: {value}" for label, value in pairs)
    if shape == 3:
        return "  ".join(label for label, _ in pairs) + "\n" + "  ".join(value for _, value in pairs)
    glue = draw.rng.choice((": ", " ", ":  ", "   "))
    return "\n".join(f"{label}{glue}{value}" for label, value in pairs)


def _items(draw: Draw, unit: str) -> tuple[str, list[tuple[str, float, float, float]]]:
    """The table as text, and its rows: name, quantity, price of one, amount."""
    shape = draw.rng.randrange(5)
    head = [draw.pick(_WORDS[draw.lang][9]) for _ in range(draw.rng.randint(3, 5))]
    blocks, rows = ["\n".join(dict.fromkeys(head)) if shape < 2 else " ".join(dict.fromkeys(head))], []
    for index in range(1, draw.rng.choice((1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10)) + 1):
        name = title_words(draw, 1, 4)
        number = draw.rng.choice((1.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 1.5, 0.5, 12.0))
        price = round(draw.rng.uniform(1, draw.rng.choice((20, 200, 900))), 2)
        amount = round(number * price, 2)
        count = f"{amount_text(draw, number, fixed=False)}{draw.pick('|| Stk.| pcs| h| kg| Stück|')}"
        cost, sums = (
            amount_text(draw, price, fixed=True),
            amount_text(draw, amount, fixed=True) + draw.pick(f"||| {unit}"),
        )
        rate = draw.pick("||19 %|7%|20,00 %")
        article = digits(draw, draw.pick("#########|@@-####|####|@#####")) if draw.chance(0.5) else ""
        cells = [cell for cell in (str(index), article, name, count, cost, rate, sums) if cell]
        glue = {0: "\n", 1: "\n", 2: " ", 3: "  ", 4: "\t"}[shape]
        blocks.append(glue.join(cells))
        rows.append((name, number, price, amount))
    return "\n".join(blocks), rows


def invoice(draw: Draw, pieces: list[str]) -> Record:
    unit = currency(draw)
    words = [draw.pick(each) for each in _WORDS[draw.lang]]
    seller, buyer = company_name(draw), (company_name(draw) if draw.chance(0.75) else person_name(draw))
    table, rows = _items(draw, unit)
    net = round(sum(row[3] for row in rows), 2)
    rate = draw.rng.choice((0, 5.5, 7, 10, 19, 19, 20, 21))
    tax = round(net * rate / 100, 2)
    total = round(net + tax, 2)
    day = iso_day(draw)
    due = day + datetime.timedelta(days=draw.rng.choice((10, 14, 30, 60))) if draw.chance(0.5) else None
    number, order = (
        digits(draw, draw.pick("######|RE-####-###|20##/####|@@####|R#######|INV-#####|471###")),
        digits(draw, draw.pick("B#####|20##-######|@@-###|########")),
    )

    def money(value: float) -> str:
        return amount_text(draw, value, fixed=True) + draw.pick(
            f"|| {unit}| {unit}| €" if unit == "EUR" else f"|| {unit}"
        )

    pairs = [(words[1], number), (words[2], date_text(draw, day)), (words[4], digits(draw, "######"))]
    pairs += [(words[3], date_text(draw, due))] if due else []
    has_order = draw.chance(0.5)
    pairs += [(words[5], order)] if has_order else []
    draw.rng.shuffle(pairs)
    sums = [
        (words[6], money(net)),
        (f"{words[7]} {amount_text(draw, rate, fixed=False)}%" if rate else f"{words[7]} 0%", money(tax)),
        (words[8], money(total)),
    ]
    head = _party(draw, seller)
    sender = "\n".join(head) if draw.chance(0.6) else f"{' · '.join(head)}" if draw.chance(0.5) else ""
    foot = (
        f"{seller}\n{draw.pick('IBAN|Konto|Bank')}: {digits(draw, 'DE## #### #### #### #### ##')}\n{draw.pick('VAT ID|USt-IdNr.|Tax no.')} {digits(draw, 'DE#########')}"
        if not sender or draw.chance(0.6)
        else ""
    )
    client = "\n".join((*([words[10]] if draw.chance(0.5) else []), *_party(draw, buyer)))
    blocks = [sender, client, words[0], _pairs(draw, pairs)]
    if draw.chance(0.3):
        draw.rng.shuffle(blocks)
    told = draw.chance(0.85)
    note = f"{draw.pick('Currency|Währung|All amounts in|Devise')}: {unit}" if draw.chance(0.4) else ""
    shows_unit = unit in (
        text := "\n".join(
            part
            for part in (
                *blocks,
                note,
                table,
                _pairs(draw, sums) if told else "",
                foot,
                draw.pick("|Page 1 of 1|Seite 1 von 2|Thank you for your order."),
            )
            if part
        )
    ) or (unit == "EUR" and "€" in text)
    facts = (
        Stated("invoice_number|number|document_number|invoice_no", number),
        Stated("issue_date|invoice_date|date|issued_on", day.isoformat(), "date"),
        Stated("due_date|payable_by|due", due.isoformat() if due else None, "date", "null if none is given"),
        Stated("seller|vendor|supplier|issuer|from_company", seller if sender or foot else None, notes="company that issued the invoice|name of the seller"),
        Stated("buyer|customer|client|bill_to", buyer, notes="name of the customer|who has to pay"),
        Stated("order_number|purchase_order|po_number", order if has_order else None),
        Stated("net_total|subtotal|net_amount|total_net", plain(net) if told else None, "number", "total before VAT|sum without tax"),
        Stated("vat_total|tax_total|vat|tax_amount", plain(tax) if told else None, "number", "sum of the tax"),
        Stated("gross_total|total|amount_due|grand_total", plain(total) if told else None, "number", "total to pay, tax included"),
        Stated("currency|currency_code", unit if shows_unit else None, notes="ISO 4217"),
    )  # fmt: skip
    columns: tuple[tuple[str, Sort], ...] = (
        ("item|name|description|product|article", "text"),
        ("quantity|qty|count", "number"),
        ("unit_price|price|price_each", "number"),
        ("net_amount|amount|line_total|total", "number"),
    )
    cells = tuple((name, plain(count), plain(price), plain(amount)) for name, count, price, amount in rows)
    return Record(
        "pdf-invoice",
        text,
        facts,
        (Table("lines|items|positions|line_items", columns, cells, "the invoiced items|in the order of the document"),),
    )
