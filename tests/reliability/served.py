"""The service over the scripted engine as a process of its own, which a test may measure, signal and kill."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psutil

from tests.reliability.wire import PATIENCE_S, Address
from tests.support import serve_scripted
from tests.support.live_processes import commands
from tests.support.live_service import until
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    popen: "subprocess.Popen[str]"
    url: str

    @property
    def address(self) -> Address:
        return "127.0.0.1", int(self.url.rpartition(":")[2])

    @property
    def resident(self) -> int:
        """Bytes of resident memory of the API process."""
        return int(psutil.Process(self.popen.pid).memory_info().rss)

    @property
    def engine(self) -> psutil.Process:
        below = commands(self.popen.pid)
        (found,) = [one for one in below if any("scripted_engine" in w for w in below[one])]
        return found

    def metric(self, name: str, key: str = "") -> float:
        """The value of a metric without labels."""
        headers = {"authorization": f"Bearer {key}"} if key else {}
        text = httpx2.get(f"{self.url}/metrics", headers=headers, timeout=PATIENCE_S).text
        return float(
            next(line for line in text.splitlines() if line.startswith(f"{name} ")).split()[1]
        )

    def kill(self) -> None:
        """End the API process as `kill -9` does; its engine ends with it."""
        self.popen.send_signal(signal.SIGKILL)
        self.popen.wait(PATIENCE_S)


@contextmanager
def served(
    folder: Path,
    script: dict[str, Any] | None = None,
    *,
    errors: int = subprocess.DEVNULL,
    examines: bool = True,
    **settings: Any,
) -> Iterator[Served]:
    """Serve until the block ends. `folder` receives a model; `script` is a `scripted_engine.Script`.

    Without the process that examines schemas a server starts in two thirds of the time.
    """
    model = folder / "model"
    if not model.exists():
        write_checkpoint(model, LLAMA)
    source = serve_scripted.__file__
    assert source is not None
    grammar = {"grammar_isolation": "server" if examines else "never", "grammar_deadline_s": 60.0}
    given = (script or {}, {"port": 0, **settings}, grammar)
    words = (str(model), *map(json.dumps, given))
    popen = subprocess.Popen(
        [sys.executable, "-P", source, *words],
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert popen.stdout is not None
        service = Served(popen, popen.stdout.readline().strip())
        until(lambda: httpx2.get(f"{service.url}/ready", timeout=PATIENCE_S).status_code == 200)
        yield service
    finally:
        popen.kill()
        popen.wait()
        assert popen.stdout is not None
        popen.stdout.close()


class MostResident:
    """The most resident memory of a server while the block runs, in bytes."""

    def __init__(self, service: Served) -> None:
        self._service = service
        self._over = threading.Event()
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self.before = service.resident
        self.most = self.before

    def __enter__(self) -> "MostResident":
        self._watching.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._watching.join()

    @property
    def more_mib(self) -> float:
        return (self.most - self.before) / (1 << 20)

    def _watch(self) -> None:
        while not self._over.is_set():
            self.most = max(self.most, self._service.resident)
            time.sleep(0.02)
