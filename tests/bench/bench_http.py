"""Requests per second over HTTP, compared with the engine alone on the same requests in the same run.

    python3 -m tests.bench.bench_http --shape 0.6b|8b [--out FILE]      random weights of a shape, on a GPU
    python3 -m tests.bench.bench_http --shape answering [--out FILE]    an engine that takes no time: the service alone
    python3 -m tests.bench.bench_http --shape answering --pace-ms 1     one that takes a millisecond for each token

`intaglio serve` runs as a process of its own, the load comes from `--loaders` processes (`http_load`), and the engine
alone runs in this one, after the server has ended. The requests are the workload's, with their whole prompts as texts
(1,030 tokens on average with instruction and outline), seeds of their own, temperature 1 and 256 tokens at most. Cold:
texts that were never sent; cached: the same texts again. A burst of 512 is 512 clients with one request each; other
numbers of clients send 512, 128 or 24 requests, each client its next one after an answer. `--engines N` serves by N
engines and sends enough for two at once, over HTTP alone; `--engines 1` gives the figure to compare it with. Every
answer is validated afterwards. Both halves are warmed up alike before: single requests, then twice 64 at once, then
the texts of the cached cases once.
`--shape tiny` runs on a host, to try the script: its figures mean nothing. A lone client over an engine that takes time
finds a service that slept meanwhile, on a core with cold caches: the time outside the engine is longer then.
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema

from tests.bench.processor_time import service_cpu_s

ROOT = Path(__file__).parents[2]
PATIENCE_S = 240.0
ANSWERING = "answering"
CACHED = "cached"  # the salt of texts that are sent again


@dataclass(frozen=True)
class Case:
    """So many clients send so many requests; `runs` times, the median counts. A cold run has texts of its own."""

    name: str
    clients: int
    requests: int
    runs: int = 1
    cold: bool = False


CASES = (
    Case("512 cold, first", 512, 512, cold=True),
    Case("512 cold", 512, 512, cold=True),
    Case("512 cached", 512, 512, runs=3),
    Case("64 cached", 64, 512),
    Case("8 cached", 8, 128),
    Case("1 cached", 1, 24),
)
PRIMING = "not counted"
WARMING = ("warm", "up")
SUSTAINED = (Case("512 sustained", 512, 4096, runs=2), Case("64 sustained", 64, 4096, runs=2))
SEVERAL_ENGINES = (
    Case("1024 sustained, cold", 1024, 2048, cold=True),
    Case("1024 sustained", 1024, 4096),
)


@dataclass(frozen=True)
class Figures:
    """What one case gave: requests a second, latencies in milliseconds, and what was wrong.

    `service_p50_ms`: over HTTP, the median time of a request outside the engine: in client, service and sockets.
    `cpu_us`: processor time of the service's processes for each request, in microseconds.
    """

    case: str
    by: str
    requests_per_s: float
    p50_ms: float
    p99_ms: float
    failed: int = 0
    invalid: int = 0
    service_p50_ms: float = 0.0
    cpu_us: float = 0.0


def figures(
    case: Case, by: str, seconds: float, latencies: Sequence[float], **more: Any
) -> Figures:
    ordered = sorted(latencies) or [0.0]
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    rate = case.requests / seconds
    return Figures(case.name, by, rate, 1e3 * statistics.median(ordered), 1e3 * p99, **more)


def median(runs: list[Figures]) -> Figures:
    return sorted(runs, key=lambda run: run.requests_per_s)[len(runs) // 2]


class Workload:
    """The requests of all cases, as bodies. The texts of a cold run begin with a word of their own."""

    def __init__(self, path: Path, requests: int | None) -> None:
        lines = path.read_text(encoding="utf-8").splitlines()[:requests]
        self.records = [json.loads(line) for line in lines]

    def bodies(self, count: int, salt: str = CACHED) -> list[bytes]:
        return [self._body(number, salt) for number in range(count)]

    def schema(self, number: int) -> Any:
        return self.records[number % len(self.records)]["schema"]

    def _body(self, number: int, salt: str) -> bytes:
        record = self.records[number % len(self.records)]
        options = {"temperature": 1.0, "seed": number, "max_tokens": 256}
        text = f"{salt}\n{record['prompt']}"
        body = {"schema": record["schema"], "text": text, "options": options}
        return json.dumps(body, ensure_ascii=False).encode()


def ask(url: str, body: bytes | None = None) -> Any:
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return json.loads(answer.read())


@contextmanager
def serving(command: list[str], environ: dict[str, str], port: int, log: Path) -> Iterator[str]:
    """A server process until the block ends; its base URL once it is ready."""
    url, began = f"http://127.0.0.1:{port}", time.monotonic()
    with log.open("ab") as sink:
        server = subprocess.Popen(command, env=environ, stdout=sink, stderr=sink, cwd=ROOT)
    try:
        while True:
            if server.poll() is not None or time.monotonic() - began > PATIENCE_S:
                raise RuntimeError(f"the server is not ready:\n{log.read_text()[-4000:]}")
            try:
                ask(f"{url}/ready")
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.05)
        print(f"ready after {time.monotonic() - began:.1f} s", flush=True)
        yield url
    finally:
        server.terminate()
        server.wait(PATIENCE_S)


def load(workload: Workload, case: Case, bodies: list[bytes], port: int, loaders: int) -> Figures:
    """One run of a case over HTTP, from `loaders` processes."""
    loaders = min(loaders, case.clients)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "requests")
        file.write_bytes(b"\n".join(bodies))
        outs = [Path(folder, f"answers-{part}") for part in range(loaders)]
        running = []
        for part, out in enumerate(outs):
            clients = case.clients // loaders + (part < case.clients % loaders)
            words = (file, "127.0.0.1", port, part, loaders, clients, out)
            command = [sys.executable, str(ROOT / "tests/bench/http_load.py"), *map(str, words)]
            pipe = subprocess.PIPE
            running.append(subprocess.Popen(command, stdin=pipe, stdout=pipe))
        for process in running:
            assert process.stdout is not None
            process.stdout.readline()
        began = service_cpu_s()
        for process in running:
            assert process.stdin is not None
            process.stdin.write(b"go\n")
            process.stdin.flush()
        for process in running:
            process.communicate()
        took = service_cpu_s() - began
        found = [json.loads(out.read_text()) for out in outs]
    seconds = max(part["ended"] for part in found) - min(part["began"] for part in found)
    answers = [answer for part in found for answer in part["answers"]]
    good = [answer for answer in answers if answer["status"] == 200]
    invalid = sum(not is_valid(answer["body"], workload.schema(answer["n"])) for answer in good)
    return figures(
        case,
        "HTTP",
        seconds,
        [answer["latency"] for answer in good],
        failed=case.requests - len(good),
        invalid=invalid,
        service_p50_ms=statistics.median([outside_engine_ms(answer) for answer in good] or [0.0]),
        cpu_us=1e6 * took / case.requests,
    )


def outside_engine_ms(answer: Any) -> float:
    """The part of a request's latency that the engine did not spend on it."""
    timings = json.loads(answer["body"])["timings"]
    inside = sum(timings[phase] for phase in ("queue_ms", "prefill_ms", "decode_ms"))
    return 1e3 * float(answer["latency"]) - float(inside)


def is_valid(body: str, schema: Any) -> bool:
    try:
        jsonschema.Draft202012Validator(schema).validate(json.loads(body)["data"])
    except (ValueError, KeyError, jsonschema.ValidationError):
        return False
    return True


def warm_up(workload: Workload, url: str, port: int, loaders: int) -> None:
    """Two requests under every schema, and then many at once, before anything is measured."""
    schemas = [json.dumps(record["schema"], sort_keys=True) for record in workload.records]
    for turn in WARMING:
        for number in sorted(map(schemas.index, set(schemas))):
            ask(f"{url}/v1/extract", workload.bodies(number + 1, turn)[number])
    count = min(64, len(workload.records))
    for turn in WARMING:
        load(workload, Case(turn, count, count), workload.bodies(count, turn), port, loaders)


def over_http(
    workload: Workload, cases: Sequence[Case], port: int, loaders: int
) -> Iterator[Figures]:
    for case in with_priming(cases):
        runs = []
        for run in range(case.runs):
            salt = f"{case.name} {run}" if case.cold else CACHED
            runs.append(load(workload, case, workload.bodies(case.requests, salt), port, loaders))
            print(runs[-1], flush=True)
        if case.name != PRIMING:
            yield median(runs)


def with_priming(cases: Sequence[Case]) -> Iterator[Case]:
    """The cases, and before the first cached one a run of all its texts that does not count."""
    before = True
    for case in cases:
        if before and not case.cold:
            yield replace(case, name=PRIMING, runs=1)
            before = False
        yield case


def alone(workload: Workload, cases: Sequence[Case], folder: Path) -> Iterator[Figures]:
    """All cases on the engine in this process, without a service. It must be alone on its device."""
    from tests.bench.engine_alone import EngineAlone

    engine = EngineAlone(folder)
    for turn in ("warm", "up"):
        engine.run(workload.bodies(min(64, len(workload.records)), turn), 64)
    for case in with_priming(cases):
        runs = []
        for run in range(case.runs):
            salt = f"{case.name} {run}" if case.cold else CACHED
            seconds, latencies = engine.run(workload.bodies(case.requests, salt), case.clients)
            runs.append(figures(case, "engine", seconds, latencies))
            print(runs[-1], flush=True)
        if case.name != PRIMING:
            yield median(runs)


def checkpoint(folder: Path, shape: str, tokenizer: Path) -> None:
    """A folder with a tokenizer and the configuration of a shape; the weights are drawn by the engine."""
    folder.mkdir()
    for file in tokenizer.iterdir():
        shutil.copy(file, folder / file.name)
    if shape != ANSWERING:
        from tests.bench.bench_extract import SHAPES

        (folder / "config.json").write_text(json.dumps(SHAPES[shape]))


def settings(shape: str, workers: int | None, engines: int | None) -> dict[str, str]:
    """The environment of the server and of the engine alone."""
    engine: dict[str, object] = {
        "weights": "random",
        "device": "cpu" if shape == "tiny" else "cuda",
        "max_running": 512,
        "max_batched_tokens": 16384,
        "max_waiting": 8192,
        "grammar_store": "off",
    }
    given = {f"INTAGLIO_ENGINE_{name.upper()}": str(value) for name, value in engine.items()}
    given |= {"INTAGLIO_SERVICE_MAX_REQUESTS": "8192", "INTAGLIO_SERVICE_LOG_FORMAT": "json"}
    if workers is not None:
        given["INTAGLIO_SERVICE_API_WORKERS"] = str(workers)
    if engines is not None:
        given["INTAGLIO_SERVICE_ENGINES"] = str(engines)
    return {**os.environ, **given}


def command_of(
    args: argparse.Namespace, model: Path, port: int, scratch: Path, workload: Workload
) -> list[str]:
    if args.shape != ANSWERING:
        serve = [sys.executable, "-m", "intaglio", "serve", "--model", str(model)]
        return [*serve, "--port", str(port)]
    from tests.bench.prepared_answers import prepare

    answers = scratch / "answers.json"
    schemas = [record["schema"] for record in workload.records]
    answers.write_bytes(prepare(model, schemas, 1e-3 * args.pace_ms))
    given = json.dumps({"port": port, "max_requests": 8192, "api_workers": args.workers or 1})
    module = [sys.executable, "-m", "tests.support.serve_answering"]
    return [*module, str(model), str(answers), given]


def show(found: Sequence[Figures]) -> None:
    by = {(one.case, one.by): one for one in found}
    print(f"{'case':18}{'engine/s':>10}{'HTTP/s':>10}{'share':>8}{'p50 ms':>9}{'p99 ms':>9}  wrong")
    for case in dict.fromkeys(one.case for one in found):
        http, engine = by.get((case, "HTTP")), by.get((case, "engine"))
        rate = "" if engine is None else f"{engine.requests_per_s:.1f}"
        if http is None:
            print(f"{case:18}{rate:>10}")
            continue
        share = "" if engine is None else f"{http.requests_per_s / engine.requests_per_s:.0%}"
        wrong = f"{http.failed} failed, {http.invalid} invalid"
        added = "" if engine is None else f", p50 {http.p50_ms - engine.p50_ms:+.2f} ms"
        added += f", {http.service_p50_ms:.2f} ms outside the engine, {http.cpu_us:.0f} us"
        print(
            f"{case:18}{rate:>10}{http.requests_per_s:>10.1f}{share:>8}"
            f"{http.p50_ms:>9.2f}{http.p99_ms:>9.2f}  {wrong}{added}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--shape", choices=("0.6b", "8b", "tiny", ANSWERING), default="0.6b")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--loaders", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--workers", type=int, help="API processes; default: the service's own")
    parser.add_argument("--pace-ms", type=float, default=0.0, help="a step of `answering`")
    parser.add_argument("--engines", type=int, help="engine processes, each with a device")
    parser.add_argument("--only", choices=("http", "engine"), help="one half of the table")
    parser.add_argument("--cases", nargs="*", help="names of cases")
    parser.add_argument("--requests", type=int, help="only so many requests of the workload")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    workload = Workload(
        args.data / "workloads/extract512.jsonl", 4 if args.shape == "tiny" else args.requests
    )
    cases = [*CASES, *SUSTAINED] if args.shape == ANSWERING else [*CASES]
    if args.shape == "tiny":
        cases = [Case("4 cold", 4, 4, cold=True), Case("4 cached", 4, 4), Case("1 cached", 1, 4)]
    if args.engines is not None:
        args.only, cases = "http", [*SEVERAL_ENGINES]
    cases = [case for case in cases if not args.cases or case.name in args.cases]
    found: list[Figures] = []
    with tempfile.TemporaryDirectory() as temporary:
        for one in measured(args, workload, cases, Path(temporary)):
            found.append(one)
            if args.out:
                write(args, found)
    show(found)


def measured(
    args: argparse.Namespace, workload: Workload, cases: Sequence[Case], scratch: Path
) -> Iterator[Figures]:
    """The figures of all cases, first over HTTP and then of the engine alone."""
    model, environ = scratch / "model", settings(args.shape, args.workers, args.engines)
    checkpoint(model, args.shape, args.data / "tokenizers/qwen")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    if args.only != "engine":
        command = command_of(args, model, port, scratch, workload)
        with serving(command, environ, port, scratch / "log") as url:
            warm_up(workload, url, port, args.loaders)
            print("warm", flush=True)
            yield from over_http(workload, cases, port, args.loaders)
    if args.shape != ANSWERING and args.only != "http":
        os.environ.update(environ)
        yield from alone(workload, cases, model)


def write(args: argparse.Namespace, found: Sequence[Figures]) -> None:
    """Write the figures so far into the file that was asked for."""
    meant = {"shape": args.shape, "commit": args.commit, "cores": os.cpu_count()}
    meant |= {"command": "python -m tests.bench.bench_http " + " ".join(sys.argv[1:])}
    args.out.write_text(
        json.dumps({**meant, "figures": [asdict(one) for one in found]}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
