"""Receipts as tills print them: no labels at the top, narrow columns, sums after sums."""

from __future__ import annotations

import datetime

from ..draw import Draw
from ..entities import city_name, company_name, given_name, phone, street_name
from ..pools import places
from ..real.records import Record, Stated, Table
from ..values import iso_day, plain
from ..wording import digits, words

_TOTALS = "TOTAL|TOTAL AMOUNT|GRAND TOTAL|NET TOTAL|TOTAL SALES (INCLUSIVE GST)|TOTAL INCL. TAX|AMOUNT DUE|TOTAL DUE|TOTAL AMT PAYABLE|ROUNDED TOTAL|Total (RM)|BALANCE DUE|ZU ZAHLEN|SUMME|TOTAL TTC|TOTAL A PAGAR"


def _day(day: datetime.date, draw: Draw) -> str:
    shape = draw.pick("%d/%m/%Y|%d/%m/%Y|%d-%m-%Y|%d.%m.%Y|%d/%m/%y|%d %b %Y|%d-%b-%Y|%Y-%m-%d|%d%b%y")
    return day.strftime(shape)


def _money(value: float, draw: Draw) -> str:
    return f"{value:,.2f}" if draw.chance(0.8) else f"{value:.2f}"


def _header(draw: Draw) -> tuple[list[str], str, str]:
    """The first lines, the shop's name and its address in one line each."""
    name = company_name(draw)
    parts = name.split()
    cut = draw.rng.randint(1, len(parts) - 1) if len(parts) > 2 and draw.chance(0.3) else len(parts)
    lines = [" ".join(parts[:cut]), " ".join(parts[cut:])]
    if draw.chance(0.4):
        lines.append(
            draw.pick("(Reg. No. {})|CO. REG NO : {}|({})|Company No. {}").replace(
                "{}", digits(draw, draw.pick("######-@|###-@@|#########|######-#"))
            )
        )
    first = draw.pick("|||No. {},|Lot {},|Unit {},").replace("{}", digits(draw, draw.pick("##|#-#|##@|G-##"))).strip()
    place = [" ".join(part for part in (first, street_name(draw)) if part) + draw.pick("|,")]
    if draw.chance(0.5):
        place.append(words(draw, 1, 3).title() + draw.pick("|,"))
    place.append(f"{draw.pick(places(draw.lang).zip)} {city_name(draw)}{draw.pick('|.|,')}")
    if draw.chance(0.3):
        place.append(city_name(draw) + draw.pick("|."))
    return [line for line in (*lines, *place) if line], name, " ".join(place)


def _goods(draw: Draw) -> tuple[list[str], list[tuple[str, int, float, float]]]:
    """Lines of the items, and the items: name, count, price of one, amount."""
    shape, lines, items = draw.rng.randrange(5), [], []
    tax = draw.pick("|| SR| S| T| A| *")
    for _ in range(draw.rng.choice((1, 1, 2, 2, 3, 4, 5, 7, 9))):
        name, number = words(draw, 1, 4).title(), draw.rng.choice((1, 1, 1, 2, 3, 6, 10))
        price = round(draw.rng.uniform(0.5, draw.rng.choice((9, 30, 120))), 2)
        amount = round(number * price, 2)
        code = digits(draw, draw.pick("####|#########|@###|#############"))
        lines += {
            0: [name, f"{number} x {price:.2f}    {amount:.2f}{tax}"],
            1: [f"{number} {name} {amount:.2f}{tax}"],
            2: [f"{code} {name}", f"{number}.00 X {price:.2f} {amount:.2f}{tax}"],
            3: [name, str(number), f"{price:.2f}", f"{amount:.2f}{tax}"],
            4: [f"{name:<28}{number:>3} {price:>8.2f} {amount:>9.2f}{tax}"],
        }[shape]
        items.append((name, number, price, amount))
    return lines, items


def till(draw: Draw, pieces: list[str]) -> Record:
    rng = draw.rng
    head, name, place = _header(draw)
    lines, items = _goods(draw)
    goods = round(sum(amount for *_, amount in items), 2)
    rate = rng.choice((0, 0, 6, 7, 10, 19, 20))
    tax = round(goods * rate / 100, 2)
    total = round(goods + tax, 2)
    cash = rng.choice((total, float(int(total / 10 + 1) * 10), float(int(total / 50 + 1) * 50)))
    day, clock = iso_day(draw), f"{rng.randint(7, 22):02}:{rng.randint(0, 59):02}"
    number, clerk = digits(draw, draw.pick("######|CS#####|@@-####-##|####/##/#####|@#########")), given_name(draw)
    call = phone(draw).written if draw.chance(0.5) else None
    shown = {key: draw.chance(0.6) for key in ("number", "clerk", "clock", "subtotal", "cash")}
    colon = draw.pick(": | : |:| ")
    sums = (
        [f"{draw.pick('SUBTOTAL|SUB TOTAL|Sub-Total|TOTAL EXCL. TAX')}{colon}{_money(goods, draw)}"]
        if shown["subtotal"]
        else []
    )
    if rate:
        sums.append(f"{draw.pick('GST|TAX|VAT|SALES TAX|MWST')} {rate}%{colon}{_money(tax, draw)}")
    sums.append(
        f"{draw.pick(_TOTALS)}{draw.rng.choice((colon, colon, chr(10)))}{draw.pick('|||$|RM|€')}{_money(total, draw)}"
    )
    if shown["cash"]:
        sums += [
            f"{draw.pick('CASH|PAID|TENDERED|VISA|PAYMENT')}{colon}{_money(cash, draw)}",
            f"{draw.pick('CHANGE|CHANGE DUE|BALANCE')}{colon}{_money(cash - total, draw)}",
        ]
    info = (
        [f"{draw.pick('Invoice No|RECEIPT #|Bill No.|Doc No|TRN|Bon-Nr.|Slip')}{colon}{number}"]
        if shown["number"]
        else []
    )
    info.append(draw.pick("Date: |DATE : |Date |||") + _day(day, draw) + (f" {clock}" if shown["clock"] else ""))
    info += [f"{draw.pick('Cashier|CASHIER|Served by|Operator')}{colon}{clerk}"] if shown["clerk"] else []
    rng.shuffle(info)
    title = draw.pick("TAX INVOICE|RECEIPT|CASH BILL|CASH RECEIPT|*** COPY ***|||")
    counted = [f"{draw.pick('Item(s)|TOTAL ITEMS|No. of items')}{colon}{len(items)}"] if draw.chance(0.3) else []
    parts = [
        *head,
        *([f"{draw.pick('TEL|Tel|Phone')}{colon}{call}"] if call else []),
        title,
        *info,
        *lines,
        *counted,
        *sums,
    ]
    parts += [
        draw.pick("THANK YOU|Goods sold are not returnable|Thank you, please come again|Have a nice day|*****"),
        draw.pick("|Exchange within 7 days with receipt"),
    ]
    text = "\n".join(part for part in parts if part)
    facts = (
        Stated("company|store|merchant|shop|vendor|store_name|seller", name, notes="as printed|who issued the receipt|name of the shop"),
        Stated("address|store_address|location|shop_address", place, notes="its lines joined by a space|as printed, in one line"),
        Stated("date|purchase_date|transaction_date|day", day.isoformat(), "date", "day of purchase"),
        Stated("total|total_amount|grand_total|amount_due|to_pay", plain(total), "number", "amount to pay, taxes included|what was to pay"),
        Stated("subtotal|net|before_tax", plain(goods) if shown["subtotal"] else None, "number"),
        Stated("tax|tax_amount|gst|vat", plain(tax) if rate else None, "number", "null if none is printed"),
        Stated("time|purchase_time", clock if shown["clock"] else None, notes="HH:MM"),
        Stated("receipt_number|invoice_number|bill_no|document_number", number if shown["number"] else None, notes="as printed"),
        Stated("cashier|served_by|operator", clerk if shown["clerk"] else None),
        Stated("cash|paid|tendered|amount_paid", plain(cash) if shown["cash"] else None, "number", "what the customer gave"),
        Stated("change|change_due", plain(round(cash - total, 2)) if shown["cash"] else None, "number"),
        Stated("phone|telephone|tel", call),
        Stated("email|e_mail|website", None),
    )  # fmt: skip
    columns = (
        ("name|item|description|product|article", "text"),
        ("quantity|qty|count", "number"),
        ("unit_price|price|price_each", "number"),
        ("amount|line_total|total|sum", "number"),
    )
    rows = tuple((item, count, plain(price), plain(amount)) for item, count, price, amount in items)
    return Record("till", text, facts, (Table("items|lines|goods|products|articles|positions", columns, rows),))  # type: ignore[arg-type]
