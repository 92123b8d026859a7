"""The whole conformance report: `make conformance`.

Runs the sections, prints the page's tables and fails where anything that must not change has changed; `--write` commits
to what came out and makes `docs/conformance.md` anew.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.conformance import texts
from tests.conformance.cases import data_folder
from tests.conformance.report import Section, changed, write
from tests.conformance.sections import SECTIONS
from tests.conformance.speed import speed_section

ALL: dict[str, Callable[[Path, int], Section]] = {
    "texts": lambda folder, jobs: texts.section(folder, jobs, sample=10),
    **SECTIONS,
    "speed": speed_section,
}


def main() -> int:
    """Exit code 1: something changed, or is not as it should be; 2: no data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="write the expectations and the page anew"
    )
    parser.add_argument("--only", default=",".join(ALL), help=f"of {', '.join(ALL)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    options = parser.parse_args()
    folder = data_folder()
    if folder is None:
        print("needs ../shared", file=sys.stderr)
        return 2
    made = []
    for name in options.only.split(","):
        begun = time.monotonic()
        section = ALL[name](folder, options.jobs)
        made.append(section)
        print(f"\n## {section.title} ({time.monotonic() - begun:.0f} s)\n", *section.page, sep="\n")
        print(*section.faults, sep="\n", flush=True)
    if options.write:
        write(made)
    different = changed(made)
    if different:
        print(f"changed: {', '.join(different)}; see `git diff` after --write", file=sys.stderr)
    return int(bool(different) or any(section.faults for section in made))


if __name__ == "__main__":
    sys.exit(main())
