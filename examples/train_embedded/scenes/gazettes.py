"""Scenes: news of a local paper: accidents, companies, matches, appointments, warnings of storms, and rulings of courts."""

from .scene import Scene

SCENES = (
    Scene(
        "news",
        """
[{town:city}|{town:city} ({agency:words dpa/AP/Reuters/PA/AFP/own report/EFE/ANSA})][ [–|--|-]|.|,] [#what=fire:[Flames tore through {obj:words a warehouse/a block of flats/a barn/a timber yard/the old cinema/a recycling plant/a bakery/a car workshop}|Smoke rose over {obj:words a paint factory/a school roof/a farm/the harbour sheds/a restaurant kitchen} for hours|Crews fought a blaze in {obj:words an empty mill/a supermarket/a row of garages/a care home/a sawmill}]|#what=crash:[{obj:words A tram and a lorry/Two buses/A van and a cyclist/Three cars/A delivery van and a train/A coach and a tractor} collided|{obj:words A lorry/A coach/A school bus/A milk tanker} left the road and overturned|{obj:words A car/A motorcycle/A minibus} ran into the back of a stationary vehicle]|#what=flood:[Water stood knee-high in {obj:words the old town/two villages/a shopping arcade/the underpass/the market hall/many cellars}|The river burst its banks and reached {obj:words the hospital/the campsite/the railway/the allotments}|After hours of rain {obj:words the lower streets/the sports ground/the station square} disappeared under water]|#what=theft:[Burglars took {obj:words a church bell/six e-bikes/copper cable/paintings/a safe/beehives/a digger}|Somebody made off with {obj:words the takings of a fair/two tractors/a bronze statue/a lorry load of cheese}|{obj:words Jewels/Laptops/Medicines/Vintage wines} are missing after a break-in]] [in {place:street}|near {place:place}|at {place:place}|on the {place:words A7/M4/B27/ring road/coast road/Route 9/E45}] [on {day:earlier 0-6}|{day:relative}|in the early hours of {day:earlier 0-6}|on {day:earlier 0-6} at about {at:time 1-23}]. [{:clause}, a neighbour said.|]

[[{hurt:spelled 2-40} people were [hurt|injured|taken to hospital]|{hurt:spelled 2-12} people [suffered slight injuries|had to be treated]][, {grave:spelled 2-6} of them seriously|, among them {child:spelled 2-5} children|].|#none=yes:[Nobody was hurt.|By good fortune everyone escaped unharmed.|There were no casualties.|All residents got out in time.]|[{dead:spelled 2-9} people [died|lost their lives|were killed]], [{hurt:spelled 2-40} [more|others] were injured|while {hurt:count 2-40} are in hospital].] [Police put the damage at {loss:money 900-90000}.|The damage is estimated at {loss:money 900-90000}[, twice as much as at first thought|].|A first guess of {:money 200-900} was corrected to {loss:money 900-90000}.|]
[#cause=technical:[A fault in the wiring is thought to be the reason.|The brakes had failed, an expert found.|Investigators point to an old heater.|A pump had stopped working, according to the operator.]|#cause=human:[Somebody had left a candle alight.|The driver had looked at a phone.|A gate had not been closed, the company admitted.|A worker had mixed up two switches.]|#cause=weather:[Black ice had made the road slippery.|A bolt of lightning had struck shortly before.|It was the heaviest rain in {:count 10-60} years.|A gust had brought down a tree.]|#cause=deliberate:[Detectives believe it was done on purpose.|Traces of petrol were found at three places.|A man of {age:age 18-70} has admitted to it.|The police speak of arson.|Cameras show two masked figures.]|#cause=unknown:[How it came about is still unclear.|The cause is being looked into.|Nothing is known about the reason yet.|Experts will examine the site[ from {:later 1-5}|].]]

[{crew:spelled 10-180} firefighters were [on the scene|in action] for {len:duration}[, helped by a helicopter|].|{crew:count 8-180} helpers came from {:count 2-9} towns.|] [#shut=yes:[The road stays closed until {open:later 1-9}.|Traffic is being diverted until {open:later 1-9}.|Trains won't run there before {open:later 1-9}.]|#shut=no:[Traffic flows again.|The road was free again after {:duration}.|Barriers were removed by noon.]||] ["{:clause}", [said|told us] {says:name}, {post:words spokeswoman of the police/the fire chief/the mayor/head of the rescue service/a spokesman for the railway/the site manager}.|{says:name}, {post:words the mayor/a police spokesman/the fire chief/director of the museum/the owner}, spoke of {:words luck/a disaster/great calm/a miracle/carelessness}.|] [Witnesses should ring {tel:phone}[ (reference {ref:code ###/##|######})|].|Anyone who saw something: {tel:phone}.|]
[In {:year} a similar case had cost {:count 2-9} lives.|It is the {:words second/third/fourth} incident of the kind this year.|]
[({by:name}[, {pub:today}|])|By {by:name}|{pub:today}|]
""",
        """
event_type|incident|category|type|what ; what=fire,crash/accident/collision,flood/flooding,theft/burglary ; What happened
affected|object|subject|what_was_affected ; obj ; as written
town|city|location_city|dateline ; town
place|location|where|site ; place ; Place within or near the town
agency|source|news_agency ; agency
date|event_date|happened_on ; day ; When it happened
time|event_time ; at
injured|people_injured|injured_count ; hurt ; Number of injured people
seriously_injured|critical ; grave
children_injured|children ; child
deaths|killed|fatalities ; dead ; null if no number of dead is given
damage|damage_amount|loss ; loss ; The latest estimate
cause|cause_type|reason ; cause=technical/technical_fault,human/human_error/negligence,weather,deliberate/intentional/arson,unknown/unclear ; As far as it is known
suspect_age|age ; age
helpers|firefighters|responders|crew ; crew
duration|operation_duration|lasted ; len
closed|road_closed|still_closed ; shut? ; Is the road or line still closed
reopens|closed_until|open_again ; open
spokesperson|quoted|quoted_person|official ; says
spokesperson_role|office|role ; post ; as written
hotline|police_phone|contact ; tel
reference|file_number ; ref
author|reporter|byline ; by
published|published_on ; pub
currency ; $
""",
        weight=2.0,
    ),
    Scene(
        "news",
        """
[{home:city}: |][#how=up:[{firm:company} earns more than ever|Record year for {firm:company}|{firm:company} exceeds its own forecast|Strong {q:words first/second/third/fourth} quarter at {firm:company}]|#how=down:[{firm:company} has to swallow losses|Profit of {firm:company} shrinks|Weak demand hits {firm:company}|{firm:company} misses its targets]|#how=flat:[{firm:company} treads water|Little movement at {firm:company}|{firm:company} stays where it was]]
[({pub:today})|{pub:today} - |]

[The maker of|Specialist for|The supplier of] {goods:list goods 1-2} [took in|reported sales of|turned over] {sales:big 1-900} [euros|dollars|pounds|francs] in [{year:year}|the past year][, {pct:percent} [more|less] than the year before|, after {:big 1-900} the year before|]. [Net profit came to {profit:big 1-90}.|On the bottom line {profit:big 1-90} remain.|The loss was {profit:big 1-90}.|] [{ceo:name}, who has led the firm since {since:year}, [called it "{:phrase}"|thanked the staff|spoke of a year of two halves].|Chief executive {ceo:name} [was satisfied|was cautious|blamed the weather].|] [#jobs=hire:[{n:count 20-900} people are to join by {by:later 30-300}.|The company is looking for {n:count 20-900} new colleagues.|In {site:city} {n:count 20-400} posts will be created.]|#jobs=cut:[{n:count 20-900} posts will go[ by {by:later 30-300}|].|In {site:city} {n:count 20-400} employees lose their work.|The works council fears for {n:count 20-900} jobs.|Every tenth desk is to be emptied, {n:count 20-900} in all.]|#jobs=keep:[The number of staff, {n:count 100-9000}, is to remain the same.|No one needs to fear for a job, the board says; {n:count 100-9000} work there.]|] [The headquarters [are|remain] in {home:city}.|It was founded in {founded:year}[ by {founder:name}|] [and has its seat in {home:city}|].|]
[#deal=yes:[It also buys {target:company} of {targetcity:city} for {price:big 2-400}[, pending approval|].|The takeover of {target:company} ({price:big 2-400}) was completed on {done:earlier 2-80}.|{target:company} becomes part of the group; {price:big 2-400} changed hands.]|#deal=no:[Talks with {rival:company} ended without result.|A sale to {rival:company} is off the table.|]|] [Shareholders receive {div:money 0.1-9} a share[ (last year {:money 0.1-9})|].|There will be no dividend.|] [The share [rose|fell] {move:percent} [on the day|at midday].|] [Next figures: {next:later 30-120}.|]
""",
        """
company|firm|organisation ; firm
headquarters|city|seat|based_in ; home
trend|result_trend|development|performance ; how=up/better/growth,down/worse/decline,flat/unchanged/stable
quarter ; q
published|date|report_date ; pub
products|makes|product_lines ; goods
revenue|sales|turnover ; sales
fiscal_year|year ; year
revenue_change_percent|growth|change ; pct
net_result|profit|profit_or_loss ; profit
ceo|chief_executive|led_by ; ceo
ceo_since|in_office_since ; since
staff_plan|employment|jobs ; jobs=hire/hiring/increase,cut/cuts/reduction,keep/no_change/stable
staff_number|number_of_jobs|posts ; n
jobs_by|by_when ; by
site|affected_site|plant ; site
founded|founding_year ; founded
founder ; founder
acquisition|acquires_company|takeover ; deal? ; Does it take over another firm
acquired_company|target ; target
acquired_company_city|target_city ; targetcity
purchase_price|deal_value ; price
failed_partner|talks_with|other_party ; rival
dividend|dividend_per_share ; div ; null if there is none
share_move_percent|share_change ; move
next_report|next_figures ; next
""",
    ),
    Scene(
        "news",
        """
[#res=home:[{home:city} {hs:number 3-7 0}[:|-|–]{as:number 0-2 0} {away:city}|{home:city} v {away:city}: {hs:number 2-5 0}-{as:number 0-1 0}]|#res=away:[{home:city} {hs:number 0-2 0}[:|-|–]{as:number 3-7 0} {away:city}|{home:city} v {away:city}: {hs:number 0-1 0}-{as:number 2-5 0}]|#res=draw:{home:city} and {away:city} part [{hs:number 0-0 0}-{as:number 0-0 0}|{hs:number 1-1 0}:{as:number 1-1 0}|{hs:number 2-2 0}:{as:number 2-2 0}|{hs:number 3-3 0}-{as:number 3-3 0}]]
[{league:words Regional League/County Cup/Second Division/Premier Handball/Women's League/Friendly/Cup quarter-final/Youth Championship/Ice Hockey League} [{:words round/matchday} {round:number 1-38 0}|]|Report by {by:name}]

[In front of {crowd:count 90-9000} spectators|{crowd:count 90-9000} people saw|Before {crowd:count 200-9000} fans at {stadium:words the Waldstadion/Riverside Park/the Arena/Mill Lane/the Sports Hall West/Parc des Princes II/St. James Road}|At {stadium:words the Old Ground/Stadion am See/Hillside/the Ice Dome/Victoria Park}] [?res=home:[the hosts had the better end|the home side kept all the points|the visitors went home with nothing]|?res=away:[the guests took everything with them|the visitors had the last laugh|the hosts left the field with hanging heads]|?res=draw:[the spoils were shared|neither side found a winner|both had to settle for half of the points]]. [{first:name} [opened the scoring|scored the first|broke the deadlock] [after {min:number 2-88 0} minutes|in minute {min:number 2-88 0}].|The first came from {first:name} ({min:number 2-88 0}').|] [At half-time it was {ht:code #-#}.|Half-time: {ht:code #-#}.|] [{star:name} [scored twice|was everywhere|made the difference|was named player of the match].|Player of the day: {star:name}.|] [{red:name} saw red {after:words shortly before the break/after an hour/in stoppage time/for a foul from behind}.|{red:name} was sent off.|] [{hurt:name} had to be carried off, {injury:words torn ligament/concussion/a broken finger/a strained thigh/cramp}.|]
[Coach {coach:name} ["{:clause}."|was not pleased: "{:clause}."|kept it short: "{:phrase}."]|] [#title=yes:[With that the championship is decided.|Now nobody can catch up with them.|The cup is theirs.]|#title=no:[The decision falls on the last day.|Everything remains open at the top.|]|] [They are now {rank:words first/second/third/fourth/seventh/tenth/bottom} [with {pts:number 3-80 0} points|].|] [Next: {next:city}, {nextday:later 3-20}[, {nexttime:time 13-20}|].|The next game is on {nextday:later 3-20} against {next:city}.|] [Referee: {ref:name}.|{ref:name} was in charge.|] [The match of {:earlier 20-200} had ended {:code #-#}.|]
""",
        """
home_team|home|hosts ; home
away_team|away|visitors|guests ; away
home_score|home_goals|score_home ; hs
away_score|away_goals|score_away ; as
competition|league|tournament ; league
round|matchday ; round
winner|result|outcome ; res=home/home_win,away/away_win,draw/tie ; As the report says
attendance|spectators|crowd ; crowd
venue|stadium|ground ; stadium
first_scorer|opening_goal_by|scorer ; first
first_goal_minute|minute ; min
half_time_score|half_time|score_at_half_time ; ht
best_player|player_of_the_match|man_of_the_match ; star
sent_off|red_card|dismissed ; red
injured_player|injured ; hurt
injury ; injury
coach|trainer|manager ; coach
title_decided|champion_decided|title_won ; title?
rank|table_position|position ; rank
points ; pts
next_opponent ; next
next_match|next_match_date|next_game_on ; nextday
next_kick_off|next_match_time ; nexttime
referee ; ref
author|reporter ; by
""",
    ),
    Scene(
        "news",
        """
[#sort=weather:[{issuer:words The Met Office/The weather service/MeteoSwiss/The storm centre/The flood agency} [warns of|expects|has issued a warning for] {what:words gusts of up to 120 kmh/snow down to the valleys/thunderstorms with hail/heavy frost/dense fog/heat above 36 degrees/a storm surge/black ice} in {area:words the north-west/all coastal districts/the Alps/the lowlands/the eastern counties/the islands/the capital region}]|#sort=strike:[{issuer:words The union of train drivers/Airport staff/Bus drivers/Nurses/Teachers/Refuse workers/Dockers} [will walk out|call for a stoppage|down tools] in {area:words the whole country/the south/the capital/three provinces/the port cities}, over {what:words pay/rest periods/staff shortages/a new rota/pensions}]|#sort=closure:[{issuer:words The town council/The highways agency/The water company/The museum/The library service/The railway} [closes|shuts] {what:words the swimming bath/bridge 14/the main reading room/the lift/the tunnel/platform 3/the ferry pier} in {area:city}]|#sort=health:[{issuer:words The health office/The food authority/The hospital trust/The vet office} [asks everyone to|urges people to] {what:words boil tap water/stay away from dead birds/return a batch of cheese/keep windows closed/get vaccinated/wash salads twice} in {area:city}]].
[It [applies|holds] from {begin:later 0-6}[, {bt:time 0-23},|] [to|until] {end:later 7-14}[, {et:time 0-23}|].|From {begin:later 0-6} on[, {bt:time 0-23}|][, for {days:days}|].|Beginning: {begin:later 0-6}[ at {bt:time 0-23}|]. End: {end:later 7-20}.|As of {begin:later 0-6}, no end in sight.]

[#level=high:[Danger to life, officials say.|Stay at home if you possibly can.|The highest of {:count 3-5} levels was declared.|Only emergencies will be served.]|#level=medium:[Expect delays and take care.|Be prepared, but there's no reason to panic.|The second of {:count 3-5} levels applies.|Some restrictions are likely.]|#level=low:[Most people will hardly notice.|It is purely a precaution.|Nothing to worry about, the office says.|Little disruption is expected.]|] [{n:count 100-9000} [households|passengers|residents] are affected.|About {n:count 100-9000} people have to change their plans.|] [Instead, {alt:words buses run every 20 minutes/the branch in the north is open/tankers bring water to the market square/taxis take tickets/online loans are free/line 5 goes via the ring road}.|Alternative: {alt:words replacement buses/the bath in the next town/platform 7/the car ferry further south/bottled water from the town hall}.|] [#sch=closed:[Children stay at home on {sday:later 0-4}.|There are no lessons on {sday:later 0-4}.|The bell won't ring on {sday:later 0-4}.]|#sch=open:[Lessons take place as usual.|Classes are not affected.]||] [Information: {tel:phone}[ and {web:url}|].|More at {web:url}.|Ask at {tel:phone}[ ({from:time 6-9} to {to:time 16-22})|].|] [{says:name} of the [office|agency|union] [adds|explained|stressed]: "{:clause}."|] [An earlier notice, dated {:earlier 1-9}, no longer holds.|Last year it lasted {:days}.|]
[Issued {pub:today}[, {pt:time 5-22}|]|({pub:today})|]
""",
        """
notice_type|category|kind ; sort=weather/weather_warning,strike/industrial_action,closure,health/public_health
issuer|issued_by|who ; issuer ; as written
subject|about|what|hazard ; what ; as written
area|region|where ; area ; as written
starts|start_date|from|valid_from ; begin
start_time|from_time ; bt
ends|end_date|valid_until|until ; end ; null if it is open
end_time ; et
lasts_days|duration_days ; days
severity|level|risk ; level=high/severe,medium/moderate,low/minor
affected|people_affected|number_affected ; n
alternative|replacement|instead ; alt ; as written
schools|school_status|lessons ; sch=closed/cancelled,open/as_usual
school_date|no_school_on ; sday
phone|hotline ; tel
website|more_information|url ; web
hotline_from|phone_hours_start ; from
hotline_to|phone_hours_end ; to
spokesperson|quoted ; says
issued_on|published|date ; pub
issued_at|published_time ; pt
""",
        weight=1.5,
    ),
)
