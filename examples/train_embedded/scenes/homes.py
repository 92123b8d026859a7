"""Scenes: adverts and papers of homes: agents' abbreviations, letting, sale, rooms to share, sheets of facts."""

from .scene import Scene

SCENES = (
    Scene(
        "realestate",
        """
[{town:city}|{town:city}, {quarter:title}|{quarter:title}, {town:city}]: [#kind=flat:[{beds:count 1-4} bed[ rm|room] [apt|flat]|{rooms:number 1-5 1} rm apt|flat, {beds:count 1-4} beds|maisonette, {beds:count 1-4} bdrms]|#kind=house:[{beds:count 2-6} bed [semi|det. hse|terr. hse|cottage]|end-of-terr., {beds:count 2-5} beds|bungalow, {beds:count 2-4} bdrms]|#kind=studio:[studio|bedsit|one-rm studio flat]|#kind=room:[dbl rm in shared hse|sgl rm in flatshare|rm to let in shared flat]][, {size:count 18-220} [sqm|m2|m²]|, {size:count 250-2200} sq ft|][, {fl:floor}|, {fl:floor}][, {baths:count 2-3} baths|, {baths:count 1-1} bath|][, {sheds:of home_plus}|, {sheds:of home_plus} + {sheds2:of home_plus}|].
[Blt {built:year}. |Built {built:year}. |House of {built:year}. ||][#cond=renovated:[newly refurb|completely redecorated|mod. throughout|just done up]|#cond=needs_work:[needs tlc|in need of modernisation|priced for a doer-upper|bring your toolbox]|#cond=new:[first occ|brand-new dev|never lived in|new build]|#cond=good:[well kept|gd cond|ready to move in]|see photos][#heat=gas:[, GCH|, gas heating]|#heat=electric:[, elec. htg|, storage heaters]|#heat=district:[, district htg|; district heating]|#heat=heat_pump:[, heat pump|, air-source pump]|][, EPC {epc:words A/B/C/D/E/F}|, energy {epc:words A+/A/B/C/D}|]
[#deal=rent:[[To let|Rent|PCM|Avail. to rent][: | ]{price:money 350-3200} [pcm|p.m.|a month|p/m]|{price:money 350-3200} pcm][[ + |, plus ]{bills:money 40-350} [bills|utils|s/c|svc chg]|, bills incl.|]|?kind=flat?kind=house?kind=studio#deal=sale:[OIEO {price:grand 90-990}|o.i.r.o. {price:grand 90-990}|offers over {price:grand 90-990}|asking {price:grand 90-990}|guide price {price:grand 90-990}|{price:grand 90-990} ono|fixed price {price:grand 90-990}]][?deal=rent:[, dep. {dep:money 400-4000}|, deposit {dep:money 400-4000}|, {depm:count 2-3} mths dep]|?deal=rent:[, no dep]|?deal=sale:[, chain-free|, freehold|, leasehold, {lease:count 60-990} yrs left|, ground rent {ground:money 50-500} p.a.]|].
[?deal=rent:[#furn=yes:[F/f, |Furnished, |Fully furn., |Part furn. (beds, wardrobes), ]|#furn=no:[Unfurn., |U/f, |Empty, ]]|][?deal=rent:[#pets=yes:[cat ok, |pets neg.: small dog fine, |well-behaved dog welcome, ]|#pets=no:[sorry no animals, |no pets, |not suitable for dogs or cats, ]]|][#smoke=no:n/s only, |#smoke=no:non-smkrs, ||][avail. {free:later 1-90}|from {free:later 1-90}|vacant now|avail. immed.]
[Vwg|View|Viewings] [{view:later 1-14}[ {viewat:time 9-18}|]|by appt|w/ends only]: [{agent:company}|{agent:company}, ask for {who:name}|{who:name}], {tel:tel}[, ref {ref:code @@###|####|@-####}|]. [Comm. {fee:number 1-7 2} %.|No agents.|No fee.|] [?deal=sale:Was {:grand 1000-1200}.|Next door let at {:money 300-2000}.|]
""",
        """
city|town|location ; town
district|quarter|area_name|neighbourhood ; quarter
property_type|type|kind ; kind=flat/apartment,house,studio,room/shared_room
bedrooms|beds|number_of_bedrooms ; beds ; null if it has none of its own
rooms|number_of_rooms ; rooms
area|size|floor_area|living_space ; size ; Number in the unit of the ad
floor|storey|level ; fl
bathrooms|baths ; baths
features|extras|amenities ; sheds+sheds2 ; as written, in order
year_built|built|construction_year ; built
condition|state ; cond=renovated/refurbished,needs_work/to_renovate,new/new_build,good/well_kept
heating|heating_type ; heat=gas,electric,district,heat_pump
energy_class|epc|energy_rating ; epc
offer_type|deal|transaction|listing_type ; deal=rent/to_let,sale/for_sale
price|rent_or_price|asking_price|amount ; price ; Rent a month or price of sale
additional_costs|bills|utilities|service_charge ; bills ; Named beside the rent
deposit ; dep ; As an amount
deposit_months|months_of_deposit ; depm
lease_years|years_on_lease ; lease
ground_rent ; ground
furnished|is_furnished ; furn?
pets_allowed|pets|animals_allowed ; pets?
smoking_allowed|smoking ; smoke?
available_from|free_from|move_in_date ; free ; null if it is free now or not said
viewing_date|viewing ; view
viewing_time ; viewat
agent|agency|estate_agent ; agent
contact|contact_person ; who
phone ; tel
reference|listing_id|ref ; ref
commission_percent|commission ; fee
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "realestate",
        """
[Subject: {:words Viewing/Flat/Your enquiry/The rooms/Next tenant wanted}

|][Hi {to.given},|Dear {to:name},|Hello {to:name},|Dear all,]

[you asked about the flat.|thank you for your interest.|as promised, here is everything about our place.|we are moving out and look for someone to follow us.|I'd be happy to have you as a tenant.] [It is|The place is|You'd live] [in {street:street}, {town:city}|at {street:street} ({town:city})|in {town:city}, {near:of near}][, on the {fl:floor}|, {fl:floor}|]. [#lift=yes:[You don't have to climb, the lift stops at the door.|There's an elevator.]|#lift=no:[You'll get fit, there are only stairs.|No elevator, I'm afraid.|The removal men won't love it: stairs all the way.]|]
[There are {rooms:spelled 2-6} rooms, kitchen and bath|It has {rooms:count 2-6} rooms|You get {rooms:spelled 4-6} rooms, {bedn:spelled 2-3} of them bedrooms], [together|in all|that is] [about |roughly |]{size:measure 30-160 m²}. [I love the {plus:of home_plus}[ and the {plus2:of home_plus}|].|There is a {plus:of home_plus}.|The best thing is the {plus:of home_plus}.|] [Built {built:year}, [the windows are of {:year}|done up {reno:year}].|The house is of {built:year}.|]

[[The rent is|You pay|It costs|Rent:] {cold:money 350-2200}[ cold|, without heating|, net]|[Cold it is|Net rent] {cold:money 350-2200}]. [[Heating and water|Extras|Running costs|Utilities] [come to|are|add|:] {nk:money 60-350}[ a month|], so [in all|altogether|warm] {warm:total cold nk}.|[Heating and water|Extras|Running costs|Utilities]: {nk:money 60-350}.|Electricity you pay yourself[, about {power:money 30-120}|].|] [Deposit: {dep:money 500-5000}.|We need a deposit of {dep:money 500-5000}[, in {parts:count 2-3} parts if you like|].|] [The garage is {garage:money 30-150} more.|You can have a parking space for {garage:money 30-150}.|]
[#pets=yes:[We had a parrot, so your animals are fine.|Bring the dog, there's a yard.|The landlord has cats himself and won't mind yours.|A four-legged friend is no problem.|Animals? Gladly.|Your rabbit will love the terrace.]|#pets=no:[The landlord is allergic, so no fur.|Please find another home for the cat, it's in the lease.|Animals can't live here.|The neighbours would not put up with barking.|We don't want paws on the parquet.|No four-legged tenants.]|] [#kids=yes:[There's a sandpit and plenty of children.|Families welcome.|Prams can stand in the hall.]|#kids=no:[It's rather a place for grown-ups.|Too steep for toddlers.]|] [#furn=yes:[You need only bring a suitcase.|Beds, tables, lamps: all stay.|Everything you see in the pictures is included.]|#furn=no:[You'd bring your own furniture.|The rooms are bare.|We take everything with us.]|#furn=partly:[The kitchen stays, the rest goes.|Only wardrobe and kitchen are included.|Some pieces remain, the rest is yours to bring.]|]
[You can move in [on|from] {free:later 10-120}.|It will be free on {free:later 10-120}.|From {free:later 10-120}.|Free whenever you like.] [#term=limited:[We come back after {months:months}.|It's only for {months:months}, while I'm abroad.|Sublet for {months:months}.]|#term=unlimited:[You may stay as long as you want.|The lease has no end.|No time limit.]|] [Notice is {notice:months}.|]
[Come and see it [on |]{view:later 1-9} at {viewat:time 9-19}[, ring at {bell:name}|].|How about {view:later 1-9}, {viewat:time 9-19}?|Call me[ on {tel:tel}|] and we'll find a time.] [Please bring {doc:of form}.|] [A couple came on {:earlier 1-6}, they'd pay {:money 400-2500}, but I like you better.|The rent before was {oldrent:money 300-1800}.|The flat below (unfurnished, {:money 400-1500}) is taken.|]

[Best|Kind regards|See you|Yours],
{who:name}[ ({role:words landlady/owner/present tenant/caretaker/agent})|, {role:words landlord/owner/present tenant/caretaker/agent}|]
""",
        """
landlord|contact|sender|written_by ; who
sender_role|role ; role
interested_person|prospective_tenant|recipient ; to
street|address|street_address ; street
city|town ; town
surroundings|near|location_note ; near ; as written
floor|storey ; fl
lift|elevator|has_lift ; lift?
rooms|number_of_rooms ; rooms
bedrooms ; bedn
area_sqm|size|living_area ; size
features|extras|amenities ; plus+plus2 ; as written, in order
year_built|built ; built
renovated_in|renovation_year ; reno
{ rent|costs|monthly_costs
cold_rent|net_rent|base_rent ; cold ; Without running costs
additional_costs|utilities|running_costs ; nk
warm_rent|total_rent|gross_rent ; warm ; With running costs, null if it is not stated
electricity|power ; power
parking|garage ; garage
}
deposit|security_deposit ; dep
deposit_instalments ; parts
previous_rent|old_rent ; oldrent
pets_allowed|pets|animals ; pets? ; May the tenant keep animals
suitable_for_children|children_welcome ; kids?
furnished|furnishing|furniture ; furn=yes/furnished/full,no/unfurnished,partly/partially ; How far it is furnished
available_from|free_from|move_in ; free ; null if no date is named
lease_type|term|limited ; term=limited/temporary,unlimited/open_ended
lease_months|sublet_months|duration ; months
notice_period|notice ; notice
viewing_date ; view
viewing_time ; viewat
doorbell|ring_at ; bell
bring|documents|required_document ; doc
phone ; tel
currency ; $
""",
        weight=1.4,
    ),
    Scene(
        "realestate",
        """
[PROPERTY DETAILS|Particulars of sale|Exposé|Fact sheet|Sales particulars] [no. |]{ref:code ####-##|@@####|#####}
[{head:words Period house with views/Light-filled penthouse/Farmhouse in need of love/Corner shop with flat above/Town house near the park/Family home on a hill/Former school with bell tower/Canal-side loft}
|]
[Address|Location|Where] [: ]{street:street}, {zip:code #####|@@# #@@|####} {town:city}[, {land:country}|]
[Type|Class|Use] : [#use=residential:[detached house|three-storey house|two flats under one roof|cottage]|#use=commercial:[shop with storeroom|office floor|workshop with yard|warehouse with ramp]|#use=mixed:[shop below, flat above|surgery and apartment|flats with two ateliers]|#use=agricultural:[farm with barn and stables|vineyard with cellar house|dairy farm, milking parlour included]]
[Plot|Land|Grounds] : {plot:measure 120-2400 m²}[ [\\||/] living space {size:measure 60-400 m²}|]
[[Rooms|Accommodation] : {rooms:count 3-12}[, of which {beds:count 2-6} bedrooms|][, {baths:count 1-4} bathrooms|]
|][[Year|Built|Construction] : {built:year}[, extended {ext:year}|]
|][[Energy|EPC|Certificate] : class {epc:words A/B/C/D/E/F/G}[, {kwh:count 30-320} kWh/(m²a)|]
|][[Heating|Heat] : [#heat=gas:[condensing boiler, gas|mains gas]|#heat=oil:[tank in the cellar ({:count 1000-5000} l of oil)|oil burner]|#heat=pump:[ground source pump|heat drawn from the air]|#heat=wood:[pellets|log stove and solar panels]]
|][[Parking|Cars] : {park:count 2-4}[ spaces| garages|]
|][Plus|Extras|Also] : <extras 1-5, :{what:of home_plus}>

[Price|Purchase price|Guide] : {price:grand 95-980}[ (was {was:grand 981-1400})| (reduced from {was:grand 981-1400})|]
[[Commission|Agent's fee|Buyer's premium] : {fee:number 1-7 2} %[ incl. VAT|]
|][[Rented out at|Current rent|Yield from rent] : {rent:money 500-5000} [a month|p.m.]
|][[Service charge|Maintenance|Monthly charge] : {charge:money 50-600}
|]
[#avail=now:[Empty, keys with us.|Vacant possession on completion.|Nobody lives there any more.]|#avail=date:[Free from {free:later 30-300}.|The owners move out on {free:later 30-300}.]|#avail=let:[The tenants stay.|Let until {until:later 200-900}.|Sold with sitting tenants.]] [#list=yes:[Protected monument.|Grade II listed.|The façade may not be changed.]|#list=no:[No protection order.|You may pull it down.]|] [#chain=yes:[The sellers have yet to find their next home.|Part of a chain.]|#chain=no:[No onward chain.|The sellers have already moved.]|]
[Next open house|Open day|Viewing day] [: ]{view:later 3-30}, {from:time 9-12} to {to:time 13-18}[, please register|].
[Your agent|Contact|Presented by] [: ]{who:name}, {agency:company}[, {tel:tel}|][, {mail:email}|]
[Sold next door in {:year}: {:grand 90-900}.|All data without guarantee.|Offers in writing by {offer:later 31-60}.|]
""",
        """
reference|property_id|expose_number ; ref
headline|title ; head ; as written
street|address ; street
postcode|zip|postal_code ; zip
city|town ; town
country|country_code ; land
use|property_use|category|usage ; use=residential/living,commercial/business,mixed/mixed_use,agricultural/farm
plot_area|plot_size|land_area ; plot
living_area|living_space|floor_area ; size
rooms ; rooms
bedrooms ; beds
bathrooms ; baths
year_built|built ; built
extended_in|extension_year ; ext
energy_class|epc ; epc
energy_consumption|kwh_per_sqm ; kwh
heating|heating_source ; heat=gas,oil,pump/heat_pump,wood/biomass
parking_spaces|parking ; park
price|purchase_price|guide_price ; price ; What is asked now
former_price|previous_price|old_price ; was
commission_percent|agent_fee_percent|commission ; fee
current_rent|rental_income|rent ; rent
service_charge|monthly_charge ; charge
occupancy|availability|possession ; avail=now/vacant,date/from_date,let/tenanted ; Who lives there, and when it is free
available_from|free_from ; free
let_until|tenancy_ends ; until
listed|is_protected|monument ; list? ; Is the building protected
chain|part_of_chain|onward_chain ; chain? ; Do the sellers still have to find a home
open_house|viewing_date|open_day ; view
open_from|viewing_from ; from
open_until|viewing_until ; to
offers_by|offer_deadline ; offer
agent|agent_name|contact ; who
agency|estate_agency|company ; agency
phone ; tel
email ; mail
currency ; $
extras|features|amenities ; extras* ; In order
feature|name|extra ; extras.what ; as written
""",
        weight=1.2,
    ),
    Scene(
        "realestate",
        """
[[Nachmieter|Mitbewohner|Neue Mieter] gesucht|Zu vermieten|WG-Zimmer frei|Biete|Von privat] [in {ort:city}[, {lage:title}|]|- {ort:city}]

[#art=wg:[Zimmer mit {qm:count 9-30} qm in einer {wg:count 3-6}er-WG|{qm:count 9-30} m² in unserer Wohngemeinschaft ({wg:count 3-6} Leute)]|#art=wohnung:[{zi:number 1-5 1} Zi., Kü., Bad, {qm:count 25-150} qm|{zi:number 1-5 1}-Zi.-Whg., ca. {qm:count 25-150} m²|schöne {zi:count 2-5}-Zimmer-Wohnung mit {qm:count 40-150} Quadratmetern]|#art=haus:[Reihenhaus, {zi:count 4-7} Zi., {qm:count 90-200} m² Wfl.|DHH mit {qm:count 90-200} qm, {zi:count 4-7} Zimmer]][, {etage:floor}|][, {extra:words EBK/Blk./Südbalkon/Gartenanteil/Stellplatz/Keller/Parkett/Fußbodenheizung/Gäste-WC/Abstellraum}[, {extra2:words Kellerabteil/Waschküche/Fahrradraum/Wannenbad/Dachboden}|]|][, Bj. {bj:year}|].
[KM|Kaltmiete|Miete kalt][: | ]{kalt:money 250-1900}[[, NK: |, Nebenkosten |, zzgl. NK |, Betriebskosten ]{nk:money 50-320}[, [WM|also warm|Gesamtmiete][: | ]{warm:total kalt nk}|]|][, [Kaution|KT|MS][: | ]{kaution:money 500-5000}|, {km:count 2-3} MM Kaution|].
[#prov=no:[Provisionsfrei.|Ohne Makler.|Keine Courtage.]|#prov=yes:[Makler verlangt {cour:money 300-3000}.|Courtage {cour:money 300-3000}.]|] [#tier=yes:[Katze kein Problem.|Hund darf mit.|Wir haben selbst einen Hund.|Tiere nach Absprache gern.]|#tier=no:[Leider keine Tiere.|Der Vermieter möchte keine Haustiere.|Wegen Allergie ohne Vierbeiner.|HT nicht erwünscht.]|] [#rauch=no:[NR bevorzugt.|Bitte nur Nichtraucher.|Geraucht wird vor der Tür.]||] [#moeb=yes:[Möbl.|Mit allem drin, nur Koffer mitbringen.|Die Möbel können bleiben.]|#moeb=no:[Unmöbl.|Leer.]|] [#lift=yes:Aufzug vorh.|#lift=no:Ohne Lift.|#lift=no:Leider nur Treppe.|]
[Frei ab|Ab|Zum|Bezugsfrei ab] {frei:later 5-120}[, befristet bis {bis:later 200-700}|, unbefristet|]. [Besichtigung [am|:] {bes:later 1-4}[ um {besat:time 10-19}|].|Besichtigung n. V.|] [Strom etwa {strom:money 30-90}.|Glasfaser liegt.|Wohnung gegenüber ({:money 300-900}) schon weg.|Bisherige Miete {alt:money 200-1500}.|] [{wer:name}, {tel:tel}|Tel. {tel:tel}, {wer:name}|{mail:email}|Anrufe ab {ab:time 16-20}: {tel:tel}]
""",
        """
ort|stadt|city ; ort
lage|stadtteil|district ; lage
objektart|art|property_type ; art=wg/shared_flat/wg_zimmer,wohnung/apartment,haus/house
zimmer|rooms|zimmerzahl ; zi
wohnflaeche|qm|area_sqm ; qm
mitbewohner|wg_groesse|flatmates_total ; wg ; Personen in der WG|People in the shared flat
etage|stockwerk|floor ; etage
ausstattung|features ; extra+extra2 ; wie geschrieben|as written
baujahr|year_built ; bj
kaltmiete|cold_rent|miete_kalt ; kalt
nebenkosten|utilities|nk ; nk
warmmiete|warm_rent|gesamtmiete ; warm ; null, wenn nicht genannt|null if it is not stated
kaution|deposit ; kaution
kaution_monatsmieten|deposit_months ; km
provision|has_commission|maklerprovision ; prov? ; Fällt eine Provision an
provision_betrag|commission ; cour
haustiere|pets_allowed|tiere_erlaubt ; tier?
rauchen|smoking_allowed ; rauch?
moebliert|furnished ; moeb?
aufzug|lift ; lift?
frei_ab|available_from|bezug ; frei
befristet_bis|limited_until ; bis
besichtigung|viewing_date ; bes
besichtigung_uhrzeit|viewing_time ; besat
strom|electricity ; strom
bisherige_miete|previous_rent ; alt
kontakt|contact|ansprechpartner ; wer
telefon|phone ; tel
anrufe_ab|call_after ; ab
email ; mail
waehrung|currency ; $
""",
        "de",
        weight=1.3,
    ),
)
