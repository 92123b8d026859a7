"""Memory of a server's processes over thousands of requests, each with a schema of its own or all with one.

    PYTHONSAFEPATH=1 PYTHONPATH=. python -m tests.bench.bench_memory [--requests 20000] [--schemas distinct|one]
        [--clients 16] [--model FOLDER|small] [--max-tokens 96] [--most-mib 1229] [--json FILE]

Starts `intaglio serve` with its default settings, without a store on disk, and sends small extractions over a real
socket. Every few hundred requests it prints the proportional set size (PSS: resident pages, shared ones split between
those who share them) of the API process, the engine, and the processes that examine schemas, and the bytes of grammars
that `/metrics` tells. Ends with the growth of each from the first answers to the last, its slope in the second half of
the run by linear regression, and what that makes of 20,000 requests; exits with 1 where an engine grew by more than
`--most-mib`. `--model small` is a random model of one layer with the tokens of the embedded one, so that grammars are
most of the work.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
import numpy as np
from intaglio.engine.api import model_folder

from tests.support.distinct_schemas import document, schema
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

MIB: Final = 1 << 20
TARGET: Final = 20_000
WARMING: Final = 32  # answers after which the first sample is taken
FEWEST: Final = 4  # samples of a slope
_READY_S: Final = 600.0
_TEXT_FILES: Final = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
_HELD: Final = re.compile(r"^intaglio_grammar_bytes\{part=\"(\w+)\"\} (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Sample:
    """Memory after so many answers, in MiB; `held`: bytes of grammars by part, as `/metrics` tells them."""

    answers: int
    seconds: float
    api: float
    engine: float
    examiners: float
    held: dict[str, float]


def small_model(folder: Path) -> Path:
    """A random model of one layer with the embedded one's tokens and template."""
    config = json.loads((model_folder(None) / "config.json").read_text())
    sizes = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 1, "head_dim": 32}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
    kept = {k: config[k] for k in ("vocab_size", "eos_token_id", "max_position_embeddings")}
    write_checkpoint(folder, {**QWEN3, **sizes, **heads, **kept})
    for name in _TEXT_FILES:
        shutil.copy(model_folder(None) / name, folder / name)
    return folder


def pss(process: int) -> float:
    """MiB of a process; 0 where it is gone."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(kib) for kib in re.findall(r"^Pss:\s+(\d+)", text, re.MULTILINE)) / 1024


def family(process: int) -> dict[str, list[int]]:
    """The processes of a server: its own, the engine's, and all others below it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            rest = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(int(rest[1]), []).append(int(path.parent.name))
    found: dict[str, list[int]] = {"api": [process], "engine": [], "examiners": []}
    waiting = [process]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            words = Path(f"/proc/{child}/cmdline").read_bytes()
            found["engine" if b"engine.host.process" in words else "examiners"].append(child)
            waiting.append(child)
    return found


class Served:
    """One server, and what is asked of it."""

    def __init__(self, args: argparse.Namespace, http: httpx2.AsyncClient, process: int) -> None:
        self._args = args
        self._http = http
        self._process = process
        self._began = time.perf_counter()
        self.outcomes: Counter[str] = Counter()
        self.samples: list[Sample] = []

    async def run(self) -> None:
        """Send all requests, `clients` at a time; take samples on the way."""
        numbers = iter(range(self._args.requests))
        await asyncio.gather(*(self._client(numbers) for _ in range(self._args.clients)))
        await self._sample()

    async def _client(self, numbers: Any) -> None:
        for number in numbers:
            asked = schema(0 if self._args.schemas == "one" else number + self._args.first)
            body = {
                "schema": asked,
                "text": document(number),
                "options": {"max_tokens": self._args.max_tokens},
            }
            try:
                answer = await self._http.post("/v1/extract", json=body)
            except httpx2.HTTPError as error:
                self.outcomes[type(error).__name__] += 1
                continue
            known = answer.json()
            self.outcomes["ok" if answer.status_code == 200 else known["error"]["code"]] += 1
            answers = self.outcomes.total()
            if answers == WARMING or answers % self._args.every == 0:
                await self._sample()

    async def _sample(self) -> None:
        text = (await self._http.get("/metrics")).text
        sizes = {part: sum(map(pss, them)) for part, them in family(self._process).items()}
        self.samples.append(
            Sample(
                answers=self.outcomes.total(),
                seconds=round(time.perf_counter() - self._began, 1),
                held={part: float(size) / MIB for part, size in _HELD.findall(text)},
                **sizes,
            )
        )
        last = self.samples[-1]
        held = " ".join(f"{part} {size:.0f}" for part, size in last.held.items())
        print(
            f"{last.answers:>8} {last.seconds:>8.0f} s {last.api:>9.0f} {last.engine:>9.0f} "
            f"{last.examiners:>11.0f}   {held}",
            flush=True,
        )


def slope(samples: list[Sample], part: str) -> float | None:
    """MiB for 1,000 requests in the second half of a run, by linear regression; None from too few samples."""
    later = samples[len(samples) // 2 :]
    if len({sample.answers for sample in later}) < FEWEST:
        return None
    at = np.array([sample.answers for sample in later], float)
    sizes = np.array([getattr(sample, part) for sample in later])
    return float(1000 * np.polyfit(at, sizes, 1)[0])


def judge(served: Served, most_mib: float) -> bool:
    """Print what the samples say; whether no engine grew too much, nor would in `TARGET` requests."""
    samples, good = served.samples, True
    print(f"answers: {dict(served.outcomes)}")
    for part in ("api", "engine", "examiners"):
        first, last = getattr(samples[0], part), getattr(samples[-1], part)
        most = max(getattr(sample, part) for sample in samples)
        rise = slope(samples, part)
        ahead = last - first + (rise or 0.0) * max(TARGET - samples[-1].answers, 0) / 1000
        told = (
            "too few samples for a slope"
            if rise is None
            else f"second half {rise:+.1f} MiB for 1,000 requests; after {TARGET} requests {ahead:+.0f} MiB"
        )
        print(
            f"{part}: start {first:.0f} MiB, most {most:.0f}, end {last:.0f} ({last - first:+.0f}); {told}"
        )
        good &= max(most - first, ahead) <= most_mib
    return good


async def drive(args: argparse.Namespace, process: subprocess.Popen[bytes], url: str) -> Served:
    """Wait until the server is ready, then ask."""
    limits = httpx2.Limits(max_connections=args.clients + 2)
    async with httpx2.AsyncClient(base_url=url, timeout=600, limits=limits) as http:
        until = time.monotonic() + _READY_S
        while time.monotonic() < until and process.poll() is None:
            try:
                if (await http.get("/ready")).status_code == 200:
                    break
            except httpx2.HTTPError:
                pass
            await asyncio.sleep(0.5)
        else:
            raise SystemExit("the server did not become ready")
        print(
            f"{'answers':>8} {'time':>10} {'api':>9} {'engine':>9} {'examiners':>11}   held (MiB)"
        )
        served = Served(args, http, process.pid)
        await served.run()
        return served


def _free_port() -> int:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def main() -> int:
    """Serve, ask, print, and judge."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=TARGET)
    parser.add_argument("--schemas", choices=("distinct", "one"), default="distinct")
    parser.add_argument("--first", type=int, default=0, help="number of the first schema")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--model", help="a folder, or small")
    parser.add_argument("--every", type=int, default=250)
    parser.add_argument("--most-mib", type=float, default=1.2 * 1024)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = small_model(Path(scratch)) if args.model == "small" else model_folder(args.model)
        port = _free_port()
        command = [sys.executable, "-P", "-c", "from intaglio.service.cli.main import main; main()"]
        words = ["serve", "--model", str(folder), "--port", str(port), "--log-format", "json"]
        environment = {"INTAGLIO_ENGINE_GRAMMAR_STORE": "off", **os.environ}
        log = Path(scratch) / "log"
        with log.open("wb") as written:
            process = subprocess.Popen([*command, *words], env=environment, stderr=written)
        try:
            served = asyncio.run(drive(args, process, f"http://127.0.0.1:{port}"))
        except BaseException:
            sys.stderr.write(log.read_text()[-4000:])
            raise
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
    if args.json:
        args.json.write_text(json.dumps([asdict(sample) for sample in served.samples], indent=1))
    return 0 if judge(served, args.most_mib) else 1


if __name__ == "__main__":
    raise SystemExit(main())
