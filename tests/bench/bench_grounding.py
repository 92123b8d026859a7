"""The time of `locate`: a made document of 20,000 characters with 200 values, and one of 1,000,000 with 10,000.

    python -m tests.bench.bench_grounding

Processor time, not wall time. A fifth of the values is as in the document, a fifth in capitals, a fifth each are
amounts and dates in other spellings, and a fifth is not in the document.
"""

import random
import time
from typing import Any

from intaglio.service.grounding.field_reports import locate

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def made(rng: random.Random, characters: int) -> tuple[str, list[dict[str, Any]]]:
    """A document of about so many characters, and the record of each of its lines."""
    words = ["".join(rng.choices(LETTERS, k=rng.randint(2, 10))) for _ in range(3000)]
    lines, records = list[str](), list[dict[str, Any]]()
    while sum(map(len, lines)) + len(lines) < characters:
        lines.extend(_line(rng, words, records) for _ in range(40))
    return "\n".join(lines)[:characters], records


def _line(rng: random.Random, words: list[str], records: list[dict[str, Any]]) -> str:
    quantity, price = rng.randint(1, 99), round(rng.random() * 2000, 2)
    name, day, month = rng.choice(words), rng.randint(1, 28), rng.randint(1, 12)
    records.append(
        {
            "quantity": quantity,
            "name": name.upper(),
            "price": price,
            "date": f"2026-{month:02}-{day:02}",
            "note": f"absent {name}",
        }
    )
    rest = " ".join(rng.choices(words, k=10))
    return f"{quantity} {name} {price:,} {day:02}/{month:02}/2026 {rest}"


def main() -> None:
    """Print the median of several rounds for each size."""
    for characters, count, rounds in ((20_000, 40, 15), (1_000_000, 2_000, 1)):
        text, records = made(random.Random(1), characters)
        data, times = {"items": records[:count]}, []
        for _ in range(rounds):
            began = time.process_time()
            locate(text, data)
            times.append(time.process_time() - began)
        middle = 1000 * sorted(times)[rounds // 2]
        print(f"{len(text):,} characters, {5 * count:,} values: {middle:,.1f} ms")


if __name__ == "__main__":
    main()
