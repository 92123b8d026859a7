"""Scenes: chats with a help desk, minutes of motions, reports of defects in headed parts, adverts for jobs in running text."""

from .scene import Scene

SCENES = (
    Scene(
        "support",
        """
[Chat log|Chat transcript|Live chat|Conversation|WhatsApp][ [no.|#] {case:code ######|@@-####}|][, {day:today}| of {day:today}|][ (exported by [customer|agent])|]

\\[{start:time 8-8}\\] {who.given}: [hi|hello|Good morning][, [anyone there?|I need help]|][. It's about|, about] [order|my order] {ord:code ####-####|######|@@####}[ of {bought:earlier 3-60}|]
\\[{:time 9-9}\\] {agent.given}[ (support)| (agent)| - {firm:company}|]: [Good morning|Hello|Hi] {who.given}[!|.] [What happened?|How can I help?|What's wrong with it?]
\\[{:time 9-9}\\] {who.given}: [the {item:goods} [came|arrived] and {prob:clause}|{prob:clause}. it's the {item:goods}|{prob:clause}!!! the {item:goods} is [useless|no use] like that]
[\\[{:time 9-9}\\] {agent.given}: [Have you tried|Did you try] [turning it off and on|another cable|the reset button|a different socket]?
\\[{:time 9-9}\\] {who.given}: [#tried=yes:yes, twice|#tried=yes:of course I did|#tried=no:no, how?|#tried=no:not yet]
|]\\[{:time 10-10}\\] {agent.given}: [#offer=replacement:I can send a new one, it would [leave|go out] on {ship:later 1-6}.|#offer=replacement:Then we exchange it, free of charge.|#offer=refund:I can give you the {amount:money 10-300} back.|#offer=refund:You get your money back, {amount:money 10-300}.|#offer=visit:I'd send a technician, {visit:later 1-9} [between {:time} and {:time}|]?|#offer=voucher:We could offer a voucher of {amount:money 5-50}.|#offer=advice:Please [update the app|hold the button for ten seconds|charge it overnight], that usually does it.]
\\[{:time 10-10}\\] {who.given}: [#accepted=yes:ok, do that|#accepted=yes:fine by me, thanks|#accepted=yes:great, please go ahead|#accepted=no:no good, I'll have to call back|#accepted=no:that's not enough, I want to speak to your boss|#accepted=no:not interested]
\\[{end:time 11-11}\\] {agent.given}: [#state=open:Understood, I leave the case open.|#state=open:I'll pass it on to {team:words billing/the warehouse/second level/the workshop}, [they will call|somebody will call] you[ on {tel:phone}|].|#state=closed:All done, have a nice day!|#state=closed:Then I close the chat. Bye!|#state=waiting:Please send a photo to {mail:email}, then we go on.|#state=waiting:I wait for the serial number then.][ You'll get the number by text message.| Your case number is {ref:code ######|@@-####}.|]
""",
        """
agent|agent_first_name|support_agent|adviser ; agent/given ; First name of the agent
customer|customer_first_name|client|caller ; who/given ; First name of the customer
company|shop|firm ; firm
chat_id|transcript_number ; case
date|chat_date|day ; day
started|start_time|begin|opened_at ; start ; First message of the transcript
ended|end_time|closed_at ; end ; Last message of the transcript
order_number|order|order_id ; ord
ordered_on|purchase_date|bought_on ; bought
product|item|article|device ; item ; as written
problem|issue|fault|complaint ; prob ; as written
tried_restart|already_tried|troubleshooting_done ; tried? ; Had the customer already tried what the agent asks
offer|solution|remedy|proposed_solution ; offer=replacement/exchange,refund/money_back,visit/technician,voucher/credit,advice/instructions ; What the agent proposes
accepted|offer_accepted|customer_agrees ; accepted? ; Did the customer take the offer
compensation|refund_amount|amount|credit ; amount ; Voucher or money granted
ship_date ; ship
visit_date|appointment ; visit
status|state|case_status ; state=open/pending,closed/resolved,waiting/waiting_for_customer ; Where the case stands at the end
team|passed_to|escalated_to ; team
callback_number|phone ; tel
upload_address|email ; mail
case_ref|case_number|reference ; ref ; null if none is given
""",
        weight=1.5,
    ),
    Scene(
        "minutes",
        """
{body:words Parish council/Works council/Student Senate/Board of trustees/Parents' evening of class 5b/Allotment society/Steering group/Finance committee/Residents' meeting/Choir committee/Town council/Supervisory board/Staff meeting/Rowing club}[ ({:words spring session/extraordinary meeting/online/north group})|], [session of|meeting of|] {day:today}
[{place:place}[, {room:room}|]
|]
[Call to order|Opened|Start|Beginning|The chair opened the meeting at] {open:time 16-19}[ by {chair:name}|]. [{n:count 5-40} members [in the hall|present|came|attended][, {need:count 3-30} needed|]|Present: {n:count 4-30}|]. [#quorum=yes:So there was a quorum.|#quorum=yes:Enough for decisions.|#quorum=yes:The meeting was quorate.|#quorum=no:Not quorate, so all of this is only a recommendation.|#quorum=no:Too few for decisions.|] [Apologies: {absent:list name 1-3}.|Excused: {absent:list name 1-2}.|]

<motions 1-4:[{no:code #|A-#|##/##|M#}[.|:|)] ]{title:duty up}. [Proposed|Moved|Put forward|Brought in] by {by:name}[, seconded by {second:name}|, {second:name} seconding|]. [#result=carried:{yes:count 3-40} in favour, {nay:count 0-9} against[, {abs:count 0-6} abstentions|] - [carried|adopted|agreed].|#result=carried:Agreed without a vote.|#result=carried:Passed {yes:count 10-30} to {nay:count 1-9}.|#result=rejected:{yes:count 1-9} for, {nay:count 10-30} against: [lost|rejected|not carried].|#result=rejected:Found no majority ({yes:count 1-8} to {nay:count 9-30}).|#result=tabled:Put on the table until next time[, no vote|].|#result=tabled:[Discussion ran late; s|S]ent back to the working group.|#result=withdrawn:[Withdrawn after some words from {:name}.|The mover took it back.]]>

[{rep:name} reported on {:subject}[; {:clause}|].|The accounts show {cash:money 200-90000}[, {:money 100-9000} more than last year|].|]
[Action|To do|Tasks|Agreed]: <todo 1-3; :[{who:name} will {task:duty}|{who:name} to {task:duty}][ by {due:later 3-60}| (no date)|]>
[End|Closed|End of session|Adjourned] [at |]{close:time 20-22}. [Minutes: {clerk:name}.|{clerk:name} took the minutes.|Taken down by {clerk:name}.|] [Next: {next:later 10-90}[, {nextat:time 16-20}|].|Next meeting to be announced.|] [Corrections please within a week.|]
""",
        """
body|committee|meeting|group ; body ; Name without additions in brackets
held_on|date|meeting_date ; day
place|venue ; place
room ; room
opened|start|call_to_order|began_at ; open
closed|end|adjourned_at|ended ; close
chair|chaired_by ; chair
present|members_present|attendance ; n ; Number of those present
quorum|quorate|had_quorum ; quorum? ; Was the meeting quorate
absent|apologies|excused ; absent ; in order
minute_taker|clerk|minutes_by|secretary ; clerk
cash|funds|balance ; cash
reporter|reported_by ; rep
next_meeting|next_date ; next ; null if not fixed
next_time ; nextat
motions|proposals|votes|items|decisions ; motions* ; In order
number|item_number|id|item ; motions.no
title|subject|motion|text ; motions.title ; as written
mover|proposed_by|proposer ; motions.by
seconder|seconded_by ; motions.second
result|outcome|decision ; motions.result=carried/adopted/accepted,rejected/lost,tabled/postponed/deferred,withdrawn
votes_for|in_favour|yes ; motions.yes ; null without a count
votes_against|against|no ; motions.nay ; null without a count
abstentions ; motions.abs
actions|tasks|action_items|todos ; todo* ; In order
owner|responsible|who|person ; todo.who
task|action|what ; todo.task ; as written
due|deadline|due_date ; todo.due ; null if no date is given
""",
        weight=1.5,
    ),
    Scene(
        "bug",
        """
[### |# |\\[BUG\\] |]{title:clause up}

[[**Version**|Version:|**Affected version**] {ver:code #.#.#|#.##.#-rc#|20##.#}[ (also tried {:code #.#.#}, [same|no difference])|]
|][[**Component**|Component:|Area:] {comp:words editor, clipboard/login/export/billing/sync/search index/print preview/notifications/installer/api/dark mode}
|][[**OS**|OS:|Platform:] {os:words Fedora 41, Wayland/Windows 11 23H2/macOS 15.1/Ubuntu 24.04/iPadOS 18/Android 15 (Pixel 8)/Debian 12}
|][[**Severity**|Severity:|Prio:] [#sev=critical:critical|#sev=critical:blocker|#sev=major:major|#sev=major:high|#sev=minor:minor|#sev=trivial:trivial|#sev=trivial:cosmetic]
|]
[[#rep=always:Happens every [single|] time[ for me|].|#rep=always:100% reproducible.|#rep=sometimes:Roughly one time in {:count 3-20}.|#rep=sometimes:Not every time, maybe on Mondays only...|#rep=never:I saw it once and could not make it happen again.|#rep=unknown:Don't know whether it can be repeated, I did not dare.] |][[{last:code #.#.#} was fine.|Broke with the update from {last:code #.#.#}.|Last version that worked: {last:code #.#.#}.] |It never worked. |]

[Steps|Steps to reproduce|How to get there|Repro][:|]
[<steps 2-5:- {do:words Open any file with long lines/Paste two rows from a browser/Press Ctrl+Z twice/Plug in a second screen/Log in as a guest/Choose 'Export'/Set the language to Turkish/Rename the folder/Close the lid/Sort by date/Drag the tab out/Add an umlaut/Wait ten minutes/Scroll to the end/Switch to airplane mode}>|<steps 2-4:* {do:words Create an empty list/Delete the last row/Undo/Open the preview/Pick the second printer/Enter a negative amount/Click twice/Import the sample file/Turn the phone/Sign out and in}>]

[Expected[ behaviour|]:|**Expected**|Should:] {exp:phrase}
[Actual[ behaviour|]:|**Actual**|Is:] {act:clause}

[{:name} on {:words macOS/Windows/Linux/Android} can't trigger it[, though|].|Workaround: {around:duty}.|No workaround known.|] [#loss=yes:Saved data is gone afterwards.|#loss=yes:It ate my last two hours of work.|#loss=no:Nothing is lost, it is only annoying.|]
[Error in the log: {err:code E####|ERR_####|0x####}|```
{:code ##:##:##} {err:code E-####|ERR####|0x####} in {:words render/main/worker/sync}
```|]
[- \\[x\\] I searched for duplicates[ (#{:code ####} looks close but is something else)|]
- \\[[#patch=yes:x|#patch=no: ]\\] I am willing to send a patch
|][[Reported|Filed|Opened] by {who:name}[ on {day:date}|]|cc {:name}|]
[_bot: thanks! Label `{label:words needs-triage/area-ui/regression/duplicate?}` added._|]
""",
        """
title|summary|headline ; title ; Title of the report, as written
version|affected_version|found_in ; ver ; Version in which the bug was seen
component|area|module ; comp
os|operating_system|platform|environment ; os ; as written
severity|priority ; sev=critical/blocker,major/high,minor/medium,trivial/low
reproducible|reproducibility|frequency ; rep=always/every_time,sometimes/intermittent,never/once,unknown
last_good_version|regression_from|worked_in ; last ; Last version that worked, if stated
expected|expected_behaviour ; exp ; as written
actual|actual_behaviour|observed ; act ; as written
workaround ; around ; as written
data_loss|loses_data ; loss? ; Is data lost
error_code|error|code ; err
willing_to_patch|offers_patch|will_send_patch ; patch? ; Does the reporter offer a patch
reporter|reported_by ; who
reported_on|date|opened ; day
label ; label
steps|steps_to_reproduce|reproduction_steps ; steps* ; Steps to reproduce, in order
step|action|instruction ; steps.do ; as written
""",
        weight=1.3,
    ),
    Scene(
        "job",
        """
[{title:job}[ (m/f/d)| (all genders)|]
{firm:company} [—|-|,|in|·] {town:city}|{firm:company} [is looking for|seeks|needs] a {title:job}[ in {town:city}|, {town:city}|]|[Come and work|Wanted] at {firm:company}, {town:city}: {title:job}]

[We {:words pay/look after/insure/serve/train} {:count 200-9000} {:words people/customers/members/guests} and we would like to keep doing it well.|{firm} makes {:goods}.|Our small team needs another pair of hands.] [You will|Your job is to|You] {:duty}, {:duty} and {:duty}.

[The position is|It is|This is] [#type=full_time:full-time|#type=full_time:a full post of {hours:number 35-42} hours|#type=part_time:part-time ({hours:number 10-30} hours)|#type=part_time:{hours:number 15-25} hours a week|#type=temporary:limited to {months:count 3-24} months|#type=temporary:cover for a colleague on parental leave|#type=internship:an internship][, [#remote=no:on site|#remote=no:in our workshop, every day|#remote=no:and it can't be done from home|#remote=hybrid:{:count 1-3} days a week in the office, the rest wherever you like|#remote=hybrid:half of it from home if you want|#remote=full:remote, from anywhere in the country|#remote=full:and you never have to come to the office]|]. [We offer|You get|Pay:|It pays] [{lo:money 20000-60000} to {hi:money 60001-99000}[ a year|]|between {lo:money 1800-4000} and {hi:money 4001-8000} a month|{lo:money 20000-60000} – {hi:money 60001-99000} depending on experience], [plus a bonus of up to {bonus:percent}|{leave:count 20-35} days [PTO|of holiday|off]|{leave:count 20-35} days of leave and a bike].
[You bring|You need|What you need is|We ask for] [{years:count 2-10}+ years [of practice|in a similar job|]|some experience|no experience at all], [a certificate in {skill:subject}|{skill:subject}|good {lang:words English/German/Polish/Spanish/French}][; [#drive=yes:a driving licence is a must|#drive=no:a driving licence is welcome, not a must]|].

[[Apply|Applications close|Send us your papers|The closing date is|We read applications until] [by |on |]{until:date}|Apply any time, there is no deadline]. [[Reference|Quote|Job no.] {ref:code @@-####|####|@@@##}.|] [You would start on {start:date}.|Start: as soon as possible.|Start {start:date}.|] [[Questions: |Ask |Contact: ]{who:name}[, {tel:phone}|][, {mail:email}|].|]
[(The posting from spring with {:money 18000-30000} is obsolete.)|Our branch in {:city} does not belong to this position.|{firm} has been there since {:year}, with offices in {:city} and {:city}.|No agencies, please.|]
""",
        """
title|position|job_title ; title
employer|company|firm|hiring_organisation ; firm
location|city|place_of_work ; town ; Town or city
employment_type|type|hours_type ; type=full_time,part_time,temporary/fixed_term,internship/trainee
hours_per_week|weekly_hours ; hours
contract_months|duration_months ; months
remote|home_office|work_model|remote_policy ; remote=no/onsite,hybrid/partly,full/remote
salary_min|pay_from|minimum_pay ; lo ; Lower end, in the stated currency
salary_max|pay_to|maximum_pay ; hi ; Upper end
bonus_percent|bonus ; bonus
vacation_days|holiday|paid_leave_days ; leave
experience_years|years_required|minimum_experience ; years ; null if none is asked
language ; lang
driving_licence|licence_required ; drive? ; Is a driving licence a must
apply_by|deadline|closing_date ; until ; null without a deadline
reference|job_number|ref ; ref
start_date|starts ; start ; null if as soon as possible
contact|contact_person ; who
phone ; tel
email|apply_to ; mail
currency ; $
""",
        weight=1.3,
    ),
)
