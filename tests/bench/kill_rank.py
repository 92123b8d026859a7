"""Kills one process of an engine in several: how every request ends, how soon, and what is left over.

    python -m tests.bench.kill_rank --ranks 2 --stages 1 --rounds 12 --out FILE

Starts `intaglio serve --tp N --pp N` as a user would and sends extractions at once, an eighth of them streamed (see
`kill_engine`). The first two rounds are not disturbed. In the others one process is killed with SIGKILL while the
engine computes: in turn each of the other ranks and the engine's own process, which is rank 0.

Times are from the kill: until the server has noticed, until the engine is ready again, and until every request of the
round has ended, answered or by a retryable error. Process groups tell what is left over: every process of an engine
leads one of its own, so a group of a killed engine that has a member is an orphan. At the end the server itself is
killed, and no group of any process that ran may be left.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import psutil
from intaglio.engine.api import model_folder

from .kill_engine import FINE, UNDISTURBED, Round, complete, one, served

PATIENCE_S = 300.0


@dataclass
class Disturbed(Round):
    """A round with a kill. Seconds are from the kill; `orphans` are process groups of the killed engine."""

    victim: str = ""
    noticed_s: float = 0.0
    ended_s: float = 0.0
    orphans: int = 0
    load: float = 0.0


def computing(server: psutil.Process) -> dict[str, list[psutil.Process]]:
    """The processes that compute: "engine", and "rank" for those of its other ranks."""
    found: dict[str, list[psutil.Process]] = {"engine": [], "rank": []}
    for child in server.children(recursive=True):
        try:
            command = " ".join(child.cmdline())
        except psutil.Error:
            continue
        if "ranks.rank_process" in command:
            found["rank"].append(child)
        elif "host.process" in command:
            found["engine"].append(child)
    return found


def members(groups: set[int]) -> list[int]:
    """The running processes of these process groups."""
    found = []
    for process in psutil.process_iter():
        try:
            inside = os.getpgid(process.pid) in groups
            if inside and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (ProcessLookupError, psutil.Error):
            continue
    return found


async def kill(
    client: httpx2.AsyncClient, server: psutil.Process, victim: int, delay_s: float, this: Disturbed
) -> float:
    """Kill rank `victim` of the engine at work; note in `this` what followed. The time of the kill."""
    await asyncio.sleep(delay_s)
    while True:
        (engine,) = (await client.get("/v1/engine/state")).json()["engines"]
        if engine["state"] == "ready" and engine["queue"]["running"]:
            break
        await asyncio.sleep(0.01)
    pid = engine["facts"]["pid"]
    group = [psutil.Process(pid), *psutil.Process(pid).children()]
    ranks = [each for each in group if "ranks.rank_process" in " ".join(each.cmdline())]
    groups = {os.getpgid(each.pid) for each in group}
    this.load = os.getloadavg()[0]
    # Ranks are started in the order of their numbers.
    ranks.sort(key=lambda each: each.create_time())
    os.kill(pid if victim == 0 else ranks[victim - 1].pid, signal.SIGKILL)
    killed = time.perf_counter()
    while (await client.get("/ready")).status_code == 200:  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    this.noticed_s = time.perf_counter() - killed
    while (facts := await complete(client, without=pid)) is None:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    this.ready_again_s = time.perf_counter() - killed
    this.start_s = facts[0]["start_seconds"]
    this.orphans = len(members(groups))
    return killed


async def measure(
    url: str, server: psutil.Process, ranks: int, requests: int, rounds: int, pause_s: float
) -> list[Round]:
    """All rounds. Before each kill there is a pause, in which the processes that stand by get ready."""
    dice, found = random.Random(17), list[Round]()
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
    async with (
        httpx2.AsyncClient(base_url=url, timeout=PATIENCE_S, limits=limits) as client,
        httpx2.AsyncClient(base_url=url, timeout=PATIENCE_S) as watcher,
    ):
        await one(client, 1)
        for number in range(UNDISTURBED + rounds):
            if number >= UNDISTURBED:
                await asyncio.sleep(pause_s)
            began = time.perf_counter()
            work = asyncio.gather(*(one(client, n) for n in range(requests)))
            if number < UNDISTURBED:
                this = Round(0.0, await work)
                this.seconds = time.perf_counter() - began
            else:
                victim = (number + 1 - UNDISTURBED) % ranks
                this = Disturbed(0.0, [], victim=f"rank {victim}" if victim else "engine")
                delay = dice.uniform(0.0, 0.5 * min(each.seconds for each in found))
                killing = asyncio.create_task(kill(watcher, server, victim, delay, this))
                this.ends = await work
                ended = time.perf_counter()
                this.ended_s = ended - await killing
                this.seconds = ended - began
            broken = [n for n, end in enumerate(this.ends) if end.streamed and end.retryable]
            again = await asyncio.gather(*(one(client, n) for n in broken))
            reference = (found[0] if found else this).ends
            this.judge([end.data for end in reference], dict(zip(broken, again, strict=True)))
            print(f"round {number}: {_line(this)}", flush=True)
            found.append(this)
    return found


def _line(this: Round) -> str:
    if not isinstance(this, Disturbed):
        return f"{this.seconds:.2f} s undisturbed, {dict(this.seen)}"
    return (
        f"{this.victim} killed, noticed {this.noticed_s:.2f} s, ready {this.ready_again_s:.2f} s, all ended "
        f"{this.ended_s:.2f} s, orphans {this.orphans}, load {this.load:.1f}, {dict(this.seen)}, {this.start_s}"
    )


def spread(seconds: list[float]) -> dict[str, float]:
    """Median and largest."""
    return {"median": round(median(seconds), 2), "most": round(max(seconds), 2)}


def report(found: list[Round], left_over: int) -> dict[str, Any]:
    """The figures of all rounds."""
    disturbed = [each for each in found if isinstance(each, Disturbed)]
    return {
        "undisturbed_s": [round(each.seconds, 2) for each in found[:UNDISTURBED]],
        "kills": len(disturbed),
        "noticed_s": spread([each.noticed_s for each in disturbed]),
        "ready_again_s": spread([each.ready_again_s or 0.0 for each in disturbed]),
        "all_requests_ended_s": spread([each.ended_s for each in disturbed]),
        "load_average": spread([each.load for each in disturbed]),
        "orphans": sum(each.orphans for each in disturbed),
        "left_after_the_server_was_killed": left_over,
        "rounds": [
            {
                "victim": each.victim,
                "noticed_s": round(each.noticed_s, 3),
                "ready_again_s": round(each.ready_again_s or 0.0, 3),
                "all_requests_ended_s": round(each.ended_s, 3),
                "load_average": round(each.load, 1),
                "start_s": each.start_s,
                **each.seen,
            }
            for each in disturbed
        ],
    }


def killed_server(server: psutil.Process) -> int:
    """Kill the server; the number of processes of its engine that are left when all had time to end."""
    running = computing(server)
    processes = [*running["engine"], *running["rank"]]
    groups = {os.getpgid(each.pid) for each in processes}
    server.kill()
    psutil.wait_procs(processes, timeout=10)
    return len(members(groups))


def main() -> int:
    parser = argparse.ArgumentParser(description="Kills processes of an engine in several.")
    parser.add_argument("--ranks", type=int, default=2, help="ranks of each stage")
    parser.add_argument("--stages", type=int, default=1)
    parser.add_argument("--requests", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--pause", type=float, default=15.0, help="seconds before each kill")
    parser.add_argument("--set", nargs="*", default=[], help="variables of the server, NAME=value")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    settings = dict(pair.split("=", 1) for pair in given.set)
    settings |= {
        "INTAGLIO_ENGINE_TP": str(given.ranks),
        "INTAGLIO_ENGINE_PP": str(given.stages),
        "INTAGLIO_ENGINE_TP_ANY_SIZE": "true",
        "INTAGLIO_SERVICE_LOG_LEVEL": "warning",
    }
    with served(Path(model_folder(None)), 1, settings) as url:
        (server,) = (
            each for each in psutil.Process().children() if "serve" in " ".join(each.cmdline())
        )
        ranks = given.ranks * given.stages
        found = asyncio.run(measure(url, server, ranks, given.requests, given.rounds, given.pause))
        left_over = killed_server(server)
    figures = report(found, left_over)
    print(json.dumps({key: value for key, value in figures.items() if key != "rounds"}, indent=1))
    if given.out:
        about = {
            "command": f"python -m tests.bench.kill_rank --ranks {given.ranks} --stages {given.stages} "
            f"--rounds {given.rounds}",
            "commit": given.commit,
            "device": f"{os.cpu_count()} cores, {platform.machine()}",
            "model": "embedded",
            "pause_s": given.pause,
            "requests": given.requests,
        }
        given.out.write_text(json.dumps({**about, **figures}, indent=1) + "\n")
    bad = any(end not in FINE for each in found[UNDISTURBED:] for end in each.seen)
    return 1 if bad or figures["orphans"] or left_over else 0


if __name__ == "__main__":
    raise SystemExit(main())
