"""Addresses in one line or several, to be taken apart into their parts."""

from __future__ import annotations

from ..draw import Draw
from ..entities import city_name, company_name, person_name
from ..pools import places
from ..real.records import Record, Stated
from ..wording import coined, digits

_STATES = "AL|AK|AZ|AR|CA|CO|CT|DE|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|OR|PA|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY|Ohio|Texas|California|New York|Florida|Illinois|Georgia|Oregon|Michigan|Iowa"
_TYPES = "St|St.|Street|Ave|Ave.|Avenue|Rd|Road|Blvd|Boulevard|Ln|Lane|Dr|Drive|Ct|Court|Way|Pkwy|Parkway|Place|Pl|Circle|Cir|Terrace|Trail|Square|Highway|Plaza|Loop||"
_SIDES = "|||||N|S|E|W|N.|S.|E.|W.|North|South|East|West|NW|SE|SW|NE"


def _thoroughfare(draw: Draw) -> str:
    stem = draw.rng.choice((
        lambda: coined(draw).capitalize(), lambda: draw.pick(places("en").family), lambda: draw.pick(places("en").word).capitalize(),
        lambda: draw.pick("1st|2nd|3rd|4th|5th|11th|21st|42nd|103rd|Main|Oak|Park|Lake|Hill|Broadway|Washington|Jackson|La Salle|Martin Luther King"),
        lambda: f"{draw.pick(places('en').family)} {draw.pick('Creek|Hill|Valley|Ridge|Park|Mill|Lake|River|Springs')}",
    ))()  # fmt: skip
    parts = (draw.pick(_SIDES), stem, draw.pick(_TYPES), draw.pick("||||||N|S|West|SE"))
    return " ".join(part for part in parts if part)


def address(draw: Draw, pieces: list[str]) -> Record:
    """An American address with some of its parts; what is missing is null."""
    rng = draw.rng
    box = draw.pick("PO Box |P.O. Box |P O Box |Box |POB ") + str(rng.randint(1, 9999)) if draw.chance(0.15) else None
    street = _thoroughfare(draw) if box is None or draw.chance(0.25) else None
    number = (
        digits(draw, draw.pick("#|##|###|####|#####|###-##|###@|N##W#####|### 1/2"))
        if street and draw.chance(0.93)
        else None
    )
    shapes = (
        "Apt #|Apt. #@|Suite ###|Ste ###|Ste. @|Unit #|Unit ##@|# ###|Fl #|Floor ##|Room ###|Bldg @|Lot ##|#nd Floor"
    )
    unit = digits(draw, draw.pick(shapes)) if street and draw.chance(0.3) else None
    name = (company_name(draw) if draw.chance(0.75) else person_name(draw)) if draw.chance(0.25) else None
    town = city_name(draw) if draw.chance(0.9) else None
    state = draw.pick(_STATES) if draw.chance(0.85) else None
    code = digits(draw, draw.pick("#####|#####|#####|#####-####")) if draw.chance(0.8) else None
    comma = draw.rng.choice((", ", ", ", ", ", " ", "\n"))
    road = " ".join(part for part in (number, street) if part)
    inner = rng.choice((", ", " ", ", ", "\n"))
    lines = [name, inner.join(part for part in (road, unit) if part), box]
    last = " ".join(part for part in (state, code) if part)
    tail = rng.choice((", ", ", ", " ")).join(part for part in (town, last) if part)
    text = comma.join(part for part in (*lines, tail) if part)
    if draw.chance(0.12):
        text += comma + draw.pick("USA|United States|U.S.A.")
    return Record("address", text, (
        Stated("recipient|name|addressee|company|organization", name, notes="company, office or person"),
        Stated("house_number|number|street_number|building_number", number),
        Stated("street|street_name|road|thoroughfare", street, notes="with direction and type|name of the street"),
        Stated("unit|suite|apartment|unit_number|floor_or_suite", unit, notes="suite, apartment or floor|as written"),
        Stated("po_box|post_office_box|box", box, notes="as written"),
        Stated("city|town|place|locality", town),
        Stated("state|state_code|region", state, notes="as written"),
        Stated("zip|zip_code|postal_code|postcode", code, notes="with its extension if there is one"),
    ))  # fmt: skip
