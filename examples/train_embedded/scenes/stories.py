"""Scenes of running prose, where facts stand far apart: long mails, articles, reports of visits and narrated troubles."""

from .scene import Scene

SCENES = (
    Scene(
        "support",
        """
[Dear Sir or Madam,|To the complaints department,|Hello,|Dear customer care,]

[My name is {who:name} and I have been|{who:name} here, I have been|I, {who:name}, have been] a customer of yours [since {since:year}|for {years:spelled 2-25} years], [and until now I never had cause to write|and so far all was well|which is longer than some marriages]. [On {bought:earlier 10-90}|Back on {bought:earlier 10-90}] I [bought|ordered|picked up] [a|the] {thing:of product}[ from your branch in {shop:city}| through your website| over the phone][, order {ord:code ######|@@-#####|###-####},|] for {price:money 20-900}. [My sister had bought the same one for {:money 20-900} a year before.|In the same parcel there was a {:of ware}, which is fine.|I had saved for it for months.|]

[For the first days|To begin with|At first] everything [was as it should be|went well|looked splendid]. [Then|But] on {fail:earlier 3-9}, [while we were having supper|early in the morning|just before guests arrived|in the middle of a job], [#cat=safety:[there was a bang and a smell of burning|sparks flew and the fuse went|I got an electric shock|it became so hot that the table is marked]|#cat=function:[it stopped and would not start again|the display went dark|nothing moved any more|it gave up without a sound]|#cat=damage:[I noticed a crack along the bottom|the handle came off in my hand|one side simply split|a seam opened from end to end]|#cat=missing:[I saw that half of the parts were not in the box|it turned out that the charger had never been packed|I found no screws and no manual|the second piece was missing]]. [I have {tried:of tried}, but it made no difference.|A neighbour who knows about these things had a look: hopeless.|I did not touch it any further.|]

[The same afternoon|The next day|On {call:earlier 1-2}] I rang your hotline[ and waited for {wait:spelled 12-55} minutes|]. [#staff=good:[A most helpful {agent:name}|{agent:name}, who could not have been kinder,|A patient young man, {agent:name},] [noted everything|listened to the whole story|gave me the number {case:code ######|C-#####}] [but had no power to decide|and promised that someone would be in touch].|#staff=bad:[A certain {agent:name}|{agent:name}, as the person was called,|Somebody by the name of {agent:name}] [told me it was my own fault|hung up on me|laughed, and I do not exaggerate|read me the terms in a bored voice][ and gave me the number {case:code ######|C-#####}|].] [That was {ago:days} ago, and since then I have heard nothing.|Since then: silence.|I was to get a call by {promise:later 1-4}; I will believe it when it comes.|]

[#want=refund:[What I would like is simple: take it back and return what I paid.|I no longer trust the thing and want the sum back on my account.|Please credit me in full.|I shall be content once the purchase price is back with me.]|#want=replacement:[I should be happy with another one that works.|All I ask is that you exchange it.|Kindly send me one that is in order.|Please put a new one in the post.]|#want=repair:[I would rather keep it, so please have it put right.|Could you send somebody who mends it?|Please arrange for a technician.|Let it be fixed at your expense.]|#want=compensation:[Apart from that, who pays for the ruined table?|I expect something for the trouble and the spoilt evening.|I think {claim:money 20-300} for the damage to my kitchen would be fair.|Please tell me how you mean to make up for the harm done.]] [I give you {until:days}.|I expect to hear from you by {by:later 5-20}.|A line by {by:later 5-20} will do.|]
[#next=lawyer:[After that my solicitor will take over.|Otherwise we meet in court.|If not, you will get a letter from {law:company}.]|#next=press:[If nothing happens, I shall write to the newspaper.|The local radio would love this story, I am told.|My next letter goes to the consumer programme.]|#next=leave:[Should this be your last word, I shall shop elsewhere.|I would be sorry to leave after all this time, but I will.|There are other shops.]|] [You can reach me at {tel:tel}[, best {slot:words in the evening/before noon/on weekdays/at weekends}|].|My number is {tel:tel}.|Please write, I do not like the telephone: {mail:email}.|]

[Yours faithfully|Sincerely|With regards],
{who}
[{addr:address}|]
""",
        """
customer|name|complainant|writer ; who
customer_since|since ; since
years_as_customer|customer_for_years ; years
purchase_date|bought_on|ordered_on ; bought
product|item|article ; thing ; as written
shop_city|branch|bought_in ; shop
order_number|order ; ord
price|price_paid|purchase_price ; price ; What this customer paid
failed_on|problem_date|happened_on ; fail
problem_type|category|defect_type ; cat=safety/safety_hazard,function/malfunction,damage/broken,missing/missing_parts ; What went wrong
tried|already_tried ; tried
called_on|hotline_call ; call
waiting_minutes|hold_time ; wait ; Minutes on hold
agent|employee|spoke_to ; agent ; Member of staff on the phone
staff_rating|service_experience|staff_behaviour ; staff=good/positive/helpful,bad/negative/rude ; How the customer felt treated on the phone
case_number|reference|ticket ; case
days_without_answer|silent_for ; ago
promised_by|call_promised ; promise
demand|requested_remedy|customer_wants|wants ; want=refund,replacement/exchange,repair,compensation/damages
amount_claimed|compensation_amount ; claim ; Beyond the price
deadline_days|days_given ; until
deadline|answer_by ; by
threat|consequence|escalation ; next=lawyer/legal_action,press/media,leave/switch_supplier ; What the customer will do otherwise
law_firm ; law
phone ; tel
reachable|best_time ; slot
email ; mail
address ; addr
currency ; $
""",
        weight=1.5,
    ),
    Scene(
        "event",
        """
[{town:city}. |{town:city} – |({town:city}) ][#when=announce:[Posters all over town announce it|The programme is out|It is official now|Organisers have let the cat out of the bag]: [from {day:later 5-60} to {last:later 61-64}|on {day:later 5-60}] the {place:place} [will host|opens its doors for|becomes the home of] "{name:title}"[, edition number {ed:count 2-40}|, for the first time|].|#when=report:[It was a night to remember|Tired but happy faces|The last chairs have been put away|What a weekend]: [on {day:earlier 1-9}|from {day:earlier 6-9} to {last:earlier 2-5}] "{name:title}" [filled|drew crowds to|turned heads in] the {place:place}[, edition number {ed:count 2-40}|].]

[?when=announce:[{org:name}, who [runs|leads|chairs] the committee, [expects|hopes for|counts on] {crowd:big} visitors.|{crowd:big} people are expected.|Up to {crowd:count 100-9000} guests can come in.]|?when=report:[{crowd:big} visitors came, according to {org:name}[ of the committee|].|{org:name} counted {crowd:count 100-9000} guests[ (last year: {:count 100-900})|].]] ["{quote:phrase}", [said|says] {org.family}.|] [#kind=music:[{star:of band} will be the talk of it, but {n:count 3-30} other groups bring their instruments, too.|There is {star:of band} to be heard, and {n:count 3-30} more on two stages.|Whoever likes it loud should not miss {star:of band}.]|#kind=food:[{n:count 5-60} cooks stir their pots: {first:of produce} and {second:of produce} wherever you look.|You can taste {first:of produce}, {second:of produce} and a lot besides.|The smell of {first:of produce} hangs over {n:count 5-60} stalls.]|#kind=science:[{speaker:name} explains {topic:of talkon}, and children may mix and measure.|{n:count 5-40} laboratories show what they do, among them {speaker:name} with a talk on {topic:of talkon}.]|#kind=sport:[{n:count 20-900} runners are on the list; the longest course is {km:number 5-42 1} km.|The starting gun goes at {at:time 8-12}, {km:number 5-42 1} km lie ahead of {n:count 20-900} people.]|#kind=crafts:[{n:count 5-60} potters, weavers and turners have brought their benches.|You may look over the shoulders of {n:count 5-60} makers, and buy.]]

[?when=announce:[[It starts|Doors open|The first guests may come in] at {at:time 8-19}[ and ends at {end:time 20-23}|].|Daily from {at:time 8-12} to {end:time 16-23}.]|] [#fee=free:[Nobody pays anything|There is no charge|You can keep your purse shut].|#fee=paid:[A day costs {price:money 4-60}[, both days {two:money 61-90}|]|Tickets are {price:money 4-60}[, under-{age:count 12-18}s go in free|]|{price:money 4-60} is what they ask at the gate].|#fee=donation:[A hat goes round|You give what you can|Coins for the new roof are welcome].]
[The town gives {grant:money 900-20000}[, {sponsor:company} the rest|].|{sponsor:company} pays for the stage.|Without {sponsor:company} it would not be possible, [says|said] {org.family}.|] [#weather=indoor:[Rain does not matter: all of it is under a roof.|It takes place inside.]|#weather=outdoor:[All this happens in the open air.|Let us hope for sun, as there is no roof.]|] [?when=announce:[Those who come by car should leave it at {park:street}; a bus goes every {bus:count 5-40} minutes.|There is no parking, but a bus every {bus:count 5-40} minutes.]|?when=report:[The first aiders had {aid:count 2-40} scratches to dress.|The police had nothing to report.|{aid:count 2-30} people had to see the first aiders.]|]
[The next one is planned for {next:later 300-400}.|In {:year} it had to be called off because {:reason}.|Whether it will come back is open.|Last year's edition lost {loss:money 500-9000}.|]
[More: {url:url}|({by:name})|{by:name}|Programme at {url:url}]
""",
        """
event|name|title ; name
city|town|place ; town
venue|location|hall ; place
article_type|perspective|tense ; when=announce/announcement/preview,report/review/afterwards ; Is the event still to come
start_date|date|day|first_day ; day
end_date|last_day ; last ; null if it is one day
edition|edition_number ; ed
organizer|committee_head|contact ; org
visitors|attendance|expected_visitors ; crowd ; As a number
quote ; quote
event_type|kind|category ; kind=music/concert,food/food_festival,science/science_fair,sport/sports,crafts/craft_market
headliner|main_act|band ; star
number_of_participants|exhibitors|participants ; n ; Bands, cooks, runners or makers
speaker ; speaker
topic|talk_topic ; topic
distance_km|longest_course ; km
start_time|opens_at|begins ; at
end_time|closes_at ; end
admission|entry_type|fee_type ; fee=free,paid,donation/donations
ticket_price|price|day_ticket ; price
two_day_ticket ; two
free_under_age ; age
grant|public_money|subsidy ; grant
sponsor ; sponsor
indoor_or_outdoor|setting ; weather=indoor,outdoor
parking|park_at ; park
bus_interval|bus_every_minutes ; bus
first_aid_cases|injured ; aid
next_date|next_edition ; next
last_years_loss|loss ; loss
website|url ; url
author|by|reporter ; by
currency ; $
""",
        weight=1.2,
    ),
    Scene(
        "appointment",
        """
[Hi {to.given},|Dear {to:name},|Hello {to.given}, hello {third:name},|{to.given}, good morning!]

[I'm sorry to make this complicated, but|It's about our date again:|I need your patience:|You won't like this:] [the {old:later 1-6} we had agreed on|our meeting on {old:later 1-6}|what we had planned for {old:later 1-6}] [is no longer possible on my side|won't work after all|falls through]. [#why=health:[My back has gone and I can hardly sit.|The doctor has put me to bed.|I've caught what everyone has.]|#why=travel:[I'm stuck in {stuck:city} until the trains run again.|They're sending me to {stuck:city} at short notice.|My flight from {stuck:city} was cancelled.]|#why=family:[Our daughter starts school that morning.|My mother moves into her new flat that day.|The baby came early!]|#why=work:[The auditors have moved their visit to that very day.|I have to stand in for {sub:name}.|The board wants its figures a week sooner.]]

[As you know|You remember that|Just to recall,] [we wanted to talk about|it's about|the point was] {topic:of talkon}[ and {topic2:of talkon}|], [which can't wait for ever|and I'd like to get it done this month|so let's not put it off too long]. [My first idea was|I had thought of|On the phone we mentioned] {idea:later 7-12}, but [{other:name} is away then|there's no room free|it clashes with your seminar]. [And {idea2:later 13-18}, which {other2:name} suggested, is a holiday.|{idea2:later 13-18} would suit me but not {other2:name}.|]

[So here's what I propose|My suggestion|So let us say|Could we agree on this]: {day:later 19-40}, [{at:time 8-18}|{at:spoken 8-18}][, for {len:duration}| (I think {len:duration} will do)|]. [#how=site:[You come to us, {street:street}, {fl:floor}.|I've booked the {room:room} here.|At our place, {room:room}.]|#how=client:[I'll come to you this time.|This time I do the travelling, see you at your office.|I'll be at your door.]|#how=online:[We can do it on screen, then nobody has to drive.|I'll send a link, same as last time.|Let's spare us the journey and switch on the cameras.]|#how=lunch:[Over a plate of soup at {rest:of merchant}?|I've reserved a table at {rest:of merchant}.|And we eat something at {rest:of merchant}, my treat.]] [If that's no good, {alt:later 41-50} at {altat:time 8-18} is free as well.|Second choice: {alt:later 41-50}, {altat:time 8-18}.|Plan B would be {alt:later 41-50}, {altat:time 8-18}.|]
[Please bring {bring:of form}[ and {bring2:of form}|].|Could you have {bring:of form} ready?|] [#conf=yes:[Tell me by {until:later 3-6} whether that suits you.|I'd need your yes by {until:later 3-6}.|Drop me a line by {until:later 3-6}, please.]|#conf=no:[If I don't hear from you, I take it as agreed.|No answer means yes.|Only write if it doesn't fit.]] [In urgent cases {dep:name} ({deptel:tel}) can help.|Until then my mobile is off, {dep:name} takes messages: {deptel:tel}.|]

[Sorry again, and best wishes|Thanks for your understanding|Yours|All the best],
{who:name}
[{firm:company}|{role:of role up}|{role:of role up}, {firm:company}|]
""",
        """
sender|written_by|organizer|from ; who
company|organisation ; firm
sender_role|job_title ; role
recipient|invitee|to ; to
second_recipient ; third
cancelled_date|old_date|original_date ; old ; Date that no longer holds
reason|cancellation_reason|why ; why=health/illness,travel,family,work/business ; Why it was moved
stuck_in|travel_city ; stuck
stands_in_for ; sub
topic|subject|about ; topic
second_topic ; topic2
new_date|proposed_date|date ; day ; First choice of the new dates
new_time|proposed_time|time ; at
duration|length ; len
alternative_date|second_choice|fallback_date ; alt
alternative_time|fallback_time ; altat
rejected_date|first_idea ; idea ; Date that was considered and dropped first
other_rejected_date|second_idea ; idea2
format|where|meeting_type ; how=site/our_office/in_house,client/at_client,online/video,lunch/restaurant
street ; street
floor ; fl
room ; room
restaurant ; rest
bring|documents|to_prepare ; bring+bring2 ; in order
reply_needed|must_confirm|answer_required ; conf? ; Is silence not enough
reply_by|confirm_by ; until
deputy|stand_in|contact_meanwhile ; dep
deputy_phone ; deptel
""",
        weight=1.3,
    ),
    Scene(
        "product",
        """
[Let me say it at once:|First impressions:|To start with:|Another one of these, I thought, and yes:|A word before the details:] [the {what:of product} is heavier than it looks|my flatmate laughed at the {what:of product}|the box of the {what:of product} smelled of glue|the {what:of product} makes a good impression|I nearly sent the {what:of product} back unopened]. [{brand:company} [asks|wants] {price:money 10-900} for it[, after {was:money 901-1400} last year|]|It costs {price:money 10-900}[ (it used to be {was:money 901-1400})|] and comes from {brand:company}|{brand:company} lent it to me for {test:days}; in the shop you pay {price:money 10-900}]. [The cheaper {:of model} version at {:money 5-300} does without the lid.|There is a bigger one for {:money 500-1900}, which I did not try.|]

[What I liked|On the bright side|The good news first]: <pros 1-3, and :{t:of pro}>. [After {after:days}|By the second week|Soon] [it had its place in my kitchen|I stopped noticing it, which is praise|even my father used it]. [The maker promises {claim:count 5-40} hours[ on one charge|]; I measured {real:count 2-30}.|It weighs {kg:measure 1-20 kg} on my scales, not {:measure 1-20 kg} as printed.|]
[Less pleasing|What I did not like|Now for the bad news|The list of complaints]: <cons 1-3, and :{t:of con}>. [#svc=good:[I wrote to {brand} and had an answer within the hour.|The people at {brand} sent the missing screw at once.]|#svc=bad:[Mails to {brand} vanish into thin air.|The hotline of {brand} plays music, nothing else.]|]

[#v=buy:[All in all, I'd not want to be without it.|My neighbour has ordered one already.|Worth every penny.|I have put it on my wish list for my brother.|It stays, and I mean that.|You can hardly go wrong.]|#v=wait:[I would hold on until the next version.|Good idea, but let them finish it first.|In half a year, perhaps.|Once the software grows up, it will be a fine thing.|Not today, maybe next spring.|Give them time.]|#v=avoid:[It went back the same day.|I can't think of anyone to whom I would give it.|Keep your wallet closed.|There are better ones for half the money.|Mine is in the cellar now.|A waste of plastic.]] [[My mark|Score|In figures]: {score:number 1-10 1} [out of 10|/10|points of ten].|That makes {score:number 1-10 1}/10.|{stars:stars}|] [#for=families:[Households with children will be glad of it.|Ideal where four people want breakfast at once.]|#for=students:[Just right for a room of twelve square metres and a small purse.|Those who live on noodles will love it.]|#for=professionals:[Only if you earn your living with it.|For workshops that run all day.]|#for=beginners:[If you have never held one, start here.|You need no experience at all.]|]
[{by:name}[, {day:today}|]|Text and photos: {by:name}|]
""",
        """
product|item|reviewed_product ; what ; as written
manufacturer|brand|maker ; brand
price|current_price ; price ; Of the version that was tried
old_price|former_price ; was
tested_for|test_days|loan_period ; test
claimed_hours|battery_claim ; claim ; What the maker says
measured_hours|battery_measured ; real ; What the reviewer found
weight|measured_weight ; kg
service|customer_service ; svc=good,bad
verdict|recommendation|conclusion ; v=buy/recommended,wait/wait_for_next,avoid/not_recommended ; As it follows from the conclusion
score|rating_out_of_ten|points ; score
stars ; stars
target_group|suited_for|audience ; for=families,students,professionals,beginners
author|reviewer|by ; by
date|published ; day
currency ; $
pros|likes|strengths ; pros* ; In order, as written
text|point ; pros.t ; as written
cons|dislikes|weaknesses ; cons* ; In order, as written
text|point ; cons.t ; as written
""",
        weight=1.3,
    ),
)
