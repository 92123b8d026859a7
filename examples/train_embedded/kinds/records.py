"""Bibliography entries, sensor and log records, maintenance reports."""

from __future__ import annotations

from ..draft import Column, Draft, Fact, Kind, Rows
from ..draw import Draw
from ..entities import city, company, person, phone, url
from ..moments import date, duration, stamp, time, year
from ..pools import places
from ..values import Form, Value, choice, count, flag, listing, number, plain, text
from ..wording import code, digits, phrase, title, title_words, words


def bibliography(draw: Draw) -> Draft:
    pool = places(draw.lang)
    people = [(draw.pick(pool.given), draw.pick(pool.family)) for _ in range(draw.rng.randint(1, 4))]
    swapped = draw.chance(0.5)
    shown = [f"{family}, {given}" if swapped else f"{given} {family}" for given, family in people]
    joint = draw.rng.choice(("; ", " and ", "; ", " & "))
    parts = {"type": "object", "properties": {"given": {"type": "string"}, "family": {"type": "string"}}, "required": ["given", "family"], "additionalProperties": False}
    authors = Value(joint.join(shown), (Form([f"{given} {family}" for given, family in people], {"type": "array", "items": {"type": "string"}}, "given name first"), Form([{"given": given, "family": family} for given, family in people], {"type": "array", "items": parts}, "in order", weight=0.6)))
    first, last = draw.rng.randint(1, 900), draw.rng.randint(1, 60)
    pages = f"{first}{draw.pick('-|–|--')}{first + last}"
    issued = year(draw)
    facts = (
        Fact("authors|author_list|author|autoren|written_by", authors, "Authors|Author|By|author|Autoren", "Written by {}.|The authors are {}.", "Authors in order", bare=0.5, must=True),
        Fact("title|paper_title|work|titel", text(words(draw, 3, 9).capitalize()), "Title|title|Titel", "The title is {}.|“{}”.", "Full title as written", bare=0.7, must=True),
        Fact("year|publication_year|issued|jahr", issued, "Year|year|Published|Jahr", "It appeared in {}.|Published {}.", "Year of publication"),
        Fact("journal|venue|container|published_in|zeitschrift", text(draw.pick("Journal of |Annals of |Proc. |Review of |Archiv für |Letters in ") + title_words(draw, 1, 2)), "Journal|In|journal|booktitle|Zeitschrift", "It appeared in {}.|Published in {}.", "Journal or proceedings"),
        Fact("volume|vol|band", text(str(draw.rng.randint(1, 140))), "Vol.|volume|Volume|Band", "Volume {}.", "as written"),
        Fact("issue|number|no|heft", text(str(draw.rng.randint(1, 12))), "No.|number|Issue|Heft", "Issue {}.", "as written"),
        Fact("pages|page_range|seiten", text(pages), "pp.|pages|Pages|S.", "Pages {}.|On pages {}.", "as written"),
        Fact("publisher|press|verlag", company(draw), "Publisher|publisher|Verlag", "Published by {}.|{} printed it.", "Who published it"),
        Fact("place|publisher_place|city", city(draw), "Place|address|Ort", "Printed in {}.", "Place of publication"),
        Fact("doi", text(f"10.{draw.rng.randint(1000, 9999)}/{digits(draw, draw.pick('***.####|@@##-####|s#####-###|%%%.20##.###'))}"), "DOI|doi|https://doi.org", "The DOI is {}.|doi:{}", "starting with 10."),
        Fact("isbn|isbn13", isbn(draw), "ISBN|isbn", "ISBN {}."),
        Fact("url|link|available_at", url(draw), "URL|url|Available at", "Online at {}.", "Link"),
        Fact("accessed|access_date|retrieved_on", date(draw), "Accessed|Retrieved|urldate", "Last seen on {}.", "When it was looked up"),
        Fact("type|entry_type|kind|work_type", choice(draw, {"article": "article|journal article|@article", "book": "book|monograph|@book", "thesis": "PhD thesis|dissertation|@phdthesis", "conference_paper": "conference paper|proceedings|@inproceedings", "report": "technical report|working paper|@techreport"}), "Type|Kind|entry", "It is a {}.", "Sort of work"),
        Fact("editor|editors|edited_by", person(draw), "Ed.|editor|Editor|Hrsg.", "Edited by {}.", "Editor"),
        Fact("edition|auflage", count(1, 12)(draw), "Edition|edition|Auflage", "Edition {}.", "Number of the edition"),
        Fact("citation_key|key|cite_key|bibkey", text(people[0][1].split()[0].lower().replace("'", "") + issued.written + draw.pick(places("en").word)), "Key|key|Cite as", "Cite it as {}.", "Citation key"),
        Fact("keywords|subjects|tags", listing(draw, [words(draw, 1, 2) for _ in range(draw.rng.randint(1, 4))]), "Keywords|keywords", "Keywords: {}.", "Keywords in order"),
        Fact("peer_reviewed|refereed", flag(draw, "peer reviewed|refereed|yes", "not reviewed|preprint only|no"), "Review", "Review: {}.", "Was it reviewed"),
    )
    return Draft(facts, "Reference|References|Bibliography|Literatur|Catalogue entry|", (), "A first edition came out in {month}.|Reviewed by {person}.|Copies: {n}.|See also {person} ({month}).|Shelf mark {code}.", "", "")


def isbn(draw: Draw) -> Value:
    number_ = digits(draw, "978-#-####-####-#")
    bare = number_.replace("-", "")
    return Value(number_, (Form(bare, {"type": "string", "pattern": "^97[89][0-9]{10}$"}, "13 digits without hyphens"), Form(number_, {"type": "string"}, "as written")), isbn)


_QUANTITIES = {"temperature": ("temperature|temp", " °C|°C| C", -20, 90), "humidity": ("humidity|rel_humidity", " %|%| % RH", 5, 99), "pressure": ("pressure|p", " bar| hPa| mbar", 1, 1100), "voltage": ("voltage|u", " V|V| mV", 0, 400), "flow": ("flow|flow_rate", " l/min| m3/h", 0, 90), "co2": ("co2|co2_ppm", " ppm|ppm", 350, 2500), "power": ("power|load", " kW| W|kW", 0, 3000), "level": ("level|fill_level", " %| cm| mm", 0, 300), "speed": ("speed|rpm", " rpm| km/h| m/s", 0, 6000), "noise": ("noise|sound_level", " dB|dB(A)", 20, 120), "battery": ("battery|battery_percent", " %|%", 1, 100)}


def sensor(draw: Draw) -> Draft:
    names = draw.rng.sample(list(_QUANTITIES), draw.rng.randint(1, 4))
    measured = tuple(Fact(keys, number(low, high, 2, unit)(draw), f"{keys.split('|')[0].capitalize()}|{keys.split('|')[0]}|{keys.split('|')[-1].replace('_', ' ')}", f"The {name} is {{}}.|We measured {name} {{}}.|{name.capitalize()} reads {{}}.", f"{name.capitalize()} as measured", must=True, group="readings|values|measurements") for name in names for keys, unit, low, high in (_QUANTITIES[name],))
    history = tuple((time(draw), number(0, 100, 1)(draw)) for _ in range(draw.rng.choice((0, 0, 2, 3, 5))))
    table = Rows("readings|samples|history|measurements|log", (Column("time|at|taken_at", "Time|At"), Column("value|reading|measured", "Value|Reading")), history, "{0} {1}|{0}: {1}|{1} at {0}|{0};{1}|t={0} v={1}", "Readings|History|Series", "in order of time")
    facts = (
        Fact("sensor_id|device_id|sensor|device|asset_id|station", code(draw), "Sensor|Device|ID|Station|dev", "Sensor {} reports.|The device is {}.|Data from {}.", "Which device", must=True),
        Fact("location|site|room|place", text(draw.pick("Boiler room|Hall 3|Roof|Greenhouse 2|Cold store|Pump house|Line 4|Attic|North weir|Server room|Silo 7") if draw.chance(0.7) else title_words(draw)), "Location|Site|Where|loc", "It stands in {}.|Place: {}.", "Where it is"),
        Fact("timestamp|recorded_at|measured_at|time", stamp(draw), "Time|ts|Timestamp|At", "Recorded {}.|Time of the reading: {}.", "When it was measured"),
        *measured,
        Fact("status|state|alarm_level|severity", choice(draw, {"ok": "OK|normal|all fine|nominal", "warning": "WARN|warning|close to the limit", "critical": "ALARM|CRIT|critical|limit exceeded", "offline": "offline|no signal|lost"}), "Status|State|level", "State: {}.|It is {}.", "State of the device"),
        Fact("threshold|limit|alarm_limit|set_point", number(1, 500, 1)(draw), "Limit|Threshold|Set point", "The limit is {}.|The alarm is set to {}.", "Limit of the alarm"),
        Fact("firmware|fw_version|software", text(f"{draw.rng.randint(0, 9)}.{draw.rng.randint(0, 20)}.{draw.rng.randint(0, 9)}"), "Firmware|FW|fw", "It runs firmware {}.", "Version as written"),
        Fact("operator|acknowledged_by|technician|on_duty", person(draw), "Operator|Ack by|On duty|Technician", "{} acknowledged it.|On duty: {}.", "Who was on duty"),
        Fact("calibrated_on|last_calibration|calibration_date", date(draw), "Calibrated|Last calibration", "Last calibrated on {}.", "Last calibration"),
        Fact("next_calibration|calibration_due|next_service", date(draw), "Next calibration|Cal due", "Calibration is due on {}.", "Next calibration"),
        Fact("error_code|fault|err|code", text(digits(draw, draw.pick("E##|0x****|F-###|ERR_####|@##"))), "Error|Fault|Err|code", "It shows {}.|Fault {}.", "Code as written"),
        Fact("uptime_hours|running_hours|operating_hours", count(1, 90000, "h|hours")(draw), "Uptime|Running hours|Hours", "It has run for {}.", "Hours"),
    )
    return Draft(facts, "Sensor report|Log|Reading|Status message|Alarm|", (table,), "Sensor {code} was replaced on {date}.|Yesterday the value was {n}.|Range 0-{n}00.|Call {phone} in an emergency.|Min {n}, max {n}9.", "", "")


def maintenance(draw: Draw) -> Draft:
    parts = tuple((text(draw.pick("door contact|V-belt|bearing 6204|filter|gasket|pump seal|fuse 10 A|relay|hose clamp|brake pad|battery|valve|oil filter|fan")), Value(str(n := draw.rng.randint(1, 12)), (Form(n, {"type": "integer", "minimum": 1}),))) for _ in range(draw.rng.randint(0, 3)))
    table = Rows("parts|parts_replaced|materials|spare_parts", (Column("part|name|what|item", "Part", "as written"), Column("quantity|qty|count", "Qty", "How many")), parts, "{1} x {0}|{0} ({1})|{0}, {1} pcs|{1} {0}|replaced {1}x {0}", "Parts|Replaced|Material|Spare parts", "in order")
    labour = draw.rng.choice((0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 6.5))
    facts = (
        Fact("asset|asset_id|machine|equipment|unit", code(draw), "Asset|Machine|Unit|Equipment", "Work on {}.|The machine is {}.", "Which machine", must=True),
        Fact("work_order|job_number|order_no", code(draw), "Work order|Job|WO", "Done under work order {}.", "Number of the work order"),
        Fact("technician|mechanic|performed_by|carried_out_by", person(draw), "Technician|By|Mechanic|Done by", "{} did the work.|Carried out by {}.", "Who did the work"),
        Fact("date|performed_on|service_date|work_date", date(draw), "Date|Performed|Done on", "The work was done on {}.|Date of work: {}.", "When it was done"),
        Fact("start_time|arrived|start", time(draw), "Start|Arrived", "On site at {}.", "When work began"),
        Fact("work_type|type|kind", choice(draw, {"inspection": "inspection|yearly check|visual check", "preventive": "preventive|scheduled service|routine maintenance", "corrective": "repair|corrective|called out to a breakdown", "calibration": "calibration|adjustment of the gauges"}), "Type|Kind of work", "It was a {}.|Kind of work: {}.", "Kind of work"),
        Fact("labour_hours|hours|time_spent|work_hours", Value(f"{labour}{draw.pick(' h| hours| hrs')}", (Form(plain(labour), {"type": "number"}),)), "Labour|Hours|Time spent", "It took {}.|Labour: {}.", "in hours"),
        Fact("downtime|downtime_total|stopped_for", duration(draw), "Downtime|Stopped for", "The line stood for {}.", "How long it stood"),
        Fact("finding|cause|defect|diagnosis", phrase(draw), "Finding|Cause|Defect", "Found: {}.|The cause: {}.", "as written"),
        Fact("next_due|next_service|next_inspection", date(draw), "Next due|Next service|Next inspection", "Come back on {}.|The next service is due on {}.", "When it is due again"),
        Fact("meter_reading|odometer|counter|hours_run", count(10, 250000)(draw), "Meter|Counter|Odometer", "The counter shows {}.", "Counter as read"),
        Fact("released|back_in_service|operational|passed", flag(draw, "released|back in service|passed|yes", "locked out|out of service|failed|no"), "Result|Release", "Result: {}.|The machine is {}.", "Is it released for operation"),
        Fact("customer|site|client", company(draw), "Customer|Site|Client", "At {}.|The customer is {}.", "Where the work was done"),
        Fact("contact_phone|phone", phone(draw), "Phone|On-call", "On-call number {}.", "Number to call"),
        Fact("remarks|note|comment", phrase(draw), "Remarks|Note", "Remark: {}.", "as written"),
        Fact("model|type_plate|model_name", title(draw), "Model|Type plate", "The model is {}.", "Model as written"),
    )
    return Draft(facts, "Service report|Maintenance log|Work report|Wartungsprotokoll", (table,), "The last service was on {date}.|{person} had looked at it before.|A new unit costs {money}.|Part {code} is on order.|Machine {code} nearby is fine.", "", "Signed.")


KINDS = (
    Kind("bibliography", bibliography, ("en", "en", "de"), 1.2),
    Kind("sensor", sensor, weight=1.2),
    Kind("maintenance", maintenance),
)
