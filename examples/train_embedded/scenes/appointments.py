"""Scenes: dates that are agreed, moved, called off or offered: doctors, garages, hairdressers, craftsmen, offices."""

from .scene import Scene

SCENES = (
    Scene(
        "appointment",
        """
[SMS|Text message|Message|WhatsApp] [from |]{firm:company}[ ({tel:tel})|][, {day:today}|]

[Hi {who.given}|Dear {who:person}|Hello {who:name}|{who:name}]: [#act=confirm:[we look forward to seeing you|all set|it's in our book|you're booked in|see you soon|noted, thank you] [on|for] {date:later 1-40}, {at:time 7-19}|#act=remind:[don't forget:|just so you remember:|a little nudge:|tomorrow is the day!|we're expecting you:] {date:later 1-3}, {at:time 7-19}|#act=move:[we have to shift things:|something came up, so|our {:of specialist} is ill, therefore|can't keep your slot of {olddate:later 1-10},] [now|new time|it is now|please come] {date:later 11-40}, {at:time 7-19}|#act=cancel:[we're sorry, no one is here on|we must call off|your visit can't take place on|it won't work out on] {date:later 1-20}, {at:time 7-19}[, because {why:reason}|]|#act=offer:[somebody dropped out:|a slot has opened:|good news from the waiting list:|would you like to come sooner?] {date:later 1-10}, {at:time 7-19}]. [{what:of visit up}[ with {doc:person}|].|{what:of hair up}[ with {doc:name}|].|{what:of carwork up}[, plate {plate:code @@-@@ ####|@##-@@@}|].|With {doc:person}.|] [{street:street}, {floor:floor}.|At our branch in {town:city}.|{addr:address}.|]
[#reply=yes:[Reply {word:words YES/OK/1/C} to confirm.|Answer {word:words YES/OK/1/Y} by {until:time 8-18} or we give it away.|Please text back {word:words YES/OK/1/K}.]|#reply=no:[Do not reply to this number.|Automatic message, replies are not read.|No answer needed.]|] [To change: {change:url}|Can't come? {desk:tel}[, 24 h before|].|Missed visits cost {fee:money 15-90}.|] [Bring {bring:of form}.|Please bring {bring:of form} and be there {early:count 5-20} min before.|]
""",
        """
customer|patient|client|name ; who ; without title
business|practice|company|sender ; firm
sender_number|phone ; tel
sent_on|message_date ; day
purpose|message_type|action|type ; act=confirm/confirmation,remind/reminder,move/rescheduling/moved,cancel/cancellation,offer/earlier_slot_offer ; What the message is for
date|appointment_date|day ; date ; Day that holds now, is offered, or was called off
time|start_time ; at
previous_date|old_date|was_on ; olddate
reason|cancelled_because ; why
service|treatment|subject|what ; what ; as written
practitioner|with|staff|provider ; doc ; without title
licence_plate|plate|vehicle ; plate
street ; street
floor ; floor
branch|city ; town
address|location ; addr
reply_expected|must_reply|confirmation_needed ; reply? ; Is the customer to answer the message
reply_word|keyword ; word
reply_before|answer_by ; until ; Time of day
change_link|reschedule_url ; change
cancel_phone|call_to_cancel ; desk
no_show_fee|fee ; fee
bring|please_bring|to_bring ; bring
arrive_early|minutes_early ; early
currency ; $
""",
        weight=1.4,
    ),
    Scene(
        "appointment",
        """
[Hello {to:name},|Dear {to:name},|Hi {to.given},|{to.given},|Dear all,]

[thanks for your mail.|good to hear from you.|as to our meeting:|about {topic:of talkon}:|we should sit down about {topic:of talkon}.|let's find a date for {topic:of talkon}.] [I can do|These would suit me|I am free|You could have|My diary says|Please choose]:

<slots 2-6:[- |* |• |]{date:later 1-30}[, | at | · ]{from:time 8-18}[ to {to2:time 19-21}| onwards|][ (my favourite)||]>

[#pick=chosen:[{to.given}, in your voicemail you said that {day:later 31-40} at {at:time 8-18} suits you, so let's take that.|As {other:name} can only come on {day:later 31-40} at {at:time 8-18}, we meet then, forget the above.|Update: the room is only free on {day:later 31-40}, {at:time 8-18}, so that's it.|PS: I just see that you've put {day:later 31-40}, {at:time 8-18} into my calendar: done!]|#pick=open:[Which one do you prefer?|Please tick what works for you[ by {until:later 1-2}|].|Let me know[ by {until:later 1-2}|].|Your turn.|Just pick one.|None of them? Then propose another.]]
[Not|Impossible for me is|I'm away on|Please not] {no:later 1-30}[, {why:words I'm in court/we have visitors/it's a holiday/my daughter marries/the auditors are here}|].
[[It will take|Plan|I'd say|We need] {len:duration}.|] [#how=video:[We'll use the usual link.|On screen, so nobody has to travel.|Camera on, please.|I'll send you a Teams invitation.]|#how=phone:[I'll ring you[ on {tel:tel}|].|You needn't come, we just talk[: {tel:tel}|].|By ear will do, call me[ on {tel:tel}|].]|#how=in_person:[Come to {room:room}.|At your place or ours ({street:street}).|We meet in the {place:place}.|I'll come over to you.]|] [{other2:name} should join us.|Shall I ask {other2:name}, too?|]
[[Please bring|Have a look at|Send me beforehand] {bring:of form}.|]
[Best|Regards|See you|Cheers|Kind regards],
{who:name}
[{firm:company}|]
""",
        """
proposed_by|organizer|sender|from ; who
invitee|recipient|to ; to
company|organisation ; firm
topic|subject|about ; topic
status|state|agreed ; pick=chosen/fixed/confirmed,open/proposed/pending ; Is a date fixed
confirmed_date|agreed_date|final_date ; day ; null while it is open
confirmed_time|agreed_time|final_time ; at ; null while it is open
answer_by|reply_by|respond_until ; until
excluded_date|not_possible_on|unavailable_on ; no
reason_unavailable ; why
duration|length ; len
format|mode|how ; how=video/online,phone,in_person/on_site ; How they meet
phone ; tel
room ; room
street ; street
venue|place ; place
other_participant|third_person|also_attending ; other2
bring|documents|prepare ; bring
options|slots|proposed_slots|suggestions ; slots* ; The dates that are offered, in order
date|day ; slots.date
start|from|start_time ; slots.from
end|until|end_time ; slots.to2
""",
        weight=1.4,
    ),
    Scene(
        "appointment",
        """
[{garage:company} Garage|{garage:company} Motors|Workshop {garage:company}|Bike shop {garage:company}]
[Job sheet|Booking|Workshop appointment|Service booking|Order no.] {no:code ####|W-####|##/####}

[Customer|Name|Keeper] {who:name}[, {tel:tel}|, mob. {tel:tel}|]
[Vehicle|Car|Bike] {make:words Volvo/Fiat/Opel/Renault/Toyota/Skoda/Ford/Mazda/Gazelle/Kalkhoff} {model:of model}[, plate {plate:code @@-@@ ####|@## @@@}|, {plate:code @@-@@ ####|@## @@@}|][, {km:count 900-220000} km|, {km:count 900-220000} miles|][, first registered {reg:year}|]
[In|Bring|Drop off]: {in:later 1-20}[, | at ]{inat:time 7-11}[, key box {box:count 2-20}|]
[Ready|Collect|Out|Pick up]: {out:later 21-23}[, | from | after ]{outat:time 14-18}

[To do|Work|Wanted|Jobs]:
<jobs 1-6:[- |\\[ \\] |• |]{job:of carwork}[ – | .... | ]{cost:money 15-600}[#part=yes: (part to be ordered)|#part=yes: *ordered*||]>
[Customer says|Complaint|Noticed]: [{fault:clause}.|"{fault:clause}"|{fault:words noise at the front when braking/pulls to the left/warning light on/squeaks over bumps/starts only at the third try}.]
[[Estimate|About|Sum so far]: {est:total jobs.cost}[, without tax|].|] [#limit=call:[Above {cap:money 100-900} ring me first.|Don't do anything over {cap:money 100-900} without asking.|Limit {cap:money 100-900}, then call.]|#limit=free:[Just do what is needed.|The customer leaves it to us.|No limit given.]|] [#loan=yes:[A courtesy car is booked[: {loan:words Up/Corsa/i10/Yaris/Fabia}|].|Gets our loan car[ ({loan:words Up/Corsa/i10/Yaris/Fabia})|].|We lend you a bike for the day.]|#loan=no:[No replacement car, the bus stops outside.|Customer waits here.|Customer is fetched by {fetch:name}.]|] [#wash=yes:Wash it, too.|#wash=yes:Interior cleaning included.||]
[#pay=self:[Customer pays.|Bill to the customer.|Card on collection.]|#pay=insurance:[Goes to the insurer, claim {claim:code ###-####|SC######}.|The insurance settles it, claim {claim:code ###-####|SC######}.]|#pay=firm:[Fleet account.|The employer, {employer:company}, gets the bill.]|#pay=warranty:[Falls under the guarantee.|Free of charge, maker's guarantee.]|]
[First offered: {:later 1-5}, {:time 7-11}, customer could not.|Next inspection {next:later 200-500}.|Mechanic: {mech:name}.|Taken by {clerk:name}.|]
""",
        """
garage|workshop|shop|business ; garage
job_number|booking_number|order_number ; no
customer|keeper|owner|name ; who
phone ; tel
{ vehicle|car
make|manufacturer ; make
model ; model
plate|registration|licence_plate ; plate
mileage|odometer ; km
first_registered|year ; reg
}
drop_off_date|date|bring_on|appointment_date ; in
drop_off_time|time|bring_at ; inat
key_box ; box
ready_on|pickup_date|collect_on ; out
ready_at|pickup_time|collect_from ; outat
complaint|symptom|noticed ; fault ; as written
estimate|estimated_cost|total_estimate ; est
approval|spending_limit_type|limit ; limit=call/ask_first,free/no_limit ; Must the garage ask before it spends more
limit_amount|max_cost|call_above ; cap
loan_car|replacement_vehicle|courtesy_car ; loan? ; Does the customer get a replacement vehicle
loan_model ; loan
picked_up_by|fetched_by ; fetch
wash|car_wash ; wash?
payer|billed_to|who_pays ; pay=self/customer,insurance/insurer,firm/employer/fleet,warranty/guarantee
claim_number ; claim
employer ; employer
next_inspection|next_service ; next
mechanic|technician ; mech
taken_by|clerk|advisor ; clerk
currency ; $
jobs|work_items|services|tasks ; jobs* ; In order
job|work|description ; jobs.job ; as written
price|cost|estimate ; jobs.cost
part_ordered|part_missing ; jobs.part?
""",
    ),
    Scene(
        "appointment",
        """
{a:name}: [when is your appointment?|did you get an appointment?|any luck with the doctor?|have they given you a slot?]
{b:name}: [the {doc:of specialist} can see me|got one at the {doc:of specialist}|i'm at the {doc:of specialist}'s|the {doc:of specialist} has a gap] {day:later 1-60} [at|,] {at:time 8-18}
{a.given}: [that's late!|nothing sooner?|oh good.|so soon?]
{b.given}: [first they said {first:later 61-120}, [i begged|but someone dropped out]|they had {first:later 61-120}, i said no way|could have had {first:later 61-120} in {:city} but that's too far]
[{b.given}: it's [for|because of] [my|the] {sym:symptom}[, {since:days} now|]
|]{a.given}: [#comp=yes:[i'll drive you|of course i'm coming along|i'm coming with you|we'll take my car]|#comp=no:[can you go on your own?|i can't come, sorry|you'll manage alone|i'm in {:city} that day]]
{b.given}: [?comp=yes:[thanks ❤️|great, pick me up at {pick:time 7-17}|{pick:time 7-17} at mine?]|?comp=no:[sure, i'll take the bus|no worries|it's only round the corner]]
[{b.given}: [#fast=yes:[must come with an empty stomach|no breakfast allowed that day 😩|they want me hungry]|#fast=no:[can eat before, luckily|breakfast is allowed]]
|][{b.given}: [need to bring|they want|don't let me forget] {bring:of form}
|][{b.given}: [#cost=self:[i have to pay for it myself, {fee:money 20-200}|the insurance won't cover it: {fee:money 20-200}|{fee:money 20-200} out of my own pocket]|#cost=ins:[insurance pays|costs me nothing|all covered]]
|][it's in|they're in|practice is at] [{place:street}|{place:street}, {floor:floor}]
[{a.given}: [ok i'll put it in the calendar|good luck|tell me after]|]
""",
        """
patient|who|person|attendee ; b ; Person who has the appointment
other_person|chat_partner|asks ; a
specialist|doctor|type_of_doctor|with ; doc
date|appointment_date|day ; day ; The day that was taken in the end
time|start_time ; at
first_offer|other_date|declined_date ; first ; Date that was offered but not taken
complaint|symptom|reason ; sym ; as written
symptom_days|lasting|since ; since
accompanied|has_company|goes_with_someone ; comp? ; Does the other person come along
picked_up_at|pickup_time ; pick
fasting|must_fast|come_fasting ; fast? ; Must nothing be eaten before
bring|to_bring|needed_document ; bring
payer|paid_by|costs_covered_by ; cost=self/patient,ins/insurance ; Who pays
fee|price|cost ; fee
street|address ; place
floor ; floor
currency ; $
""",
    ),
    Scene(
        "appointment",
        """
[Bonjour {who:name},|Madame {who:name},|Monsieur {who:name},|Cher client,|Bonjour,]

[#act=confirm:[votre rendez-vous est bien noté|nous vous attendons|c'est d'accord pour|nous avons réservé pour vous] le {day:later 1-40} à {at:time 8-19}|#act=move:[nous devons déplacer votre rendez-vous du {old:later 1-10}|un imprévu nous oblige à changer la date du {old:later 1-10}|impossible le {old:later 1-10}] : [nouvelle date|ce sera|nous vous proposons] le {day:later 11-40} à {at:time 8-19}|#act=cancel:[nous sommes au regret de supprimer votre rendez-vous|votre rendez-vous n'aura pas lieu|il n'y aura personne] le {day:later 1-40} à {at:time 8-19}|#act=remind:[n'oubliez pas :|petit rappel :|c'est bientôt :] le {day:later 1-4} à {at:time 8-19}].
[Avec {doc:person}, {spec:words dentiste/kinésithérapeute/cardiologue/coiffeuse/conseiller/notaire/ophtalmologue/vétérinaire/mécanicien}.|Vous verrez {doc:person}.|] [Prévoyez {len:duration}.|Durée : {len:duration}.|] [#lieu=cabinet:[Nous sommes au {addr:address}.|Adresse : {addr:address}.|Au cabinet, {etage:floor}.]|#lieu=visio:[Le lien vous arrivera par mail.|Nous nous verrons à l'écran.|La consultation se fait à distance.]|#lieu=domicile:[Nous venons chez vous.|Notre technicien passe à votre domicile.]|]
[Merci d'apporter {bring:words votre carte vitale/une pièce d'identité/l'ordonnance/le contrat/la carte grise/vos lunettes}.|Apportez {bring:words votre carte vitale/une pièce d'identité/l'ordonnance/le contrat/la carte grise/vos lunettes}.|] [#jeun=yes:[Venez à jeun.|Ne mangez rien le matin.]|#jeun=no:[Vous pouvez manger avant.|Le petit-déjeuner est permis.]|] [En cas d'empêchement, prévenez-nous {delai:days} avant au {tel:tel}.|Pour annuler : {tel:tel}.|] [Une absence sera facturée {frais:money 15-60}.|Tarif : {prix:money 25-150}.|]
[Cordialement|À bientôt|Bien à vous],
{firme:company}
""",
        """
client|patient|nom ; who
type_message|objet|purpose ; act=confirm/confirmation,move/report,cancel/annulation,remind/rappel ; But du message
date|jour|date_rendez_vous ; day
heure|time ; at
ancienne_date|old_date ; old
praticien|avec|practitioner ; doc ; sans titre|without title
specialite|profession ; spec
duree|duration ; len
lieu|mode|format ; lieu=cabinet/on_site,visio/video,domicile/home_visit ; Où a lieu le rendez-vous
adresse|address ; addr
etage|floor ; etage
a_apporter|bring ; bring
a_jeun|fasting ; jeun?
delai_annulation|cancel_notice ; delai
telephone|phone ; tel
frais_absence|no_show_fee ; frais
prix|tarif|price ; prix
entreprise|cabinet|company ; firme
devise|currency ; $
""",
        "fr",
    ),
)
