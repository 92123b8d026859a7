"""The section on speed: compile and mask times beside those of other libraries (`tests/bench/bench_masks.py`).

Does: word what the benchmark measures. Does not: compare it with a bound; times depend on the machine.
"""

from pathlib import Path

from tests.bench import bench_masks
from tests.conformance import wording
from tests.conformance.report import Section
from tests.conformance.sections import records


def speed_section(folder: Path, jobs: int) -> Section:
    """One thread, whatever `jobs` says."""
    usable = [r for r in records(folder) if any(test["valid"] for test in r["tests"])]
    figures = bench_masks.measure(usable)
    made = Section("speed", "Speed")
    made.measured = {f.engine: {k: v for k, v in vars(f).items() if k != "engine"} for f in figures}
    made.page = [
        wording.SPEED,
        bench_masks.table(figures),
    ]
    return made
