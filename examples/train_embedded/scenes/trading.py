"""Scenes: invoices, receipts, payments, product pages, references to literature, and readings of instruments."""

from .scene import Scene

SCENES = (
    Scene(
        "invoice",
        """
[{seller:company}][ — {:words print and post/joinery/gardening/translations/IT services/catering/electrical work}|]
[{selleraddr:address}|{:street}][          VAT [reg |no. |]{vatid:code GB ### #### ##|DE#########|FR## #########|IE#######@}|]

[INVOICE|Invoice|TAX INVOICE|Bill]  [No.|#|Number:|no] {no:code @@-#####|20##/####|@@@/####|######|R-####}
[Date: {day:today}|{day:today}|Invoice date {day:today}][  Your ref: {ref:code PO ####|@@@-###|#####}|   Customer no. {cust:code #####|K-####}|][   Delivered on {deliv:earlier 1-14}|   Service period: {:earlier 20-40} to {:earlier 1-10}|]

[To:|Bill to|Sold to|For|] [{buyer:company}|{buyer:person}]
[{buyeraddr:address}
|][(att. {att:name})
|]
[<lines 1-5:{q:count 1-40} x {thing:goods}   {price:money 4-900}>|<lines 1-5:{thing:goods} | {q:count 1-40} | {each:amount 2-300} | {price:amount 4-900}>|<lines 1-5:{pos:count 1-9}. {thing:goods}, {q:count 1-40} pcs at {each:money 2-300}: {price:money 4-900}>|For {:duty} we charge:|{h:number 2-40 1} hours at {each:money 30-120}]

[Net|Subtotal|Sum|Total excl. tax] [{net:money 100-5000}|  {net:money 100-5000}]
[[VAT|Tax|plus VAT] {rate:percent}[:|] {tax:money 10-900}|VAT {tax:money 10-900} ({rate:percent})|No VAT is charged (small business).]
[Total|Amount due|Please pay|To pay|Invoice total|Total GBP]: {total:money 120-6000}
[[Already paid|Less deposit|Prepaid]: {dep:money 10-90}
|]
[Payment within {terms:count 7-60} days[, i.e. by {due:later 7-60}|].|Due {due:later 7-60}.|Please pay by {due:later 7-60}.|Payable at once without deduction.|The sum is due on receipt.] [{skonto:percent} discount if paid within {:count 5-10} days.|We reserve the right to charge interest of {:percent} on overdue accounts.|]
[#pay=transfer:[Bank:|IBAN|By bank transfer to] {iban:iban}[, BIC {bic:code @@@@DE##|@@@@GB##|@@@@FR##}|]|#pay=debit:The amount will be taken from your account automatically.|#pay=debit:We collect the sum by direct debit.|#pay=card:You have paid by card, thank you.|#pay=card:Charged to Visa ending {:code ####}.|#pay=cash:Received in cash with thanks.|]
[#kind=credit:This is a credit note for invoice {orig:code @@-#####|######}.|#kind=reminder:This is our second reminder; our invoice of {:earlier 20-60} is still open.|#kind=reminder:We have not received your payment yet. A fee of {fee:money 3-20} was added.|#kind=invoice:|#kind=invoice:|#kind=invoice:]
[Quote no. {:code Q-####} of {:earlier 30-90} is superseded.|In our offer we had estimated {:money 100-5000}.|Questions? {contact:name}, {tel:phone}|Registered in England {:code ########}   page 1 of 1|Thank you for your business!|]
""",
        """
invoice_number|number|invoice_no|document_number ; no
invoice_date|issue_date|issued|date ; day
delivery_date|delivered_on|service_date ; deliv
due_date|payable_by|pay_by|payment_due ; due ; null if no due date is given
payment_terms_days|payment_days|terms_days ; terms
vendor|seller|supplier|issuer|from ; seller ; Name of the issuing company
vendor_address|seller_address ; selleraddr
vat_id|tax_number|seller_vat_id ; vatid
customer|buyer|bill_to|recipient ; buyer ; without title
customer_address|buyer_address ; buyeraddr
attention|contact_at_customer ; att
customer_number ; cust
purchase_order|po_number|your_reference|buyer_reference ; ref
currency ; $ ; ISO 4217
net_total|subtotal|net|total_excl_tax ; net
tax_rate|vat_rate|vat_percent ; rate
tax_total|vat|tax_amount|vat_amount ; tax
gross_total|total|amount_due|grand_total|total_amount ; total ; Total including tax
deposit_paid|prepaid ; dep
discount_percent|cash_discount ; skonto
payment_method|paid_by|payment ; pay=transfer/bank_transfer,debit/direct_debit,card/credit_card,cash
iban ; iban
bic ; bic
document_kind|kind|type ; kind=invoice,credit/credit_note,reminder/dunning_letter ; What this document is
original_invoice|refers_to ; orig
reminder_fee|fee ; fee
contact|contact_person ; contact
lines|items|positions|line_items ; lines* ; In order
description|item|name|article ; lines.thing ; as written
quantity|qty ; lines.q
amount|line_total|price ; lines.price
unit_price|each ; lines.each
""",
    ),
    Scene(
        "receipt",
        """
[{shop:company}|*** {shop:company} ***|{shop:company}
{slogan:words fresh every day/your corner shop/since 1974/always open/the friendly store}]
[{road:street}, {town:city}|{road:street}
{town:city}|Store {store:code ###|##} {town:city}]
[Tel {tel:phone}|]
[[Receipt|Check|Bon|Ticket|Bill] [no. |#|]{no:code ####|######|##-###}|]   [{day:date} {at:time}|{at:time} {day:date}|Date {day:date}|{day:date}]
[Cashier|Server|Served by|Your waiter:|Operator|Till] [{staff:words Anna/Tom/Mia/Luis/Petra/Ali/Jon/Eva/Noah}|{till:count 1-12}|]
[#place=here:Table {table:code #|##|##@}, {guests:count 1-9} covers|#place=here:eat in, table {table:code #|##}|#place=away:TAKE AWAY|#place=away:to go|]

[<items 1-7:{q:count 1-6} {what:dish}   {p:amount 1-40}>|<items 1-7:{what:goods} {p:amount 1-90}>|<items 1-7:{what:goods up}
  {q:count 1-6} x {each:amount 1-20}    {p:amount 1-90}>|<items 1-7:{what:dish up} {p:amount 1-30} [A|B]>]
[Discount[ loyalty card| coupon|] -{disc:amount 1-9}
|][----------------|===============|]
[[SUBTOTAL|Subtotal|Net] {sub:amount 10-200}
|][[TAX|VAT|MwSt|Sales tax][ {rate:percent}|] {tax:amount 1-30}
|][TOTAL|Total|AMOUNT DUE|SUM|To pay] {total:money 10-300}
[[Service|Service charge] {service:amount 1-20}
|][[Tip|Gratuity] {tip:amount 1-20}
|][#pay=cash:CASH {given:amount 20-400}
CHANGE {change:amount 1-19}|#pay=cash:paid in notes, thank you|#pay=card:VISA **** {last:code ####}|#pay=card:Card ending {last:code ####} contactless|#pay=card:Maestro, signature on file|#pay=voucher:Gift card {:code ####-####}, rest {left:amount 0-40}|#pay=app:paid with the phone]

[You saved {:amount 1-9} today!|Points: {points:count 3-900}|Returns within {ret:count 7-60} days with this receipt.|Member {member:code ######}|][ Thank you!| Please come again.|]
[handwritten below: "keep for {purpose:words taxes/the office/Julia/the insurance/travel expenses}"|]
""",
        """
merchant|store|shop|business|restaurant ; shop ; as printed
slogan ; slogan
street|address ; road
city|town ; town
phone ; tel
receipt_number|number|check_number ; no
date|purchase_date ; day
time ; at
cashier|server|served_by ; staff
till|register ; till
table ; table ; as printed
guests|covers|number_of_guests ; guests
where|consumption|eat_in_or_take_away ; place=here/eat_in/dine_in,away/take_away
discount ; disc ; as a positive number
subtotal|net ; sub ; before tax and tip
tax|vat|tax_amount ; tax
tax_rate ; rate
total|amount|grand_total|total_amount ; total ; Amount on the receipt, before a tip
service_charge ; service
tip|gratuity ; tip
payment_method|paid_with|payment ; pay=cash,card/credit_card,voucher/gift_card,app/mobile
cash_given|tendered ; given
change ; change
card_last4|card_digits ; last
points|loyalty_points ; points
member_number ; member
return_days|return_period_days ; ret
currency ; $
purpose|expense_category|note ; purpose
items|lines|articles ; items* ; as printed, in order
name|item|description ; items.what
quantity|qty ; items.q
price|amount|line_total ; items.p
""",
    ),
    Scene(
        "bankalert",
        """
[{bank:company}: |{bank:company}
|Your bank informs you: |][#dir=debit:{amt:money 3-2000} [was|has been] [taken from|debited from|charged to] your account|#dir=debit:Payment of {amt:money 3-2000} with your card|#dir=debit:You have paid {amt:money 3-2000}|#dir=credit:{amt:money 3-2000} [has arrived on|was paid into|credited to] your account|#dir=credit:You received {amt:money 3-2000}|#dir=credit:Incoming: {amt:money 3-2000}][ ending in {acct:code ####}| ****{acct:code ####}| no. {acct:code ####}|][ [at|from|to|by] {party:company}| ({party:company})|] [on {day:date}|{day:date}][[,|] at {at:time}|, {at:time}|].
[Reference|Purpose|Text|Note]: [{ref:code @@@#####|INV ####|RF##########}|{text:words rent/salary/membership fee/electricity/gift/insurance/refund/pension}].
[Available balance|Balance|New balance|You now have]: {bal:money 20-9000}[ (before: {:money 20-9000})|]. [Overdraft limit {limit:money 100-5000}.|]
[#st=declined:The payment was refused for lack of funds.|#st=declined:We did not carry it out.|#st=pending:It is reserved and will be booked in the next days.|#st=pending:Booking follows.|#st=booked:Booked.|#st=booked:|] [#fraud=yes:We have blocked the card because this looked unusual.|#fraud=yes:Was this you? For your safety the card is frozen.|#fraud=no:|]
[Fee: {fee:money 0-9}.|No fee.|] [Rate {rate:number 0-2 4}, original amount {orig:amount 5-900} {ccy:words USD/EUR/GBP/CHF/SEK/JPY}.|]
[Not you? Call {tel:phone}.|Never share your PIN.|Log in to see details.|Next debit of {:money 3-90} on {next:date}.|]
""",
        """
bank|institution ; bank
amount|transaction_amount ; amt
currency ; $ ; ISO 4217
direction|type|transaction_type ; dir=debit/outgoing,credit/incoming ; Did money leave or reach the account
account|account_ending|last_four ; acct ; Last four digits
counterparty|merchant|payee|other_party ; party
date|booked_on|transaction_date ; day
time ; at
reference ; ref
purpose|text|description ; text
balance|balance_after|available_balance ; bal ; Balance after the transaction
overdraft_limit|limit ; limit
status|state ; st=booked/completed,pending/reserved,declined/rejected
card_blocked|fraud_suspected|suspicious ; fraud? ; Has the bank blocked the card
fee ; fee
exchange_rate ; rate
original_amount ; orig
original_currency ; ccy
phone|hotline ; tel
next_debit_on ; next
""",
    ),
    Scene(
        "product",
        """
[{brand:brand} |]{name:goods up}[ {model:code @@-##|@###|## @|#.#}|]
[by {maker:company}|{maker:company}|]
[{price:money 5-900}[ instead of {old:money 5-1400}| (was {old:money 5-1400})|, RRP {old:money 5-1400}|]|Now {price:money 5-900}|Price: {price:money 5-900} per piece, from {bulk:count 5-50} pieces {:money 3-400}]
[#stock=in:In stock[, {left:count 2-40} left|].|#stock=in:Ready to ship today.|#stock=out:Sold out.|#stock=out:At the moment we have none.|#stock=pre:Can be pre-ordered; it comes out on {rel:later 5-90}.|#stock=pre:Available from {rel:later 5-90}.|#stock=ordered:We order it for you, about {wait:count 2-9} weeks.]

[- |* |]Size: [{w:number 1-200 1} x {h:number 1-200 1} x {d:number 1-90 1} cm|{w:number 1-200 0} cm wide, {h:number 1-200 0} cm high]
[- |* |]Weight: {kg:number 0.2-40 1} kg[ without packaging ({:number 1-60 1} kg with it)|]
[- |* |]Colour: {col:words black/white/anthracite/oak/light grey/mint/burgundy/navy/sand/terracotta/natural}[, also in {:words red/blue/green}|]
[- |* |][Material|Made of]: {mat:words oak/aluminium/stainless steel/cotton/recycled plastic/wool/glass/birch plywood/leather/porcelain}
[[- |* |]Power: {watt:count 3-2400} W
|][[- |* |]Battery: {bat:number 2-48 0} hours[, charged in {:number 1-5 1} h|]
|][#water=yes:[- |* |]Rain can't harm it
|#water=yes:[- |* |]Waterproof (IP67)
|#water=no:[- |* |]Keep dry
|]
[Article no.|SKU|Item|EAN|Order code] {sku:code ###-##|@@#####|############|@#-####}
[{rate:number 1-5 1} out of 5 ({n:count 3-4000} reviews)|{n:count 3-4000} customers rate it {rate:number 1-5 1}|No reviews yet|]
[[Warranty|Guarantee]: {war:count 1-10} years|With {war:count 1-10} years of guarantee|]
[#ship=free:We pay the postage.|#ship=free:Delivered free of charge|#ship=paid:Shipping {shipc:money 3-40}|#ship=paid:plus {shipc:money 3-40} for delivery|] [[Return|Send it back] within {ret:count 14-100} days.|]
[Customers also bought: {:goods} ({:money 5-90}), {:goods}.|Assembly needed: {mins:count 5-90} minutes.|Made in {ctry:words Germany/Portugal/Poland/Sweden/Italy/Japan/Vietnam}|For children from {agefrom:count 1-12} years.|]
""",
        """
name|product|product_name|title ; name ; as written, without brand and model
brand ; brand
model ; model
manufacturer|maker ; maker
price|current_price|sale_price ; price ; Price to be paid now
old_price|original_price|list_price|regular_price ; old ; Price before; null if not reduced
currency ; $
availability|stock_status|status ; stock=in/in_stock/available,out/out_of_stock,pre/preorder,ordered/on_order/backorder
units_left|stock|in_stock_quantity ; left
available_from|release_date ; rel
delivery_weeks|waiting_time_weeks ; wait
width_cm|width ; w
height_cm|height ; h
depth_cm|depth ; d
weight_kg|weight|net_weight_kg ; kg ; Weight of the thing itself
colour|color ; col ; Main colour
material ; mat
power_watts|power ; watt
battery_hours ; bat
waterproof|is_waterproof|water_resistant ; water?
sku|article_number|item_number|ean ; sku
rating|average_rating ; rate
review_count|reviews|number_of_reviews ; n
warranty_years|guarantee_years ; war
shipping|delivery_costs ; ship=free/included,paid/extra ; Is delivery paid extra
shipping_cost ; shipc
return_days ; ret
assembly_minutes ; mins
country_of_origin|made_in ; ctry
minimum_age|age_from ; agefrom
""",
    ),
    Scene(
        "bibliography",
        """
[[1] |12. |(7) ||][{a1:name}[, {a2:name}|, {a2:name} and {a3:name}|]|<au 1-4, :{p:author}>|<au 1-4; :{p:author}>|<au 1-3, :{p:author first}>]. [({year:year}). |{year:year}. |]{title:subject}[: {sub:subject}|]. [#type=article:{jour:words Journal of/Annals of/Review of/Quarterly of/Archives of/Letters in} {:subject}, {vol:count 1-90}[({iss:count 1-12})|], [pp. |]{p:code ##-##|###-###|1##-1##}.|#type=book:{pubcity:city}: {pub:company}[, {year2:year}|]. [{pages:count 90-700} pages.|{ed:words 2nd/3rd/4th/revised} edition.|]|#type=chapter:In {ed1:name} (ed.), {book:subject}, pp. {p:code ##-##|###-###}. {pub:company}, {pubcity:city}.|#type=thesis:PhD thesis, {school:company}, {pubcity:city}.|#type=thesis:Doctoral dissertation. University of {pubcity:city}.|#type=report:Technical report {repno:code TR-##|##/####}, {school:company}.|#type=conference:Paper given at the {nth:count 2-40}th Conference on {:subject}, {pubcity:city}, {confday:date}.] [doi:{doi:code 10.####/@@@.####.##|10.####/######}|https://doi.org/{doi:code 10.5555/%%%.####|10.####/########}|ISBN {isbn:code 978-#-###-#####-#|978-##-####-###-#}|{link:url} (accessed {acc:date})|]
[#lang=de:In German.|#lang=fr:Text in French.|#open=yes:Freely available.|#open=no:Behind a paywall.|]
[An earlier version had appeared in {:year} as a preprint.|Reviewed by {rev:name} in {:year}.|Reprinted {:year}.|]
""",
        """
type|kind|document_type|entry_type ; type=article/journal_article,book/monograph,chapter/book_chapter,thesis/dissertation,report/technical_report,conference/conference_paper
authors|author_list ; a1+a2+a3 ; in order
first_author|author ; a1
author_list|authors|writers ; au* ; in order
family|family_name|last_name|surname ; au.p/family
given|given_names|first_name|initials ; au.p/given
year|publication_year ; year
title ; title ; as written, without subtitle
subtitle ; sub
volume ; vol
issue|number ; iss
pages|page_range ; p ; as written
publisher ; pub
place|publisher_city|city ; pubcity
number_of_pages|page_count ; pages
edition ; ed
editor|edited_by ; ed1
book_title|container ; book ; Book that the chapter is part of
institution|school|university ; school
report_number ; repno
conference_date ; confday
doi ; doi ; starting with 10.
isbn ; isbn
url|link ; link
accessed|accessed_on ; acc
open_access|freely_available ; open?
reviewer|reviewed_by ; rev
""",
    ),
    Scene(
        "sensor",
        """
[Station|Sensor|Meter|Probe|Logger|Node] [{id:code @@-##|@@@###|@#-@#}][, {site:place}| ({site:city})|]
[{day:date}[, | ]{at:time}|{day:date} at {at:time}|[Reading of|Measured on] {day:date}[, {at:time}|]]
[[Temperature|Temp|T][: | = | ]{t:number 1-45 1} [°C|C|degrees]
|it was {t:number 1-45 1} degrees
|][[Humidity|RH|Rel. humidity][: | ]{rh:count 12-99}[ %| percent]
|][[Pressure|Air pressure|p][: | ]{hpa:number 960-1050 1} hPa
|][[Wind|Gusts up to] {wind:number 1-90 1} km/h [from {wdir:words north/south/east/west/south-west/north-east}|]
|][[Rain|Precipitation][: | ]{rain:number 0-60 1} mm
|][[CO2|Carbon dioxide][: | ]{co2:count 380-2400} ppm
|][[Level|Water level|Gauge][: | ]{lvl:count 3-600} cm
|][[Counter|Consumption|Energy][: | ]{kwh:number 10-9000 1} kWh
|]
[#alarm=yes:LIMIT EXCEEDED (limit {lim:number 10-900 1})|#alarm=yes:That is above the permitted {lim:number 10-900 1}, alarm was raised.|#alarm=no:All values within limits.|#alarm=no:Nothing out of the ordinary.|] [#state=ok:Unit works normally.|#state=ok:status OK|#state=fault:The probe does not answer.|#state=fault:Defect, values cannot be trusted.|#state=maintenance:Being serviced until {mt:later 1-9}.|#state=lowbat:Power is nearly used up.|#state=lowbat:Change the cells soon.|]
[Battery|Bat.|Accu][: | ][{bat:percent}|{bat:number 2-13 1} V] [Signal -{sig:count 40-120} dBm|]
[[Previous|Last] [value|reading]: {prev:number 1-900 1} on {:date}.|Next reading {next:date}.|Calibrated {cal:date}[ by {who:name}|].|Average of the week: {avg:number 1-90 1}.|]
[Read by {who:name}.|]
""",
        """
sensor_id|station|device|meter|station_id ; id
site|location|place ; site
date|day|measured_on ; day
time|measured_at ; at
temperature_c|temperature ; t ; in °C
humidity_percent|humidity|relative_humidity ; rh
pressure_hpa|air_pressure ; hpa
wind_kmh|wind_speed ; wind
wind_direction ; wdir
rain_mm|precipitation ; rain
co2_ppm|co2 ; co2
level_cm|water_level ; lvl
energy_kwh|consumption_kwh|counter ; kwh
alarm|limit_exceeded|alert ; alarm? ; Was a limit exceeded
limit|threshold ; lim
status|state|condition ; state=ok/normal,fault/error,maintenance/in_service,lowbat/low_battery
maintenance_until ; mt
battery ; bat
signal_dbm ; sig ; without the minus sign
previous_value|last_reading ; prev
next_reading ; next
calibrated_on|last_calibration ; cal
read_by|technician|observer ; who
weekly_average ; avg
""",
    ),
)
