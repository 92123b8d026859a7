"""Verdicts on disk: bounded and private; any fault of the store costs only repeated work."""

import multiprocessing
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.grammar.api import Constraint, Kind, Refusal, Store, StoreUnusable, Verdict
from intaglio.grammar.intake.verdict import (
    decode_constraint,
    decode_verdict,
    encode_constraint,
    encode_verdict,
)

LIMIT = 1 << 20


def constraint(number: int, filler: str = "") -> Constraint:
    return Constraint(Kind.REGEX, f"a{{{number}}}{filler}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "grammars.sqlite"


@given(
    source=st.text(),
    text=st.binary(),
    message=st.text(),
    places=st.lists(st.tuples(st.text(), st.text(), st.text(), st.text()), max_size=3),
    code=st.sampled_from([None, "unsupported_constraint", "unsatisfiable_constraint"]),
)
@settings(max_examples=60, deadline=None)
def test_bytes_and_back(
    source: str,
    text: bytes,
    message: str,
    places: list[tuple[str, str, str, str]],
    code: str | None,
) -> None:
    asked = Constraint(Kind.JSON_SCHEMA, source + "\ud800", extra_properties=False)
    assert decode_constraint(encode_constraint(asked)) == asked
    verdict = Verdict(code, message, tuple(Refusal(*place) for place in places), text, 0.25)
    assert decode_verdict(encode_verdict(verdict)) == verdict
    error = verdict.error
    assert (error is None) == (code is None)
    assert error is None or (error.code, error.message) == (code, message)


def test_what_was_put_is_there_for_others_and_later(path: Path) -> None:
    store, other = Store(path, limit_bytes=LIMIT), Store(path, limit_bytes=LIMIT)
    store.put(constraint(1), Verdict(shortest=b"a"))
    store.put(
        constraint(2), Verdict("unsatisfiable_constraint", "no", (Refusal("", "", "r", "h"),))
    )
    assert other.get(constraint(1)) == Verdict(shortest=b"a")
    assert other.get(constraint(3)) is None
    other.touch({constraint(1): 3})
    store.close()
    other.close()
    assert other.get(constraint(1)) is None, "closed"
    again = Store(path, limit_bytes=LIMIT)
    refused = again.get(constraint(2))
    assert refused is not None
    assert refused.refusals[0].hint == "h"
    assert again.most_used(10) == [constraint(1)], "what cannot be used is not compiled"
    again.close()


def test_nobody_else_can_read_it(path: Path, tmp_path: Path) -> None:
    Store(path, limit_bytes=LIMIT).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    with pytest.raises(StoreUnusable, match="another user"):
        Store(open_folder / "grammars.sqlite", limit_bytes=LIMIT)
    link = path.with_name("link.sqlite")
    link.symlink_to(path)
    with pytest.raises(StoreUnusable):
        Store(link, limit_bytes=LIMIT)
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(StoreUnusable):
        Store(file / "below" / "grammars.sqlite", limit_bytes=LIMIT)


def test_many_unique_constraints_stay_within_the_limit(path: Path) -> None:
    store = Store(path, limit_bytes=LIMIT)
    for number in range(1500):
        store.put(constraint(number, "b" * 2000), Verdict(shortest=b"c" * 1000))
        if number % 100 == 0:
            store.touch({constraint(0, "b" * 2000): 1})
            assert store.held_bytes <= LIMIT
    rows = sqlite3.connect(path)
    total = rows.execute("SELECT SUM(size), COUNT(*) FROM verdicts").fetchone()
    assert total[0] == store.held_bytes
    assert total[1] > 200
    rows.close()
    assert store.get(constraint(0, "b" * 2000)) is not None, "it was used all the time"
    assert store.get(constraint(1, "b" * 2000)) is None
    store.put(constraint(0, "b" * LIMIT), Verdict())
    assert store.get(constraint(0, "b" * LIMIT)) is None, "what takes the room of all others"
    store.close()
    assert sum(file.stat().st_size for file in path.parent.iterdir()) < 2 * LIMIT


def test_another_version_of_the_code_knows_nothing(path: Path) -> None:
    store = Store(path, limit_bytes=LIMIT)
    store.put(constraint(1), Verdict(shortest=b"a"))
    store.close()
    other = Store(path, limit_bytes=LIMIT, code="another")
    assert other.get(constraint(1)) is None
    assert other.most_used(5) == []
    other.close()
    again = Store(path, limit_bytes=LIMIT)
    assert again.most_used(5) == [constraint(1)]
    again.close()


@pytest.mark.parametrize("column", ["source", "verdict", "checksum"])
def test_a_damaged_row_is_dropped(path: Path, column: str) -> None:
    store = Store(path, limit_bytes=LIMIT)
    store.put(constraint(1), Verdict(shortest=b"a"))
    rows = sqlite3.connect(path, isolation_level=None)
    rows.execute(f"UPDATE verdicts SET {column} = CAST(x'7b7d' AS BLOB)")
    assert store.most_used(5) == []
    assert store.get(constraint(1)) is None
    assert rows.execute("SELECT COUNT(*) FROM verdicts").fetchone() == (0,)
    rows.close()
    store.put(constraint(1), Verdict(shortest=b"a"))
    assert store.get(constraint(1)) is not None
    store.close()


@pytest.mark.parametrize("damage", [b"not a database, nor anything else", b""])
def test_a_damaged_file_is_begun_anew(path: Path, damage: bytes) -> None:
    store = Store(path, limit_bytes=LIMIT)
    for number in range(200):
        store.put(constraint(number), Verdict(shortest=b"a"))
    store.close()
    size = path.stat().st_size
    path.write_bytes(damage * (size // max(len(damage), 1)) if damage else path.read_bytes()[:5000])
    store = Store(path, limit_bytes=LIMIT)
    for number in range(200):
        assert store.get(constraint(number)) in (None, Verdict(shortest=b"a"))
        store.put(constraint(number), Verdict(shortest=b"b"))
    assert store.get(constraint(199)) == Verdict(shortest=b"b")
    store.close()


def test_a_file_that_is_damaged_while_it_is_open(path: Path) -> None:
    store = Store(path, limit_bytes=LIMIT)
    for number in range(300):
        store.put(constraint(number, "b" * 500), Verdict(shortest=b"a"))
    rows = sqlite3.connect(path)
    rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    rows.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))
    for number in range(300, 900):
        store.get(constraint(number - 300, "b" * 500))
        store.put(constraint(number, "b" * 500), Verdict(shortest=b"c"))
    assert store.get(constraint(899, "b" * 500)) == Verdict(shortest=b"c")
    store.close()


def test_a_disk_that_is_full_makes_it_forget(path: Path) -> None:
    store = Store(path, limit_bytes=LIMIT)
    store.put(constraint(0), Verdict(shortest=b"a"))
    assert store._rows is not None
    store._rows.execute("PRAGMA max_page_count = 12")
    for number in range(1, 200):
        store.put(constraint(number, "b" * 500), Verdict(shortest=b"a"))
    assert store.get(constraint(0)) == Verdict(shortest=b"a")
    assert store.get(constraint(199, "b" * 500)) is None
    rows = sqlite3.connect(path)
    held, size = rows.execute("SELECT bytes, (SELECT SUM(size) FROM verdicts) FROM held").fetchone()
    assert held == size
    rows.close()
    store.close()


WRITER = """
import sys
from pathlib import Path
from intaglio.grammar.api import Constraint, Kind, Store, Verdict
store = Store(Path(sys.argv[1]), limit_bytes=1 << 20)
number = 0
while True:
    number += 1
    if number == 2:
        print("ready", flush=True)
    store.put(Constraint(Kind.REGEX, sys.argv[2] + "b" * (number % 1000) + str(number % 50)), Verdict(shortest=b"a"))
"""


def test_processes_that_are_killed_while_they_write(path: Path) -> None:
    for round_ in range(3):
        writers = [
            subprocess.Popen(
                [sys.executable, "-P", "-c", WRITER, str(path), name], stdout=subprocess.PIPE
            )
            for name in "xy"
        ]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
        multiprocessing.Event().wait(0.15 + 0.1 * round_)
        for writer in writers:
            writer.kill()
            writer.communicate()
        rows = sqlite3.connect(path)
        assert rows.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        held, size = rows.execute(
            "SELECT (SELECT bytes FROM held), (SELECT COALESCE(SUM(size), 0) FROM verdicts)"
        ).fetchone()
        rows.close()
        assert held == size
    assert size > 0
