"""What happens to documents on their way: capitals, broken lines, other text around them.

Does: change a sample's text, and its answer where the answer is a copy of the text. Does not: change the schema.
"""

from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .generate import Sample

_CAPITALS, _WRAPPED = 0.05, 0.08
_SURROUNDED = 0.25
_QUOTE = re.compile(r"^[>\s*#-]*")


def worn(sample: Sample, rng: random.Random) -> Sample:
    """Most samples as they are; some in capitals, some with long lines broken."""
    roll = rng.random()
    if roll < _CAPITALS:
        return capitals(sample)
    return wrapped(sample, rng.randint(40, 90)) if roll < _CAPITALS + _WRAPPED else sample


def capitals(sample: Sample) -> Sample:
    """The document and what is copied from it in capitals; unchanged where a string is no plain copy."""
    plain = True

    def raised(value: Any) -> Any:
        nonlocal plain
        if not isinstance(value, str):
            return value
        plain = plain and (value in sample.text or value.upper() == value)
        return value.upper()

    answer = _mapped(sample.schema, sample.answer, raised)
    return replace(sample, text=sample.text.upper(), answer=answer) if plain else sample


def _mapped(schema: dict[str, Any], value: Any, change: Callable[[Any], Any]) -> Any:
    """`value` with its scalars changed, those of enumerations left out; a schema may leave parts open."""
    if "enum" in schema:
        return value
    if isinstance(value, dict):
        return {key: _mapped(schema.get("properties", {}).get(key, {}), part, change) for key, part in value.items()}
    if isinstance(value, list):
        return [_mapped(schema.get("items", {}), part, change) for part in value]
    return change(value)


def wrapped(sample: Sample, width: int) -> Sample:
    """The document with its long lines broken at blanks, as mail programs do; tables stay."""
    lines: list[str] = []
    for line in sample.text.split("\n"):
        if len(line) <= width or "\t" in line or "  " in line or "|" in line:
            lines.append(line)
            continue
        found = _QUOTE.match(line)
        indent = found.group() if found and found.group().startswith(">") else ""
        lines += textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return replace(sample, text="\n".join(lines))


def surrounded(sample: Sample, pieces: list[str], rng: random.Random) -> Sample:
    """Now and then, the document amid paragraphs of something else."""
    if not pieces or rng.random() > _SURROUNDED:
        return sample
    paragraphs = [part for part in rng.choice(pieces).split("\n\n") if 60 < len(part) < 900]
    if not paragraphs:
        return sample
    start = rng.randrange(len(paragraphs))
    taken = paragraphs[start : start + rng.choice((1, 1, 1, 2, 2, 3, 5, 8, 14))]
    cut = rng.randint(0, len(taken))
    gap = rng.choice(("\n\n", "\n", "\n\n---\n\n"))
    return replace(sample, text=gap.join((*taken[:cut], sample.text, *taken[cut:])))


_SORTS = {
    "cv": "cv|resume", "job": "job_posting|job_ad|vacancy", "recipe": "recipe", "recipes": "recipe", "realestate": "property_listing|real_estate_ad",
    "bug": "bug_report|defect", "contract": "contract|agreement", "minutes": "minutes|meeting_notes", "travel": "itinerary|travel_booking",
    "event": "event|invitation", "conferences": "event|conference", "invoice": "invoice|bill", "pdf-invoice": "invoice|bill", "receipt": "receipt|sales_slip",
    "till": "receipt|till_receipt", "bibliography": "reference|citation", "references": "reference|citation", "product": "product_page|product_listing", "order": "order|order_message", "support": "support_ticket|service_case",
    "review": "review|customer_review", "news": "news_article|newspaper_report", "health": "medical_note|doctors_note", "complaint": "complaint|letter_of_complaint",
    "classified": "classified_ad|small_ad", "appointment": "appointment|appointment_letter", "contact": "e-mail_signature|business_card", "maintenance": "service_report|work_order",
    "bankalert": "bank_alert|account_notice", "sensor": "measurement|sensor_report", "failure": "bounce|delivery_failure", "address": "address|postal_address",
}  # fmt: skip
_ASKED = "document_type|type_of_document|doc_type|document_kind|category"
_CLASSIFIED = 0.04


def classified(sample: Sample, rng: random.Random) -> Sample:
    """Now and then, ask what sort of document it is: a field whose value stands nowhere in the text."""
    key = rng.choice(_ASKED.split("|"))
    if sample.kind not in _SORTS or key in sample.schema["properties"] or rng.random() > _CLASSIFIED:
        return sample
    own = set(_SORTS[sample.kind].split("|"))
    right = rng.choice(sorted(own))
    others = sorted({rng.choice(names.split("|")) for names in _SORTS.values() if not own & set(names.split("|"))})
    classes = [right, *rng.sample(others, rng.randint(1, 6))]
    rng.shuffle(classes)
    names = list(sample.schema["properties"])
    names.insert(rng.choice((0, len(names))), key)
    properties = sample.schema["properties"] | {key: {"type": "string", "enum": classes}}
    answer = sample.answer | {key: right}
    schema = sample.schema | {
        "properties": {name: properties[name] for name in names},
        "required": [name for name in names if name == key or name in sample.schema["required"]],
    }
    return replace(sample, schema=schema, answer={name: answer[name] for name in names if name in answer})
