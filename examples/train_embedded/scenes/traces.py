"""Scenes: software: stack traces, flaky tests, release notes, outage reports, support threads with a history of states."""

from .scene import Scene

_APP = "ledgerd/Paperclip/tidecast/Kiosk/Brontide/queue-runner/Mosaic Sync/authgate/Fernblick/snapdeck"
_FN = "load_config/parseRow/flush/render_page/on_message/resolve/commit/readHeader/compute_tax/join_room/apply_patch"
_FILE = "io.py/net.rs/views.ts/cache.go/tax.py/Table.tsx/index.kt/parser.c/sync.rb/Main.java/report.php/queue.ex"

SCENES = (
    Scene(
        "bug",
        f"""
[{{app:words {_APP}}} {{ver:code #.#.#|#.##}}[ crashes| dies| falls over] [on start|at night|under load|when idle]|Crash report: {{app:words {_APP}}} {{ver:code #.#.#|#.##}}]
[Build {{build:code ####|@#@#@#}}[, |]|][{{os:words Debian 12/Windows Server 2022/macOS 14.6/Alpine 3.20/RHEL 9}}, |][{{mem:number 2-128 0}} GB RAM, |]{{day:today}}[ {{at:time 0-23}}|]

[```|---]
[Traceback (innermost last)|stack backtrace|Exception in thread "{{th:words main/worker-3/io-1/timer}}"]
<f 2-5:  [at |#{{lvl:count 0-9}} |]{{fn:words {_FN}}} ({{file:words {_FILE}}}:{{ln:number 4-980 0}})>
{{err:words TimeoutError/NullPointerException/panic/KeyError/SIGSEGV/OutOfMemory/DeadlockDetected/StackOverflow}}: {{msg:words lock not released/index 7 out of bounds/missing field "vat"/connection reset by peer/cannot allocate 2 GiB/unexpected end of file/division by zero}}
[```|---]

[It failed {{k:number 1-9 0}} times out of {{n:number 10-200 0}}|{{k:number 1-9 0}} of {{n:number 10-200 0}} runs go wrong|Happens in {{k:number 1-9 0}} of {{n:number 10-200 0}} attempts][; with {{alt:words one thread/the cache off/IPv4 only/a smaller file/the old driver}} never|].
[#log=yes:[The full log is attached.|See core.gz below.|I've uploaded the dump.]|#log=no:[I can't share the log, customer data.|No log, the disk was full.]|] [Bisected to {{sha:code @#@##@#|#@#@@##}}.|Introduced in {{since:code #.#.#|#.##}}, I think.|] [Fixed in {{fix:code #.#.#|#.##}}[, out since {{fd:earlier 1-20}}|].|No fix so far.|] [@{{mnt:words kilo/ferro/mona/dtx/oskarb}} can you have a look?|]
[#sev=high:[Every customer is affected.|We're losing orders by the minute.|The whole line stands still.]|#sev=low:[I can restart it, so no panic.|Ugly, but harmless.]|#sev=medium:[Annoying for the night shift.|It costs us an hour or so a week.]]
""",
        """
application|program|component ; app
version|affected_version ; ver
build|build_number ; build
os|operating_system|platform ; os
memory_gb|ram_gb ; mem
reported_on|date ; day
time|crash_time ; at
thread ; th
error|exception|error_type ; err
message|error_message ; msg
failed_runs|times_failed ; k
runs|attempts ; n
works_with|workaround|never_with ; alt
has_log|logs_provided ; log?
commit|bisected_to|culprit ; sha
introduced_in|since_version ; since
fixed_in|fix_version ; fix ; null if there is no fix
fixed_on ; fd
maintainer|assigned|mentioned ; mnt
severity|priority|impact ; sev=high/critical,medium/moderate,low/minor
stack|stack_trace ; f* ; In order of the trace
function|symbol ; f.fn
file|path ; f.file
line_number|at_line ; f.ln
""",
        weight=1.5,
    ),
    Scene(
        "bug",
        f"""
## [{{app:words {_APP}}} |]{{ver:code #.#.#|#.##}} ({{day:today}})
[{{sum:words Mostly repairs./A small release./The long awaited one./Security release, please upgrade./Nothing exciting inside.}}
|]
[### Fixed|**Bugs**|Repaired:]
<b 2-5:[- |* ]{{what:words totals are rounded once/names with accents are found again/the tray icon survives sleep/imports keep their order/no more double mails/dark mode in dialogs/CSV with semicolons/printing on A5/time zones in reminders}} [(#{{no:code ###|####}}[, thanks {{by:words mira/tobias/le-chat/nn5/olga/sven-h}}|])|#{{no:code ###|####}}]>
[### [Breaking|Watch out]
{{brk:words Python 3.9 is gone/the config moves to TOML/the old API answers 410/tokens must be renewed/plugins need a rebuild}}[ ([migration|see] {{doc:url}})|]
|][Needs [at least|] {{dep:words PostgreSQL 14/glibc 2.31/Node 20/Java 17/CUDA 12/Redis 7}}.|] [#sec=yes:[Closes CVE-20{{cve:code ##-#####|##-####}}.|One hole plugged: CVE-20{{cve:code ##-#####|##-####}}.]|#sec=no:No security fixes.|] [Size {{size:measure 2-400 MB}}[ (was {{:measure 2-400 MB}})|].|] [Next: {{next:code #.#.0|#.##}} [in |around ]{{nd:later 20-120}}.|] [Support for {{old:code #.#|#.##}} ends {{eol:later 30-300}}.|]
""",
        """
application|program ; app
version|release ; ver
released_on|release_date|date ; day
breaking_change|breaking ; brk ; null if there is none
migration_guide ; doc
requires|minimum_requirement ; dep
security_fix|has_security_fix|security ; sec?
size_mb|download_size ; size
next_version ; next
next_release|next_release_date ; nd
old_version_ending ; old
end_of_support|eol_date ; eol
fixes|bugs_fixed|fixed ; b*
description|what ; b.what
issue|number|id ; b.no
contributor|thanks_to ; b.by
""",
    ),
    Scene(
        "ticket",
        """
[Ticket|Case|Vorgang] {no:code ######|TK-####|#-####} – {subj:words no dial tone/parcel lost/wrong tariff/screen flickers/double booking/refund missing/access card dead/router reboots}[ ({cat:words billing/hardware/delivery/access/network})|]
[Customer|From][:|] {who:person}[, {firm:company}|][, {tel:phone}|]
[opened|created] {day:earlier 4-40} [via|by] {ch:words phone/web form/chat/e-mail/the shop}

<h 2-5:{t:earlier 0-3}[ {tt:time 7-20}|] {ag:words Ines/Marko/Bot/Leonie/Tariq/Desk 2/Pavel}[: | – | > ][#s=new:[created|came in]|#s=open:[taken over|working on it|called the customer]|#s=waiting:[waiting for the customer|asked for a photo|waiting for the part]|#s=escalated:[to second level|handed to the provider]|#s=reopened:[customer wrote again, not solved|back from the dead]|#s=solved:[done|cable changed, works|money sent]|#s=closed:[closed|archived]]>

[Reopened {re:spelled 1-5} times|Came back {re:spelled 1-5} times|Never reopened][; [first answer after|reacted within] {fr:duration}|]. [Affected: {aff:spelled 2-90} [people|seats]|]. [#res=yes:[The customer confirms that it works.|Solved to the customer's satisfaction.]|#res=no:[Still broken as of today.|No solution in sight.]|] [Rating: {stars:stars}|Customer gave {stars:stars}|]. [[Credited|Refund offered]: {ref:money 3-190}[ ([they|he|she] wanted {ask:money 200-600})|].|No refund.|] [#sla=no:[Deadline missed by {late:duration}.|Too late by {late:duration}, report to management.]|#sla=yes:[Within the agreed time.|Deadline kept.]|]
""",
        """
ticket_number|case_id|number ; no
subject|topic ; subj
category ; cat
customer|requester ; who
company ; firm
phone ; tel
opened_on|created_on ; day
channel|opened_via ; ch
times_reopened|reopenings ; re
first_response|first_response_time ; fr
people_affected|seats_affected ; aff
is_resolved|solved ; res? ; As of now
rating|stars ; stars
refund|credit ; ref
requested_refund|claimed_amount ; ask
sla_met|within_sla|on_time ; sla?
overdue_by ; late
currency ; $
history|events|log ; h* ; In order
date ; h.t
time ; h.tt
agent|by|who ; h.ag
state|changed_to ; h.s=new/created,open/in_progress,waiting/pending/on_hold,escalated,reopened,solved/resolved,closed
""",
        weight=1.5,
    ),
    Scene(
        "bug",
        f"""
[Post-mortem|Incident review|What happened on {{day:earlier 1-9}}]: {{app:words {_APP}}}
[All times|Times] [in |]{{tz:words UTC/CET/local time/ET}}. [Date: {{day:earlier 1-9}}.|]
<e 3-5:{{t:time 0-23}} {{what:words first alarm/deploy of build 812/pager rings/rollback begins/traffic moved/cache cold/database full/customers write in/certificate expires/service back/all clear}}[ ({{who:words on-call/Ayla/Jonas/bot/provider}})|]>
[Down|Unavailable|Customer impact]: {{dur:count 4-300}} [min|minutes][, {{req:big}} requests lost|][, {{cust:number 3-900 0}} customers|]. [Root cause|Why]: {{cause:words expired certificate/full disk/wrong feature flag/DNS typo/two deploys at once/a runaway query/clock drift}}. [#human=yes:[Somebody typed the command on the wrong host.|A manual step was forgotten.]|#human=no:[No one touched anything that day.|Purely mechanical.]|] [#det=monitor:[Our own alarm caught it.|Monitoring rang first.]|#det=customer:[We learnt of it from users.|A customer phoned before any alarm.]|] [Budget used: {{slo:percent}}.|] [Follow-ups: <a 1-3, :{{act:duty}} ({{own:name}}[, {{due:later 2-40}}|])>.|]
""",
        """
service|application|system ; app
incident_date|date ; day
time_zone ; tz
outage_minutes|downtime_minutes|duration_min ; dur
requests_lost|failed_requests ; req
customers_affected ; cust
root_cause|cause ; cause
human_error|caused_by_human ; human?
detected_by|how_detected ; det=monitor/monitoring/alert,customer/customers/users
error_budget_percent|budget_used ; slo
timeline|events ; e* ; In order
time|at ; e.t
event|what ; e.what
who|by ; e.who
follow_ups|actions|tasks ; a*
task|action ; a.act
owner|responsible ; a.own
due|due_date ; a.due
""",
    ),
)
