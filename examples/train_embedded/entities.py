"""People, firms, places and the ways to reach them."""

from __future__ import annotations

from dataclasses import replace

from .draw import Draw
from .pools import places
from .values import STRING, Form, Value, object_of, text
from .wording import coined, digits, title_words, words


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
    schema = object_of({parts[0]: STRING, parts[1]: STRING})
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
    kind = draw.pick(
        "Ltd|GmbH|Inc.|& Sons|Group|AG|Studio|Works|Partners|Supply|Labs|S.A.|Cooperative|Trust|LLC|B.V.|plc|KG|SARL|S.L.|Bank|Hotel|Clinic|Bakery|Press|Institute|Verlag|Energy|Rail|Air|Logistics|Museum|Foundation|Pharmacy|Garage|Farm|& Co.|Architects|Kitchen|OutcomeBuffer|Systems|e.V.||"
    )
    return f"{name} {kind}".strip()


def company(draw: Draw) -> Value:
    return text(company_name(draw), remake=company)


def city_name(draw: Draw) -> str:
    if draw.chance(0.6):
        return draw.pick(places(draw.lang).city)
    stem = coined(draw).capitalize()
    return draw.rng.choice(
        (
            stem,
            stem,
            f"{draw.pick('Saint-|Bad |New |Port |Upper |San |Great |Alt-|Nether ')}{stem}",
            f"{stem}{draw.pick('ton|burg|ville|by|hausen|ford|wick|stadt|field|-sur-Mer|heim|ö')}",
        )
    )


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
    return (
        f"{draw.pick('rue |avenue |place |chemin |quai ' if draw.lang == 'fr' else 'calle |avenida |plaza |paseo ')}{stem} {number_}"
        if draw.chance(0.5)
        else f"{number_} {draw.pick('rue|avenue|impasse' if draw.lang == 'fr' else 'calle|camino')} {stem}"
    )


def street(draw: Draw) -> Value:
    return text(street_name(draw), remake=street)


def job_title(draw: Draw) -> Value:
    if draw.chance(0.4):
        return text(draw.pick(places(draw.lang).job), remake=job_title)
    head = draw.pick(
        "Manager|Engineer|Assistant|Director|Technician|Officer|Analyst|Driver|Teacher|Cook|Clerk|Head|Consultant|Designer|Nurse|Worker|Buyer|Coordinator|Specialist|Editor|Lead|Trainee|Leiter|Fachkraft|Mechanic|Planner|Supervisor|Architect|Researcher|Lecturer"
    )
    front = title_words(draw, 1, 2)
    return text(
        draw.rng.choice(
            (
                f"{front} {head}",
                f"{draw.pick('Senior|Junior|Deputy|Chief|Lead|Principal|Assistant|Seasonal')} {front} {head}",
                f"{head} of {front}",
                f"{head}, {front}",
                f"{front} {head.lower()}",
            )
        ),
        remake=job_title,
    )


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
    if draw.chance(0.2):
        country = draw.pick(
            "Germany|France|Spain|United Kingdom|Ireland|Austria|Switzerland|Canada|USA|Sweden|Norway|Portugal|Italy|Poland|Deutschland|Frankreich|España|Belgique"
        )
        written = f"{written}\n{country}" if split else f"{written}, {country}"
        parts["country"] = country
    return Value(
        written,
        (
            Form(written, STRING, weight=0 if split else 0.5),
            Form(parts, object_of(dict.fromkeys(parts, STRING)), weight=0.4),
            Form(town, STRING, "town or city only", weight=0.1),
        ),
        address,
    )


def email_of(draw: Draw, name: str, domain: str = "") -> str:
    letters = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in name.lower()).split()
    first, last = (letters[0], letters[-1]) if letters else ("info", "office")
    local = draw.rng.choice(
        (f"{first}.{last}", f"{first[0]}.{last}", first, f"{first}_{last}", f"{last}{draw.rng.randint(1, 99)}")
    )
    return f"{local}@{domain or domain_name(draw)}"


def domain_name(draw: Draw) -> str:
    stem = "-".join(word for word in draw.some(places("en").word, 1, 2))
    clean = "".join(sign for sign in stem.lower() if sign.isascii() and (sign.isalnum() or sign == "-"))
    return f"{clean.strip('-') or 'site'}.{draw.pick('example|com|org|net|de|co.uk|fr|es|io|test|eu|info')}"


def email(draw: Draw) -> Value:
    written = (
        email_of(draw, person_name(draw))
        if draw.chance(0.6)
        else f"{draw.pick('info|sales|office|support|hello|billing|jobs|orders|contact|kontakt|press|team')}@{domain_name(draw)}"
    )
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


def iban(draw: Draw) -> Value:
    written = digits(
        draw,
        draw.pick(
            "DE## #### #### #### #### ##|FR## #### #### #### #### #### ###|ES## #### #### #### #### ####|GB## @@@@ #### #### #### ##|AT## #### #### #### ####|NL## @@@@ #### #### ##"
        ),
    )
    plain = written.replace(" ", "")
    return Value(written, (Form(plain, STRING, "without spaces"), Form(written, STRING, "as written")), iban)
