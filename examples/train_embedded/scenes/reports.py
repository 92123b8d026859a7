"""Scenes: reports of incidents, complaints to offices, questions in forums and chats about plans."""

from .scene import Scene

SCENES = (
    Scene(
        "incident",
        """
[INCIDENT REPORT|Accident report|Report of an occurrence|Near-miss report|Security log] [no. |]{no:code IR-####|##/####|####}
[Site|Place|Where][: | ]{site:company}[, {room:room}|][, {town:city}|]
[When|Date/time|Occurred][: | ]{day:today}[, | at | ]{at:time}[ (reported {rep:later 0-2}[, {repat:time}|])|]
[Reported by|Author|Written by][: | ]{who:name}[, {whorole:of role}|]
[Persons involved|People concerned|Involved][: | ]{p1:name}[ ({p1role:of role})|][, {p2:name}|]

[What happened|Description|Account|Facts]
[#kind=injury:[{p1} [slipped on the wet floor|fell from a ladder|cut a finger on the slicer|was hit by a falling box|caught a hand in the door].|While lifting a crate {p1} felt a sharp pain.]|#kind=fire:[Smoke came out of the {obj:of appliance}.|The {obj:of appliance} went up in flames.|A bin was smouldering by the back door.]|#kind=theft:[The {obj:of gadget} was gone from the desk.|Somebody had forced the lock and taken the {obj:of gadget}.|The till was {amt:money 50-900} short.]|#kind=spill:[{litres:count 2-200} litres of {stuff:words cleaning agent/oil/diesel/paint/acid/milk} ran over the floor.|A drum leaked, {litres:count 2-200} litres of {stuff:words cleaning agent/oil/diesel/paint/acid} in all.]|#kind=near_miss:[A pallet came down a metre beside {p1}.|The forklift stopped just in time.|Nobody stood there when the shelf gave way.]|#kind=violence:[A visitor shouted at {p1} and raised a fist.|A customer threw a {obj:of gadget} across the counter.|{p1} was pushed against the wall.]|#kind=data:[A list of {rec:count 20-900} customers went to the wrong address.|A laptop with {rec:count 20-900} files was left on the train.]]
[?kind=injury:[#treat=none:[A plaster was enough.|Went back to work after ten minutes.]|#treat=first_aid:[{aid:name} dressed the wound.|First aid by {aid:name}.]|#treat=hospital:[Taken to {hosp:place} by ambulance.|The doctor at {hosp:place} put in {stit:count 2-9} stitches.]] [Off work for {off:days}.|Unfit until {offuntil:later 2-30}.|]|?kind=fire:[Put out by {aid:name} [with an extinguisher|with a blanket].|The fire brigade came at {brig:time}.]|?kind=theft?kind=violence:[The police were called, file {file:code ##/####|@####}.|No police so far.|Police report {file:code ##/####|@####}.]|?kind=spill?kind=data:[Contained by {cont:time}.|Under control at {cont:time}.]||]
[Witness|Seen by|Witnesses][: | ]{wit:list name 1-3}. [Damage: {dmg:money 50-9000}.|Estimated damage {dmg:money 50-9000}.|No damage to speak of.|]

[Cause|Why|Analysis][: | ][#cause=human:[{p1} had not been shown how.|Somebody forgot to close it.|The rule was ignored.|Haste.]|#cause=technical:[The seal was worn.|A sensor failed.|The machine had a fault.|The cable had come loose.]|#cause=organisation:[Too few people on the shift.|No one felt responsible for the check.|There is no written procedure.|The plan was missing.]|#cause=outside:[A storm.|Strangers got in.|The supplier had packed it badly.|Power cut in the whole street.]|#cause=open:[not clear yet|still being looked into|unknown so far]]
[To be done|Measures|Follow-up][:|]
<acts 1-5:[- |• |]{task:duty}[ – |, ]{by:name}[, by {due:later 3-60}|, {due:later 3-60}|]>
[#sev=low:[Little consequence.|Minor matter.|Of no great weight.]|#sev=high:[This could have cost a life.|Very grave.|The board has been told the same evening.]|] [#closed=yes:[File closed.|Settled on {closedon:later 61-90}.]|#closed=no:[Remains open.|To be taken up again at the next safety meeting.]|]
[A similar event: no. {:code IR-####|##/####}, {:earlier 20-200}.|]
[Signed|Checked by][: | ]{boss:name}
""",
        """
report_number|number|incident_id ; no
site|company|location ; site
room ; room
city ; town
date|incident_date|occurred_on ; day
time|incident_time|occurred_at ; at
reported_on|report_date ; rep
reported_at ; repat
reporter|reported_by|author ; who
reporter_role ; whorole
involved_person|person|first_person ; p1
person_role|involved_role ; p1role
second_person ; p2
incident_type|type|category|kind ; kind=injury/accident,fire,theft,spill/chemical_spill,near_miss,violence/aggression,data/data_breach ; Sort of incident
object|item|equipment ; obj
missing_amount ; amt
litres|spilled_litres ; litres
substance ; stuff
records|affected_records ; rec
treatment|medical_care ; treat=none,first_aid,hospital
first_aider|helper ; aid
hospital|clinic ; hosp
stitches ; stit
days_off|absence_days ; off
unfit_until ; offuntil
fire_brigade_at ; brig
police_file|police_reference ; file
contained_at ; cont
witnesses ; wit ; in order
damage|estimated_damage|cost ; dmg
cause|root_cause|cause_category ; cause=human/human_error,technical/equipment,organisation/organisational,outside/external,open/unknown
severity ; sev=low/minor,high/severe
closed|is_closed|resolved ; closed?
closed_on ; closedon
supervisor|signed_by|checked_by ; boss
currency ; $
measures|actions|corrective_actions|follow_up ; acts* ; In order
action|task|measure ; acts.task ; as written
responsible|owner|assigned_to ; acts.by
due|deadline|due_date ; acts.due
""",
        weight=1.2,
    ),
    Scene(
        "forum",
        """
[{title:of b_technical up}[?|!|]|{title:of b_product up}[?|...|]|\\[{thing:of product}\\] {title:of b_product}|Help! {title:of b_technical up}]
[by |posted by |u/|]{user:code %%%%%##|%%%%%%%|%%%%_%%%}[, {day:today}[ {at:time}|]| · {day:today}|][ · {views:count 20-900} views|][ · in {board:words Home & Garden/Electronics/Cars/Cooking/Legal/Pets/Travel/Beginners}|]

[Hi all,|Hello everybody,|Hey,|Dear experts,|]
[I've had|I own|I bought|I use] [a|my|this] {thing:of product}[ since {since:year}| for {age:months} now|][, firmware {ver:code #.#.#|#.##}|]. [#when=always:[It has been like that from day one.|Each and every time.|Never worked.]|#when=sudden:[Since {start:earlier 1-20} it plays up.|It began on {start:earlier 1-20}, out of the blue.|Fine until {start:earlier 1-20}.]|#when=sometimes:[Now and then only.|On and off.|Once in a blue moon.]] [{more:of b_product up}.|]
[I {t1:of tried}[ and {t2:of tried}|], no luck.|Tried so far: {t1:of tried}[, {t2:of tried}|].|]
[Can spend up to {budget:money 20-500}.|Budget {budget:money 20-500}.|A shop wants {quote:money 20-500} for the repair.|] [#lvl=novice:[I'm no technician at all.|Please explain it as to a child.|First time I hold a screwdriver.]|#lvl=expert:[I do this for a living.|I have a scope and a soldering iron.|I've repaired dozens.]|]
[Any ideas?|What would you do?|Thanks in advance!|Is it worth it?]

<replies 1-6:[{by:code %%%%%##|%%%%%%%|%%%_%%%}][:| ({votes:count 1-90} ▲):| ▲{votes:count 1-90}:] [#kind=advice:[check the {part:words fuse/cable/filter/seal/battery/switch/hose} first|replace the {part:words fuse/cable/filter/seal/battery/switch/hose}, {cost:money 3-60}|have a look at the {part:words fuse/cable/filter/seal/battery/switch/hose}, mine was loose]|#kind=question:[which model exactly?|does it hum when you switch it on?|did you keep the receipt?|how old is it?]|#kind=joke:[hit it with a hammer 😂|have you tried praying?|mine flew out of the window]|#kind=warning:[don't open it, there's high voltage inside!|careful, you lose the warranty|stop using it, mine caught fire]|#kind=me_too:[same here|I have that as well|+1, following]]>
[{user}: [#solved=yes:[it was the {sol:words fuse/cable/filter/seal/battery/switch/hose}, thank you {best:code %%%%%##|%%%%%%%}!|works again, the {sol:words fuse/cable/filter/seal/battery/switch/hose} had come loose|edit: done! {sol:words fuse/cable/filter/seal/battery/switch/hose} replaced for {final:money 3-60}]|#solved=no:[still nothing, I give up|didn't help, I'll buy a new one|no change, sadly]]
|][Thread closed by {mod:code %%%%%|%%%_%%}.|]
""",
        """
title|subject|headline|symptom ; title ; The trouble named in the title
author|user|asked_by|username ; user
date|posted_on ; day
time ; at
views ; views
board|category|forum ; board
product|device|item ; thing ; as written
owned_since|bought_in ; since
age_months|owned_for ; age
firmware|version ; ver
frequency|pattern|occurs ; when=always,sudden/suddenly,sometimes/intermittent ; How the trouble shows
began_on|since|first_noticed ; start
further_symptom|also ; more ; as written
tried|already_tried|attempts ; t1+t2 ; in order
budget ; budget
repair_quote|quote ; quote
skill_level|experience|user_level ; lvl=novice/beginner,expert
solved|is_solved|resolved ; solved? ; Does the author report success
solution|faulty_part|it_was_the ; sol
credited_user|thanked_user|helpful_user ; best
final_cost ; final
closed_by|moderator ; mod
currency ; $
replies|answers|comments ; replies* ; In order, without the author's last word
user|by|author ; replies.by
votes|upvotes ; replies.votes
reply_type|kind|type ; replies.kind=advice/suggestion,question,joke,warning,me_too/same_problem
part|suggested_part ; replies.part
cost|price ; replies.cost
""",
        weight=1.2,
    ),
    Scene(
        "chat",
        """
[Group "{group:of meeting}"|{group:of meeting up} 🎉|Chat]
[{sent:today}
|]{a:name}: [who's in for|what about|shall we do|let's plan] [{what:words a barbecue/a hike/a movie night/bowling/a trip to the lake/a picnic/karaoke/a museum/board games/sushi}|{what:words a barbecue/a hike/a movie night/bowling/a trip to the lake/a picnic/karaoke/a museum/board games/sushi}, like last year]?
{b:name}: [#b_state=yes:[count me in|yesss|i'm there|sure thing]|#b_state=no:[can't, sorry|not this time|i'm away|have to work]|#b_state=maybe:[not sure yet|depends on the kids|i'll tell you later|perhaps]]
{c:name}: [#c_state=yes:[me too!|gladly|with pleasure|👍👍]|#c_state=no:[no chance|i'm ill 🤒|already got plans|pass]|#c_state=maybe:[we'll see|might be late|can't promise]]
{a.given}: [how about|i thought of|does] {first:later 1-10}[ work|]?
[{c.given}|{b.given}]: [no, {why:words my mum visits/football training/I'm on call/dentist/exam the day after}|that's {why:words my mum's birthday/a school day/my shift}]. [rather|better|what about] {day:later 11-25}?
{a.given}: [ok {day} then|fine, {day}|deal], [{at:time 9-20}|{at:spoken 9-20}] [at {place:place}|at mine, {street:street}|in front of {place:place}]. [not {:time 9-20}, that's too early for {:name}|]
{b.given}: [#car=car:[{a.given}, can you drive?
{a.given}: [yes, {seats:count 2-4} seats free|sure, i take {seats:count 2-4} people]]|#car=train:[train? leaves {train:time 7-19} from platform {plat:count 1-12}|let's take the train at {train:time 7-19}]|#car=bike:[we can cycle, it's only {km:number 2-30 1} km|bikes!]|#car=walk:[it's round the corner, on foot|we can walk]]
{c.given}: [i bring {item:of produce}[, who brings {item2:of produce}?|]|shall i get {item:of produce}?|]
{a.given}: [costs|it's|that'll be] {cost:money 3-40} [each|per head|a person][, i paid already, send it to {iban:iban}|, pay me back when you can|, {org:words everyone pays alone/from the kitty/I treat you}|]
{b.given}: [ok!|perfect|see you]
""",
        """
group|chat_name ; group
date|chat_date ; sent ; Day on which they write
organizer|proposed_by|initiator ; a
activity|plan|what ; what
first_friend|second_participant|first_reply_by ; b
first_friend_joins|first_reply|b_answer ; b_state=yes/coming,no/not_coming,maybe/undecided ; What the second person in the chat says to the plan
third_participant|second_reply_by ; c
third_participant_joins|second_reply ; c_state=yes/coming,no/not_coming,maybe/undecided ; What the third person in the chat says to the plan
rejected_date|first_suggestion|declined_date ; first
reason|reason_against ; why
date_agreed|final_date|agreed_date|day ; day
time|meeting_time|agreed_time ; at
venue|place|location ; place
street|address ; street
transport|how_they_go|means_of_transport ; car=car,train,bike/bicycle,walk/on_foot ; How they get there
free_seats|seats ; seats
train_time|departure ; train
platform ; plat
distance_km ; km
brings|item|food ; item
cost_per_person|cost|price_each ; cost
iban|pay_to ; iban
currency ; $
""",
    ),
)
