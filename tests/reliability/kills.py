"""P1: kill -9 of the engine under streams and a running job: every stream ends right, the job's rows come once.

The next kill comes after the requests in flight at the last one have ended: a request that is in flight at three deaths
is refused, whatever their cause.
"""

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from intaglio.schemas.jobs import ENDED

from tests.bench.kill_engine import SCHEMA, Ended, one, served
from tests.reliability.figures import Figure
from tests.reliability.wire import PATIENCE_S, percentile
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

SOURCE = {"path": "rows.jsonl", "text": "text", "id": "id"}
PROMPT_S = 10.0
"""After a kill, the time within which the requests in hand must have ended."""


@dataclass
class Tally:
    """What the clients saw. Seconds are counted from a kill."""

    streams: Counter[str] = field(default_factory=Counter)
    jobs: Counter[str] = field(default_factory=Counter)
    unready_s: list[float] = field(default_factory=list)
    ready_s: list[float] = field(default_factory=list)
    ended_s: list[float] = field(default_factory=list)
    killed_at: float = 0.0


class Clients:
    """The streams and the job of one server, and what they must give."""

    def __init__(self, http: httpx2.AsyncClient, streams: int, rows: int) -> None:
        self._http = http
        self._streams = streams
        self._rows = rows
        self._results = ""
        self._ends: list[Ended] = []
        self._rounds = [0] * streams
        self._job_name = ""
        self._over = asyncio.Event()
        self.tally = Tally()

    async def learn(self) -> None:
        """Run a job and the streams without a kill: what they give is what they must give."""
        rows = (json.dumps({"id": f"r{n}", "text": f"row {n}"}) for n in range(self._rows))
        answer = await self._http.put("/v1/files/rows.jsonl", content="\n".join(rows).encode())
        assert answer.status_code == 201, answer.text
        self._results = await self._job()
        assert len(self._results.splitlines()) == self._rows, self._results
        numbers = range(self._streams)
        self._ends = await asyncio.gather(*(one(self._http, n, streamed=True) for n in numbers))
        assert all(end.data for end in self._ends), self._ends

    async def run(self, kills: int, dice: random.Random) -> None:
        """Keep streams and jobs running while the engine is killed so many times."""
        work = [self._keep_streaming(number) for number in range(self._streams)]
        async with asyncio.TaskGroup() as group:
            for task in (*work, self._keep_jobs_running()):
                group.create_task(task)
            for number in range(kills):
                await asyncio.sleep(dice.random())
                before = list(self._rounds), self._job_name
                await self._kill()
                await self._ended_since(*before)
                if number % 10 == 9:
                    print(f"{number + 1} kills, streams {dict(self.tally.streams)}", flush=True)
            self._over.set()

    async def _keep_streaming(self, number: int) -> None:
        while not self._over.is_set():
            began = time.perf_counter()
            end = await one(self._http, number, streamed=True)
            if end.status != 200 or end.code:
                kind = "error event, retryable" if end.retryable else f"{end.status} {end.code}"
            else:
                kind = "right" if end.data == self._ends[number].data else "wrong"
            self.tally.streams[kind] += 1
            self._rounds[number] += 1
            if began < self.tally.killed_at:
                self.tally.ended_s.append(time.perf_counter() - self.tally.killed_at)

    async def _keep_jobs_running(self) -> None:
        while not self._over.is_set():
            rows = await self._job()
            self.tally.jobs["equal" if rows == self._results else "different"] += 1
            if rows != self._results:
                dead = (await self._http.get(f"/v1/jobs/{self._job_name}/dead")).text
                self.tally.jobs.update(differences(rows, self._results, dead))

    async def _job(self) -> str:
        """The results of a job over the rows."""
        made = await self._http.post("/v1/jobs", json={"schema": SCHEMA, "source": SOURCE})
        assert made.status_code == 201, made.text
        self._job_name = made.json()["id"]
        while (await self._status())["state"] not in ENDED:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        return (await self._http.get(f"/v1/jobs/{self._job_name}/results")).text

    async def _status(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self._http.get(f"/v1/jobs/{self._job_name}")).json()
        return found

    async def _ended_since(self, rounds: list[int], job: str) -> None:
        """Wait until each stream has ended, and the job."""
        while self._job_name == job or any(map(int.__eq__, self._rounds, rounds)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    async def _kill(self) -> None:
        """Kill the engine at work; note when the server was unready, and when it was ready again."""
        engine: dict[str, Any] = {}
        while engine.get("state") != "ready" or not engine["queue"]["running"]:
            (engine,) = (await self._http.get("/v1/engine/state")).json()["engines"]
        os.kill(engine["facts"]["pid"], signal.SIGKILL)
        killed = self.tally.killed_at = time.perf_counter()
        await self._wait_for(503)
        self.tally.unready_s.append(time.perf_counter() - killed)
        await self._wait_for(200)
        self.tally.ready_s.append(time.perf_counter() - killed)

    async def _wait_for(self, status: int) -> None:
        while (await self._http.get("/readyz")).status_code != status:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def differences(rows: str, expected: str, dead: str) -> Counter[str]:
    """How the results of a job differ from those it should have; `dead` has the rows that failed, with reasons."""
    found = Counter(f"row dead: {json.loads(line)['reason']}" for line in dead.splitlines())
    counts = Counter(json.loads(line)["id"] for line in rows.splitlines())
    wanted = {json.loads(line)["id"]: line for line in expected.splitlines()}
    found["rows missing"] = len(wanted.keys() - counts.keys())
    found["rows twice"] = sum(count > 1 for count in counts.values())
    found["rows wrong"] = sum(line != wanted[json.loads(line)["id"]] for line in rows.splitlines())
    return +found


def measure(
    folder: Path, kills: int = 100, streams: int = 16, rows: int = 128, seed: int = 17
) -> list[Figure]:
    """So many kills of the engine of one server, over a tiny model of random weights."""
    model = write_checkpoint(folder / "tiny", {**LLAMA, "max_position_embeddings": 2048})
    settings = {
        "INTAGLIO_SERVICE_DATA": str(folder / "data"),
        "INTAGLIO_SERVICE_LOG_LEVEL": "error",
        "INTAGLIO_ENGINE_THREADS": "1",
    }

    async def run(url: str) -> Tally:
        # No connection is used twice: one that the server closes for idleness would look like a failure.
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE_S, limits=limits) as http:
            clients = Clients(http, streams, rows)
            await clients.learn()
            await clients.run(kills, random.Random(seed))
        return clients.tally

    with served(model, 1, settings) as url:
        tally = asyncio.run(run(url))
    fine = {"right", "error event, retryable"}
    found = (("unready", tally.unready_s), ("ready", tally.ready_s), ("ended", tally.ended_s))
    times = ", ".join(
        f"{what} after {percentile(each, 0.5):.2f} s (most {max(each):.2f})"
        for what, each in found
        if each
    )
    return [
        Figure(
            id="P1",
            what=f"kill -9 of the engine under {streams} streams and a running job",
            count=kills,
            bound="streams right or ended by one error event, every row of the jobs once and right",
            measured=f"streams {dict(tally.streams)}, jobs of {rows} rows {dict(tally.jobs)}",
            met=tally.streams.keys() <= fine and tally.jobs.keys() == {"equal"},
        ),
        Figure(
            id="P1",
            what="times after the kill: server unready, ready again, streams in hand ended",
            count=len(tally.ended_s),
            bound=f"unready 0.5 s, ready 3 s, ended {PROMPT_S:g} s",
            measured=times,
            met=None,
        ),
    ]
