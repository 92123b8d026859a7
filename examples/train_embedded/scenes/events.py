"""Scenes: invitations, programmes, fairs, concerts, webinars, and what was put off or called off."""

from .scene import Scene

SCENES = (
    Scene(
        "event",
        """
[Dear parents and carers,|Dear families,|Hello everyone,|Dear members,|Dear neighbours,|To all households]

[#st=postponed:[the {what:of meeting} has to wait:|we have to put off the {what:of meeting}.|a new day for our {what:of meeting}:|you will have to be patient, the {what:of meeting} moves.|we must shift the {what:of meeting},] [instead of {old:later 1-20}[ it now takes place on| it will be] {day:later 21-90}|not {old:later 1-20} but {day:later 21-90}|it was to be on {old:later 1-20} and is now on {day:later 21-90}][, because {why:reason}|, as {why:reason}|].|#st=cancelled:[there will be no {what:of meeting} this year|we have had to call off the {what:of meeting}|sadly the {what:of meeting} falls through|the {what:of meeting} will not happen] [(it was planned for {day:later 3-30})|on {day:later 3-30}], because {why:reason}.|#st=planned:[it's that time again: our {what:of meeting}|we look forward to the {what:of meeting}, which|you are warmly invited to our {what:of meeting}|please keep the day free: the {what:of meeting}|the {what:of meeting} is nearly here and] [takes place on|will be on|is set for|is on] {day:later 21-60}.]
[Please pass this on.||]
[We [start|begin] at {at:time 8-19}|From {at:time 8-19}|It runs from {at:time 8-17}[ until {end:time 18-22}|]|Doors open at {doors:time 8-12}, we begin at {at:time 13-19}|Gates {doors:time 8-12}, opening words {at:time 13-15}] [in the {place:place}|at {place:place}, {street:street}|in our usual place, the {place:place}|in {room:room}]. [Should it rain, we move to the {rain:place}.|If the weather is bad: {rain:place}.|]

[What to expect|There will be|On offer|Come for][: |:
]<stalls 1-8, :{thing:of produce}>
[[Helpers|Volunteers|We still need] {helpers:count 2-20} [people|pairs of hands] [for the stalls|to set up from {setup:time 6-9}|to clear up afterwards].|] [Cakes can be handed in from {setup:time 6-9}.|]
[#fee=free:[Nobody has to pay to get in.|Entrance costs nothing.|Bring an appetite, leave your purse.|You can just walk in, no ticket needed.|There's no charge at the gate.]|#fee=donation:[We pass a hat round.|Give what you like.|A box for the roof fund stands at the door.|You decide what it's worth to you.]|#fee=paid:[Entry {price:money 1-15}, children {child:money 1-5}.|{price:money 1-15} a head[, {child:money 1-5} for under-{:count 10-16}s|].|A wristband is {price:money 1-15}.|Tickets ({price:money 1-15}) at the school office.|A family pays {family:money 8-30}, singles {price:money 1-15}.]|]
[Last year we raised {raised:money 200-9000} for {cause:words the playground/new instruments/the minibus/the library/the hospice/a lift/the climbing wall}.|All proceeds go to {cause:words the playground/new instruments/the minibus/the library/the hospice/a lift/the climbing wall}.|] [#reply=yes:[Please return the slip by {until:later 1-15}.|Let us know by {until:later 1-15} whether you come.|Tell {org.given} before {until:later 1-15} how many you are.|We need your answer until {until:later 1-15}.]|#reply=no:[You needn't tell us beforehand.|Just turn up.|No need to sign up.]|]
[No dogs, please.|Parking is on the field behind.|Please come on foot.|]
[With best wishes|See you there|Yours|Many thanks],
{org:name}[, {orgrole:words chair of the parents' council/headteacher/secretary/for the committee/church warden}|]
[{tel:tel}|{mail:email}|]
""",
        """
event|title|name|what ; what ; as written
status|state|event_status ; st=postponed/rescheduled,cancelled/called_off,planned/scheduled/on ; Does it take place as planned
date|event_date|takes_place_on|day ; day ; Day that holds now, or was planned if it is cancelled
original_date|old_date|previous_date ; old ; Day that no longer holds
reason|cause ; why ; as written
start_time|begins_at|time ; at ; Not the opening of doors
end_time|until ; end
doors_open|gates_open ; doors
venue|place|location ; place
room ; room
street|address ; street
bad_weather_venue|rain_venue|alternative_place ; rain
helpers_needed|volunteers_needed ; helpers
set_up_time|setup_from ; setup
admission|entry|fee_type ; fee=free,donation/donations,paid/ticket ; How entry is paid
price|ticket_price|adult_price ; price
child_price ; child
family_price ; family
raised_last_year|amount_raised ; raised
good_cause|cause_supported|proceeds_for ; cause
reply_required|rsvp|registration_required ; reply? ; Do people have to answer
reply_by|rsvp_by|deadline ; until
organizer|signed_by|contact ; org
organizer_role|signed_as ; orgrole
phone ; tel
email ; mail
currency ; $
attractions|stalls|on_offer ; stalls*
name|item ; stalls.thing ; as written
""",
        weight=1.3,
    ),
    Scene(
        "event",
        """
[# |]{name:title}[ {ed:code 20##}| – edition {ed:code ##}|]
[{theme:of talkon up}
|][[Conference|Symposium|Two days of talks|Summit|Meet-up|Congress] in {town:city}[, {land:country}|]
|]
[When|Date|Dates][: | | · ]{day:later 20-30}[ [–|to|until] {last:later 31-34}|]
[Where|Venue|Location][: | | · ]{place:place}[, {street:street}|][, {town:city}|]
[[Language|Talks in][: | | · ]{lang:words English/German/French/English and Spanish}
|]
[## |][Programme|Schedule|Agenda|Speakers|Talks]
[<talks 2-9:{at:time 8-18}  {title:of talkon up}[ – {who:name}| ({who:name}, {org:company})|][, {room:room}|]>|<talks 2-8:- "{title:of talkon up}", {who:name}[ of {org:company}| ({org:company})|]>|<talks 2-7:{who:name}: {title:of talkon} [\\[[#sort=keynote:opening keynote|#sort=keynote:plenary|#sort=workshop:hands-on, bring a laptop|#sort=workshop:tutorial, {max:count 8-40} seats|#sort=talk:30 min|#sort=talk:talk|#sort=panel:round table|#sort=panel:debate with guests]\\]|]>|<talks 2-6:{at:time 8-18} \\| {room:room} \\| {who:name} \\| {title:of talkon up}>]
[[Lunch|Coffee|Dinner] at {:time 12-19}[ in the {:place}|].
|]
[## |][Tickets|Registration|Fees]
[[Early bird|Before {earlyuntil:later 2-10}|Until {earlyuntil:later 2-10}]: {early:money 40-300}[ (until {earlyuntil:later 2-10})|]
|][Regular|Standard|Full price|General]: {price:money 60-600}
[[Students|Concession|Students and job seekers]: {stud:money 10-100}
|][[Online only|Stream|Virtual pass]: {online:money 0-60}
|][[Conference dinner|Gala dinner]: {dinner:money 30-90}
|]
[#seats=many:[Plenty of seats left.|There is room for everyone.|Register any time, the hall is huge.]|#seats=few:[Hurry, nearly gone.|Only {left:count 2-19} left.|Filling fast.|The last {left:count 2-19} tickets are on sale.]|#seats=none:[Sold out, join the waiting list.|No tickets any more.|We are full.]|] [#rec=yes:[All sessions will be filmed and put online.|You can watch everything afterwards.|Videos follow in the weeks after.]|#rec=no:[Nothing is recorded.|You have to be there: no cameras.|What is said stays in the room.]|] [Register at {url:url}[ by {until:later 11-19}|].|Sign up: {url:url}]
[Call for papers closed on {:earlier 5-60}.|Proposals for lightning talks until {cfp:later 3-15}.|Send us your talk by {cfp:later 3-15}.|] [Hosted by|Organised by|An event of] {org1:company}[, sponsored by {spon:company}|][. Contact: {mail:email}|].
[Last time we were {:count 80-900} people in {:city}.|Code of conduct applies.|]
""",
        """
name|event_name|conference|title ; name
edition|edition_number|year ; ed ; Digits only
theme|motto|topic ; theme ; as written
start_date|first_day|date|from ; day
end_date|last_day|to ; last ; null if it is one day
city|town|location ; town
country ; land
venue|place ; place
street|address ; street
language|languages ; lang
{ tickets|prices|fees
regular|standard|full_price ; price
early_bird|early ; early
student|concession ; stud
online|virtual ; online
dinner|gala_dinner ; dinner
}
early_bird_until|early_deadline|early_bird_ends ; earlyuntil
currency ; $
availability|tickets_left|seat_situation ; seats=many/available,few/limited,none/sold_out ; How many tickets are left
tickets_remaining|seats_left ; left
recorded|recordings|will_be_recorded ; rec? ; Can one watch it later
registration_url|register_at|url|website ; url
registration_deadline|register_by ; until
proposals_until|cfp_deadline|call_for_papers_until ; cfp ; null if it is already closed
organizer|host|organised_by ; org1
sponsor ; spon
contact_email|email ; mail
sessions|talks|programme|agenda|speakers ; talks* ; In order, without breaks
time|starts_at|start ; talks.at
title|topic|talk ; talks.title ; as written
speaker|name|given_by ; talks.who
affiliation|organisation|company ; talks.org
room ; talks.room
type|format|kind ; talks.sort=keynote/plenary,workshop/tutorial,talk/lecture,panel/discussion
capacity|max_participants ; talks.max
""",
        weight=1.3,
    ),
    Scene(
        "event",
        """
[{band:of band}[ + {sup:of band}| with special guests {sup:of band}|]|{band:of band}
[support: {sup:of band}|]|"{tour:title}": {band:of band} [live|in concert|on tour]]
[{genre:words chamber music/indie folk/jazz/baroque/electro/fado/klezmer/metal/blues/choral music/singer-songwriter} [night|evening|]
|]{day:today}[ · | \\| |, ][doors {doors:time 17-19}[ · | / |, ]{at:time 20-22}|{at:time 18-21}|start {at:time 18-21}|Einlass {doors:time 17-19}, Beginn {at:time 20-22}|show: {at:spoken 19-21}]
[{place:place}, {town:city}|{place:place} ({town:city})|live at {place:place}, {town:city}][, {street:street}|]

[The {:words Gazette/Courier/Tribune} called them "{quote:phrase}".|"{quote:phrase}" ({:words Gazette/Courier/Tribune})|New record "{album:title}" out now.|They present their album "{album:title}"[, recorded in {:city}|].|{n:count 2-12} musicians, {:count 1-3} hours, no pause.|]
[#seat=seated:[Numbered chairs, rows {:code @}-{:code @}.|You'll have a chair of your own.|All places are numbered.|Please take your seat early.]|#seat=standing:[Bring shoes to dance in, there are no chairs.|The hall is cleared of chairs.|You will be on your feet.|Dance floor only.]|#seat=mixed:[Chairs upstairs, dancing below.|First come, first sit, the others stand.|Some benches along the wall, otherwise floor.]|]
[VVK|Advance|In advance|Presale|Online] {pre:money 8-60}[ (plus fees)| + fee|][, | / |; ][door|at the door|box office|AK] {door:money 10-80}[, students {red:money 5-40}|; under {agered:count 14-26}: {red:money 5-40}| / reduced {red:money 5-40}|]
[Tickets: {url:url}[ or {shop:company}|]|Presale at {shop:company}|Reserve: {tel:tel}|By mail to {mail:email}]
[#age=all:[Bring the children.|For young and old.|Suitable from babies to grandparents.]|#age=adult:[18+, bring ID.|No entry for minors.|Over-eighteens only.]|] [#acc=yes:[Step-free access, a loop for hearing aids.|Wheelchairs roll right in.|There's a ramp and a lift.]|#acc=no:[Unfortunately {:count 12-40} steps and no lift.|The cellar can only be reached by stairs.]|]
[#moved=yes:(Moved from {oldplace:place}, tickets stay valid.)|#moved=yes:New venue! Not at {oldplace:place} as printed.|#moved=yes:Replaces the show of {olddate:earlier 20-300}[, old tickets are good|].|#moved=no:|]
[Further dates: <dates 1-5, :{on:later 2-80} {in:city}>|Also on tour: <dates 1-4; :{in:city} ({on:later 2-80})>|]
""",
        """
artist|band|performer|headliner ; band
support_act|support|opening_act|guest ; sup
tour|show_title|programme ; tour
genre|style ; genre
date|show_date|concert_date ; day ; Date of this concert
doors|doors_open ; doors
start_time|begins|show_time ; at
venue|hall|location ; place ; Where it takes place now
city|town ; town
street ; street
album|record ; album
press_quote|quote ; quote
number_of_musicians ; n
seating|seats|audience ; seat=seated/numbered,standing,mixed ; Does the audience sit
advance_price|presale|price_advance ; pre
door_price|box_office_price|price_at_door ; door
reduced_price|concession ; red
reduced_under_age|youth_age ; agered
currency ; $
ticket_url|tickets_at|tickets_online ; url
ticket_shop|presale_shop ; shop
phone|reservation_phone ; tel
email ; mail
age_limit|audience_age|admission_age ; age=all/none,adult/18_plus
accessible|wheelchair_access|step_free ; acc? ; Can people in wheelchairs get in
moved|relocated_or_rescheduled|changed ; moved? ; Was place or date changed
former_venue|original_venue ; oldplace
former_date|original_date ; olddate
other_dates|further_shows|tour_dates ; dates* ; Other concerts of the tour, in order
date|on ; dates.on
city|place ; dates.in
""",
    ),
    Scene(
        "event",
        """
[Subject: {:words Invitation/Free webinar/You're in!/Don't miss this/Save your seat/Join us online}

|][Hi {to.given},|Hello {to:name},|Dear {to:name},|Good morning,]

[are you struggling with {pain:of work}?|{pain:of work up} - easier said than done.|did you know that {:percent} of firms give up on this?|our last session was full within a day.|] [In our [webinar|online session|live session|lunch talk] ["{what:of talkon up}",|on {what:of talkon},] {host:name}[, {hostrole:of role} at {firm:company},|] [shows|explains|will tell you]|Join our [webinar|live session] ["{what:of talkon up}"|on {what:of talkon}] and learn from {host:name}[, {hostrole:of role} at {firm:company},|]] [how it works|what really matters|which mistakes to avoid|what others get wrong][ and {host2:name} takes your questions|, together with {host2:name}|].

[📅 |When: |Date: |]{day:later 3-40}
[🕐 |Time: |At |]{at:time 8-19}[ ({tz:words CET/UTC/ET/BST/GMT/PST})| {tz:words CET/UTC/ET/BST/GMT/PST}|][, {len:duration}| ({len:duration} incl. questions)|]
[💻 |Where: |Link: |]{app:words Zoom/Teams/Webex/GoTo/our own platform}[ - {link:url}|, {link:url}|]
[[Meeting ID|Room|Code]: {id:code ### #### ####|### ### ###}[, passcode {pass:code %%####|######}|]
|]
[You will [learn|take away|see]:
<points 2-5:[- |✅ |* |• ]{text:of talkon}>
|]
[#lvl=beginner:[You need no background at all.|We start from zero.|Never heard of it? Then you're right here.|No jargon, promised.]|#lvl=advanced:[We skip the basics.|You should have run this in production.|For people who do this every day.|Not for newcomers.]|]
[#cost=free:[It costs you nothing but an hour.|On the house.|No charge, no strings.|You don't pay a thing.]|#cost=paid:[The seat is {price:money 9-200}.|Your investment: {price:money 9-200}.|{price:money 9-200} per screen.|We ask {price:money 9-200}, members {mem:money 2-90}.]|] [#replay=yes:[Can't make it? Sign up anyway, we'll send you the video.|There will be a replay until {replayuntil:later 50-90}.|Everyone who signs up gets the recording.]|#replay=no:[Live only, we don't tape it.|There won't be a replay.|If you miss it, it's gone.]|] [#cert=yes:You get a certificate for {hours:number 1-6 1} [hours|credits].|#cert=yes:It counts {hours:number 1-6 1} CPD points.||]
[Sign up [here|at {reg:url}|] by {until:later 1-2}[, {seats:count 20-500} seats|].|Seats: {seats:count 20-500}. Register at {reg:url}.|Just click, no registration.]
[The session of {:earlier 5-40} is online at {:url}.|The next one, on {:later 60-90}, is about {:of talkon}.|]

[See you|Best|Looking forward|Warmly],
{sign:name}
[{org:company}|]
""",
        """
title|topic|webinar|event ; what ; as written
speaker|host|presenter ; host ; Main speaker
speaker_role|presenter_role ; hostrole
speaker_company|speaker_organisation ; firm
second_speaker|co_host|moderator ; host2
date|day|event_date ; day
time|start_time|starts_at ; at
time_zone|timezone|tz ; tz
duration|length ; len
platform|tool|app ; app
link|join_url|meeting_link ; link
meeting_id|room_code ; id ; as written
passcode|password ; pass
level|audience|difficulty ; lvl=beginner/basic,advanced/expert ; For whom it is
pricing|cost_type|admission ; cost=free,paid
price|fee ; price
member_price ; mem
currency ; $
recording_available|replay|will_be_recorded ; replay?
replay_until|recording_until ; replayuntil
certificate|gives_certificate ; cert?
credit_hours|cpd_points ; hours
registration_url|sign_up_at ; reg
register_by|deadline ; until
seats|max_attendees|capacity ; seats
recipient|invitee ; to
organizer|organisation|company ; org
signed_by|sender ; sign
learning_points|takeaways|contents ; points* ; In order
point|text ; points.text ; as written
""",
        weight=1.2,
    ),
    Scene(
        "event",
        """
[Liebe {to:name},|Lieber {to:name},|Liebe Freunde,|Ihr Lieben,|Hallo zusammen,|Sehr geehrte Damen und Herren,]

[#art=geburtstag:[ich werde {alter:spelled 30-80} und das soll gefeiert werden!|{alter:count 30-80} Jahre, ein Grund zum Feiern.|wieder ein Jahr älter: {alter:count 18-90}!]|#art=hochzeit:[wir trauen uns!|{a:name} und {b:name} sagen Ja.|endlich stecken wir uns die Ringe an.]|#art=vereinsfest:[unser Verein wird {alter:count 10-150} Jahre alt.|der Vorstand lädt alle Mitglieder ein.|auch dieses Jahr feiern wir im Verein.]|#art=einweihung:[der Umzug ist geschafft, die Kisten sind ausgepackt.|unsere neue Wohnung will begossen werden.|wir haben jetzt vier Wände mehr.]|#art=firmenfeier:[die Belegschaft von {firma:company} kommt zusammen.|{firma:company} dankt allen Kollegen.|ein gutes Geschäftsjahr geht zu Ende bei {firma:company}.]]
[Wir feiern|Gefeiert wird|Das Fest steigt|Los geht es|Kommt] am {tag:today} [um|ab] {um:time 11-20}[, bis {ende:time 21-23}|] [im {ort:place}|bei uns, {strasse:street}|in {stadt:city}, {strasse:street}|im {ort:place} in {stadt:city}].
[#essen=buffet:[Für Essen ist gesorgt, jeder nimmt sich.|Es gibt ein Büfett.]|#essen=mitbringen:[Bringt bitte einen Salat oder Kuchen mit.|Jeder bringt etwas für den Tisch mit.|Über {was:words Nudelsalat/Brot/Kuchen/Käse/Obst} würden wir uns freuen.]|#essen=grill:[Der Grill ist an.|Wir werfen Würste auf den Rost.]|] [#geschenk=keine:[Bitte schenkt uns nichts.|Euer Kommen ist Geschenk genug.]|#geschenk=geld:[Wer etwas geben will: unser Sparschwein hat Hunger.|Über einen Umschlag für die Reise freuen wir uns.]|#geschenk=spende:[Statt Blumen bitten wir um Spenden für {zweck:words das Tierheim/die Feuerwehr/das Hospiz/den Spielplatz}.|Bitte spendet für {zweck:words das Tierheim/die Feuerwehr/das Hospiz/den Spielplatz}.]|]
[#kinder=yes:[Die Kleinen dürfen gern mit.|Für die Kinder gibt es eine Hüpfburg.]|#kinder=no:[Diesmal ohne Kinder, bitte.|Bitte besorgt einen Babysitter.]|] [Sagt [bitte |]bis {bis:earlier 3-20} Bescheid[, Telefon {tel:tel}|, {mail:email}|].|U. A. w. g. bis {bis:earlier 3-20}[: {tel:tel}|].|Keine Anmeldung nötig.|] [Motto: {motto:words die Siebziger/Weiß/am Meer/Hüte/Schlager/Dschungel}.|Kleidung: {motto:words festlich/bequem/bunt/ganz in Weiß}.|]
[Parken könnt ihr in der {:street}.|Zuerst war der {:earlier 5-40} geplant.|Zimmer sind im Hotel {hotel:company} reserviert[, Stichwort {stich:words Fest/Feier/Sommer}|].|]

[Herzlich|Bis bald|Mit herzlichen Grüßen|Wir freuen uns auf euch],
{von:name}
""",
        """
anlass|art|event_type|occasion ; art=geburtstag/birthday,hochzeit/wedding,vereinsfest/club_party,einweihung/housewarming,firmenfeier/company_party ; Was gefeiert wird|What is celebrated
datum|tag|date ; tag ; Tag der Feier
beginn|uhrzeit|start_time ; um
ende|end_time ; ende
ort|venue|lokal ; ort
strasse|street ; strasse
stadt|city ; stadt
jubilaeum|alter|age ; alter ; Wie alt jemand oder etwas wird
braut_oder_braeutigam|partner_1 ; a
partner_2 ; b
firma|company ; firma
essen|verpflegung|catering ; essen=buffet,mitbringen/bring_food,grill/barbecue ; Wie für Essen gesorgt ist
mitbringen|please_bring ; was
geschenke|gifts ; geschenk=keine/none,geld/money,spende/donation ; Was sich die Gastgeber wünschen
spendenzweck|donation_for ; zweck
kinder_willkommen|children_welcome ; kinder?
zusage_bis|rsvp_by|antwort_bis ; bis
telefon|phone ; tel
email ; mail
motto|dresscode ; motto
hotel ; hotel
stichwort|booking_code ; stich
gastgeber|host|einladender ; von
gast|guest|eingeladen ; to
""",
        "de",
    ),
)
