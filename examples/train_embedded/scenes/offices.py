"""Scenes: what offices, clubs, schools, shops and insurers write."""

from .scene import Scene

SCENES = (
    Scene(
        "insurance",
        """
[{insurer:company}|{insurer:company} Insurance]
[Claim|Damage report|Notice of loss|Policy] [no.|number|] {no:code ##-#####|@@######|CL-####}
[Policy {pol:code @#######|###-###-#}|Contract {pol:code ######}|]

[Insured|Policyholder]: {who:person}[, {addr:address}|]
[On {day:date} [at about {at:time}|] |Date of loss: {day:date}[, {at:time}|]. ][#cause=water:a pipe burst and everything was wet|#cause=water:water came through the ceiling|#cause=fire:a candle set the curtains on fire|#cause=fire:the {:goods} began to burn|#cause=theft:somebody broke in and took the {item:goods}|#cause=theft:the {item:goods} was stolen from the cellar|#cause=storm:the wind tore off part of the roof|#cause=storm:hail smashed the windows|#cause=accident:I backed into a {:goods}|#cause=accident:two cars touched at the crossing] in {town:city}.
[[Damage|Loss|Estimated cost|Repair according to quote]: {sum:money 100-20000}|We put the damage at {sum:money 100-20000}|Nobody knows the sum yet]. [The excess is {excess:money 50-1000}.|Your own share: {excess:money 50-1000}.|] [#police=yes:The police were there (file {file:code ###/##|@@-####}).|#police=yes:Reported to the police.|#police=no:The police were not called.|] [#hurt=yes:{hurt:name} was slightly hurt.|#hurt=no:Fortunately nobody was hurt.|#hurt=no:No one was injured.|] [Witness: {wit:name}, {:phone}.|Seen by {wit:name}.|]

[#dec=paid:We have transferred {paid:money 50-9000}.|#dec=paid:You will receive {paid:money 50-9000} in the next days.|#dec=refused:We regret that this is not covered.|#dec=refused:Gross negligence: no payment can be made.|#dec=open:We are still examining the case.|#dec=open:Our expert {exp:name} will call on {visit:later 1-200}.]
[Handled by {agent:name}, {tel:phone}|Your contact: {agent:name} ({mail:email})|]
""",
        """
claim_number|claim_no|case ; no
policy_number|contract_number ; pol
insurer|insurance_company ; insurer
policyholder|insured|claimant ; who ; without title
address ; addr
date_of_loss|loss_date|happened_on ; day
time ; at
cause|type_of_damage|peril|kind_of_loss ; cause=water/water_damage,fire,theft/burglary,storm/weather,accident/collision ; What caused the damage
stolen_item|item ; item
city|place ; town
damage_amount|loss_amount|estimated_damage ; sum ; null if unknown
excess|deductible ; excess
currency ; $
police_informed|police_called|reported_to_police ; police?
police_file|file_number ; file
injured|anyone_hurt|personal_injury ; hurt? ; Was anybody hurt
injured_person ; hurt
witness ; wit
decision|outcome|state ; dec=paid/accepted,refused/rejected,open/pending ; What the insurer decided
paid_amount|payout ; paid
expert ; exp
expert_visit ; visit
handler|contact|agent ; agent
phone ; tel
""",
    ),
    Scene(
        "membership",
        """
[{club:company}|Club {club:title}|Association {club:title}]
[{day:today}|{city:city}, {day:today}]

[Dear {who:person},|Dear member {who:person},|Hello {who.given},]
[#type=join:welcome among us! Your membership [no.|number is] {no:code ####|M-####} begins on {start:later 1-60}.|#type=leave:we are sorry that you are leaving. Your membership {no:code ####|M-####} ends on {end:later 20-200}.|#type=renew:another year is over: your membership {no:code ####} [continues|has been prolonged] until {end:later 200-400}.|#type=reminder:your fee for this year has not reached us yet.]
[The [yearly|annual] fee is {fee:money 10-300}[, members under {:count 16-27} pay {red:money 5-90}|]|{fee:money 10-300} a year][, [due|to be paid] by {due:later 5-90}|]. [#pay=debit:We take it from your account.|#pay=transfer:Please transfer it to {iban:iban}.|#pay=cash:Please pay {treas:name} at the next meeting.|]
[#vote=yes:You have a vote in the assembly on {agm:later 10-300}[ at {:time}|].|#vote=no:As a supporting member you have no vote.|] [With the card you get {disc:percent} off [in|at] {partner:company}.|] [The key costs a deposit of {key:money 5-50}.|]
[{pres:name}, [chair|president]|[Treasurer|Secretary]: {treas2:name}|Regards, {pres:name}]
""",
        """
club|association|organisation ; club
member|name|member_name ; who ; without title
date|letter_date ; day
reason|type|kind|purpose ; type=join/welcome,leave/termination,renew/renewal,reminder ; Why the letter is written
member_number|membership_number|member_id ; no
start_date|valid_from ; start
end_date|valid_until|ends_on ; end
annual_fee|fee|yearly_fee ; fee
reduced_fee|youth_fee ; red
due_date|pay_by ; due
payment_method|payment ; pay=debit/direct_debit,transfer/bank_transfer,cash
iban ; iban
voting_right|can_vote|has_vote ; vote?
general_meeting|assembly_date|agm_date ; agm
discount_percent|discount ; disc
partner ; partner
key_deposit ; key
currency ; $
signed_by|chair|president ; pres
""",
    ),
    Scene(
        "school",
        """
[{school:place} School|School at the {school:title}]
[Class {cls:code #@|##@}|Year {cls:code #|##}][, teacher {teacher:person}|]

[{day:today}|]
[Dear parents,|Dear Mr and Mrs {kid.family},|To the parents of {kid:name}]

[#what=trip:on {date:later 5-60} we go to {goal:place} in {town:city}. We meet at {at:time} [at the station|in the yard] and are back [around|by] {back:time}. The cost is {cost:money 4-90}[, to be handed in by {payby:later 1-10}|].|#what=meeting:you are invited to our parents' evening on {date:later 5-60} at {at:time} in {room:room}. [We talk about {topic:subject}.|Topics: {topic:subject}.]|#what=absence:{kid:name} was not in class on {date:earlier 1-10}. Please send us a note.|#what=illness:{kid:name} has to stay at home because of {ill:symptom}, until {date:later 1-9} at least.|#what=grade:{kid:name} has reached {points:count 10-99} of 100 points in {subj:words maths/English/history/biology/music/chemistry}[, the average was {avg:number 30-80 1}|].|#what=fees:the fee for lunch rises from {old:money 2-4} to {cost:money 4-9} on {date:later 10-90}.]
[#sign=yes:Please sign and return the slip below.|#sign=yes:We need your signature by {payby:later 1-10}.|#sign=no:You need not reply.|#sign=no:For your information only.|] [#lunch=yes:Lunch is provided.|#lunch=no:Please pack something to eat.|] [Please bring {bring:list goods 1-3}.|] [{help:count 2-5} parents could come along and help.|]
[Kind regards,|Yours,]
{sign:name}[, headteacher|, class teacher|]
[{tel:phone}|]
""",
        """
school ; school
class|form|year ; cls
teacher|class_teacher ; teacher ; without title
letter_date|written_on ; day
child|pupil|student ; kid
subject|reason|type|kind ; what=trip/excursion,meeting/parents_evening,absence,illness/sick_note,grade/test_result,fees/prices ; What the letter is about
date|event_date|on ; date
destination|goes_to ; goal
city ; town
start_time|time|meeting_time ; at
return_time|back_at ; back
cost|price|fee ; cost
previous_fee|old_price ; old
pay_by|return_slip_by|deadline ; payby
room ; room
topic ; topic
points|score ; points
average ; avg
subject_taught|test_subject ; subj
signature_required|must_sign|reply_needed ; sign? ; Do the parents have to sign
lunch_provided|lunch_included ; lunch?
bring|to_bring ; bring
helpers_wanted ; help
signed_by ; sign
phone ; tel
""",
    ),
    Scene(
        "personnel",
        """
[{co:company}: |]{who:name} [#ev=join:becomes|#ev=join:is the new|#ev=join:has been named|#ev=leave:steps down as|#ev=leave:leaves as|#ev=promote:moves up to be|#ev=promote:has been promoted to] {role:job}
[{city:city}, {day:today}.|{day:today} -]
[{who} ({age:age 28-66})|{who}, {age:age 28-66},|The {age:age 28-66}-year-old|{who}] [takes up the post|starts|will begin|changes] [on {eff:later 5-120}|at once]. [{who.given} came from {prev:company}, where {prevyears:count 2-20} years were spent as {prevrole:job}.|Before, {who.given} had worked for {prev:company}.|] [{pred:name} [held the post before|was the predecessor|retires after {predyears:count 3-30} years].|The post had been vacant since {:year}.|Nobody has been named as a successor yet.|#succ=yes:{succ:name} will follow.]
["{quote:phrase}," [said|says] {boss:name}, {bossrole:words chair of the board/head of personnel/owner/founder/managing director}.|{boss:name}, {bossrole:words chair of the board/head of personnel/owner}, is pleased.|]
{co:company} [has|employs] {staff:count 20-9000} people[ and sold goods for {sales:money 90000-900000} last year|].
[#int=yes:It is an appointment from within.|#int=no:An outsider gets the job.|]
""",
        """
person|name|who ; who
event|type|change|kind ; ev=join/appointment/hired,leave/departure/resignation,promote/promotion ; What happens to the person
company|organisation|employer ; co
position|role|job_title ; role
city|place ; city
announced_on|date|published ; day
effective_date|starts_on|effective|from ; eff ; null if it is at once
age ; age
previous_employer|former_company|came_from ; prev
previous_role ; prevrole
predecessor ; pred ; null if none is named
years_of_predecessor ; predyears
successor ; succ
quote ; quote
quoted_person|speaker ; boss
speaker_role|function ; bossrole
employees|staff|headcount ; staff
revenue|sales ; sales
internal|internal_candidate ; int?
""",
    ),
    Scene(
        "sports",
        """
[{comp:words League/Cup/Regional league/Friendly/Championship/Women's league}, [round|matchday] {round:count 1-34}|{comp:words League/Cup/Final/Youth cup}]
{home:city} [{:words United/Rovers/SC/Athletic}|] [-|vs|v|against] {away:city}  {score:code #-#|#:#}[ ({half:code #-#|#:#}[ at half-time|])|]
[{day:date}[, {at:time}|]|{day:date} in {:city}]

[Scorers|Goals|Tries]: <goals 1-5, :{who:name} ({min:count 1-90})>
[Spectators|Attendance|Crowd]: {crowd:count 30-40000}. [Referee|Umpire]: {ref:name}.
[#sent=yes:Sent off: {red:name} ([{redmin:count 5-90}|]).|#sent=yes:{red:name} saw the red card.|#sent=no:No cards of note.|]
[#end=normal:|#end=extra:It was decided in extra time.|#end=extra:After ninety minutes nothing was settled, so they played on.|#end=penalties:The shoot-out had to decide.|#end=abandoned:Fog ended the match early.|#end=abandoned:The referee broke off after a storm.]
["{quote:phrase}," said coach {coach:name}.|Coach {coach:name} was not content.|] [Next match: {next:later 2-20}, against {nextopp:city}.|{home} is now [in place|] {pos:count 1-18}[ of the table|].|] [Man of the match: {best:name}.|]
[Before the break {:name} had missed a penalty.|In the autumn it had ended {:code #-#}.|]
""",
        """
competition|league|tournament ; comp
round|matchday ; round
home|home_team ; home
away|away_team|visitors ; away
score|result|final_score ; score ; as written
half_time|half_time_score ; half
date|played_on ; day
kick_off|time ; at
attendance|spectators ; crowd
referee ; ref
red_card|sending_off|player_sent_off ; sent? ; Was a player sent off
sent_off|red_card_player ; red
ended_by|ending|decided_in ; end=normal/regular_time,extra/extra_time,penalties/shoot_out,abandoned
coach ; coach
quote ; quote
next_match|next_date ; next
next_opponent ; nextopp
table_position ; pos
best_player ; best
goals|scorers ; goals* ; in order
player|scorer|name ; goals.who
minute ; goals.min
""",
    ),
    Scene(
        "police",
        """
[Police report|Press office of the police|From the police log|Witnesses wanted] [{no:code ####/##|@@-####}|]
{town:city}[ ({quarter:title})|]. [#what=burglary:Somebody broke into {place:place}|#what=burglary:Through a cellar window, unknown people got into {place:place}|#what=collision:Two vehicles collided at {place:street}|#what=collision:A van ran into the back of a car at {place:street}|#what=theft:A {item:goods} [was stolen|disappeared] from {place:place}|#what=vandalism:Windows were smashed at {place:place}|#what=vandalism:Someone sprayed paint on {place:place}|#what=fraud:A caller who claimed to be a bank clerk talked a pensioner into handing over her savings] on {day:date}[ between {t1:time} and {t2:time}| at about {t1:time}|].
[Taken: {stolen:list goods 1-4}.|The haul: {stolen:list goods 1-3}.|] [[Value|Damage|Loss]: about {val:money 100-40000}.|Damage of {val:money 100-40000} was done.|The value is unknown.] [#arrest=yes:{sus:count 1-4} suspects were caught.|#arrest=yes:A man of {age:age 18-70} was arrested soon after.|#arrest=no:The culprits are at large.|#arrest=no:Nobody has been caught.] [#hurt=yes:{inj:count 2-6} people were taken to hospital.|#hurt=no:Nobody was harmed.|]
[Seen: {desc:words a white van/a tall woman in a red coat/two youths on a scooter/a man with a beard/a grey estate car}.|A witness noticed {desc:words a white van/a dark blue car/a man with a limp/three people in overalls}.|]
[If you know more: {tel:phone}[, file {file:code ##/####|@#####}|].|Please call {tel:phone}.|Hints to {mail:email}.]
[Already on {:earlier 3-40} there had been a similar case with a loss of {:money 100-900}.|Inspector {insp:name} is in charge.|]
""",
        """
report_number|number ; no
city|town|place ; town
district|quarter ; quarter
offence|type|what_happened|incident_type ; what=burglary/break_in,collision/traffic_accident,theft,vandalism/damage_to_property,fraud/scam ; Sort of incident
scene|location ; place
date|day|happened_on ; day
from_time|time|between ; t1
until_time|to_time ; t2
stolen|stolen_items|loot ; stolen ; in order
stolen_item ; item
value|damage|estimated_value|loss ; val ; null if unknown
currency ; $
arrested|suspects_caught|solved ; arrest? ; Has anyone been caught
suspects|number_of_suspects ; sus
suspect_age ; age
injured|people_injured ; inj
anyone_injured ; hurt?
description|seen ; desc ; as written
phone|hotline ; tel
file_number ; file
email ; mail
officer|inspector ; insp
""",
    ),
    Scene(
        "log",
        """
[<lines 1-4:{ts:code 20##-0#-1#T1#:##:##Z|20##-0#-2# 0#:##:##} [\\[|]{lvl:words INFO/WARN/DEBUG}[\\]|] {:words cache/auth/worker/scheduler/gateway}: {:phrase}
>|]{day:code 20##-0#-1#|20##-1#-0#}[T| ]{clock:code 1#:##:##|0#:##:##}[,###|Z|] [\\[|]{level:words ERROR/WARN/FATAL/CRITICAL}[\\]|] {svc:words billing/auth/search/export/mailer/scheduler/payments/gateway/indexer/uploads}[-{inst:count 1-12}|]: {exc:words TimeoutError/ValueError/ConnectionReset/OutOfMemory/KeyError/PermissionDenied/NullPointerException/DiskFull/AssertionError}: {msg:phrase}
[request_id={rid:code ********|%%##-####|#####}|\\[req {rid:code ******|####}\\]|] [user={user:code u####|%%%%##}|] [host={host:code web-##|db##|node-#}|] [took {ms:count 2-9000} ms|duration={ms:count 2-9000}ms|]
[    at {f1:code %%%.%%%%.%%|%%%%.%%%}({file:code %%%%.py|%%%.java|%%%%.go|%%%.ts}:{line:count 2-900})|  File "{file:code %%%%.py|%%%/%%%.py}", line {line:count 2-900}|]
[#retry=yes:will try again in {wait:count 2-90} s ({att:count 2-5} of {max:count 5-9})|#retry=yes:retrying, attempt {att:count 2-5}|#retry=no:giving up after {att:count 2-5} attempts|#retry=no:no further attempt|]
""",
        """
date|day ; day
time|clock ; clock
level|severity|log_level ; level ; as written
service|component|logger ; svc
instance ; inst
exception|error|error_type|exception_class ; exc
message|text|error_message ; msg
request_id|trace_id|correlation_id ; rid
user|user_id ; user
host|server|machine ; host
duration_ms|elapsed_ms|took_ms ; ms
function|frame ; f1
file|source_file ; file
line|line_number ; line
will_retry|retrying|retry ; retry? ; Is another attempt made
attempt|attempts ; att
max_attempts ; max
retry_in_seconds|wait_seconds ; wait
""",
    ),
    Scene(
        "vehicle",
        """
[For sale: |Used car: |Selling my |]{make:words Volvo/Fiat/Opel/Renault/Toyota/Skoda/Ford/Peugeot/Mazda/Seat} {model:brand}[, {colour:words red/silver/dark blue/white/green/black}|]
[First registered|Registered first|First licence|Built][: | in ]{reg:year}[, |; ]{km:count 3000-260000} [km|miles][ on the clock|]
[#fuel=petrol:runs on petrol|#fuel=petrol:1.4 petrol engine|#fuel=diesel:diesel|#fuel=diesel:2.0 TDI|#fuel=electric:no tailpipe: it is charged from the wall box, range {range:count 120-600} km|#fuel=electric:fully electric|#fuel=hybrid:petrol engine plus battery][, |; ][#gear=manual:you shift yourself, {gears:count 5-6} gears|#gear=manual:manual|#gear=automatic:the gearbox does it for you|#gear=automatic:automatic][, |; ]{hp:count 45-300} [hp|PS|bhp]
[Owners so far: {own:count 1-5}|{own:count 2-5} previous owners|From first hand] [MOT|TÜV|Inspection] [until|valid to] {mot:date}
[#acc=yes:Had a bump at the back in {:year}, repaired.|#acc=yes:Not free of accidents.|#acc=no:Never had an accident.|#acc=no:Accident-free.|] [Defects: <defects 1-3, :{d:clause}>.|Known faults: <defects 1-3; :{d:clause}>|No known defects.|] [#tyres=yes:A set of winter tyres comes with it.|#tyres=no:Summer tyres only.|] [#smoke=no:Nobody ever smoked in it.|#smoke=yes:The last owner smoked.|]
[[Price|Asking|VB|I want] {price:money 600-39000}[ ono| negotiable| firm|]|{price:money 600-39000}]. [The dealer's estimate was {:money 600-39000}.|New it cost {new:money 9000-60000}.|]
[{who:name}, {tel:phone}[, {town:city}|]|Call {tel:phone} after {after:time}|{mail:email}]
""",
        """
make|brand|manufacturer ; make
model ; model
colour ; colour
first_registration|year|registered|built ; reg ; year
mileage|km|odometer|distance ; km
fuel|fuel_type|engine|drive ; fuel=petrol/gasoline,diesel,electric,hybrid
range_km ; range
gearbox|transmission ; gear=manual,automatic
power|horsepower ; hp
owners|previous_owners|number_of_owners ; own
inspection_until|mot_until|valid_until ; mot
accident|had_accident|accident_damage ; acc? ; Has the car had an accident
winter_tyres|extra_tyres ; tyres?
smoker_car ; smoke?
price|asking_price ; price
price_when_new ; new
currency ; $
seller|contact|name ; who
phone ; tel
city|location ; town
email ; mail
defects|faults|known_defects ; defects* ; in order
defect|text|description ; defects.d ; as written
""",
    ),
)
