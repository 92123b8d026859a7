"""Scenes: what clinics, laboratories and vets write, and the forms that patients fill in."""

from .scene import Scene

SCENES = (
    Scene(
        "medical",
        """
[{hosp:company} Hospital|Hospital {hosp:place}|Clinic {hosp:company}|General Hospital {hosp:city}], [{ward:words Internal Medicine/Surgery/Cardiology/Orthopaedics/Paediatrics/Neurology/Ward 4B/Day Clinic/ENT}|Ward {ward:code #@|##}]
[Discharge summary|Discharge letter|Letter to the GP|Final report|Going home: your summary][, {day:today}|]

[Patient|Re|Concerning][: | ]{who:person}[, born {born:birth}|, *{born:birth}|, DOB {born:birth}|][, {age:age 18-92} years|][ (no. {pid:code ########|P-#####})|]
[In hospital|Stay|Admitted][: | ]{in:earlier 4-20}[ – | to | until ]{out:earlier 0-3}

[Dear {gp:person},|Dear colleague,|Dear {who.family},|]
[#how=emergency:[brought in by ambulance with {sym:symptom}.|came through the emergency room because of {sym:symptom}.|the 999 crew delivered the patient with {sym:symptom}.|collapsed at home and was fetched by the helicopter.]|#how=planned:[admitted as arranged for an operation.|came in for a procedure that had been on the list for {:count 2-9} months.|elective admission.|the bed had been booked since {:earlier 30-90}.]|#how=transfer:[taken over from {from:place}.|moved here from the hospital in {from:city}.|{from:company} sent the patient on to us.]|#how=referral:[sent by the practice because of {sym:symptom}.|you asked us to look into {sym:symptom}.|with your letter of {:earlier 21-40} because of {sym:symptom}.]]

[Diagnosis|Main diagnosis|What we found|Diagnoses][: |
1. ]{dx:of finding}[ ({icd:code @##.#})|, ICD {icd:code @##.#}|]
[[Also|Secondary|Known before|2.][: | ]{dx2:of finding}[, {dx3:of finding}|]
|][[Allergies|Allergic to][: | ]{all:words penicillin/latex/pollen/nickel/contrast medium/bee stings/aspirin/plasters}
|No known allergies.
|]
[Course|In hospital|What was done][: | – ][{act:words an X-ray of the chest/a CT of the head/an ultrasound of the belly/a gastroscopy/a blood transfusion/a stent/a plaster cast/an MRI/keyhole surgery/an exercise ECG} on {acton:earlier 1-4}|{act:words keyhole surgery/a stent/a plaster cast/wound cleaning/an infusion} under {anae:words local/general/spinal} anaesthesia]. [#course=good:[No fever, appetite back, walks the corridor alone.|Without any trouble.|Healing as one would wish.|Quick recovery.]|#course=complicated:[On the second night there was bleeding.|A fever of {temp:number 38-41 1} °C set in.|Had to go back to theatre.|The wound opened again.]|]

[Medicines|Drugs on discharge|To take at home|Medication]
<meds 1-7:[- |• |]{drug:of drug} {dose:code 5 mg|10 mg|20 mg|40 mg|75 mg|100 mg|500 mg|850 mg|1 g}[, |  | – ][{freq:words 1-0-0/1-0-1/0-0-1/1-1-1/once daily/twice a day/three times a day/at night/when in pain/every other day}][, until {until:later 3-30}|, for {days:days}|][ [#new=yes:(new)|#new=yes:NEW|#new=no:as before|#new=no:unchanged]|]>
[[Stopped|No longer|Please stop][: | ]{stop:of drug}.|]

[#work=off:[Unfit for work until {offuntil:later 5-40}.|Off sick until {offuntil:later 5-40}.|Please stay at home until {offuntil:later 5-40}.]|#work=fit:[Can go back to work at once.|No sick note needed.]|] [#drive=no:[No driving for {nodrive:days}.|Must not sit behind a wheel for {nodrive:days}.]|#drive=yes:[Driving is allowed.|May drive again.]|] [Stitches out on {stitch:later 6-14}.|] [#follow=gp:[Please check the blood in your practice on {fu:later 4-20}.|See your family doctor on {fu:later 4-20}.|The next check is with the practice, {fu:later 4-20}.]|#follow=clinic:[Come back to our outpatients on {fu:later 10-60}[ at {fuat:time 8-16}|].|We'd like to see the patient again on {fu:later 10-60}[, {fuat:time 8-16}|].]|#follow=none:[No follow-up is needed.|You need not come back.]] [If it gets worse: {tel:tel}.|Come back at once with fever or chest pain.|]

[Signed|With kind regards|Yours sincerely|Best regards][,|]
{doc:person}[, {docrole:words consultant/senior registrar/ward doctor/chief physician}|]
""",
        """
hospital|clinic|facility ; hosp
department|ward|unit ; ward
letter_date|date ; day
patient|patient_name|name ; who ; without title
date_of_birth|dob|born ; born
age ; age
patient_number|patient_id ; pid
admitted_on|admission_date|admission ; in
discharged_on|discharge_date|discharge ; out
recipient|gp|addressed_to ; gp ; Doctor who gets the letter
admission_type|how_admitted|admission_mode ; how=emergency,planned/elective,transfer,referral ; How the patient came to the hospital
presenting_complaint|symptom|reason_for_admission ; sym ; as written
transferred_from ; from
main_diagnosis|diagnosis|primary_diagnosis ; dx ; as written, without code
icd_code|diagnosis_code ; icd
secondary_diagnoses|other_diagnoses|comorbidities ; dx2+dx3 ; in order
allergy|allergies|allergic_to ; all ; null if none is known
procedure|intervention|treatment ; act
procedure_date|performed_on ; acton
anaesthesia ; anae
course|recovery ; course=good/uneventful,complicated/complications
fever|temperature ; temp
stopped_drug|discontinued|stopped_medication ; stop
fit_for_work|work_status|work ; work=off/unfit,fit
sick_leave_until|off_work_until ; offuntil
driving_allowed|may_drive ; drive?
no_driving_days|driving_ban ; nodrive
stitches_out|suture_removal ; stitch
follow_up_with|follow_up|aftercare ; follow=gp/family_doctor,clinic/outpatient,none ; Who sees the patient next
follow_up_date|next_check ; fu
follow_up_time ; fuat
phone|call_if_worse ; tel
doctor|signed_by|physician ; doc ; without title
doctor_role ; docrole
medications|discharge_medication|medicines|drugs ; meds* ; In order, without those that were stopped
name|drug|medicine ; meds.drug
dose|strength ; meds.dose ; as written
frequency|schedule|how_often ; meds.freq ; as written
until|end_date ; meds.until
days|duration ; meds.days
new|newly_started|is_new ; meds.new?
""",
        weight=1.3,
    ),
    Scene(
        "lab",
        """
[{lab:company} Laboratories|Laboratory {lab:company}|{lab:company} Diagnostics|Lab report – {lab:company}]
[[Report|Order|Request|Lab no.] {no:code ########|L-######|##-#####}
|][Patient|Name][: | ]{who:person}[, {sex:words female/male}|][, born {born:birth}|, DOB {born:birth}|]
[Requested by|Sender|Ordering doctor][: | ]{doc:person}[, {prac:company}|]
[Sample|Taken|Collected][: | ][{mat:words blood/urine/serum/EDTA blood/saliva/stool}, |]{taken:earlier 1-6}[ {at:time 7-12}| at {at:time 7-12}|][][, reported {day:today}|]
[#fast=yes:[Patient had not eaten.|Before breakfast.|Sober state: yes, {fasth:count 8-14} h.]|#fast=no:[After lunch.|Patient had eaten.|Not on an empty stomach.]|]

[Test  Result  Unit  Range|Analyte, value, reference||]
[#mix=none:|#mix=some:]<tests 2-10:{name:of analyte}[  |: | \\| ][?mix=some#flag=high:{val:number 61-220 1}[ {unit:code mmol/l|g/dl|mg/l|µg/l|ng/ml|U/l|pmol/l|mval}|][  ({lo:number 0-3 1}-{hi:number 5-60 0})|  {lo:number 0-3 1} – {hi:number 5-60 0}|] [H|↑|+|*]|?mix=some#flag=low:{val:number 0-4 1}[ {unit:code mmol/l|g/dl|mg/l|µg/l|ng/ml|U/l|pmol/l|mval}|][  ({lo:number 5-30 0}-{hi:number 40-220 0})|  {lo:number 5-30 0} – {hi:number 40-220 0}|] [L|↓|-|!]|#flag=normal:{val:number 31-60 1}[ {unit:code mmol/l|g/dl|mg/l|µg/l|ng/ml|U/l|pmol/l|mval}|][  ({lo:number 1-30 0}-{hi:number 61-220 0})|  {lo:number 1-30 0} – {hi:number 61-220 0}|]]>

[Comment|Assessment|Remarks][: |
][?mix=none#ov=normal:[Nothing out of the ordinary.|All within limits.|We see no reason to worry.|Unremarkable.|No action is needed.]|?mix=some#ov=follow:[Please repeat in {rep:days}.|Should be checked again in {rep:days}.|A second sample in {rep:days} would make it clearer.|Borderline: control in {rep:days}.]|?mix=some#ov=urgent:[Please act at once, we have rung your practice.|Phoned through to {phoned:name} at {phat:time 8-18}.|Needs attention today.|Critical, the doctor was told by telephone.]] [Not measured: {miss:of analyte} ([too little material|haemolysed|tube broken]).|The result of {miss:of analyte} follows.|]
[Earlier value of {:earlier 60-200}: {:number 2-90 1}.|Validated by {val_by:name}.|{val_by:name}, medical director|]
[[Fee|Charge]: {fee:money 10-300}[, billed to [#bill=ins:the insurer|#bill=pat:the patient|#bill=prac:the practice]|].|]
""",
        """
laboratory|lab ; lab
report_number|order_number|lab_number ; no
patient|patient_name|name ; who ; without title
sex|gender ; sex
date_of_birth|born|dob ; born
ordering_doctor|requested_by|physician ; doc ; without title
practice|clinic ; prac
sample_type|material|specimen ; mat
collected_on|sample_date|taken_on ; taken
collected_at|sample_time ; at
reported_on|report_date ; day
fasting|patient_fasting|was_fasting ; fast?
fasting_hours|hours_fasted ; fasth
assessment|overall|conclusion|overall_result ; ov=normal/unremarkable,follow/follow_up/repeat,urgent/critical ; What the comment implies
repeat_in_days|recheck_in ; rep
phoned_to|informed_person ; phoned
phoned_at ; phat
missing_test|not_measured|pending_test ; miss ; as written
validated_by|approved_by ; val_by
fee|cost ; fee
billed_to|payer ; bill=ins/insurer,pat/patient,prac/practice
currency ; $
results|tests|values|analytes ; tests* ; In order
test|analyte|name|parameter ; tests.name ; as written
value|result ; tests.val
unit ; tests.unit
reference_low|lower_limit|range_from ; tests.lo
reference_high|upper_limit|range_to ; tests.hi
flag|abnormal|status ; tests.flag=high/above,low/below,normal/ok ; From the sign beside the value, normal without one
""",
        weight=1.2,
    ),
    Scene(
        "vet",
        """
[{prac:company} Vets|Veterinary practice {prac:company}|Animal clinic {prac:company}|{doc:person}, veterinary surgeon]
[[Visit|Seen|Consultation][: | on | ]{day:today}
|][Patient|Animal|Pet][: | ]{pet:of petname}[, {kind:of pet}|][, [male|neutered male|female|spayed]|][, {age:count 2-16} years|, {agem:count 3-20} months|][, {kg:measure 1-45 kg}|][, chip {chip:code ###############|### ### ### ### ###}|]
[Owner|Keeper|Brought by][: | ]{who:name}[, {tel:tel}|][, {town:city}|]

[#why=ill:[{pet} has been {sym:words limping/off food/coughing/scratching all night/vomiting/drinking a lot/hiding under the sofa/sneezing/losing fur}[ for {since:days}|].|Owner reports: {sym:words limping/off food/coughing/scratching all night/vomiting/drinking a lot/sneezing/losing fur}[ for {since:days}|].]|#why=vaccination:[Time for the yearly jab.|Booster due.|Came for the needle, brave as ever.|Second dose for the little one.]|#why=injury:[Fought with the neighbour's cat.|Stepped into glass.|Fell from the balcony.|Hit by a bicycle.]|#why=checkup:[A look at teeth, ears and heart.|Nothing wrong, the owner only wants to be sure.|Senior check.|Routine look-over.]|#why=surgery:[In for castration.|Lump to be taken off today.|Tooth has to come out.|Stitches after the operation looked at.]]
[Temperature {temp:number 37-41 1}[ °C|].|Temp. {temp:number 37-41 1}, heart {pulse:count 60-200}/min.|] [Findings: {find:words red throat/a cracked claw/ear mites/a heart murmur/tartar/a tick behind the ear/a tense belly/nothing unusual/a small lump on the flank}.|I found {find:words a cracked claw/ear mites/a heart murmur/tartar/a tick behind the ear/a small lump on the flank}.|]
[Given|Treatment|We gave|Done][: | ]<done 1-4, :{t:of vetcare}>.
[At home|For the owner|Please]: [{drug:of drug} {dose:words half a tablet/one tablet/2 ml/a spoonful/five drops} {freq:words twice a day/every evening/with food/every eight hours}[ for {drugdays:days}|]|no walks for {rest:days}|keep the collar on for {collar:days}|soft food for {diet:days}].
[#prog=good:[Will be right as rain soon.|Nothing to worry about.|Should mend quickly.|A strong animal, I'm confident.]|#prog=guarded:[We have to wait and see.|I can't promise anything yet.|The next days will show.|Keep a close eye on things.]|#prog=poor:[I'm afraid it doesn't look good.|We should talk about saying goodbye.|There's not much more we can do.|The kidneys are failing.]|]
[Next visit|Come back|Again|Control][: | on | ]{next:later 3-40}[, {nextat:time 8-18}|]. [Next jab {jab:later 200-400}.|] [#ins=yes:[The pet insurance pays.|Insured, claim goes off today.]|#ins=no:[Not insured.|Owner pays cash.]|]
[[Bill|Total|Charge][: | ]{total:money 20-900}[, of which medicine {med:money 5-19}|].|]
[The brother, {:of petname}, is due on {:later 5-60}.|At the last visit ({:earlier 60-300}) {:count 2-40} kg.|]
""",
        """
practice|clinic ; prac
vet|doctor|seen_by ; doc ; without title
visit_date|date|seen_on ; day
animal|pet_name|name|patient ; pet
species|breed|kind ; kind ; as written
age_years|age ; age
age_months ; agem
weight|weight_kg ; kg
chip_number|microchip ; chip
owner|keeper ; who
phone ; tel
city ; town
reason|visit_reason|reason_for_visit ; why=ill/illness,vaccination,injury/accident,checkup/check_up,surgery/operation
symptom|complaint ; sym
symptom_days|since ; since
temperature ; temp
heart_rate|pulse ; pulse
findings|finding ; find
drug|medicine|prescribed ; drug
dose ; dose
frequency ; freq
drug_days|treatment_days ; drugdays
rest_days ; rest
collar_days ; collar
soft_food_days|diet_days ; diet
prognosis|outlook ; prog=good,guarded/uncertain,poor/bad
next_visit|follow_up|control_on ; next
next_visit_time ; nextat
next_vaccination|vaccination_due ; jab
insured|has_insurance ; ins?
total|bill|amount ; total
medicine_cost ; med
currency ; $
treatments|done|given|procedures ; done* ; In order
treatment|name ; done.t ; as written
""",
    ),
    Scene(
        "form",
        """
[{org:company}|{org:company} – |Form {fno:code ##-@|F####} · {org:company}][ [Registration|Application|Questionnaire|New patient form|Membership form|Survey]|]
[please fill in block letters|* required|Page 1 of 2|]

[1. |]Name: {who:name}
[2. |][Born|Date of birth]: {born:birth}
[[Address|Home address]: {addr:address}
|][[Phone|Tel.]: [{tel:tel}|____|-]
|][[E-mail|Mail]: {mail:email}
|][[Occupation|Job]: [{job:of role}|{job:words retired/student/housewife/self-employed}|—]
|][[Emergency contact|In case of emergency]: {emer:name}[, {rel:words mother/husband/daughter/friend/neighbour/brother}|][, {emertel:tel}|]
|]
[3. |][Marital status|Status]: [#ms=single:\\[x\\] single \\[ \\] married \\[ \\] other|#ms=married:\\[ \\] single \\[x\\] married \\[ \\] other|#ms=other:\\[ \\] single \\[ \\] married \\[X\\] other|#ms=single:☒ single ☐ married ☐ other|#ms=married:☐ single ☒ married ☐ other]
[4. |][Do you smoke?|Smoker?] [#smoke=yes:\\[x\\] yes \\[ \\] no|#smoke=no:\\[ \\] yes \\[x\\] no|#smoke=yes:yes X  no _|#smoke=no:yes _  no X|#smoke=yes:(•) yes ( ) no|#smoke=no:( ) yes (•) no|]
[[5. |][Allergies|Any allergies?] [\\[x\\] yes: {all:words nuts/pollen/penicillin/cats/wasps/latex}|\\[ \\] yes \\[x\\] none|☒ yes, namely {all:words nuts/pollen/penicillin/cats/wasps/latex}]
|][[6. |]How did you hear of us? [#src=friend:[a friend told me|my sister comes here|word of mouth|from a colleague]|#src=web:[looked it up online|Google|your web site|a search engine]|#src=ad:[poster at the station|advert in the paper|leaflet in the letter box|on the radio]|#src=walk:[walked past|saw the sign|I live next door|the shop window]]
|][[7. |]How satisfied are you (1-5)? {sat:count 1-5}
|][[8. |][Wanted|Course|I want to join|Chosen]: {want:of course}[ from {start:later 5-60}|]
|]
[☒|\\[x\\]|(x)] I agree to the terms.
[#news=yes:[☒|\\[x\\]] Send me the newsletter.|#news=no:[☐|\\[ \\]] Send me the newsletter.|] [#photo=yes:[☒|\\[x\\]] Photos may be used.|#photo=no:[☐|\\[ \\]] Photos may be used.|]
[Fee|Contribution]: [#fee=full:☒ {full:money 50-200} full ☐ {red:money 10-49} reduced|#fee=reduced:☐ {full:money 50-200} full ☒ {red:money 10-49} reduced]
[{town:city}, {day:today}|{day:today}]   [signed|sgd.|gez.] {who}
[Office use only: received {got:later 1-9}, no. {ono:code ####|##-##}|For office use: {ono:code ####|##-##} / {clerk:name}|]
""",
        """
organisation|company|form_owner ; org
form_number ; fno
name|full_name|applicant ; who
date_of_birth|born|birth_date ; born
address|home_address ; addr
phone|telephone ; tel ; null if it is left blank
email ; mail
occupation|job|profession ; job
emergency_contact|contact_in_emergency ; emer
emergency_relation|relationship ; rel
emergency_phone ; emertel
marital_status|status ; ms=single,married,other ; The box that is ticked
smoker|smokes ; smoke?
allergy|allergies ; all ; null if none
heard_from|source|how_heard|referral_source ; src=friend/recommendation,web/internet,ad/advertisement,walk/walk_in/location ; How the person came to know of the place
satisfaction|satisfaction_score ; sat
chosen_course|wants_to_join|selection ; want
start_date|from ; start
newsletter|newsletter_consent|wants_newsletter ; news?
photo_consent|photos_allowed ; photo?
fee_type|tariff ; fee=full,reduced/concession
full_fee ; full
reduced_fee ; red
place_signed|signed_at ; town
signed_on|date ; day
received_on ; got
office_number ; ono
clerk ; clerk
currency ; $
""",
    ),
)
