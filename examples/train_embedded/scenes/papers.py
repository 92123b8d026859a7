"""Scenes: short papers of every day, from parcel cards to laboratory results."""

from .scene import Scene

SCENES = (
    Scene(
        "delivery",
        """
[Delivery note|Packing slip|Consignment|We tried to deliver|Parcel card] [{no:code ######|DN-####|@@########}|]
[From|Sender|Shipper]: {from:company}[, {fromtown:city}|]
[To|Consignee|Ship to|For]: [{to:company}|{to:person}][, attn. {att:name}|]
{addr:address}
[<items 1-4:{n:count 1-60} [pcs|x|boxes of] {what:goods}>|[Contents|Goods]: {goods:goods}]
[[Colli|Parcels|Packages|Boxes]: {colli:count 1-20}[ on {pal:count 1-4} pallets|][, |; ]|][[gross|Weight|total weight] {kg:number 0.5-900 1} kg[ (net {net:number 0.4-800 1})|]|]
[#sig=yes:To be handed over against signature.|#sig=yes:Recipient must sign.|#sig=no:May be left without a signature.|#sig=no:No signature is asked for.|] [#frag=yes:Handle with care, glass inside!|#frag=yes:FRAGILE|#frag=no:]
[#where=neighbour:You were out; your neighbour {nb:name} has it.|#where=shop:You can fetch it at {shop:company} from {fetch:later 1-3}[ on, until {until:later 5-15}|].|#where=shed:We put it into the garden shed.|#where=door:Delivered at the door, {when:date}[, {at:time}|].|#where=returned:Nobody would take it, so it goes back to the sender.|]
[Invoice follows separately.|The invoice address differs.|Order {order:code ######|PO-####} of {:earlier 3-30}.|Claims within {:count 3-14} days.|Driver: {drv:name}|]
""",
        """
delivery_note|number|shipment|consignment ; no
sender|shipper|from ; from
sender_city ; fromtown
recipient|consignee|ship_to|to ; to ; without title
attention|contact_person ; att
address|delivery_address ; addr
contents|goods ; goods
parcels|packages|colli ; colli ; Number of parcels
pallets ; pal
gross_weight_kg|weight_kg|total_weight ; kg ; Total weight
net_weight_kg ; net
signature_required|sign_on_delivery ; sig? ; Must someone sign
fragile ; frag? ; Is it marked as fragile
left_at|handover|outcome|delivered_to ; where=neighbour,shop/parcel_shop,shed/garden_shed,door/in_person,returned/return_to_sender ; Where the parcel went
neighbour ; nb
pickup_shop ; shop
pickup_from ; fetch
pickup_until|keep_until ; until
delivered_on ; when
order_number ; order
driver ; drv
items|lines ; items* ; in order
quantity|pieces ; items.n
item|name ; items.what ; as written
""",
    ),
    Scene(
        "fine",
        """
[{town:city} [Council|City Council|Borough]|City of {town:city}][, parking services|, public order office|]
[Penalty notice|Notice of a fine|Ticket|Reminder] [no. |]{no:code ##-######|@@######|####-###}
[Registration|Vehicle|Plate|Reg.]: {plate:code @@## @@@|@-@@ ###|@@-###-@@}[ ({make:words Volvo/Fiat/Opel/Renault/Toyota/Skoda/Ford}, {col:words white/grey/blue/red})|]
[#what=parking:Parked without a ticket|#what=parking:The time on the ticket had run out|#what=parking:Stood in a loading bay|#what=speeding:{v:count 35-190} km/h where {lim:count 30-130} are allowed|#what=speeding:Measured {v:count 35-190} km/h, limit {lim:count 30-130}|#what=red_light:Crossed while the light showed red|#what=phone:Held a telephone while driving] [in|at] {road:street} on {day:date}[ at {at:time}|, {at:time}|].
[Amount|To pay|Fine]: {amount:money 10-400}[ (reduced to {red:money 5-200} if paid by {redby:later 5-15}|; {red:money 5-200} within {:count 10-14} days|]. [Points: {pts:count 1-3}.|No points.|] [Licence withdrawn for {months:count 1-3} months.|]
[You may object until {obj:later 14-30}.|Appeals in writing by {obj:later 14-30}.|No appeal is possible.|] [#paid=yes:We have received your payment; the matter is closed.|#paid=no:We have not received any money.|]
[{officer:code PCN ###|Officer ####|###}|Officer {off:name}|]
""",
        """
authority|issued_by|city ; town
notice_number|ticket_number|reference ; no
registration|plate|number_plate ; plate
make ; make
colour ; col
offence|violation|type|reason ; what=parking/parking_violation,speeding,red_light/red_light_violation,phone/mobile_phone ; What the driver did
speed|measured_speed ; v
speed_limit|limit ; lim
street|place|location ; road
date|offence_date ; day
time ; at
amount|fine|penalty ; amount ; Full amount
reduced_amount|discounted_amount ; red
reduced_until|pay_by ; redby
currency ; $
points ; pts
driving_ban_months|ban_months ; months
objection_until|appeal_by ; obj
paid|is_paid ; paid?
officer ; off
""",
    ),
    Scene(
        "library",
        """
[{lib:place} Library|Library {lib:city}][ · {day:today}| | - {day:today}]
[Dear {who:person}|Reader {who:name}][ (card {card:code #######|L-####})|],
[#why=overdue:these should have been brought back on {due:earlier 2-30}|#why=overdue:we miss the following, due {due:earlier 2-30}|#why=reserved:what you asked for is here and waits until {hold:later 3-14}|#why=reserved:your reservation can be picked up[ until {hold:later 3-14}|]|#why=loan:you have borrowed until {due:later 7-30}|#why=lost:you told us that this was lost; please replace it or pay {price:money 5-60}]:
<media 1-4:- {title:subject}[, {author:name}|] [(shelfmark {mark:code ###.#|@@ ###|#@-##}|(no. {mark:code ####|######})|]>
[Fee[ so far|]: {fee:money 0-12}.|It costs {fee:money 0-3} a day.|No fee yet.|] [#renew=yes:You can extend the loan once more online.|#renew=yes:Renewal possible.|#renew=no:Others are waiting, so we cannot extend.|#renew=no:No further renewal.|]
[Open {open:time} to {close:time}[, closed on {off:words Mondays/Sundays/Wednesdays}|].|Renewals: {tel:phone}|{mail:email}|]
""",
        """
library ; lib
reader|borrower|name ; who ; without title
card_number|library_card ; card
date|letter_date ; day
reason|type|kind ; why=overdue/reminder,reserved/reservation/ready,loan/receipt,lost ; Why the library writes
due_date|due|return_by ; due
hold_until|pick_up_by ; hold
replacement_price ; price
fee|charge ; fee
currency ; $
renewable|can_be_renewed|extension_possible ; renew? ; Can the loan be extended
opens_at ; open
closes_at ; close
closed_on ; off
phone ; tel
email ; mail
items|media|books ; media* ; in order
title ; media.title ; as written
author ; media.author
shelfmark|call_number ; media.mark
""",
    ),
    Scene(
        "lab",
        """
[{lab:company}|Laboratory {lab:title}][ – report {no:code ######|L##-####}|]
[Sample|Specimen|Probe] {sid:code @####|##-####|@@@##}[: {what:words tap water/blood/soil/urine/milk/sea water/river water/paint}|][, taken [on |]{taken:earlier 2-20}|][, received {recv:earlier 1-3}|]
[Client|For|Customer|Patient]: [{client:company}|{client:person}]
[Date of report|Reported|Issued]: {day:today}

<values 2-6:{name:words pH/sodium/nitrate/iron/glucose/lead/calcium/potassium/chloride/turbidity/creatinine/haemoglobin/cholesterol/zinc}[:|  |=] {v:number 0.1-300 2} {unit:words mg per l/mmol/ppm/NTU/%}[ (ref. {:number 0-9 1}-{:number 10-90 1})|][ H| L|]>

[#res=pass:All values are within the limits.|#res=pass:Fit for use.|#res=fail:The limit for {name2:words nitrate/lead/iron/coliforms} is exceeded.|#res=fail:Not to be used for drinking.|#res=unclear:Please send another sample, the result is not certain.|#res=unclear:To be repeated.] [#urgent=yes:We have told you by phone as this cannot wait.|]
[Method {meth:code ISO #####|EN ####|M-##}.|] [Cost {cost:money 20-300}.|] [{sign:person}[, {role:words head of laboratory/chemist/medical officer}|]|]
""",
        """
laboratory|lab ; lab
report_number ; no
sample_id|sample|specimen ; sid
material|sample_type ; what
taken_on|sampling_date ; taken
received_on ; recv
client|patient|customer ; client ; without title
report_date|issued_on ; day
result|assessment|verdict ; res=pass/ok/within_limits,fail/exceeded,unclear/inconclusive ; Overall result
exceeded_parameter|parameter_exceeded ; name2
method ; meth
cost ; cost
signed_by ; sign ; without title
signer_role ; role
values|results|measurements|parameters ; values* ; in order
parameter|name|substance ; values.name
value|result ; values.v
unit ; values.unit
""",
    ),
    Scene(
        "hotel",
        """
[Dear {who:person},|Dear guest,|Hello {who.given},|{who:name}]
[#st=confirmed:we are glad to confirm your stay|#st=confirmed:your room is booked|#st=cancelled:your booking has been called off as you asked|#st=waiting:all rooms are taken at present; we have put you on the list|#st=changed:we have moved your stay as you wished] [at|in] {hotel:company}[, {town:city}|][ (no. {no:code ######|HB-####})|].
[Arrival|Check-in|You come on|From] {a:date}[ from {ain:time}|], [departure|check-out|you leave on|to] {b:later 2-20}[ by {bout:time}|][ - {n:count 1-14} nights|]. [{rooms:count 1-4} [#kind=single:single rooms|#kind=double:rooms with a double bed|#kind=suite:suites|#kind=dorm:beds in the dormitory]|A [#kind=single:single room|#kind=single:room for one|#kind=double:double room|#kind=double:room for two|#kind=suite:suite]][ for {adults:count 1-6} adults[ and {kids:count 2-4} children|]|][, {view:words sea view/view of the garden/to the yard/facing the mountains}|].
[#board=none:Meals are not part of the price.|#board=breakfast:Breakfast is included.|#board=breakfast:Rolls and coffee in the morning are on us.|#board=half:With breakfast and dinner.|#board=full:Three meals a day.|] [Price|Rate|It costs]: {price:money 40-400} [#per=night:a night|#per=night:per night|#per=stay:for the whole stay|#per=stay:in all]. [Deposit {dep:money 20-200}[ by {depby:earlier 1-20}|].|] [#cancel=yes:You can cancel free of charge until {until:earlier 1-10}.|#cancel=no:The booking can't be cancelled.|#cancel=no:Non-refundable rate.|]
[#pets=yes:Your dog is welcome[ ({petfee:money 5-30})|].|#pets=no:Please note that we do not take animals.|] [#late=yes:You told us that you will be late; the key is in the box.|] [Parking {park:money 3-30}.|Free parking.|] [Your earlier dates ({:date} to {:date}) are void.|]
[Kind regards,|] {sign:name}[, reception|]
""",
        """
guest|name|booked_by ; who ; without title
status|state ; st=confirmed/booked,cancelled,waiting/waiting_list,changed/modified
hotel|property|accommodation ; hotel
city|town ; town
booking_number|confirmation|reference ; no
check_in|arrival|from ; a ; date
check_in_time|from_time ; ain
check_out|departure|to ; b ; date
check_out_time|until_time ; bout
nights|number_of_nights ; n
rooms|number_of_rooms ; rooms
room_type|room ; kind=single,double,suite,dorm/dormitory
adults ; adults
children ; kids
view ; view
board|meals|meal_plan ; board=none/room_only,breakfast,half/half_board,full/full_board
price|rate|amount ; price
price_per|per|price_basis ; per=night/per_night,stay/total
deposit ; dep
deposit_due ; depby
currency ; $
free_cancellation|cancellable ; cancel? ; Can it be cancelled
cancel_until|free_cancellation_until ; until
pets_allowed|pets ; pets?
pet_fee ; petfee
parking_fee ; park
signed_by ; sign
""",
    ),
    Scene(
        "handover",
        """
[Handover protocol|Inspection of the flat|Move-out report|Check-out inventory|Visit of {day:today}]
[{addr:address}[, {floor:count 1-9}. floor|]|Flat {unit:code #@|##|@#}, {addr:address}]
[Date {day:today}[, {at:time}|]|On {day:today}]
[Landlord|Owner]: {owner:name} [/|;|] [tenant|Tenant]: {tenant:name}
[Electricity|Power|Meter el.] {el:count 1000-99000} [kWh|]; [gas {gas:count 100-9000} m³|water {water:count 10-900} m³|no gas]. [Keys handed over|Keys]: {keys:count 2-9}[, one is missing|].
Defects:
<defects 1-4:- {where:words kitchen/hall/bathroom/living room/bedroom/balcony/cellar}: {what:clause}>
[#clean=yes:The flat was swept and clean.|#clean=yes:Left spotless.|#clean=no:Not cleaned.|#clean=no:Dirty, has to be cleaned at the tenant's expense.] [#paint=yes:Walls freshly painted.|#paint=no:Walls must be painted.|] [Deposit {dep:money 300-3000}: {keep:money 20-300} is kept back.|Deposit {dep:money 300-3000} to be returned in full[ by {ret:later 10-90}|].|] [#ok=agreed:Both sides agree.|#ok=agreed:Signed by both.|#ok=disputed:The tenant does not accept the list.|#ok=disputed:{tenant} signed under protest.]
[New address of the tenant: {new:address}|Next tenant from {next:later 5-60}.|Witness {wit:name}|]
""",
        """
address|property|object ; addr
floor ; floor
unit|flat_number ; unit
date|inspection_date|handed_over_on ; day
time ; at
landlord|owner ; owner
tenant ; tenant
electricity_reading|meter_electricity|power_kwh ; el
gas_reading ; gas
water_reading ; water
keys|number_of_keys ; keys
clean|was_cleaned ; clean?
walls_painted|painted ; paint?
deposit ; dep
deposit_retained|kept_back ; keep ; null if all is returned
deposit_return_by ; ret
currency ; $
agreement|result|accepted ; ok=agreed/accepted,disputed/rejected ; Do both sides agree
new_address|forwarding_address ; new
next_tenant_from ; next
witness ; wit
defects|damages ; defects* ; in order
room|where ; defects.where
defect|description|text ; defects.what ; as written
""",
    ),
    Scene(
        "chat",
        """
[#general, {day:today}
|{day:today}
|]{a:name}, {t1:time}: [morning all|hi|ok team]. {topic:subject}: [who takes it?|where do we stand?|any news?]
{b:name}, {:time}: [i can {:duty}, but not before {:later 2-9}|{:clause}, sorry|the numbers are {:count 20-900} so far]
{c:name}: [#dec=go:let's do it then|#dec=go:+1, go ahead|#dec=stop:i'd rather drop it|#dec=stop:no, too expensive at {cost:money 50-4000}|#dec=wait:can we wait until {until:later 3-30}?|#dec=wait:not now please]
{a.given}: [#agree=yes:fine with me|#agree=yes:agreed|#agree=yes:ok so be it|#agree=no:i don't think so|#agree=no:hmm, no]. [{own:words Ines/Tariq/Bo/Wanda/Lasse/Chidi/Ayla} will {task:duty} by {by:later 1-14}|{b.given} please {task:duty} until {by:later 1-14}|then i {task:duty}, {by:later 1-14} at the latest]
{b.given}: [#mood=happy:🎉🎉|#mood=happy:great, thanks!!|#mood=annoyed:whatever.|#mood=annoyed:again? seriously?|] [link is {link:url}|call is at {call:time} in {room:room}|budget {bud:money 100-9000}, not {:money 100-9000} as i wrote before|see ticket {tick:code @@@-###|#####}|]
[{d:name} joined|{d:name} left the chat|]
""",
        """
started_by|initiator|first_speaker ; a
participants|people|members ; a+b+c ; in the order they speak
date ; day
topic|subject|about ; topic
decision|outcome|proposal_of_third_speaker ; dec=go/go_ahead,stop/drop,wait/postpone ; What the third person proposes
initiator_agrees|agreed|accepted ; agree? ; Does the person who started agree
cost|estimated_cost ; cost
wait_until|postponed_to ; until
assignee|owner|who ; own ; First name
task|to_do ; task ; as written
due|deadline|by ; by
mood|tone ; mood=happy/positive,annoyed/negative
link|url ; link
call_time ; call
room ; room
budget ; bud ; The final figure
ticket|ticket_id ; tick
joined_or_left ; d
""",
    ),
    Scene(
        "donation",
        """
[{org:company}|{org:company} (charity no. {reg:code #######})]
[{day:today}|]
[Dear {who:person},|Receipt for {who:person}|Dear friends at {firm:company},]
[thank you for|we confirm|with great pleasure we received] [#kind=money:your gift of {sum:money 5-5000}|#kind=money:{sum:money 5-5000}|#kind=goods:the {what:goods}[, worth about {val:money 20-900}|]|#kind=time:your {hours:count 3-200} hours of help] [on {on:earlier 1-60}|which reached us on {on:earlier 1-60}|]. [It will be used for {use:subject}.|Purpose: {use:subject}.|It goes where it is needed most.] [#anon=yes:As you wished, your name will not be printed.|#anon=no:Your name will stand on our wall of thanks.|] [#deduct=yes:The amount can be set off against tax.|#deduct=yes:This receipt serves for your tax return.|#deduct=no:Please note that it is not tax-deductible.|] [#reg=once:A single gift.|#reg=monthly:You give each month; thank you for being so faithful.|#reg=yearly:As every year!|]
[So far {n:count 20-900} people have given {raised:money 1000-90000} of the {goal:money 90001-300000} that we need.|We still lack {lack:money 500-9000}.|]
[Receipt no. {no:code ####/##|R-####}|]
{sign:name}[, {role:words treasurer/director/chair}|]
""",
        """
organisation|charity|recipient ; org
registration_number ; reg
donor|giver|name ; who ; without title
company_donor|company ; firm
receipt_date|date ; day
kind|type|donation_type ; kind=money/cash_gift,goods/in_kind,time/volunteering ; What was given
amount|sum|donation ; sum
item|goods ; what
value|estimated_value ; val
hours ; hours
donated_on|received_on ; on
purpose|used_for ; use
anonymous|stays_anonymous ; anon? ; Does the giver want to stay unnamed
tax_deductible|deductible ; deduct?
regularity|frequency ; reg=once/one_off,monthly,yearly/annual
donors|number_of_donors ; n
raised|total_raised ; raised
goal|target ; goal
missing|still_needed ; lack
currency ; $
receipt_number ; no
signed_by ; sign
role ; role
""",
    ),
)
