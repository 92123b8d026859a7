"""Scenes: loans, insurance, leases, licences and employment: terms whose numbers are told apart by their role."""

from .scene import Scene

_COVER = (
    "storm/theft/glass breakage/water damage/fire/liability/legal costs/breakdown/lightning/vandalism/hail/burst pipes"
)

SCENES = (
    Scene(
        "contract",
        """
[LOAN AGREEMENT|Private loan|Promissory note][ no. {no:code ##/####|L-####}|]

{lender:name}[ of {ltown:city}|] [lends|hereby lends|grants] {bor:person} [of {btown:city} |][the sum of|an amount of|] {sum:money 500-60000}[, paid out [on {out:date}|in cash today]|]. [It bears|Interest:|The loan carries] {int:number 0.5-9 2} [%|per cent] [a year|p.a.|per annum][, payable {per:words monthly/quarterly/yearly/at the end}|].

[Repayment in {n:count 6-72} instalments of {inst:money 50-1500}, the first on {first:later 20-60}|To be returned in one sum by {due:later 90-400}|{bor.family} repays {inst:money 50-1500} a month from {first:later 20-60} on].
[#early=yes:[Earlier repayment is welcome and free of charge.|{bor.family} may pay back sooner at no cost.]|#early=no:[Nothing may be repaid ahead of time.|The schedule is binding for both.]|] [Who is late by more than {late:days} owes {fine:money 10-90}[ each time|].|]
[#sec=yes:[As a pledge {bor.family} leaves {pledge:words a violin/two gold coins/a motorcycle/a painting/a wine collection/the car papers}.|Secured by {pledge:words a violin/a motorcycle/a painting/the car papers}.]|#sec=no:[No security is given.|On trust alone.]|] [Witness: {wit:name}.|]
[Signed at {place:city}, {day:today}|{place:city}, {day:today}]
""",
        """
number|agreement_number ; no
lender|creditor ; lender
lender_city ; ltown
borrower|debtor ; bor
loan_amount|sum|lent ; sum
paid_out_on|disbursed_on ; out
interest_rate|annual_rate ; int
interest_payable|interest_due ; per
instalments|number_of_instalments ; n
instalment|monthly_payment|rate_amount ; inst
first_instalment_on|first_payment_date ; first
due_date|repay_by|maturity ; due
early_repayment_allowed|may_repay_early ; early?
late_fee|penalty ; fine
grace_days|late_after_days ; late
secured|has_security ; sec?
pledge|collateral|security ; pledge
witness ; wit
place|signed_at ; place
date|signed_on ; day
currency ; $
""",
    ),
    Scene(
        "contract",
        f"""
[POLICY SCHEDULE|Your cover at a glance|Certificate of insurance|Nachtrag / endorsement {{en:count 1-9}}]
[Policy|Contract][: | no. |]{{pol:code ##-###-####|HH########|@@@ ######}}[ (replaces {{:code ##-###-####}})|]
[Policyholder|Insured][: | ]{{who:person}}, {{adr:address}}
[Object|What is insured|Risk][: | ]{{obj:words household contents/detached house/e-bike/sailing boat/dental practice/camper van/grand piano/bakery}}
[In force|Period][: | from ]{{beg:date}}[ [to|until] {{end:later 300-400}}|], [renews by itself unless cancelled {{notice:days}} ahead|{{term:months}}]
[Sum insured|Insured up to|Limit][: | ]{{sum:money 2000-900000}}[ ([was|until now] {{:money 1000-90000}})|]
[Excess|You bear yourself|Deductible][: | ]{{exc:money 50-1500}}[ per [claim|event]|]
[Covered|Perils][: | ]<p 2-4, :{{peril:words {_COVER}}}>
[Not covered|Excluded][: | ]{{ex:words flood/wear/cash/war/glass/pets/use in races}}
[Premium|To pay|Price][: | ]{{prem:money 30-1900}} [{{freq:words a month/a quarter/a year/half-yearly}}], [incl. {{tax:percent}} tax|tax included][, [by direct debit|collected] on {{deb:later 3-30}}|]
[#nc=yes:[No claims since {{ncy:year}}: {{disc:percent}} off.|Your claim-free years earn {{disc:percent}}.]|#nc=no:[After the claim of {{ncy:year}} there is no rebate.|No discount at present.]|]
[Questions: {{agent:name}}, {{tel:phone}}|Your adviser {{agent:name}}, {{mail:email}}]
""",
        """
policy_number|policy|contract ; pol
endorsement|endorsement_number ; en
policyholder|insured|holder ; who
address ; adr
insured_object|object|risk ; obj
start_date|valid_from|in_force_from ; beg
end_date|valid_to ; end
notice_days|cancellation_notice_days ; notice
term_months|term ; term
limit|coverage_amount|insured_up_to ; sum ; The present sum
excess|deductible ; exc ; Per claim
exclusion|not_covered ; ex
premium|price ; prem
premium_period|payment_frequency|per ; freq ; as written
debit_date|next_debit ; deb
no_claims_bonus|claim_free ; nc?
discount_percent|rebate ; disc
agent|adviser|contact ; agent
phone ; tel
email ; mail
currency ; $
perils|covered ; p*
peril|name ; p.peril
""",
    ),
    Scene(
        "contract",
        """
[Between|This is an agreement between] {firm:company} ([the Employer|Employer]) and {who:person}[, born {born:birth 19-60}|] ([the Employee|Employee])

[§ |]1 [Post. |][{who.family} is taken on|The employee joins] as {job:job} [from|with effect from|on] {start:later 10-120}[ in {city:city}|].
[§ |]2 [Hours. |]{hrs:number 12-42 1} hours a week[, {dys:spelled 2-6} days|][; core time {ct:time 8-10} to {cte:time 13-16}|]. [#ot=paid:[Overtime is paid with {otp:percent} on top.|Every extra hour is paid.]|#ot=time:[Overtime becomes time off.|Extra hours are taken as leave.]|#ot=none:[Overtime is covered by the salary.|No extra pay for extra hours.]|]
[§ |]3 [Pay. |][Gross|The gross salary is|Pay is] {pay:money 1200-9000} {per:words a month/an hour/a year/a week}[, {mon:spelled 12-14} times a year|][, plus {bonus:money 200-9000} [as a|] {bk:words Christmas bonus/signing bonus/car allowance/meal allowance}|].
[§ |]4 [Leave. |]{leave:count 20-34} [working |]days a year[ ({:count 20-24} by law)|].
[§ |]5 [Trial. |][The first {prob:months} are a trial period|Probation: {prob:months}][, with {pn:days} notice|]; [afterwards|after it|then] {notice:months} notice to the end of a {ne:words month/quarter/half-year}.
[§ |]6 [#rem=yes:[Up to {rd:spelled 1-4} days a week may be worked from home.|{who.family} may work from home {rd:spelled 1-4} days a week.]|#rem=no:[Work is done on the premises only.|No home office.]|#rem=full:[There is no fixed desk; the work is done from wherever {who.family} likes.]]
[§ |]7 [#side=yes:[Side jobs need only be announced.|Other work is allowed.]|#side=no:[No other paid work without written consent.|Exclusively for the employer.]|]
[§ |]8 [#lim=yes:[The contract ends by itself on {end:later 200-700}.|Limited until {end:later 200-700}.]|#lim=no:[For an indefinite time.|No end is fixed.]]

{place:city}, {day:today}[ – for the employer {boss:name}|]
""",
        """
employer|company ; firm
employee|employee_name ; who
date_of_birth|born ; born
job_title|position|post ; job
start_date|begins_on|first_day ; start
place_of_work|work_city ; city
weekly_hours|hours_per_week ; hrs
days_per_week ; dys
overtime|overtime_rule ; ot=paid,time/time_off/compensated,none/included
gross_salary|salary|pay ; pay
pay_period|paid_each ; per ; as written
salaries_per_year|payments_per_year ; mon
bonus|extra_payment ; bonus
bonus_kind ; bk
leave_days|holiday_days|annual_leave ; leave ; All days of a year
probation|trial_period_months ; prob
notice_months|notice_period ; notice ; After the probation
notice_end ; ne
remote|home_office|remote_work ; rem=yes/partly/hybrid,no/on_site,full/fully_remote
remote_days|home_office_days ; rd ; A week
side_jobs_allowed|other_work ; side?
limited|fixed_term|is_temporary ; lim?
end_date|ends_on ; end ; null if it has no end
signed_on|date ; day
signed_for_employer ; boss
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "contract",
        """
[Deal memo|Term sheet|Heads of terms] ([draft {v:count 1-9}|not binding|confidential]) – {day:today}
[- |* |][Parties|Who][:|] {a:company} ([licensor|owner]) / {b:company} ([licensee|buyer])
[- |* |][What|Subject][:|] {obj:words the novel "Salt"/the font Marl/a patent on hinges/the logo of the fair/the map data/the recipe for the sauce/software for tills/the song "Ferry"}
[- |* |][Where|Territory][:|] {terr:words worldwide/Benelux/DACH/North America/EU without Malta/Japan/Nordics}[, {lang:words all languages/German only/English and French} |]
[- |* |][Exclusive|Exclusivity][:|] [#ex=yes:[nobody else gets it|sole and exclusive|only the licensee, not even the owner]|#ex=no:[others may be licensed as well|no|shared with {:company}]]
[- |* |][Term|How long][:|] {term:months} [from|as of] {beg:later 5-90}[, [option for|may be prolonged by] {opt:months}|]
[- |* |][Money|Fees][:|] {up:money 500-90000} [up front|on signature][, then {roy:number 1-25 1} % of [net sales|sales]|][, [at least|minimum] {min:money 300-9000} a year|][; audit once a year|]
[- |* |][Out|Termination][:|] [either side with {no:days} notice|on breach, after {no:days}|{no:months} ahead]
[- |* |][Law|Court][:|] {law:words English law/Swiss law/laws of Delaware/German law/Irish law}, {court:city}
[- |* |][Open|To do][:|] {todo:duty} ({own:name}, by {by:later 2-20})
""",
        """
draft|version ; v
date ; day
licensor|owner|party_a ; a
licensee|buyer|party_b ; b
subject|licensed_work|object ; obj ; as written
territory ; terr
languages ; lang
is_exclusive|exclusivity ; ex?
term_months|duration_months ; term
start|begins_on ; beg
option_months|extension_months ; opt
upfront_fee|advance|signing_fee ; up
royalty_percent|royalty ; roy
minimum_guarantee|annual_minimum ; min
governing_law|law ; law
jurisdiction|court|venue ; court
open_point|open_issue ; todo
responsible|owner_of_open_point ; own
open_until|deadline ; by
currency ; $
""",
    ),
    Scene(
        "contract",
        """
[Mietvertrag / lease|Rental agreement|Tenancy in brief]
[Landlord|Let by][:|] {ll:person}[, {ltel:phone}|]
[Tenant|Let to][:|] {t1:name}[ and {t2:name}|][, [presently|now] at {:address}|]
[Let is|Object|Premises][:|] {kind:words two-room flat/attic flat/shop/practice rooms/garage/studio/cellar workshop/house with garden} [at|in] {adr:address}, {fl:floor}[, {area:measure 12-180 m²}|][, {rooms:number 1-6 1} rooms|]
[Begin|From][:|] {beg:later 5-90}. [#lim=no:[Open-ended|No fixed end|Runs until somebody gives notice]|#lim=yes:[Ends {end:later 300-900}|For {term:months} only]].
[Rent|Cold rent|Basic rent][:|] {rent:money 180-2900}; [costs|service charges|Nebenkosten][:|] {nk:money 20-400}[; [garage|parking][:|] {park:money 20-140}|]; [in all|together|total] {sum:total rent nk park}, due on the {dd:words 1st/3rd working day/15th} of each month[ to {iban:iban}|]
[Deposit|Kaution][:|] {dep:money 300-8000}[, [in {di:spelled 2-3} parts|before the keys are handed over]|]
[Animals|Pets][:|] [#pet=yes:[welcome|one cat is fine|dog Bruno may move in]|#pet=no:[please not|none|only goldfish]|#pet=ask:[ask first|with written consent|case by case]]
[Smoking[:|] [#sm=no:[balcony only|never indoors]|#sm=yes:[tolerated|up to the tenant]]
|][Keys[:|] {keys:count 1-7}[ (house {:count 1-3}, letter box {:count 1-2})|]
|][Notice[:|] {notice:months}
|]{place:city}, {day:today}
""",
        """
landlord|lessor|let_by ; ll
landlord_phone ; ltel
tenants|lessees ; t1+t2 ; Names in order
kind|premises|object_type ; kind
address|property_address ; adr ; Of the let premises
floor|storey ; fl
area_m2|area|size ; area
rooms ; rooms
start|lease_start|begins ; beg
fixed_term|limited ; lim?
end|lease_end ; end
basic_rent|cold_rent|rent ; rent ; Without charges
service_charges|utilities|extra_costs ; nk
parking_rent|garage ; park
total_rent|warm_rent|monthly_total ; sum ; What is paid each month
due_day|rent_due_on ; dd
iban|account ; iban
deposit|security_deposit ; dep
pets|pets_allowed|pet_policy ; pet=yes/allowed,no/forbidden,ask/on_request/consent_needed
smoking_allowed|smoking ; sm?
keys|number_of_keys ; keys
notice_months|notice_period_months ; notice
signed_on|date ; day
currency ; $
""",
    ),
)
