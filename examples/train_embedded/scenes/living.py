"""Scenes: events, homes, journeys, meals, reviews, news, health and things that are sold or lost."""

from .scene import Scene

SCENES = (
    Scene(
        "event",
        """
[You are invited!|Save the date|What's on|Poster at the door of the library:|Dear friends,|]
[{what:subject}|"{what:subject}"|{what:title}]
[#cat=concert:an evening of live music with {art:list name 1-3}|#cat=concert:{art:list name 1-3} play songs old and new|#cat=talk:{speaker:person} speaks about {:subject}|#cat=talk:a lecture by {speaker:person}, followed by questions|#cat=workshop:roll up your sleeves: {speaker:person} shows how it is done|#cat=workshop:a hands-on day for up to {max:count 6-24} people with {speaker:person}|#cat=market:{stalls:count 10-90} stalls with {:goods}, {:dish} and more|#cat=exhibition:pictures by {speaker:name}, opened by {opener:name}|#cat=sport:a run over {km:number 3-42 1} km through {:city}]

[{day:date}[, | at | · |, from ]{at:time}[ to {end:time}| until {end:time}|–{end:time}|]|[on|] {day:date}, doors {doors:time}, start {at:time}|{day:date} to {last:date}, daily from {at:time}]
[{where:place}, {town:city}|{where:place}, {road:street}, {town:city}|in the {where:place} ({road:street})]

[#free=yes:Admission is free[, donations welcome|].|#free=yes:No charge, but the hat goes round.|#free=yes:It costs nothing.|#free=no:{price:money 3-60}[, {red:money 2-30} for students|, members {red:money 2-30}|]|#free=no:Tickets {price:money 3-60} at the door[ (reduced {red:money 2-30})|]|#free=no:Entry: {price:money 3-60}]
[#reg=yes:Please register [by {until:earlier 2-30}|] [with {mail:email}|at {mail:email}|].|#reg=yes:Places are limited, so sign up [at {web:url}|] [before {until:earlier 2-30}|].|#reg=no:No registration needed, just drop in.|#reg=no:Just come.|]
[#out=outdoor:It takes place in the open, bring a coat.|#out=outdoor:We meet outside in the yard, whatever the weather.|#out=indoor:Should it rain: we are under a roof.|#out=indoor:Inside, heated.|]
[#soldout=yes:All seats are gone.|#soldout=no:There are still [a few|] seats.|]
[Last year's [edition|evening] on {:date} drew {:count 60-900} people.|The {:subject} evening of {:date} has been called off.|Parking behind the house {:money 2-8}.|Organised by {org:company}.|Host: {org:company}|]
""",
        """
name|title|event|event_name|what ; what ; Name of the event as written
category|type|kind|event_type ; cat=concert/music,talk/lecture,workshop/course,market/fair,exhibition,sport/sports ; Sort of event
date|event_date|starts_on|day ; day ; Day of the event, the first one if there are several
end_date|last_day|until ; last ; Last day; null if it is one day
start_time|begins|starts_at|time ; at ; When it starts, not when doors open
end_time|ends_at ; end
doors|doors_open|doors_time ; doors
venue|location|place ; where ; Name of the place
street|address ; road
city|town ; town
speaker|presenter|host|led_by ; speaker
performers|artists|line_up ; art ; in order
max_participants|capacity ; max
price|admission|full_price|ticket_price ; price ; Full price
reduced_price|concession|student_price ; red
currency ; $
free|is_free|free_entry|free_of_charge ; free? ; Does it cost nothing
registration_required|registration|needs_registration ; reg? ; Does one have to register
register_by|registration_deadline ; until ; Last day to register
contact_email|email ; mail
setting|indoor_outdoor|in_or_out ; out=indoor/indoors,outdoor/outdoors
sold_out ; soldout?
organizer|organiser|organised_by ; org
distance_km ; km
""",
    ),
    Scene(
        "realestate",
        """
[#offer=rent:To let: |#offer=rent:For rent - |#offer=sale:For sale: |#offer=sale:Buy it: |#offer=rent:Tenant wanted for |#offer=sale:We are giving up our home: ]{head:words bright flat under the roof/house by the river/quiet room with view/family home with garden/former bakery/flat near the station/cottage on the green/loft in the old mill/terraced house/two rooms and a balcony}[, {town:city}| in {town:city}| - {town:city}]

[{road:street}, {quarter:title}|{road:street}|The {quarter:title} quarter]. [{rooms:number 1-7 0} rooms on {size:number 22-240 1} m²|{size:number 22-240 0} sqm, {rooms:count 1-7} rooms, {beds:count 1-4} of them bedrooms|{size:count 200-2400} sq ft with {beds:count 1-5} bedrooms]. [#kind=apartment:On the {floor:count 1-9}. floor.|#kind=apartment:The flat is on floor {floor:count 1-12}.|#kind=house:A house of its own[, built in {built:year}|].|#kind=house:Detached, {built:year}.|#kind=room:You share kitchen and bath with {:count 1-4} others.|#kind=office:Suitable for a practice or an agency.]

[#lift=yes:There is a lift.|#lift=no:No lift, but the stairs keep you fit.|#lift=no:You climb the stairs.|] [#pets=yes:Cats and dogs are welcome.|#pets=yes:Your dog may move in as well.|#pets=no:Sorry, no animals.|#pets=no:Pets can't be kept.|] [#furn=yes:All furniture stays.|#furn=yes:Let furnished.|#furn=no:It comes empty.|#furn=no:Unfurnished.|] [#heat=gas:Gas heating.|#heat=pump:Warmth comes from a heat pump.|#heat=district:Connected to district heating.|#heat=oil:Oil heating of {:year}.|#heat=wood:Heated by a pellet stove.|] [It has {extras:list goods 1-3}.|]

[[Rent|Price|They ask|Cold rent|Asking price]: {price:money 300-3000}[ plus {extra:money 40-400} [service charges|utilities|heating and water]|]|{price:money 300-3000}[, bills {extra:money 40-400}|]]. [Deposit {dep:money 300-6000}.|A deposit of {dep:money 300-6000} is asked.|No deposit.|] [Free from {free:date}|Available {free:date}|You can move in on {free:date}|Free at once]. [Energy [class|rating] {epc:words A/B/C/D/E/F/G}[ ({kwh:count 30-300} kWh)|].|]
[Viewing on {view:date} at {viewat:time}|Viewings by appointment|Come and see it on {view:date}][, ask for {agent:name}|: {agent:name}, {tel:phone}|]. [Before the works the rent was {:money 200-900}.|The flat next door went for {:money 300-3000}.|Commission: none.|Agent's fee {fee:money 300-4000}.|]
[{firm:company}|{mail:email}|]
""",
        """
title|headline|ad_title ; head ; as written
offer|offer_type|listing_type|transaction ; offer=rent/to_let,sale/for_sale
property_type|kind|type ; kind=apartment/flat,house,room/shared_room,office/commercial
city|town|location ; town
street|address|street_address ; road
district|quarter|neighbourhood ; quarter
rooms|number_of_rooms ; rooms
bedrooms ; beds
area|size|living_area|floor_area ; size ; as a number, in the unit of the text
floor|storey ; floor
year_built|built ; built
lift|elevator|has_lift ; lift? ; Is there a lift
pets_allowed|pets ; pets? ; May pets be kept
furnished ; furn? ; Is it let with furniture
heating|heating_type ; heat=gas,pump/heat_pump,district/district_heating,oil,wood/pellets
extras|features ; extras ; in order
price|rent|monthly_rent|amount ; price ; Without extra costs
extra_costs|utilities|service_charge|additional_costs ; extra
deposit ; dep ; null if none is asked
currency ; $
available_from|free_from|move_in ; free ; null if it is free at once
energy_class|epc ; epc
viewing_date|viewing ; view
viewing_time ; viewat
agent|contact|contact_person ; agent
phone ; tel
agent_fee|commission ; fee
""",
    ),
    Scene(
        "travel",
        """
[Booking confirmation|Your itinerary|Thank you for travelling with {carrier:company}|E-ticket|Your trip at a glance|{carrier:company}]
[[Booking code|Reference|PNR|Your code is|Confirmation]:? {pnr:code @@@@@@|@#@@##|######}|{pnr:code @@@@@@|@#@@##}]

[[Traveller|Passenger|For|Name]: {who:person}|Dear {who:person}, here are your papers.|{n:count 2-6} passengers, booked by {who:person}]

[#mode=train:Train {no:code ICE ###|IC ##|TGV ####|RE ##|EC ###}|#mode=flight:Flight {no:code @@ ###|@@####}|#mode=bus:Coach {no:code ###|N##}|#mode=ferry:Ferry "{no:title}"] [from {a:city} to {b:city}|{a:city} → {b:city}|{a:city} - {b:city}], {day:date}
[dep|leaves|departs|Departure|ab] {dep:time}[ ({plat:code platform #|gate @##|Gl. ##|pier #})|], [arr|arrives|arrival|an] {arr:time}
[Seat {seat:code ##@|##|#@}[, |; |. ]|Coach {coach:count 1-28}, seat {seat:code ##|#@}. |][#class=first:1st class|#class=first:first class|#class=second:2nd class|#class=second:second class, saver fare|#class=business:business|]
[[Return|Back|Inbound]: {back:date}[, {backdep:time}|]
|One way.
|][[#meal=vegetarian:A meal without meat is ordered.|#meal=vegan:Nothing from animals on your tray, as you wished.|#meal=standard:A standard meal is included.|#meal=none:There is no catering on board.]
|][#bag=yes:One suitcase of {kg:count 15-32} kg is included.|#bag=yes:You may check in {bags:count 1-3} bags.|#bag=no:Cabin luggage only.|#bag=no:The fare does not include checked baggage.|]
[#change=yes:Changes are free until {chg:earlier 1-5}.|#change=yes:You can rebook at no cost.|#change=no:The ticket can neither be changed nor refunded.|#change=no:Bound to this train.|]
[[Fare|Total|Price|Paid]: {fare:money 9-900}[ [by|with] {pay:words Visa/Mastercard/PayPal/voucher/bank transfer}|]|{fare:money 9-900} charged to your card ending {card:code ####}]
[Check-in closes at {:time}.|Be there {early:count 20-120} minutes before departure.|Your old booking {:code @@@@@@} for {:date} is void.|The hotel {hotel:company} expects you from {:time}[, {nights:count 1-14} nights|].|]
""",
        """
booking_reference|booking_code|pnr|confirmation|reference ; pnr
passenger|traveller|traveler|name ; who ; without title
passengers|number_of_passengers|travellers ; n
carrier|operator|company ; carrier
mode|transport|means_of_transport|type ; mode=train/rail,flight/plane,bus/coach,ferry/ship
service_number|number|train|flight_number ; no ; as printed
from|origin|departure_place|departure_city ; a
to|destination|arrival_place|arrival_city ; b
date|departure_date|travel_date ; day
departure_time|departs|departure ; dep
arrival_time|arrives|arrival ; arr
platform|gate ; plat ; as printed
seat ; seat
coach|carriage ; coach
class|travel_class|service_class ; class=first/1st,second/2nd/economy,business
return_date|inbound_date ; back ; null if it is one way
return_time ; backdep
meal ; meal=vegetarian,vegan,standard,none/no_meal
baggage_included|luggage_included|checked_bag ; bag? ; Is checked baggage included
baggage_kg ; kg
changeable|flexible|rebookable ; change? ; Can the booking be changed
fare|total|price|total_price|amount ; fare
currency ; $
payment_method|paid_by ; pay
card_last_four ; card
hotel ; hotel
nights ; nights
""",
    ),
    Scene(
        "recipe",
        """
[{dish:dish up}]
[[serves {n:count 2-12}|for {n:count 2-12} people|makes {n:count 4-30} pieces|{n:count 2-12} portions]|]
[[Prep {prep:duration}|Preparation: {prep:duration}][, cooking {cook:duration}| / cook {cook:duration}|]|Takes {total:duration} [in all|altogether|from start to finish]|] [#level=easy:Child's play.|#level=easy:Nothing can go wrong here.|#level=medium:Needs some practice.|#level=hard:For experienced cooks only.|#level=hard:Don't try this as your first dish.|]

[<ing 2-7:{q:number 1-900 0} [g|ml|kg|tbsp|tsp|cups] {i:dish}>|<ing 2-7:- {i:dish}, {q:count 1-900} g>|<ing 2-6, :{q:count 1-12} {i:dish}>]
[salt and pepper|a pinch of salt|]

[1. |][Heat the oven to {temp:count 120-260} °C|Preheat to {temp:count 120-260} degrees|Bring a pot of water to the boil|Fry everything in oil]. [2. |][Mix|Stir|Fold in|Chop] the {:dish}. [3. |][Bake|Simmer|Cook] for {time:duration}. [Let it rest for {rest:duration}.|Rest {rest:duration} before serving.|]

[#diet=vegan:No animal had to give anything for it.|#diet=vegan:Contains neither milk nor eggs nor meat.|#diet=vegetarian:Without meat or fish, but with cheese.|#diet=vegetarian:Meat-free.|#diet=meat:Not for vegetarians.|] [#freeze=yes:Freezes well.|#freeze=yes:Can be kept in the freezer for months.|#freeze=no:Do not freeze.|] [#nuts=yes:Careful, there are nuts in it.|#nuts=no:Free of nuts.|]
[From {book:subject}, {author:name}|My aunt {author:name} [invented it|wrote it down in {year:year}]|Source: {author:name}|][, {cal:count 90-900} kcal per portion|. {cal:count 90-900} kcal|]
[The version without sugar takes {:duration} longer.|My neighbour uses twice as much.|]
""",
        """
title|name|dish|recipe ; dish ; as written
servings|serves|portions|yield ; n
prep_minutes|prep_time|preparation ; prep
cook_minutes|cooking_time ; cook
total_minutes|total_time ; total
difficulty|level ; level=easy/simple,medium/moderate,hard/difficult
oven_temperature|temperature_c|oven_c ; temp ; null if no oven is used
baking_time|simmer_time ; time
resting_time|rest ; rest
diet|diet_type|suitable_for ; diet=vegan,vegetarian,meat/omnivore
freezable|can_be_frozen ; freeze?
contains_nuts|nuts ; nuts?
author|invented_by|by ; author
year ; year
calories|kcal|calories_per_serving ; cal
book|source ; book
ingredients ; ing* ; in order
name|ingredient|item ; ing.i ; as written
quantity|amount ; ing.q
""",
    ),
    Scene(
        "review",
        """
[{stars:count 1-5} [stars|out of 5|/5]|★ {stars:number 1-5 1}|Rating: {stars:count 1-5}]
[{title:phrase}|]
[#v=positive:What a [lovely|wonderful|splendid] {k:words hotel/café/shop/campsite/restaurant/guest house/garage}!|#v=positive:We will come again, that's for sure.|#v=positive:I can only recommend it.|#v=negative:Never again.|#v=negative:I had expected far more for that money.|#v=negative:Stay away.|#v=mixed:Some things were fine, others were not.|#v=mixed:Nice enough, but not worth a detour.]
[{subj:company} in {town:city}|{subj:company}, {road:street}, {town:city}|{subj:company}]. [We were there [on {day:date}|] with {n:count 2-9} people.|I went there on {day:date}.|Our stay of {nights:count 1-14} nights began on {day:date}.] [I had the {food:dish}|We ordered {food:dish} and {food2:dish}|We took the {food:dish}], [#food=good:and it was delicious|#food=good:which was perfectly done|#food=bad:which came cold|#food=bad:hardly worth eating|#food=bad:far too salty]. [#staff=friendly:{waiter:name} looked after us with a smile.|#staff=friendly:The people there are so kind.|#staff=unfriendly:Nobody even said hello.|#staff=unfriendly:The waiter rolled his eyes at us.|]
[#clean=yes:Everything was spotless.|#clean=no:There was dust in every corner.|#clean=no:The toilets... let's not talk about it.|] [#noise=quiet:You hear nothing but birds.|#noise=loud:The road keeps you awake all night.|#noise=loud:The music was so loud that we had to shout.|]
[We paid {paid:money 10-300}|The bill was {paid:money 10-300}|{paid:money 10-300} in all][, [#value=cheap:a bargain|#value=cheap:surprisingly little|#value=expensive:daylight robbery|#value=expensive:far too much|#value=fair:a fair price]|]. [Open until {close:time}, [closed on {off:words Mondays/Tuesdays/Sundays}|every day].|They are closed on {off:words Mondays/Tuesdays/Sundays}.|]
[#again=yes:I have already booked again for {next:date}.|#again=yes:See you next year!|#again=no:I won't go back.|]
[— {who:name}[, {home:city}|]|{who:name}|]
""",
        """
rating|stars|score ; stars
title|headline ; title ; as written
sentiment|verdict|opinion|overall ; v=positive,negative,mixed/neutral
business|place|name|establishment ; subj ; Name of the place that is reviewed
business_type|kind|sort ; k
city|town ; town
visit_date|visited_on|date ; day
party_size|people|guests ; n
nights ; nights
dish|ordered|food ; food ; First dish that was ordered
food_quality|food_rating|food_opinion ; food=good,bad
staff|service|staff_attitude ; staff=friendly,unfriendly
clean|cleanliness|was_clean ; clean?
noise|noise_level ; noise=quiet,loud/noisy
amount_paid|bill|paid ; paid
value|price_level|value_for_money ; value=cheap/low,fair,expensive/high
would_return|would_come_again|returns ; again?
server|waiter ; waiter
closed_on|day_off ; off
reviewer|author|written_by ; who
reviewer_city ; home
""",
    ),
    Scene(
        "news",
        """
[{head:subject}|{head:clause}|{head:phrase}]
[By {author:name}[, {role:words staff writer/our correspondent/local reporter}|]|{author:name}|]
[{dateline:city}, {day:today} [-|–|(own report)]|{day:today}|Published {day:today}, {at:time}]

[#topic=accident:[A {:goods} factory caught fire|Two lorries collided|A bus left the road|A crane fell over] [on the edge of {place:city}|in {place:city}] on {ev:earlier 1-4}. [{inj:count 2-60} people were hurt|{inj:count 2-60} people had to be taken to hospital][, {dead:count 2-9} died|; nobody was killed|].|#topic=business:{co:company} [is buying|takes over|swallows] {target:company} for {deal:money 90000-900000}[, both firms said|]. [{jobs:count 20-4000} jobs are to go|Nobody will lose a job|{jobs:count 20-4000} people work there].|#topic=business:{co:company} [closes|opens] its plant in {place:city}; {jobs:count 20-4000} jobs [will be lost|are created].|#topic=sport:{win:words Rovers/United/Athletic/Harriers/Wanderers/Albion} beat {lose:words City/Town/Rangers/Orient/Borough/Thistle} {score:code #-#|#:#} in front of {crowd:count 300-60000} spectators[ in {place:city}|].|#topic=politics:The council of {place:city} [decided|voted] on {ev:earlier 1-4} to {plan:duty}[; {yes:count 10-40} members were in favour, {no:count 2-9} against|].|#topic=science:Researchers [at|of] {co:company} [found|report] that {:clause}. [They had examined {sample:count 40-9000} people.|The study took {years:count 2-12} years.]|#topic=culture:The {place:place} shows {:subject}, with {sample:count 20-400} works[; {artist:name} is the star|].]

[“{quote:phrase},” said {who:name}, {whorole:words the mayor/a spokeswoman/head of the fire brigade/the trainer/the chair of the council/managing director/the director of the museum}.|{who:name}, {whorole:words spokesman of the police/the minister/chief executive/the curator}, [called it a heavy blow|was pleased|did not want to comment].] [{:name} of {:company} sees it differently.|In {:year} there had been a similar case, with {:count 2-90} people.|Experts had expected {:money 500-90000}.]
[The damage is put at {cost:money 5000-900000}.|Cost: {cost:money 5000-900000}.|] [#conf=yes:The authorities have confirmed the report.|#conf=no:There is no official confirmation yet.|] [The next [session|match|step] is on {next:later 2-60}.|Work begins on {next:later 5-90}.|]
[({ag:words agency/dpa/Reuters/local desk})|]
""",
        """
headline|title ; head ; as written
author|byline|reporter ; author
published|publication_date|date ; day
topic|category|section|subject_area ; topic=accident/disaster,business/economy,sport/sports,politics,science,culture/arts ; What it is about
event_date|happened_on|incident_date ; ev ; Day of the event itself
city|place|location|where ; place ; Where it happened
injured|people_injured ; inj
dead|deaths|fatalities ; dead ; null if none are mentioned
company|firm|organisation ; co
acquired_company|target|bought_company ; target
deal_value|purchase_price ; deal
jobs|jobs_affected ; jobs
winner|winning_team ; win
loser|losing_team ; lose
score|result|final_score ; score ; as written
attendance|spectators ; crowd
decision|plan ; plan ; as written, without 'to'
votes_for ; yes
votes_against ; no
quoted_person|speaker|spokesperson ; who ; Person who is quoted or asked
quoted_role|function|role_of_speaker ; whorole
quote ; quote ; Words in quotation marks
damage|cost ; cost
officially_confirmed|confirmed ; conf?
next_date|next_step_on ; next
""",
    ),
    Scene(
        "health",
        """
[Patient|Pt|Name]: {who:name}[, [born|b.|DOB] {born:date}|, {age:age} [years|y/o]|]
[{day:today}[, {clinic:company}|]|Seen {day:today} [by|with] {doc:person}]

[Complains of|C/o|Presents with|Came in because of] {sym:symptom}[ and {sym2:symptom}|]. [BP {bp:code 1##/##}[, |; ]pulse {hr:count 50-120}|Temp {temp:number 36-40 1}|Weight {kg:number 45-120 1} kg|]. [#smoke=yes:Smokes {:count 2-30} a day.|#smoke=no:Has never smoked.|#smoke=no:Gave up smoking years ago.|] [#allergy=yes:Allergic to {allergen:words penicillin/nuts/latex/pollen/aspirin/bee stings}.|#allergy=no:No known allergies.|#allergy=no:NKDA.|]
[{who.given} says it [started|began] on {onset:earlier 1-30}.|On {:earlier 30-300} there was a similar episode.|]

[Diagnosis|Dx|Assessment|Impression]: {dx:words acute bronchitis/tension headache/sprained ankle/gastritis/otitis media/hypertension/tonsillitis/iron deficiency/lumbago/migraine/contact dermatitis/hay fever}. [#sev=mild:Nothing to worry about.|#sev=mild:Mild course.|#sev=severe:To be taken seriously, sent to hospital.|#sev=severe:Severe; ambulance called.|]
[Plan|Rx|Treatment]: [<rx 1-3, :{drug:words ibuprofen/amoxicillin/paracetamol/metformin/omeprazole/cetirizine/ramipril/salbutamol/folic acid} {mg:count 5-900} mg>|<rx 1-3:- {drug:words ibuprofen/amoxicillin/paracetamol/bisoprolol/omeprazole/loratadine/iron} {mg:count 5-900} mg, {times:count 2-4} times a day>]. [Off work [until {off:later 2-21}|].|#xray=yes:X-ray ordered.|#xray=yes:Referred for imaging.|]
[[Review|Follow-up|Back|Next visit] [on|] {next:later 3-60}.|Come back if it gets worse.|] [#fit=yes:May do sports again.|#fit=no:No sports for {weeks:count 2-8} weeks.|]
[{sign:name}|signed {sign:person}|]
""",
        """
patient|name|patient_name ; who
date_of_birth|born|dob ; born
age ; age
visit_date|date|seen_on ; day
doctor|seen_by|physician ; doc ; without title
clinic|practice ; clinic
symptoms|complaints ; sym+sym2 ; in order, as written
blood_pressure|bp ; bp
pulse|heart_rate ; hr
temperature ; temp
weight_kg ; kg
smoker|smokes ; smoke? ; Does the patient smoke now
has_allergy|allergies_known|allergic ; allergy? ; Is an allergy known
allergen|allergy_to ; allergen
onset|started_on ; onset
diagnosis|assessment ; dx
severity ; sev=mild/light,severe/serious
off_work_until|sick_leave_until ; off
follow_up|next_visit|review_on ; next ; null if no date is given
sports_allowed|may_do_sports ; fit?
signed_by ; sign
medication|prescriptions|drugs|treatment ; rx* ; in order
drug|name|substance ; rx.drug
dose_mg|mg|dose ; rx.mg
""",
    ),
    Scene(
        "classified",
        """
[#deal=sell:For sale: |#deal=sell:I am selling my |#deal=sell:Must go: |#deal=wanted:Wanted: |#deal=wanted:Looking for a |#deal=gift:To give away: |#deal=gift:Free to a good home: |#deal=lost:Lost: |#deal=lost:I have lost my |#deal=found:Found: |#deal=found:Somebody left a ]{thing:goods}[, {colour:words red/dark blue/grey/silver/olive/cream/yellow}|][, [made by|brand] {brand:brand}|]

[#cond=new:Still in its box, never used.|#cond=new:Unopened.|#cond=used:Shows the usual marks of use.|#cond=used:Used, but works as it should.|#cond=broken:Does not work any more, for tinkerers.|#cond=broken:{:clause}, otherwise fine.|] [Bought in {year:year} for {new:money 30-900}.|{age:count 2-20} years old.|]
[[I ask|Price|I would like|VB|Costs] {price:money 5-700}[#nego=yes:, but make me an offer|#nego=yes: or nearest offer|#nego=no:, and that is firm|#nego=no:; no haggling please|].|In exchange for {swap:goods}.|A reward of {reward:money 10-200} is waiting.|]
[#ship=yes:I can send it[ for {post:money 4-20}|].|#ship=yes:Postage is possible.|#ship=no:Collection only.|#ship=no:You have to fetch it yourself.|] [It is in {town:city}[, {quarter:title}|].|{town:city}.|It happened on {when:date} near {spot:place}, {town:city}.|]
[#smoke=yes:From a home without smoke and pets.|]
[Call {tel:phone}[ after {after:time}|][, ask for {who:name}|]|Write to {mail:email}|{who:name}, {tel:phone}]
""",
        """
item|thing|article|what|title ; thing ; as written
deal|ad_type|type|purpose ; deal=sell/for_sale,wanted/buy,gift/free,lost,found ; What the ad is for
colour|color ; colour
brand|make ; brand
condition|state ; cond=new/unused,used,broken/defective
year|year_of_purchase ; year
original_price|new_price|price_when_new ; new ; What it cost when new
age_years|age ; age
price|asking_price|amount ; price ; What is asked for it now
currency ; $
negotiable|price_negotiable|open_to_offers ; nego? ; Can the price be negotiated
in_exchange_for|swap_for ; swap
reward|finders_reward ; reward
shipping_possible|can_be_shipped|ships ; ship? ; Can it be sent
shipping_cost|postage ; post
city|town|location ; town
date|lost_on|found_on|when ; when
spot|place ; spot
contact|name|contact_person ; who
phone ; tel
call_after|available_from ; after
email ; mail
""",
    ),
)
