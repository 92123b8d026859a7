"""Scenes: meetings of clubs, parents, owners, crews and projects: votes, offices, risks, goals, fees, and how it went."""

from .scene import Scene

_MOTION = "raise the subscription/buy a second boat/change the statutes/dismiss the caretaker/paint the stairwell/join the umbrella association/close the bar at ten/sell the old tractor/admit guests/fell the two limes/install bicycle racks/move the fête to June"
_RISK = "supplier goes under/key person leaves/permit comes late/data migration slips/budget frozen/ground water/test rig not ready/translation missing/two releases collide/steel price"

SCENES = (
    Scene(
        "minutes",
        """
[{club:words Rowing Club/Choral Society/Allotment Society/Ski Club/Theatre Guild/Fire Brigade Fund/Chess Circle} {town:city}|{club:words Rowing Club/Choral Society/Allotment Society/Ski Club/Theatre Guild}]: [annual general meeting|minutes of the AGM|general meeting {yr:year}]
{day:today}, {at:time 17-20}, {where:place}

[Present|There]: {pres:spelled 11-90} [of|out of] {tot:number 91-300 0} members[ ({prox:spelled 1-9} by proxy)|]. [Chair[:|] {chair:name}|{chair:name} presided]; [minutes|pen][:|] {clerk:name}. [#quo=yes:[We had a quorum.|Enough people for valid votes.]|#quo=no:[Too few for a quorum: nothing could be decided.|The quorum was missed by {:count 1-9}.]|]

1. [Last year's minutes|Minutes of {:earlier 300-400}] [#min=yes:[accepted|waved through|approved without comment]|#min=no:[not accepted: the treasurer's figures were wrong|sent back]].
2. [Money: |Treasurer {tr:name}: |]balance {bal:money 200-40000}[ (a year ago {balo:money 200-40000})|]. [Auditors|The auditors] [#aud=yes:[found everything in order|proposed discharge, granted]|#aud=no:[found receipts missing|withhold their blessing]].
3. [Subscription|Fee]: [from|until now] {fo:money 10-90}[,| to| now] {fn:money 91-240}[ a year|], [from|valid from] {from:later 20-300}. [Voted|Vote][:|] {y:count 10-60} [for|yes], {n:count 0-9} [against|no], {a:count 0-9} [abstained|abstentions].
4. Elected[:|] <o 2-5, :{who:name} ([#of=chair:chair|#of=chair:president|#of=treasurer:purse|#of=treasurer:treasurer|#of=secretary:secretary|#of=secretary:pen|#of=member:assessor|#of=member:without portfolio])>.
5. [Any other business|Sundries]: {aob:duty} ({own:name}, [by|until] {by:later 10-90}).
[Closed|End|Lights out] {end:time 20-23}. [The mood: |Afterwards: |][#mood=good:[songs were sung|we laughed a lot|people stayed for hours]|#mood=tense:[two members left slamming the door|much shouting about parking|icy silence]|#mood=calm:[short and factual|no excitement]|].[ Next: {next:later 200-380}.|]
""",
        """
club|organisation|association ; club
city|town ; town
date|held_on ; day
start|begin|started_at ; at
end|closed_at ; end
venue|place|location ; where
present|attendance|people_there ; pres ; In person or by proxy
total_members|membership|all_members ; tot
proxies ; prox
chair|chaired_by ; chair
minute_taker|minutes_by|secretary ; clerk
quorum|quorate|valid_votes ; quo?
minutes_approved|previous_minutes_accepted ; min?
treasurer ; tr
balance|funds ; bal ; At present
balance_previous_year|previous_balance ; balo
accounts_approved|audit_passed ; aud?
previous_subscription|subscription_so_far ; fo
subscription|subscription_from_now ; fn
fee_valid_from|new_fee_from ; from
votes_for|yes_votes ; y
votes_against|no_votes ; n
abstentions ; a
task|action|other_business ; aob
responsible|assigned_to ; own
task_due|due_by ; by
atmosphere|how_it_went ; mood=good/cheerful,tense/heated,calm/neutral
next_meeting ; next
elected|officers ; o*
name|person ; o.who
elected_as|position ; o.of=chair/chairperson/president,treasurer,secretary/clerk,member/assessor
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "minutes",
        f"""
[Protokoll|Record] of the [owners'|flat owners'|tenants'] meeting, {{street:street}}[, {{day:today}}|]
[administrator|managed by|Verwalter]: {{firm:company}} ({{adm:name}})[; {{sh:number 400-990 0}} of 1,000 shares [present|represented]|]

<m 2-4:[Motion|Item|TOP] {{no:count 1-14}}[:| –] {{what:words {_MOTION}}}[ (put by {{by:name}})|] – [#r=carried:[carried|so decided|through]|#r=rejected:[fell|rejected|no majority]|#r=postponed:[put off to the next meeting|tabled|more offers needed first]|#r=withdrawn:[withdrawn|taken back by the mover]][, {{yes:count 3-40}}:{{nay:count 0-20}}|, {{yes:count 3-40}} for, {{nay:count 0-20}} against[, {{ab:count 1-6}} abstaining|]|, unanimous|]>

[Special levy|Extra payment][:|] [{{levy:money 100-4000}} per flat, due {{due:later 20-90}}|none]. [Reserve|Reserve fund][:|] {{res:money 2000-90000}}.
[#legal=yes:[{{obj:name}} announces that a court will hear of this.|{{obj:name}} wants it noted that the invitation came late and will contest.]|#legal=no:[No objections were noted.|Nobody objected.]|]
[Signed|Read and approved][:|] {{s1:name}}[, {{s2:name}}|]
""",
        """
building|address|property ; street
date|meeting_date ; day
management_company|administrator ; firm
administrator_contact|represented_by ; adm
shares_present ; sh
special_levy|levy_per_flat|extra_payment ; levy ; null if none
levy_due|levy_due_on ; due
reserve|reserve_fund ; res
contested|objection_announced ; legal?
objector|contested_by ; obj
signed_by|signatory ; s1
motions|resolutions|decisions ; m* ; In order
number|item ; m.no
motion|subject|text ; m.what
proposer|moved_by ; m.by
result|outcome|decision ; m.r=carried/accepted/adopted,rejected/failed,postponed/deferred,withdrawn
votes_for|yes ; m.yes ; null where no figures are given
votes_against|no ; m.nay
abstentions ; m.ab
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "minutes",
        f"""
[*|#|] [Project|Stream] {{proj:words Albatross/New Till/Depot West/Paperless/Quay 4/Moonshine/Heat Plan}} — [weekly|status|steering], [CW {{cw:count 1-52}}|{{day:today}}][, {{dur:count 15-90}} min[ instead of {{:count 15-60}}|]|]
[here|present|on the call]: <who 2-5, :{{p:name}}>[; [missing|excused]: {{ab:name}}|]

[done|green|finished]: {{pct:count 5-98}} %[ (plan {{plan:count 5-99}} %)|], spent {{spent:money 900-90000}} of {{bud:money 1000-200000}}
[light|overall]: [#amp=green:[all good|green, no worries|on track]|#amp=amber:[watch it|amber|a bit shaky]|#amp=red:[in trouble|red, escalated to {{esc:name}}|milestone will be missed]]
[go-live|delivery|handover]: {{old:later 10-80}} [→|moved to|becomes] {{new:later 90-200}}
[risks|worries]:
<r 1-4:[R|#]{{rn:count 1-30}} {{risk:words {_RISK}}} [/|–|:] [p|prob|likelihood] [#pr=low:low|#pr=low:unlikely|#pr=medium:medium|#pr=medium:50/50|#pr=high:high|#pr=high:almost certain], [cost|impact] {{cost:money 100-40000}}[, {{ro:name}} [watches|owns] it|]>
[todo|actions]:
<t 1-4:[- |\\[ \\] |* ]{{what:duty}} [@|→ |– ]{{own:name}}[, {{due:later 1-30}}|]>
[next|again]: {{next:later 5-14}} {{nt:time 8-17}}
""",
        """
project|stream ; proj
date|meeting_date ; day
calendar_week|week ; cw
duration_minutes|length_min ; dur
absent|excused ; ab
progress_percent|percent_done|completed ; pct ; Actual, not planned
planned_percent ; plan
spent|cost_to_date ; spent
budget ; bud
overall_status|traffic_light|health ; amp=green/on_track,amber/yellow/at_risk,red/off_track
escalated_to ; esc
old_date|previous_go_live ; old
new_date|go_live|delivery_date ; new ; The date that is valid now
next_meeting|next_date ; next
next_meeting_time ; nt
attendees|present|participants ; who*
name ; who.p
risks ; r*
risk_number|id ; r.rn
description|risk ; r.risk
probability|likelihood ; r.pr=low,medium,high
cost|impact ; r.cost
owner ; r.ro
actions|todos|tasks ; t* ; In order
task|what ; t.what
assignee|owner ; t.own
due|due_date ; t.due
""",
        weight=1.5,
    ),
    Scene(
        "minutes",
        """
[Parents' evening|Class council|School conference], [class|form] {cls:words 5b/7c/Year 9/2a/10d}[, {day:today}|][, {room:room}|]
[{tea:name} (class teacher)|Class teacher {tea:name}] [welcomed|greeted] {par:spelled 6-30} parents[; {fam:spelled 2-9} families had sent word|].

[The trip|This year's trip] goes to {dest:city}, {beg:later 30-120}[, {n:spelled 2-6} nights|][, by {by:words coach/train/ferry/bicycle}|]. [It costs|Price per child] {cost:money 60-420}[, [of which|a deposit of] {dep:money 20-60} by {depd:later 5-28}|]. [Who cannot pay, please turn to {help:name} in confidence.|]
[Phones[:|] [#ph=banned:[in the bag from the first to the last bell|not at all, said {vote:count 10-25} of those present]|#ph=allowed:[no new rules|may stay on the desk]|#ph=breaks:[only between lessons|in the break, nowhere else]].
|][Elected as [spokesperson|representative]: {rep:name}[ ({rv:count 4-20} votes), [deputy|stand-in] {dep2:name}|].
|][Marks: [the class average in {sub:words maths/English/biology/French/history} is {avg:number 2-4 1}|{sub:words maths/English/biology/French/history} went badly, average {avg:number 3-5 1}][, before {:number 1-3 1}|].
|][Complaint[:|] {comp:words too much homework/the canteen is too loud/mould in the changing room/two tests on one day/the bus is always late}. [#act=yes:[{tea.family} takes it up with the head.|Will be raised on Monday.]|#act=no:[Nothing can be done for now.|Out of the school's hands.]]
|][Ended {end:time 19-22}|Over at {end:time 19-22}].[ Written down by {clerk:name}.|]
""",
        """
class|form|group ; cls
date ; day
room ; room
teacher|class_teacher ; tea
parents_present|number_of_parents ; par
families_excused|excused ; fam
destination|trip_to|trip_destination ; dest
trip_start|departure ; beg
nights ; n
transport|means_of_transport ; by
trip_cost|price_per_child|cost ; cost
deposit ; dep
deposit_due|deposit_by ; depd
confidential_contact|help_contact ; help
phone_rule|phones ; ph=banned/forbidden/not_allowed,allowed,breaks/breaks_only/partly
representative|elected|spokesperson ; rep
votes_for_representative ; rv
deputy ; dep2
subject ; sub
class_average|average_mark ; avg
complaint ; comp
complaint_followed_up|will_be_raised ; act?
ended_at|end_time ; end
minutes_by|written_by ; clerk
currency ; $
""",
    ),
    Scene(
        "minutes",
        """
[Subject: [short minutes|what we agreed|notes from {wd:words Monday/Tuesday/this morning/the call}]
|][Dear all,|Hi everyone,|Team,]

[as {abs:name} asked me to write it down|so that {abs:name}, who couldn't be there, knows]: [we|the five of us] {dec:words keep the old logo/move to the second floor/cancel the fair in Lyon/hire one more tester/stop the Tuesday delivery/raise prices by four percent/switch to the Danish supplier}[, [starting|as of] {from:later 5-60}|]. [{pro:name} argued for it[ (because {why:reason})|], {con:name} was against|{con:name} would rather have waited][, in the end|] [#how=vote:[it went {y:count 3-9} to {n:count 1-2}|hands were raised, {y:count 3-9} for and {n:count 1-2} against]|#how=consensus:[everybody could live with it|nobody objected]|#how=boss:[{boss:name} had the last word|{boss:name} simply decided]].
[The idea to {rej:duty} [is off the table|was dropped|didn't fly].|] [{own:name}, please {task:duty}[ by {due:later 2-30}|]. ][{own2:name} [will|promised to] {task2:duty}[ before {due2:later 2-40}|].|]
[Cost: [about |]{cost:money 100-9000}, [#ap=yes:[already signed off|{boss2:name} has agreed]|#ap=no:[still to be approved|waiting for {boss2:name}'s yes]].|] [It took {min:count 20-180} minutes, [far too long|sorry for that].|]
[Cheers|Best|Yours], {me:name}
""",
        """
decision|decided|what_was_decided ; dec ; as written
effective_from|starts_on ; from
absent|absentee|could_not_attend ; abs
in_favour|proponent|argued_for ; pro
against|opponent ; con
reason ; why
decided_by|decision_mode|how_decided ; how=vote/majority,consensus/unanimous,boss/executive/management
votes_for ; y
votes_against ; n
rejected_idea|dropped|rejected_proposal ; rej
first_owner|owner|responsible ; own
first_task|task|action ; task
first_due|due ; due
second_owner ; own2
second_task ; task2
second_due ; due2
cost|estimated_cost ; cost
cost_approved|budget_approved|approved ; ap?
approver ; boss2
duration_minutes|length_minutes ; min
author|written_by|minutes_by ; me
currency ; $
""",
    ),
)
