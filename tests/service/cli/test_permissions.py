"""Files and folders that the user of the command line may not read or write."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from intaglio.service.jobs.ledger import Ledger

from tests.service.cli.conftest import start

JOB = ("job", "run", "-s", "s.json", "--url", "http://127.0.0.1:9", "--ledger")
OUT = ("-o", "out.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Files of another user: `closed` may not be read, `fixed` not be written."""
    (tmp_path / "s.json").write_text(json.dumps({"type": "string"}))
    (tmp_path / "in.csv").write_text("body\nI am Ann\n")
    for name in ("closed", "fixed", "mails", "mails/private"):
        (tmp_path / name).mkdir()
    for place in ("closed", "mails", "mails/private"):
        (tmp_path / place / "mail.txt").write_text("I am Ann")
    (tmp_path / "closed" / "s.json").write_text("{}")
    Ledger(str(tmp_path / "fixed" / "jobs.db")).close()
    modes = {"closed": 0o000, "mails/private": 0o000, "fixed": 0o500}
    for name, mode in modes.items():
        (tmp_path / name).chmod(mode)
    yield tmp_path
    for name in modes:
        (tmp_path / name).chmod(0o700)


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (
            (*JOB, "new.db", "in.csv", *OUT, "-t", "body", "-o", "fixed/x.csv"),
            2,
            "you may not write to",
        ),
        ((*JOB, "new.db", "closed", *OUT), 2, "cannot read the folder"),
        ((*JOB, "new.db", "mails", *OUT), 2, "mails/private: Permission denied"),
        ((*JOB, "fixed/new.db", "in.csv", *OUT, "-t", "body"), 4, "cannot write the ledger"),
        (("job", "list", "--ledger", "closed/jobs.db"), 4, "cannot"),
        ((*JOB, "new.db", "closed/*.txt", *OUT), 2, "closed/*.txt: Permission denied"),
        (("extract", "in.csv", "-s", "closed/s.json"), 2, "cannot read closed/s.json"),
        (("extract", "closed/mail.txt", "-s", "s.json"), 2, "cannot read closed/mail.txt"),
        (
            ("extract", "in.csv", "-s", "s.json", "-o", "fixed/x.json"),
            2,
            "cannot write fixed/x.json",
        ),
        (("view", "closed/mail.txt", "-o", "page.html"), 2, "cannot be read: Permission denied"),
    ],
)
def test_what_this_user_may_not_read_or_write_is_named_and_nothing_left_behind(
    folder: Path, command: tuple[str, ...], code: int, words: str
) -> None:
    before = {path: path.stat().st_mtime for path in folder.rglob("*")}
    process = start(*command, cwd=folder)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (code, ""), err
    assert words in " ".join(err.split())
    assert "Traceback" not in err
    assert {path: path.stat().st_mtime for path in folder.rglob("*")} == before
