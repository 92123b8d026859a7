"""Scenes: what people and firms write when money is due: freelancers, utilities, dentists, reminders, credits."""

from .scene import Scene

SCENES = (
    Scene(
        "invoice",
        """
[Subject: [Invoice|My invoice|Bill|Invoice attached,] {no:code 20##-##|INV-###|##/20##|####|@@##}[ for {:months}| - {:of service}|]

|][Hi {client.given},|Dear {client:name},|Hello {client.given},|Hey {client.given},|Good morning {client.given},]

[hope all is well.|thanks again for the nice job.|it was a pleasure working on this.|as promised, here comes my bill.|just a short mail about money.|] [Below|Here|Underneath|In the body of this mail, as you asked,] [is|you'll find] [my invoice|the invoice] [no. |number |#|]{no:code 20##-##|INV-###|##/20##|####|@@##}[ of {day:today}|, dated {day:today}|, issued {day:today}][ for the work I did for {buyer:company}| for {buyer:company}|]:

[<lines 1-6:[- |* |– |]{what:of service}[: | – | ... |, ][{q:number 1-40 1} [h|hrs|hours] [@|at|x] {each:money 25-140}[/h| an hour|] = {amount:times q each}|{amount:money 80-3000}|{q:number 1-9 0} [days|half days] at {each:money 150-900} each: {amount:times q each}]>|<lines 1-4, plus :{what:of service} ({amount:money 80-3000})>|<lines 2-5:{amount:money 80-3000}   {what:of service}>]
[[Travel|Train fare|Expenses|Outlay]: {extra:money 10-300}
|]
[[That makes|Which comes to|Adds up to|Subtotal:|Net:] {net:total lines.amount extra}[,|.] [plus|and] {rate:vat} [VAT|tax] ({tax:share net rate})[,|.|] [so|in all|total:|altogether] {total:total lines.amount extra tax}[.|]|[Total|All in all|Sum to pay|Amount due|Please transfer]: {total:total lines.amount extra tax}[ (no VAT, I am below the threshold)| (small business, no VAT)|]|Net {net:total lines.amount extra}, VAT [at |]{rate:vat} {tax:share net rate}, total {total:total lines.amount extra tax}]

[[It would be great if you could pay|Please pay|I'd be grateful for payment|Kindly settle it] [within {terms:days}|by {due:later 7-40}|until {due:later 7-40}|no later than {due:later 7-40}].|You know the drill: {terms:days}.|No fixed date, but sooner is nicer.|As always, {terms:days} net.] [#pay=transfer:[My bank details: {iban:iban}|Bank: {iban:iban}|Account {iban:iban}[ ({bank:company})|]|To {iban:iban}, please].|#pay=paypal:[PayPal works best: {mail:email}|You can use the blue button, my address there is {mail:email}|Send it via PayPal to {mail:email}].|#pay=card:[Here's the link for your Visa or Mastercard|You can settle it with plastic here|Any credit card will do, just follow]: {link:url}|#pay=cash:[Notes are fine, too, we'll meet anyway.|I'm happy to take it in notes when I come by.|Just hand me the money on Friday.]]
[#late=yes:[I have to add that the last one is still open.|By the way, invoice {old:code ###|##/##} over {:money 100-900} hasn't arrived in my account yet.|One more thing: {old:code ###|##/##} is overdue.]|#late=no:[Thanks for settling the last one so fast!|The previous one has come in, thank you.|Your last payment arrived, all good.]|] [My quote was {quote:money 300-8000}; it changed because {:reason}.|That's less than the {quote:money 300-8000} I had estimated.|]

[Best|Cheers|Warmly|All the best|Many thanks],
{seller:name}
[{seller.given} {seller.family} {:words Design/Studio/Text/Media/Translations}
|][{road:street}, {town:city}
|][[VAT ID|Tax no.|VAT reg.|UTR][:|] {vat:code GB### #### ##|DE#########|##/###/#####|##########}|]
""",
        """
invoice_number|number|invoice_no|invoice_id|reference ; no
invoice_date|date|issued_on|issue_date ; day
due_date|pay_by|payable_by|due_on ; due ; null if only a period or nothing is given|Last day for the payment
payment_terms_days|payment_term|days_to_pay|net ; terms ; Period for payment
{ client|customer|bill_to|buyer
company|organisation|name ; buyer ; Firm that pays
contact|contact_person|attention ; client
}
freelancer|seller|issuer|supplier|from ; seller ; Who sends the bill
street|seller_street ; road
city|seller_city ; town
tax_number|vat_id|tax_id ; vat
subtotal|net|net_amount|net_total ; net ; Before tax, as stated
tax_rate|vat_rate ; rate
tax_amount|vat|vat_amount ; tax
total|amount_due|grand_total|total_amount|gross ; total ; What the client has to pay
expenses|travel_costs|outlay ; extra
quoted_amount|estimate|quote ; quote ; Sum that was estimated before the work
currency|currency_code ; $ ; ISO 4217
payment_method|pay_with|method ; pay=transfer/bank_transfer,paypal,card/credit_card,cash ; How the money is to be sent
iban|bank_account|account ; iban
bank ; bank
payment_link|link ; link
earlier_invoice_open|previous_unpaid|arrears ; late? ; Is an earlier invoice still unpaid
open_invoice|unpaid_invoice ; old ; Number of an earlier invoice that is unpaid
items|line_items|positions|services ; lines* ; In order|What was charged, without expenses
description|service|work|item ; lines.what ; as written
quantity|hours|units ; lines.q ; null if the line has a flat price
rate|unit_price|price_per_unit ; lines.each ; null if the line has a flat price
amount|line_total|price ; lines.amount
""",
        weight=1.4,
    ),
    Scene(
        "invoice",
        """
{firm:company} [Energy|Water|Power & Gas|Utilities|Networks|]
[Your {kind:words electricity/gas/water/energy} [bill|statement]|Bill for {kind:words electricity/natural gas/water and sewage/district heating/broadband}|Statement no. {no:code ### ### ####|##########}]
[[Bill date|Date of issue|Issued|Printed]: {day:today}
|][[Account number|Customer no.|Contract account|Your account]: {acct:code ### ### ###|#########|@-########}
|][[Bill number|Statement|Bill no.] {no:code ### ### ####|##########}
|]
{who:person}
[{road:street}
{zip:code @@# #@@|#####|####} {town:city}|{addr:address}|{addr:address}]

[[For the period|Period|Covering|Supply from] {start:earlier 60-95} [to|until|–] {end:earlier 3-30}[ ({:count 28-92} days)|]
|]
[Meter|Meter no.|Serial] {meter:code @##@######|########|@-#####}: [previous|last reading|old] {r1:count 1000-5000}[, |; | → ][new|current|present|this time] {r2:count 5001-9000}[, |; | = ][used|consumption|difference] {used:difference r2 r1} [kWh|m³|units]. [#read=estimated:[We could not get in, so the figure is our best guess.|As nobody sent a reading, we worked it out from last year.|The figure was calculated from your earlier use.|Nobody was home when our reader called, we projected the figure.|This is not what your meter shows, but what we expect it to show.]|#read=actual:[Our reader took it on {readday:earlier 4-30}.|You sent us the reading on {readday:earlier 4-30}, thank you.|Your smart meter reported it by itself.|Read on the spot by our technician.|Taken from the photo you uploaded.]|]

[Standing charge|Base price|Fixed charge|Network fee]   {fixed:money 8-60}
[Usage|Energy|Units used|Consumption charge]   {use:money 30-600}
[[Discount|Dual fuel discount|Loyalty rebate|Rebate]   -{disc:money 1-7}
|][[Balance from last bill|Brought forward|Still open from before]   {prev:money 5-120}
|][VAT [at |]{rate:vat}   {tax:share use rate}
|][[Payments received|You have paid|Instalments so far]   -{paid:share use 10-60}
|][Total due|Amount due|Please pay|To pay|New balance|TOTAL NOW DUE]   {total:total fixed use -disc prev tax -paid}

[#pay=debit:[We will collect this from your bank on or after {due:later 8-28}.|You need do nothing: the sum leaves your account on {due:later 8-28}.|As agreed, we draw the amount on {due:later 8-28}.|Your Direct Debit goes out on {due:later 8-28}.]|#pay=transfer:[Please send it to {iban:iban} by {due:later 8-28}.|Pay in to {iban:iban} until {due:later 8-28}, quoting your account number.|Use online banking ({iban:iban}) before {due:later 8-28}.]|#pay=counter:[Take this slip to any post office by {due:later 8-28}.|You can pay at shops with the PayPoint sign until {due:later 8-28}.|Please pay over the counter in our centre by {due:later 8-28}.]]
[Your new monthly [instalment|payment] [is|will be] {inst:money 30-240}[ from {instfrom:later 20-50}|].|From {instfrom:later 20-50} you pay {inst:money 30-240} a month.|] [#trend=up:[You used more than a year ago.|That is {trend:percent} above the same months last year.|Compared with last year your use has risen.|Your neighbours manage on less, and so did you last year.]|#trend=down:[Well done, you used less than last year.|That is {trend:percent} below last year's figure.|Your use has fallen since last year.|You saved compared with the year before.]|#trend=same:[Your use is about what it was last year.|Hardly any change on last year.|Nearly the same as twelve months ago.]|]
[Same period last year: {lastyear:count 100-4000} units.|Your tariff {tariff:words Green 24/Fix Easy/Standard Variable/Night Saver/Family Plus/Basic} ends on {tend:later 60-400}.|] [Questions? {tel:tel}[, {:time 7-9} to {:time 17-20}|]. In an emergency ({:words gas smell/burst pipe/outage}) {emer:tel}.|Help: {tel:tel}.|{mail:email}|]
""",
        """
supplier|provider|company|utility ; firm
commodity|utility_type|service ; kind
bill_number|invoice_number|statement_number ; no
account_number|customer_number|contract_account ; acct
bill_date|issue_date|date ; day
customer|account_holder|name|customer_name ; who ; without title
supply_address|address ; addr
street ; road
city|town ; town
postcode|postal_code ; zip
{ period|billing_period|supply_period
from|start ; start
to|end ; end
}
meter_number|meter|meter_serial ; meter
previous_reading|old_reading|last_reading ; r1
current_reading|new_reading|reading ; r2
consumption|usage|units_used ; used ; As stated, without the unit
reading_type|reading_basis|read_by ; read=estimated/calculated,actual/measured ; Was the meter really read
reading_date|read_on ; readday
standing_charge|base_charge|fixed_charge ; fixed
usage_charge|energy_charge|consumption_charge ; use
discount|rebate ; disc ; As a positive number
previous_balance|carried_forward|arrears ; prev
vat_rate|tax_rate ; rate
vat|tax_amount ; tax
payments_received|already_paid ; paid ; As a positive number
amount_due|total_due|total|balance_due ; total ; Sum to be paid now
due_date|debit_date|payment_due|pay_by ; due ; When the sum is collected or has to be there
payment_method|method ; pay=debit/direct_debit,transfer/bank_transfer,counter/over_the_counter
iban ; iban
monthly_instalment|new_instalment|monthly_payment ; inst
instalment_from ; instfrom
usage_trend|trend|compared_to_last_year ; trend=up/higher,down/lower,same/unchanged ; Use compared with last year
usage_last_year|last_year_consumption ; lastyear
tariff|plan ; tariff
tariff_ends|contract_end ; tend
phone|service_phone ; tel ; Number for questions, not for emergencies
emergency_phone ; emer
currency ; $
""",
        weight=1.2,
    ),
    Scene(
        "invoice",
        """
[{seller:company}, accounts receivable|{seller:company}|From: {seller:company} Accounts]
[To: {buyer:company}|{buyer:company}
Att. {att:name}|{att:name}
{buyer:company}]
[{day:today}|Date {day:today}]

[Subject|Re|About]: [invoice|our invoice|your account, invoice] {no:code #####|INV-####|RE-20##-###|@####}[, {:words overdue/still open/unpaid/reminder/account}|]

[Dear {att.given},|Dear Sir or Madam,|Good day,|Hello,|Dear customer,]

[#level=first:[perhaps it slipped your mind:|in the bustle of daily business things get forgotten,|you may have overlooked that|surely just an oversight:|a friendly note that|we are sure it is only a small slip, but] [our invoice {no} of {issued:earlier 30-80} over {amount:money 50-5000} is not settled yet|{amount:money 50-5000} from invoice {no} ({issued:earlier 30-80}) has not reached us].|#level=second:[we wrote to you on {rem1:earlier 10-25} already, yet|despite our letter of {rem1:earlier 10-25}|our first note of {rem1:earlier 10-25} got no answer, and|once more we have to ask you, after {rem1:earlier 10-25}, for] [invoice {no} of {issued:earlier 30-80} (sum {amount:money 50-5000}) is open|{amount:money 50-5000}, invoice {no} of {issued:earlier 30-80}, is missing].|#level=final:[all our letters have gone unanswered.|this is the last time that we write to you ourselves.|our patience is at an end.|we shall not ask again.|after three letters we see no other way.] [Invoice {no} of {issued:earlier 60-120} over {amount:money 50-5000} must now be paid|We demand {amount:money 50-5000} for invoice {no} of {issued:earlier 60-120}].]

[[It was due on|The date for payment was|Payment should have been here by|It fell due on] {wasdue:earlier 12-29}.|]
[[In addition|On top|To this we add|There is also] [a [reminder fee|late fee|handling charge] of {fee:money 3-40}|{fee:money 3-40} [for this letter|in fees]][ and interest of {interest:money 1-60}| plus {interest:money 1-60} interest|].|We waive the reminder fee this time.|] [[All together|The full sum|You now owe|Total to pay|Amount outstanding][:| is| comes to|] {total:total amount fee interest}.|]
[Please [transfer|pay|send] [it|the sum|the money] [by|until|no later than] {due:later 5-20}[ to {iban:iban}|].|We look for your payment by {due:later 5-20}[ on {iban:iban}|].|You have {grace:days}.]
[#next=collection:[If not, an agency will get the file.|Otherwise we hand the claim to a debt collector.|After that a collection firm takes over.]|#next=court:[If the day passes, our solicitor will sue.|Otherwise we go to court without further notice.|We shall then apply for a court order.]|#next=stop:[Until then we do not deliver anything else.|Your account is blocked for new orders as of today.|We have put all your deliveries on hold.]|] [Have you paid in the last days? Then forget this letter.|If the payment has crossed with this letter, ignore it.|If something was wrong with the delivery, ring {clerk:name}, {tel:tel}.|{clerk:name} ({tel:tel}) can agree on instalments with you.|]
[Invoice {:code #####|INV-####} over {:money 50-900} was settled on {:earlier 5-40}, thank you.|]

[Yours faithfully,|Kind regards|Regards,|Yours sincerely,]
{sign:name}
""",
        """
creditor|seller|company|issuer ; seller ; Who wants the money
debtor|customer|buyer|company_that_owes ; buyer ; Who owes the money
contact|attention|contact_at_debtor ; att
letter_date|reminder_date|date|written_on ; day
invoice_number|invoice|open_invoice ; no ; Number of the unpaid invoice
invoice_date|invoice_issued|issued_on ; issued
invoice_amount|open_amount|principal|original_amount ; amount ; Without fees and interest
original_due_date|was_due|due_since ; wasdue
reminder_level|stage|dunning_level|which_reminder ; level=first/friendly,second,final/last ; How far the matter has come
earlier_reminder|previous_reminder_date|first_reminder_on ; rem1
reminder_fee|late_fee|dunning_fee ; fee ; null if none is charged
interest|late_interest ; interest
total_due|total|amount_outstanding|total_claim ; total ; With fees and interest
new_due_date|pay_by|deadline|new_deadline ; due
grace_period|grace_days ; grace
consequence|next_step|threatened_action ; next=collection/debt_collection,court/legal_action,stop/delivery_stop ; What is threatened
iban|account ; iban
clerk|contact_person|accounts_contact ; clerk
phone|telephone ; tel
signed_by|signatory ; sign
currency ; $
""",
        weight=1.2,
    ),
    Scene(
        "invoice",
        """
[{prac:company} Dental|Dental practice {prac:company}|{prac:company} – dentistry|Surgery of {doc:person}]
[[Dentist|Treated by|Your dentist][:|] {doc:person}
|][Statement|Account|Bill|Invoice] [no. |]{no:code ##-####|D####|######}[ · {day:today}|, {day:today}| / printed {day:today}]

[Patient|For|Treatment of][: | ]{who:person}[, born {born:date}| (born {born:date})| · patient no. {pat:code #####|P-####}|]
[[Bill to|Addressee|Paid by][: | ]{payer:name}[ ({rel:words mother/father/guardian/husband/wife})|]
|]
[Date  Tooth  Treatment  Fee|Treatment  Amount||]
<lines 1-8:[{on:earlier 2-60}  |][{tooth:count 11-48}  |--  |]{what:of dental}[ x {n:count 2-4}|]  [{code:code D####|####|GOZ ####}  |]{fee:money 15-900}>

[Fees|Sum of fees|Total charges|Gross]: {gross:total lines.fee}
[[Laboratory|Lab work|Dental laboratory]: {lab:money 40-700}
|][[Your insurer|Insurance|{ins:company}|The plan] [pays|covers|has paid|share]: -{cover:share gross 20-70}
|][[Deposit|Paid at the desk|Already paid][ on {:earlier 2-30}|]: -{paid:share gross 5-25}
|][Your share|You pay|Patient balance|Still to pay|Balance due]: {total:total gross lab -cover -paid}

[#claim=direct:[We settle the rest with your insurer ourselves.|The claim has gone to your insurer from here.|You need not send anything in, we do that.]|#claim=patient:[Please send this bill to your insurer yourself.|Hand it in with your insurance to get your money back.|Keep the original for your insurer.]|] [Due|Payable|Please pay] [by {due:later 10-40}|within {terms:days}|on receipt]. [#plan=yes:[You can spread it over {rates:count 3-12} months, ask at the desk.|We offer {rates:count 3-12} monthly rates without interest.|Instalments are possible ({rates:count 3-12} months).]|#plan=no:[We cannot offer instalments.|Please pay in one sum.|The sum can't be split.]|]
[Next visit|Your next appointment|See you]: {next:later 20-200}[ at {nextat:time 8-17}|, {nextat:time 8-17}|][ for {nextwhat:of dental}| ({nextwhat:of dental})|].
[The cost plan of {:earlier 30-90} came to {plan:money 100-2500}.|]
""",
        """
practice|clinic|surgery|issuer ; prac
dentist|doctor|treated_by|practitioner ; doc ; without title
invoice_number|bill_number|statement_number|number ; no
invoice_date|date|bill_date ; day
patient|patient_name|name ; who ; without title
date_of_birth|born|birth_date ; born
patient_number|patient_id ; pat
payer|bill_to|responsible_party|guarantor ; payer ; Who gets the bill, if it is not the patient
relation_to_patient|relationship ; rel
total_fees|gross|total_charges ; gross ; Before insurance and payments
lab_costs|laboratory ; lab
insurance_share|covered_by_insurance|insurance_paid ; cover ; As a positive number
insurer|insurance_company ; ins
amount_paid|already_paid|deposit ; paid ; As a positive number
patient_share|balance_due|amount_due|patient_balance ; total ; What remains for the patient
estimate|cost_plan|planned_cost ; plan ; Sum in the earlier cost plan
claim_handling|insurance_claim_by|claim_sent_by ; claim=direct/practice,patient ; Who sends the claim to the insurer
due_date|pay_by ; due ; null if no date is given
payment_terms_days|payment_term ; terms
instalments_possible|payment_plan|installments ; plan? ; Can it be paid in instalments
number_of_instalments|months_to_pay ; rates
next_appointment|next_visit ; next
next_time ; nextat
next_treatment ; nextwhat
currency ; $
treatments|procedures|items|services ; lines* ; In order
treated_on|date ; lines.on
tooth|tooth_number ; lines.tooth ; null if no tooth is named
procedure|treatment|description ; lines.what ; as written
code|fee_code|procedure_code ; lines.code
quantity|count|times ; lines.n
fee|amount|price ; lines.fee
""",
    ),
    Scene(
        "invoice",
        """
[{firm:company}|CREDIT NOTE|{firm:company} – credit note]
[Credit note|Credit memo|Note of credit|CN] [no. |# |]{no:code CN-####|####-C|G#####}[, {day:today}| · {day:today}| of {day:today}]
[relating to|for|corrects|referring to|in respect of] [our |]invoice {inv:code INV-#####|######|R-####}[ of {invday:earlier 5-90}| dated {invday:earlier 5-90}|]

[Customer|To|Account]: {buyer:company}[ ({cust:code C-####|#####})|][, att. {att:name}|]

[Dear {att.given},|Good morning,|]
[#why=return:[you sent back|we have taken back|back in our warehouse since {back:earlier 1-10}:|thank you for the parcel, which held]|#why=damage:[we are sorry that this came broken:|the carrier has admitted the damage to|arrived in pieces, as your photos show:|cracked on arrival:]|#why=price:[you were right, the wrong rate was used for|we had charged you the list price instead of the agreed one for|the offer price should have applied to|too high on our invoice:]|#why=short:[fewer pieces than invoiced were in the crate:|part of this never left our warehouse:|you received less than we charged you for:|missing from the pallet:]|#why=double:[this was on two invoices by mistake:|we charged you twice for|our system billed this a second time:]]

<lines 1-5:[{sku:code ###-##|@@####|####}  |]{what:of product}  {q:count 1-40} [pcs|x|pieces|units|]  [@ {each:money 3-90}  {amount:times q each}|{amount:money 5-900}]>

[[Net credit|Credit before tax|Net] {net:total lines.amount}
[VAT|Tax] {rate:vat} {tax:share net rate}
|][Credit total|Total credited|Sum in your favour|We credit] {total:total lines.amount tax}
[[Restocking fee|Less handling|Deducted for return freight]: {fee:money 5-60}
|]
[#how=refund:[The money goes back to the account you paid from|You will see it on your bank statement|We pay it back by transfer][ by {by:later 2-14}| in the next days|].|#how=offset:[We set it against your next invoice.|Simply deduct it from what you owe us.|It stays on your customer account and reduces the next bill.|Please subtract it when you pay invoice {other:code INV-#####|######}.]|#how=voucher:[You can shop with it: code {vou:code @@@@-####|@#@#@#}.|Enter {vou:code @@@@-####|@#@#@#} with your next order.]]
[The original invoice came to {orig:share total 105-600}.|Your account now shows {bal:money 0-900}.|Please keep this with invoice {inv}.|] [Questions: {clerk:name}, {tel:tel}.|Handled by {clerk:name}.|]
""",
        """
credit_note_number|number|credit_memo|document_number ; no
date|credit_date|issued_on ; day
original_invoice|invoice_number|refers_to|corrected_invoice ; inv ; Invoice that is corrected
invoice_date|original_date ; invday
supplier|seller|issuer|company ; firm
customer|buyer|recipient|account ; buyer
customer_number|account_number ; cust
contact|attention ; att
reason|credit_reason|cause ; why=return/goods_returned,damage/damaged_goods,price/price_correction,short/short_delivery,double/duplicate_billing ; Why there is a credit
returned_on|goods_back_on ; back
net_credit|net|net_amount ; net
tax_rate|vat_rate ; rate
tax|vat|tax_amount ; tax
total_credit|credit_total|amount_credited|total ; total
restocking_fee|deduction|handling_fee ; fee
original_amount|invoice_total ; orig ; Total of the original invoice
account_balance|balance ; bal
settlement|how_settled|credited_by ; how=refund/bank_refund,offset/set_off,voucher/shop_credit ; What happens with the sum
refund_by|paid_back_by ; by
voucher_code|code ; vou
clerk|contact_person|handled_by ; clerk
phone ; tel
currency ; $
items|lines|positions|credited_items ; lines* ; In order
sku|article_number|item_number ; lines.sku
description|item|product|name ; lines.what ; as written
quantity|qty|pieces ; lines.q
unit_price|price ; lines.each
amount|line_total|credit ; lines.amount
""",
    ),
    Scene(
        "invoice",
        """
[Objet : facture {no:code F-20##-###|####|FA####}|Facture n° {no:code F-20##-###|####|FA####}|FACTURE {no:code F-20##-###|####|FA####}][ du {day:today}|, le {day:today}|]

[Bonjour {client.given},|Chère Madame {client:name},|Cher Monsieur {client:name},|Madame, Monsieur,|Bonjour,]

[voici ma facture pour|veuillez trouver ci-dessous le détail de|je vous adresse ma note pour|comme convenu, voici le montant pour] [les travaux réalisés|les prestations de ce mois|le chantier|mon intervention][ chez {buyer:company}| pour {buyer:company}|][ à {town:city}|] :

[<lignes 1-5:[- |• |]{what:of prestation} : {amount:money 30-2000}>|<lignes 1-4:{q:count 1-12} x {what:of prestation}, {each:money 20-200} l'unité, soit {amount:times q each}>|<lignes 2-5:{what:of prestation} ({q:count 1-20} h)   {amount:money 40-2000}>]

[Total HT|Montant HT|Sous-total] {net:total lignes.amount}
[TVA {rate:vat} : {tax:share net rate}|TVA ({rate:vat}) {tax:share net rate}|TVA non applicable, art. 293 B du CGI]
[Total TTC|Net à payer|À régler|Montant TTC] {total:total lignes.amount tax}
[[Acompte|Déjà versé] le {:earlier 10-40} : {paid:share total 10-50}[, reste {rest:total total -paid}|]|]

[[À régler|Merci de régler|Paiement attendu] [avant le|au plus tard le|d'ici le] {due:later 8-45}.|Échéance : {due:later 8-45}.|Délai de paiement : {terms:days}.|Paiement à réception.] [#pay=transfer:[Par virement : {iban:iban}|Sur mon compte {iban:iban}, s'il vous plaît|Coordonnées bancaires : {iban:iban}].|#pay=cheque:[Un chèque à mon ordre suffit.|Vous pouvez m'envoyer un chèque.|Chèque à l'ordre de {seller}.]|#pay=cash:[En liquide, c'est possible aussi.|Vous pouvez me régler en espèces.|De la main à la main, lors de ma prochaine visite.]]
[#done=yes:[Tout est terminé.|Le chantier est fini.|Il ne reste rien à faire.]|#done=no:[Je repasse le {back:later 3-30} pour finir.|Il reste quelques finitions, prévues le {back:later 3-30}.|La suite le {back:later 3-30}.]|] [Le devis du {:earlier 30-90} était de {quote:money 100-6000}.|Retard : pénalités de {pen:percent}.|]

[Cordialement,|Bien à vous,|Merci et à bientôt,|Avec mes salutations,]
{seller:name}
[SIRET {siret:code ### ### ### #####}|N° SIRET : {siret:code ##############}|{addr:address}|]
""",
        """
numero_facture|invoice_number|numero ; no
date_facture|invoice_date|date ; day
echeance|due_date|a_payer_avant ; due ; null si aucune date n'est donnée|null if no date is given
delai_paiement|payment_terms_days ; terms
client|customer|contact ; client
entreprise_cliente|company|societe ; buyer
emetteur|seller|prestataire ; seller
siret|registration_number ; siret
ville|city|lieu ; town
total_ht|net|montant_ht ; net
taux_tva|vat_rate ; rate
montant_tva|vat|tva ; tax
total_ttc|total|montant_total ; total
acompte|deposit|deja_verse ; paid
reste_a_payer|balance_due ; rest
montant_devis|quote|devis ; quote
penalites|late_penalty ; pen
mode_paiement|payment_method ; pay=transfer/virement,cheque,cash/especes ; Comment payer|How to pay
iban ; iban
travaux_termines|completed|termine ; done? ; Le travail est-il terminé|Is the work finished
prochaine_visite|next_visit ; back
devise|currency ; $
lignes|items|prestations ; lignes* ; dans l'ordre|in order
designation|description|prestation ; lignes.what
quantite|quantity|qte ; lignes.q
prix_unitaire|unit_price ; lignes.each
montant|amount|prix ; lignes.amount
""",
        "fr",
    ),
)
