"""Sources that are no files, and files that never end: each is refused by name, and none of them is waited for."""

import gzip
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from intaglio.schemas.jobs import JobSpec, Source
from intaglio.service.jobs.ingest import selected_rows, source_fingerprint
from intaglio.service.jobs.readers import records
from intaglio.service.jobs.records.errors import InputRefused
from intaglio.service.jobs.records.input_files import Sizes, check_expansion, open_source
from intaglio.service.jobs.records.record import Record

FORMATS = ("csv", "jsonl", "parquet", "xml", "text")


def source(path: Path, form: str) -> Source:
    fields: dict[str, Any] = {} if form == "text" else {"text": "body"}
    if form == "xml":
        fields["record"] = "c/item"
    return Source(path=str(path), format=form, **fields)  # type: ignore[arg-type]


@pytest.fixture
def special(tmp_path: Path) -> Iterator[dict[str, Path]]:
    """Things that have a path and are no files."""
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "linked").symlink_to(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        yield {
            "a pipe": tmp_path / "linked",
            "a socket": tmp_path / "socket",
            "a device": Path("/dev/zero"),
            "a folder": tmp_path / "folder.csv",
        }


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_no_file_is_refused_by_name(special: dict[str, Path], form: str) -> None:
    for name, path in special.items():
        if (name, form) == ("a folder", "text"):
            continue  # that is a source
        spec = JobSpec(schema=True, source=source(path, form))
        source_fingerprint(path)  # waits for nothing either
        with pytest.raises(InputRefused, match=name) as refused:
            next(selected_rows(spec, path))
        assert refused.value.hint


def test_a_pipe_that_takes_a_files_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "in.csv")
    with pytest.raises(InputRefused, match="a pipe"), open_source(tmp_path / "in.csv"):
        pass


def test_pipes_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "a.txt").write_text("text")
    assert list(records(Source(path=str(tmp_path)), tmp_path)) == [Record("text", "a.txt")]


def test_a_bomb_is_refused_before_any_row_is_read(tmp_path: Path) -> None:
    packed = tmp_path / "in.csv.gz"
    with gzip.open(packed, "wb") as file:
        file.write(b"id,body\n")
        for _ in range(40):
            file.write(b"1,x\n" * (1 << 18))
    with pytest.raises(InputRefused, match=r"in\.csv\.gz unpacks to more than 200 times"):
        check_expansion(packed)


def test_a_large_file_of_like_rows_is_refused_before_any_row_is_read(tmp_path: Path) -> None:
    packed = tmp_path / "in.csv.gz"
    rows = b"1,hello world, this is a row\n" * 400_000
    packed.write_bytes(gzip.compress(b"id,body\n" + rows, compresslevel=1))
    assert 50 < len(rows) / packed.stat().st_size < 200
    with pytest.raises(InputRefused, match="more than 50 times"):
        check_expansion(packed, Sizes(harmless=1 << 20, large=8 << 20))
    check_expansion(packed, Sizes(harmless=1 << 20, large=1 << 40))


def test_a_packed_file_is_bounded_by_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"{n},text {n * n % 9973}\n" for n in range(60_000))
    packed = tmp_path / "in.csv.gz"
    packed.write_bytes(gzip.compress(f"id,body\n{rows}".encode()))
    asked = source(packed, "csv")
    assert sum(1 for _ in records(asked, packed)) == 60_000
    monkeypatch.setenv("INTAGLIO_SERVICE_MAX_UNPACKED_BYTES", "500000")
    with pytest.raises(InputRefused, match="more than 500000 bytes") as refused:
        for _ in records(asked, packed):
            pass
    assert "INTAGLIO_SERVICE_MAX_UNPACKED_BYTES" in refused.value.hint


def test_a_parquet_file_is_bounded_by_what_it_says_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"body": [f"text {n}" for n in range(5000)]}), path)
    monkeypatch.setenv("INTAGLIO_SERVICE_MAX_UNPACKED_BYTES", "9000")
    with pytest.raises(InputRefused, match="at most 9000"):
        next(records(source(path, "parquet"), path))


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_hole_of_a_terabyte_is_no_text(tmp_path: Path, form: str) -> None:
    path = tmp_path / "in.csv"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputRefused, match="binary data"):
        next(selected_rows(JobSpec(schema=True, source=source(path, form)), path))


@pytest.mark.parametrize(
    ("begins", "name"), [(b"%PDF-1.4\n", "a PDF"), (b"\x89PNG\r\n\x1a\n", "an image")]
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_source_that_is_no_text_is_named(
    tmp_path: Path, begins: bytes, name: str, packed: bool
) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(gzip.compress(begins) if packed else begins)
    with pytest.raises(InputRefused, match=name):
        next(records(source(path, "csv"), path))


def test_one_pdf_in_a_folder_is_a_dead_row_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "b.txt").write_bytes(b"%PDF-1.4\n")
    good, bad = records(Source(path=str(tmp_path)), tmp_path)
    assert good == Record("text", "a.txt")
    assert bad.reason == "the PDF is damaged"  # type: ignore[union-attr]
    assert "save it again" in bad.hint  # type: ignore[union-attr]


def test_harmless_files_are_not_read_ahead(tmp_path: Path) -> None:
    packed = tmp_path / "in.csv.gz"
    packed.write_bytes(gzip.compress(os.urandom(5 << 20)))
    check_expansion(packed, Sizes(harmless=1 << 20))
