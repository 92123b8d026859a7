"""Scenes: kitchens: doughs with schedules, menus, batches, drinks, week plans, and recipes told in running text."""

from .scene import Scene

_ING = "strong white flour/rye flour/water/fresh yeast/sea salt/honey/rapeseed oil/butter/whole milk/egg yolks/caster sugar/dark chocolate/ground almonds/sour cream/grated carrot/poppy seeds/vanilla/lemon zest/semolina/sourdough starter/malt/oats/spelt flour/quark/buttermilk"
_VEG = "leeks/two kinds of beans/smoked tofu/pork belly/cod/lentils/chestnuts/prawns/beetroot/lamb shoulder/celeriac/ricotta/mussels/turkey mince/savoy cabbage"
_DISH = "Potato gratin/Onion tart/Pumpkin soup/Fish pie/Mushroom barley/Chickpea stew/Plum dumplings/Cauliflower cheese/Beef goulash/Spinach lasagne/Lentil loaf/Rice pudding/Chicken pilaf/Apple crumble"

SCENES = (
    Scene(
        "recipe",
        f"""
[{{name:words Country Rye/Sunday Plait/Walnut Spelt/Potato Bread/Oat Sourdough/Olive Sticks/Malt Loaf/Baguette No. 4}}|# {{name:words Country Rye/Sunday Plait/Walnut Spelt/Potato Bread/Oat Sourdough/Malt Loaf}}] ([[for|makes] {{n:spelled 1-8}} [loaves|pieces]|{{n:number 1-8 0}} x {{pw:count 250-1200}} g])
[Dough|Formula][, {{hyd:count 58-85}} % water|]:
<f 3-6:[{{g:number 3-900 0}} g|{{g:number 3-900 0}} grams of] {{what:words {_ING}}}[ ({{bp:number 1-90 1}} %)|]>
[Mix|Knead] {{mix:count 4-20}} [min|minutes][, dough temperature {{dt:count 22-29}} °C|]. [Bulk|First rise]: {{bulk:measure 1-5 hours}} at {{bt:count 20-32}} degrees[, fold {{fold:spelled 2-4}} times|]. [Shape, then [overnight|{{ret:count 8-20}} h] in the fridge at {{rt:count 3-7}} °C.|Shape, prove {{pr:count 30-90}} min.]
[Bake|Into the oven]: <b 1-3, then :{{bm:count 8-40}} min at {{bc:number 180-260 0}} °C>[ [with steam|under the lid]|]. [Core|Inside] {{core:count 93-99}} °C. [[Cool|Wait] {{cool:count 1-4}} h before cutting.|]
[#veg=yes:[No animal products.|Suits vegans.]|#veg=no:[Contains milk.|Brush with egg.|The lard makes it.]|] [From my aunt {{by:name}}.|Source: {{by:name}}, "{{src:words Daily Dough/Crumb/The Slow Oven}}"[, p. {{pg:count 8-240}}|].|]
""",
        """
name|title|recipe|bread ; name ; as written
loaves|pieces|makes|yield ; n
piece_weight_g|weight_per_piece ; pw
water_percent|dough_water ; hyd
mixing_minutes|knead_minutes|mix_time ; mix
dough_temperature|dough_temp_c ; dt
first_rise_hours|hours_of_first_rise ; bulk
first_rise_temperature|warmth ; bt ; Of the first rise
folds ; fold
fridge_hours|retard_hours|cold_proof_hours ; ret
fridge_temperature ; rt
proof_minutes|final_proof_min ; pr
core_temperature|core_temp_c ; core
cooling_hours ; cool
vegan|is_vegan ; veg?
source_person|author|from_whom ; by
book|source ; src
page ; pg
dough|ingredients ; f*
amount_g|weight ; f.g
ingredient|name ; f.what
percent|bakers_percent ; f.bp
baking_steps|oven ; b* ; In order
time_min|for_minutes ; b.bm
oven_temperature|degrees ; b.bc
""",
        weight=1.5,
    ),
    Scene(
        "recipe",
        f"""
[Week plan|Menu plan|Speiseplan], [CW {{cw:count 1-52}}|week from {{day:today}}] – [canteen|kitchen|house] {{who:words North/Linde/B2/the Bakery/St. Anna}}
<d 3-5:[#wd=mon:Mon|#wd=mon:Monday|#wd=tue:Tue|#wd=tue:Tuesday|#wd=wed:Wed|#wd=wed:Wednesday|#wd=thu:Thu|#wd=thu:Thursday|#wd=fri:Fri|#wd=fri:Friday][:| –] {{dish:words {_DISH}}}[ (veg)|, meatless| (contains {{al:words gluten/milk/nuts/celery/mustard/fish}})], {{p:amount 3-12}}>
[Prices for staff; guests pay {{gp:money 1-4}} more.|Guests: plus {{gp:money 1-4}}.|]
[Dessert each day: {{des:words stewed plums/vanilla custard/fruit/jelly/yoghurt}}[, {{dp:money 1-3}}|].|]
[Open|Served] {{o:time 10-11}}–{{c:time 13-14}}. [Order by {{ord:time 7-9}}[ the day before|] at {{tel:phone}}.|] [#pork=no:[We cook without pork this week.|No pork at all.]|#pork=yes:[The stock is from pork.|Some dishes with bacon.]|]
[Cook: {{cook:name}}.|]
""",
        """
week|calendar_week ; cw
week_start|from ; day
canteen|kitchen|location ; who
guest_surcharge|extra_for_guests ; gp
dessert ; des
dessert_price ; dp
opens|open_from|from_time ; o
closes|open_until|until_time ; c
order_by|order_deadline ; ord
phone|order_phone ; tel
pork|contains_pork ; pork?
cook|chef ; cook
days|menu|meals ; d* ; In order
weekday|day ; d.wd=mon/monday,tue/tuesday,wed/wednesday,thu/thursday,fri/friday
dish|meal ; d.dish
allergen ; d.al ; null if none is named
price ; d.p
currency ; $
""",
    ),
    Scene(
        "recipe",
        f"""
[My {{by:words grandmother/uncle/neighbour/first landlady}} made it every {{:words Friday/November/harvest/rainy Sunday}}.|People keep asking me for this.|It looks like work, it isn't.] {{name:words {_DISH}}}[, [the|a] {{cui:words Basque/Styrian/Welsh/Galician/Bengali/Alsatian/Georgian}} way|]. [You want|Buy|You'll need] <i 2-5, :[{{q:number 50-900 0}} g [of |]|{{q:spelled 2-8}} ]{{what:words {_VEG}}}>[ – that feeds {{serv:spelled 2-9}}| for {{serv:spelled 2-12}} people|].

[Chop, which takes|Peeling and chopping take] [me |]{{prep:count 5-40}} minutes; [then it [simmers|stews|bakes] for|on the stove it needs] {{cook:words half an hour/45 minutes/an hour/an hour and a half/two hours/20 minutes}}[ at {{deg:number 140-220 0}} °C|][, covered|]. [Let it rest {{rest:count 5-30}} minutes.|] [#diff=easy:[Nothing can go wrong.|A child could do it.|Even I manage.]|#diff=hard:[The pastry takes practice.|Not for beginners.|I failed three times.]|#diff=medium:[Some care with the heat is all it takes.|Mind the sauce.]|] [#fr=yes:[Freezes well[, up to {{fm:spelled 2-6}} months|].|What's left goes into the freezer.]|#fr=no:[Eat it the same day.|Don't freeze it.]|] [[About|Roughly] {{kcal:number 250-900 0}} kcal a [plate|helping].|] [Costs next to nothing: {{cost:money 3-25}} for the lot.|] [With it {{dr:words cider/a dry white/buttermilk/small beer/mint tea}}.|]
""",
        """
name|dish|title ; name
cuisine|origin|region ; cui
servings|serves|feeds|portions ; serv
prep_minutes|preparation_time|prep_time_min ; prep
cook_time|cooking_time ; cook ; as written
oven_temperature|temperature_c ; deg
rest_minutes|resting_time ; rest
difficulty|level ; diff=easy/simple,medium/moderate,hard/difficult/advanced
freezable|can_be_frozen|suitable_for_freezing ; fr?
freezer_months|keeps_months ; fm
calories|kcal_per_serving ; kcal
total_cost|cost ; cost
drink|goes_with|pairing ; dr
ingredients|shopping_list ; i* ; In order
amount|quantity ; i.q
ingredient|item|name ; i.what
""",
        weight=1.5,
    ),
    Scene(
        "recipe",
        """
[{name:words Hay Fever/The Late Ferry/Copper Mule/Pear Sour/Night Porter/Velvet Fog/Orchard Fizz}|Cocktail of the month: {name:words Hay Fever/The Late Ferry/Pear Sour/Velvet Fog/Orchard Fizz}]
<i 2-5:[- |* |]{q:number 0.5-9 1} [cl|oz|parts] {what:words gin/rye/dry vermouth/lime juice/sugar syrup/pear juice/bitters/egg white/soda/crème de cassis/cold tea/rhubarb cordial}[, {note:words chilled/freshly pressed/to top/overproof/homemade}|]>
[Glass|Served in][: | ]{glass:words coupe/tumbler/flute/highball/copper mug/teacup}[, {ice:words crushed ice/no ice/one big cube/cubes}|]. [#m=shaken:[Shake hard for {sec:count 8-20} seconds|In the shaker, {sec:count 8-20} seconds, until it frosts]|#m=stirred:[A long spoon, {sec:count 15-60} seconds, no hurry|Turn gently for {sec:count 15-60} seconds]|#m=built:[Straight into the glass|Pour one after the other where it is drunk]][, [strain|double strain]|]. [Garnish|On top][: | ]{gar:words a cherry/lemon twist/rosemary/nutmeg/nothing/cucumber}.
[#alc=yes:[{abv:count 8-34} % vol.|Strong: {abv:count 15-40} %.]|#alc=no:[Drivers may have two.|Zero proof.]|] [{price:money 6-19}[ (happy hour {hh:money 3-9})|].|] [Invented by {by:name}[ in {yr:year}|].|]
""",
        """
name|cocktail|drink ; name
glass ; glass
ice ; ice
method|technique|how ; m=shaken/shake,stirred/stir,built/build_in_glass
seconds|shake_or_stir_seconds ; sec
garnish ; gar
alcoholic|contains_alcohol ; alc?
abv_percent|strength ; abv
price ; price ; The usual price
happy_hour_price ; hh
inventor|created_by ; by
year|invented_in ; yr
ingredients|components ; i*
amount|quantity ; i.q
ingredient|name ; i.what
remark|note ; i.note
currency ; $
""",
    ),
    Scene(
        "recipe",
        f"""
[Set menu|Menu for {{occ:words the golden wedding/a retirement/St Martin's/the works party/the christening}}|Dinner, {{day:today}}]
<c 3-5:[#k=starter:[To begin|First|Vorspeise]|#k=soup:[From the pot|Soup]|#k=main:[Then|The big plate|Hauptgang]|#k=dessert:[Sweet end|To finish|Nachtisch]]: {{what:words {_DISH}}}[ with {{side:words {_VEG}}}|][ · {{w:words Riesling/house red/perry/still water/Grüner Veltliner}}|]>
[{{p:money 24-120}} a head[, with wine {{pw:money 60-190}}|]|{{p:money 24-120}} per person[, children {{pk:money 9-22}}|]]. [#v=yes:[Meatless version on request.|Each course also without meat.]|#v=no:[No vegetarian version, sorry.]|] [Minimum|From] {{min:spelled 4-20}} [guests|people]; book [by|until] {{by:later 3-30}} with {{who:name}}, {{tel:phone}}. [Table from {{at:time 17-20}}.|] [{{dep:percent}} in advance.|]
""",
        """
occasion|event ; occ
date ; day
price_per_person|price ; p ; Without wine, for adults
price_with_wine ; pw
child_price ; pk
vegetarian_option|vegetarian_available ; v?
minimum_guests|min_people ; min
book_by|reservation_deadline ; by
contact|host ; who
phone ; tel
start|table_from ; at
deposit_percent|advance_percent ; dep
courses|menu ; c* ; In order
course|kind ; c.k=starter/first_course,soup,main/main_course,dessert/sweet
dish ; c.what
side|served_with ; c.side
drink|wine ; c.w
currency ; $
""",
    ),
)
