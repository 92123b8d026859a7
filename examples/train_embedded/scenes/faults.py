"""Scenes: reports of software that fails: issues with sections, mails of users, and tickets with a history."""

from .scene import Scene

_TITLE = "Search returns nothing for names with accents/CSV import drops the last row/App crashes when the screen rotates/Totals off by one cent/Dark mode hides the cursor/Login loop after password reset/PDF export cuts the footer/Notifications arrive twice/Uploads stall at 99 %/Date picker shows the wrong month/Drag and drop broken in lists/Memory grows until the tab dies/Undo removes too much/Sorting by price ignores currency/Sync overwrites newer notes/Keyboard shortcuts dead after sleep/Printer preview is empty/Time zone ignored in invites/Emoji break the subject line/Filter resets on back/Scroll position lost/Webhook fires before commit/Map tiles stay grey/Totally blank page on first visit/Copy button copies HTML/Backup job never ends/Invite mails land in spam/Images upside down on upload"
_STEP = "Open the project list/Log in as editor/Click Export/Choose a file over 10 MB/Switch to another tab/Press Ctrl+Z/Set the language to Turkish/Rotate the phone/Unplug the network cable/Wait for five minutes/Type a name with an umlaut/Save without a title/Sort by date/Scroll to the bottom/Enable two-factor login/Reload the page/Drag the card to Done/Close the lid/Open the print dialogue/Delete the first row"
_OS = "Windows 11/macOS 15.2/Ubuntu 24.04/Fedora 42/iOS 18.1/Android 15/ChromeOS/Debian 13/Windows Server 2022"
_BROWSER = "Firefox 134/Chrome 131/Safari 18/Edge 130/Brave/Vivaldi 7"

SCENES = (
    Scene(
        "bug",
        f"""
[**|# |Title: |]{{title:words {_TITLE}}}[**|][ #{{id:code ###|####|#####}}|]
[{{who:words mkowalski/jane-d/devtom/ortega_l/nightowl42/sbauer/priya.s/quietfox/hvdberg/anna-m}} opened this [issue |]on {{day:today}}[ · {{com:number 0-40 0}} comments|]|Reporter: {{who:words mkowalski/jane-d/devtom/ortega_l/nightowl42/sbauer}}, {{day:today}}]

[### Environment|**Setup**|Environment:|## System]
[- |* |][version|app version|build][:|] {{ver:code #.#.#|#.##.#|v#.#.#-beta|20##.##}}
[- |* |][OS|platform|system][:|] {{os:words {_OS}}}
[[- |* |][browser|client][:|] {{br:words {_BROWSER}}}
|][[- |* |][plan|edition][:|] {{plan:words Community/Enterprise/self-hosted/cloud/trial}}
|]
[### Steps|**To reproduce**|Steps to reproduce:|## How to trigger]
[<st 2-5:1. {{do:words {_STEP}}}>|<st 2-5:- {{do:words {_STEP}}}>|<st 2-4:{{do:words {_STEP}}}>]

[### Expected|**Expected**|What should happen:]
{{exp:words the list keeps its order/a file is downloaded/the form is saved/one notification/the old value comes back/the page loads within a second/the cursor stays visible/the same total as in the invoice/an error message/nothing changes}}
[### Actual|**Actual**|What happens:]
{{act:words the list is empty/the spinner never stops/a white page/the app closes/the value is doubled/the first row disappears/error 500/two mails are sent/the text is garbled/it logs me out}}[, [message|log]: `{{err:words NullPointerException/TypeError: undefined is not a function/ECONNRESET/IndexError: list index out of range/SQLSTATE 23505/OutOfMemoryError/segfault at 0x0/403 Forbidden}}`|]
[
```
{{:words Traceback (most recent call last)/at Object.render/panic:/FATAL}} {{file:words src/app.js/core/index.py/lib/sync.rs/Main.kt/worker.go}}:{{ln:count 10-900}}
```
|]
[#rep=always:[Every single time.|10 out of 10.|I can trigger it at will.|Happens on all my machines.]|#rep=sometimes:[About one in {{:count 3-9}} tries.|Comes and goes.|Only now and then, can't see a pattern.|On bad days more often.]|#rep=once:[I only saw it once.|Could not get it to happen again.|A single occurrence so far.]||] [#reg=yes:[Worked in {{good:code #.#.#|#.##}}.|{{good:code #.#.#|#.##}} did not do this.|It came with the last upgrade, {{good:code #.#.#|#.##}} was fine.]|#reg=no:[It has always been like this.|Same in all older versions I tried.|Even the first release had it.]|] [#sev=critical:[We lost customer data.|Nobody in the office can work.|Production is down.|All {{users:count 20-900}} users are locked out.]|#sev=major:[We can work, but it costs us an hour a day.|{{users:count 3-90}} colleagues complain daily.|There's a way round it, though a painful one.]|#sev=minor:[It's a nuisance, nothing more.|Easy to avoid once you know.|Not urgent.]|#sev=trivial:[Purely cosmetic.|Just looks odd.|A matter of taste, perhaps.]||]
[[Workaround|As a workaround][:| I] {{work:words restart the app/use the old dialog/clear the cache/switch the language/export as XLSX/turn off sync/use another browser}}.|No workaround known.|]
[Possibly related to #{{dup:code ###|####}}.|Duplicate of #{{dup:code ###|####}}?|] [I can send logs.|#pr=yes:[I have a patch ready.|Happy to open a pull request.|Fix attached.]|#pr=no:[I don't know enough Rust to fix it.|Can't help with code, sorry.]|]
""",
        """
title|summary|subject ; title ; as written
issue_number|id|number ; id
reporter|author|opened_by|user ; who
opened_on|date|reported_on|created ; day
comments|comment_count ; com
version|app_version|affected_version ; ver
os|operating_system|platform ; os
browser|client ; br
edition|plan ; plan
expected|expected_behaviour|expected_result ; exp ; as written
actual|actual_behaviour|observed ; act ; as written
error|error_message|exception ; err
file|source_file|location ; file
line|line_number ; ln
reproducibility|frequency|how_often ; rep=always,sometimes/intermittent,once/rarely/not_reproducible
regression|is_regression|worked_before ; reg? ; Did it work in an earlier version
last_good_version|last_working_version|good_version ; good
severity|impact|priority ; sev=critical/blocker,major/high,minor/low,trivial/cosmetic ; As follows from what is said
affected_users|users_affected ; users
workaround ; work ; null if none is known
related_issue|duplicate_of|related_to ; dup
offers_fix|has_patch|will_contribute ; pr? ; Does the reporter offer a fix
steps|steps_to_reproduce|reproduction ; st* ; In order
action|step|text ; st.do
""",
        weight=2.0,
    ),
    Scene(
        "bug",
        f"""
[Subject: [PROBLEM: |Bug? |Re: update |]{{title:words {_TITLE}}}
|]
[Hi,|Hello support,|Dear developers,|Good morning,]

[since|ever since] [{{day:earlier 1-30}}|the update on {{day:earlier 1-30}}] {{act:words the calendar shows every entry twice/I can't save anything/my reports come out empty/the map freezes/the totals are wrong/the app asks for my password each minute/half of my photos are gone/the sound stops after a minute/the labels print sideways/search finds nothing}}. [I use|I'm on|We have] [version |]{{ver:code #.#|#.#.#|20##}} [on|with] {{os:words {_OS}}}[, {{dev:words a Lenovo X1/an old iPad/a Pixel 8/a Mac mini/a Surface/a shop tablet}}|][ and {{br:words {_BROWSER}}}|]. [My colleague {{col:name}} has the same|{{col:name}} next to me doesn't see it|On my wife's phone all is fine]. [Before that, with {{good:code #.#|#.#.#}}, [it was fine|there was no trouble].|]

[It begins when I|As soon as I|Whenever I] {{trig:words open a shared folder/add a second address/choose a date in the past/print on A5/connect the scanner/type in Greek/go offline/use a coupon/open the lid/sort the table}}, [{{freq:words every time/about twice a day/mostly in the morning/once a week/only with large files}}|and it {{:words blinks/beeps/hangs}} first]. [On the screen it says "{{err:words Something went wrong/Error 0x80070057/Invalid state/Session expired/Code 17/Please contact your administrator/Unknown column}}".|There's no message at all.|] [I have {{tried:words reinstalled it/restarted the router/cleared the cache/tried another account/changed the cable/waited a day}}, [#helped=no:no change|#helped=no:to no avail|#helped=no:which did nothing].|I {{tried:words reinstalled it/restarted the router/cleared the cache/tried another account/changed the cable}} and [#helped=yes:then it works for an hour|#helped=yes:that helps for a while|#helped=yes:it's better since].|]

[#sev=critical:[We can't invoice anybody, our business stands still.|I have lost a week of work.|All tills of the shop are down, please ring at once.]|#sev=major:[It costs me a lot of time each day.|I have to do half of it by hand now.|My boss is not amused.]|#sev=minor:[It isn't dramatic.|I can live with it for now.|No hurry.]|] [You reach me on {{tel:phone}}[ until {{until:time 12-20}}|].|Please answer to {{mail:email}}.|] [My licence|Licence no.|Customer][:|] {{lic:code @@##-####|####-####|K#####}}. [I attach {{att:words a screenshot/the log file/a short film/two photos/the broken file}}.|]

[Regards|Kind regards|Thanks in advance|Desperately yours]
{{who:name}}[, {{firm:company}}|]
""",
        """
subject|title ; title
problem|symptom|description|what_happens ; act ; as written
since|started_on|first_seen|update_date ; day
version|software_version ; ver
last_working_version|previous_version ; good
operating_system|os|system ; os
device|hardware ; dev
browser ; br
colleague|other_person|also_named ; col
trigger|happens_when|occurs_on ; trig ; as written
frequency|how_often ; freq
error_message|message|error_text ; err ; null if there is no message
tried|attempted_fix|already_tried ; tried ; as written
attempt_helped|fix_helped|did_it_help ; helped?
severity|urgency|impact ; sev=critical/urgent,major/high,minor/low
phone|callback|telephone ; tel
reachable_until|call_until ; until
reply_email|email ; mail
licence|license_number|customer_number ; lic
attachment|attached ; att
reporter|sender|name|customer ; who
company|organisation ; firm
""",
    ),
    Scene(
        "bug",
        f"""
{{key:code @@-###|@@@-####|@@@@-##}}[:| -|] {{title:words {_TITLE}}}
[Type|Issue type]: [#ty=bug:Defect|#ty=bug:Bug|#ty=task:Chore|#ty=feature:Wish|#ty=feature:New feature]   [Priority|Prio]: [#p=high:P1|#p=high:Highest|#p=medium:P2|#p=medium:Normal|#p=low:P3|#p=low:Lowest]
[Component|Area]: {{comp:words Billing/Editor/Mobile/API/Search/Auth/Import/Reports/Notifications/Installer}}   [Fix version|Target|Milestone]: {{fix:code #.#|#.#.#|20##.#}}   [Affects|Seen in]: {{ver:code #.#.#|#.##}}
[Created|Opened]: {{day:earlier 5-60}} by {{rep:name}}   [Assignee|Owner]: [{{own:name}}|unassigned|nobody yet]
[[Story points|Estimate]: {{pts:number 1-13 0}}[ (was {{:number 1-13 0}})|]
|][Labels: {{lab:words regression/ui/flaky/customer/security/performance/docs}}
|]
[Description|Details]
{{:clause}}. [It [concerns|hits] {{users:count 2-900}} [accounts|customers].|] [Found by {{found:words a customer/the nightly tests/monitoring/a code review/the sales team}}.|]

[History|Activity|Comments]
{{c1:earlier 4-5}} {{p1:name}}: [can't see it here.|which browser?|please add logs.|reproduced on staging.]
{{c2:earlier 2-3}} {{p2:name}}: [[the reason is|caused by|root cause:] {{cause:words a missing index/a race between two workers/a wrong time zone/an expired certificate/rounding/a stale cache/a null in old data/an upgrade of the parser}}|no idea yet|looks like the one from last year].
{{c3:earlier 0-1}} {{p3:name}}: [#st=done:[merged and rolled out, closing|fixed on main, verified by QA|works now, thanks all]|#st=review:[patch is up, please have a look|waiting for a second reviewer|pull request {{pr:code ###|####}} open]|#st=progress:[I'm on it|half way through|started this morning]|#st=rejected:[works as designed, won't change it|that's how it is meant to be|closing, nobody can see this any more]|#st=blocked:[can't go on before ops gives us the dump|vendor has to move first|on hold until the migration is over]]. [Logged {{spent:duration}}.|Time spent: {{spent:duration}}|]
""",
        """
key|issue_key|ticket|id ; key
title|summary ; title
issue_type|type|kind ; ty=bug/defect,task/chore,feature/feature_request
priority ; p=high,medium/normal,low
component|area|module ; comp
fix_version|target_version|milestone ; fix
affected_version|affects_version|seen_in ; ver
created|created_on|opened ; day
reporter|created_by ; rep
assignee|owner|assigned_to ; own ; null if nobody is assigned
story_points|estimate|points ; pts ; The estimate that holds now
label|labels ; lab
affected_accounts|customers_affected|affected ; users
found_by|detected_by ; found ; as written
root_cause|cause ; cause ; null if it is not known
last_comment_by|last_commenter ; p3
last_comment_date|updated|last_activity ; c3
first_comment_by ; p1
status|state|resolution ; st=done/resolved/fixed,review/in_review,progress/in_progress,rejected/wont_fix/closed_without_change,blocked/on_hold ; Where it stands after the last comment
pull_request|merge_request ; pr
time_spent|logged ; spent
""",
    ),
)
