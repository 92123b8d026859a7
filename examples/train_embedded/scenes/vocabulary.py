"""Things, tasks and clauses as people name them: short phrases that are put together from lists of common words."""

from __future__ import annotations

from ..draw import Draw
from ..wording import title_words, words

_ADJECTIVES = "small|large|grey|blue|green|red|white|black|brown|old|new|used|second-hand|wooden|steel|copper|glass|cotton|woollen|linen|leather|ceramic|plastic|round|square|folding|heavy|light|narrow|wide|long|short|electric|portable|waterproof|spare|left-hand|right-hand|double|single|padded|striped|insulated|oak|pine|brass|rubber|stainless|foldable|adjustable|quiet|broken|clean|dry|damp|loose|high|low|deep|flat|thin|thick|soft|hard"
_THINGS = "chair|desk|lamp|kettle|bicycle|tent|backpack|jacket|coat|boots|gloves|scarf|shelf|drawer|cupboard|mirror|carpet|curtain|cushion|blanket|pillow|mattress|towel|bucket|broom|ladder|hammer|saw|drill|screwdriver|spanner|wrench|bolt|hinge|lock|key|pump|valve|filter|hose|pipe|gasket|bearing|belt|sensor|cable|battery|charger|adapter|monitor|keyboard|mouse|printer|toner|headset|microphone|camera|tripod|speaker|radio|clock|watch|ring|necklace|notebook|pencil|stapler|envelope|folder|binder|label|box|crate|pallet|bag|bottle|jar|cup|mug|plate|bowl|pan|pot|knife|fork|spoon|whisk|tray|basket|vase|candle|plant pot|bench|swing|trampoline|kayak|paddle|helmet|saddle|tyre|brake pad|mudguard|wheel|door|window|frame|panel|tile|brick|beam|plank|gutter|radiator|boiler|thermostat|switch|socket|fuse|bulb|motor|fan|blower|heater|fridge|freezer|oven|hob|dishwasher|washing machine|dryer|vacuum cleaner|toaster|mixer|blender|grinder|scale|thermometer|bandage|syringe|stretcher|wheelchair|crutch|pram|cot|toy train|puzzle|ball|racket|net|rope|chain|hook|anchor|sail|oar|fender|sign|poster|banner|badge|uniform|apron|overall|mask"
_EXTRA = "with lid|with two keys|with stand|with cover|, set of four|, pair|, size M|, size 42|, 2 m|, 30 cm|, 5 litres|for two|for the kitchen|for children|for outdoor use|in a box|with handle|with spare parts|, refurbished|, sample|with timer|, A4|, A5|type B|, 500 g|, hand made"
_MASS = "flour|sugar|butter|salt|rice|coffee|tea|olive oil|vinegar|honey|milk|cream|cheese|bread|rye bread|ham|bacon|minced beef|chicken breast|salmon|cod|eggs|potatoes|carrots|onions|garlic|leeks|spinach|tomatoes|cucumbers|peppers|mushrooms|apples|pears|plums|cherries|lemons|oranges|bananas|almonds|walnuts|raisins|oats|lentils|chickpeas|pasta|noodles"
_MATERIALS = "paint|varnish|glue|sand|gravel|cement|plaster|firewood|pellets|diesel|printer paper|cleaning agent|soap|shampoo|compost|grass seed|screws|nails|cable ties|oil"
_MADE = "soup|stew|pie|tart|salad|risotto|dumplings|pancakes|curry|gratin|omelette|burger|sandwich|lasagne|ravioli|roast|schnitzel|skewers|fillet|parfait|crumble|sorbet|pudding|cheesecake|focaccia|casserole|chowder|terrine|tagliatelle|stir-fry"
_FOOD = "pumpkin|lentil|mushroom|beef|lamb|chicken|salmon|spinach|goat cheese|tomato|beetroot|onion|leek|potato|apple|plum|cherry|lemon|chocolate|almond|walnut|rhubarb|pear|venison|trout|prawn|chickpea|aubergine|fennel|celeriac|poppy seed|smoked eel|bean|cauliflower"
_VERBS = "order|replace|check|clean|repair|measure|paint|book|call|send|update|review|print|sign|collect|deliver|test|label|count|photograph|move|store|return|draft|translate|compare|archive|publish|remove|install|renew|cancel|confirm|schedule|discuss with {who}|hand over|write down|look up|prepare|order more of|get three quotes for|find a supplier for|ask {who} about"
_OBJECTS = "the invoice|the contract|the offer|the minutes|the flyer|the website|the budget|the floor plan|the key list|the fire extinguishers|the server room|the meeting room|the front door|the gutters|the boiler|the newsletter|the price list|the survey|the timetable|the rota|the new badge|the insurance|the permit|the drawings|the samples|the van|the projector|the first aid kit|the visitor list|the annual report|the logo|the test results|the spare parts|the lease|the tender|the training plan|the backup|the passwords|the chairs|the catering"
_PARTS = "door|pump|screen|app|page|form|button|belt|motor|printer|heating|lift|engine|gearbox|battery|display|connection|login|search|export|light|alarm|tap|drain|roof|gutter|fan|seal|lid|handle|zip|strap|lens|report|import|sync|calendar|filter|sensor"
_FAULTS = "does not open|is stuck|leaks|makes a grinding noise|overheats|is cracked|has gone missing|crashes|freezes|shows an error|turns itself off|is too loud|will not start|drips|is worn out|smells of burning|flickers|loses the settings|is blank|vibrates|stays empty|counts everything twice|comes loose|is scratched|was delivered damaged|keeps spinning|is very slow|rattles|does not close properly|squeals|is dented"
_WHEN = "since Monday|since the update|after an hour|in the morning|when it rains|at full load|on the phone|for some users|every second time|with large files|at low speed|when it is cold|after restart|on the upper floor|"
_SUBJECTS = "water|housing|traffic|noise|school meals|solar power|old maps|city trees|winter cycling|bees|local history|data protection|payroll|quality control|first aid|fire safety|wood carving|pottery|Portuguese|bookkeeping|project management|machine learning|statistics|river restoration|migration|public transport|volunteering|recycling|beekeeping|choir singing|food safety|night work|team leadership|sailing|photography|archives|open data|accessibility|home insulation|ageing|heat pumps|floods|tides|peat|lichens|glaciers|bridges|timber|textiles|dialects|museums"
_FRAMES = "{s}|{S} and {t}|The future of {s}|{S} for beginners|An introduction to {s}|{S} in small towns|How {s} changes {t}|{S}: a practical guide|Notes on {s}|{S} after the war|What we know about {s}|{S} without fear|Living with {s}|{S} and its limits|A short history of {s}|Working group on {s}|Advanced {s}|Measuring {s}"
_PLACES = "Town Hall|Library|Community Centre|Harbour Hall|Old Brewery|Village Hall|Museum|Town Square|Sports Hall|Assembly Rooms|Boathouse|Grammar School|Market Hall|Orangery|Theatre|Chapel|Barn|Railway Arch|Customs House|Lecture Theatre|Reading Room|Kulturhaus|Gemeindesaal|Stadthalle|Salle des fêtes|Casa de Cultura"
_ROOMS = "Room|Hall|Studio|Lab|Saal|Raum|Salle|Sala|Meeting room|Lecture hall"
_SYMPTOMS = "headache|sore throat|cough|fever|back pain|knee pain|dizziness|nausea|rash|fatigue|shortness of breath|chest pain|ear ache|stomach ache|joint pain|blurred vision|swollen ankle|itching|insomnia|toothache|stiff neck|runny nose|numb fingers|weight loss|palpitations"
_SIDES = "on the left side|on the right side|for three days|since last week|in the morning|at night|after meals|when walking|with exercise|"
_REASONS = "the supplier is late|of the storm|the lorry broke down|a colleague fell ill|the part is out of stock|of a strike|the address was incomplete|of water damage|the permit is missing|of high demand|the hall is being renovated|of a power cut|two people had the flu|of low water|the customs papers are missing|the machine has to be repaired|of a public holiday|the payment has not arrived|of roadworks|of a mix-up in the warehouse"


def goods(draw: Draw) -> str:
    """Something that is sold, used or lost."""
    roll = draw.rng.random()
    if roll < 0.12:
        return draw.pick(_MATERIALS if roll < 0.07 else _MASS)
    if roll < 0.22:
        return f"{draw.pick(_ADJECTIVES)} {words(draw, 1, 1)}"
    if roll < 0.3:
        return title_words(draw, 1, 2)
    thing = draw.pick(_THINGS)
    if draw.chance(0.65):
        thing = f"{draw.pick(_ADJECTIVES)} {thing}"
    extra = draw.pick(_EXTRA) if draw.chance(0.25) else ""
    return f"{thing}{'' if extra.startswith(',') or not extra else ' '}{extra}"


def dish(draw: Draw) -> str:
    """Something to eat."""
    roll = draw.rng.random()
    if roll < 0.2:
        return draw.pick(_MASS)
    found = f"{draw.pick(_FOOD)} {draw.pick(_MADE)}"
    if roll < 0.5:
        return f"{found} with {draw.pick(_MASS)}"
    return f"{draw.pick('smoked|grilled|warm|cold|roasted|braised|pickled|fried')} {found}" if roll < 0.6 else found


def material(draw: Draw) -> str:
    """Something that is sold by weight or length."""
    return draw.pick(_MATERIALS)


def duty(draw: Draw) -> str:
    """Something to be done."""
    verb = draw.pick(_VERBS)
    if "{who}" in verb:
        verb = verb.replace(
            "{who}",
            draw.pick(
                "the landlord|the bank|the caretaker|the printer|the tax adviser|the council|IT|the architect|the school|sales"
            ),
        )
    roll = draw.rng.random()
    thing = (
        draw.pick(_OBJECTS)
        if roll < 0.6
        else f"the {draw.pick(_ADJECTIVES)} {draw.pick(_THINGS)}"
        if roll < 0.9
        else f"the {words(draw, 1, 2)}"
    )
    return f"{verb} {thing}"


def clause(draw: Draw) -> str:
    """Something that was found."""
    when = draw.pick(_WHEN)
    thing = draw.pick(_PARTS) if draw.chance(0.6) else f"{draw.pick(_ADJECTIVES)} {draw.pick(_THINGS)}"
    return f"{thing} {draw.pick(_FAULTS)}{' ' if when else ''}{when}"


def subject(draw: Draw) -> str:
    """What a book, a talk or a course is about, as its title."""
    if draw.chance(0.15):
        return title_words(draw, 2, 4)
    first, second = draw.pick(_SUBJECTS), draw.pick(_SUBJECTS)
    frame = draw.pick(_FRAMES)
    found = frame.replace("{s}", first).replace("{S}", first[:1].upper() + first[1:]).replace("{t}", second)
    return found[:1].upper() + found[1:]


def place(draw: Draw) -> str:
    """Where people meet."""
    roll = draw.rng.random()
    if roll < 0.4:
        return draw.pick(_PLACES)
    return f"{title_words(draw, 1, 1)} {draw.pick(_PLACES)}" if roll < 0.85 else title_words(draw, 1, 2)


def room(draw: Draw) -> str:
    return f"{draw.pick(_ROOMS)} {draw.rng.choice((draw.rng.randint(1, 420), 'A', 'B', 'C', '2.14', '0.07', title_words(draw, 1, 1)))}"


def symptom(draw: Draw) -> str:
    """What a patient complains of."""
    side = draw.pick(_SIDES)
    return f"{draw.pick(_SYMPTOMS)}{' ' if side else ''}{side}"


def reason(draw: Draw) -> str:
    """What follows the word `because`."""
    return draw.pick(_REASONS)
