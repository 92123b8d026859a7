"""Contacts, meeting minutes, support tickets, bug reports, appointments by mail."""

from __future__ import annotations

from ..draft import Column, Draft, Fact, Kind, Rows
from ..draw import Draw
from ..entities import address, company, domain_name, email, email_of, job_title, person, person_name, phone
from ..moments import date, date_time, duration, time
from ..pools import places
from ..values import Form, Value, choice, count, flag, listing, money, text
from ..wording import code, coined, digits, phrase, title, title_words, word, words


def contact(draw: Draw) -> Draft:
    who, host = person(draw), domain_name(draw)
    address_line = email_of(draw, str(who.written), host)
    kinds = draw.some("office|mobile|fax|home", 1, 3)
    numbers = tuple((Value(draw.pick({"office": "office|T|Tel.|desk|work", "mobile": "mobile|M|cell|Mobil", "fax": "fax|F|Fax", "home": "home|private"}[kind]), (Form(kind, {"type": "string", "enum": ["office", "mobile", "fax", "home", "other"]}),)), phone(draw)) for kind in kinds)
    table = Rows("phones|phone_numbers|numbers|telephones", (Column("kind|type|label", "Kind", "Which sort of number"), Column("number|phone|value", "Number", "as printed")), numbers, "{0} {1}|{0}: {1}|{1} ({0})|{0} / {1}|{0}. {1}|{0}   {1}", "|Phone|Call", "in the order printed")
    facts = (
        Fact("name|full_name|person|contact|contact_name|kontakt", who, "Name|Contact|Person|Ansprechpartner", "My name is {}.|You can ask for {}.|The person to talk to is {}.|{} is your contact.", "Name of the person|Name without academic titles", bare=0.9, must=True),
        Fact("job_title|role|position|title|funktion", job_title(draw), "Role|Position|Title|Funktion", "I work as {}.|The position is {}.|Role: {}.", "Position in the company", bare=0.7),
        Fact("company|organisation|organization|employer|firma", company(draw), "Company|Organisation|Firm|Firma", "I am with {}.|The company is {}.|Working for {}.", "Name of the company", bare=0.7),
        Fact("department|team|unit|abteilung", title(draw), "Department|Dept.|Team|Abteilung", "In the department {}.|Our team is {}.", "Department as written", bare=0.4),
        Fact("email|e_mail|mail|email_address", Value(address_line, (Form(address_line, {"type": "string", "format": "email"}), Form(address_line, {"type": "string"})), email), "E-mail|Email|Mail|E", "Write to {}.|Mail reaches me at {}.|My address is {}.", "E-mail address", bare=0.5),
        Fact("phone|telephone|office_phone|desk_phone|telefon", phone(draw), "Phone|Tel.|T|Telephone|Office|Telefon", "Call me on {}.|The office number is {}.|My desk phone is {}.", "Desk or landline number, as written", must=draw.chance(0.3)),
        Fact("mobile|cell|mobile_phone|handy|cell_phone", phone(draw), "Mobile|Cell|M|Mobil|Handy", "On the road: {}.|My mobile is {}.|Cell: {}.", "Mobile number, exactly as written"),
        Fact("fax|fax_number", phone(draw), "Fax|F|Telefax", "Faxes go to {}.", "Fax number"),
        Fact("website|url|homepage|web", Value(f"https://www.{host}", (Form(f"https://www.{host}", {"type": "string", "format": "uri"}), Form(f"https://www.{host}", {"type": "string"}))), "Web|Website|Homepage", "See {}.|Our site is {}.", "Web site", bare=0.5),
        Fact("address|postal_address|office_address|anschrift", address(draw), "Address|Office|Anschrift", "We sit at {}.|Visit us at {}.|The address is {}.", "Postal address", bare=0.6),
        Fact("assistant|assistant_name|secretary", person(draw), "Assistant|Office manager", "My assistant is {}.", "Name of the assistant"),
        Fact("registration_number|company_register|hrb|company_number", code(draw), "Registered no.|HRB|Company no.", "Registered as {}.", "Number in the company register"),
    )
    plain = "card|card|card|card|labelled|mixed|prose|email|inline|form|table"
    return Draft(facts, layouts=plain, titles="Business card|Contact|Signature|vCard|Kontakt|Who to ask", rows=(table,) if draw.chance(0.4) else (), noise="My colleague {person} can be reached at {phone}.|Until {date} I sat in {city}.|The old number {phone} is dead.|{person}, {email}, stands in for me.|Reception: {phone}", openers="as promised, my details.|thanks for the call.", closers="Looking forward to hearing from you.")


def mail(draw: Draw) -> Draft:
    """An e-mail asked about itself: who wrote to whom, when, about what, with what attached."""
    who = person_name(draw)
    address_ = email_of(draw, who)
    others = [person_name(draw) for _ in range(draw.rng.randint(1, 3))]
    bare = draw.chance(0.5)
    boxes = [email_of(draw, other) for other in others]
    to = ", ".join(boxes if bare else [f"{other} <{box}>" for other, box in zip(others, boxes, strict=True)])
    lists = {"type": "array", "items": {"type": "string"}}
    mails = {"type": "array", "items": {"type": "string", "format": "email"}}
    to_forms = [Form(boxes, mails, "addresses only"), Form(boxes, lists, "e-mail addresses")]
    if not bare:
        to_forms.append(Form(others, lists, "names only"))
    files = [f"{word(draw)}{draw.pick('-|_|')}{word(draw)}.{draw.pick('pdf|docx|xlsx|zip|png|csv|txt|jpg')}" for _ in range(draw.rng.randint(0, 3))]
    written = f"{who} <{address_}>" if draw.chance(0.8) else f"{address_} ({who})"
    sender = Value(written, (Form(who, {"type": "string"}, "name only", "_name"), Form(who, {"type": "string"}, "", "_name")))
    names = {"en": ("From", "To", "Subject", "Date|Sent"), "de": ("Von", "An", "Betreff", "Datum|Gesendet"), "fr": ("De", "À", "Objet", "Date|Envoyé"), "es": ("De", "Para", "Asunto", "Fecha|Enviado")}[draw.lang]
    facts = (
        Fact("sender|from|author|writer", sender, names[0], must=True),
        Fact("sender_email|from_email|sender_address|from_address|email", email_value(address_), notes="E-mail address of the sender", implied=True),
        Fact("recipients|to|addressees|sent_to", Value(to, tuple(to_forms)), names[1], must=True),
        Fact("cc|copy_to|copies", Value(box := email_of(draw, person_name(draw)), (Form([box], mails), Form([box], lists, "addresses only")), phrase), "Cc|CC|Kopie"),
        Fact("sent_date|date|sent_on|sent_at|received", (date_time if draw.chance(0.6) else date)(draw), names[3], notes="When it was sent"),
        Fact("subject|topic|title|betreff", title(draw), names[2], notes="Subject line as written", must=True),
        Fact("attachments|files|attached_files", listing(draw, files), "Attachments|Attached|Anlagen", notes="File names in order"),
        Fact("reply_by|answer_by|respond_until|deadline", date(draw), "Reply by", "Please let us know by {}.|We need your answer by {}.|Kindly reply before {}.|Could you come back to me until {}?", "Last day to answer"),
        Fact("meeting_date|event_date|requested_date", date(draw), "Meeting", "Shall we meet on {}?|The visit is planned for {}.|I would come on {}.", "Day that is proposed"),
        Fact("guests|people|number_of_guests|headcount|quantity", count(2, 90)(draw), "Guests", "We expect {} guests.|There will be {} of us.|Please prepare for {} people.", "Number of people"),
        Fact("budget|price|amount|quoted_price", money(draw), "Budget", "Our budget is {}.|You quoted {}.|The price of {} is fine.", "Amount in question"),
        Fact("organisation|company|sender_company", company(draw), "Company", "I write for {}.|This concerns {}.|Greetings from {}.", "Company of the sender"),
        Fact("phone|telephone|callback", phone(draw), "Tel.", "Tel. {}|You can call me on {}.|My number: {}.", "Phone of the sender"),
        Fact("intent|purpose|request_type", choice(draw, {"booking": "we would like to book|please reserve", "complaint": "we are not satisfied|I have to complain", "question": "I have a question|could you tell me more", "cancellation": "we have to cancel|please cancel everything", "offer": "please find our offer|we can offer you"}), "Intent", "{}.|In short, {}.|Today {}.", "What the sender wants"),
        Fact("urgent|is_urgent|high_priority", flag(draw, "this is urgent|please hurry|it cannot wait", "there is no hurry|take your time|it can wait"), "Urgent", "{}.|As you may guess, {}.", "Is it urgent"),
    )
    return Draft(facts, "", (), "My colleague {person} is on holiday until {date}.|The last time we paid {money}.|I met {person} in {city}.|Your mail of {date} reached us.|Our old address {email} is closed.|The other group has {n} people.", "Dear team,|Hello,|Dear {person},|Hi,|Guten Tag,|Bonjour,|Hola:", f"Best wishes,\n{who}|Kind regards\n{who}|Thanks,\n{who}|{who}", "letter")


def email_value(address_: str) -> Value:
    schema = {"type": "string", "format": "email"}
    return Value(address_, (Form(address_, schema), Form(address_, {"type": "string"})), email)


def minutes(draw: Draw) -> Draft:
    people = list(dict.fromkeys(str(person(draw).forms[0].gold) for _ in range(draw.rng.randint(2, 6))))
    here = people[: max(1, len(people) - 1)]
    tasks = tuple((text(words(draw, 3, 7)), text(draw.rng.choice(people)), date(draw)) for _ in range(draw.rng.randint(0, 4)))
    table = Rows("action_items|actions|tasks|todos|aufgaben", (Column("task|what|action|description|aufgabe", "Task|What|Action", "as written"), Column("owner|assignee|who|responsible", "Owner|Who|Assignee", "Who does it"), Column("due|due_date|deadline|until", "Due|Until|Deadline", "When it must be done")), tasks, "{1}: {0}, by {2}|{0} ({1}, {2})|{0} - {1} - {2}|{1} will {0} until {2}|[ ] {0} @{1} {2}|ACTION {1}: {0} / due {2}|{2}: {1} to {0}", "Action items|To do|Tasks|Next steps|Aufgaben", "Tasks in order")
    facts = (
        Fact("meeting|title|topic|subject|project", title(draw), "Meeting|Topic|Subject|Project|Besprechung", "We met about {}.|Notes from the meeting {}.|The topic was {}.", "Name of the meeting", bare=0.7, must=True),
        Fact("date|meeting_date|held_on|datum", date(draw), "Date|Held on|When|Datum", "We met on {}.|The meeting took place on {}.", "Day of the meeting"),
        Fact("start_time|start|begins|beginn", time(draw), "Start|Begin|From|Beginn", "It began at {}.|We started at {}.", "When it started"),
        Fact("end_time|end|finished", time(draw), "End|Until|Ende", "It ended at {}.|We closed at {}.", "When it ended"),
        Fact("location|place|room|ort", text(draw.pick("Room 204|the blue room|video call|Zoom|the canteen|Teams|Raum 3|Building C, 2nd floor|Hall B")), "Place|Room|Location|Ort", "Place: {}.|We sat in {}.", "Where it took place, as written"),
        Fact("chair|chaired_by|host|leitung|moderator", text(here[0]), "Chair|Chaired by|Host|Leitung", "{} chaired.|{} led the meeting.|In the chair: {}.", "Who led the meeting"),
        Fact("minutes_by|secretary|note_taker|protokoll", person(draw), "Minutes|Notes by|Taken by|Protokoll", "{} took the minutes.|Notes by {}.", "Who wrote the minutes"),
        Fact("attendees|present|participants|teilnehmer", listing(draw, here), "Present|Attendees|Participants|There|Teilnehmer", "Present were {}.|{} took part.|Around the table: {}.", "People who took part, names only", must=True),
        Fact("absent|excused|apologies|entschuldigt", listing(draw, people[len(here) :]), "Absent|Apologies|Excused|Entschuldigt", "Apologies from {}.|{} could not come.", "People who were not there"),
        Fact("next_meeting|next_date|follow_up", date(draw), "Next meeting|Next|Follow-up", "We meet again on {}.|The next meeting is on {}.", "Day of the next meeting"),
        Fact("decision|decided|resolution", phrase(draw), "Decision|Decided|Resolved", "It was decided: {}.|Decision: {}.", "What was decided, as written"),
        Fact("budget|approved_budget", money(draw), "Budget|Approved", "The budget is {}.|{} was granted.", "Budget that was approved"),
        Fact("votes_for|in_favour|yes_votes", count(2, 30)(draw), "In favour|For", "In favour: {}.", "Votes in favour", group="vote|votes"),
        Fact("votes_against|against|no_votes", count(0, 9)(draw), "Against", "Against: {}.", "Votes against", group="vote|votes"),
    )
    return Draft(facts, "Minutes|Meeting notes|Protocol|Notes|Protokoll", (table,), "The meeting of {date} was cancelled.|{person} joined late.|Lunch at {time}.|A budget of {money} had been refused before.|The idea of {company} was dropped.", "short notes from today.", "End of minutes.")


PRIORITY = {"low": "low|minor|no hurry|whenever you can|not urgent", "medium": "medium|normal|as usual|moderate", "high": "high|important|as soon as possible|pressing", "urgent": "urgent|critical|drop everything|emergency|immediately"}


def ticket(draw: Draw) -> Draft:
    facts = (
        Fact("ticket_id|ticket_number|case_number|ticket|vorgang", code(draw), "Ticket|Case|Ticket no.|Case no.|Vorgang", "My ticket is {}.|You gave me the number {}.|This is about case {}.", "Number of the ticket"),
        Fact("customer|requester|reported_by|name|kunde", person(draw), "Customer|From|Requester|Reported by|Kunde", "I am {}.|My name is {}.|{} wrote to us.", "Name of the customer", must=True),
        Fact("email|customer_email|reply_to|contact_email", email(draw), "E-mail|Reply to|Mail", "Please answer to {}.|You reach me at {}.", "E-mail of the customer"),
        Fact("phone|callback_number|customer_phone", phone(draw), "Phone|Call back|Tel.", "Call me back on {}.|My number is {}.", "Number to call back"),
        Fact("order_number|order_id|order", code(draw), "Order|Order no.", "It is about order {}.|I ordered it under {}.", "Order it is about"),
        Fact("product|device|item|affected_product", text(title_words(draw, 1, 2) + draw.pick("| 300| Pro| X2| Mini| router| kettle| app")), "Product|Device|Item", "The {} does not work.|I have a {} from you.|It concerns the {}.", "Product as written"),
        Fact("serial_number|serial|sn", code(draw), "Serial|S/N|Serial no.", "The serial number is {}.", "Serial number"),
        Fact("purchase_date|bought_on", date(draw), "Bought|Purchase date", "I bought it on {}.|It is from {}.", "When it was bought"),
        Fact("opened_on|created|received|date", date(draw), "Opened|Created|Received|Date", "Opened on {}.|The request came in on {}.", "When the ticket was opened"),
        Fact("priority|urgency|severity|prioritaet", choice(draw, PRIORITY), "Priority|Urgency|Prio|Priorität", "The matter is {}.|Priority: {}.|I would call it {}.", "How urgent it is"),
        Fact("category|issue_type|type|topic", choice(draw, {"billing": "I was charged twice|my bill is wrong|billing question", "shipping": "the parcel never came|late delivery|where is my parcel", "defect": "it is broken|it stopped working|it arrived damaged", "account": "I cannot log in|password reset|locked account", "question": "just a question|how do I use it|I would like to know more"}), "Category|Topic|Type|Problem", "{}.|In short: {}.|The reason I write: {}.", "What it is about"),
        Fact("sentiment|mood|tone", choice(draw, {"angry": "this is outrageous|I am furious|I have had enough", "neutral": "please have a look|kindly advise|thanks in advance", "happy": "I love your service|great job so far|you are wonderful"}), "Mood", "{}!|Honestly, {}.|Well, {}.", "Tone of the customer"),
        Fact("refund_requested|wants_refund|refund|solicita_reembolso", flag(draw, "I want my money back|please refund me|refund wanted", "no refund needed|I do not need the money back|I would rather keep it"), "Refund", "{}.|As for the refund: {}.", "Does the customer want the money back"),
        Fact("amount|disputed_amount|refund_amount", money(draw), "Amount|Disputed", "The sum in question is {}.|I paid {}.", "Amount in question"),
        Fact("agent|assigned_to|handled_by|assignee", person(draw), "Agent|Assigned to|Handled by", "{} looks after it.|Assigned to {}.", "Who handles the ticket"),
        Fact("contacts_before|previous_contacts|attempts", count(0, 9)(draw), "Calls before|Attempts", "Number of calls so far: {}.", "How often the customer wrote before"),
    )
    return Draft(facts, "Support request|Help!|Ticket|Customer message|Problem with {title}|Anfrage", (), "Last time {person} helped me.|A friend bought hers for {money} on {date}.|My old device, {code}, still works.|Your hotline {phone} does not answer.|I live in {city}.", "I need your help.|I have a problem.", "Please answer soon.")


def bug(draw: Draw) -> Draft:
    version = f"{draw.rng.randint(0, 12)}.{draw.rng.randint(0, 20)}.{draw.rng.randint(0, 30)}{draw.pick('|||-beta|rc1|-alpha.2')}"
    steps = tuple((text(words(draw, 2, 6).capitalize()),) for _ in range(draw.rng.randint(0, 5)))
    table = Rows("steps|steps_to_reproduce|reproduction|how_to_reproduce", (Column("step|action", "Step"),), steps, "{0}|{0}.|then {0}|{0};", "Steps to reproduce|Steps|How to reproduce|Repro", "as written")
    error = draw.pick("TypeError|KeyError|NullPointerException|SegFault|TimeoutError|ValueError|EPERM|HTTP 500|OOMKilled|IndexError|AssertionError") + draw.pick(": | - ") + words(draw, 2, 5)
    facts = (
        Fact("title|summary|headline|bug", text(words(draw, 3, 7).capitalize()), "Title|Summary|Subject|Bug", "The problem: {}.|In one line: {}.", "Title as written", bare=0.8, must=True),
        Fact("id|bug_id|issue|issue_number|key", text(digits(draw, draw.pick("#####|@@@-####|BUG-###|@@-##|GH-####"))), "ID|Issue|Bug ID|Key", "Filed as {}.|See {}.", "Number of the issue"),
        Fact("component|module|area|package", text(draw.pick("login|checkout|parser|scheduler|export|search|sync|renderer|cache|api-gateway|importer|") or coined(draw)), "Component|Module|Area", "It is in the {} part.|Component: {}.", "Component as written"),
        Fact("version|affected_version|found_in|app_version", text(version), "Version|Found in|Affected version|Build", "Seen in version {}.|I run {}.|It began with {}.", "Version in which it happens", must=draw.chance(0.5)),
        Fact("fixed_in|fix_version|target_version", text(f"{draw.rng.randint(1, 12)}.{draw.rng.randint(0, 20)}.{draw.rng.randint(0, 9)}"), "Fixed in|Fix version|Target", "The fix is in {}.|Fixed with {}.", "Version with the fix"),
        Fact("os|operating_system|platform|environment", text(draw.pick("Windows 11|macOS 15.1|Ubuntu 24.04|Android 15|iOS 18|Debian 12|Fedora 41|Windows Server 2022|FreeBSD 14|ChromeOS")), "OS|Platform|Environment|System", "I am on {}.|It runs on {}.|Tested under {}.", "System as written"),
        Fact("browser|client", text(draw.pick("Firefox 132|Chrome 130|Safari 18|Edge|Opera 114|curl 8.9|Brave")), "Browser|Client", "I used {}.|With {}.", "Browser as written"),
        Fact("severity|priority|impact", choice(draw, {"blocker": "blocker|nothing works|cannot ship", "major": "major|serious|bad", "minor": "minor|small|cosmetic", "trivial": "trivial|typo only|nit"}), "Severity|Impact|Sev", "I would say {}.|Severity: {}.", "How bad it is"),
        Fact("error_message|error|exception|message", text(error), "Error|Message|Exception|Log says", "The log says {}.|We get {}.|It prints {}.", "Message as written"),
        Fact("reporter|reported_by|author|found_by", text(draw.pick(places("en").given).lower() + digits(draw, draw.pick("|##|_@@|.dev"))), "Reporter|Reported by|Found by", "Reported by {}.|{} found it.", "Who reported it"),
        Fact("assignee|assigned_to|owner", person(draw), "Assignee|Owner|Assigned", "{} will look into it.|Assigned to {}.", "Who works on it"),
        Fact("reproducible|always_reproducible|reproduces", flag(draw, "always|every time|100%|yes", "no|could not repeat it|only once|cannot reproduce"), "Reproducible|Happens", "Reproducible: {}.|How often: {}.", "Can it be repeated"),
        Fact("regression|is_regression", flag(draw, "yes, it worked before|worked in the last release|yes", "no, never worked|no|was always so"), "Regression", "Regression: {}.", "Did it work before"),
        Fact("occurrences|count|affected_users|users_affected", count(1, 5000)(draw), "Affected users|Occurrences|Users hit", "So far {} users are affected.|Number of users hit: {}.", "How many users"),
        Fact("status|state|resolution", choice(draw, {"open": "open|new|to do", "in_progress": "in progress|being worked on|assigned", "resolved": "resolved|fixed|done", "wont_fix": "won't fix|by design|rejected"}), "Status|State", "Status is {}.|It is {} now.", "State of the issue"),
        Fact("labels|tags", listing(draw, draw.some("ui|backend|crash|security|docs|mobile|performance|i18n|good-first-issue|p1|flaky|infra", 1, 4)), "Labels|Tags", "Tagged {}.", "Labels in order"),
        Fact("reported_on|date|created|first_seen", date(draw), "Reported|Created|First seen", "First seen on {}.|Reported on {}.", "When it was reported"),
    )
    return Draft(facts, "Bug report|Issue|Crash|[BUG]|Defect", (table,), "Version 2.{n}.0 was fine.|See also #{n}.|{person} saw something similar on {date}.|The workaround costs {n} minutes.|Possibly a duplicate of {code}.", "", "")


def appointment(draw: Draw) -> Draft:
    when = (
        Fact("appointment_at|starts_at|when|date_time|termin", date_time(draw), "When|Appointment|Date and time|Termin", "We see you {}.|Your appointment: {}.", "Day and time of the appointment", must=True),
    ) if draw.chance(0.3) else (
        Fact("date|appointment_date|day|termin|on", date(draw), "Date|On|Day|Datum|When", "We see you on {}.|The appointment is on {}.|Please come on {}.", "Day of the appointment", must=True),
        Fact("time|start_time|at|uhrzeit|begin", time(draw), "Time|At|Uhrzeit|Begin", "It begins at {}.|Be there at {}.|At {}, please.", "When it begins", must=draw.chance(0.7)),
    )  # fmt: skip
    facts = (
        Fact("patient|client|name|customer|patient_name", person(draw), "Patient|Client|Name|For", "This is a reminder for {}.|The appointment is for {}.|Dear {}.", "Who has the appointment", must=True),
        Fact("doctor|provider|with|therapist|practitioner|arzt", person(draw), "Doctor|With|Provider|Therapist|Arzt", "You will see {}.|Your appointment is with {}.|{} expects you.", "Whom to see"),
        Fact("practice|clinic|salon|organisation|praxis", company(draw), "Practice|Clinic|At|Praxis", "{} confirms your appointment.|You come to {}.", "Name of the practice", bare=0.7),
        *when,
        Fact("duration|length|takes", duration(draw), "Duration|Length|Dauer", "It takes {}.|Plan {}.", "How long it takes"),
        Fact("location|address|where|adresse", address(draw), "Address|Where|Location|Adresse", "We are at {}.|Find us at {}.", "Where it is"),
        Fact("room|floor", text(digits(draw, draw.pick("###|Room ##|@#|Suite ###|Zimmer #"))), "Room|Suite|Zimmer", "Go to {}.", "Room as written"),
        Fact("reason|service|treatment|type|anlass", text(draw.pick("check-up|root canal|haircut|vaccination|eye test|physiotherapy|consultation|MRI scan|tyre change|blood test|piano lesson|tax advice|passport photo|dog grooming|boiler inspection")), "Reason|Service|For|Anlass", "The reason is {}.|You come for {}.", "Why, as written"),
        Fact("phone|contact_phone|call", phone(draw), "Phone|Questions|Tel.", "To change it call {}.|Our number is {}.", "Number of the practice"),
        Fact("confirmation_code|booking_code|reference", code(draw), "Code|Booking|Reference", "Your code is {}.", "Booking code"),
        Fact("status|state", choice(draw, {"confirmed": "confirmed|fixed|bestätigt", "rescheduled": "moved|rescheduled|postponed to the date above", "cancelled": "cancelled|called off", "requested": "requested|not yet confirmed"}), "Status|State", "The appointment is {}.", "State of the appointment"),
        Fact("cost|price|copay|fee", money(draw), "Cost|Fee|Price", "The visit costs {}.|Please bring {}.", "What it costs"),
        Fact("fasting|fasting_required|come_fasting", flag(draw, "nothing to eat before|fasting required|yes", "you may eat|no|not needed"), "Fasting", "Fasting: {}.", "Must the patient not eat before"),
        Fact("bring|documents|items_to_bring", listing(draw, draw.some("insurance card|photo ID|referral|old X-rays|medication list|glasses|sports clothes|passport|towel", 1, 3)), "Bring|Please bring|Documents", "Please bring {}.", "What to bring, in order"),
    )
    return Draft(facts, "Appointment reminder|Your appointment|Terminbestätigung|Reminder|Booking", (), "Your last visit was on {date}.|The date {date} at {time} is no longer valid.|{person} is on leave until {date}.|Missed visits cost {money}.|Parking costs {money}.", "we look forward to your visit.", "Please cancel 24 hours ahead.")


KINDS = (
    Kind("contact", contact, ("en", "en", "en", "de", "fr", "es"), 1.4),
    Kind("mail", mail, ("en", "en", "en", "de", "fr", "es"), 1.4),
    Kind("minutes", minutes, ("en", "en", "de")),
    Kind("ticket", ticket, ("en", "en", "en", "de")),
    Kind("bug", bug),
    Kind("appointment", appointment, ("en", "en", "de")),
)
