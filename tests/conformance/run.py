"""The whole conformance report: `make conformance`.

Prints a table and fails where anything differs from the committed expectations; `--write` commits to the new ones.
"""

import argparse
import sys
import time
from itertools import chain
from pathlib import Path

from tests.conformance.cases import DRAFTS, bench, data_folder, remotes, suite
from tests.conformance.report import GOLDEN, Report
from tests.conformance.verdicts import ours, theirs


def main() -> int:
    """Exit code 1: something changed; 2: no data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the expectations anew")
    parser.add_argument("--alone", action="store_true", help="without the other validator")
    parser.add_argument("--table", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    folder = data_folder()
    if folder is None:
        print("needs ../shared", file=sys.stderr)
        return 2
    registry, report, begun = remotes(folder), Report(), time.monotonic()
    groups = chain(*(suite(folder, draft) for draft in DRAFTS), bench(folder))
    for number, group in enumerate(groups, 1):
        documents = {} if group.part == "JSONSchemaBench" else registry
        rival = () if options.alone else theirs(group, documents)
        report.add(group, ours(group, documents), rival)
        if number % 500 == 0:
            print(
                f"{number} schemas, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True
            )
    print(report.table())
    if options.table:
        options.table.write_text(report.table() + "\n")
    if options.write:
        GOLDEN.write_text(report.golden())
        return 0
    changed = not GOLDEN.exists() or GOLDEN.read_text() != report.golden()
    if changed:
        print("the expectations have changed: see `git diff` after --write", file=sys.stderr)
    return int(changed)


if __name__ == "__main__":
    sys.exit(main())
