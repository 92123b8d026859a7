"""Throughput of jobs compared with direct calls of the same engine, and the memory of large jobs.

Run: `python -m tests.bench.bench_jobs [--rows 20000] [--model-rows 200]`. One table: rows a second of a job through the
embedded model and of `LLM.extract_many` over the same texts in the same process, and, with a scripted extractor, rows a
second and peak memory for CSV and XML of a tenth and of all rows. Nothing is compared with a bound.
"""

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from intaglio import LLM
from intaglio.schemas import catalogue
from intaglio.schemas.jobs import JobSpec, Source
from intaglio.service.jobs.backends import LocalBackend
from intaglio.service.jobs.ingest import source_fingerprint
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.publish import publish
from rich.console import Console
from rich.table import Table

from tests.service.jobs.test_kill import begin
from tests.support.scripted_extracting import Scripted


def against_direct(count: int, rounds: int = 3) -> list[tuple[str, str]]:
    """A job and direct calls over the same texts, in turns. CPU time of the process: others' work shifts it little."""
    name = "contact"
    entry = catalogue.get(name)
    texts = [f"{entry.sample}\nNo. {n}" for n in range(count)]
    spent = {"direct": 0.0, "job": 0.0}
    steps = {"direct": 0, "job": 0}
    with tempfile.TemporaryDirectory() as folder, LLM() as llm:
        path = Path(folder, "in.jsonl")
        path.write_text("\n".join(json.dumps({"t": text}) for text in texts))
        spec = JobSpec(schema=name, source=Source(path=str(path), text="t"))

        def direct(_: int) -> list[Any]:
            return [one.data for one in llm.extract_many(name, texts, max_tokens=60)]

        def job(number: int) -> list[Any]:
            ledger = Ledger(str(Path(folder, f"{number}.db")))
            ledger.create("job", spec, "d", source_fingerprint(path), llm.info.model)
            Runner(ledger, "job", LocalBackend(llm, {"max_tokens": 60}, at_once=512)).run()
            found = [row.data for row in ledger.rows("job").results()]
            ledger.close()
            return found

        llm.extract_many(name, texts[:4], max_tokens=60)
        results = []
        for number in range(rounds):
            for kind, call in (("direct", direct), ("job", job)):
                before, began = llm._engine.metrics().steps, time.process_time()
                results.append(call(number))
                spent[kind] += time.process_time() - began
                steps[kind] += llm._engine.metrics().steps - before
    return [
        (
            f"direct, {rounds} x {count} rows",
            f"{spent['direct']:.2f} s CPU, {steps['direct']} steps",
        ),
        (f"job, {rounds} x {count} rows", f"{spent['job']:.2f} s CPU, {steps['job']} steps"),
        ("throughput of the job / direct", f"{spent['direct'] / spent['job']:.3f}"),
        ("same results", str(all(one == results[0] for one in results))),
    ]


def _scripted(folder: str, count: int, form: str, told: Any) -> None:
    place = begin(Path(folder, form, str(count)), count, form)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ledger = Ledger(str(place / "jobs.db"))
    began = time.perf_counter()
    Runner(ledger, "job", Scripted(at_once=64)).run()
    ran = time.perf_counter() - began
    publish(ledger, "job")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told.send((count / ran, time.perf_counter() - began - ran, peak / 1024, before / 1024))


def scripted(count: int) -> list[tuple[str, str]]:
    """Speed and memory of the job itself, each size in a process of its own."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for form in ("csv", "xml"):
            for size in (count // 10, count):
                ours, theirs = multiprocessing.Pipe()
                process = multiprocessing.get_context("spawn").Process(
                    target=_scripted, args=(folder, size, form, theirs)
                )
                process.start()
                speed, write_s, peak, before = ours.recv()
                process.join()
                told = f"{speed:,.0f} rows/s, outputs {write_s:.1f} s, peak {peak:.0f} MiB ({before:.0f} before)"
                rows.append((f"{form}, {size:,} rows, scripted", told))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--model-rows", type=int, default=64)
    asked = parser.parse_args()
    table = Table("what", "figure", title="bulk jobs")
    for row in scripted(asked.rows) + against_direct(asked.model_rows):
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
