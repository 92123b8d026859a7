"""Jobs on a real Ray cluster of several worker processes on this machine."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import ray
from intaglio.schemas.jobs import JobState
from intaglio.service.jobs.cluster_backend import ClusterBackend
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.publish import publish

from tests.service.jobs.test_kill import assert_same, begin, work
from tests.support.scripted_llm import make, make_slow

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        for name in ("enable_worker_prestart", "num_prestart_python_workers"):
            patch.setenv(f"RAY_{name}", "0")  # a second of a core for each that has no work
        ray.init(num_cpus=4, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
        yield
        ray.shutdown()


def run(folder: Path, clustered: ClusterBackend) -> JobState:
    ledger = Ledger(str(folder / "jobs.db"))
    try:
        state = Runner(ledger, "job", clustered).run().state
        publish(ledger, "job")
    finally:
        ledger.close()
    return state


def workers() -> list[int]:
    """The processes of this test's workers."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if process.name().startswith("ray::Worker"):
                found.append(process.pid)
    return found


def test_three_workers_give_the_bytes_of_one_process(cluster: None, tmp_path: Path) -> None:
    model, folder = begin(tmp_path / "model", 1000), begin(tmp_path / "ray", 1000)
    work(model)
    clustered = ClusterBackend("auto", make, {}, workers=3)
    assert clustered.model == "scripted"
    assert run(folder, clustered) is JobState.COMPLETED_WITH_ERRORS
    assert_same(folder, model)
    clustered.close()


def test_lost_workers_delay_their_rows_and_cost_none(cluster: None, tmp_path: Path) -> None:
    model, folder = begin(tmp_path / "model", 1500), begin(tmp_path / "ray", 1500)
    work(model)
    clustered = ClusterBackend("auto", make_slow, {}, workers=3, at_once=16)
    assert clustered.model == "scripted"
    killed: list[int] = []
    done = threading.Event()

    def kill() -> None:
        while not done.is_set() and len(killed) < 3:
            time.sleep(0.3)
            for pid in workers()[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    state = run(folder, clustered)
    done.set()
    thread.join()
    assert killed
    assert state is JobState.COMPLETED_WITH_ERRORS
    assert_same(folder, model)
    clustered.close()
