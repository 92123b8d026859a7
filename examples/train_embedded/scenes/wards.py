"""Scenes: appointments and care: series of sessions, preparations, prescriptions, vets, salons, garages, lessons."""

from .scene import Scene

_THERAPY = "physiotherapy/speech therapy/lymph drainage/acupuncture/laser treatment/braces check/occupational therapy/hydrotherapy"

SCENES = (
    Scene(
        "appointment",
        f"""
[Treatment plan|Your sessions|Terminzettel] – {{pr:words Praxis am Tor/Studio Move/Dr Lenz & partner/The Hand Clinic/Balance}}[, first floor|, rear building|]
[Patient|For]: {{who:name}}[, born {{born:birth 5-90}}|]
{{n:spelled 4-18}} x {{th:words {_THERAPY}}}, [{{dur:count 15-75}} minutes each|each of {{dur:count 15-75}} min][, prescribed [by {{doc:name}} |]on {{rx:earlier 3-30}}|][; {{left:spelled 1-9}} still to take|]

<s 2-5:[{{no:count 1-18}}.|No. {{no:count 1-18}}|#{{no:count 1-18}}] {{d:later 1-90}} {{t:time 7-19}}[ ({{by:words Kim/Ms Arlt/Jean/Tomasz}})|] – [#st=done:attended|#st=done:signed|#st=planned:booked|#st=planned:to come|#st=cancelled:called off[, illness|, {{:words snow/late train}}|]|#st=missed:did not show up|#st=missed:no-show]>

[You pay {{co:money 4-60}} yourself[, per session|]|Own share: {{co:money 4-60}}]. [Missed hours cost {{fee:money 15-70}}[ unless cancelled {{hrs:count 12-48}} hours ahead|].|] [#fast=yes:[Please come without breakfast.|Nothing to eat from midnight on.]|#fast=no:[You may eat as usual.|No need to skip breakfast.]|] [Bring [along|]: {{br:words a towel/the referral/the X-rays/trainers/your insurance card/the old splint}}.|] [#park=yes:[Parking behind the house.|Your car may stand in the yard.]|#park=no:[There is no parking.|Come by bus, there is nowhere to park.]|] [Changes: {{tel:phone}}|To change, write to {{mail:email}}][, {{o:time 7-9}} to {{c:time 12-17}}|].
""",
        """
practice|clinic|provider ; pr
patient|name ; who
date_of_birth ; born
number_of_sessions|sessions_total ; n
treatment|therapy ; th
duration_minutes|minutes_per_session ; dur
prescribed_by|doctor ; doc
prescribed_on|prescription_date ; rx
sessions_left|remaining ; left
copayment|own_share ; co
missed_fee|no_show_fee ; fee
cancel_hours|notice_hours ; hrs
must_fast|no_breakfast ; fast?
bring|what_to_bring ; br
parking|parking_available ; park?
phone ; tel
email ; mail
office_opens ; o
office_closes ; c
sessions|appointments ; s* ; In order
number|session ; s.no
date ; s.d
time ; s.t
therapist|with ; s.by
status|state ; s.st=done/completed/attended,planned/scheduled/upcoming,cancelled,missed/no_show
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "appointment",
        """
[Hi|Hello|Dear] {who:person},
[we have to move|I'm afraid we must move|could we move] your [appointment|slot|lesson] [for|—] {what:words the colour and cut/tattoo, second sitting/driving lesson/piano tuning/dog trimming/tyre change/eye test/chimney sweep/passport photos}[ with {old:name}|]: [not|instead of] {d0:later 1-6} {t0:time 8-18} [but|now] {d1:later 7-20} [at|,] {t1:time 8-18}[, with {new:name}|][, {wh:place}|]. [{why:words The machine is broken/I am ill/We are short of staff/The road is closed/There was a double booking}.|] [It takes [about |]{dur:duration}.|Allow {dur:duration}.]
[#dep=yes:[Your {depm:money 10-80} have arrived, thank you.|The down payment of {depm:money 10-80} is with us.]|#dep=no:[We still need the {depm:money 10-80} in advance.|Without the advance of {depm:money 10-80} we can't hold it.]|] [Price as agreed: {p:money 15-400}[ (list: {:money 20-500})|].|] [#form=yes:[Your form is here.|The questionnaire came back, thanks.]|#form=no:[Please fill in the form first.|We still miss the questionnaire.]|] [#conf=yes:[Please answer with YES.|Let me know by {by:later 1-4} if that suits.]|#conf=no:[No need to reply.|If we hear nothing, it stands.]]
[Your number with us: {cn:code ####|K###|#####}.|Call {tel:phone} for anything else.|]
[See you|Bye|Best wishes], {me:name}[, {firm:company}|]
""",
        """
customer|client|name ; who
service|appointment_for|what ; what
previous_staff ; old
old_date|previous_date|cancelled_date ; d0 ; The date that no longer holds
old_time|previous_time ; t0
new_date|date|appointment_date ; d1 ; The date that is valid now
new_time|start|new_start_time ; t1
staff|with|new_staff ; new
location|place ; wh
reason ; why
duration|length ; dur
advance_received|down_payment_arrived ; dep?
deposit|advance ; depm
price|agreed_price ; p
form_received|questionnaire_returned ; form?
reply_needed|needs_confirmation ; conf?
reply_by ; by
customer_number ; cn
phone ; tel
sender|written_by ; me
company ; firm
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "appointment",
        """
[Rx|Prescription|Rezept][ {no:code ########|###-####}|] – {doc:person}, {town:city}, {day:today}
[For|Patient]: {who:name}, {age:age 1-95} years[, {kg:measure 4-120 kg}|]
<m 1-3:[{i:count 1-3}.|-|•] {drug:words Amoxil/Lisotan/Dormil/Cortisol cream/Pantec/Novalgat/Metforin/Eye drops Lux/Iron syrup} {mg:number 5-900 0} [mg|ml], {q:number 10-100 0} [tablets|pieces|doses]; {dose:number 1-3 0} [x|times] [daily|a day] [for {days:count 3-30} days|until used up][, [after|before|with] {meal:words meals/breakfast/bedtime}|]>
[Refills|Repeat]: {ref:count 0-6}[ until {refd:later 60-360}|]. [#sub=no:[No substitution.|Exactly this brand, please.]|#sub=yes:[A generic will do.|May be replaced by the cheaper one.]|] [Allergic to {al:words penicillin/latex/nuts/iodine/aspirin}!|No known allergies.|] [Next check {next:later 10-90}.|] [Collected by {coll:name} ({rel:words mother/neighbour/daughter/carer})|To pay at the counter: {pay:money 3-40}|]
""",
        """
prescription_number|number ; no
doctor|prescriber ; doc
city ; town
date|issued_on ; day
patient ; who
age|patient_age ; age
weight_kg ; kg
repeats|times_to_repeat ; ref
repeat_until ; refd
substitution_allowed|generic_allowed ; sub?
allergy|allergies ; al ; null if none is known
next_check|follow_up ; next
collected_by ; coll
collector_relation ; rel
copayment|to_pay ; pay
medicines|drugs|items ; m* ; In order
name|drug ; m.drug
strength|amount ; m.mg
quantity|pack_size ; m.q
times_per_day|doses_per_day ; m.dose
days|duration_days ; m.days
taken_with|relation_to_meals ; m.meal
currency ; $
""",
    ),
    Scene(
        "appointment",
        """
[Tierarzt|Vet|Animal clinic] {town:city}: [visit|card] of {day:today}
{pet:words Bruno/Mimi/Socks/Rosalie/Kasimir/Nala/Otto/Biscuit}, {sp:words cat/dog/rabbit/tortoise/guinea pig/parrot}[, {br:words mixed breed/Siamese/spaniel/dwarf lop/terrier}|], {age:number 1-17 0} [years|y][, {kg:measure 1-48 kg} (last time {:measure 1-50 kg})|], [#sex=f:she|#sex=m:he] is [#neu=yes:neutered|#neu=no:not neutered][; chip {chip:code ###############}|]
[Owner|Belongs to]: {own:name}, {tel:phone}
[Complaint|Why they came]: {why:words limping/off its food/itching/bad teeth/swallowed a sock/yearly jab/eye runs/cough at night}[, since {since:earlier 1-20}|]
[Found|Diagnosis]: {dx:words sprain/ear mites/abscess/worms/gum disease/nothing serious/foreign body/allergy}; [temperature|T] {temp:number 37-41 1}. [Given|Treatment]: {rx:words injection/two stitches/ear drops/painkiller/X-ray/tooth removed}[, [at home|then] {home:words drops/tablets/ointment/a collar} for {days:days}|].
[#vac=yes:[Vaccinated today, again {vd:later 300-400}.|Jab given; next one {vd:later 300-400}.]|#vac=no:[No vaccination today.|Jab postponed.]|] [#stay=yes:[Stays here for {nights:spelled 1-5} nights.|Kept in for {nights:spelled 1-5} nights.]|#stay=no:[Went home at once.|Home the same day.]] [Bill: {sum:money 20-900}[, {paid:money 10-19} of it paid|].|] [Again [on |]{next:later 5-40}.|]
""",
        """
clinic_city|city ; town
visit_date|date ; day
animal|name|pet ; pet
species ; sp
breed ; br
age_years|age ; age
weight_kg|weight ; kg ; Of today
sex ; sex=f/female,m/male
neutered ; neu?
chip_number|microchip ; chip
owner ; own
phone ; tel
complaint|reason_for_visit ; why
since|symptoms_since ; since
diagnosis ; dx
temperature|temp_c ; temp
treatment ; rx
home_treatment|medication ; home
treatment_days ; days
vaccinated|vaccination_given ; vac?
next_vaccination ; vd
hospitalised|stays_in_clinic ; stay?
nights ; nights
total|bill|cost ; sum
paid|amount_paid ; paid
next_visit|follow_up ; next
currency ; $
""",
    ),
)
