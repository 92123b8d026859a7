"""A1, A11, T5: spoilt requests to every operation, the error bodies they get, and what the server keeps of them."""

from pathlib import Path

from tests.fuzz import api_fuzzer
from tests.reliability.figures import Figure


def measure(folder: Path, cases: int = 20_000, seed: int = 20261127) -> list[Figure]:
    """So many requests, made by `tests.fuzz`, to a model that reads images and has an adapter."""
    found = api_fuzzer.run(seed, cases, folder)
    telling = [fault for fault in found.faults if fault.startswith(api_fuzzer.TELLS)]
    wrong = [fault for fault in found.faults if fault not in telling]
    errors = sum(count for status, count in found.statuses.items() if status >= "4")
    statuses = ", ".join(f"{status}: {count}" for status, count in sorted(found.statuses.items()))
    return [
        Figure(
            id="A1",
            what=f"spoilt requests to {len(found.operations)} operations, seed {seed}",
            count=cases,
            bound="no 5xx but 503 and 504, every status documented, every error with its document",
            measured=f"{len(wrong)} otherwise {wrong[:3]}; {statuses}",
            met=not wrong and not found.failures,
        ),
        Figure(
            id="A11",
            what="error bodies that tell of the server's inside: an exception, an address, a path",
            count=errors,
            bound="none",
            measured=f"{len(telling)} {telling[:3]}",
            met=not telling,
        ),
        Figure(
            id="T5",
            what="texts, schemas, names and keys of these requests in log, metrics and audit",
            count=cases,
            bound="none",
            measured=f"{len(found.leaks)} {found.leaks[:3]}",
            met=not found.leaks,
        ),
    ]
