"""Scenes: what banks, insurers and tax offices write: card payments, transfers, warnings, renewals, claims."""

from .scene import Scene

SCENES = (
    Scene(
        "bank",
        """
[{bank:company}|{bank:company} app|{bank:company} alerts|SMS {bank:company}|Push · {bank:company}|{bank:company} Card Services][: |
][[Alert|Notice|New|Info|Hi {who.given},|Dear {who:person},|Hello {who:name}][: | ]|]
[#type=card_payment:[you've just spent|we saw a purchase of|your card was used for|paid:|at the till:] {amt:money 2-900} [at|@|with] {shop:of merchant}[, {town:city}|]|#type=transfer_out:[you sent|on its way:|as instructed we passed on|outgoing:] {amt:money 10-4000} to {payee:name}[ (ref. "{ref:of purpose}")|, ref. {ref:of purpose}|]|#type=transfer_in:[good news:|there's money:|somebody paid you:|received:] {amt:money 10-4000} from {payer:company}[ (ref. "{ref:of purpose}")|, ref. {ref:of purpose}|]|#type=withdrawal:[cash taken:|out of the machine:|you took out notes:] {amt:money 20-500}, {atm:place}[, {town:city}|]|#type=standing_order:[as every month|your regular payment:|like clockwork,] {amt:money 10-1500} to {payee:company}[, {ref:of purpose}|][, next on {next:later 25-31}|]|#type=direct_debit:[{creditor:company} has collected|pulled from your account by {creditor:company}:|{creditor:company} took] {amt:money 5-600}[ (mandate {mand:code M-######|@@##-####})|]|#type=refund:[back in your pocket:|{shop:of merchant} returned|credited by {shop:of merchant}:] {amt:money 5-400}|#type=fee:[for keeping your account we took|charge for the quarter:|cost of the statement by post:] {amt:money 1-30}][, {day:today}[ {at:time}| at {at:time}|]| on {day:today}| ({at:time}, {day:today})|].
[?type=card_payment?type=withdrawal:[Card|card ending|with|Visa|Debit Mastercard] [\\*|••••|…|x|ending in ]{card:code ####}.|?type=transfer_out?type=transfer_in?type=standing_order?type=direct_debit?type=fee:[Account|a/c|current account] [..|\\*|ending |]{acct:code ####}.|]
[?type=card_payment?type=withdrawal:[That was {famt:amount 20-9000} {fcur:words THB/CZK/HUF/TRY/MXN/ISK/ZAR/BRL}[ at {rate:number 1-40 4}|][, fee {ffee:money 1-9}|].|Original amount {famt:amount 20-9000} {fcur:words THB/CZK/HUF/TRY/MXN/ISK/ZAR/BRL}[, foreign fee {ffee:money 1-9}|].]||]
[#st=done:[Booked.|It's through.|All done.|Settled.|Completed.]|#st=pending:[Not booked yet.|Reserved, will be booked in {:count 2-3} days.|Still being processed.|We're waiting for the merchant.|It will show on your statement later.]|?type=card_payment?type=withdrawal?type=transfer_out?type=standing_order?type=direct_debit#st=declined:[It did not go through.|We said no: not enough money on it.|Refused, the limit was reached.|The payment was turned down.|Nothing was taken, wrong PIN.]|?type=card_payment?type=withdrawal?type=transfer_out#st=held:[We have stopped it for now, is it really you?|On hold until you say yes.|We paused it to be on the safe side.|Waiting for your OK in the app.]|]
[[Balance|Left|Available|New balance|You now have][: | ]{bal:money 1-9000}[ (limit {limit:money 200-5000})|].|Limit left this month: {lim:money 50-4000}.|]
[#sus=yes:[Wasn't you? Ring {tel:tel} at once.|If you don't recognise this, block the card: {tel:tel}.|This looks odd to us. Reply NO if it's not yours[ or call {tel:tel}|].|Someone may have your details, please check.|Never seen it? Freeze the card in the app.|It's {:count 2-9} times more than you usually spend there: please confirm.]|#sus=no:[Nothing for you to do.|Just for your records.|You asked us to tell you about every movement.|No action is needed.]|] [We never ask for your PIN.|Your last statement closed at {:money 10-5000}.|Before: {:money 10-5000}.|]
""",
        """
bank|issuer|institution|sender ; bank
customer|account_holder|name ; who ; without title
transaction_type|type|event|kind ; type=card_payment/purchase,transfer_out/outgoing_transfer,transfer_in/incoming_transfer,withdrawal/cash_withdrawal,standing_order,direct_debit,refund,fee/bank_charge ; What moved the money
amount|transaction_amount|sum|value ; amt ; In the currency of the account
currency ; $ ; ISO 4217, of the account
merchant|shop|retailer|store ; shop
city|place|location ; town
payee|beneficiary|recipient|paid_to ; payee
payer|received_from|sent_by ; payer
creditor|collected_by ; creditor
mandate|mandate_reference ; mand
reference|purpose|remittance|memo ; ref ; as written
atm|cash_machine|withdrawn_at ; atm
date|transaction_date|booked_on ; day
time|transaction_time ; at
card_last_four|card|card_ending|last4 ; card ; Four digits
account_last_four|account|account_ending ; acct ; Four digits
foreign_amount|original_amount|amount_abroad ; famt ; As a number, null if it was in the account's currency
foreign_currency|original_currency ; fcur ; ISO 4217
exchange_rate|rate ; rate
foreign_fee|fx_fee ; ffee
status|state ; st=done/booked/completed,pending/reserved,declined/rejected,held/on_hold
balance|available_balance|new_balance ; bal ; After the movement
card_limit|limit ; limit
limit_left|remaining_limit ; lim
next_payment|next_due|next_execution ; next
suspicious|fraud_warning|possible_fraud|needs_check ; sus? ; Does the bank ask whether it was really the customer
phone|fraud_hotline|hotline ; tel
""",
        weight=1.8,
    ),
    Scene(
        "bank",
        """
[{bank:company}|{bank:company} Bank|{bank:company} Savings]
[Statement|Account statement|Your account at a glance|Movements|Extract] [no. {no:count 1-12}|{no:count 1-12}/{:code 20##}|]
[Account|IBAN|Account no.] {iban:iban}[, {who:name}| · {who:name}|]
[Period|From][: | ]{from:earlier 30-40} [to|–|until] {to:earlier 1-8}

[Opening balance|Balance brought forward|Old balance|Start] {open:money 100-6000}
[Date, text, amount|Day - Payee - Amount||]
<moves 2-10:{on:earlier 9-29}[  | \\| | - ][{who2:of merchant}|{who2:of merchant}|{who2:company}|{who2:name}][ {txt:of purpose}|, {txt:of purpose}||][  | \\| | - ][#dir=out:-|#dir=out:- |#dir=in:+|#dir=out:-]{sum:money 2-1500}>
[Closing balance|New balance|Balance|End] {close:money 100-9000}

[[Interest earned|Interest|Credit interest]: {int:money 1-40}[ at {irate:number 0-4 2} %|].|] [Overdraft limit {od:money 100-3000}[ at {odrate:number 7-15 2} %|].|] [#od=yes:[You went below zero for {oddays:count 2-20} days.|Your account was in the red.|You used the overdraft.]|#od=no:[You stayed in credit the whole time.|The overdraft was not touched.]|] [Card limit {card:money 500-5000}.|]
[#msg=rate:[From {eff:later 20-60} we pay {newrate:number 0-4 2} % on savings.|The savings rate goes to {newrate:number 0-4 2} % on {eff:later 20-60}.]|#msg=fee:[The account will cost {newfee:money 2-12} a month from {eff:later 20-60}.|As of {eff:later 20-60} we charge {newfee:money 2-12} monthly.]|#msg=branch:[Our branch in {branch:city} closes on {eff:later 20-60}.|You find us at {street:street} from {eff:later 20-60}.]|#msg=terms:[New terms apply from {eff:later 20-60}, please read them.|Our general conditions change on {eff:later 20-60}.]|]
[Object within {obj:days}.|Please check this and tell us about mistakes within {obj:days}.|] [Your adviser: {adv:name}, {tel:tel}.|]
""",
        """
bank|institution ; bank
statement_number|number ; no
iban|account|account_number ; iban
account_holder|holder|customer|name ; who
{ period|statement_period
from|start ; from
to|end ; to
}
opening_balance|old_balance|balance_start ; open
closing_balance|new_balance|balance_end ; close
interest|interest_earned ; int
interest_rate ; irate
overdraft_limit|overdraft ; od
overdraft_rate ; odrate
overdrawn|was_overdrawn|used_overdraft ; od?
days_overdrawn ; oddays
card_limit ; card
notice_about|announcement|message_type|change ; msg=rate/interest_rate,fee/account_fee,branch/branch_change,terms/conditions ; What the bank announces
effective_from|valid_from|change_date ; eff
new_rate|new_interest_rate ; newrate
new_fee|monthly_fee ; newfee
closing_branch ; branch
new_street ; street
objection_period|objection_days ; obj
adviser|advisor|contact ; adv
phone ; tel
currency ; $
transactions|movements|entries|bookings ; moves* ; In order
date|booked_on ; moves.on
counterparty|payee|name ; moves.who2
text|purpose|reference ; moves.txt
direction|sign|in_or_out ; moves.dir=out/debit,in/credit
amount|sum ; moves.sum ; Without the sign
""",
        weight=1.2,
    ),
    Scene(
        "insurance",
        """
[{ins:company} Insurance|{ins:company} Mutual|{ins:company} Assurance]
[Claim|Claim no.|Our ref.|File][: | ]{claim:code CL-######|##-####-###|SC######}
[Policy|Policy no.|Contract][: | ]{pol:code P#######|@@ ### ###|###-#####}
[{day:today}
|]
[Dear {who:person},|Dear {who:name},|Hello {who:name},]

[thank you for telling us about|we have looked into|this is our answer about|further to our letter of {:earlier 10-30},|we refer to] [the [incident|damage|loss]|what happened] on {loss:earlier 12-90}[ in {town:city}|]. [#what=water:[A hose burst and the floor is ruined.|The pipe behind the tiles gave way.|The washing machine flooded the kitchen.|Rain came through the roof.]|#what=theft:[Your {thing:of ware} was taken from the cellar.|Someone broke the lock and left with the {thing:of ware}.|The {thing:of ware} was gone when you came back.]|#what=car:[You were hit at a red light.|The other driver overlooked you when parking.|A deer ran in front of the bonnet.|A stone broke the windscreen.]|#what=fire:[A candle set the curtains alight.|The charger went up in flames.|Sparks from the chimney caused it.]|#what=travel:[You had to stay at home because of {sick:symptom}.|Your suitcase never arrived.|The flight was cancelled and the hotel was lost.]|#what=liability:[Your son kicked the ball through the neighbour's window.|You knocked over somebody's {thing:of ware}.|Your dog tore a stranger's trousers.]]

[#dec=approved:[We are glad to say that you are covered.|You will get the full sum.|We bear the whole cost.|Nothing stands in the way of payment.|We accept your claim as it is.]|#dec=partial:[We can bear only a part of it.|Not all of it is covered.|We pay some of what you asked for.|Because of wear we had to make deductions.|Half of it falls outside your policy.]|#dec=rejected:[Unfortunately we can't pay.|Your policy does not extend to this.|We must turn this down.|The claim came too late.|The exclusion in section {sec:count 2-19} applies.]|#dec=pending:[We can't decide yet.|An expert has to see it first.|Some papers are still missing.|Please be patient, we are looking into it.|We await the report of the police.]]
[You claimed|You asked for|Amount claimed:|Your bill was for] {asked:money 600-9000}[, the excess is {exc:money 50-500}|; less excess {exc:money 50-500}|]. [?dec=approved:[We transfer {paid:total asked -exc}[ on {payday:later 2-14}| to {iban:iban}|].|{paid:total asked -exc} will be in your account[ by {payday:later 2-14}|].]|?dec=partial:[We transfer {paid:share asked 20-70}[ on {payday:later 2-14}| to {iban:iban}|].|You receive {paid:share asked 20-70}[, paid on {payday:later 2-14}|].]|?dec=pending:[As a first payment you get {adv:money 50-900}.|{expert:name} will come on {visit:later 3-20}[ at {visitat:time 8-17}|].|Please let us have {miss:of form}[ by {until:later 7-30}|].]|?dec=rejected:[You may object within {obj:days}.|If you disagree, write to us within {obj:days}.|The ombudsman: {omb:tel}.]]
[#prem=same:Your premium [stays as it is|is not touched].|#prem=up:[From {premfrom:later 60-300} your premium is {prem:money 100-900}.|You lose your bonus: {prem:money 100-900} a year from {premfrom:later 60-300}.]|] [Last year's claim ({:code CL-######}, {:money 100-900}) is closed.|Repairs by {rep:company}, please.|]
[Questions? {clerk:name}, {tel:tel}.|Your contact: {clerk:name}[, {mail:email}|].|]
""",
        """
insurer|insurance_company|company ; ins
claim_number|claim_id|file_number ; claim
policy_number|policy|contract ; pol
letter_date|date|written_on ; day
policyholder|insured|claimant|customer ; who ; without title
date_of_loss|incident_date|damage_date|happened_on ; loss
place_of_loss|city ; town
type_of_loss|claim_type|cause|damage_type ; what=water/water_damage,theft/burglary,car/motor,fire,travel,liability/third_party_damage ; What happened
object|item|stolen_or_damaged_item ; thing
illness|symptom ; sick
decision|outcome|status|result ; dec=approved/accepted/covered,partial/partly_covered,rejected/denied,pending/open/under_review ; What the insurer decides
amount_claimed|claimed|requested_amount ; asked
excess|deductible ; exc
amount_paid|payout|settlement ; paid ; null if nothing is paid yet
advance|advance_payment ; adv
payment_date|paid_on ; payday
iban ; iban
expert|assessor|adjuster ; expert
inspection_date|visit_date ; visit
inspection_time ; visitat
missing_document|document_needed ; miss
submit_by|deadline ; until
policy_section|exclusion_section ; sec
objection_period|appeal_days ; obj
ombudsman_phone ; omb
premium_change|premium ; prem=same/unchanged,up/increased
new_premium|premium_amount ; prem
premium_from ; premfrom
repair_firm|repairer ; rep
clerk|contact|handler ; clerk
phone ; tel
email ; mail
currency ; $
""",
        weight=1.3,
    ),
    Scene(
        "tax",
        """
[#res=pay:|#res=refund:|#res=zero:][Tax Office|Revenue Office|Inland Revenue|City Treasurer|Council Tax Office] {town:city}
[Tax number|Tax ref.|Your number|File] {tax:code ##/###/#####|### ### ####|@@######@}
[Date[:|] {day:today}
|]
{who:name}
{addr:address}

[NOTICE OF ASSESSMENT|Assessment|Decision on your tax|Tax bill] for {year:words 2017/2018/2019/2020/2021/2022/2023/2024/2025/2026/2027}[ – {kind:words income tax/property tax/trade tax/council tax/dog licence/church tax}|: {kind:words income tax/property tax/trade tax/council tax/dog licence}|]

[Assessed|Taxable] [income|value|base] : {base:money 9000-90000}
[Tax for the year|Tax due|Tax set] : {due:money 900-9000}
[Already paid|Deducted from wages|Prepayments|Instalments paid] : [?res=pay:{pre:share due 40-90}|?res=refund:{pre:share due 110-170}|?res=zero:{pre:total due}]
[?res=pay:[Surcharge|Late filing fee|Interest] : {extra:money 5-60}
|?res=pay?res=refund?res=zero:][?res=pay:[You still owe us|Please pay|To be paid|Remaining debt] : {sum:total due extra -pre}[ by {until:later 20-40}| until {until:later 20-40}|]|?res=refund:[We return to you|You have overpaid by|You get back|In your favour] : {sum:total pre -due}[, in {in:days}|]|?res=zero:[Nothing is owed on either side.|The account is even.|No sum has to move.]]
[?res=pay:[Account of the treasury: {iban:iban}.|It will be debited from your account.|Pay at {iban:iban}, quoting the number above.]|?res=refund:[It goes to {iban:iban}.|We use the account ending {last:code ####}.]|]

[#dep=yes:[We did not accept the costs of your {item:words study/journeys/laptop/second home/meals/moving}.|The {item:words study/journeys/laptop/second home/meals} could not be deducted.]|#dep=no:[Your return was taken over without changes.|We followed your figures in full.]|] [Next year's instalments: {inst:money 100-2000}, first on {first:later 60-120}.|Instalments of {inst:money 100-2000} fall due from {first:later 60-120}.|] [Objection: within {obj:months} in writing.|You may object within {obj:months}.|An objection must reach us within {obj:months}.|] [The notice of {:earlier 20-200} is void.|For {:code 20##} you paid {:money 500-5000}.|]
[Official in charge: {off:name}[, {room:room}|][, {tel:tel}|]|Questions: {tel:tel}]
""",
        """
authority_city|tax_office|city ; town
tax_number|tax_reference|file_number ; tax
notice_date|date|issued ; day
taxpayer|name|addressee ; who
address ; addr
tax_year|year|period ; year ; as written
tax_type|kind_of_tax ; kind
taxable_base|assessed_amount|taxable_income ; base
tax|tax_set|tax_amount ; due
prepaid|already_paid|deducted ; pre
surcharge|extra_charge|interest ; extra
result|outcome|balance_type ; res=pay/additional_payment,refund,zero/nothing_due ; Who owes whom
amount|balance|sum ; sum ; What is still to be paid or returned
pay_by|due_date|deadline ; until
refund_within|refund_days ; in
iban ; iban
account_last_four ; last
deviation|changed_by_office|return_changed ; dep? ; Did the office depart from the return
rejected_item|not_accepted ; item
instalment|prepayment_amount ; inst
first_instalment ; first
objection_period|appeal_period ; obj
official|clerk|contact ; off
room ; room
phone ; tel
currency ; $
""",
    ),
)
