"""Scenes: lives and careers: CVs in tables and in prose, obituaries, speakers, references, grants, skills with marks."""

from .scene import Scene

_SKILL = "Python/Excel/SAP/AutoCAD/Blender/SQL/QGIS/InDesign/R/LabVIEW/Photoshop/Kotlin/MATLAB/Terraform"
_TONGUE = "English/French/Polish/Arabic/Portuguese/Danish/Turkish/Mandarin/Dutch/Greek/Welsh/Urdu"
_SUBJECT = "civil engineering/nursing/law/marine biology/history of art/mathematics/agronomy/journalism/physics/social work/horticulture/linguistics"

SCENES = (
    Scene(
        "cv",
        f"""
[{{who:name}}|CURRICULUM VITAE
{{who:name}}][, {{title:job}}|]
[{{adr:address}}|{{town:city}}][ · | – ]{{tel:tel}}[ · {{mail:email}}|][
born {{born:birth 24-60}}[ in {{bp:city}}|][, {{nat:words Irish/Polish/Kenyan/Austrian/Chilean/Finnish/Greek}}|]|]

[Work|Experience|Beruf]
<j 2-4:[{{b:year}}[–|-| to ][{{e:year}}|today|now]|[{{e:year}}|now]: ]  {{job:job}}, {{firm:company}}[, {{jt:city}}|][ ({{pc:number 20-90 0}} %)|][: {{did:duty}}|]>
[Education|Training]
[{{ey:year}}  {{deg:words BSc/MSc/PhD/diploma/apprenticeship/BA/state examination}} in {{sub:words {_SUBJECT}}}, {{uni:city}}[ ([grade|mark|final mark] {{gr:number 1-3 1}})|][, thesis: "{{th:subject}}"|]|{{sub:words {_SUBJECT}}} ({{deg:words BSc/MSc/PhD/diploma/BA}}), {{uni:city}}, {{ey:year}}]
[Languages|Tongues]: <l 1-4, :{{la:words {_TONGUE}}} ([#lv=native:mother tongue|#lv=native:native|#lv=fluent:C1|#lv=fluent:fluent|#lv=basic:A2|#lv=basic:holiday level|#lv=good:B2|#lv=good:good])>
[IT|Tools]: <s 2-4, :{{sk:words {_SKILL}}} {{st:words ●●●○○/●●○○○/●●●●○/●●●●●}}>
[Driving licence {{dl:words B/C1E/A/BE}}|No driving licence][; [free from|available from|could start] {{free:later 20-120}}|][; [hopes for|asks] {{pay:grand 32-98}} a year|].
[#cl=yes:[Security check passed {{cy:year}}.|Cleared for restricted work since {{cy:year}}.]|#cl=no:[No clearance so far.|Never been vetted.]|] [#fl=yes:[Works on own account.|Freelance.]|#fl=no:[In permanent employment.|On a payroll.]|]
""",
        """
name|full_name|candidate ; who
headline|title|current_title ; title
address ; adr
city|town ; town
phone|mobile ; tel
email ; mail
date_of_birth|birth_date ; born
place_of_birth|birthplace ; bp
nationality ; nat
degree|qualification ; deg
field_of_study|subject|major ; sub
university_city|studied_in ; uni
graduation_year|year_of_degree ; ey
grade|final_mark ; gr
thesis|thesis_title ; th
driving_licence|licence_class ; dl ; null if none
available_from|earliest_start ; free
salary_expectation|desired_salary ; pay ; A year
vetted|background_checked ; cl?
vetted_in ; cy
self_employed|own_business ; fl?
languages ; l*
language ; l.la
level|proficiency ; l.lv=native/mother_tongue,fluent/c1,good/b2/intermediate,basic/a2/beginner
jobs|positions|experience ; j* ; In the order of the CV
title|position|role ; j.job
employer|company ; j.firm
city|place ; j.jt
percent|workload_percent ; j.pc ; null if full time
task|main_duty ; j.did
tools|programs ; s*
name|tool ; s.sk
dots|mark ; s.st ; as printed
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "cv",
        f"""
[About the speaker|Our guest|Faculty profile|Short bio]
[Prof. |Dr |]{{who:name}} [teaches|has taught] {{sub:words {_SUBJECT}}} [in|at the university of] {{uni:city}} [since|from] {{since:year}}[, before that [{{yrs:spelled 2-14}} years|a while] at {{firm:company}}|]. [Born in {{bp:city}}[ in {{by:year}}|], |][she|he|they] [studied|read] {{sub2:words {_SUBJECT}}} in {{st:city}}[ and took the doctorate in {{dy:year}}[ on "{{th:subject}}"|]| but never finished a thesis|].
[Author of {{bk:spelled 2-14}} books, [the latest|most recently] "{{book:subject}}" ({{pub:words Harrow/Lindwurm/Fenwick/Two Rivers/Presses du Lac}}, {{py:year}}).|{{art:number 12-240 0}} papers[, h-index {{hi:count 6-60}}|].] [[Prizes|Awards]: <a 1-3; :{{aw:words Golden Compass/Young Scholar/Prix du Lac/Medal of the Society/Best Paper/Teaching Prize}} ({{ay:year}}[, {{pl:words 1st/2nd/3rd}} place|])>.|]
[Grants[:|] <g 1-3; :{{gm:money 4000-900000}} from {{gf:words the Royal Fund/EU/city of Bremen/Fondation Aubert/the lottery}} [#gr=lead:as lead|#gr=lead:principal investigator|#gr=co:as partner|#gr=co:co-applicant]>.|]
[Lives with {{ch:spelled 2-5}} children in {{live:city}}.|When not at work: {{hob:words sailing/bell ringing/restoring radios/goats/trail running/the tuba}}.|] [Talk: "{{talk:subject}}", {{tt:time 9-18}}[, {{room:room}}|].|]
""",
        """
name|speaker ; who
subject|teaches|field ; sub ; What is taught now
university_city|works_in ; uni
since|in_post_since ; since
previous_employer ; firm
years_at_previous ; yrs
born_in|birthplace ; bp
birth_year ; by
studied|field_of_study ; sub2
studied_in ; st
doctorate_year|phd_year ; dy
thesis_title ; th
books|books_written ; bk
latest_book ; book
publisher ; pub
book_year ; py
papers|publications ; art
h_index ; hi
children ; ch
lives_in|home ; live
hobby ; hob
talk_title|talk ; talk
talk_time ; tt
room ; room
awards|prizes ; a*
award|name ; a.aw
year ; a.ay
place|rank ; a.pl ; null unless it is stated
grants|funding ; g*
amount ; g.gm
funder|source ; g.gf
part_taken ; g.gr=lead/pi/principal_investigator,co/partner/co_investigator ; null unless it is stated
currency ; $
""",
    ),
    Scene(
        "cv",
        """
[To whom it may concern|Zeugnis / letter of reference|Reference for {who:name}]

[{who:name}[, born {born:birth 22-60},|] was with us as {job:job} from {b:earlier 400-4000} [to|until] {e:earlier 1-30}|From {b:earlier 400-4000} to {e:earlier 1-30} {who:name} worked for {firm:company} as {job:job}][, [at first|until {prom:year}] as {job0:job}|].
[Tasks: <t 2-4; :{d:duty}>.|The work was above all to {d1:duty}.]
[#g=top:[We were satisfied at all times and to the fullest.|I have rarely had a better colleague.|Beyond all expectations, every single year.]|#g=good:[We were always fully satisfied.|Work was reliable and good.]|#g=fair:[The work met what was asked.|We were satisfied, on the whole.]|#g=poor:[{who.family} tried hard.|{who.family} showed interest in the work.]] [{who.family} led {team:spelled 2-30} people[ and a budget of {bud:money 4000-900000}|].|] [Days of illness: {ill:count 0-14}.|]
[#why=own:[{who.family} leaves at {who.family}'s own wish, which we regret.|The leave-taking is {who.family}'s decision.]|#why=end:[The contract was limited and has run out.|The project is over.]|#why=cut:[We had to close the department.|For reasons of business the post is dropped.]|#why=mutual:[We part by agreement.|Both sides agreed to end it.]] [#again=yes:[We would take {who.family} back any day.|The door stays open.]|#again=no:[Another employment here is not planned.|We shall not need this post again.]|]
{place:city}, {day:today}
{boss:name}[, {bt:words managing director/head of personnel/foreman/owner}|]
""",
        """
employee|name|person ; who
date_of_birth ; born
employer|company ; firm
position|job_title|last_position ; job
previous_position|first_position ; job0
promoted_in ; prom
from|start|employed_from ; b
until|end|employed_until ; e
main_task ; d1
overall_rating|grade|verdict ; g=top/excellent/outstanding,good,fair/satisfactory/average,poor/weak ; In the usual code of references
team_size|people_led ; team
budget ; bud
sick_days ; ill
reason_for_leaving|leaving_reason ; why=own/own_wish/resignation,end/contract_ended,cut/redundancy/dismissal_for_business_reasons,mutual/mutual_agreement
rehire|would_rehire ; again?
place ; place
issued_on|date ; day
signed_by ; boss
signatory_title ; bt
tasks|duties ; t*
task|duty ; t.d
currency ; $
""",
    ),
    Scene(
        "cv",
        """
[{who:name}|In memory of {who:name}], {by:year}–{dy:year}
[{who.family} died on {died:earlier 3-30}[ at {age:age 50-99}|], [at home in {town:city}|in {town:city}, after a short illness]|On {died:earlier 3-30} {town:city} lost its {role:words baker/organist/ferryman/midwife/teacher/verger/bookseller}[, aged {age:age 50-99}|]]. [Born in {bt:city}[ as the {sib:words second/third/fifth/youngest} of {nsib:spelled 3-9} children|], {who.family} [learnt|began] as {job:job}[ with {firm:company}|], [ran|led] {shop:company} for {yrs:spelled 8-45} years, and [sat on the council for {party:words the Greens/the Liberals/nobody in particular/the Farmers}|sang in the choir|coached the under-twelves].|] [The {med:words Medal of Merit/Golden Needle/City Key} came in {my:year}.|]
[{who.family} leaves|There remain] [{part:name}, married since {wy:year}|no family][, {ch:spelled 2-6} children|][ and {gc:spelled 2-14} grandchildren|]. [The funeral|Burial]: {fd:later 3-12}, {ft:time 9-15}, {fp:place}. [#fl=yes:[Flowers are welcome.|Bring flowers, the brighter the better.]|#fl=no:[No flowers, please; rather something for {cha:words the hospice/Médecins sans Frontières/the lifeboats}.|In place of wreaths: {cha:words the hospice/the animal home/the lifeboats}.]|] [Condolences: {mail:email}|]
""",
        """
name|deceased|person ; who
birth_year|born ; by
death_year ; dy
died_on|date_of_death ; died
age|age_at_death ; age
place_of_death|town ; town
known_as|role ; role
birthplace|born_in ; bt
siblings_total|children_in_family ; nsib
profession|trade ; job
trained_with ; firm
business|led ; shop
years_in_business|years_led ; yrs
party ; party
honour|award ; med
honour_year ; my
spouse|partner ; part
married_since|wedding_year ; wy
children ; ch
grandchildren ; gc
funeral_date|burial_date ; fd
funeral_time ; ft
funeral_place ; fp
flowers_wanted|flowers_welcome ; fl?
donations_to|charity ; cha
condolences_to|email ; mail
""",
    ),
)
