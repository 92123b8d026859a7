"""The section on speed: compile and mask times compared with other libraries (`tests/bench/bench_masks.py`).

Does: word what the benchmark measures. Does not: compare it with a bound; times depend on the machine.
"""

import random
from pathlib import Path
from typing import Final

from tests.bench import bench_masks
from tests.conformance import wording
from tests.conformance.report import Section
from tests.conformance.sections import SEED, records

SCHEMAS: Final = 400


def speed_section(folder: Path, jobs: int) -> Section:
    """One thread, whatever `jobs` says."""
    usable = [r for r in records(folder) if any(test["valid"] for test in r["tests"])]
    figures = bench_masks.measure(random.Random(SEED).sample(usable, SCHEMAS))
    made = Section("speed", "Speed")
    made.measured = {f.engine: {k: v for k, v in vars(f).items() if k != "engine"} for f in figures}
    made.page = [
        wording.SPEED.format(schemas=SCHEMAS),
        bench_masks.table(figures),
    ]
    return made
