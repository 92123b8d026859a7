"""People of public record as letterheads and directory entries (CC0), and names taken apart (MIT)."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator

import yaml
from lxml import etree

from . import dates
from .records import Record, Stated


def legislators(path: str, text: str) -> Iterator[Record]:
    """Members of the United States Congress: a directory entry each."""
    for person in yaml.load(text, Loader=yaml.CSafeLoader):
        rng = random.Random(path + str(person["id"].get("bioguide")))
        name, term, born = person["name"], person["terms"][-1], person["bio"].get("birthday")
        full = name.get("official_full") or " ".join(filter(None, (name["first"], name.get("middle"), name["last"])))
        chamber = {"rep": "House of Representatives", "sen": "Senate"}[term["type"]]
        day = datetime.date.fromisoformat(str(born)) if born else None
        shown = {key: rng.random() < 0.75 for key in ("born", "phone", "address", "url", "party", "fax", "since")}
        phone, address, site, fax = (term.get(key) for key in ("phone", "address", "url", "fax"))
        lines = []
        if shown["party"]:
            lines.append(
                rng.choice((f"Party: {term['party']}", f"{term['party']}, {term['state']}", f"({term['party']})"))
            )
        if address and shown["address"]:
            lines.append(rng.choice(("", "Office: ", "Address: ", "Mail to ")) + address)
        if phone and shown["phone"]:
            lines.append(rng.choice(("Phone: ", "Tel. ", "T ", "Call ")) + phone)
        if fax and shown["fax"]:
            lines.append(rng.choice(("Fax: ", "F ", "Fax no. ")) + fax)
        if site and shown["url"]:
            lines.append(rng.choice(("", "Web: ", "See ")) + site)
        if day and shown["born"]:
            lines.append(
                rng.choice(("Born {}", "Date of birth: {}", "born on {}", "* {}")).format(dates.printed(day, rng))
            )
        start = datetime.date.fromisoformat(str(term["start"]))
        if shown["since"]:
            lines.append(
                rng.choice(("In office since {}", "Term began {}", "serving since {}")).format(
                    dates.printed(start, rng)
                )
            )
        rng.shuffle(lines)
        head = rng.choice((f"{full}\n{chamber}", f"{chamber}: {full}", f"{full}, {chamber}", f"{full}\n"))
        document = head + "\n" + rng.choice(("\n", "\n", " | ", "; ")).join(lines)
        has_chamber = chamber in document
        state = term["state"] if f", {term['state']}" in document and shown["party"] else None
        yield Record(
            "congress",
            document,
            (
                Stated("name|full_name|person|member", full, notes="as written"),
                Stated("last_name|surname|family_name", name["last"] if name["last"] in full else None),
                Stated("chamber|body|house", chamber if has_chamber else None),
                Stated("party|political_party|affiliation", term["party"] if shown["party"] else None),
                Stated("state|state_code", state),
                Stated("phone|telephone|office_phone", phone if shown["phone"] else None),
                Stated("fax|fax_number", fax if shown["fax"] else None),
                Stated("address|office_address|office", address if shown["address"] else None, notes="as written"),
                Stated("website|url|homepage", site if shown["url"] else None, "url"),
                Stated("birthday|born|date_of_birth", day.isoformat() if day and shown["born"] else None, "date"),
                Stated("since|in_office_since|term_start", start.isoformat() if shown["since"] else None, "date"),
                Stated("email|e_mail", None, "email"),
            ),
        )


_PARTS = {
    "PrefixMarital": "prefix|salutation|title", "GivenName": "first_name|given_name|forename", "MiddleInitial": "middle_initial",
    "MiddleName": "middle_name", "Surname": "last_name|surname|family_name", "SuffixGenerational": "suffix|generation",
    "SuffixOther": "degree|suffix_title|credentials", "Nickname": "nickname", "PrefixOther": "prefix|honorific",
    "CorporationName": "company|corporation|name", "CorporationLegalType": "legal_form|company_type",
}  # fmt: skip
_ASKED = ("GivenName", "MiddleInitial", "MiddleName", "Surname", "SuffixGenerational", "SuffixOther", "PrefixMarital")


def labelled_names(path: str, text: str) -> Iterator[Record]:
    """Names and firms whose words are labelled one by one."""
    root = etree.fromstring(text.encode(), etree.XMLParser(resolve_entities=False, no_network=True))
    for entry in root:
        words: dict[str, list[str]] = {}
        for word in entry:
            words.setdefault(str(word.tag), []).append((word.text or "").strip(" ,;()"))
        document = "".join(entry.itertext()).strip()
        if not words.keys() <= _PARTS.keys() or len(document) < 5:
            continue
        asked = dict.fromkeys((*words, *_ASKED)) if "GivenName" in words else dict.fromkeys(words)
        fields = tuple(Stated(_PARTS[name], " ".join(words[name]) if name in words else None) for name in asked)
        yield Record("names", document, fields)
