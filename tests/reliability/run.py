"""Run the tests of reliability in full: `python -m tests.reliability.run [ID...] [--out FILE]`.

Each names what it did, the bound, and what it found. `tests/reliability/test_reliability.py` runs small samples of all.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final

from tests.reliability import (
    audit,
    bodies,
    canaries,
    crowd,
    doors,
    hangups,
    kills,
    outside,
    overload,
    quotas,
    slow,
    spoilt,
    stalled,
    stopping,
    templates,
    tenants,
)
from tests.reliability.figures import Figure
from tests.reliability.served import served


def over_a_server(module: ModuleType, folder: Path) -> list[Figure]:
    """The figures of a test that measures a running server."""
    with served(folder, getattr(module, "SCRIPT", None), **module.SETTINGS) as service:
        found: list[Figure] = module.measure(service)
        return found


RUNS: Final[Mapping[str, Callable[[Path], list[Figure]]]] = {
    "A1": spoilt.measure,
    "A2": partial(over_a_server, bodies),
    "A3": partial(over_a_server, slow),
    "A4": partial(over_a_server, stalled),
    "A5": partial(over_a_server, hangups),
    "A6": partial(over_a_server, overload),
    "A7": stopping.measure,
    "A8": doors.measure,
    "A9": outside.measure,
    "A10": templates.measure,
    "L1": crowd.measure,
    "P1": kills.measure,
    "T1": tenants.prefixes,
    "T2": quotas.measure,
    "T3": tenants.fairness,
    "T4": tenants.hostile,
    "T5": canaries.measure,
    "T6": audit.measure,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Tests of reliability, with figures.")
    parser.add_argument("ids", nargs="*", metavar="ID", help=f"of {', '.join(RUNS)}; default: all")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument(
        "--out", type=Path, help="a file of figures, in which those of other ids stay"
    )
    given = parser.parse_args()
    if unknown := set(given.ids) - RUNS.keys():
        parser.error(f"there are no tests {', '.join(sorted(unknown))}")
    kept = json.loads(given.out.read_text()) if given.out and given.out.exists() else {}
    missed = 0
    for name in given.ids or RUNS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            figures = RUNS[name](Path(folder))
        for figure in figures:
            missed += figure.met is False
            verdict = {True: "met", False: "MISSED", None: "not judged"}[figure.met]
            print(
                f"{figure.id} {figure.what} ({figure.count}): {figure.measured}; {verdict}",
                flush=True,
            )
        kept[name] = {
            "commit": given.commit,
            "seconds": round(time.monotonic() - began),
            "figures": [asdict(figure) for figure in figures],
        }
        if given.out:
            given.out.write_text(json.dumps(kept, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
