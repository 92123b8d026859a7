"""Scenes: what customers ask of help desks: tickets, chats, calls that were written down, and answers."""

from .scene import Scene

SCENES = (
    Scene(
        "support",
        """
[#{id:code #####|######} ||Ticket {id:code #####|INC######|SR-####} ][#cat=billing:{subj:of b_billing up}|#cat=delivery:{subj:of b_delivery up}|#cat=technical:{subj:of b_technical up}|#cat=account:{subj:of b_account up}|#cat=product:{subj:of b_product up}]
[{who:name}[ \\<{mail:email}>|]|From {who:name}, {mail:email}|Requester: {who:name}][ · | - |, ]{day:today}[ at {at:time}|, {at:time}|][ · via {via:words chat/e-mail/phone/web form/app}|]
[[Account|Customer|Cust. ID][: | ]{cust:code K-#####|########|C####}[ · plan {plan:words Basic/Plus/Business/Family/Pro}|]
|]
[Hi,|Hello,|Hello support,|Good day,|To whom it may concern,|]

[#mood=angry:[This is the third time I write to you and I've had enough.|Are you kidding me?|I am absolutely fed up.|What on earth is going on with you people?|Unbelievable. Simply unbelievable.|I have never been treated like this!!|I'm done being nice.]|#mood=worried:[I'm getting a bit nervous, to be honest.|I hope nothing has gone wrong.|I couldn't sleep because of this.|Should I be concerned?|Please tell me my data is safe.|I'm afraid I have broken something.]|#mood=polite:[I hope you are well. I'm sure you can help me.|Sorry to bother you, it's just a small thing.|First of all, I really like your service.|Thank you in advance for your time.|You have always been so helpful.|A quick question, if I may.]|#mood=neutral:[The following happened.|I want to report this:|Here is what I see.|For your information:|Please look at the following.|]]
[{subj}.|]

[?cat=billing:[On my statement of {billed:earlier 2-30} there is {amount:money 5-300} that I can't explain.|You took {amount:money 5-300} from my card, it should have been {right:money 2-90}.|The invoice says {amount:money 5-300}, we had agreed on {right:money 2-90}.|Why did {amount:money 5-300} leave my account on {billed:earlier 2-30}?|The charge of {amount:money 5-300} appears two times.|I was promised the first month for nothing, yet {amount:money 5-300} is gone.]|?cat=delivery:[It should have been here on {due:earlier 2-20}.|The tracking has not moved since {due:earlier 2-20}.|The driver says he rang, but I was at home all day.|My neighbours don't have the box either.|It was left in the rain and the cardboard is soaked.|It went to {wrong:city} instead of here.]|?cat=technical:[After the update to {ver:code #.#.#|##.#|v#.##} the screen stays white.|It says "{err:code E-###|ERR_####|0x######}" and closes.|The button does nothing at all.|It freezes as soon as I open the second tab.|The sync has been spinning for hours.|Error {err:code E-###|ERR_####|0x######} comes up each time.]|?cat=account:[I can't get in, the password mail never comes.|My user name is "unknown", it says.|The code for the second factor goes to my old phone.|I am locked out since {due:earlier 2-20}.|Someone changed my e-mail address and it wasn't me.|I'd like to have my name spelt properly in the profile.]|?cat=product:[One of the feet is broken off.|The colour is not what the picture shows.|The seam came open the first time I wore it.|It makes a noise like a coffee mill.|The lid doesn't fit.|There's a crack all along the side.]]
[It's about [my|the|a] {thing:of product}[, order {ord:code ######|@@-#####|###-####}|].|Order {ord:code ######|@@-#####|###-####}, {thing:of product}.|The order number is {ord:code ######|@@-#####|###-####}.|]
[I have already {tried:of tried}[ and {tried2:of tried}|].|What I did so far: {tried:of tried}[, {tried2:of tried}|].|Your bot told me that {:reason}.|]

[#want=refund:[I want my money back.|Please return the sum to my card.|Kindly reverse the charge.|Just pay me back and we're even.|I expect to see the amount on my account again.|Give me back what I paid.]|#want=replacement:[Send me another one.|Could I have a new one, please?|Please swap it.|I'd like one that works.|Just ship me a fresh one.|A new one would settle it.]|#want=fix:[Please make it work again.|Can you sort it out?|I just need it up and running.|Tell your engineers to look at it.|Please put it right.|When will this be repaired?]|#want=cancel:[Please end my contract.|I'm leaving, close everything.|Stop my subscription[ as of {end:later 5-40}|].|Take this as my notice.|I don't want to be your customer any longer.|Delete my account.]|#want=info:[Can you explain this to me?|How does this come about?|What should I do now?|Please tell me what the reason is.|I only want to understand it.|Where can I read about this?]|#want=callback:[Somebody please ring me[ on {tel:tel}|].|I want to speak to a human being[: {tel:tel}|].|Give me a call[, {tel:tel}|].|Please phone me[ after {callat:time 8-18}|].|I'd rather talk about it in person, my phone is on all day.]]
[#prio=high:[We open our doors to customers in {:count 2-9} hours and nothing works.|The whole team of {users:count 3-90} is at a standstill.|My father needs it for his heart, so please today.|Every hour costs us real money.|I fly tomorrow morning!|{users:count 3-90} people can't work because of it.]|#prio=normal:[It would be good to have it solved this week.|I'd appreciate an answer in the coming days.|We can work around it for a few days.|It's a nuisance, but we manage for now.|Please deal with it in the normal course.]|#prio=low:[There's no rush whatsoever.|Only when you have a quiet moment.|It's merely cosmetic.|I just thought you'd like to know.|It doesn't really bother me.|Put it at the bottom of the pile.]|]
[#leave=yes:[Otherwise I'll go to {rival:company}.|{rival:company} has a better offer, you know.|If this goes on I'll switch to {rival:company}.|One more time and I'm gone.]||]
[I was your customer since {since:year} and always paid on time.|Last time {agent:name} helped me, ticket {:code ####|#####}.|Screenshot attached.|]

[Thanks|Regards|Best|Kind regards|Greetings|]
{who}
""",
        """
ticket_id|ticket_number|case_id|id ; id
subject|title|summary|issue ; subj ; as written
customer|customer_name|reporter|requester|name ; who
email|customer_email ; mail
customer_number|account_id|customer_id ; cust
plan|subscription|tier ; plan
created|reported_on|date ; day
time|created_at ; at
channel|source|received_via ; via
sentiment|mood|tone|customer_mood ; mood=angry/negative/upset,worried/anxious,polite/positive/friendly,neutral ; Tone of the customer
category|topic|department|type ; cat=billing/payment,delivery/shipping,technical/bug,account/login/access,product/quality/product_defect ; What the trouble is about
priority|urgency|severity ; prio=high/urgent,normal/medium,low ; As it follows from the text, null if it does not say
requested_action|request|desired_outcome|customer_wants|wants ; want=refund,replacement,fix/repair,cancel/cancellation,info/information/explanation,callback/phone_call ; What the customer asks for
product|item|article ; thing ; as written
order_number|order_id|order ; ord
disputed_amount|amount|charged ; amount ; Sum that was charged
correct_amount|expected_amount ; right
charged_on|billed_on ; billed
error_code|error ; err
version|software_version ; ver
expected_on|due_date|since ; due
steps_tried|already_tried|attempted ; tried+tried2 ; What the customer has tried, in order
affected_users|users_affected|people_affected ; users
callback_number|phone ; tel
call_after|call_at ; callat
contract_end|end_on|terminate_on ; end
churn_risk|threatens_to_leave|may_leave ; leave? ; Does the customer threaten to leave
competitor|rival ; rival
customer_since ; since
previous_agent|helped_by ; agent
currency ; $
""",
        weight=2.0,
    ),
    Scene(
        "support",
        """
[Chat transcript|Live chat|Support chat {id:code #####|C-######}|Conversation {id:code #####|C-######}][, {day:today}|]
[({at:time}) |]{bot:words Ava/Max/Nova/Robo/Helper}: [Hello! How can I help you today?|Hi, I'm a virtual assistant. What's up?|Welcome! Please describe your problem.]
{who.given}: [hi, |hello, it's {who:name}. |||hey |][#topic=billing:{issue:of b_billing}|#topic=delivery:{issue:of b_delivery}|#topic=technical:{issue:of b_technical}|#topic=account:{issue:of b_account}|#topic=product:{issue:of b_product}][!!|?|.|]
{bot}: [Have you looked at our help page?|I'm sorry to hear that. Is this about {:of ware}?|I did not understand. Please choose: 1 orders, 2 account, 3 other.]
{who.given}: [#mood=angry:[no!! i want a human|you are useless|stop the canned answers|ffs. PERSON. NOW.|how dare you send me a machine]|#mood=calm:[no, something else|i'd like to talk to a colleague please|that's not it, could someone look?|yes but it didn't help, sorry|3]]
[{agent:name} has joined.|You are now talking to {agent:name}.|--- {agent:name} ({team:words Tier 2/Billing/Logistics/Tech/Loyalty}) took over ---]
{agent.given}: [Hi {who.given}, sorry about that.|Good day, I've read it.|Hello {who.given}, let me see.] [[May I have your order number?|Which order is it?|Can you find the order number for me?]
{who.given}: [{ord:code ######|@@-#####|###-####}|it's {ord:code ######|@@-#####|###-####}, {thing:of product}|{ord:code ######|@@-#####|###-####} i think, the {thing:of product}]|[What is your customer number?|I need your customer number first.]
{who.given}: [{cust:code K-#####|########}|{cust:code K-#####|########}, order {ord:code ######|@@-#####|###-####}]|[Could you give me your e-mail address?|Under which address did you register?]
{who.given}: {mail:email}]
{agent.given}: [Thanks. I see it here, placed on {placed:earlier 3-60}.|Found it.|One moment... got it, {placed:earlier 3-60}.] [#cause=ours:[That was a mistake on our side.|Our system slipped, I apologise.|We sent the wrong label, my fault.|A colleague ticked the wrong box here.]|?topic=delivery#cause=carrier:[The courier seems to have lost it.|It's stuck at the depot of our carrier.|The driver scanned it without handing it over.]|#cause=customer:[It looks as if the old address was still in your profile.|You are signed in with another e-mail address.|The filter was put in the wrong way round.|The card you saved has run out.]|#cause=unknown:[I can't see why, I'll have to ask.|Strange, I've not seen that before.|Our engineers will have to find out.]]
{agent.given}: [?topic=billing?topic=delivery?topic=product#fix=refund:[I've sent {amount:money 5-300} back to your card, {days:days} at most.|You'll see {amount:money 5-300} again within {days:days}.|I can return {amount:money 5-300} to you right away.]|#fix=voucher:[As a sorry, here's a code: {code:code @@@@##|@#@#@#}, worth {amount:money 5-40}.|I can offer you {code:code @@@@##|@#@#@#} for your next order ({amount:money 5-40}).]|?topic=delivery?topic=product#fix=resend:[A new one leaves today, with you by {eta:later 1-6}.|I'm having another sent, {eta:later 1-6} at the latest.|The next one is on its way, expect it on {eta:later 1-6}.]|#fix=escalate:[I'm passing it on to {second:name}, you'll hear by {eta:later 1-6}.|This goes to the specialists, ticket {tick:code ######|INC#####}.|I've opened {tick:code ######|INC#####} for our engineers.]|?topic=technical?topic=account#fix=guide:[Please switch it off for {:count 2-9} minutes, then hold the side button.|Go to settings, account, devices and remove the old one.|Could you clear the cache and sign in again?]]
{who.given}: [?fix=guide#ok=yes:[oh! it works|that did it, thanks|wow, it's back|brilliant, sorted]|?fix=guide#ok=no:[still the same|nope, nothing|didn't help|no change]|?fix=refund?fix=resend?fix=voucher#ok=yes:[perfect, thank you|great, that's fair|ok, i can live with that|lovely, cheers]|?fix=refund?fix=resend?fix=voucher#ok=no:[that's not enough|i don't accept that|you can keep it|and my time? no deal]|?fix=escalate:[ok, i'll wait|hm. fine.|and how long will that take?]]
{agent.given}: [Anything else?|I'm glad to help.|I'll note that.] [Your case is {case:code ######|@@-####}.|]
[{who.given}: [no, have a nice day|all good :)|no]
|][Chat ended[ after {len:count 3-50} minutes|]. [Rating: {stars:stars}|No rating was given.]|{who.given} has left the chat.]
""",
        """
conversation_id|chat_id|transcript_id ; id
date|chat_date ; day
started_at|start_time|time ; at
bot|bot_name|assistant ; bot
customer|customer_name|user ; who
issue|problem|reason ; issue ; as the customer puts it
topic|category|issue_type ; topic=billing/payment,delivery/shipping,technical/bug,account/login,product/product_defect ; What the trouble is about
customer_mood|mood|sentiment ; mood=angry/upset,calm/neutral
agent|agent_name|handled_by ; agent ; Human who took over
team|agent_team ; team
order_number|order ; ord
product|item ; thing
email ; mail
customer_number ; cust
ordered_on|order_date ; placed
cause|root_cause|fault_of|caused_by ; cause=ours/company/seller,carrier/courier,customer/user_error,unknown ; Where the fault lies
resolution|solution|action_taken|outcome ; fix=refund,voucher/goodwill_voucher,resend/replacement,escalate/escalated,guide/instructions/self_help ; What the agent does
amount|refund_amount|compensation ; amount
refund_days|paid_within ; days
voucher_code|voucher ; code
expected_by|eta|answer_by ; eta
escalated_to|second_level|specialist ; second
escalation_ticket|ticket|new_ticket ; tick
solved|customer_satisfied|accepted|resolved ; ok? ; Is the customer content at the end
case_number|reference ; case
duration_minutes|chat_length ; len
rating|stars|csat ; stars ; null without a rating
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "support",
        """
[Call note|Phone note|Note of a call|Service desk log|Telephone report]
[Taken by|Agent|Written by|Operator]: {agent:name}[ ({day:today}, {at:time})|, {day:today}|, {day:today} at {at:time}|]
[Caller|Who rang|From|Customer]: {who:name}[, {firm:company}|][, {tel:tel}| ({tel:tel})|]

[The caller|{who.given}|Caller|Customer] [reports|says|complains|tells us] that {issue:of b_technical}. [#since=today:[It began this morning.|First noticed an hour ago.|Since the start of the shift.]|#since=days:[Has been like this for {for:days}.|Going on for {for:days}.|Since {from:earlier 2-20}.|First seen on {from:earlier 2-20}.]|] [#scope=one:[Nobody else in the house has it.|Only this one machine.|Colleagues next door are fine.|A single user.]|#scope=team:[The whole {dept:words accounts/sales/design/legal/night shift} team has it.|About {users:count 3-40} colleagues see the same.|Everyone in {dept:words accounts/sales/design/legal/dispatch} is hit.]|#scope=all:[Every site is down.|No one in the company can work.|All branches report it.|Nothing goes anywhere in the firm.]]
[Device|Asset|Equipment|Object]: {asset:code LT-####|PC####|PRN-##|@@@-###}[ ({model:of line} {model2:of model})|][, {room:room}|, floor {floor:floor}|].
[{who.given} has {tried:of tried}.|Already done: {tried:of tried}, {tried2:of tried}.|I asked the caller to restart. [#help=yes:Helped for a while.|#help=no:No change.|#help=no:Same as before.]|]
[#next=visit:[{tech:name} drives there on {when:later 1-5}[, {slot:time 8-16}|].|Technician {tech:name} comes by, {when:later 1-5}.|On-site appointment {when:later 1-5}[ at {slot:time 8-16}|], {tech:name}.]|#next=remote:[I took over the screen and am on it.|{tech:name} will connect from here at {slot:time 8-16}.|We'll look at it through TeamViewer, {when:later 1-5}.]|#next=swap:[A spare one is going out today.|Exchange device ordered, {when:later 1-5}.|Gets a loan unit ({loan:code LT-####|PC####}).]|#next=closed:[Solved on the phone.|Nothing left to do.|Caller is happy, done.|Works again, file can be put away.]|#next=wait:[We wait for the maker's answer.|Nothing can be done before the supplier calls back.|Caller will ring again with the serial number.]]
[Ticket|Number|Case] {id:code INC######|#####|SR-####}[, linked to {:code INC######|#####}| (see also {:code INC######|#####})|]. [SLA: {sla:count 2-48} h.|To be solved by {dead:later 1-5}.|Promised: {dead:later 1-5}.|]
[#prio=high:[The caller was under great pressure: month-end closing tonight.|Production stands still.|Patients are waiting.|Please put it at the very top.]|#prio=low:[The caller said it can wait.|It's a matter of looks only.|No one is held up.|For the next routine visit.]|]
[Called back on {cb:later 1-3}.|Mail copy to {mail:email}.|Caller can be reached until {till:time 15-18}.|Deputy: {deputy:name}.|]
""",
        """
ticket|ticket_number|case|incident_number ; id
agent|taken_by|operator|recorded_by ; agent ; Who wrote the note
date|logged_on|call_date ; day
time|call_time ; at
caller|reported_by|customer|contact ; who
company|customer_company ; firm
phone|callback_number ; tel
issue|problem|description|fault ; issue ; as written
onset|started|since_when ; since=today,days/earlier
lasting_days|days_open|for_days ; for
since|first_seen|began_on ; from
scope|impact|affected ; scope=one/single_user,team/department,all/company_wide ; How many are affected
department|team ; dept
affected_users|user_count ; users
asset|asset_tag|device_id|equipment ; asset
brand|manufacturer ; model
room|location ; room
floor ; floor
steps_tried|already_tried ; tried+tried2
restart_helped ; help? ; Did restarting help
next_step|action|follow_up ; next=visit/on_site,remote/remote_session,swap/replacement_device,closed/resolved,wait/waiting/pending ; What happens next
technician|assigned_to|engineer ; tech
visit_date|scheduled_for|appointment ; when
visit_time|slot|scheduled_time ; slot
loan_device ; loan
sla_hours|sla ; sla
solve_by|due_date|deadline ; dead
priority|urgency ; prio=high/urgent,low
email|copy_to ; mail
deputy|alternative_contact ; deputy
""",
        weight=1.3,
    ),
    Scene(
        "support",
        """
[Guten Tag,|Hallo,|Sehr geehrte Damen und Herren,|Hallo Kundenservice,|Hi,]

[#ton=veraergert:[ich bin stinksauer.|so etwas habe ich noch nicht erlebt!|langsam reicht es mir.|das ist eine Frechheit.|zum vierten Mal schreibe ich Ihnen jetzt!!]|#ton=freundlich:[vielen Dank für Ihren guten Service bisher.|entschuldigen Sie die Störung.|ich hoffe, Sie können mir weiterhelfen.|Sie haben mir schon einmal so nett geholfen.]|#ton=sachlich:[folgendes Anliegen:|es geht um Folgendes.|ich melde Ihnen einen Mangel.|hiermit teile ich Ihnen mit:]] {was:of beschwerde}. [Es geht um {ding:of ding}[, Bestellung {best:code ######|@@-####}|].|Bestellnummer {best:code ######|@@-####}[, Kundennummer {kd:code K-####|#######}|].|Kundennummer: {kd:code K-####|#######}.|]
[Gekauft am {kauf:earlier 5-200}[ für {preis:money 10-900}|].|Bezahlt habe ich {preis:money 10-900}.|Am {kauf:earlier 5-60} bestellt, am {:earlier 1-4} gekommen.|] [Ich habe schon {anrufe:count 2-9} Mal angerufen.|Ihre Kollegin {kollegin:name} wollte zurückrufen.|Den Neustart habe ich probiert.|]
[#wunsch=geld:[Ich möchte mein Geld zurück.|Bitte überweisen Sie mir den Betrag wieder.|Erstatten Sie mir alles.]|#wunsch=ersatz:[Bitte schicken Sie mir ein neues Gerät.|Ich hätte gern Ersatz.|Tauschen Sie es bitte um.]|#wunsch=reparatur:[Bitte lassen Sie es reparieren.|Wann kommt jemand und macht das heil?|Schicken Sie einen Techniker.]|#wunsch=kuendigung:[Ich kündige zum {ende:later 20-90}.|Betrachten Sie das als Kündigung.|Ich will aus dem Vertrag raus.]|#wunsch=auskunft:[Können Sie mir das erklären?|Woran liegt das?|Was soll ich jetzt tun?]]
[#eilt=yes:[Bitte heute noch!|Es brennt.|Ich brauche das Gerät dringend für meine Arbeit.|Wir haben ein Baby und kein warmes Wasser.]|#eilt=no:[Es hat Zeit.|Lassen Sie sich ruhig Zeit.|Das muss nicht sofort sein.]|] [#anwalt=yes:[Sonst schalte ich einen Anwalt ein.|Andernfalls hören Sie von meinem Rechtsbeistand.]||] [Ich erwarte Ihre Antwort bis {frist:later 3-20}.|Frist: {frist:later 3-20}.|Rückruf bitte unter {tel:tel}[, ab {ab:time 8-18}|].|]
[Mit freundlichen Grüßen|Viele Grüße|Gruß|Mit enttäuschten Grüßen]
{wer:name}
[{adr:address}|{mail:email}|]
""",
        """
kunde|name|customer|absender ; wer
stimmung|ton|sentiment|mood ; ton=veraergert/angry/negative,freundlich/friendly/positive,sachlich/neutral ; Ton des Schreibens|Tone of the writer
anliegen|problem|issue ; was ; wie geschrieben|as written
produkt|artikel|product ; ding
bestellnummer|order_number ; best
kundennummer|customer_number ; kd
kaufdatum|purchase_date ; kauf
kaufpreis|price|preis ; preis
anrufe|calls_made ; anrufe
ansprechpartner|agent ; kollegin
wunsch|forderung|requested_action ; wunsch=geld/refund/erstattung,ersatz/replacement,reparatur/repair,kuendigung/cancellation,auskunft/information ; Was der Kunde möchte|What the customer wants
kuendigung_zum|contract_end ; ende
dringend|eilig|urgent ; eilt?
droht_mit_anwalt|legal_threat ; anwalt?
frist|antwort_bis|deadline ; frist
telefon|phone ; tel
rueckruf_ab|call_after ; ab
adresse|address ; adr
email ; mail
waehrung|currency ; $
""",
        "de",
        weight=1.2,
    ),
)
