"""A text of statements: classes and truths that are said in other words than those they are asked in, and plain facts.

Does: draw some attributes of a thing, a person or a plan, say each in one sentence, and keep the class that a reader
concludes. A class of an attribute has several names for schemas and several sentences.
"""

from __future__ import annotations

from functools import cache

from ..draft import Content, Draft, Fact
from ..draw import Draw
from ..entities import person
from ..phrases import NOISE, fill
from ..values import STRING, Form, Value, currency, iso_day
from .particulars import particulars
from .scene import Drawing
from .supplies import supply

# A line an attribute: names ; description ; class/other name: sentence | sentence ; class: …
# An attribute with the classes yes and no is a boolean.
_ATTRIBUTES = """
payment_method|payment|paid_by ; How it is paid ; cash: I'll bring the money in notes | coins and notes only | handed over in banknotes | please have change ready ; card/credit_card: the chip was read | she tapped her Visa | charged to a Mastercard | with plastic at the terminal ; transfer/bank_transfer: the sum goes to the IBAN below | wired from my account | sent from bank to bank ; invoice/on_account: you get a bill later | send the bill to head office | payable after delivery on receipt of the bill ; paypal/online: settled over the internet with PayPal | clicked the pay button on the site
transport|mode_of_transport|travelled_by|means_of_travel ; How the person travelled ; taxi: we took a cab | the cabbie asked for a tip | a driver from the rank outside brought her | hailed one in the street, meter running ; train/rail: second class, window seat, two changes | the 7:42 from platform 4 | by rail, compartment for six ; plane/flight: after boarding at gate 12 | we landed with a delay | a window seat over the wing ; bus/coach: line 14 to the terminus | the coach stopped at every village ; car/own_car: I drove myself, mileage as below | we went in my own car | parked in the multi-storey ; bicycle/bike: he pedalled all the way | on two wheels, with a helmet ; foot/on_foot: they walked it | a stroll of half an hour
expense_type|expense_category|category|kind_of_expense ; What the money was spent on ; meal/food/restaurant: dinner with two clients | lunch at the Italian place | breakfast was not included, so I had some in town | pizza for the team ; lodging/hotel/accommodation: two nights in a single room | bed and breakfast | room with a view of the car park ; travel/transport: return ticket | fuel for the trip | cab from the airport | parking garage ; office_supplies/material: toner and paper | a box of pens | new chair for the desk ; training/education: seminar fee | course on first aid ; entertainment/gift: flowers for a customer | tickets for the theatre with guests
urgency|priority|how_urgent ; ; high/urgent: it can't wait | drop everything else | we need this today | yesterday would have been better ; normal/medium: in the course of the week is fine | the usual turnaround | no special rush ; low: whenever you get round to it | it can wait until spring | some day, maybe
reminder_level|dunning_level|stage ; Which reminder it is ; first/1: perhaps you have overlooked our bill | a friendly note that the sum is still open ; second/2: we have already written to you once | for the second time we ask you | this follows our letter of last month ; final/last/3: this is the last time we write | after this the matter goes to court | no further notice will be sent
weather|conditions ; ; sunny/clear: not a cloud in the sky | bright sunshine all day ; rain/rainy: it poured | umbrellas everywhere | we got soaked ; snow/snowy: everything was white | ten centimetres fell over night ; fog/foggy: you could not see your own hand | thick mist ; storm/stormy: trees came down | gusts tore at the roof
marital_status|family_status|civil_status ; ; single/unmarried: she lives alone and has never married | not married ; married: with his wife | her husband came along | they have been husband and wife since May ; divorced: the marriage was dissolved | his former wife | separated by court ; widowed: her late husband | since his wife died
employment_status|works_as|occupation_status ; ; employed: she has a permanent job | works for the council | on the payroll of a bakery ; self_employed/freelance: he runs his own business | works on her own account | invoices his clients himself ; unemployed/looking_for_work: out of work since March | lost her job | looking for something new ; retired/pensioner: draws a pension | gave up work at 65 | in his retirement ; student/in_education: reads law in the third year | still at university | doing an apprenticeship
housing|lives_in|home_type ; ; flat/apartment: on the third floor | a place with two rooms in a block ; house: their own four walls with a garden | a cottage | a terraced home ; shared/shared_flat: shares kitchen and bath with three others | a room in a student home ; care_home/nursing_home: looked after day and night by nurses
delivery_method|handover|shipping_method ; How the goods get there ; pickup/collection: I'll fetch it myself | come by and get it | ready at the counter ; post/mail: put it in the post | goes by parcel | two stamps on it ; courier/messenger: a rider brings it | our own van will be there | handed over at your door by a driver ; email/electronic: as a PDF in your inbox | you get a link to download
condition|state ; ; new/unused: still in its wrapping | the seal is unbroken | never worn ; like_new: used twice, looks like the first day | hardly any sign of use ; used/good: some scratches | has served us for years | the usual traces of wear ; defective/broken/for_parts: does not turn on any more | for tinkerers | only good for spare parts
tone|mood|sentiment|attitude ; Tone of the writer ; positive/satisfied/happy: we are over the moon | thanks a million | best purchase in years | I could hug you all ; negative/angry/dissatisfied: I am fed up | this is outrageous | a disgrace | I want my money back | what a waste ; neutral: please find the data enclosed | just for your information | we note the following
decision|outcome|result ; What was decided ; approved/accepted/granted: you may go ahead | we say yes | the green light has been given | permission was given ; rejected/declined/refused: we have to say no | the request was turned down | unfortunately not | it was voted down ; postponed/deferred: we'll talk about it next time | put off until autumn | no decision yet
status|state|progress ; ; done/completed/finished: all ticked off | nothing left to do | we wrapped it up on Friday ; in_progress/ongoing: half of it is there | we are at it | still working on it ; not_started/open: nobody has touched it yet | we haven't begun ; blocked/on_hold: we can't go on until the part arrives | stuck since Tuesday | waits for the signature ; cancelled/dropped: we gave up on it | called off | it won't happen
frequency|how_often|interval ; ; daily/every_day: each morning | day after day | seven times a week ; weekly/every_week: every Thursday | once in seven days | each weekend ; monthly/every_month: on the first of each month | twelve times a year ; yearly/annually: once a year | every summer | each Christmas ; once/one_off: just this one time | a single occasion | not to be repeated
audience|target_group|for_whom ; ; children/kids: from six years up | for boys and girls | little ones welcome ; adults: over eighteens only | bring an ID | not for the young ; seniors/elderly: for people of sixty and more | the over-65s meet ; families: mums, dads, and kids | with the whole family ; professionals/experts: for people in the trade | you should know the basics
level|difficulty|required_level ; ; beginner/easy: no knowledge needed | we start from zero | anyone can do it ; intermediate/medium: you have done it a few times | some practice needed ; advanced/hard: for old hands | years of experience are expected | only if you are really fit
language|language_of_document|spoken_language ; ; English/en: it is held in English | the language of Shakespeare | we speak English ; German/de: auf Deutsch | German is spoken ; French/fr: en français | the talk is in French ; Spanish/es: en español | in Spanish only
gender|sex|salutation ; ; female/f: she | her own words | the mother of two | Mrs ; male/m: he | his own words | the father of two | Mr
size_class|company_size ; ; small: a handful of staff | just the two of us | a corner shop ; medium: some eighty people on the payroll | a family firm with two plants ; large/big: a group with offices on four continents | thousands work there
season|time_of_year ; ; spring: when the tulips come out | in April, with the first green ; summer: in the heat of July | during the long holidays in August ; autumn/fall: when the leaves turn | in October mist ; winter: over Christmas | in January frost | with the first snow
time_of_day|part_of_day ; ; morning: right after breakfast | at half past eight, with coffee | before noon ; afternoon: around three | after lunch | at tea time ; evening: after dinner | when the sun goes down | at eight, for a nightcap ; night: at two, when all were asleep | long after midnight
cause|reason_category|root_cause ; ; human_error/mistake: someone pressed the wrong button | a slip of the pen | I mixed up the two files ; technical/technical_fault: a cable had come loose | the server crashed | a valve was stuck ; weather: because of the ice | the storm had torn it down | after the flood ; third_party/supplier: the supplier let us down | the haulier was late ; unknown/unclear: nobody knows why | the reason could not be found
contact_channel|channel|contacted_by|how_received ; How the contact came about ; phone/telephone: she rang us | on the line at nine | he called and asked | left a message on the machine ; email/e-mail: it came to our inbox | wrote to the info address ; letter/post: on paper, with a stamp | a handwritten sheet in an envelope ; in_person/visit: stood at the counter | dropped in at the office | came by with her son ; web_form/online_form: filled in the form on the site | submitted through the portal ; chat: typed in the little window at the bottom right | over the messenger
pet|animal|species ; ; dog: a terrier, has to be walked twice | barks at the postman ; cat: purrs on the sofa | a tabby that catches mice ; bird: sings in its cage | a canary ; fish: in a tank of 80 litres ; none/no_pet: no animals in the home
diet|food_preference ; ; vegan: nothing from animals, no honey either | neither milk nor eggs ; vegetarian: no meat, no fish, but cheese is fine | she does not eat animals, eggs are all right ; pork_free/halal: anything but pork ; none/no_restriction: eats everything | no special wishes
wants|request_type|intent|purpose ; What the writer wants ; information/question: could you tell me | I'd like to know | please explain ; complaint: that is not acceptable | I must complain | something has to change ; order/purchase: I'd like to have two of them | please reserve one for me | we want to buy ; cancellation/termination: please end my contract | I don't want it any more | I hereby give notice ; change/update: my address is no longer right | we have moved | please correct the name ; appointment/booking: when could I come by | do you have a free slot | a table for four
contract_type|employment|job_type ; ; permanent/unlimited: for an indefinite period | open-ended ; fixed_term/temporary: until the end of June | for a year, no longer | as cover for a colleague on leave ; internship/trainee: to get to know the trade | unpaid, three months, during studies ; freelance/contract_work: you bill your hours | as a contractor
severity|how_bad|impact ; ; critical: all of production stands still | people are in danger | we lose money by the minute ; major/high: it hurts, but there is a way round | half of the team is affected ; minor/low: a flaw, nothing more | annoying, not more than that ; none/no_impact: nobody noticed
ownership|owned_or_rented ; ; owned/own: it belongs to us | bought years ago | no landlord ; rented/let: the landlord | monthly rent | we are tenants ; leased: on a three-year lease from the bank
direction ; Whether money came in or went out ; incoming/credit/received: has reached your account | was paid in | arrived on your account ; outgoing/debit/sent: has left your account | was taken off | has been paid out
relationship|relation|related_as ; Relation to the main person ; colleague/coworker: from the desk next door | we work together ; friend: an old mate | they have known each other since school ; relative/family: her brother | his aunt | a cousin of mine | the grandmother ; neighbour: lives next door | from across the landing ; client/customer: buys from us | has an account with us ; doctor/physician: treats her | the GP
room_type|room ; ; single: for one person | one bed ; double: for two | a queen-size bed | two people in one bed ; twin: two separate beds ; suite: with a living room of its own ; dormitory/shared: eight bunks
board|meals|meal_plan ; ; none/room_only: nothing to eat included | you cater for yourself ; breakfast/bed_and_breakfast: in the morning there is a buffet | with rolls and coffee ; half_board: breakfast and dinner | two meals a day ; full_board: three meals a day | morning, noon and night ; all_inclusive: everything incl. drinks
heating|heating_type ; ; gas: a gas boiler ; oil: a tank of heating oil in the cellar ; heat_pump: takes its warmth from the air outside ; district_heating: comes by pipe from the power station ; wood/pellets: a stove fed with logs | pellets once a month
fuel|fuel_type|engine ; ; petrol/gasoline: fills up with super | runs on unleaded ; diesel: TDI | fills up with diesel ; electric: charges at the wall box | no exhaust ; hybrid: battery and petrol engine
side|position|which_side ; ; left: on the left-hand side | port ; right: on the right-hand side | starboard ; both: on either side | left and right alike
education|highest_education|degree_level ; ; none/no_degree: left school early ; school/secondary_school: took A levels | finished school ; vocational/apprenticeship: learnt the trade with a master | journeyman's certificate ; bachelor: B.A. | B.Sc. | first degree after three years ; master: M.Sc. | M.A. ; doctorate/phd: wrote a thesis and may be called doctor | PhD
material|made_of ; ; wood: oak, oiled | planed by a joiner | birch ply ; metal: powder-coated steel | aluminium tubes ; plastic: recycled polymer | PVC ; glass: tempered panes ; textile/fabric: cotton | woven wool | felt ; stone: slate | granite top
shape ; ; round/circular: you could roll it | 40 cm across, no corners ; square: four equal sides ; rectangular: longer than it is wide ; oval: like an egg
lost_or_found|report_type ; ; lost: I can't find my | it was gone when I looked | has anyone seen my ; found: somebody left this | lay under the bench | handed in at the desk ; stolen: someone took it | snatched from her bag
is_member|member|membership ; Is the person a member ; yes: joined years ago and pays the yearly fee | on our list, number below | has belonged to the club since spring ; no: not on our list | has never joined | came as a guest
insured|insurance|has_insurance ; Is there insurance ; yes: the policy covers it | fully covered | our insurer pays ; no: there is no cover | nobody had taken out a policy | they have to pay out of their own pocket
pets_allowed|pets|animals_welcome ; May animals be kept or brought ; yes: cats and dogs are welcome | bring your dog | four-legged guests sleep for free ; no: please leave your dog at home | no animals | pets can't be accepted
smoking_allowed|smoking ; ; yes: ashtrays are on the tables | smokers are welcome ; no: smoke-free | light up outside, please | no cigarettes in the house
wheelchair_accessible|accessible|step_free|barrier_free ; Can wheelchair users get in ; yes: there is a ramp | step-free from the street | a lift takes you up | wide doors, no stairs ; no: only by the stairs | three steps at the entrance and no ramp | unfortunately narrow and steep
refundable|can_be_refunded|money_back ; ; yes: you get your money back up to a day before | full refund on return ; no: the sum will not be paid back | no refunds | what is paid stays paid
vegan|is_vegan|plant_based ; ; yes: contains nothing from animals | plants only ; no: there is butter in it | with a splash of cream | eggs are used
signed|is_signed|has_signature ; Has it been signed ; yes: signature below | signed and stamped | put her name under it ; no: still without a signature | the line at the bottom is empty | unsigned
paid|is_paid|already_paid|settled ; Has it been paid ; yes: settled in full | the money has arrived | nothing is owed | received with thanks ; no: still open | we are waiting for the money | the sum is outstanding | not a penny so far
confidential|is_confidential|secret ; ; yes: for your eyes only | do not pass this on | keep it to yourselves ; no: feel free to share | may be published | no secret
attended|was_present|took_part ; ; yes: was there from start to end | sat in the front row | came late but came ; no: sent apologies | stayed at home with a cold | did not turn up | her chair stayed empty
damaged|is_damaged|damage ; ; yes: arrived with a dent | cracked in two places | the corner was crushed ; no: in perfect shape | not a scratch | arrived in one piece
online|is_online|remote|virtual ; Does it take place online ; yes: the link comes by mail | on the screen, from your sofa | we meet on video ; no: in the hall itself | you have to be there in person | on site only
recurring|repeats|is_recurring ; ; yes: every week at the same time | again next month, and so on | a series of ten evenings ; no: this once | there will not be a second time
approved|is_approved|has_approval ; ; yes: the board has given its blessing | OK from above | cleared by legal ; no: the boss has not said yes | approval is missing
discounted|on_sale|reduced|is_discounted ; ; yes: knocked down from the old price | 20% off this week | a bargain, was much more ; no: at the usual price | no rebate
in_stock|available|is_available ; ; yes: on the shelf | ships today | we have plenty ; no: gone | we are waiting for new ones | none left
new_customer|first_time|is_new_customer ; ; yes: this is my first order with you | I found you last week | a friend told me about your shop ; no: as always | the same as last year | I have been buying from you for ages
has_children|children|parent ; ; yes: two boys and a girl | her daughter goes to school here | picks up his son ; no: no kids | childless
driving_licence|has_licence|can_drive ; ; yes: may drive vans up to 3.5 t | class B | passed the driving test ; no: never learnt to drive | goes by bike because there is no licence
warranty|under_warranty|in_warranty ; ; yes: the guarantee runs for another year | free repair, still covered ; no: the two years are over | the guarantee has run out
overtime|worked_overtime ; ; yes: stayed two hours longer | did the weekend on top ; no: left on time | eight hours, not a minute more
gift|is_gift|as_present ; ; yes: wrapped with a bow | for her birthday | no prices in the parcel, please ; no: for myself | needs no wrapping
allergic|has_allergy|allergies ; ; yes: gets a rash from nuts | must avoid penicillin | bee stings are dangerous ; no: nothing known | tolerates everything
night_shift|works_nights ; ; yes: from ten in the evening until six | while others sleep ; no: days only | home for dinner
certified|is_certified|certificate ; ; yes: carries the seal | audited last year and passed | with a certificate ; no: without any seal | the audit was failed
successful|success|passed ; ; yes: it worked out | cleared the bar | went off without a hitch ; no: to no avail | fell through | failed at the second attempt
escalated|is_escalated|passed_on ; ; yes: handed to the manager | the second level has it now ; no: solved at the desk | stayed with the first agent
"""  # fmt: skip

_OPENERS = "Notes|Memo|Report|Call note|Short summary|Entry|Log|Re: {title}|Hi {person},|To whom it may concern|File {code}|{date}|{city}, {date}|"
_SUBJECTS = "|||{who}: |About {who}: |As for the matter: |It seems that |As I heard, |To be clear: |Also: |And: |By the way: |Then, |Note: |In short: |{who} says: |So, |Well, |What's more, |"


class Attribute:
    """Names, a description, and the classes: their names and the sentences that say them."""

    def __init__(self, line: str) -> None:
        self.keys, self.note, *classes = (part.strip() for part in line.split(" ;"))
        parted = [each.partition(": ") for each in classes]
        self.classes = {names.strip(): "|".join(said.strip() for said in says.split("|")) for names, _, says in parted}
        self.truth = set(self.classes) == {"yes", "no"}


@cache
def attributes() -> tuple[Attribute, ...]:
    """All attributes."""
    return tuple(Attribute(line) for line in _ATTRIBUTES.strip().split("\n"))


def statements(draw: Draw) -> tuple[Content, str]:
    """A document of a few statements and some plain facts, in any order."""
    rng = draw.rng
    who = person(draw)
    said: list[tuple[str, Fact]] = []
    absent: list[Fact] = []
    for attribute in rng.sample(attributes(), rng.randint(0, 7)):
        name = rng.choice(list(attribute.classes))
        value = _value(draw, attribute, name)
        fact = Fact(attribute.keys, value, notes=attribute.note)
        if draw.chance(0.12):
            absent.append(fact)
            continue
        sentence = draw.pick(attribute.classes[name])
        lead = draw.pick(_SUBJECTS).replace("{who}", str(who.forms[0].gold))
        sentence = lead + sentence if lead else sentence[:1].upper() + sentence[1:]
        said.append((sentence, fact))
    drawing = Drawing(draw, iso_day(draw), currency(draw), {})
    for each in rng.sample(particulars(), rng.randint(1, 8)):
        value = supply(drawing, each.sort)
        fact = Fact(each.keys, value, notes=each.note)
        if draw.chance(0.12):
            absent.append(fact)
            continue
        sentence = draw.pick(each.says).replace("{}", value.written)
        if draw.chance(0.2):
            sentence = draw.pick(_SUBJECTS).replace("{who}", str(who.forms[0].gold)) + sentence
        said.append((sentence if sentence.startswith(value.written) else sentence[:1].upper() + sentence[1:], fact))
    rng.shuffle(said)
    sentences = [sentence if sentence.endswith(("?", "!")) else f"{sentence}." for sentence, _ in said]
    for _ in range(rng.choice((0, 0, 1, 2, 3))):
        sentences.insert(rng.randint(0, len(sentences)), fill(draw, draw.pick(NOISE["en"])))
    if len(sentences) > 3 and draw.chance(0.4):
        sentences = _joined(draw, sentences)
    glue = rng.choice((" ", " ", " ", "\n", "\n- "))
    opener = fill(draw, draw.pick(_OPENERS).replace("{who}", ""))
    body = glue.join(sentences) if rng.random() < 0.7 else _paragraphs(draw, sentences)
    facts = tuple(fact for _, fact in said)
    written = f"{opener}\n\n{body}" if opener else body
    return Content(Draft((*facts, *absent), ""), facts, tuple(absent), ()), written


def _value(draw: Draw, attribute: Attribute, name: str) -> Value:
    if attribute.truth:
        return Value("", (Form(name == "yes", {"type": "boolean"}),))
    style = draw.rng.choice(
        (str, str, str.upper, lambda each: each.replace("_", " "), lambda each: each.replace("_", "-"))
    )
    spelt = {each: style(draw.rng.choice(each.split("/"))) for each in attribute.classes}
    kept = [spelling for each, spelling in spelt.items() if each == name or draw.chance(0.92)]
    draw.rng.shuffle(kept)
    return Value("", (Form(spelt[name], STRING | {"enum": list(dict.fromkeys(kept))}),))


def _joined(draw: Draw, sentences: list[str]) -> list[str]:
    """Some of the sentences run together with the one before."""
    found: list[str] = []
    for sentence in sentences:
        if found and found[-1].endswith(".") and draw.chance(0.4):
            found[-1] = found[-1][:-1] + draw.pick("; |, and |, | - |, but |, so |; besides, ") + sentence
        else:
            found.append(sentence)
    return found


def _paragraphs(draw: Draw, sentences: list[str]) -> str:
    cut = draw.rng.randint(1, max(1, len(sentences) - 1))
    return " ".join(sentences[:cut]) + "\n\n" + " ".join(sentences[cut:])
