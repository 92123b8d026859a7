"""Scenes: matches, races, votes, quizzes and shows: numbers that are found by what they count."""

from .scene import Scene

_CLUB = "Harbour United/FC Linden/Rovers/SV Auental/Northgate/the Falcons/Olympique Sarn/Kestrel Town/Real Almara/Dynamo Weiler/the Millers/Old Boys/Castlebrook/Union 07/the Wasps/Penrose Athletic/Vale Wanderers/Sporting Mora"
_GROUND = "Mill Lane/the Linden Park/Stadium of Light Industry/Harbour Road/the Ostpark/Kestrel Green/Parc des Sarments/the Old Quarry/Bank Street"
_PRIZE = "a hamper/the Silver Spoon/a voucher for two/the challenge cup/a season ticket/a crate of cider/the wooden spade/a weekend in Bruges/a trophy made of cork"

SCENES = (
    Scene(
        "contest",
        f"""
{{home:words {_CLUB}}} [#res=h:{{hg:count 2-5}}[-| - |:]{{ag:count 0-1}}|#res=a:{{hg:count 0-1}}[-| - |:]{{ag:count 2-5}}] {{away:words {_CLUB}}}[ (half-time {{hh:count 0-1}}[-|:]{{ah:count 0-1}})| ({{hh:count 0-1}}:{{ah:count 0-1}})|]
[{{ground:words {_GROUND}}}, {{day:today}}. Attendance[:| was] {{crowd:number 200-9000 0}}[ (last season's average: {{:number 200-9000 0}})|].|{{day:today}}, {{ground:words {_GROUND}}}, in front of {{crowd:number 200-9000 0}}[ people| fans|].]

[{{s1:name}} [opened the scoring|put the guests in front|broke the deadlock] [in the {{m1:count 4-20}}th minute|after {{m1:count 2-40}} minutes|on {{m1:count 2-40}} minutes]][ with a [header|free kick|shot from {{:count 16-35}} metres]|]. [The answer came from {{s2:name}} ({{m2:count 46-88}}')|{{s2:name}} made it safe on {{m2:count 46-88}} minutes|{{s2:name}} struck twice after the break].
Referee {{ref:name}} [showed {{y:spelled 1-9}} yellow cards|booked {{y:spelled 2-9}} players|had {{y:count 0-8}} bookings in the book]. [#red=yes:[{{off:name}} was sent off.|{{off:name}} saw the second yellow and had to go.|For the last {{:count 5-30}} minutes {{off:name}} watched from the changing room, dismissed for a foul.]|#red=no:[All twenty-two finished the game.|Nobody was dismissed.|A fair game, no dismissals.]|]
[?res=h:[The points stay at home.|The home crowd went away happy.|]|?res=a:[The visitors take all three points on the bus.|A defeat in front of the own crowd.|]] [Next up[:| is| are] {{next:words {_CLUB}}}[ on {{nd:later 3-20}}|].|{{inj:name}} is out for {{out:spelled 2-9}} weeks[ with a torn muscle|].|][ Coach {{coach:name}}: "[We wanted more|I can live with that|Not our day]."|]
""",
        """
home_team|home|team_1 ; home
away_team|away|visitors|team_2 ; away
home_goals|home_score|goals_home ; hg ; At full time
away_goals|away_score|goals_away ; ag ; At full time
home_half_time|half_time_home ; hh ; null if not given
away_half_time|half_time_away ; ah
venue|ground|stadium ; ground
date|match_day|played_on ; day
attendance|spectators|crowd ; crowd
first_scorer|opening_goal_by|first_goal ; s1
first_goal_minute|minute_of_first_goal ; m1
second_scorer|later_scorer ; s2
referee ; ref
bookings|players_booked ; y
sent_off|dismissed_player|red_card_player ; off
was_anyone_sent_off|dismissal ; red?
result|outcome|winner ; res=h/home_win/home,a/away_win/away,draw/drawn
next_opponent ; next
next_match|next_match_date ; nd
injured_player ; inj
weeks_out|out_for_weeks ; out
coach|manager ; coach
""",
        weight=1.5,
    ),
    Scene(
        "contest",
        """
{race:words Lakeside 10K/Harbour Half/Night Run/Vineyard Trail/Charity Mile/Ridge Marathon/Old Town Relay}[ {yr:year}|] [— official results|results, men and women|— provisional list]
[{day:today}[, start {at:time 7-11}|] · {starters:number 80-2500 0} starters[, {fin:number 60-2400 0} finishers|]|Held on {day:today} in {weather:words rain/sleet/bright sun/a stiff wind/fog/21 degrees}. {starters:number 80-2500 0} had entered][[ · |, | ]{dnf:count 1-60} [did not finish|DNF|gave up]|]
<r 3-6:[{pos:count 1-60}.|{pos:count 1-60})|#{pos:count 1-60}] {who:name}[ ({cl:words LC Nord/Striders/AC Vale/unattached/TV Aue/Hill Runners/RC Plage})|, {cl:words LC Nord/Striders/AC Vale/TV Aue/Hill Runners/RC Plage}] {bib:code ###|####} {t:words 34:12/36:50/41:07/39:44/1:22:31/1:31:09/52:18/47:55/1:04:40/2:58:13}[  {ag:words M40/W35/M55/W20/U18/M60/W50}|]>
[Course record[:|] {rec:words 33:01/1:09:12/29:58/2:31:40} ([set by |]{holder:name}, {ry:year})[, not broken|]|The record of {holder:name} from {ry:year} ({rec:words 33:01/1:09:12/29:58/2:31:40}) [#broken=no:stands|#broken=no:was out of reach in this heat|#broken=yes:is history|#broken=yes:fell by {:count 2-40} seconds].]
[Entry fees brought {sum:money 300-9000} for {cause:words the hospice/the lifeboat crew/the school roof/the food bank/the youth club}.|]
[Protests until {till:time 12-18} at the timing tent.|Complaints to {mail:email}.|]
""",
        """
race|event|race_name ; race
year|edition ; yr
date|race_day ; day
start_time|start ; at
weather|conditions ; weather
starters|participants|entries ; starters
finishers ; fin
did_not_finish|dnf|dropouts ; dnf
course_record|record_time ; rec
record_holder ; holder
record_year|record_set_in ; ry
record_broken|new_record ; broken?
raised|donation|money_raised ; sum
cause|raised_for|beneficiary ; cause
protest_deadline|protests_until ; till
contact|contact_email ; mail
results|runners|places ; r* ; In the order of the list
position|place|rank ; r.pos
name|runner|athlete ; r.who
club|team ; r.cl ; null if none is printed
bib|start_number|number ; r.bib
time|finish_time ; r.t ; As printed
age_group|category|class ; r.ag
""",
    ),
    Scene(
        "contest",
        """
{body:words Parish of Elmford/Ward 7/Constituency North-East/Tenants' association Birkenhof/Works council Plant 2/Student parliament/Allotment society}[: |, ]{what:words election of the chair/by-election/works council election/referendum on the bypass/vote on the new statutes/ballot on the rent offer}

[Entitled to vote|Electorate|On the roll][: | ]{roll:number 300-60000 0}
[Votes cast|Ballots in the box|Voted][: | ]{cast:number 100-50000 0}[ ([turnout |]{turn:number 21-88 1} %)|]
[of which spoilt|invalid|void papers][: | ]{bad:count 0-400}
[thereof by post[: | ]{post:number 20-9000 0}
|]
<c 2-5:{who:name}[ ({list:words Green List/Independents/Citizens' Alliance/Labour/Centre/List 3/Free Voters})|, {list:words Green List/Independents/Citizens' Alliance/Labour/Centre/List 3/Free Voters}|][: | – | .... ]{v:number 12-20000 0}[ votes|][ ({pc:number 1-70 1} %)|]>

[#rec=yes:[A recount was asked for and granted.|The margin is so small that all papers are counted again on {rd:later 1-10}.|The returning officer has ordered a second count.]|#rec=no:[No recount was demanded.|All sides accepted the figures.|Nobody contested the count.]|] [#run=yes:[As nobody passed one half, the two leaders meet again on {rd2:later 10-30}.|A run-off follows on {rd2:later 10-30}.]|#run=no:[Elected in the first round.|That settles it, no second ballot.]|] [Returning officer|Counted under the eyes of|Signed]: {ro:name}[, {day:today}|, {at:time 18-23}].
""",
        """
body|constituency|organisation|where ; body
subject|ballot|election ; what
electorate|eligible_voters|entitled ; roll
votes_cast|ballots|voted ; cast
turnout_percent|turnout ; turn ; In per cent
invalid_votes|spoilt|void ; bad
postal_votes|by_post ; post
is_recounted|counted_again ; rec?
recount_date ; rd
run_off|second_round ; run?
run_off_date|second_ballot_on ; rd2
returning_officer|counted_by ; ro
date ; day
announced_at|time ; at
candidates|results ; c* ; In the order given
name|candidate ; c.who
party|list ; c.list
votes ; c.v
percent|share ; c.pc
""",
    ),
    Scene(
        "contest",
        f"""
[Well, what a night at {{pub:words the Anchor/the Three Geese/Café Orion/the Old Vicarage/the Rowing Club/Zum Hirschen}}!|Quiz report, {{day:earlier 1-6}}, {{pub:words the Anchor/the Three Geese/Café Orion/the Old Vicarage}}.] [{{n:spelled 5-19}} teams|{{n:count 5-24}} teams|A record {{n:count 12-30}} teams] [squeezed in|turned up|took part][, {{pl:count 20-130}} people in all|]. [We had {{q:count 20-60}} questions in {{rounds:spelled 3-8}} rounds|{{rounds:spelled 3-8}} rounds of {{qr:count 6-12}} questions each], set by {{host:name}}[, who stood in for {{:name}}|].

[Winners: |The winners, for once not {{:words the Brainy Bunch/Les Misérables/Table Nine}}, were |First place went to ]{{win:words Quizteama Aguilera/The Know-Nothings/Agatha Quiztie/Let's Get Quizzical/Four Wise Monkeys/Risky Quizness/Table Thirteen}} with {{wp:number 31-70 1}} [points|pts][, [a whisker|only {{gap:number 1-4 0}} points] ahead of {{sec:words The Usual Suspects/Norfolk and Chance/Nun the Wiser/Les Quizerables/Universally Challenged}} ({{sp:number 20-60 1}})|]. They [took home|get|carried off] {{prize:words {_PRIZE}}}. [The wooden spoon: {{last:words Dunno/We Came for the Chips/Brain Drain/Absent Friends}}, {{lp:number 5-25 1}} points.|]
[#tie=yes:[It took a tie-break: how many steps has the church tower? ({{tb:count 90-420}})|Level after the last round, they were split by one question.]|#tie=no:[No tie-break was needed.|Clear from the second round on.]|] [#jp=no:[The jackpot question beat everybody, it stands at {{jack:money 40-900}}.|Jackpot: still not won ({{jack:money 40-900}}).]|#jp=yes:[{{jw:name}} cracked the jackpot and leaves with {{jack:money 40-900}}!|The jackpot of {{jack:money 40-900}} is gone, thanks to {{jw:name}}.]|] [We collected {{ent:money 2-6}} a head|Entry was {{ent:money 2-6}} each][, {{don:money 50-600}} of it for {{cause:words the lifeboat/the animal shelter/the choir/the village hall roof}}|].
[Next [one|quiz]: {{next:later 5-40}}, {{at:time 18-20}}[, bring a pen|]. Tables of no more than {{max:spelled 4-8}}.|Same place on {{next:later 5-40}}.]
""",
        """
venue|pub|place ; pub
date ; day
teams|number_of_teams ; n
players|people ; pl
questions|total_questions ; q
rounds|number_of_rounds ; rounds
questions_per_round ; qr
host|quizmaster|set_by ; host
winner|winning_team|first ; win
winning_score|winner_points ; wp
margin|lead ; gap ; In points
runner_up|second ; sec
runner_up_score|second_points ; sp
prize ; prize
last_team|wooden_spoon ; last
lowest_score ; lp
tie_break|decided_by_tie_break ; tie?
tie_break_answer ; tb
jackpot|jackpot_amount ; jack
jackpot_won|was_jackpot_won ; jp?
jackpot_winner ; jw
entry_fee|entry_per_person ; ent
donated|donation ; don
cause|donated_to ; cause
next_quiz|next_date ; next
next_start|starts_at ; at
max_team_size|largest_team ; max
currency ; $
""",
    ),
    Scene(
        "contest",
        """
[{show:words Rabbit Breeders' Show/County Show/Autumn Flower Show/Kennel Club Open/Cheese Awards/Giant Vegetable Day} — judge's sheet, ring {ring:count 1-12}|Steward's notes, {show:words County Show/Autumn Flower Show/Kennel Club Open/Cheese Awards}, [class|section] {cls:code ##|###|#@}]
[Judge|Judged by][: | ]{judge:name}[ (steward {stew:name})|] | {day:today}
[{ent:count 3-40} entered, {abs:count 1-5} absent|Entries {ent:count 3-40}]

<e 2-5:[Pen|No.|Entry] {no:code ##|###}[: | – ]{ex:name}[, {town:city}|] – {pts:number 61-98 1} [points|pts|/ 100][, {mark:words excellent/very good/good/satisfactory/unplaced}|][; {rem:words coat a little dull/firm and even/too salty/fine stance/uneven colour/bruised at the base/lively, good eye/cracked rind/slightly overweight}|]>
[Best in show|Champion|Best of class][: | goes to ]{best:name} [with {bw:measure 1-90 kg}|({bno:code ##|###})|]
[[Prize money|Premium] {pm:money 5-300}[, paid out at the tent from {at:time 13-18}|]|][#prot=yes:[One exhibitor has lodged an objection.|Result under protest (see form).]|#prot=no:[No objections.]|]
""",
        """
show|event ; show
ring ; ring
class|section ; cls
judge ; judge
steward ; stew
date ; day
entries|entered ; ent
absent|not_shown ; abs
champion|best_in_show|winner ; best
champion_weight_kg|winning_weight ; bw
champion_number|winner_entry ; bno
prize_money|premium ; pm
paid_from|payout_time ; at
protest|objection ; prot?
exhibits|placings|scores ; e* ; In the order of the sheet
entry_number|number|pen ; e.no
exhibitor|owner|name ; e.ex
town|place ; e.town
points|score ; e.pts
grade|award|mark ; e.mark ; null if none
remark|comment|notes ; e.rem
""",
    ),
    Scene(
        "contest",
        """
[Liga B, Runde {rd:count 1-9}|Round {rd:count 1-11}|League division {div:count 1-5}, round {rd:count 1-9}] · {day:today}
{a:words SK Turm/Rook & Roll/Endgame/Schachfreunde Aue/Knights of Vale/Bishop's Gate} {as:words 4½/5/3½/2/6/4} – {bs:words 3½/3/4½/6/2/4} {b:words SC Läufer/Pawn Stars/Zugzwang/Castling Club/The Queens/Gambit}

<g 3-6:[Board|Brett|Bd.] {bd:count 1-8}[: | ]{w:name} ({wr:number 1400-2400 0}) [–|vs.|-] {bl:name} ({br:number 1400-2400 0})  [#r=1:1–0|#r=0:0–1|#r=d:½–½]>
[Longest game: {mv:count 50-140} moves[, over after {dur:duration}|].|] [#late=yes:[{latep:name} came {lm:count 5-40} minutes late and lost those on the clock.|{latep:name} missed the start by {lm:count 5-40} minutes.]|] [Table: {lead:words SK Turm/Rook & Roll/Endgame/Zugzwang/Gambit} leads with {lp:count 4-18} match points[, {rank:words third/fourth/second/last} now {rt:words SC Läufer/Pawn Stars/The Queens}|].|]
""",
        """
round|round_number ; rd
division ; div
date ; day
team_1|home_team ; a
team_1_score|home_points ; as ; As printed
team_2|away_team ; b
team_2_score|away_points ; bs ; As printed
longest_game_moves|moves ; mv
longest_game_duration ; dur
late_player ; latep
minutes_late ; lm
leader|table_leader ; lead
leader_points|match_points ; lp
games|boards ; g* ; By board
board ; g.bd
white|white_player ; g.w
white_rating|white_elo ; g.wr
black|black_player ; g.bl
black_rating|black_elo ; g.br
result|winner ; g.r=1/white/white_wins,0/black/black_wins,d/draw ; 1–0 means that White won
""",
    ),
)
