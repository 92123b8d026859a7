"""Sentences and marks that lay-outs are made of, in four languages; `|` stands between alternatives."""

from __future__ import annotations

import re
from collections.abc import Callable

from .draw import Draw
from .entities import city, company, email_of, person, person_name, phone
from .moments import date, time
from .values import money
from .wording import code_text, sentence, title_words

LINES = (
    "{l}: {v}|{l}: {v}|{l}: {v}|{l} : {v}|{l} - {v}|{l}   {v}|{l} = {v}|{l}\n{v}|{l}:\n  {v}|- {l}: {v}|* {l}: {v}"
    "|• {l}: {v}|{l} ..... {v}|[{l}] {v}|{l} → {v}|{l}\t{v}|**{l}:** {v}|{v} ({l})|{l} ({v})|{l}\n    {v}\n|# {l}\n{v}"
    "|{l}; {v}|> {l}: {v}|{l}: {v}\n|{l} — {v}|<b>{l}</b> {v}|{l}? {v}|_{l}_ {v}|({l}) {v}"
)
PLAIN = {
    "en": "The {l} is {v}.|{L}: {v}.|We have {v} as the {l}.|As {l}, {v} was noted.|{l}: {v}|Note the {l}, {v}.|It has {v} as its {l}.|The {l} given is {v}.|{v} is the {l}.|For the {l} we recorded {v}.|Please keep {v} as {l}.",
    "de": "{L}: {v}.|Als {l} wurde {v} vermerkt.|{L} ist {v}.|Unter {l} steht {v}.|Angegeben ist {v} als {l}.",
    "fr": "{L} : {v}.|Comme {l}, on a noté {v}.|{L}, c'est {v}.|On indique {v} comme {l}.",
    "es": "{L}: {v}.|Como {l} consta {v}.|{L} es {v}.|Se indica {v} como {l}.",
}
NO_VALUE = {
    "en": "n/a|-|—|none|not specified|tba|to be announced|unknown|not yet known|(blank)|____|/|not provided|TBD",
    "de": "-|—|k. A.|entfällt|offen|noch nicht bekannt|unbekannt|folgt",
    "fr": "-|—|néant|non précisé|à venir|inconnu",
    "es": "-|—|n. d.|sin especificar|por confirmar|desconocido",
}
WAS = {
    "en": " (was {})| (previously {})| (not {} as stated before)|, originally {}| instead of {}| (old: {})|, corrected from {}| (changed from {})",
    "de": " (vorher {})| (bisher {})|, ursprünglich {}| statt {}| (nicht {} wie zuvor angegeben)",
    "fr": " (auparavant {})| au lieu de {}|, initialement {}| (et non {})",
    "es": " (antes {})| en lugar de {}|, inicialmente {}| (no {})",
}
NOISE = {
    "en": "If you have questions, call {phone}.|Our office is closed on {date}.|{person} will be away until {date}.|Thank you for your patience.|Page 1 of 1|Ask {person} in {city} if anything is unclear.|Last year it was {money}.|The old reference {code} is no longer valid.|See also {code}.|Doors close at {time}.|{words}.|{words}, {words}.|{words} ({n}).|{words}!|This message was sent to {email}.|Printed {date} {time}|A similar case was handled by {company} for {money}.|Do not reply to this message.|Please recycle.|(draft, {date})|Earlier versions mentioned {money}; ignore them.|{person} sends regards.|Ref. {code} belongs to another file.|We met {person} there in {month}.|Terms apply.|{company} is not involved.|More at {site}.",
    "de": "Bei Fragen: {phone}.|Unser Büro ist am {date} geschlossen.|{person} ist bis {date} nicht im Haus.|Vielen Dank für Ihre Geduld.|Seite 1 von 1|Die alte Nummer {code} gilt nicht mehr.|Im Vorjahr waren es {money}.|Mit freundlichen Grüßen, {person}|{words}.|Gedruckt am {date}|Siehe auch {code}.|Rückfragen an {email}.",
    "fr": "Pour toute question : {phone}.|Notre bureau est fermé le {date}.|{person} est absent jusqu'au {date}.|Merci de votre patience.|Page 1 sur 1|L'ancienne référence {code} n'est plus valable.|L'an dernier, c'était {money}.|{words}.|Imprimé le {date}|Voir aussi {code}.|Contact : {email}.",
    "es": "Para consultas: {phone}.|Nuestra oficina cierra el {date}.|{person} estará fuera hasta el {date}.|Gracias por su paciencia.|Página 1 de 1|La referencia anterior {code} ya no es válida.|El año pasado fueron {money}.|{words}.|Impreso el {date}|Véase también {code}.|Contacto: {email}.",
}
LEAD = {
    "en": "For the record: |By the way, |As agreed, |Just so you know: |As {person} told us, |In short: |Please note: |Once more: |Then: |To be clear, |According to {person}, |As far as we know, |Also, |And |So |After some discussion, |{words}: |Since {month}: |Last but not least: |First, |Good news: |Sadly, |I think |{words}, but ",
    "de": "Übrigens: |Wie besprochen: |Kurz gesagt: |Bitte beachten: |Laut {person}: |Außerdem: |{words}: |Also: |Dazu: ",
    "fr": "Au fait : |Comme convenu : |En bref : |À noter : |Selon {person} : |De plus : |{words} : ",
    "es": "Por cierto: |Como acordamos: |En resumen: |Atención: |Según {person}: |Además: |{words}: ",
}


_SLOTS: dict[str, Callable[[Draw], str]] = {
    "phone": lambda d: phone(d).written,
    "date": lambda d: date(d).written,
    "time": lambda d: time(d).written,
    "person": lambda d: person(d).written,
    "city": lambda d: city(d).written,
    "company": lambda d: company(d).written,
    "money": lambda d: money(d).written,
    "code": code_text,
    "words": lambda d: sentence(d).written,
    "email": lambda d: email_of(d, person_name(d)),
    "site": lambda d: email_of(d, "x y").split("@")[1],
    "month": lambda d: str(d.rng.randint(2015, 2028)),
    "n": lambda d: str(d.rng.randint(2, 90)),
    "title": lambda d: title_words(d, 1, 3),
}


def fill(draw: Draw, template: str) -> str:
    """A sentence with its `{slots}` filled by values that no answer holds."""
    return re.sub(r"\{(\w+)\}", lambda found: _SLOTS[found[1]](draw), template)
