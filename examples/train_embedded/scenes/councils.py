"""Scenes: minutes: stand-ups, boards and tenants, and calls that somebody sums up in a mail."""

from .scene import Scene

_TASK = "update the risk list/send the slides/book the hall/talk to the landlord/get a second quote/order new badges/write the press release/check the insurance/fix the sign-up form/draft the budget/call the caterer/review the contract/prepare the workshop/test the backup/repaint the railings/translate the flyer/clear the cellar/publish the figures/invite the speakers/renew the licence/compare three suppliers/clean up the mailing list/measure the noise/install the new lock/plan the summer party/collect the keys/count the votes/file the complaint/reply to the council/buy a defibrillator"

SCENES = (
    Scene(
        "minutes",
        f"""
[Daily|Stand-up|Standup notes|Team sync|Weekly round][ {{team:words Platform/Billing/Growth/Mobile/Search/Logistics/Data/Support/Web}}|, team {{team:words Atlas/Otter/Blue/Kiwi/Nordlicht/Zebra/Falcon}}|] [– |- |, |]{{day:today}}[ {{at:time 8-11}}|]
[Facilitator|Moderation|Led by|Host][:|] {{chair:name}}[, notes {{clerk:name}}|]

<people 2-5:[- |* |]{{who:name}}: [[done|yesterday|finished][:|] {{done:words {_TASK}}}; |][[today|next|now][:|] {{next:words {_TASK}}}][|#blocked=no:; no blockers|#blocked=no:; all clear|#blocked=no:; nothing in the way|#blocked=yes:; waiting for {{wait:words access rights/a reply from legal/the new laptop/design feedback/the vendor/test data/a signature}}|#blocked=yes:; stuck until {{wait:words the database is back/the supplier answers/the certificate arrives/finance agrees/QA is done}}|#blocked=yes:; can't go on without {{wait:words the password/the drawings/a decision/a second pair of hands}}]>

[[Off|Out|Absent|On holiday][:|] {{off:name}}[ (back {{back:later 1-14}})|]
|][Decided|Agreed|Decision][:|] [we {{dec:words ship on Thursday/drop the old endpoint/pair on reviews/postpone the demo/freeze the code/move stand-up to 9:15/pay for the bigger plan/stop weekend releases}}[ (proposed by {{prop:name}})|]|to {{dec:words keep two environments/skip Friday's call/ask users first/rewrite the importer/roll back the change}}].
[Release [{{ver:code #.#.#|v#.##|20##.#}}|{{ver:code #.#|R##}}] [is planned for|goes out on|moved to] {{rel:later 1-30}}[ (was {{:later 1-30}})|].|]
[#risk=red:[We won't make it without help, says {{chair.given}}.|The date can't be kept any more.|Everyone agrees: this is going wrong.]|#risk=amber:[It's going to be tight.|If nothing else breaks we'll be all right.|Some doubts about the date.]|#risk=green:[Everything is going to plan.|No worries about the date.|We're even a day ahead.]||] [Next [one|sync]: {{nextday:later 1-8}}[ {{nextat:time 8-11}}|].|]
""",
        """
team|team_name|squad ; team
date|meeting_date|day ; day
time|start|started_at ; at
facilitator|moderator|host|chair ; chair
note_taker|notes_by ; clerk
absent|on_leave|out_of_office ; off
back_on|returns|absent_until ; back
decision|decided|agreement ; dec ; as written, without 'to' or 'we'
proposed_by|decision_by ; prop
version|release|release_version ; ver
release_date|release_planned|ships_on ; rel ; The date that holds now
status|traffic_light|project_status|health ; risk=red/off_track,amber/yellow/at_risk,green/on_track ; How the team sees its plan
next_meeting|next_date ; nextday
next_time ; nextat
updates|participants|reports|members ; people* ; In order
name|member|who|person ; people.who
done|yesterday|completed ; people.done ; as written; null if nothing is said
next|today|plan|working_on ; people.next ; as written
blocked|has_blocker|is_blocked ; people.blocked?
blocker|waiting_for|blocked_by ; people.wait ; as written
""",
    ),
    Scene(
        "minutes",
        f"""
[MINUTES|Minutes of the {{no:code ##|###|#}}. meeting|Protocol no. {{no:code ##|##/##|###}}] [of the|-] {{body:words Tenants' Association Birkenhof/Board of Friends of the Library/Sailing Club Committee/Owners of Mill Lane 4/Museum Trustees/Parents' Council/Cooperative Bakery/Village Hall Trust/Cycling Alliance/Food Bank/Health Centre Staff/Dance School Parents}}
[Held [on|]|Date:] {{day:today}}[, {{open:time 9-20}}[ to {{close:time 20-23}}| - {{close:time 20-23}}|]|] [at|in] [the |]{{place:place}}
[In the chair|Chair|Chairperson|Presiding][:|] {{chair:name}}[ ({{:name}} being ill)|]
[In attendance|Attending|Present][:|] <att 2-6, :{{who:name}}[ ({{job:words treasurer/secretary/vice-chair/youth officer/guest/auditor/caretaker}})|]>
[[Apologies|Sent apologies|Not present][:|] {{absent:list name 1-3}}
|]
1. [#kept=yes:Minutes of {{prev:earlier 20-90}} [were approved as they are|approved without changes|accepted as sent].|#kept=no:Approval of the last minutes ({{prev:earlier 20-90}}): corrected in point {{:count 2-6}}.|#kept=no:Minutes of {{prev:earlier 20-90}} accepted, with the name of {{:name}} corrected.|Minutes of {{prev:earlier 20-90}} read.]
2. [Finance|Treasurer's report|Accounts]: [balance|the account holds|in hand] {{cash:money 300-60000}}[ ({{:money 300-60000}} a year ago)|]; [{{due:money 20-900}} [of fees outstanding|still unpaid|overdue]|all fees paid].
3. {{topic:words New roof/Playground/Parking rules/Summer festival/Heating costs/Website/Dogs on the lawn/Lift repair/Membership fees/Solar panels/Noise at night/Opening hours}}. [{{sp:name}} [explained|presented|put forward] [two offers|the plans|the numbers]. |][#v=yes:[Carried {{pro:number 4-20 0}} to {{con:number 0-3 0}}|{{pro:number 4-20 0}} hands up, {{con:number 0-3 0}} against: it will be done|All but {{con:number 1-3 0}} said yes|Accepted by a clear majority]|#v=no:[Lost, {{pro:number 0-3 0}} to {{con:number 4-20 0}}|Only {{pro:number 1-3 0}} could warm to it; off the agenda for good|The room said no by {{con:number 5-20 0}} to {{pro:number 0-4 0}}]|#v=later:[No vote was taken, it comes back next time|Put off until the offers are in|Left open, {{:name}} will ask around first]]. [Costs: [up to |]{{cost:money 100-20000}}[, from {{fund:words reserves/the repair fund/donations/a levy/a grant/next year's budget}}|].|]
[4. [AOB|Any other business|Sundries]: {{:clause}}.|]

[Action items|Who does what|Follow-up|Tasks]
[\\| Task \\| Owner \\| Due \\|
<todo 1-5:\\| {{task:words {_TASK}}} \\| {{who:name}} \\| [{{by:later 2-60}}|-|open|tbd] \\|>|<todo 1-4:[->|•|☐] {{who:name}} [will|to|is going to] {{task:words {_TASK}}}[ by {{by:later 2-60}}| before {{by:later 2-60}}|]>|<todo 1-4:{{task:words {_TASK}}}: {{who:name}}[ until {{by:later 2-60}}|, no hurry|]>]

[Next meeting|We meet again|Next][:|] [{{next:later 10-90}}[, {{nextat:time 16-20}}|][, {{nextplace:place}}|]|date to follow]. [Meeting closed at {{close:time 20-23}}.|] [Signed|Minutes by|For the minutes][:|] {{clerk:name}}
""",
        """
body|organisation|committee|group ; body
meeting_number|number|protocol_number ; no
date|meeting_date|held_on ; day
start_time|opened|begins_at ; open
end_time|closed|closed_at ; close
venue|place|location ; place
chair|chairperson|chaired_by ; chair ; Who was in the chair
apologies|absent|not_present ; absent ; in order
previous_meeting|last_meeting|previous_minutes_date ; prev
previous_minutes_unchanged|minutes_accepted_unchanged ; kept?
balance|cash|account_balance ; cash ; Balance now
outstanding|unpaid_fees|arrears ; due ; null if all is paid
topic|main_topic|motion|proposal ; topic ; Topic of item 3
speaker|presented_by|introduced_by ; sp
decision|outcome|vote_result|result ; v=yes/approved/accepted,no/rejected,later/deferred/postponed ; What was decided on it
votes_for|for|in_favour ; pro ; null without a number
votes_against|against ; con ; null without a number
cost|approved_cost|cost_limit ; cost
paid_from|funded_by|source_of_money ; fund
next_meeting|next_date ; next ; null if not fixed
next_time ; nextat
next_place|next_venue ; nextplace
minute_taker|secretary|minutes_by ; clerk
currency ; $
attendees|present|participants ; att* ; In order
name|person ; att.who
role|office ; att.job ; null if none is given
actions|action_items|tasks|todos ; todo* ; In order
task|action|what ; todo.task ; as written
owner|assignee|responsible|who ; todo.who
due|due_date|deadline ; todo.by ; null if no day is given
""",
        weight=2.0,
    ),
    Scene(
        "minutes",
        f"""
[Subject: [Summary|Recap|Notes|Our call] {{topic:subject}}
|]From: {{clerk:name}}[ \\<{{mail:email}}>|]
[To: {{a:name}}, {{b:name}}[, {{c:name}}|]
|]
[Hi all,|Dear both,|Team,|Hello,]

[thanks for your time [on {{day:earlier 0-4}}|this morning|on {{day:earlier 0-4}} at {{at:time 8-18}}].|a short recap of [{{day:earlier 0-4}}|our call of {{day:earlier 0-4}}].|here's what I wrote down on {{day:earlier 0-4}}:] [{{d:name}} couldn't make it.|{{d:name}} dropped out after {{:duration}}.|] [We spoke for {{len:duration}}.|]

[We will go with {{win:company}}|The order goes to {{win:company}}|{{win:company}} it is], [not|instead of] {{lose:company}}[, mainly because of the {{why:words price/delivery time/references/service/colour/guarantee}}|]. [The price is now {{price:money 200-40000}}[ instead of {{:money 300-50000}}|].|Budget: {{price:money 200-40000}}[, not a cent more|].|] [Start|We begin|Kick-off][:|] {{start:later 3-60}}[, finished by {{fin:later 90-300}}|]. [#mode=remote:[All of it by video.|Nobody has to travel.|We'll do everything over the wire.]|#mode=onsite:[Everybody comes to {{site:city}}.|It takes place in your rooms in {{site:city}}.|They will sit with us in {{site:city}}.]|#mode=mixed:[The first day in {{site:city}}, the rest by video.|Half of it here, half from home.]||]

[Open questions|Still to be settled|Not decided yet]: {{open1:words who signs/which room/the logo/data protection/how many licences/parking/the catering}}[ and {{open2:words the holiday cover/the invoice address/a backup date/insurance/the wording/who pays for travel}}|]. [{{x:name}} has doubts about the {{doubt:words schedule/numbers/location/contract/tool}}.|]
[Please note:|To do:|From me to you:] <todo 1-4; :{{who:name}}: {{task:words {_TASK}}}[ ({{by:later 1-30}})| by {{by:later 1-30}}|]>.
[#agree=yes:[All of you nodded, so I take this as final.|No objections were raised.|We were of one mind.]|#agree=no:[{{x2:name}} does not agree and will write separately.|There was no common line in the end.|We part with different opinions.]|] [Shout if I got something wrong.|Corrections to me, please.|] [Next call {{next:later 3-30}}[ at {{nextat:time 8-18}}|].|]

[Best|Cheers|Regards|Thanks]
{{clerk.given}}
""",
        """
topic|subject|about ; topic
author|sender|written_by|minute_taker ; clerk
sender_email|email ; mail
recipients|attendees|participants ; a+b+c ; in order
date|meeting_date|call_date ; day
time ; at
absent|missing|not_there ; d
duration|length ; len
chosen_supplier|supplier|selected|awarded_to ; win
rejected_supplier|declined|other_bidder ; lose
reason|decisive_factor|because_of ; why
price|budget|agreed_price ; price ; The price that holds now
start_date|kick_off|begins ; start
end_date|finished_by|deadline ; fin
work_mode|where|format ; mode=remote/video,onsite/on_site/in_person,mixed/hybrid
site|city|location ; site
open_points|open_questions|unresolved ; open1+open2 ; in order, as written
sceptic|doubts_by|concerned ; x
doubt|concern ; doubt
consensus|all_agreed|agreement ; agree? ; Did everyone agree in the end
next_meeting|next_call ; next
next_time ; nextat
currency ; $
action_items|tasks|todos|actions ; todo* ; In order
person|owner|who|assignee ; todo.who
task|what|action ; todo.task ; as written
due|by|deadline ; todo.by ; null if none
""",
    ),
)
