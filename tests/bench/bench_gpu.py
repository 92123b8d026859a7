"""Everything that is promised of a GPU, measured by one command and held against its target.

    python -m tests.bench.bench_gpu [--data ../shared/data] [--out FOLDER] [--seconds 470] [--only NAME ...]
    python -m tests.bench.bench_gpu --tiny     (on a host: tries the script; the figures mean nothing)

Runs the benchmarks and the tests for GPUs one after the other, each a process of its own, the most telling first; what
does not fit into `--seconds` is left out and said so. Kernels are compiled into a folder that is empty at first, so the
first engine starts cold and the next ones warm. Writes `gpu-DATE.json` (every part's own file beside it) and prints
the table of targets.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
ENGINE_TESTS = "tests/gpu/test_engine.py"
OPEN_SCHEMAS = 6889  # of JSONSchemaBench, 5,966 of them with instances
SUMMARY = " SUMMARY: "  # in the line that says what a checker found
Found = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """One process. `{out}` in its command is the file it writes; `seconds` is the most it may take."""

    name: str
    command: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Target:
    """One promise: at least (or, if `most`, at most) `bound`; `measured` is None where its part did not run."""

    what: str
    bound: float
    measured: float | None
    most: bool = False

    @property
    def verdict(self) -> str:
        if self.measured is None:
            return "not measured"
        met = self.measured <= self.bound if self.most else self.measured >= self.bound
        return "met" if met else "missed"


def parts(data: Path, *, tiny: bool) -> list[Part]:
    """What is run, in this order."""
    python = (sys.executable, "-W", "ignore", "-m")
    files: tuple[str, ...] = ("--tokenizer", str(data / "tokenizers/qwen"))
    files += ("--workload", str(data / "workloads/extract512.jsonl"), "--out", "{out}")
    extract = (*python, "tests.bench.bench_extract", *files)
    if tiny:
        return [Part("extract-8b", (*extract, "--shape", "tiny", "--decode", "1", "4"), 300)]
    suite = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:benchmark")
    return [
        Part("start-cold", (*extract, "--shape", "8b", "--decode", "--runs"), 130),
        Part("extract-8b", (*extract, "--shape", "8b", "--idle"), 170),
        Part("extract-0.6b", (*extract, "--shape", "0.6b", "--idle"), 110),
        Part(
            "extract-0.6b-host",
            (*extract, "--shape", "0.6b", "--runs", "--set", "grammar_device=off"),
            60,
        ),
        Part("walk", (*python, "tests.bench.bench_grammar_walk", "--out", "{out}"), 60),
        Part("pick", (*python, "tests.bench.bench_pick", "--short", "--out", "{out}"), 90),
        Part("kernels", (*python, "tests.bench.bench_kernels", "--quick", "--out", "{out}"), 100),
        Part("masks", (*python, "tests.gpu.compare_grammars", "--seconds", "130"), 150),
        Part("tests-engine", (*suite, "-n", "0", ENGINE_TESTS), 200),
        # Nearly all of their time is the compiler's, for hundreds of variants.
        Part("tests-kernels", (*suite, "-n", "12", "tests/gpu", "--ignore", ENGINE_TESTS), 200),
        Part("memcheck", _sanitizer("memcheck", suite), 150),
        Part("racecheck", _sanitizer("racecheck", suite), 150),
    ]


def _sanitizer(tool: str, suite: tuple[str, ...]) -> tuple[str, ...]:
    """A small case of every kernel under the vendor's checker."""
    found = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    tests = ("-o", "timeout=0", "tests/kernels/test_every_kernel.py")
    # Not in the compilers that the tests start.
    how = ("--target-processes", "application-only", "--error-exitcode", "1")
    return (found, "--tool", tool, *how, *suite, "-n", "0", *tests)


def run(part: Part, folder: Path, left: float) -> dict[str, Any]:
    """The part's own figures, and how it went: exit status, seconds, the end of what it said."""
    out = folder / f"{part.name}.json"
    command = [word.replace("{out}", str(out)) for word in part.command]
    if left < 20 or not Path(command[0]).exists():
        return {"left_out": "no time is left" if left < 20 else f"there is no {command[0]}"}
    found_at = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=min(part.seconds, left),
            env=os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), *found_at))},
        )
        status, said = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, said = 124, (late.stdout or b"").decode(errors="replace")
    (folder / f"{part.name}.log").write_text(said, encoding="utf-8")
    result = {"status": status, "seconds": time.monotonic() - began, "said": said[-1500:]}
    if summaries := [line for line in said.splitlines() if SUMMARY in line]:
        result["summaries"] = summaries
    figures = _json(out.read_text(encoding="utf-8")) if out.exists() else _json(said)
    return result | ({"figures": figures} if figures is not None else {})


def _json(text: str) -> Any:
    """The JSON document of a file, or of the last line of an output."""
    for candidate in (text, text.strip().rpartition("\n")[2]):
        try:
            return json.loads(candidate)
        except json.JSONDecodeError:
            continue
    return None


def dig(found: Found, *path: object) -> Any:
    """A value deep within, or None where anything on the way is missing."""
    value: Any = found
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def row_of(table: Any, column: str, /, **wanted: object) -> float | None:
    """A column of the first row that has these values."""
    for row in table or ():
        if all(row.get(key) == value for key, value in wanted.items()):
            return float(row[column])
    return None


def share(a: Any, b: Any) -> float | None:
    """a / b where both are there."""
    return float(a) / float(b) if a is not None and b else None


def decode_targets(found: Found) -> Iterator[Target]:
    """Steps against the floor and against free ones, and how idle the GPU is."""
    floors = {"8b": {1: 0.85, 64: 0.82, 512: 0.72}, "0.6b": {1: 0.42, 64: 0.70, 512: 0.88}}
    for shape, bounds in floors.items():
        decode = dig(found, f"extract-{shape}", "figures", "decode") or {}
        for count, bound in bounds.items():
            step = decode.get(f"schema-{count}", {})
            measured = share(step.get("floor_ms"), step.get("token_ms"))
            yield Target(
                f"{shape}: share of the floor, constrained, batch {count}", bound, measured
            )
        for count in (1, 64, 256, 512):
            free = dig(decode, f"free-{count}", "token_ms")
            for kind in ("schema", "different"):
                ratio = share(dig(decode, f"{kind}-{count}", "token_ms"), free)
                yield Target(f"{shape}: {kind} / free, batch {count}", 1.02, ratio, most=True)
        idle = dig(found, f"extract-{shape}", "figures", "idle") or {}
        for name, one in idle.items():
            yield Target(f"{shape}: GPU idle, {name}", 0.03, one["idle"], most=True)


def workload_targets(found: Found) -> Iterator[Target]:
    """The 512 requests at once, and the start."""
    rates = {"8b": (85, 180), "0.6b": (400, 500)}
    for shape, (cold, warm) in rates.items():
        runs = dig(found, f"extract-{shape}", "figures", "workload") or {}
        for name, bound in (("schema-cold", cold), ("schema-warm", warm)):
            measured = dig(runs, name, "requests_per_s")
            yield Target(f"{shape}: requests/s, {name}", bound, measured)
            yield Target(f"{shape}: valid outputs, {name}", 512, dig(runs, name, "valid"))
    for name, bound in (("start-cold", 25), ("extract-8b", 8)):
        measured = dig(found, name, "figures", "start_s")
        yield Target(f"8b: seconds to ready, {name}", bound, measured, most=True)


def kernel_targets(found: Found) -> Iterator[Target]:
    """Kernels by themselves."""
    figures = dig(found, "kernels", "figures", "figures")
    prompt = {"model": "Llama-3.1-8B", "kernel": "prompt", "rows": 8192}
    least, took = row_of(figures, "floor_us", **prompt), row_of(figures, "us", **prompt)
    yield Target("8b: prompt of 8k tokens, share of the peak product", 0.60, share(least, took))
    walks = dig(found, "walk", "figures", "rows")
    a_walk = row_of(walks, "us_a_sequence", places="any place", batch=256)
    yield Target("walk: us a sequence at batch 256", 1.0, a_walk, most=True)
    step = dig(found, "extract-8b", "figures", "decode", "schema-256", "step_ms")
    part = None if a_walk is None else share(a_walk * 256 / 1e3, step)
    yield Target("walk: share of the 8b step at batch 256", 0.02, part, most=True)
    picks = dig(found, "pick", "figures", "rows")
    for dtype in ("bf16", "fp32"):
        for kind, bound in (("draw", 1.25), ("k50,p.95", 3.0), ("p.95", 3.0)):
            ratio = row_of(picks, "ratio", dtype=dtype, batch=256, mask="half", kind=kind)
            yield Target(f"pick: {dtype}, {kind}, times the floor", bound, ratio, most=True)


def check_targets(found: Found) -> Iterator[Target]:
    """What passes or does not."""
    for name in ("tests-engine", "tests-kernels", "memcheck", "racecheck"):
        status = dig(found, name, "status")
        yield Target(f"{name}: exit status", 0, status, most=True)
    counts = dig(found, "masks", "figures", "counts")
    wrong = None if counts is None else counts.get("differences", 0)
    yield Target("masks of host and device that differ", 0, wrong, most=True)
    covered = None if counts is None else counts.get("schemas covered", 0)
    yield Target("masks: schemas covered, each in both forms", OPEN_SCHEMAS, covered)


def targets(found: Found) -> list[Target]:
    """All promises, with what was measured."""
    sections = (decode_targets, workload_targets, kernel_targets, check_targets)
    return [target for section in sections for target in section(found)]


def show(lines: list[Target]) -> None:
    table = Table(title="What is promised of a GPU")
    for column in ("promise", "bound", "measured", "verdict"):
        table.add_column(column, justify="left" if column == "promise" else "right")
    for line in lines:
        measured = "" if line.measured is None else f"{line.measured:.3f}"
        bound = f"{'<=' if line.most else '>='} {line.bound:g}"
        table.add_row(line.what, bound, measured, line.verdict)
    Console(width=110).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / "tests/bench/results")
    parser.add_argument("--seconds", type=float, default=470)
    parser.add_argument("--only", nargs="*", help="names of parts")
    parser.add_argument("--before", type=Path, help="a result, whose other parts are kept")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    until = time.monotonic() + args.seconds
    date = datetime.now(UTC).date().isoformat()
    folder = args.out.resolve() / f"gpu-{date}"
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = json.loads(args.before.read_text())["parts"] if args.before else {}
    with tempfile.TemporaryDirectory() as compiled:
        os.environ["TRITON_CACHE_DIR"] = compiled
        for part in parts(args.data.resolve(), tiny=args.tiny):
            if args.only and part.name not in args.only:
                continue
            found[part.name] = run(part, folder, until - time.monotonic())
            one = {k: v for k, v in found[part.name].items() if k not in ("said", "figures")}
            print(part.name, json.dumps(one), flush=True)
            whole = {
                "date": date,
                "commit": args.commit,
                "command": "python -m tests.bench.bench_gpu " + " ".join(sys.argv[1:]),
                "targets": [asdict(t) | {"verdict": t.verdict} for t in targets(found)],
                "parts": found,
            }
            file = args.out / f"gpu-{date}.json"
            file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    show(targets(found))


if __name__ == "__main__":
    main()
