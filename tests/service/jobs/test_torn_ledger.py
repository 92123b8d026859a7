"""A ledger as a power cut leaves it: its log cut short, or pages of it lost. Work may be lost; results agree still."""

import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.outcome_buffer import Progress

from tests.service.jobs.test_kill import OUTPUTS, begin, work
from tests.support.scripted_extracting import Scripted

ROWS = 240


class Cut(Exception):
    """The moment at which the power goes."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without interruptions."""
    folder = begin(tmp_path_factory.mktemp("model") / "j", ROWS)
    work(folder)
    return folder


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job in the middle of its work, as its files are on the disk at that moment."""
    folder = begin(tmp_path_factory.mktemp("half") / "j", ROWS)
    image = folder.parent / "image"

    def copy(progress: Progress) -> None:
        if 0 < progress.ended < ROWS // 2 or progress.counts.done == 0:
            return
        shutil.copytree(folder, image)
        raise Cut

    ledger = Ledger(str(folder / "jobs.db"))
    with pytest.raises(Cut):
        Runner(ledger, "job", Scripted(0.3), copy).run()
    assert (image / "jobs.db-wal").stat().st_size > 50_000
    return image


def test_whatever_is_lost_the_job_ends_with_the_same_bytes(
    tmp_path: Path, model: Path, half: Path, kills: int
) -> None:
    chance = random.Random(5)
    source = half.parent / "j"
    expected = _finished(model, source)
    for number in range(2 * kills):
        folder = tmp_path / str(number)
        shutil.copytree(half, folder)
        log = folder / "jobs.db-wal"
        content = bytearray(log.read_bytes())
        at = chance.randrange(len(content))
        if number % 2:
            content[at : at + 4096] = bytes(len(content[at : at + 4096]))
        else:
            del content[at:]
        log.write_bytes(content)
        with sqlite3.connect(folder / "jobs.db") as raw:
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        raw.close()
        assert _finished(folder, source) == expected


def _finished(folder: Path, source: Path) -> list[bytes]:
    """The outputs in the end. They are written where the job was begun, whichever folder its ledger is in now."""
    ledger = Ledger(str(folder / "jobs.db"))
    begun = ledger.names()
    ledger.close()
    if not begun:  # the job itself was lost with the log: its owner begins it again
        shutil.rmtree(folder)
        begin(folder, ROWS)
        work(folder)
        return [(folder / name).read_bytes() for name in OUTPUTS]
    place = folder if (folder / OUTPUTS[0]).exists() else source
    if place is source:
        work(folder)
    return [(place / name).read_bytes() for name in OUTPUTS]
