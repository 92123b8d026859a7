"""All measurements of the service that need a GPU, in one call: `python -m tests.bench.measure_service --out FOLDER`.

Each part is a command with a time limit, and a file in FOLDER; one that fails does not keep the others from running.
The first part runs on empty caches of kernels if the machine is new, which is what its first batch then shows.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

HTTP: Final = "tests.bench.bench_http"
PARTS: Final[tuple[tuple[str, int, tuple[str, ...]], ...]] = (
    ("http-0.6b", 420, (HTTP, "--shape", "0.6b")),
    (
        "http-0.6b-second",
        180,
        (HTTP, "--shape", "0.6b", "--only", "http", "--cases", "512 cold, first", "1 cached"),
    ),
    (
        "http-0.6b-8-workers",
        240,
        (HTTP, "--shape", "0.6b", "--only", "http", "--workers", "8", "--loaders", "2"),
    ),
    ("http-8b", 420, (HTTP, "--shape", "8b")),
    ("kill-0.6b", 500, ("tests.bench.kill_engine", "--shape", "0.6b", "--rounds", "20")),
)
"""The name of each part, its limit in seconds, and the module with its options."""


def main() -> int:
    parser = argparse.ArgumentParser(description="The service on a GPU, by parts.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(p[0] for p in PARTS))
    parser.add_argument("--out", type=Path, required=True, help="a folder for the figures")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    failed = []
    for name, seconds, (module, *options) in PARTS:
        if given.parts and name not in given.parts:
            continue
        command = [sys.executable, "-m", module, *options, "--out", str(given.out / f"{name}.json")]
        print("$", *command[1:], flush=True)
        began = time.monotonic()
        try:
            ended = subprocess.run(command, timeout=seconds, check=False).returncode
        except subprocess.TimeoutExpired:
            ended = 124
        print(f"{name}: status {ended} after {time.monotonic() - began:.0f} s", flush=True)
        failed += [name] if ended else []
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
