"""One process of a load generator: `python -m intaglio.service.bench`, started by `processes`.

Does: read a plan and a workload as JSON from the first line of standard input, write `ready`, begin at the next line,
and write each outcome as a line of JSON. Does not: print anything else.
"""

import asyncio
import json
import sys
from dataclasses import asdict

from .load_loops import run
from .load_plan import LoadPlan
from .timed_request import TimedRequest
from .workload import LoadTask


def main() -> None:
    """Run one share of a plan."""
    order = json.loads(sys.stdin.readline())
    tasks = tuple(LoadTask(**task) for task in order["tasks"])

    def report(outcome: TimedRequest) -> None:
        sys.stdout.write(json.dumps(asdict(outcome)) + "\n")

    def begin() -> None:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()

    asyncio.run(run(LoadPlan(**order["plan"]), tasks, report, key=order["key"], begin=begin))


if __name__ == "__main__":
    main()
