"""Scenes: product pages with variants, homes as agents list them, bills with notes by hand, reports of a paper."""

from .scene import Scene

SCENES = (
    Scene(
        "product",
        """
[{name:goods up}|{brand:brand} {name:goods}][ / [art.|item|no.|SKU] {sku:code ##-####-@|@@####|######}|]
[EAN {gtin:code # ###### ######|#############}
|][Item no. {art:code ##.###|@####}
|]
[Size|Version|Variant|Colour|Model][        price      stock|   |     EUR|]
[<vars 2-5:{size:words S/M/L/XL/XXL/36/38/40/42/44}[ ({:count 30-60}-{:count 61-99})|]    {p:amount 5-300}    [#there=yes:{stock:count 1-60}|#there=yes:in stock|#there=yes:{stock:count 1-9} left|#there=no:sold out|#there=no:-|#there=no:not before {:later 10-60}]>|<vars 2-4:- {size:words sand/navy/moss green/brick red/charcoal/off-white/sky blue/rust}: {p:money 5-300}[#there=yes: (available)|#there=no: (gone)|#there=no:, no longer available|#there=yes:, ready to ship]>|<vars 2-4:{size:words 250 ml/500 ml/1 l/5 l/10 kg/250 g/1 kg/2.5 kg} {p:money 3-90}[, [#there=yes:in stock|#there=no:out of stock|#there=no:currently not available|#there=yes:from our warehouse, two days]|]>]

[{material:words 85% merino wool, 15% nylon/100% linen/solid oak, oiled/powder-coated steel/recycled polyester/stoneware/beech and brass/organic cotton}
|Material: {material:words 70% cotton, 30% hemp/stainless steel/full-grain leather/birch plywood/borosilicate glass}
|][[Care:|Washing:|Please] <care 2-4 - :{how:words hand wash cold/dry flat/do not iron/wipe with a damp cloth/no tumble dryer/oil once a year/wash at 40 °C/keep dry/do not bleach}>
|]
[Weight {kg:number 0.1-30 1} kg. |{kg:number 0.2-20 1} kg, |][{w:count 10-200} x {h:count 5-180} x {d:count 2-90} cm. |][Made in {made:words Portugal/Italy/Denmark/Poland/Vietnam/Bavaria/Wales}. |][{years:count 2-10} years [of guarantee|warranty]. |Guarantee: none. ][Instead of {old:money 20-500} [only|now] {now:money 10-300}[ until {until:later 2-30}|]. |][{stars:number 3-5 1} of 5 [stars|points] ([from |]{votes:count 5-900} [reviews|ratings]). |]
[Our old {:goods} ({:code ##-####}) had to go because it [itched|broke too soon|was too heavy]. |The model on the photo wears M. |][#returns=yes:Free exchange within {days:count 14-100} days. |#returns=yes:You may send it back within {days:count 14-60} days. |#returns=no:Reduced goods can't be returned. |#returns=no:No returns. |][Delivery {ship:money 2-12}, free from {:money 40-120}.|Free delivery.|Collect in the shop only.|]
""",
        """
product|name|title|product_name ; name ; as written
brand|manufacturer|make ; brand
sku|article_number|item_number ; sku
item_code|order_code ; art
gtin|ean|barcode ; gtin ; as printed
material|composition|made_of ; material ; as written
care|care_instructions|washing ; care* ; Care instructions in order
instruction|text ; care.how
weight_kg|weight ; kg
width_cm|width ; w
height_cm|height ; h
depth_cm|depth ; d
country_of_origin|made_in ; made
warranty_years|guarantee_years ; years
old_price|list_price|regular_price ; old ; The price before
sale_price|price|current_price ; now ; The price that counts now
offer_ends|sale_until ; until
rating|average_rating|stars ; stars
reviews|review_count|number_of_ratings ; votes
returnable|returns_allowed|can_be_returned ; returns? ; May it be sent back
return_days|exchange_days ; days
shipping_cost|delivery_fee ; ship
currency ; $
variants|options|sizes|versions ; vars* ; In order
size|variant|option|label|name ; vars.size ; as written
price|amount ; vars.p
available|in_stock|can_be_ordered ; vars.there? ; Can it be had now
stock|quantity|pieces_left ; vars.stock ; null if no number is given
""",
        weight=1.5,
    ),
    Scene(
        "realestate",
        """
[#kind=house:Detached {:words farmhouse/cottage/family home/bungalow} |#kind=house:Terraced house |#kind=flat:{:words Bright/Quiet/Sunny/Renovated} flat |#kind=flat:Apartment |#kind=studio:Studio |#kind=studio:One-room flat |#kind=land:Building plot |#kind=commercial:Shop |#kind=commercial:Office floor ][in {town:city}|on the edge of {town:city}|, {street:street}, {town:city}|near the [station|park|river] in {town:city}][. PRICE IMPROVED!|. NEW!|.|]

[#deal=sale:{price:money 40000-900000} (orig. {:money 900001-990000})|#deal=sale:Asking {price:money 40000-900000}|#deal=sale:Guide price {price:money 60000-800000}, freehold|#deal=rent:{price:money 300-3000} a month|#deal=rent:{price:money 300-3000} pcm[ plus {extra:money 30-400} for heating|]|#deal=rent:Rent {price:money 300-2900} + {extra:money 30-400} [charges|bills]]

[{beds:count 1-6} bed / {baths:count 1-4} bath, {sqft:count 400-4000} sq ft = {area:count 20-400} m²|{area:count 20-300} m²[ of living space|], {beds:count 1-6} bedrooms[, {baths:count 1-3} bathrooms|]|{rooms:number 1-8 0} rooms on {area:number 20-300 1} m²[, {beds:count 1-5} of them bedrooms|]][, on a plot of {plot:count 200-4000} m²|, floor {floor:count 1-12}|, built {year:year}|, built {year:year}, redone {redone:year}|]. [Exact address after proof of funds only. |The stove stays; the [cat|llama|piano] doesn't. |Unfinished cellar of {:count 10-90} m², not counted above. |]

[Vacant, move in when you like.|#free=now:Free at once.|Available [from |]{free:later 5-120}.|The tenants leave on {free:later 5-120}.|Free {free:later 5-120} or earlier.|] [#pets=yes:Pets welcome.|#pets=yes:A dog is no problem.|#pets=no:No pets.|#pets=no:Sorry, no animals because of allergies.|] [#furn=yes:Comes with all furniture.|#furn=yes:Furnished.|#furn=no:Unfurnished.|] [#park=yes:A space in the garage belongs to it.|#park=yes:Parking for two cars.|#park=no:No parking of its own.|] [#garden=yes:Raised beds, apple trees and a shed.|#garden=yes:With garden.|#garden=no:No balcony, no garden.|]
[[Service charge|HOA|Ground rent]: {hoa:money 20-400} a month.|HOA: none.|] [Taxes last year {tax:money 500-5000}.|] [Deposit {dep:money 500-6000}.|Deposit: {dep:money 500-6000}, back at the end.|No deposit.|] [Energy {epc:words A/B/C/D/E/F/G}[ ({:count 30-300} kWh)|].|]
[Listed by {agent:name}, {firm:company}[, MLS {mls:code ##-#####}|].|{firm:company}[, {agent:name}|], [ref. {mls:code @####|####-##}|{tel:phone}].|Private, {agent:name}, {tel:phone}.] [Viewing {view:later 2-20}, {viewat:time 9-18}.|Open house {view:later 2-20}.|] [Last sold in {:year} for {:money 30000-300000}.|Next door asks {:money 40000-900000}.|Earnest money {:money 1000-9000}.|Directions: from the light go {:count 2-9} km north.|]
""",
        """
property_type|kind|type ; kind=house,flat/apartment,studio,land/plot,commercial/office
city|town|location ; town
address|street|street_address ; street ; Street and number; null if not given
listing_type|offer|deal|transaction ; deal=sale/for_sale,rent/to_let
price|asking_price|rent|amount ; price ; Sale price or monthly rent without extras
extra_costs|charges|utilities ; extra
currency ; $
bedrooms|beds|number_of_bedrooms ; beds
bathrooms|baths ; baths
rooms|number_of_rooms ; rooms
area_m2|living_area|size_m2|area ; area ; Living area in m²
area_sqft|square_feet ; sqft
plot_m2|land_area ; plot
floor|storey ; floor
year_built|built ; year
renovated|year_renovated ; redone
available_from|free_from|move_in_date ; free ; null if no date is given
pets_allowed|pets ; pets? ; null if not mentioned
furnished ; furn? ; null if not mentioned
parking|has_parking ; park? ; null if not mentioned
garden|has_garden ; garden? ; null if not mentioned
monthly_fee|service_charge|hoa_fee ; hoa
property_tax|yearly_tax ; tax
deposit|security_deposit ; dep ; null if none
energy_class|epc ; epc
agent|contact|contact_person|listed_by ; agent
agency|company|broker ; firm
reference|listing_number|mls ; mls
phone ; tel
viewing|viewing_date|open_house ; view
viewing_time ; viewat
""",
        weight=1.5,
    ),
    Scene(
        "receipt",
        """
[{shop:company}|{shop:words Ristorante da Ornella/Café Zwölf/The Copper Pot/Brasserie du Port/Noodle Bar Kin/Zum Anker/Corner Bakery/La Tasca/Pho & Co/Golden Fork}]
[[guest check|bill|check|order|Beleg] {no:code ###|####}[       [server|waiter|cashier]: {staff:words Teo/Ana/Jo/Mika/Lou/Pia/Sam/Nils}|]
|][{day:date}[   {at:time}|]
|]
[table {table:code ##@|#|##}[    covers {guests:count 1-12}|]
|]
<items 1-7: {q:count 1-6} {what:dish}   {p:amount 2-60}>
[    ------------
|    ============
|]    [subtotal|sub-total|sum]   {sub:amount 10-300}
[    [service|service charge] [{serv:amount 2-30}|incl.|not included]
|][    [tax|VAT|GST][ {rate:percent}|]   {tax:amount 1-40}
|][    [total|TOTAL|amount due]   {total:amount 10-400}
|]
[[handwritten|written by hand] [below|on the back]: "[+ {tip:amount 1-30} tip|{tip:amount 1-30} for the waiter][, |; ]= {paid:amount 12-450}, [#pay=cash:paid cash|#pay=cash:in notes|#pay=card:by card|#pay=card:on Julia's card][, thanks!|]"
|[#pay=card:VISA **{last:code ####}|#pay=cash:CASH|#pay=cash:paid cash|#pay=card:contactless]  {paid:amount 12-450}[
[tip|gratuity] {tip:amount 1-30}|][
change {change:amount 1-20}|]
|][no time printed; the bill carries a stamp and a doodle of a fish|come again soon|no date on it|]
""",
        """
restaurant|merchant|shop|business|store ; shop ; as printed
check_number|receipt_number|bill_no ; no
server|waiter|cashier ; staff
date ; day
time ; at
table ; table ; Table label as printed
guests|covers|party_size ; guests ; Number of covers
subtotal|food_and_drink|net_amount ; sub ; Before tip, service and tax
service_charge|service ; serv ; null unless it is a line with an amount
tax|vat ; tax
tax_rate ; rate
total_before_tip|bill_total ; total ; As printed
tip|gratuity ; tip ; printed or written by hand
paid|amount_paid|final_total ; paid ; Final amount paid
payment_method|paid_with ; pay=cash,card/credit_card
card_last4 ; last
change ; change
items|lines|dishes ; items* ; in order
name|item|dish|description ; items.what
quantity|count|qty ; items.q
price|line_total|amount ; items.p
""",
        weight=1.5,
    ),
    Scene(
        "news",
        """
[{head:words Fire on the ridge: 'stable, not out'/Ferry stays in port/Old mill to become library/Record at the autumn run/Bridge closed for months/Water rises again/Bakers' strike ends/New tram line opens early/Museum gets stolen clock back/Storm cuts off three villages/School wins robot prize/Hospital to lose its night ward}|{head:subject}]

[[By |]{author:name} / {day:today}|{day:today}[, {town:city}|]|{agency:words dpa/AP/Our own report/Staff}, {day:today}|{town:city} ([own report|ag]). {day:today}]

[The {what:words fire/flood/closure/strike/festival/outage/exhibition} that [began|started] [on|last] {began:earlier 1-20} [in|near] {place:city}] [has|now has] [{n:count 20-900} hectares burnt, according to the latest count; [on Saturday|earlier] the talk was of {:count 5-200}|cost {cost:money 5000-900000}, {:money 1000-4000} more than first thought|drawn {visitors:count 200-90000} visitors[, after {:count 100-900} last year|]]. [{homes:count 5-400} [residents|people] [are still out of their homes|had to leave|were taken to safety].|Nobody had to leave.|] [{hurt:count 2-30} [were|people were] hurt[, {dead:count 2-9} lost their lives|].|Nobody was hurt.|#none=yes:There were no injuries.|] [{crews:count 3-40} crews and {air:words two/three/four/five/six} helicopters are at work.|{crews:count 3-60} firefighters were called.|]

[“{quote:phrase},”|«{quote:phrase}»,|"{quote:phrase},"] [said|says|told us] [{who:name}, {role:words head of the emergency service/mayor/spokeswoman for the police/director/captain of the ferry/union leader/headmistress/the county's engineer}|the {role:words mayor/fire chief/spokesman/director/curator/bishop}, {who:name}]. [#cause=known:The cause was {why:words a spark from a harvester/lightning/a broken cable/a burst pipe/a cigarette/heavy rain/a software update}, [the police say|that much is certain].|#cause=open:[Lightning or a spark|A short circuit or arson] - nothing is confirmed.|#cause=open:The cause is not known yet.|] [#over=yes:Since {:time} it is over.|#over=yes:All restrictions were lifted on the same day.|#over=no:It is not under control.|#over=no:An end is not in sight.|#over=no:Work goes on through the night.|] [{:name}, who lives nearby, was glad.|In {:year} there were {:count 3-90}.|] [Next [report|meeting] {next:later 1-10}.|Roads stay shut until {until:later 2-30}.|]
""",
        """
headline|title ; head ; Headline as it stands
author|byline ; author
agency|source ; agency
published|date|publication_date ; day
began_on|event_date|start_of_event|happened_on ; began
event|what|event_type ; what
place|location|where|municipality ; place
hectares|area_burnt|area_hectares ; n ; Latest figure
damage|cost ; cost ; Latest figure
visitors|attendance ; visitors
evacuated|people_displaced|residents_out ; homes
injured|people_hurt ; hurt
deaths|dead ; dead
crews|units|firefighters ; crews
quote|statement ; quote ; Words in quotation marks
{ spokesperson|quoted|speaker|source_person
name|person ; who
role|position|function|title ; role
}
cause|confirmed_cause ; why ; Confirmed cause; null if it is not known
cause_known|cause_confirmed ; cause=known,open/unknown
over|ended|under_control ; over? ; Is it over or under control
next_date|next_step ; next
closed_until|until ; until
""",
        weight=1.5,
    ),
)
