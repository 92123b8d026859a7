"""Scenes: shop pages, classified adverts, sheets of data, reviews and comparisons of wares."""

from .scene import Scene

SCENES = (
    Scene(
        "product",
        """
[Home > {cat:words Kitchen/Garden/Outdoor/Office/Toys/Tools/Fashion/Electronics/Sports} > {:words New in/Sale/All/Bestsellers}
|{shop:company}
|]{name:of product up}
[by {brand:of line}|Brand: {brand:of line}|from {brand:of line}|{brand:of line}][ · | \\| |
][[Art.|Item|SKU|Model|Ref.] {sku:code ######|@@-####|##.###.##|@####}|EAN {ean:code 40###########}|]
[{rate:number 2-5 1} ★ ({n:count 3-900} reviews)|{rate:number 2-5 1}/5 from {n:count 3-900} buyers|★★★★☆ {rate:number 3-5 1} ({n:count 3-900})|Be the first to review]

[[Was|RRP|Instead of|List price|Before] {was:money 60-900}[, now| – now| → | \\| Now] {price:money 5-59}[ (-{off:percent})|]|{price:money 5-900}[ incl. VAT|, tax included|]|Only {price:money 5-59} [~~{was:money 60-900}~~|(was {was:money 60-900})]|{price:money 5-900}[ ({unit:money 1-40} per {per:words kg/litre/metre/piece/100 g})|]]
[[Shipping|Delivery|Postage] {ship:money 2-15}[, free over {free:money 30-120}|]|Free shipping|+ {ship:money 2-15} delivery|]
[#stock=in:[In stock, with you by {eta:later 1-5}|Ready to ship|{left:count 20-200} available|On the shelf in {:count 2-9} branches|Order in the next {:count 2-9} hours, dispatched today]|#stock=low:[Hurry, {left:count 2-5} left|Almost gone|Only {left:count 2-5} more in our warehouse|Last pieces!]|#stock=out:[Sold out|Currently not available, mail me when it's back|Back in {:words spring/autumn/two weeks}|We can't get any at the moment|Notify me]|#stock=pre:[Comes out on {rel:later 10-90}, reserve yours|Pre-order now, out {rel:later 10-90}|Available from {rel:later 10-90}]]
[Colour|Color|Shade|Finish][: | ]{col:of colour}[ (also {c2:of colour}, {c3:of colour})| · {c2:of colour} · {c3:of colour}|]
[[Size|Sizes][: | ]{size:words S/M/L/XL/38/40/42/one size/140x200/A4}
|]
<feats 1-6:[• |✓ |- |* |]{what:of pro up}>

[Details|Specifications|Technical data|The facts|Datasheet]
[Dimensions[:|] {dim:code ## x ## x ## cm|1## × ## × ## cm|#0 x #5 cm}
|][Weight[:|] {kg:measure 1-40 kg}
|][Material[:|] {mat:words oak/stainless steel/organic cotton/recycled polyester/bamboo/glass/silicone/leather/aluminium/wool}
|][Power[:|] {watt:measure 20-2400 W}
|][Made in {land:country}
|][[Warranty|Guarantee][:|] {war:months}
|][[Age|Suitable][:|] from {age:count 2-12} years
|]
[#ret=yes:[You can send it back within {retdays:days}.|Changed your mind? {retdays:days} to return it.|Money back within {retdays:days}.]|#ret=no:[Made to order, cannot be returned.|For hygiene reasons we don't take it back.|No returns on this item.]|] [#asm=yes:[Comes flat, you need a screwdriver.|Some assembly required.|To be put together in {mins:duration}.]|#asm=no:[Arrives ready to use.|Nothing to build.|Delivered in one piece.]|]
[Often bought together: {:of product}, {:money 5-90}|Customers also looked at {:of product} ({:money 5-90})|Sold by {seller:company}, shipped by {:company}|Sold and shipped by {seller:company}|]
""",
        """
name|product_name|title|product ; name ; as written
brand|manufacturer|maker ; brand
category|department ; cat
sku|article_number|item_number|model_number ; sku
ean|gtin|barcode ; ean
rating|average_rating|stars ; rate ; Out of five
review_count|number_of_reviews|ratings ; n
price|current_price|sale_price|price_now ; price ; What it costs now
original_price|old_price|rrp|list_price ; was ; Price before, null if it is not reduced
discount_percent|reduction|discount ; off
unit_price|price_per_unit|base_price ; unit
unit ; per
currency ; $
shipping_cost|delivery_cost|postage ; ship ; null if it is not stated or free
free_shipping_from|free_delivery_over ; free
availability|stock_status|stock ; stock=in/in_stock/available,low/low_stock/few_left,out/out_of_stock/sold_out,pre/pre_order ; Can it be bought now
stock_quantity|pieces_left|left ; left
delivery_by|eta|arrives ; eta
release_date|available_from ; rel
colour|color|finish ; col ; The colour shown, not the other options
size ; size
dimensions|measurements ; dim ; as written
weight|weight_kg ; kg
material ; mat
power|wattage ; watt
made_in|country_of_origin|origin ; land
warranty|guarantee ; war
min_age|recommended_age|age ; age
returnable|can_be_returned|returns_accepted ; ret?
return_period|return_window ; retdays
assembly_required|needs_assembly ; asm?
assembly_minutes|assembly_time ; mins
seller|sold_by|merchant ; seller
features|highlights|selling_points ; feats* ; In order
feature|text|point ; feats.what ; as written
""",
        weight=1.5,
    ),
    Scene(
        "product",
        """
[{title:of product up}[, {col:of colour}|] [for sale|- must go|, as good as new|, pick up only|!!|]|For sale: {title:of product}|Selling my {title:of product}|On offer: {title:of product}|Looking for a new owner: {title:of product}]
[{town:city}[, {dist:number 1-40 0} km away|] · |][{day:earlier 1-20} · |posted {day:earlier 1-20}, |][ad no. {ad:code ########|######} · |][{views:count 10-900} views|]

[Bought|We bought it|It was bought] [in {year:year}|{ago:months} ago|last {:words Christmas/summer}] [for {new:money 100-900}[ at {shop:company}|]|at {shop:company}[ for {new:money 100-900}|]]. [#cond=new:[Never taken out of the box.|Still sealed.|The price tag is still on it.|Wrong present, never used.|Unopened.|Tried on once in the shop, that's all.]|#cond=very_good:[You have to look hard to find a trace of use.|Hardly used.|Like on the first day, except for the box.|Used twice.|No marks at all, it stood in the guest room.]|#cond=used:[It shows its age, but does what it should.|Normal signs of wear.|Has been in daily use, works fine.|With {flaw:of flaw}, otherwise sound.|Some scuffs: {flaw:of flaw}.]|#cond=broken:[Doesn't switch on any more, for tinkerers.|For spares, as it no longer works.|Sadly it gave up the ghost, {flaw:of flaw}.|Needs repair before you can use it.|Faulty, sold as scrap.]]
[Reason for sale|Why I sell it|I part with it because]: [{why:words moving abroad/too big for the flat/a new one came/we need the space/the children have grown/baby on the way/allergy/end of a hobby/unwanted gift}.|{why:words moving abroad/too big for the flat/a new one came/we need the space/the children have grown/end of a hobby}, sadly.]
[Included|With it come|You also get|Comes with]: <extras 1-4, :{what:of ware}>[.| and the bill.|]
[Size {size:words S/M/L/38/42/128/one size}.|Measures {dim:code ### x ## cm|## x ## x ## cm}.|Weighs {kg:measure 1-40 kg}.|]
[#home=smoke:[We do smoke, but on the balcony.|From a smoker's flat.]|#home=free:[Nobody smokes here, no pets either.|Smoke-free and pet-free home.|From a household without animals or cigarettes.]|#home=pets:[We have two cats.|A dog lives with us.]|]

[#neg=firm:[{price:money 5-600}, and that's final.|{price:money 5-600}. No haggling, I won't answer to "last price?"|Fixed price {price:money 5-600}.|{price:money 5-600} firm.]|#neg=open:[{price:money 5-600} VB|{price:money 5-600} ono|I thought of {price:money 5-600}, make me an offer.|{price:money 5-600}, let's talk.|Asking {price:money 5-600}, open to sensible offers.]|#neg=gift:[It's yours for nothing.|You only have to fetch it, no money wanted.|A bar of chocolate would be nice, that's all.|Free to whoever comes first.]|#neg=swap:[I'd trade it for {swap:of ware}.|In exchange for {swap:of ware}, no cash.|Swap only: {swap:of ware}.]]
[#ship=pickup:[You have to come and get it.|Too bulky to post.|Collection from {street:street}.|No shipping.]|#ship=post:[I can post it, you pay {post:money 4-25}.|Shipping is {post:money 4-25}.|Insured parcel {post:money 4-25}.]|#ship=both:[Fetch it, or I send it for {post:money 4-25}.|Pick up or post ({post:money 4-25}), as you like.]|] [#pay=cash:[Money in hand when you take it.|Notes only.|Please bring the exact sum.]|#pay=paypal:[PayPal friends.|You can send it with PayPal.]|#pay=transfer:[By bank, then I hand it over.|Transfer in advance.]|]
[Ring {tel:tel}[ after {after:time 16-20}|].|Write through the site, please.|{who:name}, {tel:tel}|Ask for {who:name}.|Text me on {tel:tel}.|] [Private sale, no returns.|Reserved until {res:later 1-5}.|The {:of ware} in the picture is already gone.|My other ad: {:of ware}, {:money 5-90}.|]
""",
        """
title|item|product|name ; title ; as written, without additions
colour|color ; col
city|location|town ; town
distance_km|distance ; dist
posted_on|date|listed_on ; day
ad_number|listing_id|ad_id ; ad
views ; views
condition|state ; cond=new/unused,very_good/like_new,used/good/fair,broken/defective/for_parts ; What the wording implies
defect|flaw|damage ; flaw ; as written
bought_in|purchase_year|year ; year
age_months|age|bought_ago ; ago
price_when_new|original_price|price_paid ; new
bought_at|shop|store ; shop
reason_for_sale|reason|why_selling ; why
size ; size
dimensions|measurements ; dim
weight|weight_kg ; kg
household|home|environment ; home=smoke/smoking,free/smoke_and_pet_free,pets/with_pets
asking_price|price|amount ; price ; null if no money is wanted
price_type|negotiability|price_terms ; neg=firm/fixed,open/negotiable,gift/free,swap/exchange ; How firm the price is
swap_for|wants_in_exchange|exchange_for ; swap
currency ; $
handover|delivery|shipping_option ; ship=pickup/collection,post/shipping,both/either ; How the buyer gets it
shipping_cost|postage ; post
pickup_street|street ; street
payment|payment_method ; pay=cash,paypal,transfer/bank_transfer
seller|contact|name_of_seller ; who
phone|contact_phone ; tel
call_after ; after
reserved_until ; res
included|accessories|comes_with ; extras* ; In order
item|accessory|name ; extras.what ; as written
""",
        weight=1.4,
    ),
    Scene(
        "product",
        """
[{stars:stars 4-5} [#v=positive:[Would buy it again tomorrow|My favourite thing this year|Does what it promises and more|Couldn't be happier|Best purchase in ages|Just wonderful|Go for it]|#v=positive:["{head:of pro up}"|{head:of pro up}!]]|{stars:stars 1-2} [#v=negative:[Straight back to the shop|Save your money|What a disappointment|Never again|Broke on day two|I regret every cent|Hands off]|#v=negative:["{head:of con up}"|{head:of con up}...]]|{stars:stars 3-3} [#v=mixed:[Could be better|It's all right|Not bad, not good|You get what you pay for|Half happy|So-so|Does the job, more or less]]]
[by |Review by |]{who:name}[ from {town:city}| in {land:country}|][, | on | · ]{day:today}
[[Verified purchase|Verified buyer|Bought here]
|][[Colour|Variant|Size]: {var:of colour}
|]
[[I got|We ordered|My sister gave me|After the old one died I bought] [the|this] {what:of product} [{since:months} ago|in {:words March/spring/the sale}|last winter]|[I've been using|We have had|This is about] the {what:of product}[ for {since:months} now|]][ for {paid:money 10-600}| (paid {paid:money 10-600})|]. [It replaced my {old:of ware}.|Before that I had one by {oldbrand:of line}.|I also looked at {:of product}, but it was too dear.|]
[[Pros|Good|What I like|+|On the plus side][:|] <pros 1-4, :{t:of pro}>.
[Cons|Not so good|What annoys me|-|On the downside][:|] <cons 1-4, :{t:of con}>.|[+|Likes:]
<pros 1-4:+ {t:of pro}>
[–|Dislikes:]
<cons 1-3:- {t:of con}>|I love that it is <pros 1-2; :"{t:of pro}">, less so <cons 1-2; :"{t:of con}">.]
[#use=daily:[It runs every single day here.|I use it morning and night.|Not a day without it.]|#use=weekly:[Comes out on Sundays.|I need it once a week or so.|Every weekend, roughly.]|#use=rarely:[To be honest it mostly sits in the cupboard.|Used it three times so far.|For the odd occasion.]|]
[#svc=good:[When a screw was missing, they sent one the next day.|The hotline was a joy.|Customer service replied within the hour.]|#svc=bad:[I wrote to them twice, no answer.|The hotline kept me waiting for {:count 20-60} minutes.|Support just copies and pastes.]|] [It came {del:days} after I ordered.|Delivery took {del:days}.|]
[?v=positive?v=mixed#rec=yes:[My neighbour has ordered one because of me.|Get one if you can.|I'd give it to my best friend.|Treat yourself!|Buy it, you won't be sorry.|Tell your friends.]|?v=negative?v=mixed#rec=no:[Look elsewhere.|Spend your money on something better.|I can't tell anyone to buy this.|Leave it on the shelf.|Take a different one.|Not for my friends.]|]
[{help:count 2-90} people found this helpful.|{help:count 2-90} of {:count 91-200} found this useful|Helpful? Yes ({help:count 2-90}) No ({nohelp:count 2-20})|]
[Reply from {brand:company}: [thank you, {who.given}!|we are sorry, please write to {mail:email}.|our team will contact you.]|]
[Update after a while: [still going strong|nothing has changed].|]
""",
        """
product|item|product_name ; what ; as written
rating|stars|score ; stars ; One to five
sentiment|verdict|overall_opinion ; v=positive,negative,mixed/neutral
reviewer|author|written_by ; who
city|reviewer_city ; town
country|reviewer_country ; land
date|reviewed_on|review_date ; day
variant|colour ; var
used_for_months|months_of_use|ownership_time ; since
price_paid|paid|cost ; paid
replaced_product|predecessor ; old
previous_brand ; oldbrand
usage_frequency|how_often|use ; use=daily/every_day,weekly,rarely/occasionally ; How often it is used
service_experience|customer_service|support_quality ; svc=good/positive,bad/negative
delivery_days|delivery_time ; del
recommended|would_recommend|recommends ; rec? ; Would the reviewer advise others to buy it
helpful_votes|helpful_count|found_helpful ; help
unhelpful_votes ; nohelp
seller|replied_by|manufacturer ; brand
contact_email|support_email ; mail
currency ; $
pros|advantages|likes|positives ; pros* ; As written, in order
text|point ; pros.t ; as written
cons|disadvantages|dislikes|negatives ; cons* ; As written, in order
text|point ; cons.t ; as written
""",
        weight=1.6,
    ),
    Scene(
        "product",
        """
[We compared|Test:|Group test:|Which one to buy?|In our lab:] {kind:of ware}[ - {mag:company}| ({mag:company}, {day:today})|, {day:today}|]

[Model, price, result|Model - price - score||]
<models 2-8:{brand:of line} {model:of model}[ {code:code ##|@#|###}|][ \\| | ; | - |, ]{price:money 20-900}[ \\| | ; | - |, ]{score:number 1-10 1}[/10| pt|][[ \\| | ; | - |, ]{w:measure 1-30 kg}|][[ \\| | ; | - |, ][#grade=best:test winner|#grade=best:top of the list|#grade=value:best for the money|#grade=value:budget tip|#grade=fail:failed|#grade=fail:we advise against it|#grade=ok:|#grade=ok:decent]|][ (+ {pro:of pro}[, - {con:of con}|])|]>

[How we tested|Method|The test]: [{hours:count 20-400} hours in our lab|{testers:count 3-40} readers took them home[ for {weeks:days}|]|everything was bought in shops, nothing borrowed][, led by {lead:name}|].
[#main=price:[The dear ones were not always the better ones.|You don't have to spend much.|Cheap beat expensive this time.]|#main=noise:[What separates them is how loud they get.|Most of them will wake the neighbours.|Ears suffered.]|#main=durability:[After {:count 20-90} days half of them were worn.|They don't live long.|Hinges broke again and again.]|#main=safety:[Two gave us an electric shock.|Watch out for sharp edges.|One of them caught fire.]|]
[Last year's winner, the {:of line} {:of model} ({:money 20-900}), is no longer sold.|Prices as of {asof:earlier 3-40}.|]
""",
        """
category|product_type|compared_products ; kind ; as written
publisher|magazine|tested_by ; mag
date|published ; day
lead_tester|author|editor ; lead
test_hours|hours ; hours
testers|number_of_testers ; testers
test_period|tested_for ; weeks
main_finding|what_matters|key_issue ; main=price/value,noise/loudness,durability/lifetime,safety/danger ; What the closing remark is about
prices_as_of|price_date ; asof
currency ; $
products|models|results|table ; models* ; In order of the table
brand|manufacturer|make ; models.brand
model|model_name ; models.model
price ; models.price
score|points|rating ; models.score
weight|weight_kg ; models.w
verdict|award|grade ; models.grade=best/winner,value/budget_pick,fail/not_recommended,ok/none
strength|plus|pro ; models.pro
weakness|minus|con ; models.con
""",
    ),
)
