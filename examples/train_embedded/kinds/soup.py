"""Documents about nothing in particular: any named field has to be found by its name.

Field names are a modifier and a head noun (`delivery` + `date`), where the head decides the type. Several
fields share a head, so that only the modifier tells them apart. A second soup names its fields with words
that nobody has seen.
"""

from __future__ import annotations

from collections.abc import Callable

from ..draft import Column, Draft, Fact, Kind, Rows
from ..draw import Draw, Pool
from ..entities import address, city, company, email, iban, job_title, person, phone, url
from ..moments import date, date_time, duration, stamp, time, year
from ..pools import places
from ..values import Form, Value, blank, count, flag, money, number, percent, several, text
from ..wording import code, coined, phrase, sentence, title, words

Maker = Callable[[Draw], Value]

_MODIFIERS = {
    "en": "delivery,shipping,dispatch|invoice,billing,bill|order,purchase|start,starting,begin|end,closing,final|customer,client,buyer|project|contact|due,payable|total,overall,full|net|gross|main,primary,principal|secondary,backup,alternate|office,work|home,private|service,maintenance|arrival|departure|check_in|check_out|issue,issuing|return|minimum,lowest,min|maximum,highest,max|current,present|previous,former,old|new|annual,yearly|monthly|daily|account|reference|batch,lot|tracking|serial|contract,agreement|warranty,guarantee|insurance,policy|membership,member|registration,enrolment|emergency|technical|sales|support|site,plant|room|floor|table|seat|team,group|session|course,class|exam,test|lab|sample|patient|doctor,physician|school|student|vehicle,car|engine|license,licence|tax,vat|discount,rebate|deposit,down_payment|rent,rental|energy,power|water|storage|network|server|device,unit|product,item,article|model|supplier,vendor,seller|manufacturer,maker|author,writer|editor|publication,publishing|release|review|approval|inspection|repair|meeting|interview|application|booking,reservation|ticket|event|venue|guest|speaker|sponsor|award,prize|target|budget|planned,scheduled|actual,real|estimated,expected|bank|loan|interest|credit|transfer|receipt|parcel,package|cargo|weight|birth|death|travel|flight|train|hotel|crew|pilot|race|match,game|season|library|museum|garden|field,plot|farm|animal,pet|species|recipe|kitchen|machine|tool|sensor|alarm,alert|error,fault|log|backup|file|folder|print|paper",
    "de": "liefer|rechnungs|bestell|vertrags|kunden|start|end|projekt|haupt|konto|miet|zahlungs|bestätigungs|prüf|kurs|zimmer|fahrzeug|geräte|abfahrts|ankunfts|anmelde|mitglieds|buchungs|service|wartungs|jahres|monats|produkt|auftrags|termin|besuchs|labor|bau|kauf",
    "fr": "livraison|facture|commande|contrat|client|départ|arrivée|début|fin|projet|paiement|inscription|réservation|service|produit|chantier|stage|cours|visite|garantie|compte|dossier",
    "es": "entrega|factura|pedido|contrato|cliente|salida|llegada|inicio|fin|proyecto|pago|inscripción|reserva|servicio|producto|obra|curso|visita|garantía|cuenta|expediente",
}
_HEADS: dict[str, tuple[tuple[str, Maker, float], ...]] = {
    "en": (
        ("date|day|on", date, 4), ("number|no|id|code|reference|ref|key", code, 4), ("name|title|label", title, 3),
        ("amount|sum|cost|price|fee|charge|value|total", money, 4), ("manager|person|contact|owner|lead|agent|officer|name|by", person, 4),
        ("company|firm|organisation|partner|provider", company, 2), ("city|town|place|location", city, 2), ("address", address, 2),
        ("email|mail|e_mail|email_address", email, 2), ("phone|telephone|phone_number|tel|mobile|hotline", phone, 2),
        ("time|hour", time, 2), ("count|quantity|number_of_units|pieces|units|size", count(1, 900), 3), ("rate|share|percentage|percent", percent, 2),
        ("url|link|website|page", url, 1), ("notes|comment|remark|description|subject|reason|purpose", sentence, 2), ("duration|length", duration, 1),
        ("year", year, 1), ("weight_kg|weight|mass", number(0.1, 500, 2, " kg|kg"), 1), ("length_m|height|width|distance", number(0.1, 90, 2, " m| cm| km"), 1),
        ("temperature", number(-30, 99, 1, " °C|°C| C| degrees"), 1), ("level|score|grade|rank|index", count(1, 10), 1), ("members|items|tags|topics|parts|people|guests", lambda d: several(d, person if d.chance(0.5) else phrase), 2),
        ("account|iban", iban, 1), ("at|timestamp|datetime|moment|date_and_time", date_time, 4), ("logged_at|created|updated|timestamp", stamp, 1), ("role|position|job|profession", job_title, 1), ("type|kind|category|class|status|state", lambda d: kind_of(d), 2), ("confirmed|active|required|paid|included|available|approved", lambda d: yes_no(d), 2),
    ),
    "de": (
        ("datum|tag", date, 4), ("nummer|nr|kennung|code", code, 4), ("name|titel|bezeichnung", title, 2), ("betrag|preis|kosten|gebühr|summe", money, 4),
        ("ansprechpartner|leiter|person|verantwortlicher", person, 3), ("firma|partner|anbieter", company, 2), ("ort|stadt", city, 2), ("adresse|anschrift", address, 1),
        ("email|mail", email, 1), ("telefon|rufnummer", phone, 1), ("zeit|uhrzeit", time, 2), ("zeitpunkt|termin", date_time, 2), ("menge|anzahl|stückzahl", count(1, 900), 2), ("satz|anteil|quote", percent, 1), ("notiz|grund|hinweis|betreff", sentence, 1), ("dauer", duration, 1), ("jahr", year, 1), ("gewicht", number(0.1, 500, 2, " kg"), 1),
    ),
    "fr": (
        ("date|jour", date, 4), ("numero|reference|code", code, 4), ("nom|titre|libelle", title, 2), ("montant|prix|cout|frais|somme", money, 4), ("responsable|contact|personne", person, 3),
        ("societe|entreprise|fournisseur", company, 2), ("ville|lieu", city, 2), ("adresse", address, 1), ("courriel|email", email, 1), ("telephone", phone, 1), ("heure", time, 2), ("moment|date_et_heure", date_time, 2), ("quantite|nombre", count(1, 900), 2), ("taux|part", percent, 1), ("motif|remarque|objet", sentence, 1), ("duree", duration, 1),
    ),
    "es": (
        ("fecha|dia", date, 4), ("numero|referencia|codigo", code, 4), ("nombre|titulo", title, 2), ("importe|precio|coste|total", money, 4), ("responsable|contacto|persona", person, 3),
        ("empresa|proveedor", company, 2), ("ciudad|lugar", city, 2), ("direccion", address, 1), ("correo|email", email, 1), ("telefono", phone, 1), ("hora", time, 2), ("momento|fecha_y_hora", date_time, 2), ("cantidad|numero_de_unidades", count(1, 900), 2), ("tasa|porcentaje", percent, 1), ("motivo|nota|asunto", sentence, 1), ("duracion", duration, 1),
    ),
}
_STATES = "open,closed,pending|active,inactive,archived|new,used,refurbished|red,green,blue,yellow,black|low,medium,high|small,medium,large|draft,final,review|paid,unpaid,overdue|north,south,east,west|gold,silver,bronze|standard,express,economy|internal,external|full,half,none|urgent,normal,low|indoor,outdoor|weekly,monthly,yearly|first,second,third|approved,rejected,pending|online,onsite,hybrid|wood,metal,plastic,glass|breakfast,half board,full board|single,double,suite|manual,automatic|cash,card,transfer,invoice"


def kind_of(draw: Draw) -> Value:
    """A status word: the class is the word itself, in whatever case it is written."""
    names = draw.pick(_STATES).split(",")
    picked = draw.rng.choice(names)
    style = draw.rng.choice((str, str, str.upper, lambda name: name.replace(" ", "_")))
    written = draw.rng.choice((picked, picked, picked.capitalize(), picked.upper()))
    schema = {"type": "string", "enum": [style(name) for name in names]}
    return Value(written, (Form(style(picked), schema),), kind_of)


def yes_no(draw: Draw) -> Value:
    if draw.chance(0.25):
        truth = draw.chance(0.5)
        return Value("[x]" if truth else "[ ]", (Form(truth, {"type": "boolean"}),))
    return flag(draw, "yes|Yes|YES|true|y|confirmed|indeed|ja|certainly", "no|No|NO|false|n|not yet|denied|nein|not at all")


def _named(draw: Draw, keys: list[str], value: Value, labels: list[str]) -> Fact:
    notes = "|".join(label.replace("_", " ").capitalize() for label in labels)
    return Fact("|".join(keys), value, "|".join(labels), notes=notes)


def soup(draw: Draw) -> Draft:
    """Four to twelve fields; half of the heads come two or three times with other modifiers."""
    heads = _HEADS[draw.lang]
    facts: list[Fact] = []
    used: set[str] = set()
    while len(facts) < draw.rng.randint(4, 12):
        names, maker, _ = draw.rng.choices(heads, [weight for *_, weight in heads])[0]
        for _ in range(draw.rng.choice((1, 1, 2, 3))):
            modifiers = draw.pick(_MODIFIERS[draw.lang]).split(",")
            head = draw.pick(names)
            if f"{modifiers[0]} {head}" in used or any(f"{modifiers[0]} {other}" in used for other in names.split("|")):
                continue
            used.add(f"{modifiers[0]} {head}")
            facts.append(_named(draw, *_compound(draw, modifiers, head, names, maker)))
    return Draft(tuple(facts), draw.pick("{title}|{title}|Record {code}|{company}|{words}|Sheet of {date}"))


def _compound(draw: Draw, modifiers: list[str], head: str, heads: str, maker: Maker) -> tuple[list[str], Value, list[str]]:
    """Keys and labels of one field: the same words, or synonyms of them."""
    joint = "_" if draw.lang == "en" else ("" if draw.lang == "de" else "_de_")
    other = draw.rng.choice(modifiers)
    keys = [f"{modifiers[0]}{joint}{head}", f"{other}{joint}{head}"] if joint != "_de_" else [f"{head}_{modifiers[0]}"]
    spoken = head.replace("_", " ")
    if draw.lang == "en":
        label = draw.rng.choice((f"{modifiers[0]} {spoken}", f"{other} {spoken}", f"{spoken} of {other}" if draw.chance(0.2) else f"{modifiers[0]} {spoken}"))
        label = label.replace("_", "-" if draw.chance(0.5) else " ")
    elif draw.lang == "de":
        label = f"{modifiers[0].capitalize()}{head}"
    else:
        label = f"{head} de {modifiers[0]}"
    if draw.chance(0.12) and draw.lang == "en":
        keys = [head]
    labels = [label if draw.chance(0.5) else label[:1].upper() + label[1:]]
    return keys, maker(draw), labels


_ANY: tuple[Maker, ...] = (code, title, phrase, count(0, 99999), money, date, person, number(-500, 5000, 3), words_value := (lambda d: text(words(d, 1, 3))), time, rare := (lambda d: text(" ".join(coined(d) for _ in range(d.rng.randint(1, 3))))), email, yes_no, stamp, lambda d: several(d, code, 1, 5), lambda d: several(d, rare, 1, 4))


def riddle(draw: Draw) -> Draft:
    """Fields with made-up names and values of any type: pure look-up and copying."""
    facts = []
    for _ in range(draw.rng.randint(3, 14)):
        shape = draw.rng.random()
        if shape < 0.35:
            name = coined(draw)
        elif shape < 0.7:
            name = "_".join(draw.some(places(draw.lang).word, 1, 3)).lower()
        else:
            name = f"{draw.pick(places(draw.lang).word).lower()}_{draw.rng.choice((draw.rng.randint(1, 99), coined(draw)))}"
        facts.append(Fact(name, draw.rng.choice(_ANY)(draw), name.replace("_", draw.rng.choice((" ", " ", "_", "-")))))
    return Draft(tuple(facts), "{title}|{words}|{code}")


def lists(draw: Draw) -> Draft:
    """A table of made-up or ordinary columns, beside a few fields of its own."""
    base = soup(draw)
    heads = _HEADS["en"]
    columns: list[Column] = []
    makers: list[Maker] = []
    wanted = draw.rng.randint(1, 5)
    while len(columns) < wanted:
        names, maker, _ = draw.rng.choices(heads, [weight for *_, weight in heads])[0]
        name = draw.pick(names) if draw.chance(0.7) else coined(draw)
        if all(name != column.keys for column in columns) and maker is not address:
            columns.append(Column(name, name.replace("_", " ")))
            makers.append(maker)
    cells = tuple(tuple(_cell(maker, draw) for maker in makers) for _ in range(draw.rng.randint(0, 7)))
    glue = draw.rng.choice((", ", " - ", "; ", " | ", " / ", ": "))
    line = glue.join(f"{{{index}}}" for index in range(len(columns)))
    spelled = ", ".join(f"{column.label} {{{index}}}" for index, column in enumerate(columns))
    heading = draw.pick("items|entries|records|rows|lines|members|list|positions|units|steps|parts")
    table = Rows(heading, tuple(columns), cells, Pool.of((line, spelled, f"{line} ")), f"{heading}|list of {heading}|{heading} ({len(cells)})")
    return Draft(base.facts[: draw.rng.randint(1, 4)], base.titles, (table,))


def _cell(maker: Maker, draw: Draw) -> Value:
    """A cell in the first of its forms, the one that every cell of a column shares."""
    if draw.chance(0.04):
        return blank(draw)
    value = maker(draw)
    forms = [form for form in value.forms if form.schema.get("type") != "object" and not form.hint]
    form = forms[0] if forms else Form(value.written, {"type": "string"}, "as written")
    kept = form if "enum" not in form.schema else Form(value.written, {"type": "string"})
    return Value(value.written, (Form(kept.gold, {"type": _base(kept)} | {key: kept.schema[key] for key in ("format",) if key in kept.schema}, kept.hint),), value.remake)


def _base(form: Form) -> str:
    return {int: "number", float: "number", bool: "boolean", list: "array"}.get(type(form.gold), "string")


_SIDES = "sender,recipient|from,to|buyer,seller|landlord,tenant|home,guest|owner,keeper|teacher,pupil|old,new|primary,backup|billing,shipping|first,second|employer,employee|driver,passenger|plaintiff,defendant|mother,father|patient,doctor|caller,called|left,right|before,after|origin,destination|winner,runner_up|day,night|giver,taker|lender,borrower|author,editor|pick_up,return|host,visitor|site_a,site_b|inlet,outlet|morning,evening|start,finish|front,rear|north,south|upper,lower"
_ASPECTS: tuple[tuple[str, Maker], ...] = (
    ("name|contact|person", person), ("phone|tel|telephone", phone), ("email|mail", email), ("city|town|place", city),
    ("address", address), ("company|firm|organisation", company), ("date|day", date), ("time|at", time), ("reference|code|id|number", code),
    ("amount|price|cost", money), ("count|quantity|units", count(1, 400)), ("note|remark", phrase), ("role|job", job_title), ("score|points", count(0, 30)), ("value|reading", number(0, 500, 2)),
)


def sides(draw: Draw) -> Draft:
    """Two parties with the same aspects: only the side tells the values apart."""
    names = draw.pick(_SIDES).split(",")
    aspects = draw.rng.sample(_ASPECTS, draw.rng.randint(2, 5))
    facts = []
    for side in names:
        spoken = side.replace("_", " ")
        for words_, maker in aspects:
            head = words_.split("|")[0]
            keys = "|".join(f"{side}_{word}" for word in words_.split("|"))
            labels = "|".join(f"{spoken} {word}|{word} {spoken}|{word} of {spoken}" for word in words_.split("|")[:2])
            says = f"The {head} of the {spoken} is {{}}.|For the {spoken} the {head} is {{}}.|On the {spoken} side, {head} {{}} was given.|{spoken.capitalize()} {head}: {{}}."
            facts.append(Fact(keys, maker(draw), labels, says, f"{head.capitalize()} of the {spoken}", group=side, inner=words_))
    return Draft(tuple(facts), "{title}|{words}|Transfer sheet|Both sides|Handover|Comparison")


KINDS = (
    Kind("soup", soup, ("en", "en", "en", "en", "de", "fr", "es"), 5),
    Kind("riddle", riddle, ("en", "en", "de", "fr", "es"), 2.5),
    Kind("lists", lists, ("en",), 3),
    Kind("sides", sides, ("en",), 2),
)
