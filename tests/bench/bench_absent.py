"""Requests that demand values their documents do not hold: how long the answers become, and how long they take.

    python -m tests.bench.bench_absent [--requests 200] [--model FOLDER] [--out FILE]

Ten schemas, each with twenty documents that say nothing of what is required. Every request is made alone, so that its
time is its own. Told by schema and for all: output tokens (median, 99th percentile, most), the largest share of its
default budget that an answer took, how many values looped, how many answers reached their budget, seconds of processor
time, which others' work shifts little, and of the clock. Exits with 1 where an answer is longer than its stated budget,
or the 99th percentile of processor time of a schema is over three times its median. The ratio over all requests says
little of endless values: the medians of the schemas lie between 15 and 110 tokens.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from intaglio.service.offline.llm import LLM

_TEXT: dict[str, Any] = {"type": "string"}
_INTEGER: dict[str, Any] = {"type": "integer"}
_NUMBER: dict[str, Any] = {"type": "number"}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _formatted(name: str) -> dict[str, Any]:
    return {"type": "string", "format": name}


def _some(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": 1}


SCHEMAS: dict[str, dict[str, Any]] = {
    "strings": _object(name=_TEXT, phone=_TEXT, email=_TEXT, iban=_TEXT),
    "formats": _object(
        mail=_formatted("email"),
        page=_formatted("uri"),
        day=_formatted("date"),
        key=_formatted("uuid"),
    ),
    "uris": _object(homepage=_formatted("uri"), logo=_formatted("uri"), feed=_formatted("uri")),
    "integers": _object(orders=_INTEGER, customers=_INTEGER, stock=_INTEGER),
    "numbers": _object(total=_NUMBER, tax=_NUMBER, discount=_NUMBER, weight_kg=_NUMBER),
    "arrays": _object(tags=_some(_TEXT), amounts=_some(_NUMBER), codes=_some(_TEXT)),
    "nested": _object(
        seller=_object(name=_TEXT, vat_id=_TEXT, address=_object(street=_TEXT, city=_TEXT)),
        bank=_object(iban=_TEXT, bic=_TEXT),
    ),
    "rows": _object(
        invoice=_TEXT, lines=_some(_object(article=_TEXT, quantity=_INTEGER, price=_NUMBER))
    ),
    "enums": _object(
        currency={"enum": ["EUR", "USD", "GBP"]}, priority={"enum": ["low", "high"]}, note=_TEXT
    ),
    "patterns": _object(
        serial={"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4,}$"},
        plate={"type": "string", "minLength": 3},
        comment={"type": "string", "maxLength": 500},
    ),
}

DOCUMENTS = (
    "Dear Sir, my name is Laura Stein. Regards.",
    "The meeting has been moved to the small room because the large one is being painted.",
    "Thank you for your message. We are closed until Monday.",
    "It rained all day, and the children stayed inside.",
    "Please water the plants while I am away. The key is under the mat.",
    "Hello!",
    "Guten Tag, der Aufzug ist leider weiterhin defekt. Bitte nehmen Sie die Treppe.",
    "Le musée est fermé pour travaux jusqu'à nouvel ordre.",
    "The committee thanked all volunteers and looked back on a quiet year without incidents.",
    "Lost: a grey cat with white paws. It answers to Momo and likes tuna.",
    "TODO: tidy up, answer letters, call grandmother.",
    "We regret that the concert cannot take place. Tickets remain valid.",
    "The lake was calm. A heron stood in the reeds and did not move for a long time.",
    "Status: waiting for the supplier. Nothing new since last week.",
    "Gracias por su visita. Esperamos verle pronto.",
    "Dear team, the coffee machine works again. Descale it every now and then. Best, Ole",
    "In the beginning there was only the old mill, and the path that led to it from the village.",
    "Reminder: the fire drill begins when the bell rings. Leave everything and walk to the yard.",
    "The patient slept well and has no complaints.",
    "Minutes of the garden club. The roses have suffered, the dahlias have not. Those who wanted stayed for tea.",
)


_HEAD = (
    *("schema", "requests", "tokens p50", "p99", "most", "of budget", "looped", "at budget"),
    *("cpu s p50", "p99", "p99/p50", "s p50", "p99"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One request: its answer's tokens against its budget, what was ended early, its processor time and its time."""

    schema: str
    document: int
    tokens: int
    budget: int
    looped: int
    budget_forced: bool
    cpu_s: float
    seconds: float


def requests(count: int) -> Iterator[tuple[str, int]]:
    """(schema, document), so that any number of them is spread over both."""
    for at in range(count):
        yield list(SCHEMAS)[at % len(SCHEMAS)], (at // len(SCHEMAS)) % len(DOCUMENTS)


def measure(llm: LLM, count: int) -> Iterator[Measured]:
    """Make the requests, one after the other."""
    for name in SCHEMAS:  # compile, which is not what is measured here
        llm.extract(SCHEMAS[name], DOCUMENTS[0])
    for name, document in requests(count):
        begun, spent = time.perf_counter(), time.process_time()
        result = llm.extract(SCHEMAS[name], DOCUMENTS[document])
        yield Measured(
            name,
            document,
            result.usage.output_tokens,
            result.usage.budget or 0,
            sum(warning.kind == "looped" for warning in result.warnings),
            result.usage.budget_forced,
            time.process_time() - spent,
            time.perf_counter() - begun,
        )


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that so large a share of `values` does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def row(name: str, found: Sequence[Measured]) -> str:
    """A line of the table."""
    tokens, cpu = [one.tokens for one in found], [one.cpu_s for one in found]
    seconds = [one.seconds for one in found]
    cells = [
        name,
        len(found),
        f"{median(tokens):.0f}",
        f"{percentile(tokens, 0.99):.0f}",
        max(tokens),
        f"{max(one.tokens / one.budget for one in found):.0%}",
        sum(one.looped for one in found),
        sum(one.budget_forced for one in found),
        f"{median(cpu):.2f}",
        f"{percentile(cpu, 0.99):.2f}",
        f"{percentile(cpu, 0.99) / median(cpu):.1f}",
        f"{median(seconds):.2f}",
        f"{percentile(seconds, 0.99):.2f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with LLM(options.model) as llm:
        found = list(measure(llm, options.requests))
    print(f"| {' | '.join(_HEAD)} |\n|---|{'--:|' * (len(_HEAD) - 1)}")
    for name in SCHEMAS:
        own = [one for one in found if one.schema == name]
        if own:
            print(row(name, own))
    print(row("all", found))
    if options.out is not None:
        options.out.write_text(json.dumps([asdict(one) for one in found], indent=1))
    too_long = [one for one in found if one.tokens > one.budget]
    return int(bool(too_long) or any(is_uneven(found, name) for name in SCHEMAS))


def is_uneven(found: Sequence[Measured], name: str) -> bool:
    """Whether the slowest requests of a schema take over three times the processor time of its median."""
    cpu = [one.cpu_s for one in found if one.schema == name]
    return bool(cpu) and percentile(cpu, 0.99) > 3 * median(cpu)


if __name__ == "__main__":
    sys.exit(main())
