"""Scenes: travel: tickets, stays, rented cars, changed flights, group tours, ferries; what was paid and what is still due."""

from .scene import Scene

_STAY = "Hotel Kompass/Pension Edelweiss/The Old Mill/Casa Alba/Hôtel du Lac/Youth Hostel North/B&B Three Chimneys/Gasthof Krone/Seaside Cabins"

SCENES = (
    Scene(
        "travel",
        f"""
[Booking|Reservation|Confirmation] [no. |]{{no:code @@@@@@|######|##-@@@##}}[ ([replaces|instead of] {{:code @@@@@@|######}})|]
[{{stay:words {_STAY}}}, {{town:city}}|Welcome to {{stay:words {_STAY}}} ({{town:city}})]

[Guest|Name]: {{who:person}}[; {{ad:spelled 1-5}} adults[, {{ki:spelled 1-4}} children|]|, {{ad:count 1-6}} [people|persons]]
[Arrival|From|Check-in]: {{a:later 5-90}}[ [from|after] {{at:time 13-17}}|]
[Departure|To|Check-out]: {{d:later 91-110}}[ [by|until] {{dt:time 9-12}}|][ ({{n:count 1-14}} nights)|]
[Room|Accommodation]: {{room:words double/twin/family room/single/dormitory bed/suite/hut for four}}[ {{view:words facing the lake/at the back/with balcony/ground floor}}|], [#b=none:[no meals|room only]|#b=breakfast:[breakfast included|with breakfast]|#b=half:[half board|breakfast and dinner]|#b=full:[full board|all meals]]
[Total|Price of the stay]: {{sum:money 60-2900}}[ ([was|instead of] {{:money 80-3200}})|]; [paid|deposit received]: {{dep:money 20-400}}; [still open|balance|due on arrival]: {{bal:total sum -dep}}
[Tourist tax {{tax:money 1-6}} a night, in cash.|City tax: {{tax:money 1-6}} per night.|]
[#pet=yes:[Your dog is expected[, {{pf:money 5-25}} a night|].|Pets come along[ for {{pf:money 5-25}} a night|].]|#pet=no:[No animals in the house.|Pets must stay at home.]|] [#can=free:[Cancel at no cost until {{cd:later 1-4}}.|Free of charge up to {{cd:later 1-4}}.]|#can=fee:[Cancelling costs {{cp:percent}}.|{{cp:percent}} is kept if you cancel.]|#can=none:[Non-refundable.|No money back, whatever happens.]|] [Key box code {{key:code ####}}.|Ring {{host:name}} when you are near: {{tel:phone}}.|] [Bikes may be left in the shed.|Parking {{park:money 4-25}} a day.|]
""",
        """
booking_number|reservation|confirmation_code ; no ; The valid one
hotel|accommodation|property ; stay
city|town ; town
guest|booked_by ; who
adults|guests ; ad
children ; ki
check_in|arrival_date|arrival ; a
check_in_time|arrival_from ; at
check_out|departure_date|departure ; d
check_out_time|leave_by ; dt
nights|number_of_nights ; n
room_type|room ; room
view|location_in_house ; view
board|meal_plan|meals ; b=none/room_only,breakfast/bed_and_breakfast,half/half_board,full/full_board
total_price|price|total ; sum
deposit|paid|already_paid ; dep
balance|amount_due|remaining ; bal ; Still to be paid
tourist_tax|city_tax ; tax
pets|pets_allowed|dog ; pet?
pet_fee ; pf
cancellation|cancellation_policy ; can=free/flexible,fee/with_fee,none/non_refundable
free_cancellation_until ; cd
cancellation_percent ; cp
key_code ; key
host|contact ; host
phone ; tel
parking_per_day|parking_fee ; park
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "travel",
        """
[E-TICKET|Fahrkarte / ticket|Your trip on {day:later 3-60}][ – order {no:code ######|@@######}|]
<p 1-4:[Passenger|Traveller|Pax] {name:name}[ ({kind:words adult/child/senior/student})|], [coach|car] {car:count 1-24}, seat {seat:code ##|##@|#@}[ ({pos:words window/aisle/table/quiet zone})|]>

<l 1-3:{train:code IC ###|TGV ####|RE #|@@ ####|EC ##} {from:city} [dep. |]{dep:time 5-14} [→|–|>] {to:city} [arr. |]{arr:time 15-23}[, [platform|pl.|Gl.] {pl:count 1-18}|]>
[Changes|Change of trains]: {ch:count 0-3}[, {mn:count 6-50} minutes to change|]
[Fare|Paid]: {fare:money 9-390}[ incl. [seat|reservation] {res:money 2-9}|][; card [ending|…]{card:code ####}|][, {disc:percent} off with {dc:words Railcard/BahnCard 25/Carte Senior/Halbtax}|]
[#f=flex:[Valid on any train that day.|You may travel earlier or later.]|#f=fixed:[Only valid on the trains shown.|No change, no exchange.]|] [#bike=yes:Bicycle place {bp:code ##} is booked.|#bike=no:No bicycles on this route.|] [#del=yes:[Attention: departs {late:count 5-90} minutes later.|Running {late:count 5-90} min behind time.]|]
""",
        """
order_number|booking_code ; no
date|travel_date ; day
changes|number_of_changes ; ch
transfer_minutes ; mn
fare|price|total ; fare
reservation_fee|seat_fee ; res
card_last4 ; card
discount_percent ; disc
discount_card|railcard ; dc
flexible|fare_type|ticket_type ; f=flex/flexible,fixed/train_bound
bicycle|bike_included ; bike?
bicycle_place ; bp
delay_minutes|delay ; late
passengers|travellers ; p*
name|passenger ; p.name
category|kind ; p.kind
coach|car ; p.car
seat ; p.seat
position ; p.pos
legs|segments|connections ; l* ; In order
train|train_number ; l.train
from|origin ; l.from
departure|departs ; l.dep
to|destination ; l.to
arrival|arrives ; l.arr
platform ; l.pl
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "travel",
        """
[Rental agreement|Hire car|Mietwagen] {no:code ########|RA-######}
[Driver|Renter]: {who:person}[, licence {lic:code @@######|#######@}|][; second driver {who2:name}[ (+ {dfee:money 4-15} a day)|]|]
[Car|Vehicle]: {car:words Škoda Fabia/Fiat 500/VW Caddy/Renault Zoe/Toyota Yaris/Ford Transit/Opel Corsa}, {plate:code @@-@@ ###|@@## @@@|#### @@@}[, {gear:words manual/automatic}|][, {fuel:words petrol/diesel/electric/hybrid}|]
[Out|Pick-up]: {p:place}, {town:city}, {o:later 1-20} {ot:time 7-20}, [{ok:number 900-60000 0} km|odometer {ok:number 900-60000 0}][, tank {ofuel:words full/half/three quarters}|]
[Back|Return|Drop-off]: [same place|{bp:place}, {btown:city}], {b:later 21-40} {bt:time 7-20}[ – not later|], [km {bk:number 60001-64000 0}|]
[Included|Free]: {km:number 100-3000 0} km[, each further one {xk:amount 0.1-0.6}|]. [Excess|You pay at most]: {ex:money 200-1800}[, reduced to {ex2:money 0-150} for {exf:money 6-30} a day|]. [Deposit|Blocked on your card]: {dep:money 150-1500}.
[Rate|Price]: {day:money 18-120} a day, {sum:money 60-1900} [in all|total].
[#dam=yes:[Scratch on the {side:words left door/rear bumper/right mirror/bonnet} noted.|Dent: {side:words left door/rear bumper/right mirror/bonnet}, noted on the sketch.]|#dam=no:[No damage when handed over.|Car without a scratch.]|] [#ab=yes:[May be driven to {ctry:country}.|{ctry:country} allowed.]|#ab=no:[Must stay in the country.|No border crossing.]|]
""",
        """
agreement_number|contract ; no
driver|renter|customer ; who
licence_number ; lic
second_driver|additional_driver ; who2
second_driver_fee ; dfee
car|vehicle|model ; car
plate|registration ; plate
gearbox|transmission ; gear
fuel|drive ; fuel
pickup_place ; p
pickup_city ; town
pickup_date|from ; o
pickup_time ; ot
odometer_out|start_km ; ok
fuel_level ; ofuel
return_place ; bp
return_city ; btown
return_date|until ; b
return_time ; bt
odometer_in|end_km ; bk
included_km ; km
price_per_extra_km ; xk
excess|deductible ; ex
reduced_excess ; ex2
excess_reduction_per_day ; exf
deposit|amount_blocked ; dep
daily_rate|price_per_day ; day
total|total_price ; sum
damage|existing_damage|pre_existing_damage ; dam?
damaged_part ; side
abroad_allowed|cross_border ; ab?
allowed_country ; ctry
currency ; $
""",
    ),
    Scene(
        "travel",
        """
[Dear travellers|Hello everybody|Dear group], [{days:spelled 3-12} days in {town:city}|our tour to {town:city}] [from|begins on] {b:later 20-120}[ [to|till] {e:later 121-140}|]. [We are|There are] {n:spelled 6-38} of us[ ({max:spelled 39-50} would fit the coach)|]. [Meeting point|We meet]: {mp:place}, {mt:time 4-9}[, {side:words behind the church/at the north exit/by the taxi rank}|].

<d 2-4:[Day|Tag] {dn:count 1-9}: [{prog:words boat trip/cathedral and old town/free day/cheese dairy/hike to the hut/salt mine/cooking class/museum island}][, {dist:measure 2-20 km}|][, {hrs:measure 1-7 hours}|][ ([extra|supplement] {x:money 5-60})|]>

[The price|It costs]: {pr:money 190-1900}[ [without|excluding] {wo:words lunch/drinks/the flight/museums/tips}|], single room [+|plus] {sr:money 30-290}. [[First|A first] {dep:money 50-300} by {due:later 3-18}|Deposit {dep:money 50-300}, until {due:later 3-18}]. [#visa=yes:[A visa is needed; forms from {vis:name}.|Without a visa you won't get in; {vis:name} helps.]|#visa=no:[An identity card will do.|No visa.]|] [Guide: {g:name}, {tel:tel}.|] [Bring {br:words good shoes/a torch/swimwear/a plug adapter/rain cover}.|] [#min=yes:The tour goes ahead.|#min=no:We still lack {lack:spelled 2-9} people, else it's off.|]
""",
        """
destination|city ; town
days|duration_days|length_days ; days
start|from|begins_on ; b
end|until|returns_on ; e
participants|group_size|travellers ; n
maximum_participants|max_seats ; max
meeting_point ; mp
meeting_time ; mt
meeting_detail ; side
price|price_per_person ; pr
not_included|excluded ; wo
single_supplement ; sr
deposit|first_payment ; dep
deposit_due|pay_by ; due
visa_required|visa_needed ; visa?
visa_contact ; vis
guide|tour_guide ; g
guide_phone ; tel
bring|what_to_bring ; br
confirmed|tour_confirmed ; min?
missing_participants ; lack
programme|itinerary|days_plan ; d*
day|day_number ; d.dn
activity|programme ; d.prog
distance_km|km ; d.dist
hours ; d.hrs
supplement|extra_cost ; d.x
currency ; $
""",
    ),
)
