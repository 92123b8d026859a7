"""Files of every kind: `intaglio extract` sends documents as files, and names what is neither document nor text."""

import base64
import gzip
import json
import os
import socket
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from intaglio.service.cli.cli_errors import CliError
from intaglio.service.cli.documents import text_of

from tests.service.cli.conftest import Run
from tests.support.document_files import pdf
from tests.support.stub_service import Answer, StubService, result
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A text, and one file of each kind that is no text."""
    (tmp_path / "good.txt").write_text("a document")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "blank.txt").write_text(" \n\t\n")
    (tmp_path / "latin.txt").write_bytes("Zoë aus München".encode("latin-1"))
    (tmp_path / "wide.txt").write_bytes("Zoë".encode("utf-16"))
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\n1 0 obj << >> endobj\n%%EOF")
    (tmp_path / "a.html").write_bytes(b"<!DOCTYPE html><p>hello")
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    (tmp_path / "a.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(64))
    (tmp_path / "a.heic").write_bytes(bytes(4) + b"ftypheic" + bytes(64))
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"text"))
    (tmp_path / "a.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64))
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 4)
    (tmp_path / "large.txt").write_bytes(b"x" * 5_000_000)
    for name, inside in (
        ("a.docx", "word/document.xml"),
        ("a.xlsx", "xl/book.xml"),
        ("a.zip", "a"),
    ):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(inside, "x")
    return tmp_path


def extract(run: Run, stub: StubService, *names: str | Path, **more: Any) -> Any:
    return run("extract", "-s", "invoice", "--url", stub.base_url, *names, **more)


@pytest.mark.parametrize(
    ("name", "what", "hint"),
    [
        ("a.zip", "ZIP archive", "unzip"),
        ("a.heic", "image or a video", "OCR"),
        ("a.txt.gz", "gzip", "gunzip"),
        ("noise.bin", "binary data", "give a text file"),
        ("large.txt", "too long", "1,000,000 characters"),
        ("/dev/zero", "too long", "1,000,000 characters"),
    ],
)
def test_a_file_that_is_no_text_is_named_with_a_hint_that_fits(
    run: Run, stub: StubService, folder: Path, name: str, what: str, hint: str
) -> None:
    done = extract(run, stub, name)
    assert done.exit_code == 2
    assert what in done.stderr
    assert hint in done.stderr
    assert stub.asked == []


@pytest.mark.parametrize(
    "name",
    ["a.pdf", "a.docx", "a.xlsx", "a.doc", "wide.txt", "latin.txt", "a.html", "a.png", "a.jpg"],
)
def test_a_document_is_sent_as_a_file(run: Run, stub: StubService, folder: Path, name: str) -> None:
    stub.will_answer(Answer(result({"n": 1})))
    assert extract(run, stub, name).exit_code == 0
    sent = stub.asked[0].body
    assert sent["document"]["name"] == name
    assert base64.b64decode(sent["document"]["base64"]) == Path(name).read_bytes()
    assert "text" not in sent


def test_a_large_document_is_sent_and_a_huge_one_is_not(
    run: Run, stub: StubService, folder: Path
) -> None:
    stub.will_answer(Answer(result({"n": 1})))
    Path("large.pdf").write_bytes(b"%PDF-1.7\n" + bytes(5 << 20))
    Path("huge.pdf").write_bytes(b"%PDF-1.7\n" + bytes(33 << 20))
    assert extract(run, stub, "large.pdf").exit_code == 0
    done = extract(run, stub, "huge.pdf")
    assert (done.exit_code, "larger than 32 MiB" in done.stderr) == (2, True)
    assert len(stub.asked) == 1


def test_a_pdf_on_standard_input_is_sent(run: Run, stub: StubService) -> None:
    stub.will_answer(Answer(result({"n": 1})))
    assert extract(run, stub, "-", stdin=b"%PDF-1.4 all of it is ASCII").exit_code == 0
    assert "document" in stub.asked[0].body


BAD = ("empty.txt", "blank.txt", "noise.bin", "a.heic", "missing.txt", ".", "/dev/zero", "socket")


def test_one_bad_file_among_many_costs_its_own_line(
    run: Run, stub: StubService, folder: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        names = ("empty.txt", "good.txt", *BAD[1:4], "good.txt", *BAD[4:])
        stub.will_answer(Answer(result({"n": 1})))
        done = extract(run, stub, *names)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["document"] for line in lines] == list(names)
    assert [line["document"] for line in lines if "data" in line] == ["good.txt"] * 2
    assert all(line["error"]["message"] for line in lines if "data" not in line)
    assert done.exit_code == 1
    assert len(stub.asked) == 2


def test_when_all_of_many_are_bad_nothing_is_asked(
    run: Run, stub: StubService, folder: Path
) -> None:
    done = extract(run, stub, "empty.txt", "a.heic")
    assert [json.loads(line)["document"] for line in done.stdout.splitlines()] == [
        "empty.txt",
        "a.heic",
    ]
    assert (done.exit_code, stub.asked) == (1, [])


def test_a_pipe_is_read_and_one_that_nobody_writes_is_given_up(
    run: Run, stub: StubService, folder: Path
) -> None:
    os.mkfifo("pipe")
    writer = threading.Thread(target=Path("pipe").write_text, args=("from a pipe",))
    writer.start()
    stub.will_answer(Answer(result({"n": 1})))
    assert extract(run, stub, "pipe").exit_code == 0
    writer.join()
    assert stub.asked[0].body["text"] == "from a pipe"
    with pytest.raises(CliError, match=r"nothing was written to the pipe pipe for 0\.2 seconds"):
        text_of(Path("pipe"), wait_s=0.2)


@pytest.mark.parametrize("target", ["good.txt", "./good.txt", "soft", "hard", "s.json"])
def test_a_document_or_schema_is_never_the_output(
    run: Run, stub: StubService, folder: Path, target: str
) -> None:
    Path("soft").symlink_to("good.txt")
    Path("hard").hardlink_to("good.txt")
    Path("s.json").write_text('{"type": "object"}')
    before = Path(target).read_bytes()
    done = run("extract", "-s", "s.json", "--url", stub.base_url, "good.txt", "-o", target)
    assert done.exit_code == 2
    assert "would overwrite" in done.stderr
    assert Path(target).read_bytes() == before
    assert stub.asked == []


def test_a_document_named_like_the_part_of_an_output_survives(
    run: Run, stub: StubService, folder: Path
) -> None:
    Path("out.json.part").write_text("a document")
    stub.will_answer(Answer(result({"n": 1})))
    assert extract(run, stub, "out.json.part", "-o", "out.json").exit_code == 0
    assert Path("out.json.part").read_text() == "a document"
    assert json.loads(Path("out.json").read_text()) == {"n": 1}


def test_the_command_reads_files_without_a_service(run: Run, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "tiny", LLAMA)
    answers = ["yes", "no"]
    (tmp_path / "schema.json").write_text(json.dumps({"enum": answers}))
    (tmp_path / "a.pdf").write_bytes(pdf([["yes"], []]))
    (tmp_path / "scan.pdf").write_bytes(pdf([[]]))
    (tmp_path / "b.txt").write_text("no")
    names = [str(tmp_path / name) for name in ("a.pdf", "scan.pdf", "b.txt")]
    done = run("extract", "-s", tmp_path / "schema.json", "--model", folder, "--answer", *names)
    assert done.exit_code == 1, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["document"] for line in lines] == names
    assert ["error" in line or line["data"] in answers for line in lines] == [True] * 3
    assert lines[0]["file"]["notes"][0]["pages"] == [2]
    assert "no_text_layer" in done.stderr
    assert "(pages 2)" in done.stderr
    assert "file" not in lines[2]
    assert lines[1]["error"]["code"] == "no_text_layer"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"type": "string", "type": "number"}', "the key 'type' occurs twice"),
        ('{"minimum": NaN}', "NaN is not a number of JSON"),
        ('{"allOf": [' * 50_000, "is nested too deeply"),
    ],
)
def test_a_schema_file_is_json_in_the_strict_sense(
    run: Run, tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "s.json").write_text(text)
    (tmp_path / "a.txt").write_text("text")
    done = run("extract", "a.txt", "--schema", "s.json", "--url", "http://127.0.0.1:9")
    assert done.exit_code == 3
    assert words in done.stderr
