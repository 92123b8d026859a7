"""Scenes: short news: fires, courts, firms, science, traffic, people; figures that were corrected, and what others claim."""

from .scene import Scene

_FIRM = "Halden Robotics/Morrow Foods/Pelikan Logistik/Astra Tiles/Nordwerft/Quill & Sons/Vexa Energy/Bluebird Rail/Tessera Bank/Ortho Dental"
_WHAT = (
    "barn/paper mill/furniture store/block of flats/sawmill/bakery/ferry shed/school roof/recycling yard/car workshop"
)

SCENES = (
    Scene(
        "news",
        f"""
[Fire at {{town:city}} {{what:words {_WHAT}}}|{{town:city}}: {{what:words {_WHAT}}} burns down|Blaze destroys {{what:words {_WHAT}}} in {{town:city}}]
[{{day:today}}, {{at:time 5-22}} – |{{day:today}} · |]A {{what}} [on {{road:street}} |][went up in flames|caught fire|was gutted] [on {{fday:earlier 1-3}}|in the night to {{fday:earlier 1-3}}|in the early hours of {{fday:earlier 1-3}}]. [The alarm was raised at {{al:time 0-6}}[ by {{al_by:words a lorry driver/a neighbour/the baker/a dog owner/the night porter}}|].|] [{{ff:spelled 12-140}} firefighters|Some {{ff:spelled 12-140}} crew] [with {{eng:spelled 2-19}} engines |][needed|fought it for] {{hrs:spelled 2-16}} hours[; {{heli:spelled 2-6}} helicopters helped|].
[{{hurt:spelled 2-15}} people [were taken to hospital|suffered smoke poisoning]|Nobody was hurt][, not {{:spelled 16-30}}, as first reported|]. [{{ev:spelled 20-400}} neighbours had to leave their homes[, until {{evt:time 8-20}}|].|] [Police put the damage at|The loss is estimated at|Damage:] {{dam:grand 20-900}}[; the owner speaks of more|]. [#c=arson:[Detectives believe somebody laid it.|A man of {{age:age 17-70}} is being held; petrol cans were found.]|#c=tech:[A charger is thought to have overheated.|It began in a fuse box.|A short circuit, says the brigade.]|#c=nature:[Lightning had struck the gable.|It started with a lightning strike.]|#c=unknown:[How it began nobody can say yet.|Investigators have not been able to enter.]] [{{who:name}}[, {{job:words the fire chief/the mayor/the owner/a resident}}|]: "[I have never seen anything like it|We had luck with the wind|Everything my father built is gone]."|]
""",
        """
town|city|place ; town
what_burned|building|object ; what
street ; road
published|report_date ; day
fire_date|date_of_fire|happened_on ; fday ; Not the date of the report
alarm_time|alarm_raised_at ; al
alarm_raised_by ; al_by
firefighters|crew ; ff
engines|vehicles ; eng
duration_hours|hours ; hrs
helicopters ; heli
injured|people_hurt|casualties ; hurt ; null if nobody was hurt
evacuated|people_evacuated ; ev
evacuated_until ; evt
damage|estimated_damage|loss ; dam
cause ; c=arson/deliberate,tech/technical_fault/electrical,nature/lightning,unknown/under_investigation ; As far as known
suspect_age|age ; age
quoted|quoted_person|spokesperson ; who
quoted_role ; job
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "news",
        f"""
[{{firm:words {_FIRM}}} to [cut|shed] {{cut:number 12-900 0}} jobs|{{firm:words {_FIRM}}} buys {{target:company}}|{{firm:words {_FIRM}}}: new [head|chief executive]|{{firm:words {_FIRM}}} [raises|lowers] forecast]

{{town:city}} – {{firm}} [said|announced] [on {{day:earlier 1-4}}|today, {{day:today}},] [that {{boss:name}} will [step down|leave] [on|at the end of] {{leave:later 10-120}}[ after {{yrs:spelled 2-19}} years|]; {{next:name}}[, {{nage:age 34-62}},|] takes over|it takes over {{target:company}} of {{ttown:city}} for {{price:big}} {{:words euros/dollars/pounds}}[, {{rev:percent}} in shares|]|it will close its [site|plant] in {{ttown:city}}, with {{cut:number 12-900 0}} of {{staff:number 901-9000 0}} jobs[ by {{leave:later 60-300}}|]].
[Sales [rose|fell] by {{chg:percent}} to {{sales:big}}|Sales: {{sales:big}}][, profit {{prof:big}}|] in the {{q:words first/second/third/last}} quarter[; analysts had hoped for {{:big}}|]. [#sh=up:[The shares gained {{shp:percent}}.|Investors liked it: plus {{shp:percent}}.]|#sh=down:[The shares lost {{shp:percent}}.|On the stock market it cost them {{shp:percent}}.]|] [#un=yes:[The union {{union:words Verda/GMU/CSV/Workers' Voice}} plans to strike on {{strike:later 2-20}}.|A walk-out is called for {{strike:later 2-20}} by {{union:words Verda/GMU/CSV/Workers' Voice}}.]|#un=no:[The works council has agreed.|Staff representatives signed the plan.]|] [Regulators must [still agree|approve it].|No approval is needed.|] [Founded in {{fy:year}}[ by {{fo:name}}|], the firm makes {{prod:words pumps/frozen pizza/railway seats/dental chairs/roof tiles/weighing cells/ferries}}.|]
""",
        """
company|firm ; firm
city|dateline|place ; town
date|announced_on ; day
outgoing_ceo|leaving|steps_down ; boss
leaves_on|effective_date|deadline ; leave
years_in_office ; yrs
successor|new_ceo ; next
successor_age ; nage
target|acquired_company|takeover_target ; target
other_city|site ; ttown
price|purchase_price ; price
share_part_percent|paid_in_shares ; rev
jobs_cut|jobs_lost|redundancies ; cut
workforce|total_jobs|employees ; staff
sales|revenue ; sales
sales_change_percent ; chg
profit ; prof
quarter ; q
share_reaction|stock_direction ; sh=up/rise,down/fall
share_change_percent ; shp
strike_planned|union_opposes ; un?
union ; union
strike_date ; strike
founded|founding_year ; fy
founder ; fo
product|makes ; prod
""",
        weight=1.5,
    ),
    Scene(
        "news",
        """
[Court|Regional court|Crown court] [{town:city}|in {town:city}]: [{who:name} hears the verdict|the case of {who:name} ends|verdict in the {case:words chapel/wine/ferry/lottery/pigeon/heating oil} case]

[After {days:spelled 3-40} days of hearings|On the {days:count 3-40}th day] judge {judge:name}[ on {day:earlier 1-5}|] [#v=guilty:[found {who:name}[, {age:age 19-80},|] guilty of {crime:words fraud/theft of metal/forging tickets/arson/bribery/smuggling eels}|sentenced {who:name}[, {age:age 19-80},|] to {yrs:spelled 2-14} years for {crime:words fraud/theft of metal/forging tickets/arson/bribery}]|#v=acquitted:[let {who:name}[, {age:age 19-80},|] go for lack of proof, charged with {crime:words fraud/theft/forging tickets/arson/bribery}|could not see that {who:name}[, {age:age 19-80},|] had done it: {crime:words fraud/theft/forging tickets/arson/bribery}]|#v=settled:[closed the case against {who:name}[, {age:age 19-80},|] for {crime:words fraud/theft/bribery}, on payment of {fine:money 300-90000}]]. [The prosecution had asked for {ask:spelled 3-15} years[, the defence for {def:spelled 2-9} months|].|] [The damage amounts to {dam:money 900-900000}.|] [{vic:spelled 2-90} people had been [cheated|harmed].|] [#app=yes:[{law:name}, [for the defence|counsel], will [appeal|take it further].|The next instance will have to deal with it, says counsel {law:name}.]|#app=no:[All sides accepted the ruling.|The verdict is final.]|] [The deed dates from {yd:year}.|] [File|Case] [no. |]{no:code ## Ks ###/##|#### CR ####|@## ###}.
""",
        """
court_city|town|city ; town
defendant|accused|person ; who
age|defendant_age ; age
judge ; judge
date|verdict_date ; day
hearing_days|days_of_hearings ; days
verdict|outcome ; v=guilty/convicted,acquitted/not_guilty,settled/dismissed/dropped
offence|charge|crime ; crime
sentence_years|years_in_prison ; yrs
payment|fine ; fine
prosecution_demand_years|demanded_years ; ask
defence_demand_months ; def
damage ; dam
victims|number_of_victims ; vic
appeal|will_appeal ; app?
defence_lawyer|counsel ; law
year_of_offence ; yd
case_number|file_number ; no
currency ; $
""",
    ),
    Scene(
        "news",
        """
[Study|Research|Science]: [{find:words tea drinkers sleep longer/crows count to five/old oaks cool streets by two degrees/short naps help memory/bees avoid diesel fumes/children learn faster outdoors/salt marshes store more carbon}|{find:words tea drinkers sleep longer/crows count to five/old oaks cool streets/short naps help memory/bees avoid diesel fumes}, [researchers say|study finds]]

[A team [around|led by] {lead:name} ([University of |]{uni:city})|{lead:name} and {co:spelled 2-12} colleagues at {uni:city}] [followed|observed|questioned] {n:big} {subj:words adults/crows/trees/pupils/hives/patients/households} [for|over] {dur:months}[, from {y1:year} on|]. [The effect: {eff:percent}|In {eff:percent} of all cases it held][, in the control group {ctl:percent}|]. [It appeared|Published] in {jour:words Nature Notes/Annals of Sleep/Urban Ecology/Proc. Soc. B/Learning Today} [on {day:earlier 1-20}|][ ({vol:count 3-200}, {pg:code ###-###})|]. [#fund=public:[The state paid for it.|Financed by a national research fund.|Taxpayers' money: {grant:money 20000-900000}.]|#fund=industry:[A maker of {ind:words tea/beds/cars/feed} paid the bill.|Sponsor: {sp:company}.]|#fund=none:[There was no funding.|They did it in their spare time.]|] [#cau=yes:[Cause and effect are shown, says {lead.family}.|As lots were drawn, the cause is clear.]|#cau=no:[It does not prove the one causes the other.|A mere correlation, warns {crit:name}.]|] [A {nxt:words larger trial/second winter/field test} [begins|starts] [in |on ]{nd:later 30-300}.|]
""",
        """
finding|main_finding|result ; find ; as written
lead_author|researcher|led_by ; lead
co_authors|colleagues ; co
university|city|institution ; uni
sample_size|participants|number_observed ; n
subjects|observed ; subj
duration_months|observation_months ; dur
start_year ; y1
effect_percent|effect ; eff
control_percent|control_group_percent ; ctl
journal|published_in ; jour
published_on|publication_date ; day
volume ; vol
pages ; pg
funding|funding_source|paid_by ; fund=public/government,industry/private_company,none/unfunded
grant|funding_amount ; grant
sponsor ; sp
causal|causality_shown ; cau?
critic|sceptic ; crit
next_step|follow_up ; nxt
follow_up_start ; nd
currency ; $
""",
    ),
    Scene(
        "news",
        """
[+++ |][{road:words A7/M25/B12/N331/the coast road/the Brenner line/Line S3/Ferry route 4}|Traffic: {road:words A7/M25/B12/N331/the coast road}][ +++|] [between {a:city} and {b:city}|near {a:city}|from {a:city} to {b:city}] [#st=closed:[is shut|no way through|blocked both ways]|#st=slow:[queue of {km:count 2-19} km|single lane, allow {del:count 10-90} minutes more|delays of about {del:count 10-90} minutes]|#st=open:[is free again|reopened at {re:time 5-22}]] [after|because of] {why:words an overturned lorry/a landslide/a burst main/black ice/a wedding convoy/fallen trees/repairs to a bridge/a stray bull}[ (since {since:time 4-18})|]. [Diversion|Way round]: [via {via:city}|exit {ex:count 2-60}|bus from {stop:place}]. [Expected to last [until {till:time 12-23}|until {tilld:later 1-20}].|] [{hurt:spelled 2-9} [injured|hurt][, {dead:words one/two} of them fatally|].|] [#work=yes:Crews are working through the night.|#work=no:Work begins only tomorrow.|] [Info: {tel:phone}|{mail:url}|]
""",
        """
road|line|route ; road
from|near|section_from ; a
to|section_to ; b
status|state ; st=closed/blocked,slow/delays/congested,open/cleared/reopened
queue_km|jam_km ; km
delay_minutes|extra_minutes ; del
reopened_at ; re
cause|reason ; why ; as written
since ; since
diversion_via|via ; via
exit ; ex
replacement_bus_from ; stop
until_time ; till
until_date|expected_end ; tilld
injured ; hurt
dead ; dead
night_work ; work?
phone ; tel
website ; mail
""",
    ),
)
