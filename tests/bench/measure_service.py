"""All measurements of the service that need a GPU, in one call: `python -m tests.bench.measure_service --out FOLDER`.

Each part is a command with a time limit, and a file in FOLDER, which is written as its cases end; a part that fails or
is late does not keep the others from running. The first part runs on empty caches of kernels if the machine is new,
which is what its first batch then shows. `--shape tiny` tries all parts on a host: its figures mean nothing.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True)
class Part:
    """A module of `tests.bench` with its options, and the seconds it may take. `shape` is that of the model."""

    name: str
    limit_s: int
    module: str
    shape: str
    options: tuple[str, ...] = ()


FIRST: Final = ("--only", "http", "--cases", "512 cold, first", "1 cached")
PARTS: Final = (
    Part("http-0.6b", 200, "bench_http", "0.6b"),
    Part("http-8b", 200, "bench_http", "8b"),
    Part("kill-0.6b", 120, "kill_engine", "0.6b", ("--rounds", "5", "--quiet")),
    Part("http-0.6b-second", 60, "bench_http", "0.6b", FIRST),
    Part(
        "http-0.6b-8-workers",
        90,
        "bench_http",
        "0.6b",
        ("--only", "http", "--workers", "8", "--loaders", "2"),
    ),
)


def ended(command: Sequence[str], limit_s: float) -> int:
    """Run a command; its status, 124 if it took longer. A server that it started ends with it."""
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return 124
    finally:
        with contextlib.suppress(ProcessLookupError):  # all of them have ended
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description="The service on a GPU, by parts.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(p.name for p in PARTS))
    parser.add_argument("--out", type=Path, required=True, help="a folder for the figures")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--data", type=Path, help="the folder with workloads and tokenizers")
    parser.add_argument("--shape", help="one shape for all parts")
    given = parser.parse_args()
    unknown = set(given.parts) - {part.name for part in PARTS}
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    given.out.mkdir(parents=True, exist_ok=True)
    failed = []
    for part in PARTS:
        if given.parts and part.name not in given.parts:
            continue
        command = [sys.executable, "-m", f"tests.bench.{part.module}", *part.options]
        command += ["--shape", given.shape or part.shape, "--commit", given.commit]
        if given.data is not None:
            command += ["--data", str(given.data)]
        command += ["--out", str(given.out / f"{part.name}.json")]
        print("$", *command[1:], flush=True)
        began = time.monotonic()
        status = ended(command, part.limit_s)
        print(f"{part.name}: status {status} after {time.monotonic() - began:.0f} s", flush=True)
        failed += [part.name] if status else []
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
