"""Scenes that are mostly rows: statements of account, timetables, inventories, results, plans."""

from .scene import Scene

SCENES = (
    Scene(
        "statement",
        """
[{bank:company}
|][Statement|Account statement|Extract|Overview] [no. {no:count 1-60}|{no:code ##/20##}|][ for {who:name}|]
[Account {acct:code ##########|####-####}|IBAN {iban:iban}]
[Opening balance|Balance brought forward|Old balance] {open:money 10-9000}[ on {from:earlier 30-60}|]
[<tx 2-6:{d:earlier 1-29}  {party:company}  [#dir=out:-{a:amount 2-900}|#dir=in:+{a:amount 2-900}]>|<tx 2-6:{d:earlier 1-29} [#dir=out:to|#dir=in:from] {party:company}: {a:money 2-900}[ ({ref:words rent/salary/fee/refund/ticket/insurance/gift})|]>|<tx 2-5:[#dir=out:paid|#dir=in:received] {a:money 2-900}, {party:name}, {d:earlier 1-29}>]
[Closing balance|New balance|Balance] {close:money 10-9000}[ as of {day:today}|]
[Interest {rate:percent}.|Overdraft limit {lim:money 100-3000}.|Next statement {next:later 10-40}.|]
""",
        """
bank ; bank
statement_number|number ; no
holder|account_holder ; who
account|account_number ; acct
iban ; iban
opening_balance|balance_before ; open
period_from|from ; from
closing_balance|balance_after ; close
statement_date|date ; day
currency ; $
interest_percent ; rate
overdraft_limit ; lim
next_statement ; next
transactions|bookings|entries ; tx* ; in order
date|booked_on ; tx.d
counterparty|party|name ; tx.party
amount|sum ; tx.a ; as a positive number
direction|type ; tx.dir=out/debit,in/credit
purpose|text ; tx.ref
""",
    ),
    Scene(
        "timetable",
        """
[{what:subject} [course|series|workshop]|Timetable {what:title}|Programme of the week|Dates for {group:words juniors/beginners/the choir/the board/group B}]
[{place:place}[, {town:city}|]|]
[<slots 2-6:{d:date} {t:time} {title:subject}[ ({who:name})|]>|<slots 2-6:- {t:time} {title:subject} [with|by] {who:name}[, {where:room}|]>|<slots 2-5:{t:time}-{u:time} | {title:subject} | {who:name} | {where:room}>|<slots 2-5:{title:subject}: {d:date}, {t:time}>]
[[Fee|Cost|Price]: {fee:money 10-400}[ for all, {one:money 4-40} a day|]|Free of charge.] [Bring {bring:goods}.|] [#reg=yes:Please register with {mail:email}.|#reg=no:No need to register.|] [Break at {brk:time}.|] [No meeting on {none:date}.|]
""",
        """
title|course|series|topic ; what
group|for ; group
place|venue ; place
city ; town
fee|price|price_series ; fee
price_single|per_day ; one
bring ; bring
registration_required ; reg?
email ; mail
break_at ; brk
no_meeting_on|cancelled_on ; none
sessions|dates|slots|programme ; slots* ; in order
date|day ; slots.d
start|time|starts_at ; slots.t
end|until ; slots.u
title|topic|what ; slots.title ; as written
speaker|with|teacher|leader ; slots.who
room|where ; slots.where
""",
    ),
    Scene(
        "inventory",
        """
[Inventory|Stock list|Order sheet|Packing list|Shopping list|Material] [of {day:today}|{day:today}|][, {place:place}|][, checked by {who:name}|]
[<rows 3-8:{n:count 1-400} {what:goods}[ – {note:words ok/missing/damaged/to be ordered/borrowed/in the cellar}|]>|<rows 3-8:{what:goods} | {n:count 0-400} | {unit:words pcs/kg/m/boxes/l} | {p:amount 1-300}>|<rows 3-7:- {what:material} ({n:count 1-90} {unit:words kg/l/m/bags})>|<rows 2-6:{code:code ##-###|@###} {what:goods}, {n:count 1-90} pcs[, shelf {shelf:code @#|##}|]>|<rows 2-5, :{n:count 2-40} {what:goods}>]
[Total value {total:money 100-9000}|Sum {total:money 100-9000}|] [Next count {next:later 20-300}.|] [#full=yes:Nothing is missing.|#full=no:Some things are missing.|#full=no:Not complete.|]
""",
        """
date|counted_on ; day
place|location ; place
checked_by|person ; who
total|total_value ; total
next_count ; next
complete|is_complete ; full?
items|articles|goods|lines ; rows* ; in order
quantity|number|count|pieces ; rows.n
name|item|article|what ; rows.what ; as written
unit ; rows.unit
price|value ; rows.p
note|state|remark ; rows.note
code|article_number ; rows.code
shelf ; rows.shelf
""",
    ),
    Scene(
        "results",
        """
[{event:title}[, {town:city}|]|{event:subject} – results|Results of the [vote|race|test|election][ in {town:city}|]] [{day:date}|]
[<rank 2-6:{pos:count 1-20}. {who:name}[, {club:company}|]  {val:number 1-300 1}[ [points|s|m|kg]|]>|<rank 2-6:{who:name}: {votes:count 20-9000} votes ({pct:number 1-70 1} %)>|<rank 2-5:{who:name} ({club:city}) {val:number 10-300 2}>|<rank 2-5:{who:name} - [#res=pass:passed|#res=pass:cleared it|#res=fail:failed|#res=fail:did not make it], {pts:count 10-100} points>]
[Turnout {turn:number 20-95 1} %.|{entered:count 10-900} took part.|] [Winner: {win:name}.|] [#rec=yes:The votes will be counted again.|#rec=yes:A new record!|#rec=no:] [{judge:name} was the judge.|]
""",
        """
event|title|competition ; event
city|place|constituency ; town
date ; day
turnout_percent|turnout ; turn
participants|entrants ; entered
winner ; win
recount_or_record|remarkable ; rec?
judge ; judge
results|ranking|candidates ; rank* ; in order
rank|position ; rank.pos
name|candidate|athlete ; rank.who
club|team|from ; rank.club
value|result|mark ; rank.val
votes ; rank.votes
percent|share ; rank.pct
passed|outcome ; rank.res=pass/passed,fail/failed
points|score ; rank.pts
""",
    ),
    Scene(
        "plan",
        """
[Project|Plan|Roadmap|Status of] {name:title}[, {day:today}|]
[Client: {client:company}[ ({cp:name})|]
|][Lead: {lead:name}
|Led by {lead:name}
|]
[<steps 2-5:{what:duty} - {by:later 5-200} - [#st=done:done|#st=done:finished|#st=open:not begun|#st=open:still to do|#st=run:under way|#st=run:half finished][ ({who:name})|]>|<steps 2-5:{by:later 5-200}: {what:duty}>|<steps 2-4:* {what:duty}, {who:name}, {h:count 2-90} h>|<steps 2-4, then :{what:duty} by {by:later 5-200}>]
[Risks|What may go wrong|Worries]: <risks 1-3; :{risk:clause} ([#lv=high:that would hurt|#lv=high:serious|#lv=low:unlikely|#lv=low:hardly matters|#lv=medium:medium])>
[Budget {bud:money 1000-90000}, spent so far {spent:money 100-900}.|Budget: {bud:money 1000-90000}.|] [#go=yes:We can start.|#go=no:Open: {open:duty}.|#go=no:Not released yet.|]
""",
        """
project|name ; name
date ; day
client|customer ; client
client_contact ; cp
lead|project_manager ; lead
budget ; bud
spent ; spent
currency ; $
approved|can_start ; go?
open_decision|open ; open ; as written
milestones|steps|tasks ; steps* ; in order
task|name|what ; steps.what ; as written
due|by|date ; steps.by
status|state ; steps.st=done/finished,open/not_started,run/in_progress
owner|who|responsible ; steps.who
hours|effort_hours ; steps.h
risks ; risks* ; in order
risk|text ; risks.risk ; as written
rating|level ; risks.lv=high,medium,low
""",
    ),
)
