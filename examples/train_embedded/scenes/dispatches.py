"""Scenes: absences, imprints, meters, freelancers' mails, changed orders, parcels, moved dates, alerts, tills."""

from .scene import Scene

SCENES = (
    Scene(
        "contact",
        """
From: {who:name} \\<{own:email}>
[Sent|Date|Received]: {sent:today}
Subject: [Automatic reply|Not at my desk|Out of office|Away: {:subject}]

[Hello|Good day|Thanks for writing|Hi there],

[#why=leave:[my family and I are at the seaside|I am hiking where there is no network|I am taking a long break in the sun]|#why=illness:[I am in bed with a fever|my doctor has told me to rest]|#why=business_trip:[I am on the road to see customers|I am at a trade fair in {fair:city}]|#why=parental_leave:[our daughter has just been born|I am at home with our newborn]|#why=left_company:[I no longer work for {firm:company}|last week was my final one at {firm:company}]][?why=leave?why=illness?why=business_trip?why=parental_leave:, [back on {back:later 3-60}|and expect to return on {back:later 3-60}]|?why=illness:, [and nobody knows for how long|back when I am well]|?why=left_company:]. [#read=yes:[I look at my inbox in the evening.|Now and then I do check messages, so be patient.]|#read=no:[Your message will not be opened or passed on.|Nobody sees this mailbox.]|]

[{dep:name} ({dmail:email}, {dtel:phone}) [decides|answers|signs] in my place|[Please turn to|Do ask] {dep:name}[, {djob:job}|]: {dtel:phone}|Everything urgent goes to {dep:name}, {dmail:email}]. [[Bills|Anything about invoices] [should reach|goes to] {inv:name} ({imail:email}).|] [#mob=yes:[If the house is on fire: {mtel:phone}.|In a real emergency my mobile is {mtel:phone}.]|#mob=no:[My phone is switched off.|Please don't ring me.]|]

{who}[
{job:job}|][
Tel. {otel:phone}, [ext.|room] {:count 100-999}|]
""",
        """
absent_person|name|sender ; who ; Whoever is away
own_email|email|sender_email ; own
sent_on|date ; sent
reason|absence_reason|reason_for_absence ; why=leave/vacation/holiday,illness/sick_leave,business_trip/business_travel,parental_leave,left_company
returns_on|back_on|return_date|absent_until ; back ; First day back
former_employer ; firm
fair_city|travelling_to ; fair
reads_mail|checks_email|inbox_monitored ; read?
{ deputy|substitute|replacement|stand_in
name ; dep
email ; dmail
phone ; dtel
job_title|role ; djob
}
{ invoices_contact|billing_contact
name ; inv
email ; imail
}
reachable_in_emergency|reachable_by_phone ; mob?
emergency_phone|mobile ; mtel
job_title|position ; job ; Of the absent person
office_phone|phone ; otel ; Of the absent person
""",
        weight=1.5,
    ),
    Scene(
        "contact",
        """
[Impressum|IMPRESSUM|Angaben zum Anbieter|Wer wir sind]

{firma:company}
{adr:address}

[Vertreten durch|Geschäftsführung|Inhaber und Ansprechpartner][: | ]{chef:name}[ [und|sowie] {chef2:name}|]
[Telefon|Fon|Tel.][: | ]{tel:phone}[ ([werktags|Mo–Fr] {von:time 7-10} bis {bis:time 15-19})|][
[Fax|Telefax][: | ]{fax:phone}|]
[E-Mail|Mail|Schreiben Sie an][: | ]{mail:email}[ · Presse: {pmail:email}|][
Web: {web:url}|]

[Amtsgericht|Registergericht|Eingetragen beim Amtsgericht] {ger:city}, {hr:code HRB #####|HRA ####|HRB ####}
[USt-IdNr.|Umsatzsteuer-ID|USt-ID][: | ]{ust:code DE#########}[, Steuernummer {stnr:code ##/###/#####|###/####/####}|]
[[Verantwortlich für den Inhalt|Inhaltlich verantwortlich|Redaktion][: | ]{red:name}[, Anschrift wie oben|]
|][Datenschutz: {dsb:name}, {dmail:email}[. Beschwerden bitte nicht an {:name}|]
|][#os=no:[An Schlichtungsverfahren beteiligen wir uns nicht.|Eine Schlichtungsstelle rufen wir nicht an.]|#os=yes:[Im Streitfall gehen wir gern vor die Schlichtungsstelle in {sort:city}.|Wir machen bei der Verbraucherschlichtung mit.]|]
[Gestaltung der Seite: {:company}[, Fotos: {foto:name}|]|Bilder: {foto:name}|][
[Stand|Zuletzt geändert]: {stand:date}|]
""",
        """
firma|unternehmen|company|anbieter ; firma
anschrift|adresse|address ; adr
geschaeftsfuehrer|vertreten_durch|managing_director ; chef ; Zuerst genannte Person
zweiter_geschaeftsfuehrer|weitere_vertretung ; chef2
telefon|phone|telefonnummer ; tel
erreichbar_ab|telefonzeit_von ; von
erreichbar_bis|telefonzeit_bis ; bis
fax|faxnummer ; fax
email|e_mail|kontakt_email ; mail ; Allgemeine Adresse
presse_email|pressekontakt ; pmail
website|webseite ; web
registergericht|amtsgericht ; ger ; Nur der Ort
registernummer|handelsregister|hr_nummer ; hr
ust_id|vat_id|umsatzsteuer_id ; ust
steuernummer ; stnr
redaktion|verantwortlich_fuer_inhalt ; red
datenschutzbeauftragter|datenschutz_name ; dsb
datenschutz_email ; dmail
nimmt_an_schlichtung_teil|schlichtung ; os?
fotograf|bildnachweis ; foto
stand|letzte_aenderung ; stand
""",
        language="de",
        weight=1.5,
    ),
    Scene(
        "invoice",
        """
{firm:company} · [your energy and water|customer service|supply and meters]
[To|For][: | ]{who:person}, {adr:address}
[Customer|Account] {acc:code ########|K-#####}, [bill|statement] {no:code ##-#####|AB#######} of {day:today}[ (contract {:code ######})|]

[What you used|Consumption|Your meters] [from {p1:earlier 340-390} to {p2:earlier 5-25}|between {p1:earlier 340-390} and {p2:earlier 5-25}]
<meters 1-3:{kind:words Electricity/Gas/Cold water/Hot water/District heating/Night tariff}, meter {id:code ######|@@ #####|#@####}: {old:number 300-4800 0} → {new:number 4801-7900 0}, so {use:difference new old} [units|in all] at {rate:number 0.05-2.9 2} = {cost:times use rate} ([#est=yes:no reading reached us|#est=yes:reckoned from last year|#est=no:you sent a photo|#est=no:read by our colleague])>
[Standing charge|Base fee|Basic price] {base:money 30-190}
[Sum|All together|Your year costs] {all:total meters.cost base}[, {tax:vat} VAT [inside|is included]|]
[Instalments|Advance payments|You have already sent us] [#res=additional_payment:{paid:share all 50-95}|#res=credit:{paid:share all 104-140}][, in {n:count 6-12} [parts|months]|, last one on {:earlier 20-50}]
[?res=additional_payment:[Still open|We miss|Which leaves] {bal:total all -paid}, [#au=yes:[to be drawn from {iban:iban}|nothing to do: {iban:iban} is debited]|#au=no:[to be sent to {iban:iban}|please pay into {iban:iban}]], [due|book date] {due:later 10-30}.|?res=credit:[You get back|That was too much: we return] {bal:total paid -all}[ to {iban:iban}|, taken off the next instalment].] [From {nd:later 31-60} on, each instalment is {ni:money 30-400}[ (so far {oi:money 30-400})|].|Instalments stay at {ni:money 30-400}.] [Fault or gas smell: {emerg:phone}[; questions about the bill: {tel:phone}|].|Questions: {tel:phone}.]
""",
        """
supplier|vendor|utility ; firm
customer|customer_name ; who
supply_address|address ; adr
customer_number|account_number ; acc
bill_number|invoice_number ; no
bill_date|invoice_date ; day
period_start|billing_from ; p1
period_end|billing_to ; p2
meters|consumption|readings ; meters*
type|medium|supply ; meters.kind
meter_number|meter_id ; meters.id
previous_reading|old_reading ; meters.old
current_reading|new_reading ; meters.new
used|consumption|units_used ; meters.use
unit_price|price_per_unit ; meters.rate
cost|amount ; meters.cost
estimated|is_estimate ; meters.est?
base_fee|standing_charge ; base
total_cost|total ; all ; Before the instalments are taken off
vat_percent|vat_rate ; tax
prepaid|instalments_paid|advance_payments ; paid
instalment_count ; n
iban ; iban
result|outcome ; res=additional_payment/amount_due,credit/refund
balance|difference|final_amount ; bal ; What remains between the cost and the instalments
direct_debit|collected_automatically ; au?
due_date|due_on ; due
new_instalment|next_instalment ; ni
old_instalment ; oi
new_instalment_from ; nd
emergency_phone ; emerg
billing_phone|phone ; tel
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "invoice",
        """
[{day:today}|Sent {day:today}]
[To: {cl:name}, {firm:company}|Dear {cl:name}|Hi {cl:name}]

["{proj:subject}" is done, so here comes|for "{proj:subject}" I now send you|as agreed, please find below] [my invoice|bill] {no:code ##/20##|####-##|R-###}[ (offer {:code ##-###} is thereby closed)|]:

<work 1-4:[- |* |]{h:number 1-30 1} h {what:of service} [at|×] {rate:money 30-130}: {sum:times h rate}>

[That makes|Together|Net] {net:total work.sum}. [[As a regular you get|I take off|Friendship discount:] {disc:share net 3-15}[ [because|since] it took longer than planned|].|] [Train [and hotel|tickets] come to {exp:money 20-300}.|] [You paid {dep:share net 20-50} [in advance|up front][ on {dp:earlier 20-60}|].|] [#vat=no:[As a small business I charge no VAT.|VAT does not apply (reverse charge).]|#vat=yes:[VAT is in my rates.|All sums are gross.]] [Left to pay|Please transfer|Which leaves]: {rest:total net exp -disc -dep}

[[Payable in|Terms:] {tn:count 14-14} days, [i.e. by|so until] {due:later 14-14}|{tn:count 30-30} days net ({due:later 30-30})|[I need it|Please pay] within {tn:count 10-10} days, on {due:later 10-10} at the latest|By {due:later 7-45}, please][. [Whoever pays before {ed:later 3-6} may deduct {sk:number 1-3 0} %|{sk:number 1-3 0} % less until {ed:later 3-6}]|]. [Account|IBAN|Bank details]: {iban:iban}[, {bank:words Triodos/Sparkasse/N26/Monzo/Caixa/Nordea}|]

{me:name}[, {job:words illustrator/translator/photographer/copy editor/sound engineer/web developer}|]
[{mail:email}|{tel:phone}][ · tax no. {tax:code ##/###/####}|]
""",
        """
invoice_date|issued_on|date ; day
client|client_contact|recipient ; cl
client_company|bill_to ; firm
project ; proj
invoice_number|number ; no
positions|line_items|work ; work*
hours|quantity ; work.h
service|description ; work.what
hourly_rate|rate ; work.rate
amount|line_total ; work.sum
subtotal|net_total|sum_of_positions ; net
discount|rebate|discount_amount ; disc
expenses|travel_costs ; exp
deposit|prepaid|advance_payment ; dep
deposit_paid_on ; dp
vat_included|includes_vat ; vat?
amount_due|balance|to_pay ; rest
payment_days|terms_days ; tn
due_date|pay_by|payable_until ; due
early_payment_percent|cash_discount_percent ; sk
early_payment_until|cash_discount_until ; ed
iban|account ; iban
bank ; bank
freelancer|issuer|from_name ; me
profession ; job
freelancer_email|email ; mail
freelancer_phone|phone ; tel
tax_number ; tax
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "order",
        """
[Chat|Live chat|Shop chat] {shop:company}, {day:today}

{t0:time 8-12} {who:name}: [Can I still alter order|Too late to change|About my order] {no:code ######|#@-####|##-###-##}[? [I mean|Not] {:code ######}[, forget the other one|]|]?
{ag:name}: [Let me see|One moment]. [You ordered|It came in] on {od:earlier 1-6}, [it is still here|we have not packed it]. [What shall it be?|Go ahead.]
{who.given}: [ok|right|so]:
<changes 1-4:[#act=add:[put in {q:count 2-9} × {what:of product} as well|and {what:of product} too, {q:count 2-9} of them]|#act=remove:[leave out the {what:of product}|no {what:of product} after all]|#act=quantity:[{q:count 2-9} instead of {old:count 10-40} × {what:of product}|I typed {old:count 10-40}, but need {q:count 41-80} of {what:of product}]|#act=swap:[{what:of product}: rather in {var:of colour}|please, {what:of product} should be {var:of colour}]]>
{ag.given}: [Done|Changed]. [It was|Before:] {ot:money 20-200}, [now it is|new sum] {nt:money 201-700}[; [I charge|you pay] the {diff:total nt -ot} [more|between] [#pay=card:to the same card|#pay=bill:with an invoice in the box|#pay=cash_on_delivery:when the driver rings|#pay=wallet:through PayPal]|]. [#late=yes:[That pushes delivery from {:later 2-5} back to {dd:later 6-20}.|Sadly it takes longer now: {dd:later 6-20} and not {:later 2-5}.]|#late=no:[You still get it on {dd:later 2-9}.|{dd:later 2-9} holds.]]
{who.given}: [#adr=yes:[Good. Send it to {adr:address}, we have moved|And could it go to {adr:address}? I am away]|#adr=no:[To my house as always|Same door as last time]]. [#gift=yes:[It's a present, so wrap it up[. On the card: "{card:words Happy 50th/With love/Well done/For the new flat/Get well soon}"|]|No price in the box please, it is for a birthday]|#gift=no:Plain box is fine|#gift=no:It is for myself, no ribbon].
{ag.given}: [Noted.|Will do.] [The change has the number {chg:code C-####|AE###|##-@@}.|] [Mail follows to {mail:email}.|]
""",
        """
shop|seller|merchant ; shop
chat_date|changed_on ; day
started_at|chat_time ; t0
customer|customer_name ; who
order_number|order_id ; no ; The order that is changed
agent|support_agent ; ag
ordered_on|order_date ; od
changes|requested_changes ; changes*
action|kind_of_change ; changes.act=add/added,remove/removed/cancelled,quantity/quantity_changed,swap/variant_changed
product|item ; changes.what
new_quantity|quantity ; changes.q
old_quantity|previous_quantity ; changes.old
new_colour|variant ; changes.var
old_total|previous_total ; ot
new_total|order_total ; nt
difference|extra_charge ; diff
payment_method|difference_paid_by ; pay=card/credit_card,bill/invoice,cash_on_delivery,wallet/paypal/e_wallet
delivery_delayed|is_delayed ; late?
delivery_date|arrives_on ; dd ; The date that now holds
address_changed ; adr?
new_address|delivery_address ; adr
is_gift|gift_wrap ; gift?
card_text|gift_message ; card
change_number|change_reference ; chg
email|confirmation_email ; mail
currency ; $
""",
        weight=1.5,
    ),
)
