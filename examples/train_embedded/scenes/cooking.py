"""Scenes: recipes as people pass them on: with chatter before them, in a mail, on a card."""

from .scene import Scene

_FOOD = "plain flour/strong white flour/self-raising flour/caster sugar/brown sugar/unsalted butter/double cream/whole milk/buttermilk/olive oil/rapeseed oil/free-range eggs/egg yolks/red onions/spring onions/garlic cloves/floury potatoes/carrots/celery stalks/leeks/baby spinach/cherry tomatoes/tinned tomatoes/tomato puree/red lentils/chickpeas/black beans/basmati rice/risotto rice/spaghetti/penne/couscous/rolled oats/dark chocolate/cocoa powder/ground almonds/chopped walnuts/raisins/dried apricots/honey/maple syrup/vanilla extract/baking powder/dried yeast/bicarbonate of soda/ground cumin/smoked paprika/cinnamon/nutmeg/fresh ginger/lemongrass/coconut milk/soy sauce/fish sauce/Dijon mustard/white wine vinegar/lemon juice/zest of an orange/grated parmesan/feta/mozzarella/ricotta/cheddar/chicken thighs/minced lamb/pork shoulder/stewing beef/smoked bacon/salmon fillets/cod loin/king prawns/firm tofu/chestnut mushrooms/aubergines/courgettes/red peppers/butternut squash/cauliflower/cabbage/apples/pears/rhubarb/plums/blueberries/raspberries/bananas/breadcrumbs/puff pastry/vegetable stock/chicken stock/fresh thyme/bay leaves/coriander/flat-leaf parsley/basil leaves/capers/green olives/sesame oil/peanut butter/rice noodles/lime juice"
_DISH = "Lemon drizzle loaf/Smoky bean stew/Green shakshuka/Grandma's plum cake/One-pot chicken and rice/Winter root soup/Rhubarb galette/Thai fish cakes/Mushroom stroganoff/Banana bread/Lamb kofta/Roast squash risotto/Cinnamon knots/Spinach and feta pie/Sticky ginger pudding/Black bean tacos/Fish pie/Apple strudel/Overnight oats/Cheese scones/Potato rösti/Pulled pork buns/Coconut dal/Chocolate pots/Tomato tart/Beef ragù/Vegetable pad thai/Blueberry muffins/Onion soup/Carrot cake/Paella for a crowd/Breakfast burritos/Almond biscotti/Cod with capers/Cabbage rolls/Pear crumble/Miso noodles/Sunday roast/Flatbreads/Pumpkin gnocchi"

SCENES = (
    Scene(
        "recipe",
        f"""
[# |]{{dish:words {_DISH}}}
[by {{author:name}}|{{author:name}}, {{posted:today}}|Posted on {{posted:today}}[ by {{author:name}}|]|]

[I know, I know, another {{:dish}}.|It rained all week and {{:clause}}, so I cooked.|My children ask for this every {{:words Friday/Sunday/holiday/birthday}}.|I first ate this in {{origin:city}} in {{:year}} and never forgot it.|You have been asking for it for months.] [The first {{:count 2-6}} times I got it wrong, so you don't have to.|Don't be put off by the list below.|Leftovers keep for {{keep:days}} in the fridge.|It keeps {{keep:days}}.|] [#level=easy:[If you can boil an egg you can make this.|Honestly, it makes itself.|My nine-year-old does it without help.|There is nothing to it.|Five minutes of stirring, that's all.|A recipe for people who can't cook.]|#level=medium:[You need a bit of patience, no more.|It takes some attention, but no magic.|Read it through once before you start.|Two things happen at the same time, so prepare well.|A little practice helps.|Not hard, but don't answer the phone meanwhile.]|#level=hard:[This is a project for a long Sunday.|I failed twice before it worked.|You'll want to have made pastry before.|Sugar at that heat forgives nothing.|Even good cooks sweat over it.|Keep this one for when you feel brave.]|]

[Jump to recipe|★ {{rating:number 3-5 1}} ({{votes:count 3-900}} ratings)|]
[[Prep|Prep time|Hands-on time][: | ]{{prep:duration}}[ · | \\| |
][Cook|Cook time|In the oven][: | ]{{cook:duration}}|[Total|Ready in|Total time][: | ]{{total:duration}}|Active: {{prep:duration}}, total: {{total:duration}}]
[[Serves|Servings|Yield|Makes][: | ]{{n:count 2-16}}[ {{:words people/pieces/portions}}|]|{{n:count 2-16}} servings|]
[[Cuisine|Kitchen]: {{cuisine:words Italian/Thai/Mexican/Greek/Indian/British/French/Levantine/Japanese/Spanish}}|]

[Ingredients|You will need|What goes in|Shopping list]
[<ing 3-10:[- |* |• |][{{q:number 20-900 0}} {{u:words g/ml}}|{{q:number 1-6 1}} {{u:words tbsp/tsp/cups/oz/tins/handfuls/cloves/slices}}|{{q:number 1-3 0}} {{u:words kg/l/sticks/sprigs/pinches}}] {{i:words {_FOOD}}}[, {{how:words finely chopped/melted/at room temperature/peeled and diced/rinsed/sifted/toasted/beaten/grated/crushed}}||]>|<ing 3-9:[- |* |• |]{{i:words {_FOOD}}}: [{{q:number 20-900 0}} {{u:words g/ml}}|{{q:number 1-6 1}} {{u:words tbsp/tsp/cups/oz/tins}}]>|<ing 3-8:{{i:words {_FOOD}}}, [{{q:number 20-900 0}} {{u:words g/ml}}|{{q:number 1-6 1}} {{u:words cups/tablespoons/slices/tins}}]>]
[Salt and pepper|salt to taste|a little oil for the tin|]

[Method|Directions|How it's done|Instructions|Steps]
1. [Heat the oven to {{temp:count 120-250}}°C[ (fan {{:count 100-230}}°C)|]|Preheat the oven, {{temp:count 120-250}} degrees|Put a large pan on medium heat|Line a tin with paper]. [Combine everything dry|Fry the first {{:count 2-3}} things until soft|Rub in the butter|Whisk until pale].
2. [Add the rest and [simmer|bake|leave it] for {{step:duration}}|Knead, then let it rise for {{rest:duration}}|Cover and chill for {{rest:duration}}|Turn once after {{:duration}}].
3. [Serve [hot|warm|cold], {{with:words with rice/with a green salad/with crusty bread/with a dollop of yoghurt/with custard/on its own/with lemon wedges}}.|Leave to cool before you slice it.|Dust with sugar.|]

[Notes|Tips|PS][: |
][#freeze=yes:[Freezes like a dream.|Make double and put half in the freezer.|Survives three months at minus 18.|I always keep one frozen for bad days.]|#freeze=no:[Please don't freeze it, it turns to mush.|Not one for the freezer.|Freezing ruins the texture.|It has to be eaten fresh.]|] [#diet=vegan:[Nothing from an animal in it.|No dairy, no eggs, no meat, promise.|My vegan friends love it.|Entirely plant-based.]|#diet=vegetarian:[No meat or fish, just plenty of cheese.|Meat-free, though there is butter in it.|For vegetarians, not for vegans.]|#diet=omnivore:[Vegetarians, look away.|Swap the meat if you like, but then it's another dish.|Ask your butcher for a good piece.]|] [[About|Roughly|Around|] {{kcal:count 90-900}} kcal [a portion|per serving|each].|] [Someone asked whether {{:count 2-20}} {{:words g/ml}} more is better: no.|]
""",
        """
title|name|recipe_name|dish ; dish
author|by|posted_by|cook ; author
published|date|posted_on ; posted
difficulty|level|skill_level ; level=easy/simple/beginner,medium/intermediate,hard/difficult/advanced ; How hard it is, by what the author says
rating|stars ; rating
rating_count|ratings|votes ; votes
prep_time|prep_minutes|preparation_time ; prep
cook_time|cooking_time|cook_minutes ; cook
total_time|ready_in|total_minutes ; total
servings|serves|yield|portions ; n
cuisine|kitchen ; cuisine
keeps_for_days|shelf_life_days|keeps ; keep ; How long leftovers keep
oven_temperature|temperature_celsius|oven_c ; temp ; Without the fan; null if no oven is used
resting_time|chill_time|rest ; rest
serve_with|serving_suggestion|accompaniment ; with ; as written
freezable|can_be_frozen|suitable_for_freezing ; freeze?
diet|diet_type ; diet=vegan,vegetarian,omnivore/meat/contains_meat
calories|kcal_per_serving|energy_kcal ; kcal
first_eaten_in|origin ; origin
ingredients ; ing* ; In the order of the list
name|item|ingredient ; ing.i ; Without amount and preparation
quantity|amount ; ing.q
unit|measure ; ing.u
preparation|note ; ing.how ; null if none
""",
        weight=2.0,
    ),
    Scene(
        "recipe",
        f"""
[Subject: [Re: |]{{:words the recipe/that recipe you wanted/recipe as promised/what we had on Sunday}}

|][Dear {{to.given}},|Hi {{to:name}},|Hello love,|{{to.given}}!|Darling,]

[here it is at last|you asked for the {{:dish}} from Saturday|finally I found the note|sorry it took so long]: {{dish:words {_DISH}}}. [It comes from {{from:words my grandmother/Aunt Vera/our neighbour Pilar/an old hotel in Graz/a colleague in Lyon/my first landlady/the back of a flour bag/a radio programme}}.|I have it from {{from:words my mother-in-law/the school cook/a fisherman in Galway/my sister/a church cookbook/our baker}}[, written down in {{year:year}}|].|]

[For {{n:spelled 2-12}} of [us|you] you take|It is meant for {{n:count 2-12}}. You need|Enough for {{n:count 2-12}} hungry people:|For {{n:count 2-12}}:] <ing 3-7, :[{{q:number 20-800 0}} {{u:words g/ml}}|{{q:number 2-6 0}} {{u:words tablespoons/teaspoons/cups/slices}}] [of |]{{i:words {_FOOD}}}> and [a pinch of salt|whatever herbs you have|some pepper]. [I use {{brand:words half butter, half lard/less sugar than she did/the cheap wine/wholemeal flour}}, but don't tell anyone.|]

[First [soak|chop|melt|mix] [all of it|the first two], then leave it alone for {{rest:duration}}.|You do the filling first, which takes {{prep:duration}}.|Stir it for {{prep:duration}}.] [Then into the oven at {{temp:count 130-240}} degrees for {{cook:duration}}|It goes on a low heat for {{cook:duration}}|{{cook:duration}} in the oven, {{temp:count 130-240}} degrees], [not a minute longer|until it smells right|and please don't open the door]. [Mine took {{:duration}} because our oven is old.|In total you'll be busy for {{total:duration}}.|]

[#when=breakfast:[We have it with the first coffee.|Best eaten in pyjamas.|Perfect before school.|It gets everyone out of bed.]|#when=starter:[Serve it before the soup plates come out.|A small plate each, to begin with.|It opens the meal nicely.|Don't make it too filling, the roast is still to come.]|#when=main:[You need nothing else that evening.|With a salad it's a full dinner.|That's the whole meal.|Nobody will ask for a second course.]|#when=dessert:[When the plates are cleared, bring it out with a spoon of cream.|For those who still have room at the end.|The sweet end of a good dinner.|With coffee, when everybody says they are full.]|] [#nuts=yes:[Mind you, {{:name}} can't eat it because of the walnuts.|It has almonds in it, so ask your guests.|Not for people with a nut allergy.]|#nuts=no:[No nuts at all, so {{:name}} can have it too.|I leave the nuts out now because of {{:name}}.|Safe for the nut-allergic.]|] [#ahead=yes:[You can make it the day before.|It's even better on the second day.|Do it in the morning and forget about it.]|#ahead=no:[Don't prepare it too early, it collapses.|It has to go straight to the table.|Make it at the last minute or not at all.]|]

[Lots of love,|Hugs|Yours,|Bon appétit,|Love]
{{who:name}}
[PS: {{:clause}}.|PS: the other one, with {{:count 2-6}} eggs, I'll send next week.|]
""",
        """
title|dish|recipe|name ; dish ; Name of the dish
sender|from|written_by ; who
recipient|to|for_whom ; to
source|origin|comes_from|got_it_from ; from ; Where the recipe comes from, as written
written_down_in|year ; year
servings|people|serves|persons ; n
variation|secret|change ; brand ; What the sender does differently, as written
preparation_time|prep_time|prep_minutes ; prep
resting_time|rest_minutes|soaking_time ; rest
oven_temperature|temperature|degrees ; temp ; null if there is no oven
cooking_time|cook_minutes|baking_time ; cook
total_time|total_minutes ; total
course|meal|served_as|dish_type ; when=breakfast,starter/appetizer/first_course,main/main_course/dinner,dessert/sweet ; When it is eaten
contains_nuts|nuts|nut_warning ; nuts?
make_ahead|can_be_made_ahead|prepare_in_advance ; ahead?
ingredients|needed ; ing* ; Those with an amount, in order
ingredient|name|what ; ing.i ; as written
amount|quantity ; ing.q
unit ; ing.u
""",
    ),
    Scene(
        "recipe",
        f"""
[*** |== |]{{dish:words {_DISH}}}[ ***| ==|]
[No. {{no:code ##|###|#}}[ \\| | - ]category: {{cat:words Cakes/Soups/Preserves/Bread/Fish/Vegetables/Sauces/Snacks}}|Recipe card {{no:code ##|A-##|###}}|{{cat:words Baking/Stews/Salads/Drinks/Children's kitchen/Festive}}]
[Source|From|Copied from]: {{book:title}}[, p. {{page:count 3-400}}|]
---
[<ing 4-10:{{i:words {_FOOD}}} [.....|  |  -  |: ]{{q:number 1-900 0}} {{u:words g/ml/kg/tbsp/tsp/pcs}}>|<ing 4-9:{{q:number 1-900 0}}{{u:words g/ml/kg}}  {{i:words {_FOOD}}}>|\\| ingredient \\| amount \\|
<ing 4-9:\\| {{i:words {_FOOD}}} \\| {{q:number 1-900 0}} {{u:words g/ml/tbsp/tsp}} \\|>]
---
[tin|dish|pot]: {{tin:words 26 cm springform/loaf tin, 1 litre/large casserole/12-hole muffin tin/cast-iron pan/square tin, 20 cm}}
[oven|heat]: [{{temp:count 120-250}} °C|{{temp:count 120-250}} C][, [top and bottom heat|{{mode:words fan/grill/gas mark 6/steam}}]|]
[time|bake|cook]: {{cook:duration}}[, [then|+] {{rest:duration}} [resting|cooling]|]
[yield: {{n:count 4-40}} {{of:words pieces/slices/jars/portions/rolls/bottles}}|{{n:count 4-40}} {{of:words pieces/slices/jars/portions/rolls}}|]
[allergens: {{al:words gluten, egg, milk/nuts, milk/none/fish, celery/soya/mustard, sulphites/gluten}}|]
[per 100 g: {{kcal:count 40-600}} kcal, {{fat:number 0-60 1}} g fat, {{carb:number 1-80 1}} g carbohydrate[, {{prot:number 1-40 1}} g protein|]|]
[cost about {{cost:money 2-40}}|]

[<steps 2-5:{{do:words Mix dry ingredients/Cream butter and sugar/Fold in the egg whites/Fry until golden/Strain and bottle/Rest the dough/Bring to the boil/Simmer gently/Layer in the dish/Bake on the middle shelf/Cool on a rack/Season to taste/Blend until smooth/Knead for ten minutes/Shape into rolls/Glaze with egg}}.>]

[handwritten: |margin note: |note {{tried:earlier 3-400}}: |][#again=yes:[made it {{:count 2-9}} times now, everyone wants more|a keeper!!|the children licked the plates|will be on the table at Christmas]|#again=no:[too much work for what it is|never again, far too sweet|nobody liked it|went straight to the bin]|#again=maybe:[next time with less salt, then we'll see|all right, but needs something|must try it with other flour first]|]
""",
        """
title|name|dish|recipe ; dish
card_number|number|no|recipe_no ; no
category|section|type ; cat
source|book|from_book|copied_from ; book
page|page_number ; page
tin|vessel|cookware|mould ; tin ; as written
oven_temperature|temperature_c|heat_c ; temp
oven_mode|heating|oven_setting ; mode ; null if it is not said or top and bottom heat
baking_time|cooking_time|cook_minutes ; cook
cooling_time|resting_minutes|rest ; rest
yield|quantity|pieces|makes ; n
yield_unit|yield_of|unit_of_yield ; of
kcal_per_100g|energy|calories ; kcal
fat_g|fat|fat_per_100g ; fat
carbohydrate_g|carbs|carbohydrates ; carb
protein_g|protein ; prot
allergens|contains ; al ; as printed
cost|estimated_cost|price ; cost
currency ; $
tried_on|date_of_note|noted_on ; tried
make_again|verdict|worth_repeating ; again=yes/worth_repeating,no/not_again,maybe/undecided ; What the note says of making it again
ingredients|components ; ing* ; In order
name|ingredient|item ; ing.i
quantity|amount ; ing.q
unit ; ing.u
steps|method|instructions ; steps* ; In order
text|step|action ; steps.do ; as written
""",
    ),
)
