"""`intaglio view` writes one HTML file, and refuses other files than results."""

import gzip
import json
from pathlib import Path

import pytest
from intaglio.service.cli.commands import app
from typer.testing import CliRunner

from tests.service.page.test_saved_page import results


def view(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["view", *map(str, arguments)])
    return done.exit_code, " ".join(done.stderr.split())


def test_a_page_with_all_rows(tmp_path: Path) -> None:
    source, page = tmp_path / "r.jsonl", tmp_path / "r.html"
    lines = [json.dumps({"row": n, "body": f"<b>{n}", "data": {"n": n}}) for n in range(2000)]
    source.write_text("\n".join(lines), "utf-8")
    code, told = view(source, "-o", page, "--text-column", "body", "--title", "Two thousand")
    assert code == 0, told
    assert "2000 rows" in told
    found = results(page.read_text("utf-8"))
    assert isinstance(found, dict)
    assert found["title"] == "Two thousand"
    assert found["rows"][1999] == {"id": "1999", "data": {"n": 1999}, "text": "<b>1999"}


def test_the_title_is_the_name_of_the_file(tmp_path: Path) -> None:
    source, page = tmp_path / "r.jsonl", tmp_path / "r.html"
    source.write_text('{"data": "\\ud800"}\n', "utf-8")
    assert view(source, "-o", page)[0] == 0
    assert results(page.read_text("utf-8")) == {
        "title": "r.jsonl",
        "rows": [{"id": "1", "data": "\ud800"}],
    }


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"a,b\n1,2\n", "line 1"), (b"\xff\xfe", "UTF-8"), (b'{"data": 1}\n{}\n', "line 2")],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    source, page = tmp_path / "r.jsonl", tmp_path / "r.html"
    source.write_bytes(content)
    code, told = view(source, "-o", page)
    assert code == 2
    assert reason in told
    assert not page.exists()


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    assert view(tmp_path / "none.jsonl", "-o", tmp_path / "r.html")[0] == 2
    source = tmp_path / "r.jsonl"
    source.write_text('{"data": 1}\n', "utf-8")
    assert view(source, "-o", tmp_path / "no" / "r.html")[0] == 2
    assert view(source, "-o", tmp_path)[0] == 2


@pytest.mark.parametrize("name", ["r.jsonl", "./r.jsonl", "soft.html"])
def test_the_page_never_overwrites_the_results(tmp_path: Path, name: str) -> None:
    source = tmp_path / "r.jsonl"
    source.write_text('{"data": 1}\n', "utf-8")
    (tmp_path / "soft.html").symlink_to(source)
    code, told = view(source, "-o", f"{tmp_path}/{name}")
    assert (code, source.read_text("utf-8")) == (2, '{"data": 1}\n')
    assert "would overwrite" in told


def test_packed_results_are_told_to_be_unpacked(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(b'{"data": 1}\n'))
    code, told = view(tmp_path / "r.jsonl.gz", "-o", tmp_path / "page.html")
    assert code == 2
    assert "is packed with gzip, not text" in told
    assert "gunzip" in told


def test_a_link_stays_one_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"data": 1}\n', "utf-8")
    (tmp_path / "page-7.html").write_text("old")
    (tmp_path / "latest.html").symlink_to("page-7.html")
    assert view(tmp_path / "r.jsonl", "-o", tmp_path / "latest.html")[0] == 0
    assert (tmp_path / "latest.html").readlink() == Path("page-7.html")
    assert (tmp_path / "page-7.html").read_text().startswith("<!doctype html>")


def test_standard_output_by_its_name_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """As `-o /dev/stdout > log`, which replaced the device by a file where the user may do so."""
    (tmp_path / "r.jsonl").write_text('{"data": 1}\n', "utf-8")
    stdout = tmp_path / "stdout"
    with (tmp_path / "log").open("w+") as log:
        log.write("earlier\n")
        log.flush()
        stdout.symlink_to(f"/proc/self/fd/{log.fileno()}")
        assert view(tmp_path / "r.jsonl", "-o", stdout)[0] == 0
    assert stdout.is_symlink()
    assert (tmp_path / "log").read_text().startswith("earlier\n<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "r.jsonl", "stdout"]
