"""Scenes: job adverts, curricula, minutes, bug reports, support, maintenance and contracts."""

from .scene import Scene

SCENES = (
    Scene(
        "job",
        """
[Wanted: |We are hiring: |Vacancy: |Join us as ||]{title:job}[ ({ref:code @@-####|##/###})|]
[{firm:company}, {town:city}|{firm:company} — {town:city}|{firm:company}]

[We {:words make/sell/repair/rent out/design} {:goods} and {:goods}.|{firm} was founded in {:year} and has {:count 8-900} people.|You like {:subject}? So do we.|Our team of {:count 3-30} looks after {:subject}.]
[In this role you will {:duty} and {:duty}.|Your tasks: {:duty}, {:duty}.|You {:duty}, you {:duty}, and you know when to ask.]

[What we offer
|We offer:
|]
[- |* |• |][#type=full_time:full-time, {hours:number 35-42} hours a week|#type=full_time:a full position ({hours:number 35-42} hrs/week)|#type=part_time:part-time, {hours:number 15-30} hours a week|#type=part_time:about half a week, {hours:number 15-30} hours|#type=temporary:a contract until the end of the season|#type=temporary:temporary cover for parental leave|#type=internship:an internship of {:count 3-12} months|#type=freelance:freelance work, billed by the day]
[- |* |• |][{lo:money 1500-6000} to {hi:money 6001-9000}|between {lo:money 20000-45000} and {hi:money 45001-90000}|from {lo:money 2000-4000} up to {hi:money 4001-7000}] [#per=month:a month|#per=year:a year|#per=year:per annum|#per=month:monthly, before tax][, plus bonus|]
[- |* |• |][#remote=no:Obviously nothing here can be done from home.|#remote=no:You work on our premises in {:city}.|#remote=no:Presence in the workshop is required every day.|#remote=hybrid:{:count 2-3} days in the office, the rest wherever you concentrate best|#remote=hybrid:up to {:count 2-3} days a week from home|#remote=hybrid:part of the week at your own desk at home|#remote=full:You can live anywhere; we meet twice a year.|#remote=full:We have no office: everyone works from home.]
[{leave:count 20-35} days of [holiday|paid leave|PTO|annual leave]|]

[What you bring:
<skills 2-5:- {s:words Python/SQL/Excel/SAP/Java/German/welding/bookkeeping/photography/Kubernetes/Linux/cooking/first aid/AutoCAD/statistics/Figma/sales/driving licence/patience/InDesign/Go/PostgreSQL/teamwork/nursing/Spanish/gardening}>
|Skills: <skills 2-5, :{s:words Python/SQL/Excel/SAP/Java/German/welding/bookkeeping/photography/Linux/cooking/AutoCAD/statistics/Figma/sales/Photoshop/C++/Rust/English/plumbing/Docker}>
|You bring:
|Requirements: |Your profile
|][{years:count 2-10}+ years of experience with {skill:subject}|at least {years:count 2-10} years in a similar role|no experience needed, we train you][, fluent {lang:words English/German/French/Spanish/Dutch/Polish/Danish}|][. [#drive=yes:A driving licence is a must|#drive=yes:You hold a driving licence|#drive=no:You do not need a car or a licence|#drive=no:A driving licence would be nice but is no condition].|]

[Apply by {until:date}|Applications close on {until:date}|Please apply until {until:date}|No closing date, we hire till we're full][[ to| with a CV to| at] {mail:email}|]. [Starting date: {start:date}.|You start on {start:date}.|To start as soon as possible.|] [Questions? [Call|Ask] {who:person}[, {tel:phone}|].|]
[(The posting from spring with {:money 2000-5000} is obsolete.)|The position is based in {town}, not in our branch in {:city}.|]
""",
        """
title|job_title|position|role ; title ; as written
employer|company|organisation|hiring_company ; firm
location|city|town|place ; town ; Town or city
reference|job_id|ref ; ref
employment_type|contract_type|type|job_type ; type=full_time,part_time,temporary/fixed_term,internship,freelance/contractor ; Kind of employment
hours_per_week|weekly_hours ; hours
salary_min|minimum_salary|pay_from ; lo ; Lower end, in the stated currency
salary_max|maximum_salary|pay_to ; hi ; Upper end of the range
salary_period|pay_period|per ; per=month/monthly,year/yearly,hour/hourly
currency ; $ ; ISO 4217
remote|remote_work|home_office|work_mode ; remote=no/on_site,hybrid/partly,full/remote ; Can the work be done from home
vacation_days|holidays|annual_leave ; leave ; Days a year
experience_years|min_experience|years_of_experience ; years ; null if none is required
language|required_language ; lang
driving_licence_required|licence_required|needs_driving_licence ; drive? ; true only if a driving licence is a must
apply_by|closing_date|application_deadline|deadline ; until ; Last day to apply
start_date|starts_on ; start
contact|contact_person|questions_to ; who
contact_email|email|apply_to ; mail
skills|required_skills|requirements|qualifications ; skills* ; Skills asked for, in order
skill|name ; skills.s
phone|contact_phone ; tel
""",
    ),
    Scene(
        "cv",
        """
[Curriculum vitae|CV|Résumé|PROFILE|]

{who:name}
[{mail:email} [|\\|·,] {town:city} [|\\|·,] {tel:phone}|{addr:address}
{tel:phone}
{mail:email}|{town:city}, {mail:email}]
[Born {born:date}[ in {:city}|]
|]
[WORK|Experience|Employment|Career]
[<jobs 2-4:{from:year} – {to:year}  {role:job}, {at:company}>|<jobs 2-4:{role:job}
{at:company}, {from:year}-{to:year}>|<jobs 2-4:- {at:company} ({from:year} to {to:year}): {role:job}>]

[EDUCATION|Education|Training|Studies]
[{grad:year} [#degree=master:M.Sc.|#degree=master:Master of Arts|#degree=bachelor:B.A.|#degree=bachelor:Bachelor of Science|#degree=doctorate:PhD|#degree=doctorate:Doctorate|#degree=vocational:Apprenticeship|#degree=vocational:City & Guilds certificate] [in |]{field:words economics/civil engineering/biology/nursing/carpentry/history/computer science/chemistry/tourism/law/music/physics/marketing/social work}, {school:company}|[#degree=master:Master's degree|#degree=bachelor:Bachelor's degree|#degree=doctorate:Doctoral degree] {field:words economics/biology/history/chemistry/law/physics/geography/philosophy}, University of {school:city}, {grad:year}]

[SKILLS|Skills|Strengths|Knowledge]
[Languages: {l1:words English/German/French/Polish/Arabic} ([native|mother tongue]), {l2:words Spanish/Italian/Turkish/Dutch/Swedish} ([fluent|B2|basic])|{skills:list subject 2-4}]
[[#drive=yes:Driving licence class {:words B/C/BE}|#drive=no:No driving licence]
|][[#notice=yes:In a permanent position, notice period {weeks:count 2-12} weeks|#notice=no:Available at once]
|][Interests: {hobby:list subject 1-3}|References on request|]
[[#volunteer=yes:Since {:year} I have helped out unpaid at the local food bank.|#volunteer=yes:Volunteer firefighter.]|]
""",
        """
name|full_name|candidate|applicant ; who
email|email_address ; mail
phone|telephone ; tel
city|town|residence|lives_in ; town ; Place of residence
address ; addr
date_of_birth|birth_date|born ; born
degree|highest_degree|qualification ; degree=vocational/apprenticeship,bachelor,master,doctorate/phd ; Highest degree
field_of_study|subject|studied ; field
school|university|institution ; school
graduation_year|year_of_degree ; grad
mother_tongue|native_language ; l1
languages|spoken_languages ; l1+l2 ; in order
skills|key_skills ; skills ; in order
driving_licence|has_driving_licence ; drive? ; Does the person have a driving licence
notice_period_weeks|notice_weeks ; weeks
volunteer|volunteers ; volunteer? ; Is voluntary work mentioned
interests|hobbies ; hobby
jobs|positions|experience|employment|work_history ; jobs* ; most recent first, as printed
title|position|role|job_title ; jobs.role ; as written
employer|company|organisation ; jobs.at
from|start_year|since ; jobs.from ; year
to|end_year|until ; jobs.to ; year
""",
    ),
    Scene(
        "minutes",
        """
[Minutes|Notes|Meeting notes|Protocol|Summary of the call] [– |of the |: |]{topic:subject}
[Date: {day:today}[, {at:time}|]|{day:today}, {place:room}|{day:today} [from|at] {at:time} in {place:room}]
[Present: {a:name}, {b:name}, {c:name}[ (chair)|]|Attendees: {a:name}, {b:name} and {c:name}|There were {a:name}, {b:name}, {c:name}]
[[Apologies|Excused|Absent|Not there]: {d:name}|{d:name} [sent apologies|could not come|was ill]|]
[[Minutes taken by|Notes:|Written down by] {w:name}|]

1. [{:subject}. {:clause}; {:duty}.|{:name} reported on {:subject}.|Last minutes were accepted.]
2. [Budget|Money|Costs]: [we have {left:money 500-40000} left|{left:money 500-40000} remain in the budget|the offer of {:company} is {:money 300-9000}]. [{x:name} finds that too much.|]
3. [#vote=adopted:The proposal to {prop:duty} [was carried|was agreed|found a majority] ({yes:count 4-12} for, {no:count 1-3} against).|#vote=rejected:The motion to {prop:duty} [did not pass|found no majority|was voted down] ({yes:count 1-3} for, {no:count 4-12} against).|#vote=postponed:Whether to {prop:duty} [will be decided next time|was put off|stays open].|]

[Actions|To do|Next steps|Tasks]
[<todo 1-4:- {who:name}: {task:duty} by {by:later}>|<todo 1-4:{task:duty} ({who:name}, {by:later})>|<todo 1-4:* {who:name} will {task:duty} until {by:later}>|<todo 1-4:{task:duty} -- {who:name} -- due {by:later}>]

[Next meeting: {next:later}[, {nextat:time}|][ in {nextroom:room}|].|We meet again on {next:later}[ at {nextat:time}|].|No new date was set.|]
[The meeting ended at {end:time}.|End {end:time}|]
""",
        """
topic|title|subject|meeting ; topic
date|meeting_date|held_on ; day
start|start_time|time ; at
room|place|location ; place
attendees|participants|present ; a+b+c ; in the order of the text
absent|excused|apologies_from ; d ; Name of the person who could not come
minute_taker|written_by|secretary ; w
budget_left|remaining_budget ; left
proposal|motion ; prop ; as written, without 'to'
decision|outcome|result_of_vote|vote ; vote=adopted/accepted,rejected/declined,postponed/deferred ; What became of the proposal
votes_for|in_favour ; yes
votes_against|against ; no
next_meeting|next_date ; next ; null if none is set
next_time ; nextat
next_room ; nextroom
end_time|ended_at ; end
actions|action_items|tasks|todos|next_steps ; todo* ; In order
owner|who|assignee|responsible ; todo.who
task|action|what|todo ; todo.task ; as written
due|deadline|by|due_date ; todo.by ; Last day
""",
    ),
    Scene(
        "bug",
        """
[Title: |# |Bug: |]{sum:clause}

[[Version|Build|v]: {ver:code #.#.#|##.#|20##.#}|[I am on|Using] version {ver:code #.#.#|##.#} [on {os:words Windows 11/macOS 14/Ubuntu 24.04/Android 15/iOS 18/Debian 12}|]|App {ver:code #.#.#}, {os:words Windows 10/macOS 15/Fedora 41/Android 14/iOS 17}]
[[#severity=critical:Nobody can work any more!|#severity=critical:All data of the last day is gone.|#severity=critical:Production is down since {:time}.|#severity=major:It is a real nuisance, the whole team has to work around it.|#severity=major:We lose about an hour a day over this.|#severity=minor:Not urgent, there is an easy way around it.|#severity=minor:Only a small thing.|#severity=cosmetic:It just looks ugly.|#severity=cosmetic:A typo, nothing more.]|]

[Steps:
|How to see it:
|To reproduce
|]
[<steps 2-4:- {do:words open the settings/click Save/log out/press the back button/drag a file into the window/choose another language/open the second tab/scroll down/plug in the cable/close the lid/type a name with an accent/switch to the dark theme/go to the list of orders/print the page/sort by date}>|<steps 2-4:{do:words Open the settings/Click Save/Log out/Press the back button/Drag a file into the window/Choose another language/Scroll to the end/Unplug the cable/Type a long name/Print the page/Sort by date/Reload twice}.>]

[Expected: {exp:phrase}
Actual: {act:clause}|I expected that {exp:phrase}. Instead, {act:clause}.|What happens: {act:clause}]
[[#always=yes:Happens every time.|#always=yes:I can repeat it as often as I like.|#always=no:It happens now and then.|#always=no:Only once so far.]|]
[[#regression=yes:It worked in {old:code #.#.#}.|#regression=yes:Before {old:code #.#.#} this was fine.|#regression=no:I think it has always been like that.]|] [Error [code|message]: {err:code E-####|0x######|ERR_###|####}|The log says {err:code E####|ERR-##-##}|]

[Reported by|Reporter:|Thanks,|--] {who:name}[, {firm:company}|][ on {day:date}|]
[Assigned to {dev:name}[, planned for {fix:code #.#|##.#}|].|Labels: {label:words ui/backend/export/login/printing/search}|Duplicate of #{dup:code ###|####}|]
""",
        """
title|summary|problem|headline ; sum ; as written
version|affected_version|app_version|build ; ver
operating_system|os|platform ; os
severity|priority|impact ; severity=critical/blocker,major/high,minor/low,cosmetic/trivial ; How bad it is
expected|expected_behaviour ; exp ; as written
actual|actual_behaviour|what_happens ; act ; as written
reproducible|always_reproducible|happens_always ; always? ; Does it happen every time
regression|is_regression|worked_before ; regression? ; Did it work in an earlier version
last_good_version|worked_in ; old
error_code|error ; err
reporter|reported_by|author ; who
reported_on|date|reported_at ; day
assignee|assigned_to|developer ; dev
planned_for|fix_version|milestone ; fix
label|component ; label
duplicate_of ; dup ; Number of the other report
steps|steps_to_reproduce|reproduction ; steps* ; In order
step|action|do ; steps.do ; as written
""",
    ),
    Scene(
        "support",
        """
[Ticket|Case|Request|Call] [#|no. |]{id:code ######|INC-#####|####-##}
[Opened [{day:today}|on {day:today}] by {who:name}[, {firm:company}|]|From {who:name}, {day:today}]

[Customer|Caller|{who.given}]: [Hello,|Hi,|] {prob:clause}. [I have tried to restart it twice.|It worked on {:earlier 1-9}.|We bought it in {:year}.] [#mood=angry:This is the third time and I have really had enough!|#mood=angry:Frankly, your service is a joke.|#mood=neutral:Please tell me what to do.|#mood=neutral:What information do you need?|#mood=happy:Otherwise I am delighted with it, thank you.|#mood=happy:You have always been so quick, that's great.]
[Serial number {sn:code @@######|S/N #######|##@@####}.|The type plate says {sn:code @#####|@@-####-##}.|]

[Agent|{agent:name}|Support]: [Sorry to hear that.|Thanks for getting in touch.] [#sol=replacement:We send you a new one free of charge[, it leaves on {ship:later 1-6}|].|#sol=replacement:You will get another one from us.|#sol=visit:Our technician {tech:name} will come by on {visit:later 1-14} [between {:time} and {:time}|].|#sol=advice:Please [hold the power button for ten seconds|clean the {:goods}|install the latest update], that should do.|#sol=refund:We pay you back {amount:money 10-400}.|#sol=none:Unfortunately we can do nothing for you: the warranty [ran out|ended] on {:earlier 10-60}.]
[#warranty=yes:It is still under warranty.|#warranty=no:As the warranty is over, the repair costs {cost:money 20-200}.|]

[#status=closed:{who.given}: That did it, thank you. You can close this.|#status=closed:Solved and closed on {closed:later 1-20}.|#status=waiting:We are waiting for your answer.|#status=waiting:Please send us a photo; until then this rests.|#status=open:We are looking into it.|#status=open:Passed on to {team:words the second level/the workshop/the warehouse/billing}.]
""",
        """
ticket_id|ticket|case_number|id|request_id ; id
customer|caller|requester|opened_by ; who
company|organisation ; firm
opened_on|date|created|received ; day
problem|issue|description|fault ; prob ; The problem as written
serial_number|serial ; sn
sentiment|mood|tone ; mood=angry/negative,neutral,happy/positive ; Tone of the customer
agent|handled_by ; agent
solution|resolution|outcome|remedy ; sol=replacement/exchange,visit/technician_visit,advice/instructions,refund/money_back,none/no_remedy ; What the agent offers
technician ; tech
visit_date|appointment ; visit
ship_date|ships_on ; ship
refund_amount|amount ; amount
under_warranty|warranty|in_warranty ; warranty?
repair_cost|cost ; cost
status|state ; status=open/in_progress,waiting/pending,closed/resolved ; Where the case stands at the end
closed_on ; closed
team|passed_to|department ; team
""",
    ),
    Scene(
        "maintenance",
        """
[Service report|Work order|Logbook|Inspection sheet|Maintenance record] [{no:code ####|WO-####|####-#}|]
[[Machine|Asset|Unit|Object|Equipment]: {asset:code @@@-##|@@##|@-###} ({:goods})|{asset:code @@-##|@@@##}, {:goods}, {site:place}]
[[Technician|Done by|Fitter|Engineer]: {who:name}[, {day:today}|]|{who:name} on {day:today}[, {at:time}|]]

[#sort=inspection:Yearly check as planned.|#sort=inspection:This was the routine look-over, nothing was touched.|#sort=corrective:Called because the {:clause}.|#sort=corrective:Breakdown: {:clause}.|#sort=preventive:Changed the wearing parts before they fail.|#sort=preventive:Greased and adjusted according to plan.|#sort=calibration:Compared with the reference and adjusted.|#sort=calibration:Set to the standard, deviation {dev:number 0-3 2} %.]

[Findings|Seen|What I found|Remarks][:|]
<found 1-4:- {what:clause}>

[[Parts|Used|Parts fitted]: <parts 1-3, :{n:count 1-8} x {part:goods}>|[Parts|Material]
<parts 1-3:{part:goods}, {n:count 1-8} pcs>|No parts needed.]
[Time: {h:number 1-9 2} h[ (planned {:number 1-9} h)|]|{h:number 1-9 2} hours on site, {km:count 3-200} km|It took {h:number 1-9 2} hours.]
[Operating hours: {oph:count 100-30000}|Counter {oph:count 100-30000} h|] [Pressure {bar:number 1-12 1} bar|Temperature {temp:number 10-90 1} °C|]

[#ok=yes:Released for operation.|#ok=yes:Handed over in working order.|#ok=yes:Test run fine, back in service.|#ok=no:Locked and tagged; do not switch on.|#ok=no:Must not run until the part has come.|#ok=no:Left out of service.] [Next [service|check|visit] [due|on]: {next:later 30-360}|Next time: {next:later 30-360}.|To be continued when the parts are here.|]
[Signed {who}|Countersigned: {boss:name}|]
""",
        """
order_number|work_order|report_no ; no
asset_id|machine|asset|equipment_id|unit ; asset
site|location ; site
technician|performed_by|engineer|fitter ; who
date|performed_on|service_date ; day
time ; at
work_type|type|kind_of_work|job_type ; sort=inspection/check,corrective/repair,preventive/servicing,calibration ; Sort of work
deviation_percent|deviation ; dev
labour_hours|hours|time_spent ; h ; Hours worked
distance_km|km ; km
operating_hours|counter|hour_meter ; oph
pressure_bar ; bar
temperature_c|temperature ; temp
released|back_in_service|operational|safe_to_use ; ok? ; May the machine be used|true if released for operation
next_due|next_service|next_inspection ; next ; null if no date is given
countersigned_by|approved_by ; boss
findings|observations|defects ; found* ; In order
finding|text|what ; found.what ; as written
parts|parts_used|parts_replaced|material ; parts* ; In order
part|name|item ; parts.part ; as written
quantity|qty|pieces ; parts.n
""",
    ),
    Scene(
        "contract",
        """
[{sort:words RENTAL AGREEMENT/SERVICE CONTRACT/LEASE/LOAN AGREEMENT/LICENCE AGREEMENT/CONSULTANCY AGREEMENT/Contract of employment}|{sort:words Rental agreement/Service contract/Lease/Loan agreement/Maintenance contract}][ No. {no:code ####/##|@@-###}|]

[between {a:company}, {at:city} ([hereinafter|the] "{:words Lessor/Provider/Lender/Licensor/Employer}") and {b:person} ([hereinafter|the] "{:words Lessee/Client/Borrower/Licensee/Employee}")|{a:company}, [represented by {rep:name}|of {aaddr:address}], and {b:person} agree as follows.|The parties are {a:company} on the one hand and {b:person} on the other.]

[1.|§ 1|Article 1|] [The contract [begins|starts|takes effect] on {start:date}|It runs from {start:date}] [#term=fixed:and ends on {end:date} without notice|#term=fixed:until {end:date}|#term=open:for an indefinite period|#term=open:and is open-ended|#term=open:and goes on until one side ends it].
[2.|§ 2|Article 2|] [The price is|The fee is|{b} pays] {fee:money 100-9000} [#per=month:a month|#per=month:monthly, in advance|#per=year:per year|#per=year:annually|#per=once:as a single payment|#per=once:once and for all|#per=hour:for each hour worked][, payable [by|on] the {payday:count 1-28}th|]. [A deposit of {dep:money 100-3000} is due on signature.|No deposit is taken.|]
[3.|§ 3|] [Either side may give notice of {notice:count 1-6} months|Notice period: {notice:count 1-6} months|It can be ended with {notice:count 1-6} months' notice]. [#renew=yes:Without notice it is prolonged by another year.|#renew=yes:It renews itself unless someone objects.|#renew=no:There is no automatic renewal.|]
[4.|§ 4|] [#sublet=yes:Passing the object on to others is allowed.|#sublet=no:Handing it on to third parties is forbidden.|#sublet=no:The object must not be sublet.|] [#secret=yes:Both sides keep what they learn to themselves[, also for {:count 1-5} years after the end|].|#secret=yes:Strict confidentiality is agreed.|] [Late payments bear interest at {rate:percent}.|] [Liability is limited to {cap:money 1000-90000}.|]
[5.|§ 5|] [The law of {law:words England/Germany/France/Spain/Switzerland/Ireland/Denmark/the Netherlands} applies|Place of jurisdiction is {court:city}|Disputes are heard in {court:city}]. [Earlier agreements of {:earlier 60-900} are void.|]

{place:city}, {signed:earlier 1-30}
[(signed) {rep2:name}, {b}|{b}|]
""",
        """
contract_type|type|title|agreement ; sort ; as written
contract_number|number ; no
party_a|provider|first_party|company ; a ; The company that is a party
party_b|client|second_party|customer|other_party ; b ; without title
represented_by|representative ; rep
start_date|begins|effective_date|valid_from ; start ; When it takes effect
end_date|ends|fixed_until|expires ; end ; null if indefinite
term|duration_type ; term=fixed/fixed_term,open/indefinite
fee|price|amount|payment_amount ; fee ; Amount of the regular payment
payment_period|per|billing_period|interval ; per=month/monthly,year/yearly,once/one_off,hour/hourly ; How often it is paid
currency ; $ ; ISO 4217
due_day|payment_day ; payday ; Day of the month
deposit ; dep ; null if there is none
notice_months|notice_period_months|notice_period ; notice ; in months
auto_renewal|renews_automatically|automatic_renewal ; renew? ; Is it prolonged without anyone doing anything
subletting_allowed|transfer_allowed ; sublet?
confidential|confidentiality|nda ; secret? ; Is secrecy agreed
late_interest_percent|interest_rate ; rate
liability_cap|max_liability ; cap
governing_law|applicable_law ; law ; Country
jurisdiction|place_of_jurisdiction|court ; court ; City
signed_at|place_of_signature ; place ; City
signed_on|signature_date ; signed
""",
    ),
)
