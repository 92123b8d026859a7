"""Invoices, receipts, orders, shipping notices, product pages."""

from __future__ import annotations

from ..draft import Column, Draft, Fact, Kind, Rows, speak
from ..draw import Draw
from ..entities import address, company, email, iban, person, phone, url
from ..moments import date, time
from ..values import Form, Value, chosen, count, currency, currency_value, flag, listing, money, number, plain, text
from ..wording import code, digits, title_words, words

GOODS = "steel hinge|oak shelf|LED bulb|coffee beans|printer paper|usb cable|garden hose|wool blanket|desk lamp|water filter|hex bolt M8|cleaning kit|notebook A5|rain jacket|bike tube|olive oil|green tea|ceramic mug|wall clock|tool set|paint white|door handle|keyboard|monitor arm|office chair|cat food|batteries AA|tent peg|sourdough loaf|goat cheese|apple juice|dark chocolate|hand soap|parquet oil|copper pipe|dust mask|consulting|installation|travel costs|annual licence|design work|translation|hosting|support hours|training day|repair work|Arbeitszeit|Anfahrt|Montage|Schrauben|Dachziegel|Brötchen|Vollmilch|main d'œuvre|peinture blanche|câble électrique|pain complet|mano de obra|tornillos|aceite de oliva|pan integral"


def goods(draw: Draw) -> str:
    base = draw.pick(GOODS)
    shape = draw.rng.random()
    if shape < 0.3:
        base = f"{base} {draw.pick('large|small|XL|12 pcs|500 g|black|2.0|pro|eco|set of 4|1 l|blue|organic')}"
    elif shape < 0.45:
        base = title_words(draw, 1, 3)
    return base.capitalize() if draw.chance(0.6) else base


def _amount(draw: Draw, value: float, unit: str) -> Value:
    """A price in a table, with or without its currency."""
    value = round(value, 2)
    if draw.chance(0.5):
        written = money(draw, value, unit).written
    else:
        written = f"{value:.2f}" if draw.lang == "en" else f"{value:.2f}".replace(".", ",")
    return Value(written, (Form(plain(value), {"type": "number"}),))


def item_rows(draw: Draw, unit: str, most: int = 5) -> tuple[Rows, float]:
    """Line items with their sum."""
    cells, total = [], 0.0
    for _ in range(draw.rng.randint(1, most)):
        quantity, each = draw.rng.choice((1, 1, 2, 3, 4, 10, 25)), round(draw.rng.uniform(0.5, draw.rng.choice((5, 60, 900))), 2)
        total = round(total + quantity * each, 2)
        cells.append((text(goods(draw)), Value(str(quantity), (Form(quantity, {"type": "integer"}),)), _amount(draw, each, unit), _amount(draw, quantity * each, unit)))
    columns = (
        Column("description|item|name|product|article|bezeichnung|what", "Description|Item|Article|Product|Bezeichnung", "as written|What was sold"),
        Column("quantity|qty|count|menge|pieces", "Qty|Quantity|Menge|Pcs", "Number of units"),
        Column("unit_price|price|price_each|einzelpreis|rate", "Unit price|Price|Each|Einzelpreis", "Price of one unit"),
        Column("line_total|amount|total|sum|betrag", "Amount|Total|Sum|Betrag", "Total of the line"),
    )
    lines = "{1} x {0} @ {2} = {3}|{0}, {1} pcs at {2} each: {3}|{1}x {0} {2} {3}|{0} ({1} × {2}) {3}|{0}   {1}   {2}   {3}|{1} {0}, unit price {2}, together {3}|{0} .... {1} * {2} .... {3}"
    return Rows("items|line_items|positions|lines|products|positionen|articles", columns, tuple(cells), lines, "Items|Positions|Your order|What you get|Details|Positionen", "Lines as listed"), total


def invoice(draw: Draw) -> Draft:
    unit = currency(draw)
    table, net = item_rows(draw, unit)
    rate = draw.rng.choice((19, 20, 7, 21, 5.5, 10, 25, 0))
    tax = round(net * rate / 100, 2)
    number_words = speak(draw, en=("invoice_number|invoice_no|number|invoice_id|bill_number", "Invoice no.|Invoice number|Invoice|Invoice #|Bill no.|Number", "This is invoice {}.|Our invoice {} is attached.|Please quote {} when paying.|You will find invoice no. {} below."), de=("rechnungsnummer|rechnung_nr|invoice_number|nummer", "Rechnung Nr.|Rechnungsnummer|Rechnung|Beleg-Nr.", "Anbei unsere Rechnung {}.|Bitte geben Sie die Rechnungsnummer {} an."), fr=("numero_facture|facture|invoice_number", "Facture n°|Numéro de facture|Facture", "Voici notre facture {}.|Merci de rappeler la référence {}."), es=("numero_factura|factura|invoice_number", "Factura n.º|Número de factura|Factura", "Adjuntamos la factura {}.|Indique el número de factura {}."))
    issued = speak(draw, en=("issue_date|invoice_date|date|issued_on|dated", "Date|Invoice date|Issued|Date of issue", "It was issued on {}.|The invoice is dated {}.|We wrote it on {}."), de=("rechnungsdatum|datum|issue_date|ausgestellt_am", "Datum|Rechnungsdatum|Ausgestellt am", "Sie wurde am {} ausgestellt.|Rechnungsdatum ist der {}."), fr=("date_facture|date_emission|issue_date", "Date|Date de facture|Émise le", "Elle a été émise le {}."), es=("fecha_factura|fecha_emision|issue_date", "Fecha|Fecha de factura|Emitida el", "Se emitió el {}."))
    due = speak(draw, en=("due_date|payment_due|due|pay_by|payable_until", "Due|Due date|Payment due|Pay by|Payable until", "Please pay by {}.|Payment is due on {}.|The amount must reach us no later than {}.|You have until {} to pay."), de=("faellig_am|zahlungsziel|due_date|zahlbar_bis", "Fällig am|Zahlbar bis|Zahlungsziel", "Bitte zahlen Sie bis {}.|Der Betrag ist fällig am {}."), fr=("echeance|date_echeance|due_date", "Échéance|À payer avant le", "À régler au plus tard le {}.|L'échéance est fixée au {}."), es=("vencimiento|fecha_vencimiento|due_date", "Vencimiento|Pagar antes del", "Pague antes del {}.|Vence el {}."))
    total = speak(draw, en=("total|gross_total|total_amount|amount_due|grand_total|invoice_total", "Total|Total due|Amount due|Grand total|Gross|Total incl. VAT", "The total is {}.|Altogether this makes {}.|{} is due in all.|Please transfer {}."), de=("gesamtbetrag|brutto|total|rechnungsbetrag|summe", "Gesamtbetrag|Rechnungsbetrag|Summe|Brutto|Zu zahlen", "Der Rechnungsbetrag ist {}.|Insgesamt sind {} zu zahlen."), fr=("total_ttc|montant_total|total", "Total TTC|Montant à payer|Total", "Le total est de {}.|Merci de régler {}."), es=("total|importe_total|total_factura", "Total|Importe total|Total a pagar", "El total es {}.|Debe abonar {}."))
    facts = (
        Fact("vendor|seller|supplier|vendor_name|from_company|issuer|anbieter", company(draw), "From|Seller|Vendor|Supplier|Issued by", "{} sends you this bill.|This bill comes from {}.|{} thanks you for your business.", "Name of the issuing company|Who sends the invoice", bare=0.6, group="vendor|seller|supplier"),
        Fact("vendor_address|seller_address|address", address(draw), "Address|Our address|Seat", "Our address: {}.|We are at {}.", "Address of the vendor", bare=0.5, group="vendor|seller|supplier"),
        Fact(number_words[0], code(draw), number_words[1], number_words[2], "Invoice number|Number of the invoice", must=draw.chance(0.6)),
        Fact(issued[0], date(draw), issued[1], issued[2], "Date of the invoice|When the invoice was issued"),
        Fact(due[0], date(draw), due[1], due[2], "When payment is due|Last day to pay|null if no due date is given"),
        Fact("customer|client|buyer|bill_to|customer_name|recipient|kunde", person(draw) if draw.chance(0.5) else company(draw), "Bill to|Customer|Client|To|Kunde", "This invoice is for {}.|The customer is {}.|Billed to {}.", "Who has to pay|Name of the customer"),
        Fact("net_total|subtotal|net|net_amount|total_before_tax", money(draw, net, unit), "Subtotal|Net|Net total|Sum before tax|Zwischensumme netto|Netto", "Before tax it is {}.|The net amount is {}.", "Sum before tax|Net amount"),
        Fact("tax_total|vat|tax|vat_amount|tax_amount", money(draw, tax, unit), f"VAT {rate}%|Tax|VAT|Sales tax|MwSt. {rate} %|TVA|IVA", "Of this {} is tax.|Tax comes to {}.|VAT adds {}.", "Tax amount|VAT amount"),
        Fact(total[0], money(draw, round(net + tax, 2), unit), total[1], total[2], "Total to pay|Total including tax", must=True),
        Fact("currency|currency_code|waehrung", currency_value(draw, unit), "Currency|All amounts in|Währung", "All amounts are in {}.", "Currency of the invoice", implied=True),
        Fact("iban|bank_account|account", iban(draw), "IBAN|Bank account|Pay to", "Please transfer to {}.|Our account is {}.", "Account to pay to"),
        Fact("vat_id|tax_id|vat_number|ust_id", text(digits(draw, draw.pick("DE#########|GB### #### ##|FR## #########|ESB########|ATU########"))), "VAT ID|VAT no.|Tax ID|USt-IdNr.", "Our VAT ID is {}."),
        Fact("purchase_order|po_number|order_reference|customer_reference", code(draw), "PO|Your order|PO number|Your reference", "It refers to your order {}.|Your PO number is {}."),
    )
    return Draft(facts, "Invoice|INVOICE|Rechnung|Bill|Tax invoice|Facture|Factura", (table,), "The quote had said {money}.|Invoice {code} of {date} is settled, thank you.|Late payments cost {money}.|2% discount within 8 days.|The order was placed on {date}.|Delivered on {date}.", "for our services we charge:|please find the details of our invoice below.", "Thank you for your business.|Payable without deduction.|Vielen Dank für Ihren Auftrag.")


def receipt(draw: Draw) -> Draft:
    unit = currency(draw)
    table, total = item_rows(draw, unit, 7)
    paid = draw.rng.choice(("cash", "card", "mobile"))
    tip = round(total * draw.rng.choice((0.1, 0.15, 0.2)), 2)
    facts = (
        Fact("merchant|store|shop|store_name|business|laden|pharmacy|restaurant", company(draw), "Store|Shop|Merchant", "Thank you for shopping at {}.|Receipt from {}.", "Name of the shop as printed", bare=0.9, must=True),
        Fact("address|store_address|branch", address(draw), "Address|Branch", "Our branch: {}.", "Address of the shop", bare=0.8),
        Fact("date|purchase_date|bought_on|day", date(draw), "Date|Datum|Day", "Bought on {}.|You were here on {}.", "Day of purchase"),
        Fact("time|purchase_time|clock", time(draw), "Time|Zeit|At", "The till closed the sale at {}.", "Time of purchase"),
        Fact("receipt_number|receipt_no|transaction|bon|ticket_number", code(draw), "Receipt|Receipt no.|Trans|Bon|Slip", "Receipt {}.", "Number of the receipt"),
        Fact("cashier|served_by|clerk|operator|server", text(person(draw).written.split()[0]), "Cashier|Served by|Clerk|You were served by", "{} served you today.", "Name as printed"),
        Fact("subtotal|sum|net", money(draw, total, unit), "Subtotal|Sum|Zwischensumme", "The goods come to {}.", "Before tip"),
        Fact("tip|gratuity|trinkgeld", money(draw, tip, unit), "Tip|Gratuity|Service", "A tip of {} was added.", "Tip given"),
        Fact("total|amount_paid|grand_total|total_paid|summe", money(draw, round(total + tip, 2), unit), "TOTAL|Total|Total paid|Amount|SUMME", "You paid {}.|Total paid: {}.", "What was paid in all", must=True),
        Fact("payment_method|paid_by|payment|method|zahlungsart", chosen(draw, {"cash": "CASH|cash|Bar|in cash|coins", "card": "VISA|Mastercard|card|Debit|EC-Karte|credit card", "mobile": "Apple Pay|phone payment|Google Pay|by phone", "voucher": "gift card|voucher"}, paid), "Paid by|Payment|Tender|Zahlung", "Paid with {}.|The customer used {}.", "How it was paid"),
        Fact("card_last_four|card_digits|last4", text(digits(draw, "####"), "last four digits"), "Card ************|Card ending|XXXX-XXXX-XXXX-", "The card ends in {}."),
        Fact("loyalty_points|points|bonus_points", count(0, 900)(draw), "Points|Bonus points|Points earned", "You earned {} points.", "Points earned with this purchase"),
    )
    return Draft(facts, "RECEIPT|Receipt|Kassenbon|Thank you!|Ticket de caisse", (table,), "Returns within 14 days.|Points so far: {n}|You saved {money}.|Best before {date}.|CHANGE {money}|Old price {money}.", "", "Thank you, come again!|Please keep this receipt.")


def order(draw: Draw) -> Draft:
    unit = currency(draw)
    table, total = item_rows(draw, unit)
    shipping = draw.rng.choice((0.0, 4.9, 5.95, 12.5))
    buyer = person(draw)
    facts = (
        Fact("order_number|order_id|order|order_no|bestellnummer|number", code(draw), "Order no.|Order|Order number|Order #|Bestellnummer|Commande n°|Pedido", "We have received your order {}.|Your order {} is confirmed.|Order {} is on its way.", "Number of the order", must=True),
        Fact("order_date|placed_on|ordered_on|date|bestelldatum", date(draw), "Ordered|Order date|Placed on|Bestelldatum", "You placed it on {}.|It was ordered on {}.", "When the order was placed"),
        Fact("customer|buyer|customer_name|ordered_by|kunde", buyer, "Customer|Buyer|Ordered by|Kunde", "Thank you, {}!|The buyer is {}.", "Name of the customer", group="customer|buyer"),
        Fact("customer_email|buyer_email|email", email(draw), "E-mail|Email|Confirmation sent to", "We confirm to {}.|A copy went to {}.", "E-mail of the customer", group="customer|buyer"),
        Fact("customer_phone|phone|contact_phone", phone(draw), "Phone|Tel.|Call", "The driver will call {}.", "Phone of the customer", group="customer|buyer"),
        Fact("shipping_address|ship_to|delivery_address|lieferadresse", address(draw), "Ship to|Delivery address|Deliver to|Lieferadresse", "We deliver to {}.|It goes to {}.", "Where it is delivered"),
        Fact("billing_address|bill_to|invoice_address", address(draw), "Bill to|Billing address|Invoice address", "The bill goes to {}.", "Where the invoice goes"),
        Fact("delivery_date|expected_delivery|arrives_on|eta|liefertermin", date(draw), "Delivery|Expected delivery|Arrives|ETA|Liefertermin", "It should arrive on {}.|Delivery is planned for {}.|Expect it on {}.", "When it should arrive"),
        Fact("shipping_cost|delivery_fee|postage|versandkosten", money(draw, shipping, unit), "Shipping|Delivery|Postage|Versand", "Shipping costs {}.|We charge {} for delivery.", "Cost of delivery|0 if free"),
        Fact("subtotal|items_total|goods_total", money(draw, total, unit), "Subtotal|Goods|Items", "The goods cost {}.", "Sum of the items"),
        Fact("total|grand_total|order_total|to_pay", money(draw, round(total + shipping, 2), unit), "Total|Order total|To pay|Gesamt", "In total {}.|You pay {} in all.", "Total of the order"),
        Fact("discount_code|coupon|voucher_code|promo_code", text(digits(draw, draw.pick("@@@@##|SAVE##|@@-@@@@|WELCOME##"))), "Coupon|Code used|Voucher|Promo code", "You used the code {}.", "Code that was used"),
        Fact("gift|is_gift|gift_wrap|as_gift", flag(draw, "yes|gift wrapped|yes, with a card", "no|not a gift|no wrapping"), "Gift|Gift wrap", "Gift wrap: {}.", "Is it a gift"),
        Fact("status|order_status|state", chosen(draw, {"confirmed": "confirmed|accepted", "shipped": "shipped|sent out|on its way", "delivered": "delivered|handed over", "cancelled": "cancelled|called off", "pending": "pending|waiting for payment"}, draw.rng.choice(("confirmed", "shipped", "delivered", "cancelled", "pending"))), "Status|State", "The order is {}.|At present it is {}.", "State of the order"),
    )
    return Draft(facts, "Order confirmation|Your order|Thank you for your order|Bestellbestätigung|Order update", (table,), "Your last order was {code}.|You saved {money}.|Return it before {date}.|Free shipping from {money}.|Questions? Write to {email}.", "thank you for your order!|here is what you ordered.", "Your shop team|See you soon!")


def shipment(draw: Draw) -> Draft:
    facts = (
        Fact("tracking_number|shipment|tracking_id|consignment|sendungsnummer", code(draw), "Tracking|Tracking no.|Consignment|Shipment|Sendungsnummer", "Follow it with number {}.|Your parcel {} has left.|The tracking number is {}.", "Shipment or tracking number", must=True),
        Fact("carrier|courier|shipped_by|forwarder", company(draw), "Carrier|Courier|Shipped by|Forwarder", "{} brings it.|It travels with {}.", "Who carries it", bare=0.3),
        Fact("sender|from|shipper|absender", company(draw), "From|Sender|Shipper|Absender", "{} sent it.|The sender is {}.", "Who sent it"),
        Fact("recipient|consignee|ship_to|receiver|empfaenger", person(draw), "To|Recipient|Consignee|Empfänger", "It is for {}.|The recipient is {}.", "Who gets it"),
        Fact("delivery_address|destination|address", address(draw), "Address|Delivery address|Destination", "Deliver to {}.", "Where it goes"),
        Fact("parcels|packages|number_of_parcels|colli|pieces", count(1, 12)(draw), "Parcels|Colli|Packages|Pieces|No. of parcels", "The shipment has {} parcels.|It comes in {} packages.", "Number of parcels"),
        Fact("weight_kg|weight|gross_weight", number(0.2, 400, 1, " kg|kg| kilograms")(draw), "Weight|Gross weight|Gross", "It weighs {}.|Total weight {}.", "Total weight in kg"),
        Fact("ship_date|dispatched_on|shipped_on", date(draw), "Shipped|Dispatched|Sent on", "It left on {}.|Dispatched {}.", "When it was sent"),
        Fact("delivery_date|expected_on|arrival_date", date(draw), "Delivery|Expected|Arrival", "It arrives on {}.|Expected {}.", "When it arrives"),
        Fact("delivery_window_start|from_time", time(draw), "Earliest|From", "Not before {}.", "Earliest time of delivery"),
        Fact("signature_required|needs_signature", flag(draw, "required|yes|needed", "not required|no|not needed"), "Signature", "Signature {}.", "Must somebody sign"),
        Fact("service|service_level|shipping_method", chosen(draw, {"express": "express|overnight|next day", "standard": "standard|regular mail|normal", "freight": "freight|pallet|by lorry", "pickup": "pick-up|collect in store"}, draw.rng.choice(("express", "standard", "freight", "pickup"))), "Service|Method", "Service: {}.|It is sent {}.", "How it is sent"),
        Fact("declared_value|insured_value|value", money(draw), "Value|Declared value|Insured for", "It is insured for {}.", "Value of the goods"),
    )
    return Draft(facts, "Dispatch note|Shipping notice|Your parcel|Delivery note|Lieferschein", (), "Driver's phone: {phone}.|Returns to {company}, {city}.|A first attempt on {date} failed.|The depot opens at {time}.|Parcel {code} travels separately.", "your parcel is on its way.", "Have a nice day!")


def product(draw: Draw) -> Draft:
    unit = currency(draw)
    facts = (
        Fact("name|product_name|title|product|article", text(goods(draw).title() + draw.pick("| II| 300| Pro| Mini| X1| Classic")), "Product|Name|Article", "Meet the {}.|The {} is here.|This is the {}.", "Name of the product", bare=0.8, must=True),
        Fact("brand|manufacturer|maker|by", company(draw), "Brand|By|Manufacturer|Maker|Marke", "Made by {}.|{} makes it.|From {}.", "Who makes it"),
        Fact("sku|article_number|item_number|model_number|product_id", code(draw), "SKU|Item no.|Model|Art.-Nr.|Article no.", "Item number {}.|Order it as {}.", "Article number"),
        Fact("price|current_price|amount|preis|sale_price", money(draw, None, unit), "Price|Now|Our price|Preis|Today", "It costs {}.|Yours for {}.|Now only {}.", "Price to pay now", must=True),
        Fact("old_price|list_price|regular_price|rrp|previous_price", money(draw, None, unit), "RRP|Was|List price|Before|statt", "It used to cost {}.|The list price is {}.|Before the sale it was {}.", "Price before the reduction"),
        Fact("currency", currency_value(draw, unit), "Currency", "Prices in {}.", implied=True),
        Fact("availability|stock_status|stock", chosen(draw, {"in_stock": "in stock|available now|ready to ship|auf Lager", "out_of_stock": "sold out|out of stock|not available|ausverkauft", "preorder": "pre-order|coming soon|available for pre-order"}, draw.rng.choice(("in_stock", "out_of_stock", "preorder"))), "Availability|Stock", "It is {}.|At the moment: {}.", "Can it be bought"),
        Fact("weight_g|weight|weight_grams", number(5, 900, 0, " g|g| grams")(draw), "Weight|Net weight|Gewicht", "It weighs {}.|At {} it is light.", "Weight in grams"),
        Fact("width_cm|width", number(1, 200, 1, " cm|cm")(draw), "Width|W|Breite", "It is {} wide.", "Width in cm", group="dimensions|size"),
        Fact("height_cm|height", number(1, 200, 1, " cm|cm")(draw), "Height|H|Höhe", "It is {} high.", "Height in cm", group="dimensions|size"),
        Fact("colour|color|farbe", text(draw.pick("red|navy blue|anthracite|moss green|white|sand|black|rust|silver|ocean|ivory")), "Colour|Color|Farbe", "It comes in {}.|The colour is {}.", "Colour as written"),
        Fact("rating|stars|average_rating", number(1, 5, 1)(draw), "Rating|Stars|Customers say", "Customers give it {} stars.|Rated {} of 5.", "Average rating"),
        Fact("reviews|review_count|number_of_reviews", count(2, 3000)(draw), "Reviews|Ratings", "Based on {} reviews.|{} people reviewed it.", "Number of reviews"),
        Fact("warranty_years|guarantee_years", count(1, 10, "years|year")(draw), "Warranty|Guarantee", "Comes with {} of warranty.|The guarantee lasts {}.", "Years of warranty"),
        Fact("features|highlights|materials", listing(draw, [words(draw, 1, 3) for _ in range(draw.rng.randint(1, 4))]), "Features|Highlights", "Highlights: {}.", "Features in order"),
        Fact("url|link|product_page", url(draw), "Link|More|Web", "See {}.", "Page of the product"),
        Fact("ean|gtin|barcode", text(digits(draw, "#############")), "EAN|GTIN|Barcode", "EAN {}."),
    )
    return Draft(facts, "{title}|New in shop|Product data sheet|Catalogue", (), "Accessories from {money}.|Compare with the model {code} for {money}.|Launched {date}.|Bulk price from 10 pieces: {money}.", "a customer favourite.", "While stocks last.")


KINDS = (
    Kind("invoice", invoice, ("en", "en", "en", "de", "de", "fr", "es"), 1.6),
    Kind("receipt", receipt, ("en", "en", "en", "de"), 1.3),
    Kind("order", order, ("en", "en", "de"), 1.3),
    Kind("shipment", shipment),
    Kind("product", product, ("en", "en", "de")),
)
