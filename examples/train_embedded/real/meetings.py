"""Minutes of the Node.js Technical Steering Committee (ISC): date, those present, links.

Does: read the head of the minutes and the list of those present. Does not: judge what was decided.
"""

from __future__ import annotations

import re

from .records import Record, Sort, Stated, Table, cut

_PERSON = re.compile(
    r"^[*-] ([A-Z][\w.'’-]+(?: [\w.'’-]+){0,3}?)(?:,)? (?:\(?@([\w-]+)\)?)(?: \(([^()]+)\))?\s*$", re.M
)
_DATE = re.compile(r"\b(20\d\d-\d\d-\d\d)\b")
_PRESENT = re.compile(r"^#+ (?:Present|Attendees|Members)\b.*?\n(.*?)(?=^#|\Z)", re.M | re.S)
_ISSUE = re.compile(r"\*\*GitHub Issue\*\*: <?(https?://[^\s<>]+)>?")
_RECORDING = re.compile(r"\*\*Recording\*\*: <?(https?://[^\s<>]+)>?")
_LONGEST = 3500


def minutes(path: str, text: str) -> Record | None:
    """The minutes of one meeting; None where no date or nothing of those present can be read."""
    date, present = _DATE.search(text.split("\n")[0]), _PRESENT.search(text)
    if date is None or present is None:
        return None
    people = _PERSON.findall(present[1])
    lines = [line for line in present[1].splitlines() if line.startswith(("* ", "- "))]
    if not people or len(people) != len(lines):
        return None
    links = [found[1] if (found := pattern.search(text)) else None for pattern in (_ISSUE, _RECORDING)]
    names = [name for name, _, _ in people]
    short = cut(text.strip(), _LONGEST, [date[1], *names, *(link for link in links if link)])
    if short is None:
        return None
    fields = (
        Stated("date|meeting_date|held_on", date[1], "date", "day of the meeting"),
        Stated("present|attendees|participants|those_present", names, "list", "names in the order listed"),
        Stated("number_present|attendee_count", len(names), "number", "how many were present"),
        Stated("issue|github_issue|agenda_link", links[0], "url", "link to the issue"),
        Stated("recording|video", links[1], "url", "link to the recording"),
    )
    columns: tuple[tuple[str, Sort], ...] = (
        ("name|person", "text"),
        ("handle|account|user_name", "text"),
        ("role|status", "text"),
    )
    rows = tuple((name, handle, role or None) for name, handle, role in people)
    table = Table("people|members|attendance|present_members", columns[:2], tuple(row[:2] for row in rows))
    if all(row[2] for row in rows):
        table = Table(table.keys, columns, rows, "in the order listed")
    return Record("committee", short, fields, (table,))
