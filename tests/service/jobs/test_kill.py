"""A job's process killed: at random moments, and before and after everything that reaches the disk.

In every case the final outputs are the bytes of an undisturbed run, and they do not exist until they are complete.
"""

import itertools
import json
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from intaglio.schemas.jobs import JobSpec, JobState, Output, Source
from intaglio.service.jobs.ingest import source_fingerprint
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.lock import sole_runner
from intaglio.service.jobs.outcome_buffer import TIMING, Timing
from intaglio.service.jobs.publish import publish

from tests.support.scripted_extracting import SCHEMA, Scripted

OUTPUTS = ("out.csv", "out.jsonl", "out.xml", "out.parquet", "out.csv.dead.jsonl")


def begin(folder: Path, count: int, form: str = "csv") -> Path:
    """A job named `job` in a ledger in `folder`."""
    folder.mkdir(parents=True)
    path = folder / f"in.{form}"
    texts = ["" if n % 50 == 7 else f"text {n}" for n in range(count)]
    if form == "csv":
        path.write_text("id,t\n" + "".join(f"r{n},{text}\n" for n, text in enumerate(texts)))
        source = Source(path=str(path), text="t", id="id")
    else:
        body = "".join(f'<i id="r{n}"><t>{text}</t></i>' for n, text in enumerate(texts))
        path.write_text(f"<c>{body}</c>")
        source = Source(path=str(path), text="t", id="@id", record="c/i")
    outputs = tuple(Output(path=str(folder / name)) for name in OUTPUTS[:-1])
    spec = JobSpec(schema=SCHEMA, source=source, outputs=outputs)
    ledger = Ledger(str(folder / "jobs.db"))
    ledger.create("job", spec, "digest", source_fingerprint(path), "scripted")
    ledger.close()
    return folder


def work(folder: Path, delay_s: float = 0.0, seed: int = 0, timing: Timing = TIMING) -> None:
    """Run the job to its end and write its outputs, as `intaglio job run` does."""
    ledger = Ledger(str(folder / "jobs.db"))
    with sole_runner(ledger, "job"):
        Runner(ledger, "job", Scripted(delay_s, seed=seed), timing=timing).run()
        publish(ledger, "job")
    ledger.close()


def forked(job: Callable[..., None], *args: Any) -> Any:
    process = multiprocessing.get_context("fork").Process(target=job, args=args)
    process.start()
    return process


def assert_same(folder: Path, model: Path) -> None:
    for name in OUTPUTS:
        assert (folder / name).read_bytes() == (model / name).read_bytes(), name
    ledger = Ledger(str(folder / "jobs.db"))
    assert ledger.status("job").state is JobState.COMPLETED_WITH_ERRORS
    ledger.close()
    assert not list(folder.glob("*.part")) + list(folder.glob(".*.part"))


@pytest.mark.parametrize("form", ["csv", "xml"])
def test_killed_at_random_moments(tmp_path: Path, form: str, kills: int) -> None:
    model, folder = begin(tmp_path / "model", 800, form), begin(tmp_path / "killed", 800, form)
    work(model)
    chance = random.Random(11)
    for number in range(kills):
        process = forked(work, folder, 0.002, number)
        time.sleep(chance.uniform(0.0, 0.35))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        for name in OUTPUTS:
            whole = not (folder / name).exists() or process.exitcode == 0
            assert whole or (folder / name).read_bytes() == (model / name).read_bytes()
    work(folder)
    assert_same(folder, model)


def _die_at(number: int, folder: Path, *, after: bool) -> None:
    """`work`, ended without warning at the `number`-th time that something reaches the disk."""
    counter = itertools.count(1)  # threads share it: each call has a number of its own

    def passing(real: Callable[..., Any]) -> Callable[..., Any]:
        def point(*args: Any, **more: Any) -> Any:
            mine = next(counter)
            if mine == number and not after:
                os._exit(9)
            result = real(*args, **more)
            if mine == number:
                os._exit(9)
            return result

        return point

    sa.engine.default.DefaultDialect.do_commit = passing(  # type: ignore[method-assign]
        sa.engine.default.DefaultDialect.do_commit
    )
    os.fsync = passing(os.fsync)
    Path.replace = passing(Path.replace)  # type: ignore[method-assign]
    work(folder)


@pytest.mark.parametrize("after", [False, True])
def test_killed_around_everything_that_reaches_the_disk(
    tmp_path: Path, after: bool, kills: int
) -> None:
    model = begin(tmp_path / "model", 60)
    work(model)
    number, stride = 0, 1 if kills >= 100 else 12
    while True:
        number += stride
        folder = begin(tmp_path / str(number), 60)
        process = multiprocessing.get_context("fork").Process(
            target=_die_at, args=(number, folder), kwargs={"after": after}
        )
        process.start()
        process.join()
        if process.exitcode == 0:
            break
        assert process.exitcode == 9
        work(folder)
        assert_same(folder, model)
    assert number > 24, "the points were not reached"


def test_rows_of_a_killed_runner_are_taken_up_at_once(tmp_path: Path) -> None:
    folder = begin(tmp_path / "j", 300)
    timing = Timing(lease_s=3600.0)
    process = forked(work, folder, 0.2, 0, timing)
    ledger = Ledger(str(folder / "jobs.db"))
    while ledger.status("job").counts.running == 0:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    began = time.monotonic()
    work(folder, timing=timing)
    assert time.monotonic() - began < 1800  # not a lease later
    lines = (folder / "out.jsonl").read_text().splitlines()
    assert len({json.loads(line)["id"] for line in lines}) == len(lines) == 294
    ledger.close()
