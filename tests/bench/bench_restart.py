"""Seconds from starting an engine's process until it is ready, by parts: cold, warm, and again after kill -9.

    python -m tests.bench.bench_restart --model FOLDER [--rounds 2] [--tokenizer FOLDER] [--out FILE]

FOLDER is a checkpoint, such as `tests.bench.bench_load --keep` leaves; one without a tokenizer gets that of
`--tokenizer` or of the embedded model. Each start is a process of its own under the supervisor of the service:

- "nothing cached": no kernel compiled before, no weight in the page cache;
- "cold weights": kernels compiled before, no weight in the page cache;
- "warm": both are there;
- "after a kill": the engine was killed as soon as it was ready, before there was a process that stands by; from the
  kill, the pause before a restart counted;
- "after a kill, standby": killed when such a process had been prepared.

"libraries" is the time before the engine's own measurement begins: the interpreter, torch, and what waits for beats.
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.embedded import model_files
from intaglio.engine.host.messages import EngineInfo
from intaglio.engine.host.status import EngineState, EngineStatus
from intaglio.engine.host.supervisor import Launch, Supervisor, Watch

from tests.bench.bench_load import drop

PATIENCE_S = 400.0
BEGIN_STANDBY_S = 3.0  # see `Watch.standby_after_s`
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


class Engine:
    """One engine under a supervisor."""

    def __init__(self, model: Path, folder: Path, standby: bool) -> None:
        config = EngineConfig.load({"model": str(model)})
        watch = Watch(standby="on" if standby else "off")
        self._changed = asyncio.Event()
        self._status = EngineStatus(index=0)
        self._supervisor = Supervisor(0, folder, Launch.of(config), watch, self._report)

    def _report(self, status: EngineStatus) -> None:
        self._status = status
        self._changed.set()

    async def start(self) -> dict[str, float]:
        """The seconds until it is ready, by part."""
        began = time.perf_counter()
        self._supervisor.start()
        return parts(await self._ready(1), time.perf_counter() - began)

    async def kill(self, *, prepared: bool) -> dict[str, float]:
        """The seconds until it is ready again after a kill, by part; `prepared`: another process stands by."""
        info, run = self._status.info, self._status.run
        assert info is not None
        os.kill(info.pid, signal.SIGKILL)
        began = time.perf_counter()
        return parts(await self._ready(run + 1), time.perf_counter() - began, prepared=prepared)

    async def close(self) -> None:
        await self._supervisor.close()

    async def _ready(self, run: int) -> EngineInfo:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                status = self._status
                if status.state is EngineState.UNUSABLE:
                    raise RuntimeError(f"the engine is unusable: {status.fault}")
                if status.state is EngineState.READY and status.run >= run and status.info:
                    return status.info
                self._changed.clear()
                await self._changed.wait()


def parts(info: EngineInfo, total: float, *, prepared: bool = False) -> dict[str, float]:
    """The parts of a start, of a process that was `prepared` before or not; those of `build` are listed one by one."""
    found = dict(info.start_s)
    build, prepare = found.pop("build"), found.pop("prepare")
    if prepared:
        prepare = 0.0
    return {
        "ready": round(total, 3),
        "libraries": round(total - build - prepare, 3),
        "prepare": prepare,
        **found,
        "rest of build": round(build - sum(found.values()), 3),
    }


async def measured(model: Path, folder: Path, standby_s: float) -> dict[str, dict[str, float]]:
    """The parts of each kind of start but the first."""
    found = {}
    drop(model)
    for name in ("cold weights", "warm"):
        engine = Engine(model, folder, standby=False)
        found[name] = await engine.start()
        if name == "warm":
            found["after a kill"] = await engine.kill(prepared=False)
        await engine.close()
    engine = Engine(model, folder, standby=True)
    await engine.start()
    await asyncio.sleep(BEGIN_STANDBY_S + standby_s)
    found["after a kill, standby"] = await engine.kill(prepared=True)
    await engine.close()
    return found


async def first(model: Path, folder: Path) -> dict[str, float]:
    """The parts of a start with empty caches."""
    drop(model)
    engine = Engine(model, folder, standby=False)
    found = await engine.start()
    await engine.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--standby-s", type=float, default=12.0, help="to prepare a process")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if not (given.model / TOKENIZER[0]).exists():
        source = given.tokenizer or model_files.folder()
        for name in TOKENIZER:
            if (source / name).exists():
                shutil.copy(source / name, given.model / name)
    rounds: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as temporary:
        caches = {"XDG_CACHE_HOME": "", "TRITON_CACHE_DIR": "triton", "NUMBA_CACHE_DIR": "numba"}
        os.environ.update({name: str(Path(temporary, "c", at)) for name, at in caches.items()})
        sockets = Path(temporary, "s")
        sockets.mkdir()
        rounds.append({"nothing cached": asyncio.run(first(given.model, sockets))})
        show(rounds[-1])
        for _ in range(given.rounds):
            rounds.append(asyncio.run(measured(given.model, sockets, given.standby_s)))
            show(rounds[-1])
    if given.out:
        device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
        cores = len(os.sched_getaffinity(0))
        command = "python -m tests.bench.bench_restart --model FOLDER"
        found = {"command": command, "device": device, "cores": cores, "rounds": rounds}
        given.out.write_text(json.dumps(found, indent=1) + "\n")


def show(found: dict[str, dict[str, float]]) -> None:
    for name, figures in found.items():
        print(f"{name}: " + ", ".join(f"{key} {value:.2f}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
