"""Outputs on their way to the disk: one that fills up, files of others, results that are not whole yet."""

import json
import multiprocessing
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from intaglio.schemas.jobs import JobState, Output
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.outcome_buffer import Progress
from intaglio.service.jobs.publish import OverwritePolicy, publish, replacing
from intaglio.service.jobs.records.errors import OutputFailed, OutputRefused
from intaglio.service.jobs.records.result_columns import Layout
from intaglio.service.jobs.tables import DONE
from intaglio.service.jobs.writers import write

from tests.service.jobs.test_kill import OUTPUTS, assert_same, begin, forked, work
from tests.support.scripted_extracting import Scripted

FILES = (*OUTPUTS, "out.csv.report.json", "out.csv.report.html")


@pytest.fixture
def done(tmp_path: Path) -> Path:
    """A folder with a job that is complete, and its outputs."""
    folder = begin(tmp_path / "job", 300)
    work(folder)
    return folder


def with_ledger(folder: Path, action: Callable[[Ledger], object]) -> None:
    ledger = Ledger(str(folder / "jobs.db"))
    try:
        action(ledger)
    finally:
        ledger.close()


def bytes_of(folder: Path) -> dict[str, bytes]:
    names = (path.name for path in folder.iterdir() if not path.name.startswith("jobs.db"))
    return {name: (folder / name).read_bytes() for name in names}


def _fill_the_disk(folder: Path, name: str) -> None:
    """Write an output again, on a disk that has room for half of it."""
    ledger = Ledger(str(folder / "jobs.db"))
    rows, layout = ledger.rows("job"), Layout.of(ledger.spec("job"))
    size = (folder / name).stat().st_size
    try:
        with replacing(folder / name, OverwritePolicy(ledger.outputs("job"))) as file:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, resource.RLIM_INFINITY))
            write(file, lambda: rows.results(DONE), layout, Output(path=name))
    except OutputFailed as failed:
        os._exit(7 if "job report" in failed.hint else 8)
    os._exit(9)


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.xml", "out.parquet"])
def test_a_full_disk_leaves_what_was_there(done: Path, name: str) -> None:
    before = bytes_of(done)
    process = forked(_fill_the_disk, done, name)
    process.join()
    assert process.exitcode == 7
    assert bytes_of(done) == before


def test_no_permission_and_no_folder_any_more(done: Path) -> None:
    def move(ledger: Ledger) -> None:
        ledger.outputs("job").request((Output(path=str(done / "gone" / "x.csv")),))
        with pytest.raises(OutputRefused, match="cannot be written"):
            publish(ledger, "job")

    with_ledger(done, move)


def test_a_file_that_appears_while_the_job_runs_is_left_alone(tmp_path: Path) -> None:
    folder = begin(tmp_path / "job", 60)

    def run(ledger: Ledger) -> None:
        Runner(ledger, "job", Scripted()).run()
        (folder / "out.csv").write_text("mine")
        with pytest.raises(OutputRefused, match="exists already"):
            publish(ledger, "job", overwrite=False)
        assert (folder / "out.csv").read_text() == "mine"
        publish(ledger, "job", overwrite=True)

    with_ledger(folder, run)
    model = begin(tmp_path / "model", 60)
    work(model)
    assert_same(folder, model)


def test_dead_letters_of_others_are_left_alone(tmp_path: Path) -> None:
    folder = begin(tmp_path / "job", 6)  # in which no row is dead
    (folder / "out.csv.dead.jsonl").write_text("mine")
    work(folder)
    assert (folder / "out.csv.dead.jsonl").read_text() == "mine"


def test_a_partial_result_goes_when_the_job_is_complete(tmp_path: Path) -> None:
    model, folder = begin(tmp_path / "model", 300), begin(tmp_path / "job", 300)
    work(model)

    def run(ledger: Ledger) -> None:
        def pause(progress: Progress) -> None:
            if progress.ended:
                ledger.request("job", "pause")

        assert Runner(ledger, "job", Scripted(0.1), pause).run().state is JobState.PAUSED
        written = publish(ledger, "job")
        assert all(".partial" in path.name for path in written)
        assert not any((folder / name).exists() for name in FILES)
        lines = (folder / "out.partial.jsonl").read_text().splitlines()
        assert len(lines) == ledger.status("job").counts.done
        (folder / "out.partial.xml").write_text("changed by hand")
        ledger.resume("job")

    with_ledger(folder, run)
    work(folder)
    assert_same(folder, model)
    assert [path.name for path in folder.glob("*partial*")] == ["out.partial.xml"]


def go_on(ledger: Ledger) -> None:
    """Run to the end and write, over nothing but the job's own files."""
    Runner(ledger, "job", Scripted()).run()
    publish(ledger, "job", overwrite=False)


def _die_around_links(number: int, folder: Path, *, after: bool) -> None:
    """`work`, ended without warning at the `number`-th file that gets its name."""
    real, count = os.link, 0

    def link(*args: str) -> None:
        nonlocal count
        count += 1
        if count == number and not after:
            os._exit(9)
        real(*args)
        if count == number:
            os._exit(9)

    os.link = link  # type: ignore[assignment]
    work(folder)


@pytest.mark.parametrize("after", [False, True])
def test_killed_before_and_after_a_file_gets_its_name(tmp_path: Path, after: bool) -> None:
    model = begin(tmp_path / "model", 60)
    work(model)
    for number in range(1, len(FILES) + 1):
        folder = begin(tmp_path / str(number), 60)
        process = multiprocessing.get_context("fork").Process(
            target=_die_around_links, args=(number, folder), kwargs={"after": after}
        )
        process.start()
        process.join()
        assert process.exitcode == 9
        with_ledger(folder, go_on)
        assert_same(folder, model)


def test_the_report_shows_keys_in_the_order_of_the_schema(done: Path) -> None:
    page = (done / "out.csv.report.html").read_text()
    keys = ("name", "size", "share", "even", "words", "place")
    places = [page.index(f"&#34;{key}&#34;: ") for key in keys]
    assert places == sorted(places)
    (sample, *_) = json.loads((done / "out.csv.report.json").read_text())["samples"]
    assert tuple(sample["data"]) == keys
