"""Web pages whose front matter says what the page is about: news, events, blog posts, proposals, company profiles.

Each reader takes (path, text) and gives a record, or None where the page lacks what makes a good question.
"""

from __future__ import annotations

import datetime
import random
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import yaml

from . import dates
from .plain import front_matter, markdown, restructured
from .records import Record, Sort, Stated, Table, cut

_MOST = 3600


def _page(header: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(header)
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def _names(slugs: Any) -> list[str]:
    return [" ".join(part.capitalize() for part in str(slug).split("-")) for slug in slugs or ()]


def _joined(names: list[str], rng: random.Random) -> str:
    if len(names) > 1 and rng.random() < 0.7:
        return ", ".join(names[:-1]) + rng.choice((" and ", " & ", ", ")) + names[-1]
    return rng.choice((", ", "; ")).join(names)


def government_page(path: str, text: str) -> Record | None:
    """News and events of digital.gov (public domain in the United States)."""
    rng = random.Random(path)
    header, _ = front_matter(text)
    page = _page(header)
    written, title = dates.read(str(page.get("date"))), str(page.get("title") or "").strip()
    body = markdown(text)
    if not title or written is None or len(body) < 120:
        return None
    day = datetime.date.fromisoformat(written)
    authors = _names(page.get("authors"))
    topics = [str(topic).replace("-", " ") for topic in dict.fromkeys(page.get("topics") or ())]
    deck = str(page.get("deck") or page.get("summary") or "").strip()
    lines = [title]
    if deck and rng.random() < 0.6:
        lines.append(deck)
    else:
        deck = ""
    byline = []
    if authors:
        byline.append(rng.choice(("By ", "by ", "Posted by ", "Author: ", "")) + _joined(authors, rng))
    byline.append(rng.choice(("", "Published ", "Posted on ", "Date: ")) + dates.printed(day, rng))
    rng.shuffle(byline)
    lines.append(rng.choice((" | ", "\n", " · ", ", ")).join(byline))
    shown = bool(topics) and rng.random() < 0.5
    if shown:
        lines.append(rng.choice(("Topics: ", "Filed under ", "Tags: ")) + ", ".join(topics))
    host, url = str(page.get("event_organizer") or ""), str(page.get("registration_url") or "")
    if host:
        lines.append(rng.choice(("Hosted by ", "Organizer: ", "Organised by ")) + host)
    shows_url = url.startswith("http") and rng.random() < 0.7
    if shows_url:
        lines.append(rng.choice(("Register: ", "Registration: ", "Sign up at ")) + url)
    spread = rng.choice(("\n", "\n\n"))
    document = cut(spread.join(lines) + "\n\n" + body, rng.choice((900, 1800, _MOST)), (title,))
    if document is None:
        return None
    fields = [
        Stated("title|headline|heading|page_title", title, notes="Headline as written"),
        Stated("published|date|publication_date|published_on|posted_on|event_date" if not host else "event_date|date|starts_on|day", day.isoformat(), "date"),
        Stated("authors|writers|written_by|author_names|bylines", authors, "list", "names in the order of the byline"),
        Stated("author|byline|written_by", authors[0] if len(authors) == 1 else None, notes="who wrote it; null if several or none") if len(authors) < 2 else Stated("first_author|lead_author", authors[0], notes="first name of the byline"),
        Stated("topics|tags|categories|keywords", topics if shown else [], "list"),
        Stated("subtitle|deck|teaser|standfirst", deck or None, notes="line below the headline"),
        Stated("organizer|organiser|host|hosted_by", host or None, notes="who holds the event"),
        Stated("registration_url|sign_up_link|url|link", url if shows_url else None, "url"),
        Stated("price|fee|admission", None, "number"),
        Stated("phone|telephone|contact_phone", None),
        Stated("is_event|event", bool(host), "flag", "whether the page announces an event"),
    ]  # fmt: skip
    return Record("digital.gov", document, tuple(fields))


def blog_post(path: str, text: str) -> Record | None:
    """Posts of the Rust blog; the day stands in the path or in the front matter."""
    rng = random.Random(path)
    header, _ = front_matter(text)
    try:
        page = tomllib.loads(header)
    except tomllib.TOMLDecodeError:
        page = _page(header)
    found = re.search(r"(\d{4})[-/](\d{2})[-/](\d{2})", str(page.get("path") or "") + " " + path)
    title, body = str(page.get("title") or "").strip(), markdown(text)
    if not found or not title or len(body) < 200:
        return None
    day = datetime.date(*(int(part) for part in found.groups()))
    authors = [str(name) for name in page.get("authors") or ([page["author"]] if page.get("author") else [])]
    line = rng.choice(("{day} · {who}", "{who}, {day}", "Posted on {day} by {who}", "{day}\n{who}"))
    top = f"{title}\n{line.format(day=dates.printed(day, rng), who=_joined(authors, rng) or 'the team')}"
    document = cut(f"{top}\n\n{body}", rng.choice((900, 1800, _MOST)), (title,))
    if document is None:
        return None
    release = re.search(r"\b(1\.\d+(?:\.\d+)?)\b", title)
    advisory = re.search(r"\bCVE-\d{4}-\d{4,}\b", document)
    fields = (
        Stated("title|headline|subject", title, notes="as written"),
        Stated("date|published|posted|published_on", day.isoformat(), "date"),
        Stated("authors|writers", authors, "list"),
        Stated("version|release|version_number", release[1] if release else None, notes="version the post announces"),
        Stated("cve|cve_id|advisory|vulnerability", advisory[0] if advisory else None, notes="CVE identifier"),
        Stated("location|city|venue", None),
    )
    return Record("rust-blog", document, fields)


_STATUS = ("Final", "Accepted", "Active", "Rejected", "Withdrawn", "Deferred", "Draft", "Superseded", "Provisional")
_KINDS = ("Standards Track", "Informational", "Process")


def proposal(path: str, text: str) -> Record | None:
    """Python Enhancement Proposals: the header block of a mail, then the text (public domain)."""
    rng = random.Random(path)
    head, _, rest = text.partition("\n\n")
    pairs = dict(re.findall(r"^([A-Z][\w-]+):[ \t]*(.*(?:\n[ \t]+.*)*)", head, re.MULTILINE))
    created = dates.read(pairs.get("Created", "").split(",")[0])
    if not {"PEP", "Title", "Author", "Status", "Type"} <= pairs.keys() or not created:
        return None
    people = [part.strip() for part in pairs["Author"].replace("\n", " ").split(",") if part.strip()]
    mails = [found[1] for part in people if (found := re.search(r"<([^>\s]+@[^>\s]+)>", part))]
    names = [re.sub(r"\s*<[^>]*>", "", part) for part in people]
    document = cut(f"{head}\n\n{restructured(rest)}", rng.choice((700, 1500, 3000)), (pairs["Title"],))
    if document is None:
        return None
    document = document.replace("    ", " ")
    fields = (
        Stated("number|pep|pep_number|id", int(pairs["PEP"]), "number"),
        Stated("title|name|subject", pairs["Title"].strip()),
        Stated("authors|author_names|written_by", names, "list", "names only"),
        Stated("emails|author_emails|mail_addresses", mails, "list", "e-mail addresses of the authors"),
        Stated("status|state", pairs["Status"].strip(), "enum", options=_STATUS),
        Stated("type|kind|category", pairs["Type"].strip(), "enum", options=_KINDS),
        Stated("created|date|created_on|submitted", created, "date"),
        Stated("python_version|target_version|version", pairs.get("Python-Version", "").strip() or None),
        Stated("sponsor|sponsored_by", re.sub(r"\s*<[^>]*>", "", pairs.get("Sponsor", "")).strip() or None),
        Stated("deadline|due|due_date", None, "date"),
    )
    return Record("peps", document, fields)


_POLICY = {"fully-remote": "fully remote", "remote-first": "remote first", "hybrid": "hybrid", "remote-friendly": "remote friendly"}  # fmt: skip


def employer(path: str, text: str) -> Record | None:
    """Company profiles of a list of remote employers."""
    rng = random.Random(path)
    header, _ = front_matter(text)
    page, body = _page(header), markdown(text)
    name = str(page.get("title") or "")
    if not name or len(body) < 150:
        return None
    site, skills = str(page.get("website") or ""), [str(each) for each in page.get("technologies") or ()]
    policy = _POLICY.get(str(page.get("remote_policy")))
    lines = [name]
    if site:
        lines.append(rng.choice(("Website: ", "Web ", "", "Homepage: ")) + site)
    if policy:
        lines.append(rng.choice(("Remote policy: ", "Remote: ", "We are ")) + policy)
    if skills:
        lines.append(rng.choice(("Technologies: ", "Stack: ", "We use ")) + ", ".join(skills))
    document = cut("\n".join(lines) + "\n\n" + body, rng.choice((900, 1800)), (name,))
    if document is None:
        return None
    fields = (
        Stated("company|name|employer|organisation|company_name", name),
        Stated("website|url|homepage|site", site or None, "url"),
        Stated("technologies|skills|stack|tech_stack", skills, "list"),
        Stated("remote_policy|remote|work_model", policy, "enum", options=tuple(_POLICY.values())),
        Stated("phone|telephone", None),
        Stated("salary|salary_from|pay", None, "number"),
    )
    return Record("remote-jobs", document, fields)


_EVENT = re.compile(r"^\* (\d{4}-\d{2}-\d{2}) \| ([^|\n]+?) \| \[([^\]]+)\].*\n\s+\* \[\*{0,2}([^\]*]+)\*{0,2}\]", re.MULTILINE)  # fmt: skip


def event_lists(path: str, text: str) -> Iterator[Record]:
    """Lists of meetings of This Week in Rust, some rows at a time."""
    rng = random.Random(path)
    rows = [tuple(part.strip() for part in found) for found in _EVENT.findall(text)]
    rng.shuffle(rows)
    while rows:
        taken, rows = rows[: rng.randint(1, 7)], rows[rng.randint(4, 9) :]
        template = rng.choice(
            (
                "{0} | {1} | {2}\n    {3}",
                "- {3} ({2}), {1}, {0}",
                "{0}: {3}\n{2}, {1}",
                "{3}\nby {2}\n{1}, {0}",
                "* {2} meets in {1} on {0}: {3}",
            )
        )
        style = rng.random()
        lines = []
        for day, place, group, title in taken:
            shown = day if style < 0.5 else dates.printed(datetime.date.fromisoformat(day), rng)
            lines.append(template.format(shown, place, group, title))
        heading = rng.choice(("Upcoming events", "Calendar", "Meetups", "What's on", ""))
        columns: tuple[tuple[str, Sort], ...] = (
            ("date|day|when|on", "date"),
            ("place|location|where|city", "text"),
            ("group|organizer|organiser|by", "text"),
            ("title|event|topic|name", "text"),
        )
        table = Table("events|meetings|meetups|entries|items", columns, tuple(taken))
        fields = (Stated("heading|title|section", heading or None), Stated("number_of_events|event_count|total", len(taken), "number"))  # fmt: skip
        yield Record("twir", (heading + "\n\n" if heading else "") + rng.choice(("\n", "\n\n")).join(lines), fields, (table,))  # fmt: skip
