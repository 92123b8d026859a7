"""Scenes: notices to the public, recalls, outages, missed parcels, renewals, incident reports, questions in forums."""

from .scene import Scene

SCENES = (
    Scene(
        "notice",
        """
[{util:company}|{util:company} Networks|{util:company}, {town:city}|Service status – {util:company}|{town:city}, {util:company}]: [#what=power:[no current|lights out|you will be without electricity|the mains are switched off]|#what=water:[taps stay dry|no water|the pipes are shut|the supply of drinking water stops]|#what=internet:[no connection|your line will be dead|we are offline|the network is down]|#what=gas:[no gas|the gas main is closed|cookers stay cold]|#what=road:[road closed|no way through|diversion|the bridge is shut to cars]|#what=trains:[no trains|replacement buses|the line is interrupted]] [in {street:street}|in {quarter:title}|in {street:street} and {street2:street}|between {a:city} and {b:city}]

[#plan=planned:[We replace an old cable.|A new main is being laid.|Our fitters have to work on the station.|This is routine work, we told you in {:words March/May/autumn}.|The works were fixed long ago.|Tests that we do once a year.]|#plan=fault:[A digger has cut the cable.|A tree fell on the line in last night's storm.|A valve burst.|We are looking for the cause.|A lorry hit the pole.|Lightning struck the station.]]
[From|Start|Begins][: | ][{day:today}, |{day:today} |]{t1:time 6-12} [to|until|–] {t2:time 13-22}[, {day2:later 1-2}|]
[?what=power?what=water?what=internet?what=gas:[About {homes:big} [homes|customers|households] are [affected|without it].|{homes:count 20-900} [homes|customers|households] are concerned.|]|]
[?plan=fault#state=fixed:[Everything has been back since {back:time 8-20}.|The trouble is over.|All lines work again.|Restored at {back:time 8-20}.]|?plan=fault#state=working:[Our people are on site.|We hope to finish by {hope:time 10-22}.|{crew:count 2-30} engineers are out.|Repairs go on, probably until {hope:time 10-22}.]|?plan=planned#state=coming:[Please fill a few bottles beforehand.|Plan ahead, please.|Charge your phone in time.|Think of the freezer.]|] [?what=water#boil=yes:[Boil tap water for {boil:days}.|Do not drink it unboiled.]|?what=water#boil=no:[The water is safe to drink.]|]
[Emergency point: {point:place}.|A tanker stands at {point:place}.|Buses leave from {point:place} every {mins:count 10-60} minutes.|] [You can claim {comp:money 10-80} [if it lasts longer than {hours:count 4-48} hours|].|]
[Questions: {tel:tel}|Hotline {tel:tel}, day and night|News at {url:url}|{tel:tel} or {mail:email}]
[The works of {:earlier 5-60} are finished.|{:street} is not affected.|An earlier notice named {:later 5-10}: this is wrong.|]
""",
        """
issuer|utility|company|published_by ; util
city|town ; town
service|what_is_affected|affected_service|type ; what=power/electricity,water,internet/telecom,gas,road/road_closure,trains/rail
street|affected_street|location ; street
second_street|also_affected ; street2
district|quarter|area ; quarter
section_from|between ; a
section_to|and ; b
cause_type|planned_or_fault|nature ; plan=planned/maintenance,fault/failure/unplanned ; Was it planned
date|start_date|day ; day
start_time|from|begins ; t1
end_time|until|ends ; t2
end_date ; day2
affected_customers|households|homes_affected ; homes ; As a number
status|state|situation ; state=fixed/restored/resolved,working/in_progress,coming/upcoming/announced
restored_at|back_at ; back
expected_repair|estimated_end|eta ; hope
engineers|crew_size ; crew
boil_water|boil_notice|must_boil ; boil? ; Must the water be boiled
boil_days ; boil
emergency_point|meeting_point|help_point ; point
bus_interval|every_minutes ; mins
compensation ; comp
compensation_after_hours ; hours
phone|hotline ; tel
url|website ; url
email ; mail
currency ; $
""",
        weight=1.3,
    ),
    Scene(
        "notice",
        """
[#sort=goods:|#sort=food:][PRODUCT RECALL|Recall|Safety notice|Important warning to customers|Customer information|We are calling back]
[{firm:company}|{firm:company} [is calling back|recalls|takes back|asks you to return]]: [?sort=goods:{what:of product}|?sort=food:{what:of produce up}]
[Model|Article|Type] {model:code @@-###|####|@##}[, batch {batch:code L#####|@####|##-##}|, lots {batch:code L#####|@####}|][?sort=food:, best before {bbd:later 20-300}|][, serial numbers from {sn:code ######} to {:code ######}|]
[Sold|On sale|In shops] [between {from:earlier 100-300} and {to:earlier 10-90}|from {from:earlier 100-300} to {to:earlier 10-90}|since {from:earlier 100-300}] [at|in|by] {shops:list company 1-3}[, {n:big} pieces|, about {n:count 100-9000} pieces|].

[Reason|Why|What is wrong][: | – ][?sort=goods:{haz:of hazard}|?sort=food:{haz:of food_hazard}]. [#inj=yes:[{injured:count 2-12} people have been hurt so far.|There have been {injured:count 2-12} reports of burns.|A child had to be treated.]|#inj=no:[Nobody has come to harm.|We know of no accident.|No injuries are known to us.]|]
[?sort=goods#do=stop_use:[Do not use it any more and unplug it.|Put it out of reach at once.|Stop using it.|Don't switch it on again.]|#do=return:[Bring it back to the shop.|Take it to any branch.|Hand it in where you bought it.|Return it at the counter.]|#do=destroy:[Throw it away.|Cut the cord and put it in the bin.|Please destroy it and send us a picture.|Into the dustbin with it.]|?sort=goods#do=repair:[We send you a new part.|A free kit will make it safe.|Our technician comes and mends it.|Have it fixed at no cost.]|?sort=goods#do=update:[Install version {ver:code #.#.#|#.##}.|Load the new software from our site.|Connect it to the network for the update.]]
[#comp=refund:[You get your money back[, {amount:money 3-400}|], even without a receipt.|We return the price[ ({amount:money 3-400})|].|The full sum will be paid out[: {amount:money 3-400}|].]|#comp=new:[You will be given a new one.|We swap it for a safe one.|A replacement is waiting for you.]|#comp=voucher:[You receive a voucher of {amount:money 3-60}.|{amount:money 3-60} to spend in our shops is yours.]|]
[Not affected: batch {:code L#####|@####} and the {:of product}.|Other {firm} products are safe.|The recall of {:earlier 100-400} has nothing to do with this.|]
[Information|Contact|Help][: | ]{tel:tel}[ ({h1:time 7-9} to {h2:time 16-20})|][, {mail:email}|][, {url:url}|]
[{day:today}[, {sign:name}|]|{firm}, {day:today}|]
""",
        """
company|manufacturer|recalling_company|issuer ; firm
product|recalled_product|item ; what ; as written
model|model_number|article_number ; model
batch|lot|lot_number|batch_number ; batch ; The affected one
best_before|expiry_date ; bbd
first_serial_number|serial_from ; sn
sold_from|on_sale_since ; from
sold_until ; to
retailers|sold_at|shops ; shops ; in order
units|pieces|quantity|units_affected ; n ; As a number
hazard|reason|risk|defect ; haz ; as written
injuries_reported|anyone_hurt|has_injuries ; inj? ; Has anybody been hurt
number_of_injuries|injured ; injured
action|customer_action|what_to_do|instruction ; do=stop_use,return,destroy/dispose,repair,update/software_update ; What owners are to do
software_version|version ; ver
compensation|remedy ; comp=refund,new/replacement,voucher
refund_amount|amount ; amount
phone|hotline ; tel
hotline_from ; h1
hotline_until ; h2
email ; mail
website|url ; url
date|published|notice_date ; day
signed_by ; sign
currency ; $
""",
        weight=1.2,
    ),
    Scene(
        "delivery",
        """
[Sorry we missed you|We were here|Delivery card|Missed delivery|Your parcel|Message from your courier][, {carrier:words DHL/UPS/DPD/GLS/Evri/PostNL/Bpost/Correos/Hermes/Royal Mail}| – {carrier:words DHL/UPS/DPD/GLS/Evri/PostNL/Bpost/Correos/Hermes/Royal Mail}]
[{who:name}
|To {who:name}[, {street:street}|]
|][Date|Visited|Attempt {try:count 1-3}][: | ]{day:today}[, {at:time 8-19}| at {at:time 8-19}|]
[Parcel|Shipment|Tracking|No.][: | ]{track:code ##############|@@#########@@|#### #### ####|JJD##########}[ from {sender:company}|, sender {sender:company}|][ ({kg:measure 1-30 kg})|]

[#why=not_home:[Nobody opened.|We rang twice.|No answer at the door.|You were out.]|#why=address:[The house number does not exist.|No such name on the bells.|The street could not be found.|Flat number missing.]|#why=refused:[The person at the door would not take it.|You told us to take it back.|Acceptance was declined.]|#why=customs:[There is {duty:money 3-60} to pay first.|Import charges of {duty:money 3-60} are open.|The papers for customs are incomplete.]|#why=damaged:[The box was wet through and had to go back to the depot.|It came apart in the van.|The contents had broken.]|#why=access:[The gate was locked.|A dog kept us from the door.|The road is dug up.|The lift was out of order and it weighs too much.]]
[#where=neighbour:[It is with {neigh:name}[, {neighst:street}|].|Your neighbour {neigh:name} kindly took it.|{neigh:name} next door has it.]|#where=shop:[Fetch it from {shop:of merchant}[, {shopst:street}|].|You can pick it up at {shop:of merchant}[, {shopst:street}|].|It waits in {shop:of merchant}[ ({shopst:street})|].]|#where=locker:[It lies in locker {lock:count 2-90}, code {pin:code ####|######}.|Open locker {lock:count 2-90} with {pin:code ####|######}.]|#where=depot:[It is back at our depot in {depot:city}.|We took it to {depot:city} again.]|#where=sender:[It returns to where it came from.|We send it back.|It goes home again.]|#where=safe:[We left it behind the bins.|It stands in the shed.|Look under the bench.]|#where=van:[We try again on {next:later 1-3}[, {n1:time 8-12} to {n2:time 13-20}|].|Our next attempt is on {next:later 1-3}.]]
[?where=shop?where=locker?where=depot:[From {from:later 1-2}[, {fromat:time 8-14}|]|From {fromat:time 15-18} today][, until {until:later 5-14}|, kept until {until:later 5-14}|].||] [?where=shop?where=depot:[Bring your passport.|You need this card and proof of who you are.|Don't forget your ID.]|]
[#sign=yes:[Someone has to sign.|We need your name on the screen.]|#sign=no:[No signature needed.]|] [To choose another day: {url:url}.|Call {tel:tel}.|Your driver: {driver:name}.|{tel:tel}|]
[A second parcel ({:code ##############}) has been delivered.|The one of {:earlier 1-6} is with {:name}.|]
""",
        """
carrier|courier|delivery_company ; carrier
recipient|addressee|name ; who
street|address ; street
date|attempt_date|delivery_date ; day
time|attempt_time ; at
attempt|attempt_number ; try
tracking_number|parcel_number|shipment ; track
sender|shipper ; sender
weight|weight_kg ; kg
reason|failure_reason|why_not_delivered ; why=not_home/absent,address/bad_address,refused,customs/charges_due,damaged,access/no_access ; Why it could not be handed over
amount_due|charges|customs_charge ; duty
location|parcel_is_now|current_place|where ; where=neighbour,shop/parcel_shop,locker,depot,sender/returned,safe/safe_place,van/new_attempt ; Where the parcel is or goes
neighbour|left_with ; neigh
neighbour_street ; neighst
pickup_shop|parcel_shop|collect_at ; shop
pickup_street|shop_street ; shopst
locker_number|locker ; lock
pin|locker_code|code ; pin
depot_city|depot ; depot
next_attempt|new_delivery_date|redelivery ; next
window_from ; n1
window_to ; n2
collect_from|pickup_from|available_from ; from
collect_from_time|pickup_time ; fromat
collect_until|kept_until|pickup_deadline ; until
signature_required ; sign?
redelivery_url|url ; url
phone ; tel
driver ; driver
currency ; $
""",
        weight=1.2,
    ),
    Scene(
        "renewal",
        """
[Subject: |]{svc:of line} {plan:of model}: [your subscription|your membership|your plan|what changes for you|your trial]

[Hi {who.given},|Dear {who:name},|Hello {who:name},]

[#ev=renewed:[another {term:months} with us!|we have extended your subscription by {term:months}.|all set for {term:months} more.|your card was charged and you can go on for {term:months}.|welcome back for {term:months}.]|#ev=expiring:[the time is nearly up.|soon the door closes.|you have only {left:days} to go.|just {left:days} and it's over, unless you act.|don't lose your files: {left:days} remain.]|#ev=cancelled:[we're sad to see you go.|as you asked, we won't go on after the end of the term.|you've turned off the renewal.|that's it, then. Goodbye!|your wish is our command: no more charges.]|#ev=price:[from your next bill we have to ask for a little more.|things have become dearer for us, too.|we're adjusting what you pay.|after {:count 2-6} years at the same price, it changes.]|#ev=failed:[your card was turned down.|we could not collect the money.|the bank said no to our charge.|your payment bounced.]]
[?ev=renewed?ev=price?ev=expiring:[Plan|Tariff|Seats]: [{svc} |]{plan}[, {seats:count 2-40} seats|].|]
[?ev=price:[So far {old:money 3-40}, in future {price:money 41-90}|Instead of {old:money 3-40} it will be {price:money 41-90}|{price:money 41-90} (now {old:money 3-40})] [#per=month:[a month|monthly|per month]|#per=year:[a year|yearly|per annum]], from {eff:later 20-60}.|?ev=renewed?ev=failed?ev=expiring:[Price|Amount|Charge|You pay][: | ]{price:money 3-200}[#per=month:[ a month| monthly| per month]|#per=year:[ a year| yearly| per annum]|][, tax included|].]
[?ev=renewed:[Next charge|Renews again|Valid until]: {next:later 28-400}.|?ev=expiring:[Ends|Last day|Access until][: | on ]{next:later 2-30}.|?ev=cancelled:[You can use it until {next:later 5-60}.|Access ends on {next:later 5-60}.]|?ev=failed:[We try again on {next:later 2-7}.|Please update it by {next:later 2-7}, then we switch it off.]]
[Card|Paid with|Method][: | ][Visa|Mastercard|Amex] [ending |••|…]{card:code ####}[, valid until {cardexp:code 0#/3#|1#/2#}|]. [Order|Receipt|Ref.] {id:code ####-####|@@#####|SUB-#####}.
[?ev=renewed?ev=expiring?ev=price:[#auto=yes:[It goes on by itself unless you stop it.|You need do nothing to keep it.|We renew it automatically.]|?ev=expiring#auto=no:[It will not continue by itself.|You have to renew it by hand.|Without your click it ends.]]|]
[?ev=price?ev=renewed:[You may end it until {cancel:later 10-19}.|Not happy? Cancel by {cancel:later 10-19}[, {notice:days} before the term ends|].]|?ev=cancelled:[Come back before {cancel:later 10-60} and get {disc:percent} off.|If you change your mind: {disc:percent} off.]|] [#data=deleted:[Your files are wiped {keep:days} later.|After {keep:days} everything is gone for good.]|#data=kept:[Nothing you made gets lost.|Your projects stay where they are.]|] [Manage it at {url:url}.|Help: {mail:email}.|]
[Your old plan {:of model} ({:money 3-40}) ended on {:earlier 20-90}.|]
[Your|The] {svc} team
""",
        """
service|product|provider|brand ; svc
plan|tier|tariff ; plan
customer|name|subscriber ; who
event|notice_type|type|what_happened ; ev=renewed/renewal,expiring/expiry_soon,cancelled/cancellation,price/price_change,failed/payment_failed
term_months|extended_by|term ; term
days_left|remaining_days ; left
seats|users|licences ; seats
price|amount|new_price ; price ; What is charged now or in future
old_price|previous_price ; old
currency ; $
billing_period|interval|per|cycle ; per=month/monthly,year/yearly/annual
price_effective|valid_from|new_price_from ; eff
next_date|renewal_or_end_date|valid_until|relevant_date ; next ; Next charge, last day of access, or next attempt
card_last_four|card|last4 ; card
card_expiry ; cardexp
reference|order_number|receipt ; id
auto_renew|renews_automatically|automatic ; auto? ; Does it go on without the customer
cancel_by|cancellation_deadline|return_offer_until ; cancel
notice_days|notice_period ; notice
discount_percent|discount ; disc
data_policy|data_after_end|files ; data=deleted/erased,kept/retained
data_kept_days|deleted_after ; keep
url|manage_at ; url
support_email|email ; mail
""",
        weight=1.2,
    ),
)
