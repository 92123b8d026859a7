"""Scenes: voicemails, handovers, directories and pages that say how to reach people."""

from .scene import Scene

SCENES = (
    Scene(
        "contact",
        """
[Voicemail|New voice message|Transcript of your voicemail|Missed call with message|\\[automatic transcript\\]|Mailbox] [from {shown:tel}|· {shown:tel}|({shown:tel})|][, {len:count 12-95} s|, {len:count 12-95} seconds|]
[Received {day:today}[ at {at:time}|, {at:time}|]
|]
["|]
[Hi|Hello|Good morning|Hey|Hello there|Good afternoon|Yes, hello], [{to.given}|this is a message for {to:name}|{to.given}, hope you're well][, |. ][this is|it's|my name is|you're speaking to... well, to the machine of, anyway:] {who:name}[ from {firm:company}| at {firm:company}| over at {firm:company}|][, {role:of role}|, I'm the {role:of role} there||].
[I'm calling about|It's about|I wanted to ask about|Just ringing about|This concerns] [the {thing:of product}|the {thing:of product} you asked for|your enquiry about the {thing:of product}|the {thing:of product} we quoted]. [{:name} gave me your number.|We spoke last week, I think.|I tried you at the office earlier.|Your colleague {:name} said to try you here.|]
[#urgent=yes:[It really can't wait until next week.|I need an answer today if at all possible.|The lorry is standing here, so please be quick.|Everything's on hold until I hear from you.|Please drop what you're doing and ring me.|We're rather desperate, to be honest.]|#urgent=no:[No rush at all.|Whenever you find a minute.|It'll keep until you're back.|Nothing that can't wait.|In your own time, really.|There's no hurry with this.]|]
[#how=phone:[You can ring me on|Call me back on|Best to reach me is|My number is|Give me a ring on] {tel:tel}[, that's my mobile|, the direct line|][, {from:spoken 8-18} or later|, any time after {from:time}|, ideally from {from:time}|].|#how=email:[Don't bother to ring, just write to|I'm in meetings, so drop me a line at|It's easier if you put it in writing:|Send it over to|I'd rather have it in black and white:] {mail:email}.[ My number is {tel:tel}, but I rarely pick up.|]|#how=text:[Just text me on|Send me an SMS,|A quick WhatsApp will do,|Message me, I can't take calls here:] {tel:tel}.|#how=visit:[Just pop in, we're at|Come by, the address is|Simplest if you drop by:] {addr:address}.]
[The old number, {:tel}, doesn't work any more.|Please don't use the {:tel} one.|If I'm out, ask for {alt:name}.|{alt:name} knows about it as well.|Otherwise talk to {alt:name}.|]
[Thanks, bye.|Okay, speak soon.|Thank you, bye-bye.|Right, that's all. Bye.|Cheers!|Many thanks.]["|]
""",
        """
caller|caller_name|name|full_name|from ; who ; Name of the person who left the message|Who is speaking
company|organisation|firm|calling_from ; firm ; null if the caller names none
role|job_title|position ; role ; as said
recipient|message_for|called_person|for ; to ; Person the message is meant for
caller_id|displayed_number|line_number ; shown ; Number shown by the phone system, not the one that is spoken
callback_number|phone|call_back_on|phone_number ; tel ; Number that the caller gives, as written
email|email_address|write_to ; mail
address|visit_at ; addr
preferred_channel|preferred_contact|contact_by|reply_by ; how=phone/call,email/e-mail,text/message/sms,visit/in_person ; How the caller wants to be reached
available_from|best_time|call_after ; from ; Earliest time to call back
topic|about|product|regarding|item ; thing ; What the call is about, as said
urgent|is_urgent|time_critical ; urgent? ; Does the caller press for a quick answer
alternative_contact|backup_contact|also_ask ; alt ; Someone else to ask
received_on|date|call_date ; day
received_at|time|call_time ; at
length_seconds|duration_seconds|seconds ; len ; Length of the message in seconds
""",
        weight=1.3,
    ),
    Scene(
        "contact",
        """
[# |## ||][{org:company}|{org:company} – staff|{org:company}: who is who|Telephone list, {org:company}|People at {org:company}]
[[as of|updated|last changed] {day:date}
|][[Switchboard|Front desk|Main number|Central]: {main:tel}
|][[Post|Visitors|Find us]: {addr:address}
|]
[<staff 2-9:[- |• |][Dr. |||||]{who:name}, [{job:of role}|{job:job}][ · | - |, ][ext. |extension |x|Tel. ]{ext:code ###|####|##}[ · {mail:email}|, {mail:email}|, room {room:code #.##|###|@##}|, room {room:code ###}, {mail:email}||] [#state=in:|#state=leave:(on parental leave)|#state=leave:- on sabbatical until {back:date}|#state=in:]>|<staff 3-8:{who:name} \\| {job:of role} \\| {tel:tel} \\| {mail:email}>|Name;Function;Phone;Room
<staff 3-10:{who:name};{job:job};{tel:tel};{room:code #.##|###|@##}>|<staff 2-5:{who:name}
{job:of role up}
[Phone: {tel:tel}
|][E-mail: {mail:email}
|][Speaks {langs:words English and Polish/English, Turkish/German and English/Portuguese, French and English}
|]>|<staff 2-6:{job:of role up}: {who:name}[, {tel:tel}|, {mail:email}|][, mornings only|, Mon-Wed|, back in spring|]>]

[[Emergencies|Out of hours|At night and weekends][: | please ring | call ]{night:tel}[ ({guard:company})|].|If nobody answers, try {night:tel}.|][ {:name} left us on {:earlier}.| For {:of service} please ask {:name} at head office, {:tel}.|]
[[Opening hours|Office hours|We are here]: {opens:time 7-10} - {closes:time 15-20}[.|]|[Open|Staffed] {opens:time 7-10} to {closes:time 15-20}[, Monday to Friday|, weekdays|].|]
""",
        """
organisation|company|institution|employer ; org
as_of|updated|last_updated|valid_on ; day
switchboard|main_phone|central_number|front_office_phone ; main ; The number for everyone, not a person's
address|location|visitors_address ; addr
emergency_phone|out_of_hours_phone|night_number ; night ; Number outside office hours
security_company|guard ; guard
opens|open_from|opening_time ; opens
closes|open_until|closing_time ; closes
staff|people|employees|contacts|entries|team ; staff* ; Everyone on the list|One entry a person
name|full_name|person|who ; staff.who ; Name without title
job_title|function|role|position ; staff.job ; as written
extension|ext|short_number ; staff.ext ; as written
phone|telephone|tel ; staff.tel ; as written
email|mail ; staff.mail
room|office ; staff.room ; null if none is given
status|availability|presence ; staff.state=in/available/present,leave/absent/on_leave ; Is the person away for long
returns_on|back_on ; staff.back
languages|speaks ; staff.langs
""",
    ),
    Scene(
        "contact",
        """
[Subject: {:words Your new contact/Handover/Change of contact/A new name for you/Introduction/Goodbye and hello}

|][Dear {to:name},|Hello {to.given},|Hi {to.given},|Dear customers,|Dear all,|Good morning,]

[after {years:count 2-20} years at {firm:company} I am [moving on|retiring|taking a new job|going back to university].|as of {from:later 3-60} I will no longer look after your account.|I am writing to let you know that my last day at {firm:company} is {last:later 2-30}.|my time at {firm:company} ends on {last:later 2-30}.|our team at {firm:company} has been reshuffled.] [From then on|From {from:later 3-60}|From that day|In future|From now on] [{new:name} will [look after you|be your contact|take over from me|answer your questions|handle your orders]|you will be in the hands of {new:name}|your contact [person |]is {new:name}].

[{new.given} [works as|is our|has been our] {newrole:of role}[ with us| in our team|] [and knows your files|and has been with us for {:count 2-15} years|and used to work for {prev:company}|].|{new.given} joined us from {prev:company}[, where the job was {prevrole:of role}|].|]

[[You [can reach|reach] {new.given} [on|at]|The details:|Please write these down:|New contact details:]
[- |][phone |Tel. |T: |]{tel:tel}
[[- |][mobile |Cell |M: ]{cell:tel}
|][- |][email |E: |mail: |]{mail:email}
[[- |][desk|room|office]: {room:room}
|]|Reach {new.given} at {mail:email} or {tel:tel}[, on the move at {cell:tel}|].
|Just write to {mail:email}[; for calls it is {tel:tel}|].
]
[Until then|In the meantime|Before that date], [you'll still find me here|please keep writing to me ({:email})|my number {:tel} stays in use]. [#mailbox=yes:[Mail to my old address will be passed on.|Whatever still lands in my inbox will be forwarded.|My mail is redirected automatically.]|#mailbox=no:[Mail to my old address will not be read.|Please delete my address, nothing is forwarded.|My inbox will be closed for good.]|]
[#meet=yes:[We would both like to come and see you on {meet:later 2-20}.|May we introduce ourselves on {meet:later 2-20}?|Shall we do a short call, all three of us, on {meet:later 2-20}?]||]

[It has been a pleasure.|Thank you for the good years.|All the best,|With warm wishes|Take care,|Kind regards,]
{old:name}
[{oldrole:of role up}|{oldrole:job}|]
""",
        """
{ new_contact|successor|contact|new_contact_person
name|full_name ; new ; Name of the person who takes over|Whom to contact in future
role|job_title|position ; newrole ; as written
phone|landline|telephone ; tel
mobile|cell|mobile_phone ; cell
email|e_mail|mail ; mail
room|office ; room
}
predecessor|previous_contact|sender|written_by ; old ; Person who hands over|Who leaves
predecessor_role|sender_role|sender_title ; oldrole
company|organisation|firm ; firm
recipient|addressee|written_to ; to
effective_from|valid_from|takes_over_on|change_date ; from ; First day of the new contact
last_working_day|leaves_on|last_day ; last
years_at_company|years_of_service ; years ; Years the predecessor was there
came_from|former_employer|previous_employer ; prev ; Former employer of the new contact
former_role ; prevrole
mail_forwarded|forwarding|old_mail_forwarded ; mailbox? ; Is mail to the old address passed on
meeting_date|introduction_on ; meet ; Day of the proposed introduction
meeting_proposed|wants_meeting ; meet?
""",
        weight=1.2,
    ),
    Scene(
        "contact",
        """
[{a:name}|+{:code ## ### ######}], [{day:today}|{day:today} {at:time}]:
[hey|hi|morning|hello], [do you have|can you send me|what's|anyone got] the [contact|number|details] [of|for] [the {trade:words plumber/electrician/roofer/photographer/piano teacher/vet/tax adviser/carpenter/babysitter/dentist/notary/gardener/caterer/locksmith} [you mentioned|from last year|you had]|a good {trade:words plumber/electrician/roofer/photographer/piano teacher/vet/tax adviser/carpenter/babysitter/dentist/notary/gardener/caterer/locksmith}]? [{why:clause}...|it's for the {:of meeting}|]

{b:name}:
[sure|yep|of course|wait|hold on, here:] [{who:name}|it's {who:name}|{who:name} is the one|ask for {who:name}], [{firm:company}, |works at {firm:company}, |]{tel:tel}[ or {mail:email}|, mail {mail:email}|][, {site:url}|]
[lives|sits|workshop is|shop's] [in|over in] {town:city}[, {street:street}|]

[#rec=yes:[can only recommend|never had a complaint|worth every penny|does a lovely job|we'd book again any time|a treasure, honestly]|#rec=no:[wouldn't go back though|to be frank i was not happy|turned up late three times, just so you know|i'd try someone else first|did sloppy work for us|only if you find nobody else]|#rec=yes:top!!]. [#price=cheap:[charges next to nothing|wasn't much at all|surprisingly easy on the wallet]|#price=dear:[not exactly a bargain|costs an arm and a leg|you pay for it, mind]|#price=fair:[price was okay|about what you'd expect|normal rates]|] [took {rate:money 20-120} an hour[ back then|]|paid {rate:money 20-120} per hour|]
[not the other one, {:name} ({:tel}), {:words retired/moved away/stopped taking jobs}|{:name} had {:tel} but that's dead|]

{a.given}:
[thanks!|brilliant, ta|great.] [will call {when:words tomorrow/tonight/after work/on Monday/this weekend}|i'll ring {when:words tomorrow/tonight/after work/on Monday/this weekend}|]
{b.given}:
[#time=evening:[better not before six, out on jobs all day|only picks up after work|in the evening is best]|#time=morning:[try early, before they head out|gets up at five, so ring first thing|mornings are best]|#time=any:[answers any time|doesn't matter when|round the clock, practically]|👍] [say {ref:words hi from me/I sent you/you know us/it's for the choir}|]
""",
        """
contact_name|name|recommended_person|full_name|tradesperson ; who ; The person who is recommended or described
profession|trade|job|occupation ; trade
company|firm|business ; firm
phone|telephone|number ; tel ; Number that is passed on and still works
email|mail ; mail
website|url ; site
city|town|based_in ; town
street|street_address ; street
asked_by|requester|who_asks ; a
shared_by|informant|passed_on_by ; b ; Who gives the contact
recommended|is_recommended|would_recommend|positive ; rec? ; Does the writer recommend this person
price_level|pricing|cost ; price=cheap/low,dear/expensive/high,fair/average
hourly_rate|rate_per_hour|rate ; rate
best_time|best_time_to_call|call_when ; time=evening,morning,any/anytime ; When to call
call_planned|calls_on|when ; when ; When the asker wants to call, as written
problem|reason|defect ; why
date|sent_on ; day
""",
    ),
    Scene(
        "contact",
        """
[Mit freundlichen Grüßen|Viele Grüße|Beste Grüße aus {:city}|Freundliche Grüße|Herzliche Grüße]

[i. A. |i. V. |ppa. ||||][Dr. |Dipl.-Ing. ||||]{who:name}
[{role:words Leitung Einkauf/Sachbearbeiterin Buchhaltung/Vertrieb Außendienst/Geschäftsführer/Bauleitung/Assistenz der Geschäftsführung/Projektleiter/Kundenbetreuung/Personalreferentin/Hausverwaltung}|{role:job}]
[[Abteilung|Abt.|Bereich] {dept:words Einkauf/Vertrieb/Technik/Recht/Personal/Versand/Qualität/Marketing}
|]
{firm:company}
[{road:street} [\\||·|,] {zip:code #####} {town:city}|{road:street}
{zip:code #####} {town:city}|]
[Tel.|Telefon|Fon|T|Durchwahl][: | ]{tel:tel}[ [\\||·] |
][[Mobil|Handy|M][: | ]{cell:tel}
|][[Fax|F][: | ]{fax:tel}
|][E-Mail: |Mail: |]{mail:email}
[{web:url}
|]
[Sitz der Gesellschaft: {seat:city}[, Amtsgericht {court:city}|][, HRB {hrb:code ######|#####}|]
|][Geschäftsführung: {boss:name}[, {boss2:name}|]
|][USt-IdNr. {vat:code DE#########}
|][[Bitte beachten Sie: ab {from:later 5-60} gilt die neue Nummer {newtel:tel}.|Unser Büro ist vom {:later 3-10} bis {:later 11-30} geschlossen.|Ich arbeite montags bis donnerstags.|In meiner Abwesenheit hilft Ihnen {deputy:name}, {deptel:tel}.|Vertretung: {deputy:name} ({deptel:tel})]|]
""",
        """
name|full_name|absender|ansprechpartner ; who ; ohne Titel|without title
position|funktion|job_title|role ; role
abteilung|department ; dept
firma|company|unternehmen ; firm
{ adresse|address|anschrift
strasse|street ; road
plz|postal_code|zip ; zip
ort|city|stadt ; town
}
telefon|phone|festnetz|tel ; tel ; derzeitige Festnetznummer|current landline
mobil|mobile|handy ; cell
fax ; fax
email|e_mail ; mail
webseite|website|url ; web
sitz|registered_seat ; seat ; Sitz der Gesellschaft
amtsgericht|registergericht|court ; court
handelsregister|hrb|register_number ; hrb ; nur die Nummer|number only
geschaeftsfuehrer|managing_director ; boss
ust_id|vat_id ; vat
neue_telefonnummer|new_phone ; newtel ; Nummer, die künftig gilt|number valid in future
gueltig_ab|valid_from ; from
vertretung|deputy|stellvertretung ; deputy
telefon_vertretung|deputy_phone ; deptel
""",
        "de",
    ),
)
