"""Job postings and CVs."""

from __future__ import annotations

from ..draft import Column, Draft, Fact, Kind, Rows
from ..draw import Draw
from ..entities import city, company, email, job_title, person, phone, url
from ..moments import date, year
from ..values import Form, Value, choice, count, currency, currency_value, flag, listing, money, money_text, plain, text
from ..wording import code, title_words

SKILLS = "Python|SQL|Excel|welding|first aid|German|French|Spanish|Java|Rust|forklift licence|bookkeeping|SAP|Photoshop|negotiation|Kubernetes|Docker|HACCP|AutoCAD|Go|React|data analysis|copywriting|driving licence|teaching|carpentry|TypeScript|C++|project management|public speaking|phlebotomy|sewing|CNC milling|Figma|Terraform|typing|Italian|sales|customer care|Linux"


def job(draw: Draw) -> Draft:
    unit = currency(draw)
    low = float(draw.rng.choice((draw.rng.randint(11, 45), draw.rng.randint(22, 140) * 1000)))
    high = round(low * draw.rng.choice((1.1, 1.2, 1.35, 1.5)))
    joint = draw.pick(" to | - |–| and ")
    span = draw.chance(0.6)
    pay = f"{money_text(draw, low, unit)}{joint}{money_text(draw, high, unit)}" if span else money_text(draw, low, unit)
    top = high if span else low
    pay_forms = (Form({"min": plain(low), "max": plain(top)}, {"type": "object", "properties": {"min": {"type": "number"}, "max": {"type": "number"}}, "required": ["min", "max"], "additionalProperties": False}), Form(plain(low), {"type": "number"}, "lower end", "_min"), Form(plain(top), {"type": "number"}, "upper end; same as the minimum if one figure is given", "_max"))
    facts = (
        Fact("title|job_title|position|role|stelle|vacancy", job_title(draw), "Position|Job|Role|Title|Stelle", "We are looking for a {}.|Wanted: {}.|Join us as {}.|The role: {}.", "Title of the job", bare=0.8, must=True),
        Fact("employer|company|organisation|arbeitgeber|hiring_company", company(draw), "Company|Employer|At|Arbeitgeber", "{} is hiring.|At {} you work with nice people.|We are {}.", "Who hires", bare=0.6),
        Fact("location|city|place|town|ort|work_location", city(draw), "Location|Where|Place|Ort|City", "The job is in {}.|Our office is in {}.|You will work in {}.", "Town or city"),
        Fact("remote|remote_policy|work_mode|workplace", choice(draw, {"no": "on site only|cannot be done from home|presence required", "hybrid": "two days from home|hybrid|part of the week at home", "full": "fully remote|from anywhere|100% home office"}), "Remote|Work mode|Workplace", "Remote work: {}.|The job is {}.", "Can it be done from home"),
        Fact("employment_type|contract_type|type|job_type|anstellungsart", choice(draw, {"full_time": "full time|full-time|40 hours a week|Vollzeit", "part_time": "part time|20 hours a week|half days|Teilzeit", "temporary": "temporary|fixed term|for the season|befristet", "internship": "internship|as an intern|Praktikum", "freelance": "freelance|self-employed|contractor"}), "Type|Employment|Contract|Anstellung", "It is a {} job.|We offer the job as {}.|Employment: {}.", "Kind of employment"),
        Fact("salary|pay|compensation|gehalt|wage", Value(pay, pay_forms), "Salary|Pay|Compensation|Gehalt|Wage", "We pay {}.|You earn {}.|The salary is {}.", "In the stated currency"),
        Fact("salary_period|pay_period|per", choice(draw, {"hour": "per hour|an hour|hourly", "month": "per month|monthly|a month", "year": "per year|annually|a year"}), "Pay period|Paid", "Pay is given {}.", "What the salary is for"),
        Fact("currency|salary_currency", currency_value(draw, unit), "Currency", implied=True),
        Fact("apply_by|deadline|closing_date|application_deadline|bewerbungsschluss", date(draw), "Apply by|Deadline|Closing date|Bewerbungsschluss", "Apply by {}.|We take applications until {}.|The closing date is {}.", "Last day to apply"),
        Fact("start_date|starts_on|available_from|eintritt", date(draw), "Start|Starting|From|Eintritt", "You start on {}.|Start: {}.", "First day of work"),
        Fact("contact|contact_person|recruiter|ansprechpartner", person(draw), "Contact|Recruiter|Questions to|Ansprechpartner", "Ask {} for details.|{} is happy to answer questions.", "Whom to ask"),
        Fact("apply_email|email|application_email|contact_email", email(draw), "Apply to|E-mail|Send your CV to", "Send your CV to {}.|Applications to {}.", "Where to apply"),
        Fact("phone|contact_phone", phone(draw), "Phone|Call", "Or ring {}.", "Phone for questions"),
        Fact("experience_years|years_of_experience|min_experience", count(1, 10, "years")(draw), "Experience|Years of experience", "You bring {} of experience.|At least {} in the field.", "Years required"),
        Fact("skills|requirements|required_skills|must_have|anforderungen", listing(draw, draw.some(SKILLS, 1, 5)), "Skills|Requirements|You bring|Must have|Anforderungen", "You know {}.|We need {}.|Required: {}.", "Required skills in order"),
        Fact("benefits|perks|we_offer", listing(draw, draw.some("free lunch|gym|company car|30 days holiday|pension|training budget|bike leasing|stock options|child care|tram ticket|housing", 1, 4)), "Benefits|We offer|Perks", "We offer {}.|You get {}.", "Benefits in order"),
        Fact("positions|openings|places|headcount|number_of_positions", count(1, 15)(draw), "Openings|Places|Positions", "Number of places: {}.", "How many are hired"),
        Fact("reference|job_id|ref|kennziffer", code(draw), "Ref.|Job ID|Reference|Kennziffer", "Quote {}.", "Reference number"),
        Fact("driving_licence|licence_required|needs_licence", flag(draw, "required|needed|yes", "not required|not needed|no"), "Driving licence", "Driving licence: {}.", "Is a licence needed"),
    )
    return Draft(facts, "Job offer|We are hiring|Vacancy|Join us|Stellenangebot|Careers", (), "Last year {person} joined us in {city}.|Our head office is in {city}.|The team has {n} people.|We were founded in {month}.|A second job, {code}, will follow.|Signing bonus {money} until {date}.", "", "No agencies, please.")


def cv(draw: Draw) -> Draft:
    stations = tuple((job_title(draw), company(draw), year(draw), year(draw)) for _ in range(draw.rng.randint(0, 4)))
    table = Rows("experience|jobs|positions|employment|work_history|berufserfahrung", (Column("role|title|position|job", "Role|Position", "as written"), Column("company|employer|organisation|at", "Company|Employer"), Column("from|start_year|since|start", "From|Since"), Column("to|end_year|until|end", "To|Until")), stations, "{0}, {1}, {2}-{3}|{2}-{3} {0} at {1}|{2} to {3}: {0}, {1}|{1} - {0} ({2} - {3})|{0} @ {1}, {2}–{3}", "Experience|Work|Career|Employment|Berufserfahrung", "as listed")
    schools = tuple((text(draw.pick("BSc|MSc|PhD|BA|Diploma|MBA|Abitur|A-levels|LLB|MEng") + " " + title_words(draw, 1, 2)), text(draw.pick("University of |Institute of |College ") + city(draw).written), year(draw)) for _ in range(draw.rng.randint(0, 3)))
    learning = Rows("education|degrees|studies|ausbildung|schools", (Column("degree|qualification|title", "Degree", "as written"), Column("institution|university|school", "School|University"), Column("year|graduated|completed", "Year", "Year of the degree")), schools, "{0}, {1}, {2}|{2}: {0} ({1})|{1}, {0}, {2}|{0} from {1} in {2}|{2} {0}, {1}", "Education|Studies|Degrees|Ausbildung", "as listed")
    facts = (
        Fact("name|full_name|candidate|applicant|nombre", person(draw), "Name|Candidate|Applicant|CV of", "My name is {}.|I am {}.|{} applies.", "Name of the person|without degrees", bare=0.9, must=True),
        Fact("email|e_mail|contact_email", email(draw), "E-mail|Mail|Email", "Write to {}.|My mail is {}.", "E-mail address", bare=0.4),
        Fact("phone|mobile|telephone", phone(draw), "Phone|Mobile|Tel.", "Call me on {}.", "Phone number", bare=0.3),
        Fact("city|residence|lives_in|location|wohnort", city(draw), "Lives in|City|Residence|Location|Wohnort", "I live in {}.|Based in {}.", "Where the person lives"),
        Fact("birth_date|date_of_birth|born|geburtsdatum", date(draw), "Born|Date of birth|Geburtsdatum", "I was born on {}.|Born {}.", "Date of birth"),
        Fact("birth_place|born_in|geburtsort", city(draw), "Place of birth|Born in|Geburtsort", "I come from {}.", "Place of birth"),
        Fact("nationality|citizenship", text(draw.pick("German|French|Spanish|British|Polish|Turkish|Indian|Irish|Canadian|Norwegian|Italian|Kenyan")), "Nationality|Citizenship", "I am {}.", "as written"),
        Fact("current_position|current_role|present_position|occupation", job_title(draw), "Current position|Now|At present", "At present I work as {}.|Currently: {}.", "Present job"),
        Fact("current_employer|employer|present_affiliation|company", company(draw), "Employer|Current employer|With", "My employer is {}.|I am now with {}.", "Present employer"),
        Fact("skills|key_skills|abilities|kenntnisse", listing(draw, draw.some(SKILLS, 1, 6)), "Skills|Key skills|Kenntnisse", "I can do {}.|Skills: {}.|I am good at {}.", "Skills in order"),
        Fact("languages|spoken_languages|sprachen", listing(draw, draw.some("English|German|French|Spanish|Polish|Arabic|Hindi|Mandarin|Portuguese|Turkish|Swahili|Dutch", 1, 4)), "Languages|Sprachen", "I speak {}.", "Languages in order"),
        Fact("years_of_experience|experience_years|experience", count(1, 35, "years")(draw), "Experience", "I have {} of experience.|I have done this for {}.", "Years of experience"),
        Fact("available_from|availability|earliest_start", date(draw), "Available from|Available|Earliest start", "I can start on {}.|Available from {}.", "Earliest start"),
        Fact("expected_salary|salary_expectation|desired_salary", money(draw), "Expected salary|Salary", "I expect {}.|My salary expectation is {}.", "Salary wish"),
        Fact("website|portfolio|homepage|linkedin", url(draw), "Web|Portfolio|Homepage", "See {}.", "Web page"),
        Fact("willing_to_relocate|relocation|would_move", flag(draw, "yes|gladly|I would move", "no|not possible|I would stay here"), "Relocation", "Relocation: {}.", "Would the person move"),
        Fact("publications|number_of_publications|papers", count(1, 120)(draw), "Publications|Papers", "Number of publications: {}.", "How many"),
        Fact("reference|referee|reference_person", person(draw), "Referee|Reference", "{} will vouch for me.", "Who can be asked"),
    )
    return Draft(facts, "Curriculum vitae|CV|Resume|Lebenslauf|Profile", (table, learning), "My teacher was {person} in {city}.|In {month} I took a year off.|I once won {money}.|References on request.|Until {date} I lived in {city}.", "", "")


KINDS = (Kind("job", job, ("en", "en", "en", "de"), 1.3), Kind("cv", cv, ("en", "en", "de"), 1.2))
