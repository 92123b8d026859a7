"""Scenes: receipts: of shops, restaurants, filling stations, taxis, car parks, and those that were typed off or mailed."""

from .scene import Scene

_FOOD = "MILK 1L/WHOLEMEAL BREAD/BANANAS LOOSE/FREE RANGE EGGS 6/GREEK YOG 500G/CHEDDAR MATURE/TOM PASTA SCE/DISHWASH TABS 30/KITCHEN ROLL 2PK/APPLES GALA 1KG/OJ NFC 1L/HAM SLICED/COFFEE BEANS 1KG/OAT DRINK/BIN BAGS 20L/TOOTHPASTE MINT/SPINACH BAG/BUTTER SALTED/PENNE 500G/TUNA CHUNKS 4X/BASMATI RICE/CRISPS SEA SALT/DARK CHOC 70%/SHAMPOO 250ML/CAT FOOD 12PK/AA BATTERIES 4/LEMONS NET/CHICKEN THIGHS/SALMON FILLET/FROZEN PEAS/PIZZA MARGH./ICE CREAM VAN/MINERAL WATER 6X/HUMMUS/SOY SAUCE/NAPKINS 50/GRAPES RED/ONIONS 1KG/CARROTS BAG/RYE ROLLS X4/STAPLES NO.10/LIGHT BULB E27/DUCT TAPE/PAINT BRUSH 2IN/WOOD SCREWS 4X40/POTTING SOIL 20L"
_MEAL = "Soup of the day/House salad/Margherita/Fish and chips/Ribeye 250 g/Veggie burger/Pasta pesto/Chicken tikka/Tiramisu/Espresso/Flat white/Sparkling water 0.75/House red 0.2/Pils 0.5/Lemonade/Kids' pasta/Cheese board/Side of fries/Garlic bread/Duck breast/Mushroom risotto/Crème brûlée/Pot of tea/Apple juice/Bruschetta/Falafel plate/Ramen/Gyoza 6 pcs/Green curry/Mango lassi/Sorbet, 2 scoops/Schnitzel/Beer garden radler/Oysters 6/Tonic water"

SCENES = (
    Scene(
        "receipt",
        f"""
[{{shop:company}}|{{shop:of merchant}}|*** {{shop:of merchant up}} ***]
[{{addr:address}}|{{road:street}}
{{town:city}}]
[Tel[.:|] {{tel:phone}}
|][VAT [no.|reg|ID] {{vatid:code GB ### #### ##|DE#########|IE#######@|ATU########}}
|][Store {{store:code ###|####}} [Till|POS|Register] {{till:code ##|#}} [Trans|Receipt|Bon]|Receipt[ no.|]|Bon-Nr.|Ticket|Trans.][ |: |#]{{no:code ######|####-##|##/####}}
[Served by|Cashier|You were served by|Op][:| ] {{clerk:words Aoife/Ben T./Chantal/Dmitri/Ewa/F. Lopez/Gina/Hamid/Ines/Jonas/Kemi/Liam/M. Okafor/Nadia/Oskar/Priya}}
{{day:today}} {{at:time 7-22}}
----------------------
<item 1-9:[{{q:number 1-6 0}} [x|X|*] |]{{what:words {_FOOD}}}  {{price:amount 0.4-40}}>
----------------------
[SUBTOTAL {{sub:amount 5-200}}
|][[MULTIBUY|Loyalty discount|Saving|Coupon|Discount 10%] -{{off:amount 0.2-20}}
|][TOTAL|Total due|TOTAL TO PAY|Sum|BALANCE DUE][:|] [{{total:money 3-250}}|{{total:amount 3-250}}]
[[VAT|incl. VAT|TAX|MwSt] [{{rate:words 20/19/7/5/23/10/21}}%[ of {{:amount 3-200}}|][:|] {{tax:amount 0.1-40}}|{{tax:amount 0.1-40}}]
|][#pay=card:[VISA DEBIT ************{{last:code ####}}|CONTACTLESS MASTERCARD {{last:code ####}}|AMEX **** {{last:code ####}} AUTH {{auth:code ######}}|Chip & PIN ...{{last:code ####}}|Tapped with phone, card ending {{last:code ####}}]|#pay=cash:[CASH {{given:amount 10-300}}
CHANGE {{change:amount 0.05-50}}|Given {{given:amount 10-300}}, back {{change:amount 0.05-50}}|Notes and coins received {{given:amount 10-300}} / returned {{change:amount 0.05-50}}]|#pay=voucher:[GIFT CARD USED, REMAINING {{left:amount 1-80}}|Paid with voucher {{vou:code @@##-####}}|STORE CREDIT {{vou:code @@##-####}}]]
[[POINTS EARNED|Points today|You collected] {{pts:count 1-400}}[, balance {{bal:count 400-9000}}|]
|][#ret=yes:[Keep this slip: bring goods back within {{rdays:days}}.|You have {{rdays:days}} to change your mind.|Exchange or refund within {{rdays:days}} with this slip.]|#ret=no:[All sales are final.|Sale goods can't be brought back.|We take nothing back, sorry.]|]
[Thank you, call again!|Have a nice day|How did we do? {{survey:url}}|Follow us|*** COPY ***]
""",
        """
merchant|store|shop|store_name|vendor ; shop ; as printed
address|store_address ; addr
street ; road
city|town ; town
phone|telephone ; tel
vat_id|vat_number|tax_number ; vatid ; VAT number of the shop
store_number|branch|store_id ; store
till|register|pos ; till
receipt_number|receipt_no|transaction|number ; no
cashier|served_by|clerk ; clerk
date|purchase_date|bought_on ; day
time|purchase_time ; at
subtotal|sum_before_discount ; sub ; null if it is not printed
discount|savings|reduction ; off ; As a positive amount; null if there is none
total|amount|total_paid|grand_total ; total ; What had to be paid
vat|tax|vat_amount|tax_amount ; tax
vat_rate|tax_rate|vat_percent ; rate ; Per cent, as printed
payment_method|paid_by|payment|method ; pay=card/credit_card/debit_card,cash,voucher/gift_card
card_last_digits|last4|card_last4 ; last ; Last four digits
authorisation|auth_code ; auth
cash_given|tendered|given ; given
change|change_given ; change
voucher_code|voucher ; vou
gift_card_balance|remaining ; left
points|points_earned|loyalty_points ; pts ; Earned with this purchase
points_balance ; bal
returnable|returns_accepted|can_be_returned ; ret?
return_days|return_period_days ; rdays
survey|feedback_link ; survey
currency ; $
items|lines|articles|positions ; item* ; In the order of the slip
name|description|article ; item.what ; as printed
quantity|qty|count ; item.q ; null where no number is printed
price|amount|line_total ; item.price ; As printed in the line
""",
        weight=2.0,
    ),
    Scene(
        "receipt",
        f"""
[{{shop:words Trattoria/Bistro/Gasthaus/Café/The/Taverna/Brasserie/Bar/Curry House}} {{:words Aurora/Linden/Old Oak/Da Enzo/Zur Post/Mimosa/Blue Door/Kastanie/Saffron/Anker/Nine Elms/Le Coin/Fig Tree}}|{{shop:company}}]
[{{addr:address}}|{{road:street}}, {{town:city}}|{{town:city}}]

[Table|Tisch|Tab][ |: ]{{table:code ##|#|T#}}[  Covers {{covers:count 1-14}}|  Guests: {{covers:count 1-14}}| ({{covers:count 1-14}} pers.)|]
[Waiter|Your server|Server|Service][:|] {{clerk:words Marco/Jule/Sanne/Tomasz/Aline/Yuki/Pat/Rosa/Emre/Leila}}
[Check|Bill|Rechnung|Invoice][ no.| #|] {{no:code ####|#####|##-###}}   {{day:today}}[ opened {{open:time 11-20}}|] [closed |]{{at:time 12-23}}

<item 2-9:[{{q:number 1-5 0}}[x|] |{{q:number 1-5 0}}  ]{{what:words {_MEAL}}}[ .... |   |	]{{price:amount 2-60}}>

[Food|Net|Sub-total|Sum][:|] {{sub:amount 15-300}}
[[Service[ charge|] [12.5%|10%|(discretionary)]|Service incl.] {{svc:amount 1-40}}
|][Total|TO PAY|Amount due|Gesamt][:|] {{total:money 15-350}}
[[thereof|incl.|VAT] {{tax:amount 1-50}}[ VAT| tax|]
|][[Tip|Gratuity|Trinkgeld][:|] {{tip:amount 1-40}}
|[Tip: ________|Tip not included|Suggested: 10% {{:amount 2-20}}, 15% {{:amount 3-30}}]
|][Charged|Card total|Paid][:|] {{paid:money 15-400}}
[#pay=card:[by contactless, {{:words Visa/Mastercard/Girocard}} ...{{last:code ####}}|CARD ****{{last:code ####}}|Kartenzahlung {{last:code ####}}]|#pay=cash:[in notes, change {{change:amount 0.1-40}}|BAR, zurück {{change:amount 0.1-40}}]|#pay=room:[put on room {{guest:code ###}}|signed to the room, {{guest:code ###}}: {{sign:name}}]|#pay=split:[{{:count 2-4}} cards, equal parts|half cash, half card]]
[#where=dine_in:[Eaten here|For here|Im Haus]|#where=takeaway:[Packed to go|Außer Haus|Collected at the door|Bag {{:code ##}}, no cutlery]||]
[Tonight's wifi: {{wifi:code @@@@####}}|Book again: {{tel:phone}}|We are closed on {{off:words Mondays/Tuesdays/Sundays}}|Grazie!]
""",
        """
restaurant|merchant|name|venue ; shop
address|location ; addr
street ; road
city|town ; town
table|table_number ; table
guests|covers|party_size|persons ; covers
waiter|server|served_by ; clerk
bill_number|check_number|receipt_number ; no
date|visit_date ; day
opened_at|check_opened ; open
time|closed_at|paid_at ; at
subtotal|food_total|net ; sub
service_charge|service ; svc
total|bill_total|amount_due ; total ; Before any tip
vat|tax ; tax
tip|gratuity ; tip ; null if no tip was given
amount_paid|charged|paid_total ; paid ; With the tip
payment_method|paid_with|payment ; pay=card,cash,room/room_charge/hotel_room,split/split_payment
card_last4|last_four ; last
change ; change
room_number|charged_to_room ; guest
dine_in_or_takeaway|service_type|eaten_where ; where=dine_in/on_site/restaurant,takeaway/to_go
phone|reservations ; tel
closed_on|closing_day ; off
currency ; $
items|dishes|order|lines ; item* ; In order
name|dish|description ; item.what
quantity|qty|count ; item.q
price|amount ; item.price
""",
    ),
    Scene(
        "receipt",
        """
[#kind=fuel:[{shop:words Shell/BP/Aral/Circle K/Esso/OMV/Repsol/Texaco/Tamoil/Q8} [Station|Filling station|Autohof|Services] {town:city}
[Pump|Säule|Pompe] {pump:code ##|#}[   {grade:words Diesel/Super E10/Unleaded 95/Premium 98/AdBlue/LPG}|]
{litres:number 8-70 2} [L|l|litres] [x|@|at] {unit:number 1-2 3}[/L|]]|#kind=parking:[{shop:words Parkhaus/City Parking/Car park/Q-Park/Parking} {:words Altstadt/Centre/Station/Harbour/Opera/West}, {town:city}
[In|Entry|Einfahrt][:|] {begin:time 6-14}   [Out|Exit|Ausfahrt][:|] {end:time 15-23}
[Duration|Stay|Parkdauer][:|] {stay:duration}[
Level {level:words -1/-2/0/1/2/3}[, bay {bay:code ###}|]|]]|#kind=taxi:[{shop:words Taxi/Cab/Radio Taxi/Minicab/Funk-Taxi} {:words Bergmann/Union/24/City/Star/Schulz/Metro} [car|cab|no.|Konz.] {pump:code ###|####}
[From|Start|Pick-up][:|] {begin:place}   [to|drop-off|Ziel][:|] {end:place}, {town:city}
{litres:number 2-45 1} km[, waiting {stay:duration}|]]|#kind=hotel:[{shop:words Hotel/Pension/Inn/B&B/Hostel} {:words Adler/Bellevue/Seaview/Am Markt/Central/Rosa/Kompas}, {town:city}
[Room|Zimmer|Chambre] {bay:code ###}, {nights:count 1-9} [nights|night(s)|Nächte]
[Arrival|Check-in] {begin:earlier 2-9} [Departure|Check-out] {end:today}]]
[Date|On|Datum][:|] {day:today}[, {at:time 5-23}|]
[Receipt|Slip|Quittung|No.][ no.|] {no:code ######|##-####|@####}
[Net {sub:amount 3-300}  VAT {rate:words 7/19/20/21/10}% {tax:amount 0.5-60}
|][TOTAL|Amount|Paid|Betrag|To pay][:|] {total:money 2-400}
[#pay=card:[CARD {last:code ####}|contactless {last:code ####}|EC-Karte ...{last:code ####}]|#pay=cash:[cash|bar|in coins]|#pay=app:[paid in the app|by app, ref {vou:code @@####}|QR payment {vou:code @@####}]|#pay=invoice:[on account, bill follows|company account {vou:code K-####}|monthly invoice to customer {vou:code K-####}]]
[Driver|Attendant|Signed|Clerk][:|] [{clerk:name}|{clerk:name}
|]
[[Fleet card|Plate|Reg.|Kennzeichen][:|] {plate:code @@ ## @@@|@-@@ ####|@@-###-@}
|][Lost ticket: {:money 20-40}|Next free hour after {:time}|Keep for your tax return|Tip not recorded|Breakfast {:money 8-25} paid separately|]
""",
        """
kind|category|expense_type|type ; kind=fuel/petrol,parking,taxi/cab,hotel/accommodation/lodging ; What was paid for
merchant|company|provider|vendor ; shop
city|town ; town
pump_or_car|unit_number ; pump
fuel|fuel_grade|product ; grade ; null unless it is printed
quantity|litres_or_km|distance_or_volume ; litres ; Litres or kilometres
unit_price|price_per_litre ; unit
begin|from|start|entry ; begin ; as printed
end|to|until|exit ; end ; as printed
duration|parked_for|waiting ; stay
level|floor ; level
bay_or_room|room|bay ; bay
nights|number_of_nights ; nights
date|paid_on|receipt_date ; day
time ; at
receipt_number|number|slip_number ; no
net|net_amount|subtotal ; sub
vat_rate|tax_rate ; rate
vat|tax|vat_amount ; tax
total|amount|gross|total_amount ; total
payment_method|paid_by|how_paid ; pay=card,cash,app/mobile_app,invoice/on_account
card_last4|card ; last
payment_reference|reference|account ; vou
signed_by|driver|attendant ; clerk
licence_plate|registration|plate ; plate
currency ; $
""",
        weight=1.5,
    ),
)
