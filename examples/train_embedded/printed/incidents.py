"""Reports of news agencies on incidents: suspected groups, victims and targets, most of which are not stated.

Most reports leave most questions open, in words or by silence. A name alone is no answer: reporters, officials and witnesses
are named, too, and what others did in earlier years.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..draw import Draw
from ..entities import city_name, person_name
from ..real.records import Record, Stated
from ..values import iso_day
from ..wording import digits, title_words

_COUNTRIES = "Argentina|Bolivia|Brazil|Cyprus|Greece|Ecuador|Honduras|Italy|Kenya|Lebanon|Mali|Mexico|Nepal|Nigeria|Pakistan|Panama|Philippines|Portugal|Senegal|Spain|Sri Lanka|Sudan|Thailand|Tunisia|Turkey|Uruguay|Venezuela|Yemen|Zambia"
_GROUPS = (
    "{t} Front|{t} Brigade|Army of {t}|{t} Liberation Movement|{t} Command|Sons of {t}|Popular Forces of {t}|{a}|{a}"
)
_OFFICES = "mayor|judge|union leader|journalist|businessman|farmer|engineer|police chief|teacher|deputy|priest|mine manager|student leader|doctor|governor"
_THINGS = "bank branch|power pylon|police station|bridge|embassy|pipeline|bus|town hall|radio station|customs post|ministry building|barracks|railway line|warehouse|courthouse"
_WEAPONS = "rifle|machine gun|grenade|dynamite|car bomb|mortar|pistol|petrol bomb|mine|knife"

# Acts against persons and against things, by class: `{v}` is the victim or target, `{w}` a weapon.
_DEEDS = {
    "attack": "gunned down {v}|shot {v} dead|opened fire on {v}|ambushed {v}|attacked {v} with {w} fire|stormed {v}",
    "bombing": "set off a bomb next to {v}|planted explosives that went off beside {v}|threw a bomb at {v}",
    "kidnapping": "abducted {v}|kidnapped {v}|took {v} hostage|dragged {v} into a van and drove off",
    "arson": "set fire to {v}|burned down {v}|poured petrol over {v} and lit it",
    "robbery": "held up {v}|robbed {v}|emptied the safe of {v} and fled",
    "hijacking": "hijacked {v}|seized {v} and forced the driver to turn around",
}
_ON_THINGS = ("bombing", "arson", "robbery", "hijacking", "attack")
_ON_PEOPLE = ("attack", "kidnapping", "bombing")
_ARMED = ("attack", "kidnapping", "robbery", "hijacking")


@dataclass(frozen=True)
class Incident:
    """What happened; None and empty where the report does not say."""

    deed: str
    country: str
    town: str
    groups: tuple[str, ...]
    victims: tuple[str, ...]
    target: str | None
    weapon: str | None
    dead: int | None
    hurt: int | None


def _group(draw: Draw) -> str:
    form = draw.pick(_GROUPS)
    return form.replace("{t}", title_words(draw, 1, 2)).replace("{a}", digits(draw, draw.pick("@@@|@@@@|@@-#|@-##")))


def _happened(draw: Draw) -> Incident:
    rng = draw.rng
    on_people = draw.chance(0.6)
    deed = rng.choice(_ON_PEOPLE if on_people else _ON_THINGS)
    named = on_people and draw.chance(0.7)
    return Incident(
        deed,
        draw.pick(_COUNTRIES),
        city_name(draw),
        tuple(dict.fromkeys(_group(draw) for _ in range(rng.choice((0, 0, 0, 1, 1, 1, 2))))),
        tuple(person_name(draw) for _ in range(rng.choice((1, 1, 1, 2, 3)))) if named else (),
        None if on_people else draw.pick(_THINGS),
        draw.pick(_WEAPONS) if deed in _ARMED and draw.chance(0.5) else None,
        rng.randint(1, 30) if draw.chance(0.3) else None,
        rng.randint(2, 60) if draw.chance(0.3) else None,
    )


def _joined(items: tuple[str, ...]) -> str:
    return ", ".join(items[:-1]) + (" and " if len(items) > 1 else "") + items[-1]


def _struck(draw: Draw, incident: Incident) -> str:
    if incident.target:
        return f"the {incident.target}"
    if not incident.victims:
        return draw.pick("two peasants|a group of travellers|an unidentified man|several passers-by|a watchman")
    office = draw.pick(_OFFICES)
    title = draw.rng.choice(("", f"{office} ", f"the {office} ", f"former {office} "))
    return title + _joined(incident.victims)


def _deed(draw: Draw, incident: Incident) -> str:
    """The first sentence: it names a responsible group, or none."""
    said = draw.pick(_DEEDS[incident.deed]).replace("{v}", _struck(draw, incident))
    said = said.replace("{w}", incident.weapon or "small-arms")
    when = draw.pick("last night|on Tuesday|early today|this morning|over the weekend|yesterday")
    where = draw.pick("in {t}, {c},|in the {c} town of {t}|near {t} in northern {c}|in {t}, in the south of {c},")
    where = where.replace("{t}", incident.town).replace("{c}", incident.country)
    doers = draw.pick("armed men|unidentified men|hooded individuals|gunmen|unknown persons|several assailants")
    if incident.groups and draw.chance(0.5):
        doers = f"{draw.pick('members of|a commando of|a unit of')} {_joined(incident.groups)}"
        return f"{doers[0].upper()}{doers[1:]} {said} {where} {when}."
    sentence = f"{doers[0].upper()}{doers[1:]} {said} {where} {when}."
    if not incident.groups:
        open_ = "No group has claimed responsibility.|It is not known who was behind it.|The authors of the act have not been identified.|Nobody has claimed the act so far.||"
        return f"{sentence} {draw.pick(open_)}".rstrip()
    blamed = draw.pick("Police blame {g}.|In a call to this agency, {g} claimed responsibility.|Leaflets of {g} were found at the scene.|{g} said in a communique that it had carried out the action.|The army attributes the act to {g}.")  # fmt: skip
    return f"{sentence} {blamed.replace('{g}', _joined(incident.groups))}"


def _toll(incident: Incident, draw: Draw) -> str:
    parts = []
    if incident.dead is not None:
        parts.append(f"{incident.dead} {'person was' if incident.dead == 1 else 'people were'} killed")
    if incident.hurt is not None:
        parts.append(f"{incident.hurt} were injured")
    if not parts:
        return draw.pick("There is no word on casualties.|The number of victims is still unknown.|||")
    return f"{' and '.join(parts)}, {draw.pick('hospital sources|the Red Cross|officials|a police spokesman')} said."


def _around(draw: Draw, incident: Incident) -> list[str]:
    """Sentences that name other people, other groups and other years, none of which is an answer."""
    year = iso_day(draw).year - draw.rng.randint(1, 9)
    items = [
        f"{draw.pick('Colonel|Minister|Spokesman|Commissioner|Bishop')} {person_name(draw)} {draw.pick('condemned the act|asked for calm|said an investigation is under way|declined to comment')}.",
        f"In {year}, {person_name(draw)} was {draw.pick('arrested|tried|acquitted')} after a {draw.pick('strike|similar case|demonstration')} in {city_name(draw)}.",
        f"Talks between the government and {_group(draw)} {draw.pick('are to resume next month|were broken off|have not begun')}.",
        f"{draw.pick('Witnesses|Neighbours|Drivers')} told {person_name(draw)} of {title_words(draw, 1, 2)} Radio that {draw.pick('the street was dark|they had heard nothing|soldiers arrived an hour later')}.",
        draw.pick("The area has been sealed off.|Traffic was diverted.|Troops are searching the hills.|Classes were suspended.|The curfew remains in force."),
    ]  # fmt: skip
    return draw.rng.sample(items, draw.rng.randint(1, len(items)))


def incident(draw: Draw, pieces: list[str]) -> Record:
    """A report of one incident, or of one with an older one told at its end."""
    draw = Draw(draw.rng, draw.split)
    found = _happened(draw)
    weapon = found.weapon
    sentences = [_deed(draw, found)]
    if weapon and weapon not in sentences[0]:
        sentences.append(f"A {weapon} was {draw.pick('used|recovered at the scene|found nearby')}.")
    sentences += [toll for toll in (_toll(found, draw),) if toll]
    sentences += _around(draw, found)
    day = iso_day(draw)
    source = draw.pick("Radio {}|{} Daily|{} News Agency|{} Domestic Service").replace("{}", title_words(draw, 1, 1))
    line = draw.pick("{t}, {d} ({s}) -- |{t} ({s}) - |({s}) |[Text] |")  # a list with the town in it would be kept
    line = line.replace("{t}", found.town).replace("{d}", f"{day.day} {day:%b} {day:%y}").replace("{s}", source)
    cuts = sorted(draw.rng.sample(range(1, len(sentences)), min(len(sentences) - 1, draw.rng.randint(0, 2))))
    parts = [sentences[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
    text = line + "\n\n".join(" ".join(part) for part in parts)
    record = Record("incident", text, _facts(found))
    return _capitals(record) if draw.chance(0.5) else record


def _facts(found: Incident) -> tuple[Stated, ...]:
    facts = [
        Stated("type|incident_type|kind|act|category", found.deed, "enum", "what was done", tuple(_DEEDS)),
        Stated("country|nation|where", found.country, notes="where it happened, as the report writes it"),
        Stated("town|city|place|location", found.town, notes="as written"),
        Stated("perpetrators|groups|organizations|responsible|suspected_groups", list(found.groups), "list", "organizations said to be responsible, empty if none is named|groups, not persons; empty if nobody is said to have done it"),
        Stated("victims|people_attacked|victim_names|targets_by_name", list(found.victims), "list", "names of those attacked, without titles, empty if nobody is named"),
        Stated("target|object|thing_attacked|building", found.target, notes="thing or building that was struck, null if it was people"),
        Stated("claimed_at|time_of_claim", None),
        Stated("ransom|amount_demanded|demanded", None, "number"),
        Stated("arrested|detained|suspects_held", None, "number", "how many were arrested for it, null if not said"),
    ]  # fmt: skip
    if found.deed in _ARMED:
        facts.append(Stated("weapon|instrument|arms_used", found.weapon, notes="null if the report names none"))
    if not found.victims:
        facts.append(Stated("killed|deaths|dead|number_killed", found.dead, "number", "null if no number is given"))
        facts.append(Stated("injured|wounded|hurt", found.hurt, "number", "null if no number is given"))
    return tuple(facts)


def _capitals(record: Record) -> Record:
    """The report as teleprinters sent it; classes stay as the schema names them."""

    def upper(stated: Stated) -> Stated:
        value = stated.value
        if stated.sort == "text" and value is not None:
            return replace(stated, value=value.upper())
        return replace(stated, value=[each.upper() for each in value]) if stated.sort == "list" else stated

    return replace(record, text=record.text.upper(), fields=tuple(upper(each) for each in record.fields))
