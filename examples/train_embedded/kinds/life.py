"""Events, real-estate ads, travel, recipes, news items."""

from __future__ import annotations

from ..draft import Column, Draft, Fact, Kind, Rows, speak
from ..draw import Draw
from ..entities import city, company, email, person, phone, street, url
from ..moments import date, date_time, duration, time
from ..values import Form, Value, choice, count, currency, flag, listing, money, number, plain, several, text
from ..wording import digits, title, title_words, words


def hours(draw: Draw) -> tuple[Fact, ...]:
    """Begin and end in one line: each may be asked for on its own."""
    begin, end = time(draw), time(draw)
    span = f"{begin.written}{draw.pick(' - |–| to | until |-')}{end.written}"
    return (
        Fact("time_range|opening_hours|schedule", text(span), "Time|Hours|When|From", "It goes from {}.|Hours: {}.", "as written", must=True),
        Fact("start_time|starts_at|begins|start|from_time", begin, notes="When it begins", implied=True),
        Fact("end_time|ends_at|finish|end|until_time", end, notes="When it ends", implied=True),
    )


def event(draw: Draw) -> Draft:
    unit = currency(draw)
    when = speak(draw, en=("date|event_date|day|on|when", "Date|When|Day|On", "It takes place on {}.|Come on {}.|Save the date: {}.|Join us on {}."), de=("datum|date|tag|am", "Datum|Wann|Am", "Es findet am {} statt.|Kommen Sie am {}."), fr=("date|jour", "Date|Quand|Le", "Rendez-vous le {}.|Cela se passe le {}."), es=("fecha|dia", "Fecha|Cuándo|El día", "Será el {}.|Le esperamos el {}."))
    begin = speak(draw, en=("start_time|starts_at|begins|start|time", "Start|Begins|Time|Starts at", "It starts at {}.|We begin at {}.|The show starts at {}."), de=("beginn|uhrzeit|start_time", "Beginn|Uhrzeit|Los geht's", "Beginn ist um {}.|Es beginnt um {}."), fr=("heure_debut|debut", "Début|Heure", "Début à {}.|Cela commence à {}."), es=("hora_inicio|comienzo", "Inicio|Hora", "Empieza a las {}.|Comienzo: {}."))
    where = speak(draw, en=("venue|location|place|hall|where", "Venue|Where|Place|Location", "The venue is {}.|We meet at {}.|It is held at {}."), de=("ort|veranstaltungsort|venue", "Ort|Wo|Veranstaltungsort", "Ort: {}.|Wir treffen uns hier: {}."), fr=("lieu|salle|venue", "Lieu|Salle|Où", "Lieu : {}.|Cela se passe ici : {}."), es=("lugar|sala|venue", "Lugar|Sala|Dónde", "Lugar: {}.|Nos vemos en {}."))
    moment_or_day = (
        Fact("starts_at|begins_at|start|starts|date_time|when", date_time(draw), "Starts|When|Begins|Date", "It starts {}.|Save the date: {}.", "When it begins", must=True),
    ) if draw.chance(0.3) else (
        Fact(when[0], date(draw), when[1], when[2], "Day of the event", must=True),
    )  # fmt: skip
    facts = (
        Fact("name|title|event|event_name|titel|titre|titulo", title(draw), "Event|Title|What|Name", "We invite you to {}.|{} is back.|This is {}.", "Name of the event", bare=0.9, must=True),
        *moment_or_day,
        Fact("end_date|last_day|until|ends_on", date(draw), "Until|Last day|Ends", "It ends on {}.|The last day is {}.", "Last day"),
        Fact("doors|doors_open|admission_from|einlass", time(draw), "Doors|Admission|Einlass|Doors open", "Doors open at {}.|You can come in from {}.", "When doors open"),
        *(hours(draw) if draw.chance(0.3) else (Fact(begin[0], time(draw), begin[1], begin[2], "When it begins"), Fact("end_time|ends_at|finish|ende", time(draw), "End|Until|Ende", "It ends around {}.|We close at {}.", "When it ends"))),
        Fact(where[0], text(draw.pick("Old Town Hall|City Library|the Barn|Café Luna|St. Mary's|Kulturhaus|Salle Pleyel|Harbour Stage|Museum of Glass|Stadthalle|Teatro Real|Pier 7|") or title_words(draw)), where[1], where[2], "Place as written"),
        Fact("address|venue_address|street", street(draw), "Address|Street", "The address is {}.", "Street of the venue"),
        Fact("city|town|ort|commune|ciudad", city(draw), "City|Town|Stadt|Ville|Ciudad", "In {}.|The town is {}.", "Town"),
        Fact("organizer|organiser|host|hosted_by|veranstalter", company(draw), "Organiser|Host|Presented by|Veranstalter", "{} presents it.|Organised by {}.|Your host is {}.", "Who organises it"),
        Fact("speakers|performers|artists|lineup|with|artistes", several(draw, plain_person, 1, 4), "With|Speakers|Line-up|Artists", "With {}.|On stage: {}.|You will hear {}.", "People on stage, in order"),
        Fact("price|admission|ticket_price|full_price|eintritt|tarif", money(draw, None, unit), "Price|Admission|Tickets|Eintritt|Tarif", "Tickets cost {}.|Admission is {}.|You pay {} at the door.", "Full price", must=draw.chance(0.4)),
        Fact("reduced_price|concession|student_price|ermaessigt", money(draw, None, unit), "Reduced|Concessions|Students|ermäßigt|réduit", "Students pay {}.|Reduced: {}.", "Reduced price"),
        Fact("capacity|max_attendees|seats|places|plaetze", count(5, 900)(draw), "Capacity|Seats|Places|Plätze", "There is room for {} people.|Only {} seats.", "Number of places"),
        Fact("sold_out|full|booked_out|ausverkauft", flag(draw, "sold out|no seats left|fully booked|ausverkauft", "seats left|tickets available|there is still room|noch Karten"), "Availability|Tickets left", "Tickets: {}.|State: {}.", "True if there are no places left"),
        Fact("register_by|registration_deadline|rsvp_by|anmeldung_bis", date(draw), "Register by|RSVP|Anmeldung bis", "Please register by {}.|RSVP until {}.", "Last day to register"),
        Fact("contact_email|email|rsvp_to", email(draw), "Contact|RSVP to|E-mail", "Write to {}.|Registration: {}.", "Where to register"),
        Fact("url|website|tickets_url|link", url(draw), "Web|Tickets|More", "Tickets at {}.", "Page of the event"),
        Fact("language|event_language", choice(draw, {"en": "in English|English|auf Englisch", "de": "in German|German|auf Deutsch", "fr": "in French|French|en français", "es": "in Spanish|Spanish|en español"}), "Language|Sprache", "It is held {}.", "Language of the event"),
        Fact("category|type|event_type|genre", choice(draw, {"concert": "concert|live music|Konzert", "workshop": "workshop|hands-on class|Kurs", "talk": "talk|lecture|Vortrag", "market": "market|fair|Flohmarkt", "meetup": "meetup|get-together|Treffen"}), "Type|Kind|Art", "It is a {}.", "Sort of event"),
    )
    return Draft(facts, "Invitation|You are invited|What's on|Veranstaltung|Événement|Evento", (), "Last year's edition on {date} drew {n} people.|The date {date} had to be moved.|Parking {money}.|{person} had to cancel.|Next event on {date} at {time}.|Drinks from {time}.", "we would love to see you.", "Bring your friends!")


def plain_person(draw: Draw) -> Value:
    return text(str(person(draw).forms[0].gold))


def estate(draw: Draw) -> Draft:
    unit = currency(draw)
    size = speak(draw, en=("area_sqm|living_area|size_sqm|floor_area", "Area|Size|Living area", "It has {} of living space.|The area is {}."), de=("wohnflaeche|wohnflaeche_qm|flaeche", "Wohnfläche|Fläche|Größe", "Die Wohnung hat {}.|Wohnfläche {}."), fr=("surface|surface_m2", "Surface|Superficie", "La surface est de {}."), es=("superficie|metros", "Superficie|Metros", "Tiene {}."))
    rooms = speak(draw, en=("rooms|number_of_rooms|bedrooms", "Rooms|Bedrooms|No. of rooms", "There are {} rooms.|Rooms: {}."), de=("zimmer|zimmeranzahl", "Zimmer|Zimmeranzahl", "Zimmer: {}."), fr=("pieces|nombre_pieces", "Pièces|Nombre de pièces", "Nombre de pièces : {}."), es=("habitaciones|dormitorios", "Habitaciones|Dormitorios", "Habitaciones: {}."))
    rent = speak(draw, en=("rent|price|monthly_rent|asking_price|cold_rent", "Rent|Price|Monthly rent|Asking price", "The rent is {}.|It costs {} a month.|They ask {}."), de=("kaltmiete|miete|preis|kaufpreis", "Kaltmiete|Miete|Kaufpreis", "Die Kaltmiete beträgt {}.|Miete: {}."), fr=("loyer|prix", "Loyer|Prix", "Le loyer est de {}."), es=("alquiler|precio", "Alquiler|Precio", "El alquiler es de {}."))
    extra = draw.some("balcony|garden|cellar|lift|garage|fitted kitchen|fireplace|terrace|parking space|sauna", 0, 4)
    facts = (
        Fact("title|headline|ad_title", text(title_words(draw, 2, 4)), "Ad|Title", "{}!", "Headline as written", bare=0.9),
        Fact("property_type|type|kind|objektart", choice(draw, {"apartment": "apartment|flat|Wohnung|appartement", "house": "house|detached house|Haus|maison", "studio": "studio|bedsit|Einzimmerwohnung", "room": "room in a shared flat|WG-Zimmer|furnished room", "office": "office space|Büro|commercial unit"}), "Type|Property|Objekt", "We offer a {}.|It is a {}.", "Sort of property"),
        Fact("offer|listing_type|for", choice(draw, {"rent": "to let|for rent|zu vermieten|à louer", "sale": "for sale|zu verkaufen|à vendre"}), "Offer", "The place is {}.", "Rent or sale"),
        Fact(rooms[0], number(1, 7, 0)(draw), rooms[1], rooms[2], "Number of rooms"),
        Fact(size[0], number(18, 240, 1, " m²| sqm| qm| m2| square metres")(draw), size[1], size[2], "in square metres", must=draw.chance(0.5)),
        Fact("floor|storey|etage|level", count(0, 12)(draw), "Floor|Storey|Etage|Level", "On floor {}.|Storey {}.", "0 = ground floor"),
        Fact("street|address|street_address", street(draw), "Street|Address|Straße", "It is in {}.|Address: {}.", "Street line", group="address|location|lage"),
        Fact("city|town|ort|municipality", city(draw), "City|Town|Ort|Ville", "The town is {}.|Located in {}.", "Town", group="address|location|lage"),
        Fact("district|neighbourhood|quarter|stadtteil", title(draw), "District|Area|Stadtteil|Quartier", "The district is {}.", "Part of town", group="address|location|lage"),
        Fact(rent[0], money(draw, None, unit), rent[1], rent[2], "Price without extras", must=True),
        Fact("utilities|service_charge|nebenkosten|additional_costs|charges", money(draw, None, unit), "Utilities|Service charge|Nebenkosten|Charges", "Add {} for utilities.|Extra costs: {}.", "Extra costs a month"),
        Fact("heating_costs|heating|heizkosten", money(draw, None, unit), "Heating|Heizkosten", "Heating is {}.", "Heating a month"),
        Fact("deposit|kaution|security_deposit", money(draw, None, unit), "Deposit|Kaution|Dépôt de garantie", "The deposit is {}.|Deposit {}.", "Deposit"),
        Fact("available_from|free_from|frei_ab|move_in", date(draw), "Available|Free from|Frei ab|Move-in", "It is free from {}.|You can move in on {}.", "When it is free"),
        Fact("year_built|built|baujahr|construction_year", Value(str(y := draw.rng.randint(1880, 2026)), (Form(y, {"type": "integer"}),)), "Built|Year built|Baujahr", "Built in {}.|The house dates from {}.", "Year of construction"),
        Fact("pets_allowed|pets|haustiere", flag(draw, "pets welcome|allowed|yes|erlaubt", "no pets|not allowed|no|nicht erlaubt"), "Pets|Haustiere", "Pets: {}.", "Are pets allowed"),
        Fact("furnished|moebliert|is_furnished", flag(draw, "furnished|with furniture|yes|möbliert", "unfurnished|empty|no|unmöbliert"), "Furniture|Furnished", "It comes {}.", "Is it furnished"),
        Fact("features|amenities|ausstattung|extras", listing(draw, extra), "Features|Extras|Ausstattung|Amenities", "With {}.|Features: {}.", "Extras in order"),
        Fact("agent|contact|landlord|contact_person|makler", person(draw), "Contact|Agent|Landlord|Makler", "{} shows it to you.|Ask for {}.", "Whom to ask"),
        Fact("contact_phone|phone|telephone", phone(draw), "Phone|Tel.|Call", "Call {}.", "Number to call"),
        Fact("energy_kwh|energy_rating_kwh|energieausweis_kwh", number(30, 250, 0, " kWh/(m²a)| kWh")(draw), "Energy|Energy certificate|Energieausweis", "The energy value is {}.", "Energy value"),
    )
    return Draft(tuple(fact for fact in facts if fact.value.written), "For rent|Home to let|Property|Wohnungsanzeige|New listing", (), "The neighbour pays {money}.|The station is {n} minutes away.|Rent before renovation: {money}.|Viewing on {date} at {time}.|Managed by {company}.|Parking space {money} a month.", "", "Serious enquiries only.")


def travel(draw: Draw) -> Draft:
    unit = currency(draw)
    legs = tuple((text(digits(draw, draw.pick("@@ ###|@@####|ICE ###|TGV ####|IC ##"))), city(draw), city(draw), time(draw), time(draw)) for _ in range(draw.rng.randint(0, 3)))
    table = Rows("legs|segments|flights|connections|trips", (Column("number|flight|train|service", "No.|Flight|Train", "as written"), Column("from|origin|departure_place|start", "From|Origin"), Column("to|destination|arrival_place", "To|Destination"), Column("departure|departs|dep|leaves", "Dep|Departs", "Departure time"), Column("arrival|arrives|arr", "Arr|Arrives", "Arrival time")), legs, "{0} {1} {3} - {2} {4}|{0}: {1} to {2}, dep {3}, arr {4}|{1} {3} -> {2} {4} ({0})|{3} {1} / {4} {2} with {0}", "Itinerary|Legs|Your trip|Connections", "in travel order")
    facts = (
        Fact("passenger|traveller|traveler|guest|name", person(draw), "Passenger|Traveller|Guest|Name", "The traveller is {}.|Booked for {}.|Dear {}.", "Who travels", must=draw.chance(0.6)),
        Fact("booking_reference|booking_code|pnr|confirmation_number|record_locator", text(digits(draw, draw.pick("@@@@@@|@#@@##|######|@@##@@|@@@-####"))), "Booking|PNR|Booking ref.|Confirmation", "Your booking code is {}.|Reference {}.", "Booking code", must=draw.chance(0.5)),
        Fact("carrier|airline|operator|company|hotel", company(draw), "Carrier|Airline|Operator|Hotel", "You travel with {}.|{} takes you there.", "Who runs it", bare=0.4),
        Fact("flight_number|train|service_number|vehicle", text(digits(draw, draw.pick("@@ ###|@@####|ICE ###|TGV ####|IR ####"))), "Flight|Train|No.", "Your number is {}.|It is {}.", "Category and number"),
        Fact("from|origin|departure_city|from_station|von", city(draw), "From|Origin|Departure|Von", "You leave from {}.|The trip starts in {}.", "Where it starts"),
        Fact("to|destination|arrival_city|to_station|nach", city(draw), "To|Destination|Arrival|Nach", "You go to {}.|The destination is {}.", "Where it ends"),
        Fact("departure_date|travel_date|date|outbound_date", date(draw), "Date|Departure date|Travel date|Outbound", "You travel on {}.|Departure is on {}.", "Day of departure"),
        Fact("return_date|inbound_date|back_on", date(draw), "Return|Inbound|Back on", "You come back on {}.|The return is on {}.", "Day of return"),
        Fact("departure_time|departure|departs_at|dep", time(draw), "Departs|Dep|Departure time|ab", "It leaves at {}.|Departure at {}.", "Departure time", must=draw.chance(0.3)),
        Fact("arrival_time|arrival|arrives_at|arr", time(draw), "Arrives|Arr|Arrival time|an", "It arrives at {}.|You get there at {}.", "Arrival time"),
        Fact("boarding_time|boarding", time(draw), "Boarding", "Boarding at {}.", "When boarding starts"),
        Fact("gate|platform|track|gleis", text(digits(draw, draw.pick("@##|#|##|@#|##@"))), "Gate|Platform|Track|Gleis", "From gate {}.|Platform {}.", "as written"),
        Fact("seat|seat_number|sitz", text(digits(draw, draw.pick("##@|#@|##"))), "Seat|Seat no.|Sitz", "You have seat {}.|Seat {} is yours.", "Seat as written"),
        Fact("coach|car|wagon|wagen", count(1, 30)(draw), "Coach|Car|Wagen", "In coach {}.", "Number of the coach"),
        Fact("class|travel_class|cabin", choice(draw, {"economy": "economy|second class|2nd class", "business": "business|Business Class", "first": "first class|1st class|First"}), "Class|Cabin", "You travel {}.", "Class of travel"),
        Fact("price|fare|total_price|total", money(draw, None, unit), "Fare|Price|Total", "The fare is {}.|You paid {}.", "Price of the ticket"),
        Fact("baggage_kg|luggage_kg|baggage_allowance", number(7, 40, 0, " kg|kg")(draw), "Baggage|Luggage", "You may take {}.|Baggage: {}.", "in kg"),
        Fact("check_in|check_in_date|arrival_date", date(draw), "Check-in|Arrival", "Check-in on {}.", "Day of check-in", group="hotel|stay"),
        Fact("check_out|check_out_date|leaving_date", date(draw), "Check-out|Leaving", "Check-out on {}.", "Day of check-out", group="hotel|stay"),
        Fact("nights|number_of_nights", count(1, 21, "nights")(draw), "Nights|Stay", "You stay {}.", "Number of nights", group="hotel|stay"),
        Fact("pick_up|pick_up_at|collection", date_time(draw), "Pick-up|Collection", "Pick-up: {}.", "Local time", group="car|rental"),
        Fact("refundable|can_be_refunded", flag(draw, "refundable|yes|free cancellation", "non-refundable|no|no refund"), "Refund", "Ticket: {}.", "Is money returned"),
        Fact("travellers|passengers|adults|number_of_guests", count(1, 9)(draw), "Travellers|Passengers|Adults|Guests", "Number of travellers: {}.", "How many travel"),
    )
    return Draft(facts, "Itinerary|Your trip|E-ticket|Boarding pass|Reservation|Reisebestätigung", (table,), "The earlier train at {time} was cancelled.|The bus to {city} leaves at {time}.|Changes cost {money}.|{person} travels separately.|Check-in closes at {time}.", "your booking is confirmed.", "Have a good trip!")


def recipe(draw: Draw) -> Draft:
    unit = draw.pick("g|ml|tbsp|tsp|cups|EL|pinch")
    stuff = "flour|sugar|butter|eggs|milk|salt|olive oil|onions|garlic|rice|lentils|cream|basil|tomatoes|carrots|yeast|honey|walnuts|lemon juice|parmesan|aged rum|soy sauce|cumin|Mehl|Zucker|Sahne|farine|beurre|harina|aceite"
    names = draw.some(stuff, 2, 7)
    cells = []
    for name in names:
        amount = draw.rng.choice((1, 2, 3, 0.5, 50, 100, 125, 200, 250, 1.5, 45, 20))
        measure = draw.rng.choice(("g", "ml", "tbsp", "tsp", "cups", unit))
        cells.append((Value(f"{amount}", (Form(plain(amount), {"type": "number"}),)), text(measure), text(name)))
    table = Rows("ingredients|zutaten|ingredientes|measures|components", (Column("amount|quantity|menge|qty", "Amount|Qty"), Column("unit|measure|einheit", "Unit", "as written"), Column("name|ingredient|what|item|zutat", "Ingredient|What", "as written")), tuple(cells), "{0} {1} {2}|{0} {1} of {2}|{2}: {0} {1}|{2}, {0} {1}|{2} ({0} {1})|{0}{1} {2}", "Ingredients|You need|Zutaten|For the dough", "in order")
    facts = (
        Fact("title|name|dish|recipe|drink|gericht", text(title_words(draw, 1, 3) + draw.pick(" Soup| Cake| Bread| Salad| Stew|| Pie| Curry")), "Recipe|Dish|Title|Name", "Today: {}.|We make {}.|This is {}.", "Name of the dish", bare=0.9, must=True),
        Fact("servings|serves|portions|portionen|yield", count(1, 12)(draw), "Serves|Servings|Portions|Portionen|Yield", "It serves {}.|Enough for {} people.|Makes {} portions.", "Number of portions"),
        Fact("prep_time|preparation|prep", duration(draw), "Prep|Prep time|Preparation|Vorbereitung", "Preparation takes {}.|Give it {} of preparation.", "Time to prepare"),
        Fact("cook_time|baking_time|cooking", duration(draw), "Cook|Cooking time|Baking time|Backzeit", "It cooks for {}.|Bake it {}.", "Time on the stove or in the oven"),
        Fact("rest_time|resting|chill_time", duration(draw), "Rest|Chill", "Let it rest for {}.", "Time to rest"),
        Fact("oven_temperature|temperature_c|oven_c|oven", number(120, 250, 0, " °C|°C| degrees")(draw), "Oven|Temperature|Ofen", "Heat the oven to {}.|The oven is at {}.", "in degrees Celsius"),
        Fact("difficulty|level|schwierigkeit", choice(draw, {"easy": "easy|simple|for beginners|einfach", "medium": "medium|some practice needed|mittel", "hard": "difficult|for experts|demanding|schwer"}), "Difficulty|Level|Schwierigkeit", "It is {}.|Difficulty: {}.", "How hard it is"),
        Fact("vegetarian|is_vegetarian|meat_free", flag(draw, "vegetarian|no meat|yes", "with meat|not vegetarian|no"), "Vegetarian|Diet", "Diet: {}.", "Has it no meat"),
        Fact("calories|kcal|energy_kcal", count(80, 950, "kcal|calories")(draw), "Calories|Energy|kcal", "One portion has {}.", "kcal a portion"),
        Fact("author|by|from|cook|invented_by", person(draw), "By|From|Author", "It comes from {}.|{} gave it to us.", "Who made it"),
        Fact("cuisine|origin|region", text(draw.pick("Italian|Thai|Mexican|Swabian|Greek|Indian|Ethiopian|Basque|Persian|Korean|Norman")), "Cuisine|Origin|Region", "The cuisine is {}.", "as written"),
        Fact("equipment|tools|you_need", listing(draw, draw.some("whisk|blender|large pot|baking tin|sieve|rolling pin|wok|mortar|thermometer|grater", 1, 3)), "Tools|Equipment", "Tools: {}.", "Tools in order"),
        Fact("source|book|cookbook", title(draw), "Source|Book", "Taken from {}.", "Where it is from"),
    )
    return Draft(facts, "Recipe|Kitchen notes|Rezept|Cook this", (table,), "My aunt {person} used twice as much.|Keeps {n} days.|In {city} they add pepper.|For {n} guests take more.|A ready-made one costs {money}.", "", "Enjoy!|Guten Appetit!")


def news(draw: Draw) -> Draft:
    facts = (
        Fact("headline|title|heading", text(words(draw, 4, 8).capitalize()), "Headline|Title", "{}.", "Headline as written", bare=1.0, must=True),
        Fact("author|byline|reporter|journalist|written_by", person(draw), "By|Author|Report", "{} reports.|Words by {}.", "Who wrote it", bare=0.2),
        Fact("published|publication_date|date|published_on", date(draw), "Published|Date", "Published on {}.|As of {}.", "When it was published"),
        Fact("place|dateline|location|city|scene", city(draw), "Place|Where", "It happened in {}.|The town of {} is talking about it.", "Where it happened"),
        Fact("incident_date|event_date|happened_on", date(draw), "Day of event", "It happened on {}.|On {} it came to pass.", "When it happened"),
        Fact("source|outlet|newspaper|publisher", company(draw), "Source|Outlet", "As {} writes.|According to {}.", "Which paper", bare=0.3),
        Fact("category|section|topic", choice(draw, {"sports": "the match|the cup final|league|Sport", "politics": "the council vote|parliament|the election|Politik", "business": "the merger|quarterly figures|the take-over|Wirtschaft", "science": "the study|researchers found|the experiment", "culture": "the exhibition|the new film|the premiere", "accident": "the crash|the fire|the collapse"}), "Section", "It is about {}.|Everybody speaks of {}.", "Section it belongs to"),
        Fact("company|company_name|firm", company(draw), "Company|Firm", "The company {} is involved.|Behind it stands {}.", "Company in question"),
        Fact("ceo|chief_executive|spokesperson|head", person(draw), "CEO|Spokesperson", "Its head, {}, explained it.|{} spoke for the firm.", "Who leads or speaks for it"),
        Fact("amount|deal_value|sum|cost|damage", money(draw), "Sum|Value|Damage", "The sum is {}.|It is worth {}.|Damage: {}.", "Sum of money"),
        Fact("injured|people_injured|hurt", count(2, 80)(draw), "Injured", "{} people were hurt.|Number of injured: {}.", "Number of injured", group="casualties|people"),
        Fact("dead|fatalities|deaths", count(2, 30)(draw), "Dead", "{} people died.|Number of dead: {}.", "Number of dead", group="casualties|people"),
        Fact("jobs|new_jobs|jobs_cut|employees", count(10, 9000)(draw), "Jobs|Staff", "{} jobs are concerned.|It concerns {} jobs.", "Number of jobs"),
        Fact("attendance|spectators|visitors|crowd", count(50, 60000)(draw), "Attendance|Spectators", "{} people watched.|Attendance was {}.", "Number of spectators"),
        Fact("winner|home_team|champion", company(draw), "Winner", "The winner is {}.|{} won.", "Who won", group="match|result"),
        Fact("runner_up|away_team|loser", company(draw), "Runner-up", "{} lost.|Second came {}.", "Who lost", group="match|result"),
        Fact("score|result|final_score", text(f"{draw.rng.randint(0, 9)}{draw.pick(':|-')}{draw.rng.randint(0, 9)}"), "Score|Result", "It ended {}.|The final score was {}.", "as written", group="match|result"),
        Fact("quote|statement", text(words(draw, 4, 10)), "Quote", "“{}”, she said.|The mayor said: “{}”.", "What was said, as written"),
        Fact("next_date|decision_date|next_step_on", date(draw), "Next date", "The next step follows on {}.|A decision is due on {}.", "When it goes on"),
        Fact("confirmed|officially_confirmed|official", flag(draw, "officially confirmed|confirmed by the police|certain", "not confirmed|only a rumour|unclear"), "State", "The report is {}.", "Is it confirmed"),
    )
    return Draft(facts, "", (), "In {month} a similar plan failed.|{person} of {company} disagreed.|Last year the figure was {n}.|In {city} nobody wanted to comment.|Analysts had expected {money}.", "", "(agencies)|More to follow.")


KINDS = (
    Kind("event", event, ("en", "en", "de", "fr", "es"), 1.4),
    Kind("realestate", estate, ("en", "en", "de", "fr", "es"), 1.2),
    Kind("travel", travel, ("en", "en", "en", "de"), 1.3),
    Kind("recipe", recipe, ("en", "en", "de")),
    Kind("news", news, weight=1.2),
)
