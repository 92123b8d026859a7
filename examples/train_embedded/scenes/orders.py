"""Scenes: orders by mail, in chats and on forms, corrections, back-orders and notices of what is on its way."""

from .scene import Scene

SCENES = (
    Scene(
        "order",
        """
[From: {who:name} \\<{mail:email}>
Subject: {:words Change to our order/Correction/Re: order/Please amend/Order, second try}

|]
[Hello|Hi {to.given}|Dear {to:name}|Good morning|Dear sales team],

[I placed order|we sent you order|you have our order|this is about our order|my colleague {:name} placed order] [no. |]{id:code PO-####|#####|@@-####|####-##}[ of {placed:earlier 1-9}| ({placed:earlier 1-9})|][ and I need to change it:|, and there are a few corrections:|. Something went wrong, so:|. We have to amend it:|. Please change the following:]

[<changes 1-5:[- |* |][#act=change:{what:of product}: [{new:count 2-60} instead of {old:count 2-60}|please make it {new:count 2-60} (was {old:count 2-60})|not {old:count 2-60} but {new:count 2-60}|adjust it from {old:count 2-60} to {new:count 2-60}]|#act=remove:[please drop the|leave out the|we no longer need the|take off the|scratch the|forget about the] {what:of product}[, all {old:count 2-40} of them|]|#act=add:[please add|on top, we need|also put in|we forgot|one more line:] {new:count 2-60} x {what:of product}|#act=swap:[swap the {what:of product} for the {by:of product}|replace the {what:of product} with the {by:of product}|instead of the {what:of product} please send the {by:of product}|the {what:of product} becomes the {by:of product}]]>]

[The rest stays as it is.|Everything else is right.|All other lines remain.|]
[#date=earlier:[And could it come sooner than agreed, by {want:later 2-10}?|We would need it ahead of time, on {want:later 2-10}.|If you can speed it up, {want:later 2-10} would help us a lot.]|#date=later:[Please hold it back until {want:later 20-60}.|There is no room yet, so not before {want:later 20-60}.|We are closed then, please wait with it until {want:later 20-60}.]|#date=same:[The date we agreed on, {want:later 5-30}, still holds.|{want:later 5-30} as planned.|No change to the day: {want:later 5-30}.]|]
[[It should now go to|New delivery address:|Please send it to] {addr:address} [instead|and no longer to {:city}|].|To our usual address, please.|] [Please put {ref:code KST ####|PRJ-###|####} on the paperwork.|Our cost centre is {ref:code KST ####|PRJ-###|####}.|]
[#conf=yes:[Kindly send me a new confirmation.|Could you confirm this in writing?|Please let me have the revised confirmation[ today|].]|#conf=no:[No need to confirm.|You need not answer this.]|] [If it is too late for this, ring me: {tel:tel}.|Sorry for the trouble!|If the price changes (so far {price:money 50-3000}), tell me first.|Limit: {cap:money 100-5000} in all.|]

[Thanks|Best regards|Regards|Many thanks|Kind regards],
{who}
[{firm:company}|]
""",
        """
order_number|order_id|po_number|order ; id ; Number of the order that is changed
customer|sender|requested_by|changed_by ; who
company|organisation|customer_company ; firm
email|reply_to ; mail
ordered_on|order_date|placed_on ; placed ; Day of the original order
recipient|addressee ; to
delivery_change|date_change|shift ; date=earlier/sooner,later/postponed,same/unchanged ; What happens to the delivery date
delivery_date|wanted_by|new_date|deliver_on ; want ; Date that is wanted now
delivery_address|ship_to|new_address ; addr ; null if it stays as it was
cost_centre|reference|our_reference ; ref
confirmation_requested|wants_confirmation|confirm ; conf? ; Does the customer want a new confirmation
previous_total|old_price|current_total ; price
limit|budget|maximum ; cap
phone|call ; tel
currency ; $
changes|corrections|amendments|modifications ; changes* ; One entry a correction, in order
action|type|change|kind ; changes.act=change/quantity_change/update,remove/delete,add/new,swap/replace ; What is to be done with the line
product|item|article ; changes.what ; as written|Item that was or will be in the order
new_quantity|quantity|to ; changes.new ; Valid from now on
old_quantity|was|from ; changes.old ; Before the correction
replacement|replaced_by|new_item ; changes.by ; Item that comes instead
""",
        weight=1.3,
    ),
    Scene(
        "order",
        """
[{shop:company} chat|Chat with {shop:company}|WhatsApp, {shop:company}|]
[{day:today}[, {at:time}|]
|]
{who.given}: [hi|hello|hey there|good morning|hiya|hi :)|hello 👋], [do you still have|have you got|any] {first:of produce}[ today|]?
{shopper.given}: [yes, plenty|we do!|a few left|sure, fresh in|yes 😊]. [how many?|how much do you want?|what can I get you?|]
{who.given}: [<items 1-6, :[{qty:count 2-12}|{qty:count 2-12} x] {what:of produce}[ ({opt:of flavour})||]>|<items 1-5 and :{qty:count 2-12} {what:of produce}>] [please|pls|would be great|]
{shopper.given}: [noted.|ok.|got it.|great.] [anything else? we have {offer:of produce} on offer, {:money 1-9}|{offer:of produce}, too?|want some {offer:of produce} with it?|]
{who.given}: [#up=yes:[go on then|ooh yes|why not|sure, put one in|yes, add that|sounds lovely, one of those as well]|#up=no:[no, that's all|not this time|i'm good, thanks|leave it|just what i said|nope]]
{shopper.given}: [#how=delivery:[and where shall we bring it?|what's your address?|does our driver know where you live?]
{who.given}: [{addr:address}|to {addr:address} please|{street:street}, {floor:floor}[, ring at {bell:name}|]],|#how=pickup:[when will you come by?|what time will you be here?|when do you fetch it?]
{who.given}: [i'll be there|i come past|i pop in]] [{when:later 1-6}[ around {slot:spoken 8-18}| at {slot:time 8-18}|]|around {slot:spoken 8-18}|at {slot:time 8-18}]
{shopper.given}: [that makes|it's|comes to] {total:money 8-120}[, delivery {fee:money 1-6} included|, delivery is free today|]. [how do you want to pay?|]
{who.given}: [#pay=cash:[i have notes|coins and notes at the door|in cold hard money 😄|got it in my wallet]|#pay=card:[visa|do you take my debit card?|contactless, when you're here|mastercard]|#pay=account:[put it on our tab|monthly bill as always|write it up, we settle at the end of the month]|#pay=online:[just sent it from my phone|already paid through the link|used apple pay just now]]
{shopper.given}: [perfect|lovely|all set]. [your number is {id:code ##|###|@##}|order {id:code ##|###|@##}|it's number {id:code ##|###|@##}]. [see you then!|thanks {who:name}!|🙏|]
[{who.given}: [oh and|wait,|one more thing:] [#note=allergy:[no nuts near it please, my son swells up|nothing with sesame, i react to it|is there gluten in it? then not for me]|#note=gift:[it's for my mum's birthday, can you wrap it?|a ribbon round it would be nice, it's a present|leave out the bill, i'm giving it away]|#note=access:[bell is broken, knock hard|the gate code is {gate:code ####}|leave it behind the blue bin|dog barks but is nice]]
|]
""",
        """
customer|name|ordered_by|buyer ; who ; Full name where it is given
shop|seller|store ; shop
date|day|chat_date ; day
order_number|number|order_id ; id
items|products|order_lines|basket ; items* ; What the customer asked for at first, in order
item|product|name ; items.what ; as written
quantity|qty|count ; items.qty
variant|option|details ; items.opt ; null if none is said
upsell_accepted|took_offer|added_offer ; up? ; Does the customer take what the shop suggests
suggested_item|offered|upsell ; offer
fulfilment|handover|delivery_or_pickup|method ; how=delivery/courier,pickup/collection/takeaway
delivery_address|address ; addr
street ; street
floor|storey ; floor
bell|name_on_bell ; bell
wanted_on|date_wanted|handover_date ; when
wanted_at|time|slot ; slot
total|sum|amount ; total
delivery_fee|fee ; fee ; null if none is charged
payment|payment_method|pays ; pay=cash,card,account/invoice,online/prepaid ; How the customer pays
remark|special_request|note_type ; note=allergy,gift,access/delivery_instructions ; What the last remark is about
gate_code ; gate
currency ; $
""",
        weight=1.3,
    ),
    Scene(
        "order",
        """
[PURCHASE ORDER|Purchase Order|Order form (trade)|WHOLESALE ORDER] {id:code PO ######|PO-20##-###|######}
[Buyer: |Ordered by |]{buyer:company}[ · account {acct:code ####|T-####}| (customer {acct:code ####|T-####})|]
[Supplier|To|Vendor]: {seller:company}[, {town:city}|]
[[Date|Ordered][:| on] {day:today}
|][[Buyer's contact|Contact|Purchaser]: {who:name}[, {mail:email}|, {tel:tel}|]
|][[Incoterms|Terms of delivery|Delivery]: {inc:words EXW/FCA/DAP/DDP/CIF/FOB}[ {incplace:city}|]
|]
[Line  Art. no.  Description  Qty  Unit price|Item  Quantity  Price||]
<lines 2-10:[{sku:code ####-##|@@####|######}[  | \\| ]|]{what:of product}[  | \\| ]{q:count 2-144}[ pcs| ctn| boxes|][  | \\| ][@ |]{each:money 1-90}[  {amount:times q each}||][ ({due:later 10-60})|]>

[[Order value|Net total|Total net|Value of goods]: {net:total lines.q*each}
|][[Trade discount|Discount|Rebate] {disc:percent}[, to be deducted from your invoice|]
|][[Freight|Carriage|Shipping]: [{ship:money 10-400}|{ship:money 10-400} flat|paid by supplier|free from {:money 300-900}]
|]
[#part=yes:[You may send what is ready and the rest later.|Partial shipments are fine.|Send in several lots if that is quicker.|Do not wait for the last line.]|#part=no:[Everything in one delivery, please.|No partial deliveries.|We only accept the full order at once.|Keep it together.]|] [[Deliver|Needed|Required at our dock|Goods in] [by|on|no later than] {want:later 10-60}[, {from:time 6-9} to {to:time 12-16}|].|Delivery week {week:count 1-52}.|] [Deliver to {addr:address}[, gate {gate:code #|@}|].|]
[#pay=prepaid:[We pay in advance against your pro forma.|Payment before dispatch.|Our bank sends the money with this order.]|#pay=net:[Payment {terms:days} net.|We settle {terms:days} after receipt of the invoice.|Usual terms, {terms:days}.]|#pay=lc:[Against irrevocable letter of credit.|L/C at sight.|Our bank opens a documentary credit.]|] [#quote=yes:[As in your quotation {quote:code Q-####|##/###}[ of {quoted:earlier 5-60}|].|Prices from your offer {quote:code Q-####|##/###}[ ({quoted:earlier 5-60})|].]|#quote=no:[Prices as on your current list.|There was no offer for this.]|]
[Overdelivery of {over:percent} is accepted.|Late delivery: {penalty:percent} a week off the price.|Our last order {:code PO ######|PO-20##-###} of {:earlier 20-90} is still incomplete.|Every pallet needs our label {label:code @##|##-##}.|]
[Signed|Approved|Released]: {boss:name}[, {bossrole:words head of purchasing/buyer/owner/store manager}|]
""",
        """
po_number|order_number|purchase_order|order_id ; id
buyer|customer|ordered_by|purchaser_company ; buyer ; Company that orders
account_number|customer_number ; acct
supplier|vendor|seller ; seller ; Company that delivers
supplier_city|seller_city ; town
order_date|date|ordered_on ; day
contact|buyer_contact|purchaser ; who ; Person at the buyer
email ; mail
phone ; tel
incoterm|delivery_terms ; inc ; Three letters
incoterm_place|named_place ; incplace
net_total|order_value|total_net|value ; net
discount_percent|trade_discount|discount ; disc
freight|shipping_cost|carriage ; ship ; null if the buyer pays none
partial_delivery_allowed|partial_shipments|split_delivery ; part? ; May the supplier send it in several lots
delivery_date|required_by|needed_by|want_date ; want ; For the order as a whole
dock_opens|receiving_from ; from
dock_closes|receiving_until ; to
delivery_week|week ; week
delivery_address|ship_to ; addr
gate ; gate
payment_terms|payment|terms_of_payment ; pay=prepaid/advance,net/on_account,lc/letter_of_credit ; How the buyer pays
payment_days|net_days|credit_period ; terms
based_on_quotation|quoted|has_quotation ; quote? ; Does the order follow an offer
quotation_number|offer_number|quote_ref ; quote
quotation_date|offer_date ; quoted
overdelivery_tolerance|tolerance ; over
late_penalty|penalty_percent ; penalty
pallet_label|label ; label
approved_by|released_by|signed_by ; boss
approver_role|signatory_role ; bossrole
currency ; $
lines|items|order_lines|positions ; lines* ; In order
sku|article_number|item_code ; lines.sku
description|product|item|article ; lines.what ; as written
quantity|qty|ordered_quantity ; lines.q
unit_price|price|price_each ; lines.each
line_total|amount ; lines.amount
due|line_delivery_date ; lines.due ; null if the line has no date of its own
""",
    ),
    Scene(
        "order",
        """
[Subject: {:words Your order/An update/News about your parcel/Shipping notice/Back-order}

|][Hi {who:name},|Dear {who:person},|Hello {who.given},|Hi there,]

[quick update on|news about|a word on|here is where we are with|this is about] [order|your order|no.|purchase] {id:code #####|@@-#####|1##-#######|@######}[ from {placed:earlier 3-20}| of {placed:earlier 3-20}|][, placed with {shop:company}|].

<items 1-6:[- |• |][{qty:count 2-9} x |]{what:of product}[: | - | → ][#st=sent:[left us this morning|in the van since noon|handed to the courier|already travelling|went out with today's post|packed and gone]|#st=waiting:[the maker lets us wait|out of stock, more in {due:later 5-60}|not in the warehouse, expected {due:later 5-60}|follows by {due:later 5-60}|on back-order until {due:later 5-60}|we're still missing this one]|#st=dropped:[no longer made, we took it off|sadly discontinued|we can't get it any more|won't come, your money goes back|struck from the order]|#st=swapped:[not available, we put in {sub:of product} instead|you get {sub:of product} in its place|sold out, so we packed {sub:of product}]]>

[[What is on its way|The first parcel|Parcel one|This shipment] [travels with|goes by|is with] {carrier:words DHL/UPS/DPD/GLS/Royal Mail/FedEx/PostNord/Evri/Correos/Bring}[, number {track:code ##############|@@#########@@|1Z######@###|#### #### ####}|][ and should reach you|, due|, arriving] [{eta:later 1-5}[ between {w1:time 8-12} and {w2:time 13-20}|]|by {eta:later 2-6}|{:later 1-2} or at the latest {eta:later 3-7}].|Track it at {link:url}: {track:code ##############|@@#########@@}.|]
[#cost=free:[The second parcel costs you nothing extra.|We bear the postage for the rest.|No further postage.]|#cost=extra:[For the second parcel we have to add {extra:money 2-12}.|Splitting costs {extra:money 2-12}, I'm afraid.]|]
[#need=decision:[Please tell us whether you want to wait or cancel[ by {until:later 3-12}|].|Wait, swap or money back? Let us know[ by {until:later 3-12}|].|We need a yes or no from you[ by {until:later 3-12}|].]|#need=address:[The flat number is missing, please send it.|Our courier can't find the street, can you check it?|Please complete your address[ by {until:later 3-12}|].]|#need=payment:[Your card was refused, please try another one[ by {until:later 3-12}|].|The sum has not come in yet.|We are waiting for your transfer[ until {until:later 3-12}|].]|#need=nothing:[You don't have to do anything.|Just lean back.|We'll write again when the rest leaves.|No action from your side.]]
[[Refunded|Back on your card|You get back]: {refund:money 3-200}.|] [Total so far: {total:money 20-900}.|] [We have given you {points:count 20-900} points for the wait.|As a sorry: {voucher:code @@@@-##|SORRY##} takes {off:percent} off next time.|]
[The parcel goes to {addr:address}.|It goes to your neighbour {neigh:name} if you're out.|We leave it at {depot:place} if nobody is there.|]

[Yours|Best|Cheers|Kind regards],
{agent:name}[, {shop:company}|]
""",
        """
order_number|order_id|order|reference ; id
customer|buyer|name|recipient ; who ; without title
ordered_on|order_date|placed_on ; placed
shop|seller|merchant ; shop
carrier|courier|shipped_with ; carrier
tracking_number|tracking|parcel_number ; track
tracking_url|tracking_link ; link
expected_delivery|eta|delivery_date|arrives_on ; eta ; Latest day for what is on its way
window_from|between|earliest_time ; w1
window_to|and|latest_time ; w2
second_shipment_cost|split_cost|extra_shipping ; cost=free,extra/charged ; Does the rest cost postage
extra_postage|additional_shipping ; extra
action_needed|customer_action|what_to_do|required_action ; need=decision,address/address_missing,payment,nothing/none ; What the customer has to do
answer_by|deadline|respond_by ; until
refund|refunded_amount|money_back ; refund
total|total_so_far ; total
voucher_code|voucher ; voucher
voucher_percent ; off
bonus_points|points ; points
delivery_address|ship_to ; addr
neighbour|alternative_recipient ; neigh
drop_off_point|depot|pickup_point ; depot
agent|written_by|signed_by ; agent
currency ; $
items|lines|products|articles ; items* ; In order, with where each stands
product|name|item ; items.what ; as written
quantity|qty ; items.qty ; null if none is written
status|state ; items.st=sent/shipped/in_transit,waiting/back_ordered/delayed,dropped/cancelled/discontinued,swapped/substituted ; Where the item stands
available_on|restock_date|expected ; items.due
substitute|replacement ; items.sub
""",
        weight=1.3,
    ),
    Scene(
        "order",
        """
[Hallo|Guten Tag|Guten Morgen|Sehr geehrte Damen und Herren|Moin],

[hiermit bestelle ich|ich möchte bestellen|bitte liefern Sie uns|wir hätten gern|schicken Sie uns bitte|bitte notieren Sie folgende Bestellung][ laut Katalog {kat:code 20##|##/##}| wie im Angebot {ang:code A-####|####}|]:

[<zeilen 1-6:[- |• |][{menge:count 2-40} x|{menge:count 2-40} Stück|{menge:count 2-40}] {was:of ding}[, Art.-Nr. {art:code ###-###|######|@##}| ({art:code ###-###|######})|][ zu je {preis:money 5-300}| à {preis:money 5-300}|]>|<zeilen 1-4, :{menge:count 2-20} {was:of ding}>]
[(Nicht wieder {:of ding}, das war letztes Mal falsch.)|Letztes Mal kostete das {:money 50-900}.|]

[[Lieferung|Bitte] [bis|spätestens am|zum] {bis:later 3-40}[ an {addr:address}|].|Lieferadresse: {addr:address}|Eilt nicht.|] [#art=abholung:[Wir holen die Sachen selbst ab.|Mein Kollege {fahrer:name} kommt mit dem Wagen vorbei.|Ich komme am {hol:later 2-20} ins Lager.]|#art=spedition:[Bitte per Spedition, wir haben eine Rampe.|Es kommt auf eine Palette, also mit dem LKW.]|#art=paket:[Ein Paket genügt.|Per Post, bitte.|Mit DHL, wenn es geht.]|]
[#zahl=rechnung:[Ich zahle nach Erhalt der Ware.|Die Bezahlung erfolgt wie immer später, {ziel:days}.|Sie bekommen das Geld, wenn alles da ist.]|#zahl=vorkasse:[Das Geld ist schon überwiesen.|Ich habe den Betrag heute angewiesen.|Wir zahlen im Voraus.]|#zahl=lastschrift:[Buchen Sie den Betrag von unserem Konto ab: {iban:iban}.|Sie haben unsere Einzugsermächtigung.]|] [#best=yes:[Bitte bestätigen Sie kurz.|Ich bitte um eine Auftragsbestätigung.]|#best=no:[Eine Bestätigung brauche ich nicht.]|]
[[Unsere Kundennummer|Kd.-Nr.|Kundennummer]: {kd:code K-####|#####|###-##}|] [Bestellzeichen {zeichen:code @@-##|####/##}|]
[Viele Grüße|Mit freundlichen Grüßen|Danke und Gruß]
{wer:name}[, {firma:company}|]
[{tel:tel}|{mail:email}|]
""",
        """
kunde|besteller|name|customer|ordered_by ; wer
firma|company|unternehmen ; firma
kundennummer|customer_number|kd_nr ; kd
bestellzeichen|reference|ihr_zeichen ; zeichen
katalog ; kat
angebot|angebotsnummer|quotation ; ang
liefertermin|lieferung_bis|delivery_date ; bis ; null, wenn es nicht eilt|null if no date is given
lieferadresse|delivery_address|adresse ; addr
versandart|lieferart|delivery_method ; art=abholung/pickup,spedition/freight,paket/parcel ; Wie die Ware zum Kunden kommt
abholer|fahrer ; fahrer
abholung_am|pickup_date ; hol
zahlungsart|payment_method|bezahlung ; zahl=rechnung/invoice,vorkasse/prepaid,lastschrift/direct_debit
zahlungsziel|payment_term ; ziel
iban ; iban
bestaetigung_gewuenscht|wants_confirmation ; best?
telefon|phone ; tel
email ; mail
waehrung|currency ; $
artikel|positionen|items ; zeilen* ; in der Reihenfolge der Mail|in order
bezeichnung|artikel|name|product ; zeilen.was ; wie geschrieben
menge|anzahl|quantity ; zeilen.menge
artikelnummer|sku ; zeilen.art
einzelpreis|preis|unit_price ; zeilen.preis
""",
        "de",
    ),
)
