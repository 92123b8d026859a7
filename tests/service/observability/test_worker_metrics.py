"""Every API process answers with the sum of the counts of all, killed ones included."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from intaglio.engine.api import EngineState, Lives
from intaglio.service.config import ServiceConfig
from intaglio.service.observability.worker_metrics import (
    VARIABLE,
    WorkerMetricsFolder,
    WorkersCollector,
    is_one_of_several,
)
from prometheus_client.parser import text_string_to_metric_families

ROOT = Path(__file__).parents[3]
WORKER = """
import sys
from pathlib import Path
from intaglio.service.http.service_metrics import Metrics
from intaglio.service.config import ServiceConfig
from tests.service.observability.test_worker_metrics import IdleEngine

metrics = Metrics(IdleEngine(), shared=Path(ServiceConfig.load().metrics_folder))
for line in sys.stdin:
    what, _, count = line.strip().partition(" ")
    if what == "answer":
        for _ in range(int(count)):
            metrics.answered("/v1/extract", "ok", 0.03)
    elif what == "hold":
        metrics.in_hand(int(count))
    print(metrics.exposition().decode() if what == "tell" else "", end="\\0", flush=True)
"""


class IdleEngine:
    """An engine that was never ready."""

    state = EngineState.LOADING
    info = None
    metrics = None
    grammars = None
    lives = Lives()


class Worker:
    """An API process as far as its metrics go."""

    def __init__(self, folder: WorkerMetricsFolder) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **folder.environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def order(self, line: str) -> str:
        """What the process says to an order."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        said = ""
        while not said.endswith("\0"):
            part = self.process.stdout.read(1)
            assert part, "the process ended"
            said += part
        return said[:-1]

    def told(self) -> dict[str, float]:
        """The samples of its exposition without buckets, by name and labels."""
        return {
            f"{sample.name}{sorted(sample.labels.values())}": sample.value
            for family in text_string_to_metric_families(self.order("tell"))
            for sample in family.samples
            if "le" not in sample.labels
        }


@contextmanager
def workers(count: int) -> Iterator[tuple[WorkerMetricsFolder, list[Worker]]]:
    folder = WorkerMetricsFolder()
    started = [Worker(folder) for _ in range(count)]
    try:
        yield folder, started
    finally:
        for worker in started:
            worker.process.kill()
            worker.process.communicate()
        folder.close()


REQUESTS = "intaglio_requests_total['/v1/extract', 'ok']"
SECONDS = "intaglio_request_seconds_count['/v1/extract']"
IN_HAND = "intaglio_requests_in_hand[]"


def test_whichever_is_asked_answers_for_all() -> None:
    with workers(2) as (folder, (first, second)):
        first.order("answer 3")
        second.order("answer 4")
        first.order("hold 2")
        second.order("hold 5")
        for worker in (first, second):
            told = worker.told()
            assert (told[REQUESTS], told[SECONDS], told[IN_HAND]) == (7, 7, 7)
            assert told["process_resident_memory_bytes[]"] > 2 << 20
            assert told["intaglio_engine_up[]"] == 0
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait()
        folder.ended(first.process.pid)
        told = second.told()
        assert (told[REQUESTS], told[SECONDS], told[IN_HAND]) == (7, 7, 5)


def test_the_folder_is_of_this_user_alone_and_goes_with_its_owner() -> None:
    folder = WorkerMetricsFolder()
    path = Path(folder.environment[VARIABLE])
    assert path.stat().st_mode & 0o077 == 0
    folder.close()
    assert not path.exists()


def test_a_process_that_would_count_elsewhere_refuses_the_folder(tmp_path: Path) -> None:
    assert not is_one_of_several()
    with pytest.raises(ValueError, match=VARIABLE):
        WorkersCollector(tmp_path)


def test_the_variable_is_a_setting() -> None:
    folder = WorkerMetricsFolder()
    try:
        config = ServiceConfig.load(
            {name: value for name, value in folder.environment.items() if name != VARIABLE}
        )
        assert config.metrics_folder == folder.environment[VARIABLE]
    finally:
        folder.close()
