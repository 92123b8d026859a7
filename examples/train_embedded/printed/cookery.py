"""Recipes as web pages show them: a story before, times and servings in a box, long lists in groups, and other numbers."""

from __future__ import annotations

import re

from ..draw import Draw
from ..entities import given_name, person_name
from ..real.records import Record, Stated
from ..scenes.vocabulary import dish
from ..wording import title_words, words

_FOODS = "flour|strong white flour|caster sugar|brown sugar|unsalted butter|olive oil|rapeseed oil|whole milk|double cream|plain yoghurt|eggs|egg yolks|garlic|red onion|spring onions|carrots|celery|leek|potatoes|sweet potato|tomatoes|tinned tomatoes|tomato purée|red lentils|chickpeas|white beans|basmati rice|spaghetti|rice noodles|chicken thighs|minced beef|pork shoulder|salmon fillet|prawns|tofu|feta|parmesan|cheddar|lemon|lime|orange|apple|pear|banana|raspberries|dates|walnuts|almonds|sesame seeds|ginger|fresh parsley|coriander|basil|thyme|bay leaves|cumin|paprika|turmeric|cinnamon|vanilla extract|baking powder|dried yeast|cornflour|honey|soy sauce|fish sauce|white wine vinegar|vegetable stock|dark chocolate|cocoa powder|sea salt|black pepper"
_UNITS = "g|kg|ml|l|cup|cups|tbsp|tsp|tablespoons|teaspoon|ounces|oz|lb|pound|pinch of|handful of|clove|cloves|can|bunch of|slices|sprigs"
_AMOUNTS = "1|2|3|4|6|8|10|12|100|150|200|250|400|500|1/2|1/4|3/4|1/3|½|¼|⅓|1½|1 ½|1 1/2|2 ¼|1-2|2 to 3|0.5"
_AFTER = "|||||, chopped|, finely chopped|, to taste|, divided|, melted|, at room temperature|, peeled and diced| (optional)| (about {n} g)|, plus extra for serving|, thinly sliced|, drained and rinsed| - grated|, beaten| (see notes)|*"
_BARE = "salt and pepper|a little oil for frying|juice of half a lemon|fresh herbs, for serving|ice cubes|salt|a pinch of nutmeg|cooking spray"
_GROUPS = "For the dough|For the sauce|For the filling|Dressing|Topping|For the marinade|To serve|Crust|Glaze|Base"
_STEPS = "Heat the oven to {t}.|Cook for {n} minutes, stirring often.|Leave to rest for {n} minutes.|Mix everything in a large bowl.|Bring to the boil and simmer for {n} minutes.|Season to taste.|Fold in the rest and bake until golden, about {n} minutes.|Cut into pieces and serve.|Chill for {h} hours or overnight.|Whisk until smooth."
_STORY = "My grandmother made this every {w}, and it never lasted more than {n} minutes.|We had it for the first time on a trip with {p}, and I tried {n} versions since.|It keeps for {n} days in the fridge.|You only need {n} minutes at the stove.|Double it if you feed more than {n} people.|This post may contain affiliate links.|Jump to Recipe|Readers have asked for this for {n} years."
_NOISE = "Print|Save|Pin|Rate this recipe|{n} reviews|4.{n} from {m} votes|Share|Comments ({m})|Advertisement|Jump to video|Cook Mode: keep the screen on|US Customary - Metric|1x 2x 3x|Nutrition: {m} kcal, {n} g fat, {n} g protein|You might also like: {d}|Newsletter"


def _filled(draw: Draw, template: str) -> str:
    rng = draw.rng
    found = template.replace("{n}", str(rng.randint(2, 45))).replace("{m}", str(rng.randint(46, 900)))
    found = found.replace("{h}", str(rng.randint(2, 12))).replace("{w}", draw.pick("Sunday|winter|summer|birthday"))
    found = found.replace("{t}", draw.pick("180 °C|200C/400F|350°F|gas mark 6")).replace("{d}", dish(draw).title())
    return found.replace("{p}", given_name(draw))


def ingredient(draw: Draw) -> str:
    """One line of the list: an amount in any usual print, a food, and what is done to it."""
    roll = draw.rng.random()
    if roll < 0.1:
        return draw.pick(_BARE)
    food = draw.pick(_FOODS) if roll < 0.85 else words(draw, 1, 2).lower()
    unit = f" {draw.pick(_UNITS)}" if draw.chance(0.75) else ""
    amount = draw.pick(_AMOUNTS)
    glued = unit[1:] if unit in (" g", " ml", " kg", " oz") and draw.chance(0.5) else unit
    size = draw.pick("|||large |small |medium |ripe |fresh |")
    return _filled(draw, f"{amount}{glued} {size}{food}{draw.pick(_AFTER)}")


def _time(draw: Draw, minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{minutes} {draw.pick('minutes|mins|min|minutes|m')}"
    if not rest:
        return f"{hours} {draw.pick('hour|hr|h') if hours == 1 else draw.pick('hours|hrs|h')}"
    shape = draw.pick("{h} hr {m} mins|{h} hours {m} minutes|{h} h {m} min|{h}h{m}m|{h} hours and {m} minutes")
    found = shape.replace("{h}", str(hours)).replace("{m}", str(rest))
    return re.sub(r"^1 hours", "1 hour", found)


def _box(draw: Draw, times: dict[str, int], servings: str) -> list[str]:
    """Times and servings: label and value in one line, on two lines, or all in a row."""
    pairs = [(label, _time(draw, minutes)) for label, minutes in times.items()]
    pairs += [(draw.pick("Servings|Serves|Yield|Makes|Yields|Portions"), servings)] if servings else []
    if draw.chance(0.25):
        draw.rng.shuffle(pairs)
    shape = draw.rng.randrange(4)
    if shape == 0:
        return [line for pair in pairs for line in pair]
    if shape == 1:
        return [" | ".join(f"{label}: {value}" for label, value in pairs)]
    glue = ": " if shape == 2 else " "
    return [f"{label}{glue}{value}" for label, value in pairs]


def page(draw: Draw, pieces: list[str]) -> Record:
    """A recipe's page: what is asked is in the box and in the list, and much else is around."""
    rng = draw.rng
    draw = Draw(rng, draw.split)
    title = dish(draw).title() if draw.chance(0.8) else title_words(draw, 2, 5)
    prep, cook = rng.choice((5, 10, 15, 20, 25, 30, 45)), rng.choice((0, 10, 20, 35, 40, 50, 75, 90, 180))
    rest = rng.choice((0, 0, 0, 30, 60, 120))
    told = {
        name: draw.chance(share)
        for name, share in (("prep", 0.65), ("cook", 0.65), ("total", 0.75), ("yield", 0.85), ("author", 0.5))
    }
    times = {draw.pick("Prep Time|Prep|Preparation|Hands-on"): prep} if told["prep"] else {}
    times |= {draw.pick("Cook Time|Cook|Cooking|Bake"): cook} if told["cook"] and cook else {}
    times |= {draw.pick("Chill Time|Resting Time|Additional Time"): rest} if rest else {}
    times |= {draw.pick("Total Time|Total|Ready in|Takes"): prep + cook + rest} if told["total"] else {}
    count = rng.choice((1, 2, 4, 4, 6, 8, 10, 12, 16, 24))
    unit = draw.pick("| servings| people| portions| pieces| cookies| (adjustable)")
    servings = f"{count}{unit}" if told["yield"] else ""
    author = person_name(draw)
    groups = draw.some(_GROUPS, 1, 3) if draw.chance(0.35) else [""]
    parts, found = [], []
    for group in groups:
        items = list(dict.fromkeys(ingredient(draw) for _ in range(rng.choice((3, 4, 5, 6, 8, 11, 14)))))
        bullet = draw.pick("|||- |• |▢ ")
        parts += [*([group + draw.pick(":|")] if group else []), *(bullet + each for each in items)]
        found += items
    steps = [_filled(draw, draw.pick(_STEPS)) for _ in range(rng.randint(2, 8))]
    numbered = draw.chance(0.6)
    noise = [_filled(draw, each) for each in draw.some(_NOISE, 0, 5)]
    lines = [
        *noise[:2],
        title,
        *([f"{draw.pick('By|by|Recipe by|Author:')} {author}"] if told["author"] else []),
        *(_filled(draw, each) for each in draw.some(_STORY, 0, 4)),
        *noise[2:4],
        *_box(draw, times, servings),
        draw.pick("Ingredients|INGREDIENTS|Ingredients:|What you need|You will need"),
        *parts,
        draw.pick("Instructions|Directions|Method|Preparation|Steps"),
        *(f"{number}. {step}" if numbered else step for number, step in enumerate(steps, 1)),
        *noise[4:],
    ]
    return Record("cookery", "\n".join(lines), (
        Stated("title|name|recipe|dish|recipe_name", title, notes="name of the dish as headed|as headed"),
        Stated("yields|servings|serves|portions|makes", count if told["yield"] else None, "number", "how many servings or pieces it makes"),
        Stated("total_time_minutes|total_minutes|total_time|ready_in_minutes", prep + cook + rest if told["total"] else None, "number", "in minutes, as the page states it|total time in minutes, null if the page states none"),
        Stated("prep_time_minutes|prep_minutes|preparation_minutes", prep if told["prep"] else None, "number", "in minutes"),
        Stated("cook_time_minutes|cook_minutes|cooking_minutes", cook if told["cook"] and cook else None, "number", "in minutes"),
        Stated("author|cook|by|recipe_by", author if told["author"] else None),
        Stated("ingredients|ingredient_list|what_you_need", found, "list", "one string for each, with its amount, as written|in the order of the page, each with its quantity"),
        Stated("instructions|steps|directions|method", steps, "list", "in order, without numbers"),
        Stated("cuisine|origin", None),
        Stated("difficulty|level", None),
    ))  # fmt: skip
