"""Values with their written form in a document and their normal form in an answer.

A `Value` is drawn once; `written` stands in the text, and each `Form` is one way a schema may ask for it
(a date as ISO date or as written, a price as number or as object). Nothing is ever read back from the
text, so the right answer is certain.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .draw import Draw
from .numerals import amount_text, integer_text
from .pools import places

Json = Any
STRING: dict[str, Json] = {"type": "string"}
NUMBER: dict[str, Json] = {"type": "number"}
INTEGER: dict[str, Json] = {"type": "integer"}


@dataclass(frozen=True)
class Form:
    """One normal form: the answer, its schema, a hint the description must give, a key suffix."""

    gold: Json
    schema: dict[str, Json]
    hint: str = ""
    suffix: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Value:
    """A drawn value. `remake` draws another of the same sort, for distractors."""

    written: str
    forms: tuple[Form, ...]
    remake: Callable[[Draw], Value] | None = None

    def form(self, draw: Draw) -> Form:
        return draw.rng.choices(self.forms, [form.weight for form in self.forms])[0]


def text(written: str, hint: str = "", remake: Callable[[Draw], Value] | None = None) -> Value:
    """A string that is answered exactly as it is written."""
    return Value(written, (Form(written, STRING, hint),), remake)


def blank(draw: Draw) -> Value:
    """A cell without a value."""
    return Value(draw.pick("-|—|n/a|?|none|"), (Form(None, {"type": "null"}),))


# --- people and places ---------------------------------------------------------------------------


def family_name(draw: Draw) -> str:
    name = coined(draw).capitalize() if draw.chance(0.3) else draw.pick(places(draw.lang).family)
    return f"{name}-{draw.pick(places(draw.lang).family)}" if draw.chance(0.07) else name


def given_name(draw: Draw) -> str:
    name = coined(draw).capitalize() if draw.chance(0.12) else draw.pick(places(draw.lang).given)
    return f"{name} {draw.rng.choice('ABCDEFGHJKLMNPRSTW')}." if draw.chance(0.04) else name


def person_name(draw: Draw) -> str:
    return f"{given_name(draw)} {family_name(draw)}"


def person(draw: Draw) -> Value:
    given, family = given_name(draw), family_name(draw)
    name = f"{given} {family}"
    title = draw.pick("Dr. |Prof. |Ms |Mr |Mrs |Dr |Prof. Dr. ") if draw.chance(0.1) else ""
    parts = draw.rng.choice(
        (("given", "family"), ("first_name", "last_name"), ("firstName", "lastName"), ("given_name", "family_name"))
    )
    schema = _object({parts[0]: STRING, parts[1]: STRING})
    forms = [
        Form(name, STRING, "without title" if title else "", weight=0.8),
        Form({parts[0]: given, parts[1]: family}, schema, weight=0.15),
        Form(family, STRING, draw.pick("family name only|last name only|surname"), weight=0.03),
    ]
    written = f"{family}, {given}" if draw.chance(0.05) else f"{title}{name}"
    if written.startswith(f"{family}, "):
        forms[0] = replace(forms[0], hint="given name first")
    return Value(written, tuple(forms), person)


def company_name(draw: Draw) -> str:
    shape = draw.rng.random()
    if shape < 0.35:
        return draw.pick(places(draw.lang).company)
    name = title_words(draw, 1, 2) if shape < 0.75 else coined(draw).capitalize()
    kind = draw.pick("Ltd|GmbH|Inc.|& Sons|Group|AG|Studio|Works|Partners|Supply|Labs|S.A.|Cooperative|Trust|LLC|B.V.|plc|KG|SARL|S.L.|Bank|Hotel|Clinic|Bakery|Press|Institute|Verlag|Energy|Rail|Air|Logistics|Museum|Foundation|Pharmacy|Garage|Farm|& Co.|Architects|Kitchen|Books|Systems|e.V.||")
    return f"{name} {kind}".strip()


def company(draw: Draw) -> Value:
    return text(company_name(draw), remake=company)


def city_name(draw: Draw) -> str:
    if draw.chance(0.6):
        return draw.pick(places(draw.lang).city)
    stem = coined(draw).capitalize()
    return draw.rng.choice((stem, stem, f"{draw.pick('Saint-|Bad |New |Port |Upper |San |Great |Alt-|Nether ')}{stem}", f"{stem}{draw.pick('ton|burg|ville|by|hausen|ford|wick|stadt|field|-sur-Mer|heim|ö')}"))


def city(draw: Draw) -> Value:
    return text(city_name(draw), remake=city)


def street_name(draw: Draw) -> str:
    if draw.chance(0.5):
        return draw.pick(places(draw.lang).street)
    stem, number_ = (coined(draw) if draw.chance(0.5) else words(draw, 1, 1)).capitalize(), draw.rng.randint(1, 240)
    if draw.lang == "en":
        return f"{number_}{draw.pick('|||a|b')} {stem} {draw.pick('Street|Road|Lane|Way|Rd|St|Avenue|Close|Square|Hill|Walk|Drive|Quay')}"
    if draw.lang == "de":
        return f"{stem}{draw.pick('straße|weg|gasse|platz|str.|allee|ring')} {number_}{draw.pick('|||a|b')}"
    return f"{draw.pick('rue |avenue |place |chemin |quai ' if draw.lang == 'fr' else 'calle |avenida |plaza |paseo ')}{stem} {number_}" if draw.chance(0.5) else f"{number_} {draw.pick('rue|avenue|impasse' if draw.lang == 'fr' else 'calle|camino')} {stem}"


def street(draw: Draw) -> Value:
    return text(street_name(draw), remake=street)


def job_title(draw: Draw) -> Value:
    if draw.chance(0.4):
        return text(draw.pick(places(draw.lang).job), remake=job_title)
    head = draw.pick("Manager|Engineer|Assistant|Director|Technician|Officer|Analyst|Driver|Teacher|Cook|Clerk|Head|Consultant|Designer|Nurse|Worker|Buyer|Coordinator|Specialist|Editor|Lead|Trainee|Leiter|Fachkraft|Mechanic|Planner|Supervisor|Architect|Researcher|Lecturer")
    front = title_words(draw, 1, 2)
    return text(draw.rng.choice((f"{front} {head}", f"{draw.pick('Senior|Junior|Deputy|Chief|Lead|Principal|Assistant|Seasonal')} {front} {head}", f"{head} of {front}", f"{head}, {front}", f"{front} {head.lower()}")), remake=job_title)


def address(draw: Draw) -> Value:
    pool = places(draw.lang)
    road, code, town = street_name(draw), draw.pick(pool.zip), city_name(draw)
    split = draw.chance(0.15)
    if split:
        written = f"{road}\n{code} {town}" if draw.chance(0.6) else f"{road}\n{town} {code}"
    elif draw.lang == "en" and draw.chance(0.6):
        written = f"{road}, {town} {code}"
    else:
        written = f"{road}, {code} {town}"
    names = (
        draw.pick("street|street_line|line1|road"),
        draw.pick("zip|postcode|postal_code|zip_code"),
        draw.pick("city|town|locality|place"),
    )
    parts = dict(zip(names, (road, code, town), strict=True))
    return Value(
        written,
        (
            Form(written, STRING, weight=0 if split else 0.5),
            Form(parts, _object(dict.fromkeys(parts, STRING)), weight=0.4),
            Form(town, STRING, "town or city only", weight=0.1),
        ),
        address,
    )


def email_of(draw: Draw, name: str, domain: str = "") -> str:
    letters = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in name.lower()).split()
    first, last = (letters[0], letters[-1]) if letters else ("info", "office")
    local = draw.rng.choice((f"{first}.{last}", f"{first[0]}.{last}", first, f"{first}_{last}", f"{last}{draw.rng.randint(1, 99)}"))
    return f"{local}@{domain or domain_name(draw)}"


def domain_name(draw: Draw) -> str:
    stem = "-".join(word for word in draw.some(places("en").word, 1, 2))
    clean = "".join(sign for sign in stem.lower() if sign.isascii() and (sign.isalnum() or sign == "-"))
    return f"{clean.strip('-') or 'site'}.{draw.pick('example|com|org|net|de|co.uk|fr|es|io|test|eu|info')}"


def email(draw: Draw) -> Value:
    written = email_of(draw, person_name(draw)) if draw.chance(0.6) else f"{draw.pick('info|sales|office|support|hello|billing|jobs|orders|contact|kontakt|press|team')}@{domain_name(draw)}"
    return Value(written, (Form(written, STRING | {"format": "email"}, weight=3), Form(written, STRING)), email)


def url(draw: Draw) -> Value:
    tail = "/".join(draw.some(places("en").word, 0, 2))
    host = domain_name(draw)
    host = f"www.{host}" if draw.chance(0.3) else host
    written = f"https://{host}" + (f"/{tail}" if tail else "")
    return Value(written, (Form(written, STRING | {"format": "uri"}, weight=2), Form(written, STRING)), url)


def phone(draw: Draw) -> Value:
    shape = draw.pick(
        "+44 #### ### ###|+1 ###-###-####|(###) ###-####|0### #######|+49 ### ########|0### / ## ## ##"
        "|+33 # ## ## ## ##|0# ## ## ## ##|+34 ### ## ## ##|###.###.####|555-####|+41 ## ### ## ##|0#### ######"
        "|+44 (0)#### ######|1-800-###-####|+## ##########|#### ####"
    )
    return text(digits(draw, shape), draw.pick("|as written|as printed"), phone)


def digits(draw: Draw, shape: str) -> str:
    """`shape` with `#` as a digit, `@` as a capital and `%` as a small letter."""
    rng = draw.rng
    signs = {"#": "0123456789", "@": "ABCDEFGHJKLMNPQRSTUVWXYZ", "%": "abcdefghijklmnopqrstuvwxyz", "*": "0123456789abcdef"}
    return "".join(rng.choice(signs[sign]) if sign in signs else sign for sign in shape)


def code_text(draw: Draw) -> str:
    shape = draw.pick(
        "@@-####|####-##|@@@/####/##|@####|########|@@##-@@##|20##-####|@@ ######|##-###-##|@@@@-###|#####|@-##-####"
        "|%%%-####|@@@##@|####.####|20##/###|@##.###|######-@|@@@-20##-####|#@@####|***-****|********|@@-%%-##|##/####"
        "|@@@ ###|@@-#####-#|#-####-###|@@@@####|20######|@.#### |@@@-@@@-###"
    ).strip()
    return digits(draw, shape)


def code(draw: Draw) -> Value:
    return text(code_text(draw), remake=code)


def iban(draw: Draw) -> Value:
    written = digits(draw, draw.pick("DE## #### #### #### #### ##|FR## #### #### #### #### #### ###|ES## #### #### #### #### ####|GB## @@@@ #### #### #### ##|AT## #### #### #### ####|NL## @@@@ #### #### ##"))
    plain = written.replace(" ", "")
    return Value(written, (Form(plain, STRING, "without spaces"), Form(written, STRING, "as written")), iban)


# --- words ---------------------------------------------------------------------------------------


def word(draw: Draw) -> str:
    """A frequent word, any word, or a coined one: copying must not depend on knowing it."""
    shape = draw.rng.random()
    if shape < 0.12:
        return draw.pick(places(draw.lang).glue)
    return draw.pick(places(draw.lang).word) if shape < 0.88 else coined(draw)


def words(draw: Draw, least: int, most: int) -> str:
    return " ".join(word(draw) for _ in range(draw.rng.randint(least, most)))


def title_words(draw: Draw, least: int = 1, most: int = 3) -> str:
    """Words as in a name: capitals, now and then with small words between them."""
    found = words(draw, least, most).split(" ")
    return " ".join(part if index and len(part) < 4 else part.capitalize() for index, part in enumerate(found))


def coined(draw: Draw) -> str:
    """A word nobody has seen, spliced from two that exist."""
    pool = places("en" if draw.chance(0.3) else draw.lang)
    first, second = draw.pick(pool.word), draw.pick(pool.word if draw.chance(0.7) else pool.family).lower()
    spliced = first[: draw.rng.randint(2, 5)] + second[draw.rng.randint(1, 3) :]
    return spliced if draw.chance(0.9) else spliced + draw.pick("ø|ü|ł|ska|ñez|é|ž|čić|sson|ğlu|ów|ães|opoulos|ö")


def phrase(draw: Draw) -> Value:
    found = words(draw, 2, 7)
    if draw.chance(0.3):
        found = found.capitalize()
    if draw.chance(0.08):
        found = f"{found} {draw.rng.randint(2, 90)}"
    return text(found, remake=phrase)


def title(draw: Draw) -> Value:
    found = title_words(draw, 1, 4)
    shape = draw.rng.random()
    if shape < 0.1:
        found = f"{found} {draw.rng.choice((draw.rng.randint(2, 40), draw.rng.randint(1990, 2030), 'II', 'A', 'Pro'))}"
    elif shape < 0.2:
        found = f"{found}{draw.pick(': | - | & | of the | and |, | for ')}{title_words(draw, 1, 2)}"
    elif shape < 0.26:
        found = found.upper()
    forms = [Form(found, STRING, weight=0.95)]
    if found.lower() != found:
        forms.append(Form(found.lower(), STRING, "lower case", weight=0.05))
    return Value(found, tuple(forms), title)


def sentence(draw: Draw) -> Value:
    return text(words(draw, 4, 12).capitalize(), remake=sentence)


# --- numbers -------------------------------------------------------------------------------------


def plain(number: float) -> Json:
    """A number as it stands in an answer: no `.0`, at most four places."""
    rounded = round(number, 4)
    return int(rounded) if rounded == int(rounded) else rounded


def count(low: int = 1, high: int = 40, unit: str = "") -> Callable[[Draw], Value]:
    def make(draw: Draw) -> Value:
        number = draw.rng.randint(low, high)
        schema = draw.rng.choice((INTEGER, INTEGER, INTEGER | {"minimum": 0}, NUMBER))
        name = f" {draw.pick(unit)}" if unit else ""
        return Value(integer_text(draw, number) + name, (Form(number, schema),), make)

    return make


def number(low: float, high: float, places_: int = 1, unit: str = "") -> Callable[[Draw], Value]:
    def make(draw: Draw) -> Value:
        value = round(draw.rng.uniform(low, high), draw.rng.randint(0, places_))
        written = amount_text(draw, value, fixed=False)
        name = draw.pick(unit) if unit else ""
        return Value(f"{written}{name}", (Form(plain(value), NUMBER),), make)

    return make


_CURRENCIES = {"EUR": "€|EUR|euros|€", "USD": "$|USD|US$|$", "GBP": "£|GBP|£", "CHF": "CHF|Fr.|CHF", "SEK": "SEK|kr", "JPY": "¥|JPY", "CAD": "CAD|C$", "NOK": "NOK|NOK", "PLN": "PLN|zł", "AUD": "AUD|A$", "INR": "INR|₹", "DKK": "DKK|DKK"}
_USUAL = {"en": "USD|GBP|EUR|USD|GBP|CAD|AUD|INR|SEK|NOK|PLN|JPY", "de": "EUR|EUR|CHF|EUR", "fr": "EUR|EUR|CHF|CAD", "es": "EUR|EUR|USD"}


def currency(draw: Draw) -> str:
    return draw.rng.choice(_USUAL[draw.lang].split("|"))


def price(draw: Draw) -> float:
    high = draw.rng.choice((10, 50, 300, 2000, 20000))
    value = round(draw.rng.uniform(high / 20, high), 2)
    return float(round(value)) if draw.chance(0.25) else value


def money_text(draw: Draw, value: float, unit: str) -> str:
    sign = draw.rng.choice(_CURRENCIES[unit].split("|"))
    written = amount_text(draw, value, fixed=value != int(value) or draw.chance(0.5))
    if sign in ("€", "euros", "EUR", "kr", "zł", "kr.", "CHF", "SEK", "NOK", "PLN") and draw.chance(0.7):
        return f"{written} {sign}"
    return f"{sign}{written}" if len(sign) < 3 and draw.chance(0.9) else f"{sign} {written}"


def money(draw: Draw, value: float | None = None, unit: str = "") -> Value:
    amount = price(draw) if value is None else value
    unit = unit or currency(draw)
    names = draw.rng.choice((("amount", "currency"), ("value", "currency"), ("amount", "currency_code")))
    code_schema = draw.rng.choice((STRING, STRING | {"pattern": "^[A-Z]{3}$"}))
    gold = plain(amount)
    return Value(
        money_text(draw, amount, unit),
        (
            Form(gold, NUMBER, weight=0.7),
            Form(gold, NUMBER | {"minimum": 0}, weight=0.2),
            Form({names[0]: gold, names[1]: unit}, _object({names[0]: NUMBER, names[1]: code_schema}), weight=0.12),
        ),
        money,
    )


def currency_value(draw: Draw, unit: str) -> Value:
    """The currency of a document as a field of its own; it is written only beside amounts."""
    pattern = STRING | {"pattern": "^[A-Z]{3}$"}
    return Value(unit, (Form(unit, pattern, "ISO 4217"), Form(unit, STRING, "three-letter currency code"), Form(unit, pattern)))


def percent(draw: Draw) -> Value:
    value = draw.rng.choice((draw.rng.randint(1, 100), round(draw.rng.uniform(0.5, 30), 1), 19, 20, 7, 5.5))
    sign = draw.pick("%| %| percent| per cent|%") if draw.lang == "en" else draw.pick(" %|%")
    return Value(amount_text(draw, value, fixed=False) + sign, (Form(plain(value), NUMBER, suffix=draw.pick("||_percent|_pct")),), percent)


def choice(draw: Draw, options: dict[str, str]) -> Value:
    """A class from the words of the text: `options` maps each class to its phrasings."""
    picked = draw.rng.choice(list(options))
    return chosen(draw, options, picked)


def chosen(draw: Draw, options: dict[str, str], picked: str) -> Value:
    style = draw.rng.choice((str, str, str, str.upper, lambda name: name.replace("_", "-"), lambda name: name.replace("_", " "), lambda name: name.replace("_", " ").title()))
    kept = [name for name in options if name == picked or draw.chance(0.9)]
    draw.rng.shuffle(kept)
    values = [style(name) for name in kept]

    def remake(other: Draw) -> Value:
        return choice(other, options)

    return Value(draw.pick(options[picked]), (Form(style(picked), STRING | {"enum": values}),), remake)


def flag(draw: Draw, yes: str, no: str) -> Value:
    truth = draw.chance(0.5)
    return Value(draw.pick(yes if truth else no), (Form(truth, {"type": "boolean"}),))


def several(draw: Draw, maker: Callable[[Draw], Value], least: int = 1, most: int = 4) -> Value:
    """A list of strings, written in one line."""
    items = list(dict.fromkeys(maker(draw).written for _ in range(draw.rng.randint(least, most))))
    return listing(draw, items)


def listing(draw: Draw, items: list[str]) -> Value:
    last = {"en": " and ", "de": " und ", "fr": " et ", "es": " y "}[draw.lang]
    glue = draw.rng.choice((", ", ", ", "; ", " / ", " · "))
    if glue == ", " and len(items) > 1 and not any(", " in item for item in items) and draw.chance(0.5):
        written = ", ".join(items[:-1]) + last + items[-1]
    else:
        written = (glue if not any("," in item for item in items) else "; ").join(items)
    schema = {"type": "array", "items": STRING}
    return Value(written, (Form(items, schema, draw.pick("|in order|in the order of the text|as written")), Form(items, schema | {"minItems": 1}) if items else Form(items, schema)))


def _object(properties: dict[str, Json]) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def iso_day(draw: Draw) -> datetime.date:
    return datetime.date(2018, 1, 1) + datetime.timedelta(days=draw.rng.randrange(4000))
