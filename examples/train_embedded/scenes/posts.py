"""Scenes: mails with all their headers, till receipts with an indented head."""

from .scene import Scene

SCENES = (
    Scene(
        "support",
        """
From: [{who:name} \\<{mail:email}>|"{who:name}" \\<{mail:email}>|{mail:email} ({who:name})]
[To: [{:email}|{firm:company} \\<{:email}>|support \\<{:email}>]
|][Cc: {:name} \\<{:email}>
|][Date|Sent]: {day:today}[, {at:time}|]
Subject: [{subj:clause up}|Problem with my {:goods}|{subj:goods up}: no answer yet|Question about order {:code @@-######}|{subj:subject}]
[Priority: [#prio=high:high|#prio=urgent:urgent|#prio=urgent:1|#prio=normal:normal|#prio=low:low]
|][Category: [#cat=defect:defect|#cat=delivery:delivery|#cat=billing:billing|#cat=account:account|#cat=question:question]
|][X-Mailer: {:title}
|]
[Hello|Hi|Dear team|Good morning|Dear Sir or Madam],

[the|my|our] {item:goods}[ that I ordered from you in {:words January/March/May/July/autumn}|, bought on {bought:earlier 5-90}| which came last week] [has stopped working|makes trouble|is not what I ordered|never arrived]. [{fault:clause up}[, then the red light comes on|]|It {:words hums/beeps/flickers/smells/sticks} and {fault:clause}]. [The display [shows|says] [error |code |]{err:code @-###|@@##|###|ERR-##}.|Error {err:code @###|E##}, that is all it tells me.|] [I have switched it off and on again[, without success|].|A colleague had the same.|]

[Product: {prod:brand}
|Model: {prod:brand}
|][Order [number|no.]|Order]: {ord:code @@-######|######|####/##}
[Customer [number|no.]: {cno:code ######|@-####}
|][Serial [number|no.]: {sn:code @@######|####-####}
|]
[We need it badly.|#urg=yes:Everything stands still without it!|#urg=yes:We send out {:count 20-90} parcels a day and cannot wait.|#urg=no:It is not urgent.|#urg=no:Take your time.|] [#wish=replacement:Could you please send a replacement?|#wish=replacement:Please exchange it.|#wish=refund:I'd like my money back.|#wish=refund:Please refund the {amount:money 10-900}.|#wish=repair:Can it be repaired?|#wish=repair:Please send a fitter.|#wish=information:Please tell me what to do.|#wish=information:When will it come?|]

[Kind regards|Best|Thanks|Yours faithfully|Regards],
{who}[
{job:job}[, {firm2:company}|]|
{firm2:company}|][
{tel:phone}|]
""",
        """
customer_name|reporter|sender|name|reported_by|from_name ; who ; Name of the person who reports the problem
customer_email|email|sender_email|from_address ; mail ; E-mail address of that person
recipient|company|addressed_to ; firm
reported_on|date|sent_on|received ; day ; Date of the report
sent_at|time ; at
subject|subject_line|title ; subj ; The subject line
priority|urgency_level ; prio=low,normal/medium,high,urgent/critical ; How urgent it is
category|topic|about ; cat=billing,delivery,defect/technical,account,question/other ; What it is about
product|item|device ; prod ; Product it is about
article|goods ; item ; as written
bought_on|purchase_date ; bought
fault|problem|symptom ; fault ; as written
error_code|error|code|message_number ; err ; as written
order_number|order_id|order ; ord ; as written
customer_number|account_number ; cno
serial_number|serial ; sn
urgent|is_urgent ; urg? ; Does the writer press for speed
wish|requested_action|asks_for|what_the_customer_wants ; wish=replacement/exchange,refund/money_back,repair/visit,information/advice
refund_amount|amount ; amount
job_title|position ; job
customer_company|organisation|firm ; firm2
phone|telephone ; tel
""",
        weight=1.5,
    ),
    Scene(
        "receipt",
        """
        {shop:company}
        {road:street}, {town:city}
[        [Tel.|Phone] {tel:phone}
|][        [VAT|Tax] [no|ID] {taxid:code @@#########|##-#######}
|]
[[Date|DATE]: {day:date}[          [Time|TIME]: {at:time}|]|{day:date}    {at:time}|{at:time}[ Uhr| h|]  {day:date}]
[Receipt no|Receipt|Bon|Trans|No.][: | ]{no:code #####|####|######}[          [Till|Pos|Register][: | ]{till:count 1-9}|]
[[Served by|Cashier|Operator][: | ]{staff:words Orla/Tim/Ada/Marek/Yuki/Rosa/Finn/Lea}
|]
[<items 1-6:  {q:count 1-6} x {what:dish up}           {p:amount 1-60}>|<items 1-6:  {what:goods up}           {p:amount 1-90}>|<items 1-5:{what:goods up}
      {q:count 1-6} @ {each:amount 1-20}           {p:amount 1-90}>]

[  Subtotal                      {sub:amount 5-300}
|][  [VAT|Tax|GST|MWST] {rate:percent}                     {tax:amount 1-40}
|]  [TOTAL|Total|TO PAY|Sum]                     {total:money 5-400}

[  [#pay=card:Paid by card|#pay=card:Card payment|#pay=cash:Paid in cash|#pay=cash:CASH|#pay=voucher:Paid by voucher|#pay=mobile:Paid with phone]
|][  [#net=visa:VISA|#net=mastercard:MASTERCARD|#net=maestro:MAESTRO|#net=amex:AMEX] [**** **** **** |xxxx-|****]{last:code ####}
|][  Approved  [Auth|Code] {auth:code ######}
|][  Change        {change:amount 1-20}
|]
[Thank you, come again!|Danke!|Have a nice day][
Open daily from {:count 6-9} to {:count 17-22}|
Exchange within {ret:count 7-30} days|]
""",
        """
merchant|shop|store|business_name|seller ; shop ; Name at the top of the receipt
street|address ; road
city|town ; town
phone ; tel
tax_id|vat_number ; taxid
date|purchase_date ; day
time|time_of_purchase ; at
receipt_number|number|transaction ; no
till|register|pos ; till
cashier|served_by ; staff
subtotal|net ; sub ; Before tax
tax|vat|tax_amount ; tax
tax_rate ; rate
total|amount|grand_total ; total ; What was paid
currency ; $
payment_method|paid_with ; pay=card,cash,voucher,mobile/phone
card_type|card_network ; net=visa,mastercard,maestro,amex/american_express
card_last4|last_digits ; last
auth_code ; auth
change ; change
return_days ; ret
items|lines|articles ; items* ; in order
name|item|description ; items.what
quantity|qty|count ; items.q
unit_price|each ; items.each
price|amount|total ; items.p ; of the line
""",
        weight=1.5,
    ),
)
