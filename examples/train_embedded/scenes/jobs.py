"""Scenes: vacancies as start-ups, authorities, shops and agencies write them."""

from .scene import Scene

SCENES = (
    Scene(
        "job",
        """
[🚀 |👋 |||][We're hiring!|Come build with us|Hey you!|Join the crew|Is this you?|{firm:company} is growing][ – {role:of role}| ({role:of role})|: {role:of role}| / {role:of role}]

[So, who are we?|About us|Hi, we're {firm:company}.|The short version:|What's this about?] [{firm} [makes|builds|sells|invented] [the {:of product} people fight over|software for {:words dentists/bakeries/farms/ports/choirs/landlords}|better {:of produce}]|We're the folks behind the {:of product}]. [{size:count 6-90} people, [two dogs|one kitchen|no ties][, {nat:count 3-20} nationalities|].|We were {:count 2-9} people in {:year}, now it's {size:count 12-200}.|] [We raised {fund:grand 200-950} last [spring|autumn|year].|No investors, just customers.|]

[What you'll do|Your day|The job|On your plate][:| –]
<duties 2-6:[- |* |→ |✔ ]{what:of work}>

[What we're looking for|You|You should bring|Must-haves|This is you if you have][:| –]
<needs 2-7:[- |* |→ |✔ ]{what:of skill}>
[[Nice to have|Bonus points for|A plus, not a must]: {nice:of skill}.
|]
[#level=junior:[You finished your studies not long ago? Perfect.|It's fine if this is your first proper job.|We'll teach you everything, really.|You've just left school or university and want to learn.|No track record needed, only curiosity.|Somebody experienced will sit beside you for the first year.]|#level=mid:[You've done this for {years:count 2-4} years or so.|A few years in the trade are behind you.|You no longer need someone to hold your hand, but you don't run the show yet.|{years:count 2-4} years in a similar job would be right.|You've shipped a couple of things already.]|#level=senior:[You've seen it all and others come to you for advice.|{years:count 7-15} years on the job have taught you what not to do.|You will mentor the younger ones and set the direction.|We want someone who has done this many times over.|You've got {years:count 7-15} years behind you and the scars to prove it.]|#level=lead:[You'll run a team of {team:count 3-15}.|{team:count 3-15} people will report to you.|You hire, you coach, you decide: the department is yours.|You'll be the boss of {team:count 3-15} colleagues.]]

[#remote=full:[Live wherever you like, we have no office.|Work from a beach hut if the wifi is good.|We only ever meet on screen, and twice a year in person.|Your kitchen table is your office.|Anywhere between Lisbon and Tallinn is fine.|We gave up our rooms long ago.]|#remote=hybrid:[We see each other on {:words Tuesdays/Wednesdays/Mondays and Thursdays} in {town:city}, the rest is up to you.|Two or three days a week at your own table, the others with us in {town:city}.|Come in when it helps, stay home when it doesn't (we are in {town:city}).|Half your time in {town:city}, half wherever you want.]|#remote=onsite:[The machines don't fit in a laptop, so you'd come to {town:city} every day.|We like to be in one room, and that room is in {town:city}.|You can't do this from home: {town:city}, {street:street}.|Your place is in our workshop in {town:city}.]]

[#pay=range:[💰 |Pay: |Money: |The salary? ]{lo:grand 28-60}[ – | to |-]{hi:grand 61-120 bare}[ a year| p.a.|, depending on what you bring|][, plus {equity:number 0-2 2} % of the company| + {bonus:percent} bonus|].|#pay=fixed:[Everyone at your level earns|We pay|Salary:] {lo:grand 28-90}[ a year|, no haggling|].|#pay=open:[Tell us what you want to earn.|We talk about money in the first call.|Pay depends on you.|Good pay, we promise.]]
[What you get|Perks|In return|We offer][:| –] [<perks 2-6:[- |* |→ |✔ ]{what:of perk}>|<perks 2-4, :{what:of perk}>]

[How to apply|Sounds good?|Next steps|Interested?] [Send [a few lines|your CV|something you made] to {mail:email}|Drop {boss.given} a line: {mail:email}|Fill in the form at {link:url}][ by {until:later 10-60}|, we read until {until:later 10-60}|][ (no cover letter!)|]. [{boss:name}, {bossrole:words co-founder/CTO/head of people/team lead/CEO}, [will get back to you within {reply:days}|is happy to chat].|]
[(We also look for a {:of role}, see our site.)|Our {:of role} ad from {:earlier 20-90} is closed.|Recruiters: no thanks.|]
""",
        """
job_title|title|position|role ; role ; as written
company|employer|firm|organisation ; firm
company_size|team_size|employees|headcount ; size ; Number of people now
funding|raised ; fund ; As a number
seniority|level|experience_level|career_level ; level=junior/entry,mid/intermediate,senior,lead/manager ; What the wording implies
years_of_experience|experience_years|min_years ; years ; null if no number is given
direct_reports|team_led|reports ; team
remote|work_model|work_mode|remote_policy ; remote=full/remote,hybrid,onsite/office ; Where the work is done
location|city|office_city ; town ; null if there is no office
street|address ; street
{ salary|compensation|pay|salary_range
min|from|minimum ; lo
max|to|maximum ; hi
currency ; $
}
salary_disclosure|pay_stated_as|salary_type ; pay=range,fixed/flat,open/not_stated ; How the pay is stated
equity_percent|equity ; equity
bonus_percent|bonus ; bonus
nice_to_have|optional_skill ; nice ; Skill that is no must
apply_by|deadline|closing_date ; until
contact|hiring_manager|contact_person ; boss
contact_role ; bossrole
email|apply_to|application_email ; mail
application_url|apply_link|link ; link
reply_within_days|response_time ; reply
responsibilities|duties|tasks ; duties* ; In order
task|duty|text ; duties.what
requirements|must_haves|required_skills|skills ; needs* ; Musts only, as written
skill|requirement|text ; needs.what
benefits|perks ; perks* ; as written, in order
benefit|perk|name ; perks.what
""",
        weight=1.6,
    ),
    Scene(
        "job",
        """
[{body:words City Administration/District Office/County Council/Municipality/Borough Council} of {town:city}|The {body:words Regional Archive/State Library/University Hospital/Environment Agency/Port Authority/Water Board/Court Service/Land Registry} in {town:city}|{body:company} ({town:city})]
[VACANCY NOTICE|Notice of vacancy|Recruitment notice|Call for applications|Public advertisement of a post] [No. |ref. |]{ref:code 20##/##|VN-####|##.##/####|@@-##-20##}
[[Published|Date of publication][:| on] {day:today}
|]
[The {unit:words Department of Finance/Office for Urban Planning/Registry/Legal Service/Building Control Unit/Personnel Division/Public Health Office/Youth Welfare Office/Road Maintenance Depot} is seeking to fill|In the {unit:words Department of Finance/Office for Urban Planning/Registry/Legal Service/Building Control Unit/Personnel Division/Public Health Office/Youth Welfare Office/Road Maintenance Depot} there is to be filled|The following position is open in the {unit:words Registry/Legal Service/Finance Office/Planning Office/Youth Welfare Office}:|Applications are invited for] [as of|with effect from|from] {start:later 30-200} [the post of|the position of|one post:|{posts:count 2-9} posts of] {role:of role}[ (m/f/d)|].

[1. |§ 1 |I. |][Duties|Tasks|The duties comprise]
<duties 2-6:[- |– |• |* |]{what:of work}[;|,|]>
[2. |§ 2 |II. |][Requirements|Candidates must prove|Conditions of eligibility]
<needs 2-6:[- |– |• |* |]{what:of skill}[;|,|]>
[[Desirable|An advantage, though not required,] [is|:] {nice:of skill}.
|]
[3. |§ 3 |III. |][Conditions|What the post offers|Remuneration]
[#term=permanent:[The appointment is without limit of time.|The contract has no end date.|Employment is for an indefinite period.|After probation ({prob:months}) the post is for life.|You may stay until retirement.|It is an open-ended post.]|#term=fixed:[The contract ends on {end:later 300-900}.|Funding covers {length:months} only.|Employment is limited to {length:months}.|The post is tied to a project that closes on {end:later 300-900}.|It serves as cover during a colleague's leave until {end:later 300-900}.|An extension beyond {length:months} is not foreseen.]]
[#hours=full:[The weekly working time is that of a whole post ({weekly:number 35-42 1} hours).|Working time corresponds to 100 %.|A complete post of {weekly:number 35-42 1} hours a week.|Working time: Monday to Friday, {weekly:number 35-42 1} hours.]|#hours=part:[Working time amounts to {pct:count 40-80} % of a whole post.|{weekly:number 15-30 1} hours a week, spread over three or four days.|Only the mornings are to be worked, {weekly:number 15-25 1} hours a week.|Half a post.|Two colleagues share the desk, {weekly:number 18-22 1} hours each.]]
[Pay is according to|Remuneration:|Grade] {grade:code E ##|A ##|G#|Band #|TV-L ##|AD #}[, step {step:count 1-6}|][, that is {lo:money 24000-40000} to {hi:money 40001-80000} a year|, currently {lo:money 2200-3400} to {hi:money 3401-6500} a month|].
[#equal=yes:[Women are under-represented in this field and especially invited.|Disabled persons are given preference with equal suitability.|We welcome candidates whatever their origin, age or faith.]||] [#travel=yes:[The post requires journeys within the district.|You will often be on the road.|Visits on site are part of it, a car is provided.]|#travel=no:[There are no journeys.|The work is done entirely at the office.]|]

[Applications|Written applications|Your documents] [(CV, certificates)|with the usual papers||] [are to reach us by|must be received no later than|are accepted until|should arrive before the end of] {until:later 10-50}[, {untilat:words noon/midnight/12:00/23:59}|] [at {addr:address}|by e-mail to {mail:email}|through {link:url}|, addressed to {mail:email}][, quoting the number above|]. [Interviews [are planned for|take place on] {inter:later 51-80}.|] [Questions about the post: {who:name}, {tel:tel}[; on the procedure: {hr:name}|].|For information contact {who:name} ({tel:tel}).|]
[The notice of {:earlier 20-90} is withdrawn.|Expenses for interviews are not refunded.|]
""",
        """
authority|employer|institution|body ; body
city|place|location|town ; town
reference|vacancy_number|notice_number|ref ; ref
published|publication_date|posted_on ; day
department|unit|office ; unit
start_date|starts|from ; start
job_title|title|position|post ; role
number_of_posts|openings|posts ; posts ; null if it is one
contract_type|term|contract|duration_type ; term=permanent/unlimited/open_ended,fixed/fixed_term/temporary ; Is the contract limited in time
contract_end|ends_on|limited_until ; end
contract_months|length_months|duration ; length
probation|probation_period ; prob
working_time|employment_type|full_or_part_time ; hours=full/full_time,part/part_time
weekly_hours|hours_per_week ; weekly
percentage|workload_percent ; pct
pay_grade|grade|salary_grade ; grade ; as written
step|pay_step ; step
salary_min|pay_from|minimum_salary ; lo
salary_max|pay_to|maximum_salary ; hi
currency ; $
diversity_statement|equal_opportunity|encourages_minorities ; equal?
travel_required|business_travel|travel ; travel?
apply_by|deadline|closing_date|application_deadline ; until
closing_time|deadline_time ; untilat ; as written
apply_address|postal_address ; addr
email|apply_email ; mail
portal|apply_url ; link
interview_date|interviews_on ; inter
contact|contact_person|questions_to ; who
hr_contact ; hr
phone ; tel
desirable|nice_to_have ; nice
duties|tasks|responsibilities ; duties* ; In order, without numbering
duty|task|text ; duties.what
requirements|conditions|qualifications ; needs* ; In order, without numbering
requirement|qualification|text ; needs.what
""",
        weight=1.3,
    ),
    Scene(
        "job",
        """
[Help wanted|Sign in the window:|Seen on the noticeboard|STAFF WANTED|Small ad|Can you spare a few hours?|Extra pair of hands needed!]
[{firm:company}|At {firm:company}|{firm:company}, {street:street}|{firm:company}, {town:city}] [looks for|needs|wants|is looking for] [a |an extra |]{role:of role}[ (m/w/d)| or two|], [#when=weekend:[Saturdays and Sundays|only when everyone else is off|Sat/Sun {from:time 6-11}-{to:time 14-20}|at weekends]|#when=evening:[from {from:time 16-18} until {to:time 20-23}|after the shops close|for the late turn|once it gets dark]|#when=morning:[before school starts, {from:time 5-7} to {to:time 8-12}|from {from:time 5-7}, done by noon|for the early hours|until lunch, five days]|#when=night:[while the town sleeps|{from:time 21-23} to {to:time 5-7}|for the small hours|from dusk to dawn]|#when=flexible:[you choose the days|whenever you have time|hours as you like|we fit round your timetable]].
[{weekly:count 4-24} h a week|About {weekly:count 4-24} hours weekly|{days:count 2-4} days a week|{days:count 2-4} shifts|] [to start with|in the beginning|][.|, {pay:money 10-24} an hour[ plus tips|]|, {pay:money 10-24}/h[, cash weekly|]|, pay {month:money 300-900} a month]
[[Your job|You'd|What to do]: {d1:of work}[, {d2:of work}| and {d2:of work}|].|]
[#exp=required:[You've done this kind of work before.|Only people who know the trade, please.|Bring proof that you can do it.|We have no time to train anyone.]|#exp=none:[Never done it? We show you.|Anybody can learn it in a day.|Beginners, students and grandmothers welcome.|You needn't know anything, just be on time.]|] [You need {need:of skill}.|Without {need:of skill} it won't work.|] [You must be {age:count 16-21} or over.|From age {age:count 16-21}.|] [#contract=mini:[Within the mini-job limit.|Tax-free up to the usual limit.]|#contract=casual:[No fixed hours, we ring you when it's busy.|Paid by the day.|Only for the {:words Christmas/summer/harvest/strawberry} season.]|#contract=regular:[With a proper contract and paid holidays.|You get {leave:count 10-28} days off a year.]|]
[[Starts|Needed from|From] {start:later 3-40}.|As soon as you can.|Right away!|] [It went from {:money 6-9} to {pay} this spring.|The {:of role} job is taken.|]
[Ask for {who:name} [at the counter|inside|in the kitchen]|Ring {who:name}, {tel:tel}|Call {tel:tel} [after {after:time 14-19}|before noon|]|Text {tel:tel}|Pop in and talk to {who:name}][, bring your papers|, no mails please|].
""",
        """
employer|shop|company|business ; firm
street|address ; street
city|town ; town
job_title|position|wanted|role ; role
shift|working_hours|time_of_day|when ; when=weekend/weekends,evening/evenings,morning/mornings,night/nights,flexible ; When the work is done
from_time|shift_start|starts_at ; from
to_time|shift_end|ends_at ; to
hours_per_week|weekly_hours ; weekly
days_per_week|shifts_per_week ; days
hourly_wage|hourly_pay|pay_per_hour|wage ; pay ; Present pay for an hour
monthly_pay ; month
currency ; $
experience|experience_required|prior_experience ; exp=required/needed,none/not_needed ; Must the applicant know the work
required_skill|requirement|must_have ; need
minimum_age|min_age ; age
contract|contract_type|employment_form ; contract=mini/mini_job,casual/on_call/seasonal,regular/permanent
holidays|paid_leave_days ; leave
start_date|from_date|starts ; start ; null if at once or not said
contact|ask_for|contact_person ; who
phone ; tel
call_after ; after
main_task|task|first_duty ; d1
second_task|other_task ; d2
""",
    ),
    Scene(
        "job",
        """
[{agency:company} Recruitment|{agency:company} Personnel|Posted by {agency:company}|]
{role:of role up} [\\||-|·] {town:city}[, {land:country}|] [\\||-|·] [{firm:company}|our client|a client of ours|{firm:company}]
[Job ID|Ref|Vacancy|Req.] {ref:code ######|R-#####|@@#####|JR####} [\\||-|·] [posted {day:earlier 1-30}|{day:today}|{views:count 20-900} views]

[Type|Contract|Employment] : [#type=full_time:[Full-time|FT|40 h/week|100 %]|#type=part_time:[Part-time|PT|20 h/week|50-60 %]|#type=contract:[Contract, {length:months}|Freelance, {length:months}|{length:months}, day rate]|#type=intern:[Internship|Work placement, {length:months}|Summer placement]]
[Salary|Pay|Package|Compensation] : [{lo:grand 25-60} [-|to|–] {hi:grand 61-130 bare}|{lo:money 12-30} - {hi:money 31-70} [#per=hour:per hour|#per=hour:an hour|#per=hour:/h]|{lo:money 200-450} to {hi:money 451-900} [#per=day:a day|#per=day:per diem|#per=day:day rate]|{lo:money 1800-3500} – {hi:money 3501-7000} [#per=month:monthly|#per=month:a month|#per=month:per month]|{lo:grand 25-60} – {hi:grand 61-130 bare} [#per=year:per annum|#per=year:p.a.|#per=year:a year|#per=year:gross/yr]|competitive|on request]
[Working from home|Home office|Remote] : [#remote=no:[not possible|no|the job is done on the ward|customers come to the counter]|#remote=some:[{hd:count 1-3} days a week|by arrangement, {hd:count 1-3} days|partly|after probation]|#remote=yes:[yes, all of it|100 %|fully, within the country|every day if you like]]
[[Languages|Language] : {lang:words English C1/German B2/French and English/Polish or Czech/native Spanish/Dutch B1/none needed}
|][[Sector|Industry] : {sector:words healthcare/logistics/renewable energy/food production/public transport/insurance/tourism/education/building/retail/biotech/publishing}
|][[Openings|Headcount] : {open:count 2-12}
|][[Licence|Driving] : [#drive=yes:[class B needed|car licence is a condition|you drive our van]|#drive=no:[not needed|a bike will do|bus and tram are enough]]
|]
[Your tasks|Role|What you do]
<duties 2-5:[• |- |· |]{what:of work up}>
[Your profile|Profile|You have]
<needs 2-6:[• |- |· |]{what:of skill up}>
[Why us|Benefits|The company offers]
<perks 2-6:[• |- |· |]{what:of perk up}>

[Start|Entry|From] : [{start:later 10-120}|immediately|asap|by agreement]
[Apply by|Closes|Deadline] : [{until:later 5-60}|until filled|ongoing]
[Contact|Your recruiter|Consultant] : {who:name}[, {tel:tel}|][, {mail:email}|]
[Similar jobs: {:of role} ({:city}, {:money 20000-50000}) · {:of role} ({:city})|{:count 10-90} people have applied|]
""",
        """
agency|recruiter_company|posted_by ; agency
job_title|title|position ; role ; as written
city|location|place ; town
country|country_code ; land
company|employer|hiring_company ; firm ; null if the employer is not named
job_id|reference|vacancy_id|requisition ; ref
posted_on|published|date_posted ; day
views ; views
employment_type|type|contract_type ; type=full_time/fulltime,part_time/parttime,contract/freelance,intern/internship
contract_months|length|duration ; length
salary_from|salary_min|pay_min ; lo
salary_to|salary_max|pay_max ; hi
salary_period|pay_period|per ; per=hour/hourly,day/daily,month/monthly,year/yearly/annual ; What the pay is for, null if the ad does not say
currency ; $
remote|home_office|remote_option ; remote=no/none,some/partial/hybrid,yes/full
home_office_days|remote_days ; hd
languages|language ; lang ; as written
industry|sector ; sector
openings|headcount|positions ; open
driving_licence_required|needs_licence|licence ; drive?
start_date|starts_on ; start ; null if no date is given
deadline|apply_by|closes ; until ; null if there is none
recruiter|contact|consultant ; who
phone ; tel
email ; mail
responsibilities|tasks|duties ; duties* ; In order
task|text|duty ; duties.what ; as written
requirements|profile|qualifications ; needs* ; In order
requirement|text|skill ; needs.what ; as written
benefits|perks ; perks* ; In order
benefit|text|perk ; perks.what ; as written
""",
        weight=1.2,
    ),
)
