"""`kill -9` of the engine under full load, again and again: every request must be answered as if nothing had happened.

    python -m tests.bench.kill_engine --out FILE                              (a tiny model, on a CPU)
    python -m tests.bench.kill_engine --shape 0.6b --engines 1 --out FILE      (random weights, for a GPU)

Starts `intaglio serve` as a user would and sends `--requests` extractions at once, an eighth of them streamed. The
first two rounds are not disturbed: their answers are the reference, and whether they are equal tells whether a
difference later on means anything. In every other round the process of one engine is killed at a random moment while it
computes.

Each request must end with status 200 and the reference's data, or, if it is streamed and something was delivered, with
an error event that is retryable; then it is sent once more, and must be answered. The time to ready is from the kill
until all engines are ready; the seconds of the parts of its start are those that the new engine states.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import httpx2
import torch
from intaglio.engine.api import model_folder
from jsonschema import Draft202012Validator

from tests.bench.bench_extract import SHAPES
from tests.bench.bench_start import checkpoint
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 8, "maxLength": 24},
        "kind": {"enum": ["bug", "wish", "question"]},
        "votes": {"type": "integer", "minimum": 0, "maximum": 99999},
        "tags": {
            "type": "array",
            "items": {"type": "string", "minLength": 2, "maxLength": 8},
            "minItems": 2,
            "maxItems": 4,
        },
    },
    "required": ["title", "kind", "votes", "tags"],
    "additionalProperties": False,
}
PATIENCE_S = 600.0
UNDISTURBED = 2
FINE = {"answered", "stream ended, retryable", "sent again: answered"}
STREAMED = 8
"""One of so many requests is streamed."""


@dataclass(frozen=True)
class Ended:
    """How a request ended: its status, what it said, and whether it was streamed. `code` is that of an error."""

    status: int
    data: str
    streamed: bool
    code: str = ""
    retryable: bool = False


@dataclass
class Round:
    """One round: the ends of its requests, and the seconds that it and the engine's return took."""

    seconds: float
    ends: list[Ended]
    killed_after_s: float | None = None
    ready_again_s: float | None = None
    start_s: dict[str, float] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)

    def judge(self, reference: list[str], again: dict[int, Ended]) -> None:
        """Count the ends. `again`: those of the second attempts. What is not among `FINE` must not happen."""
        for number, (end, expected) in enumerate(zip(self.ends, reference, strict=True)):
            if number in again:
                second = again[number]
                self.seen["sent again: " + _answered(second, expected)] += 1
            if end.status == 200 and not end.code:
                self.seen[_answered(end, expected)] += 1
            elif end.streamed and end.status == 200 and end.retryable:
                self.seen["stream ended, retryable"] += 1
            else:
                self.seen[f"status {end.status} {end.code}"] += 1


def _answered(end: Ended, expected: str) -> str:
    """In a word whether a request was answered, and as in the reference."""
    if end.status != 200 or end.code:
        return f"status {end.status} {end.code}"
    if not Draft202012Validator(SCHEMA).is_valid(json.loads(end.data)):
        return "answered wrongly"
    return "answered" if end.data == expected else "answered differently"


@contextmanager
def served(
    model: Path, engines: int, settings: dict[str, str], log: IO[bytes] | None = None
) -> Iterator[str]:
    """The address of a server that is ready; it logs to `log`. Raises `RuntimeError` if it ends before."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "intaglio", "serve", "--port", str(port)]
    command += ["--model", str(model), "--engines", str(engines), "--log-format", "json"]
    with subprocess.Popen(command, env={**os.environ, **settings}, stderr=log) as server:
        url = f"http://127.0.0.1:{port}"
        try:
            while not is_ready(url):
                if server.poll() is not None:
                    raise RuntimeError(f"the server ended with status {server.returncode}")
                time.sleep(0.1)
            yield url
        finally:
            server.send_signal(signal.SIGTERM)


async def one(client: httpx2.AsyncClient, number: int, streamed: bool | None = None) -> Ended:
    """One extraction; every second one samples. `streamed`: by default one of `STREAMED` is."""
    options = {"seed": number, "temperature": 0.8 if number % 2 else 0.0}
    text = f"Ticket {number}: the printer on floor {number % 7} is on fire again."
    body: dict[str, Any] = {"schema": SCHEMA, "text": text, "options": options}
    if streamed is None:
        streamed = number % STREAMED == 0
    if not streamed:
        answer = await client.post("/v1/extract", json=body)
        document = answer.json()
        error = document.get("error", {})
        data = json.dumps(document.get("data"))
        return Ended(answer.status_code, data, streamed, error.get("code", ""))
    last: dict[str, Any] = {}
    data = ""
    call = client.stream("POST", "/v1/extract", json={**body, "stream": True})
    async with call as answer:
        if answer.status_code != 200:
            last = json.loads(await answer.aread())
        async for line in answer.aiter_lines():
            if line.startswith("data: ") and line != "data: [DONE]":
                last = json.loads(line.removeprefix("data: "))
                if last["type"] == "object.completed":
                    data = json.dumps(last["result"]["data"])
    error = last.get("error", {})
    retryable = bool(error.get("retryable"))
    return Ended(answer.status_code, data, streamed, error.get("code", ""), retryable)


def is_ready(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/ready").status_code == 200
    except httpx2.TransportError:
        return False


async def kill(client: httpx2.AsyncClient, dice: random.Random, span: float, this: Round) -> None:
    """Kill an engine at work, and write down in `this` when it was and when the server was ready again."""
    began = time.perf_counter()
    await asyncio.sleep(dice.uniform(0.0, span))
    while True:
        state = (await client.get("/v1/engine/state")).json()
        serving = [one for one in state["engines"] if one["state"] == "ready"]
        pids = [one["facts"]["pid"] for one in serving if one["queue"]["running"]]
        if pids:
            break
        await asyncio.sleep(0.01)
    victim = dice.choice(pids)
    os.kill(victim, signal.SIGKILL)
    killed = time.perf_counter()
    this.killed_after_s = killed - began
    before = {one["facts"]["pid"] for one in serving}
    while (facts := await complete(client, without=victim)) is None:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    this.ready_again_s = time.perf_counter() - killed
    this.start_s = next(one["start_seconds"] for one in facts if one["pid"] not in before)


async def complete(client: httpx2.AsyncClient, without: int) -> list[dict[str, Any]] | None:
    """The facts of all engines if they are ready, and none of them is the process `without`."""
    engines = (await client.get("/v1/engine/state")).json()["engines"]
    facts = [one["facts"] for one in engines if one["state"] == "ready"]
    return None if len(facts) < len(engines) or without in [one["pid"] for one in facts] else facts


async def measure(
    url: str, requests: int, rounds: int, seed: int, after: Callable[[list[Round]], None]
) -> list[Round]:
    """All rounds; `after` is called with those so far at the end of each."""
    dice, found = random.Random(seed), list[Round]()
    # No connection is used twice: one that the server closes for idleness at that moment would look like a failure.
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
    async with (
        httpx2.AsyncClient(base_url=url, timeout=PATIENCE_S, limits=limits) as client,
        httpx2.AsyncClient(base_url=url, timeout=PATIENCE_S) as watcher,
    ):
        await one(client, 1)
        for number in range(UNDISTURBED + rounds):
            began = time.perf_counter()
            work = asyncio.gather(*(one(client, n) for n in range(requests)))
            this, killing = Round(0.0, []), None
            if number >= UNDISTURBED:
                span = min(one.seconds for one in found) * 0.5
                killing = asyncio.create_task(kill(watcher, dice, span, this))
            this.ends = await work
            this.seconds = time.perf_counter() - began
            if killing is not None:
                await killing
            broken = [n for n, end in enumerate(this.ends) if end.streamed and end.retryable]
            again = await asyncio.gather(*(one(client, n) for n in broken))
            reference = (found[0] if found else this).ends
            this.judge([end.data for end in reference], dict(zip(broken, again, strict=True)))
            print(f"round {number}: {this.seconds:.1f} s, {dict(this.seen)}", end="")
            print(f", ready after {this.ready_again_s or 0.0:.2f} s", flush=True)
            found.append(this)
            after(found)
    return found


def report(found: list[Round]) -> dict[str, Any]:
    disturbed = found[UNDISTURBED:]
    back = sorted(this.ready_again_s or 0.0 for this in disturbed)
    total: Counter[str] = Counter()
    for this in disturbed:
        total.update(this.seen)
    if not disturbed:
        return {"undisturbed": [{"seconds": r.seconds, **r.seen} for r in found]}
    return {
        "undisturbed": [{"seconds": r.seconds, **r.seen} for r in found[:UNDISTURBED]],
        "kills": len(disturbed),
        "ends": dict(total),
        "ready_again_s": {
            "median": back[len(back) // 2],
            "most": back[-1],
            "all": [round(seconds, 3) for seconds in back],
        },
        "rounds": [
            {
                "killed_after_s": round(this.killed_after_s or 0.0, 3),
                "seconds": round(this.seconds, 3),
                "ready_again_s": round(this.ready_again_s or 0.0, 3),
                "start_s": this.start_s,
                **this.seen,
            }
            for this in disturbed
        ],
    }


def failures(found: list[Round]) -> int:
    """The number of requests that ended as none may."""
    return sum(
        count for this in found[UNDISTURBED:] for end, count in this.seen.items() if end not in FINE
    )


def model_of(shape: str, tokenizer: Path | None, folder: Path) -> Path:
    """A checkpoint of random weights; "embedded" is the model in the package."""
    if shape == "embedded":
        return Path(model_folder(None))
    if shape == "tiny":
        return write_checkpoint(folder / "tiny", {**LLAMA, "max_position_embeddings": 2048})
    checkpoint(folder / shape, shape, tokenizer or Path(model_folder(None)))
    return folder / shape


def main() -> int:
    parser = argparse.ArgumentParser(description="Kills engines under load.")
    parser.add_argument("--shape", choices=[*SHAPES, "embedded"], default="tiny")
    parser.add_argument("--tokenizer", type=Path, help="folder with a tokenizer and template")
    parser.add_argument("--data", type=Path, help="folder with tokenizers, in place of --tokenizer")
    parser.add_argument("--requests", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--engines", type=int, default=1)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--set", nargs="*", default=[], help="variables of the server, NAME=value")
    parser.add_argument("--quiet", action="store_true", help="the server logs only warnings")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    tokenizer = given.data / "tokenizers/qwen" if given.data else given.tokenizer
    scratch = Path(tempfile.mkdtemp())
    try:
        model = model_of(given.shape, tokenizer, scratch)
        settings = dict(pair.split("=", 1) for pair in given.set)
        settings.setdefault("INTAGLIO_SERVICE_MAX_REQUESTS", str(given.requests))
        if given.quiet:
            settings["INTAGLIO_SERVICE_LOG_LEVEL"] = "warning"
        keep = partial(write, given)
        with served(model, given.engines, settings) as url:
            found = asyncio.run(measure(url, given.requests, given.rounds, given.seed, keep))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    figures = report(found)
    print(json.dumps({key: value for key, value in figures.items() if key != "rounds"}, indent=1))
    return 1 if failures(found) else 0


def write(given: argparse.Namespace, found: list[Round]) -> None:
    """Write the figures of the rounds so far into the file that was asked for."""
    if not given.out:
        return
    about = {
        "command": f"python -m tests.bench.kill_engine --shape {given.shape} --rounds {given.rounds}",
        "commit": given.commit,
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine(),
        "model": given.shape,
        "requests": given.requests,
        "streamed": len(range(0, given.requests, STREAMED)),
        "engines": given.engines,
    }
    given.out.write_text(json.dumps({**about, **report(found)}, indent=1) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
