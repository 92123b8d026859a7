"""Jobs over images, by a small model that sees: the command line, a service, a kill, and refusals."""

import base64
import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from intaglio import Client
from intaglio.engine.api import EngineConfig, Launch
from intaglio.schemas.jobs import ENDED, JobSpec, JobState, Source
from intaglio.service.client import BadRequest
from intaglio.service.jobs.ingest import source_fingerprint
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.records.row import NewRow
from intaglio.service.jobs.records.row_files import RowFiles, StoredFile, stored_image
from intaglio.service.offline.llm import LLM
from pydantic import ValidationError

from tests.service.cli.conftest import Run, run, start
from tests.support.document_files import drawn_pdf, pdf
from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import launch
from tests.support.scripted_extracting import Scripted
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint
from tests.support.tiny_vision import (
    BLUE,
    QWEN25_VL,
    RED,
    TEXT,
    WORD,
    picture,
    write_vision_checkpoint,
)

__all__ = ["run"]  # the fixture


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = {**QWEN25_VL, "max_position_embeddings": 2048}
    return write_vision_checkpoint(tmp_path_factory.mktemp("models") / "tiny-vl", config)


@pytest.fixture(scope="module")
def blind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "tiny", LLAMA)


@pytest.fixture(scope="module")
def llm(folder: Path) -> Iterator[LLM]:
    with LLM(folder, device="cpu", threads=1) as found:
        yield found


@pytest.fixture(scope="module")
def service(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    engine = {"model": str(folder), "device": "cpu", "threads": 1, "num_blocks": 512}
    config = EngineConfig.load({**engine, "grammar_warm": 0}, environ={})
    data = str(tmp_path_factory.mktemp("data"))
    with live(Launch.of(config), folder, data=data) as running:
        until(lambda: running.http.get("/v1/jobs").status_code == 200)
        yield running


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTAGLIO_ENGINE_THREADS", "1")


def data_url(content: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(content).decode()


def lines(path: str | Path) -> list[Any]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def by_id(path: str | Path) -> dict[str, Any]:
    return {line.get("id") or line["row"]: line["data"] for line in lines(path)}


def write_table(where: Path) -> dict[str, dict[str, Any]]:
    """A table with images in every form, and what one extraction of each row is given."""
    for name in ("front", "back"):
        (where / f"{name}.png").write_bytes(picture(len(name)))
    (where / "cut.png").write_bytes(picture(9)[:60])
    front, back = picture(5), picture(4)
    rows = {
        "path": ("front.png", "", ""),
        "url": (data_url(picture(7)), "", ""),
        "both": ("front.png", "back.png", "a note"),
        "several": (json.dumps(["back.png", data_url(front)]), "", ""),
        "text": ("", "", "only a note"),
        "nothing": ("", "", "  "),
        "gone": ("missing.png", "", "a note"),
        "away": ("https://example.org/a.png", "", ""),
        "cut": ("cut.png", "", ""),
        "table": ("rows.jsonl", "", ""),
    }
    (where / "rows.jsonl").write_text(
        "".join(
            json.dumps({"id": name, "photo": first, "back": second, "note": note}) + "\n"
            for name, (first, second, note) in rows.items()
        )
    )
    (where / "s.json").write_text(json.dumps(WORD))
    return {
        "path": {"images": [front]},
        "url": {"images": [picture(7)]},
        "both": {"images": [front, back], "text": "a note"},
        "several": {"images": [back, front]},
        "text": {"text": "only a note"},
    }


def expected(llm: LLM, given: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: llm.extract(WORD, **options).data for name, options in given.items()}


TABLE = ("-s", "s.json", "-t", "note", "--id-column", "id", "--image-column", "photo")
MORE = ("--image-column", "back", "--ledger", "jobs.db")


@pytest.mark.parametrize("where", ["here", "service"])
def test_rows_are_read_with_their_images_as_single_requests_are(
    run: Run, folder: Path, llm: LLM, service: Live, tmp_path: Path, where: str
) -> None:
    wanted = expected(llm, write_table(tmp_path))
    engine = ("-m", folder) if where == "here" else ("--url", service.url)
    done = run("job", "run", "rows.jsonl", *TABLE, *MORE, "-o", "out.jsonl", *engine)
    assert done.exit_code == 1, done.stderr
    assert by_id("out.jsonl") == wanted
    assert len({data["word"] for data in wanted.values()}) == len(wanted)
    dead = {line["id"]: line for line in lines("out.jsonl.dead.jsonl")}
    assert dead.keys() == {"nothing", "gone", "away", "cut", "table"}
    assert dead["gone"]["pointer"] == "/line/7"
    assert "No such file" in dead["gone"]["reason"]
    assert "not fetched from https" in dead["away"]["reason"]
    assert "data:image/png;base64" in dead["away"]["hint"]
    assert dead["cut"]["code"] == "unreadable_document"
    assert dead["table"]["code"] == "unsupported_document"
    assert "document is empty" in dead["nothing"]["reason"]


@pytest.mark.parametrize("where", ["here", "service"])
def test_files_that_are_images_or_scans_are_rows(
    run: Run, folder: Path, llm: LLM, service: Live, tmp_path: Path, where: str
) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    files = {
        "a.png": picture(1),
        "b.pdf": drawn_pdf([RED, BLUE]),
        "c.pdf": drawn_pdf([TEXT, RED]),
        "d.pdf": pdf([["only text"]]),
    }
    for name, content in files.items():
        (inbox / name).write_bytes(content)
    (inbox / "e.txt").write_text("a text")
    (inbox / "z.pdf").write_bytes(drawn_pdf([b""]))
    (tmp_path / "s.json").write_text(json.dumps(WORD))
    wanted = expected(llm, {name: {"file": (name, content)} for name, content in files.items()})
    wanted["e.txt"] = llm.extract(WORD, "a text").data
    engine = ("-m", folder) if where == "here" else ("--url", service.url)
    rest = ("-s", "s.json", "-o", "out.jsonl", "--ledger", "jobs.db", *engine)
    done = run("job", "run", "inbox", *rest)
    assert done.exit_code == 1, done.stderr
    assert by_id("out.jsonl") == wanted
    (dead,) = lines("out.jsonl.dead.jsonl")
    assert (dead["id"], dead["code"]) == ("z.pdf", "unreadable_document")
    assert "nothing is drawn" in dead["reason"]
    tried = json.loads(run("job", "run", "inbox", *rest, "--dry-run", "--json").stdout)
    assert (tried["rows"], tried["tried"], len(tried["failed"])) == (6, 6, 1)


def test_a_long_scan_is_read_in_windows(run: Run, folder: Path, llm: LLM, tmp_path: Path) -> None:
    line = b"(A line of a long page with a text layer) Tj T*"
    page = b"BT /F1 6 Tf 8 TL 40 280 Td " + b" ".join([line] * 25) + b" ET"
    content = drawn_pdf([page, RED, page, page, BLUE])
    (tmp_path / "long.pdf").write_bytes(content)
    (tmp_path / "s.json").write_text(json.dumps(WORD))
    rest = ("-s", "s.json", "--ledger", "jobs.db", "-m", folder)
    done = run("job", "run", "long.pdf", *rest, "-o", "no.jsonl")
    assert done.exit_code == 1
    assert lines("no.jsonl.dead.jsonl")[0]["code"] == "context_length_exceeded"
    done = run("job", "run", "long.pdf", *rest, "-o", "out.jsonl", "--windows")
    assert done.exit_code == 0, done.stderr
    found = llm.extract(WORD, file=("long.pdf", content), long_documents="windows")
    assert found.reading is not None
    assert [image.page for image in found.images] == [2, 5]
    assert by_id("out.jsonl") == {"long.pdf": found.data}


def write_many(where: Path, count: int) -> None:
    for number in range(count):
        (where / f"{number}.png").write_bytes(picture(number))
    rows = [f"r{n},{n}.png" for n in range(count - 1)] + [f'last,"{data_url(picture(99))}"']
    (where / "rows.csv").write_text("id,photo\n" + "\n".join(rows) + "\n")
    (where / "s.json").write_text(json.dumps(WORD))


def test_a_job_with_images_goes_on_after_a_kill(
    run: Run, folder: Path, llm: LLM, tmp_path: Path
) -> None:
    count = 120
    write_many(tmp_path, count)
    table = ("job", "run", "rows.csv", "-s", "s.json", "--image-column", "photo", "--id-column")
    command = (*table, "id", "-o", "out.jsonl", "--ledger", "jobs.db", "--job", "j", "-m", folder)
    killed = start(*command, "--at-once", "2", cwd=tmp_path)
    # The number of finished rows at the kill is any, but neither none nor all.
    until(lambda: (tmp_path / "jobs.db").exists())
    with closing(Ledger(str(tmp_path / "jobs.db"))) as ledger:
        until(lambda: "j" in ledger.names() and ledger.status("j").counts.done > 0)
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        finished = ledger.status("j").counts.done
    assert 0 < finished < count
    assert not Path("out.jsonl").exists()
    # A file that changes meanwhile is not taken for the one that the job began with.
    Path(f"{count - 2}.png").write_bytes(picture(1000))
    done = run(*command)
    assert done.exit_code == 1, done.stderr
    assert f"{finished} rows are done" in done.stderr
    (dead,) = lines("out.jsonl.dead.jsonl")
    assert (dead["id"], dead["code"]) == (f"r{count - 2}", "source_changed")
    assert "has changed since the job read it" in dead["reason"]
    found = by_id("out.jsonl")
    assert list(found) == [f"r{n}" for n in range(count - 2)] + ["last"]
    assert found["last"] == llm.extract(WORD, images=[picture(99)]).data
    for number in (0, count - 3):
        assert found[f"r{number}"] == llm.extract(WORD, images=[picture(number)]).data
    Path(f"{count - 2}.png").write_bytes(picture(count - 2))
    again = run("job", "retry-dead", "j", "--ledger", "jobs.db", "-m", folder)
    assert again.exit_code == 0, again.stderr
    assert len(by_id("out.jsonl")) == count


def test_a_service_runs_jobs_over_uploaded_images(service: Live, llm: LLM, tmp_path: Path) -> None:
    given = write_table(tmp_path)
    for name in ("front.png", "back.png"):
        service.http.put(f"/v1/files/{name}", content=(tmp_path / name).read_bytes())
    outside = json.dumps({"id": "out", "photo": str(tmp_path / "cut.png"), "back": "", "note": ""})
    table = (tmp_path / "rows.jsonl").read_text() + outside + "\n"
    service.http.put("/v1/files/rows.jsonl", content=table.encode())
    service.http.put("/v1/files/scan.pdf", content=drawn_pdf([RED]))
    source = {"path": "rows.jsonl", "text": "note", "id": "id", "images": ["photo", "back"]}
    with Client(service.url) as client:
        job = client.jobs.create(WORD, source)
        scan = client.jobs.create(WORD, {"path": "scan.pdf"})
        assert client.jobs.wait(scan.id).state is JobState.COMPLETED
        assert client.jobs.wait(job.id).state in ENDED
        client.jobs.results(job.id, tmp_path / "out.jsonl", "jsonl")
        client.jobs.results(scan.id, tmp_path / "scan.jsonl", "jsonl")
    assert by_id(tmp_path / "out.jsonl") == expected(llm, given)
    wanted = llm.extract(WORD, file=("scan.pdf", drawn_pdf([RED]))).data
    assert [line["data"] for line in lines(tmp_path / "scan.jsonl")] == [wanted]
    found = service.http.get(f"/v1/jobs/{job.id}/dead").text.splitlines()
    dead = {line["id"]: line["reason"] for line in map(json.loads, found)}
    assert "is not a valid file name" in dead["out"]
    assert "there is no file" in dead["gone"]


def test_a_model_without_vision_is_refused_before_the_first_row(
    run: Run, blind: Path, tmp_path: Path
) -> None:
    write_table(tmp_path)
    rest = ("-s", "s.json", "-o", "out.jsonl", "--ledger", "jobs.db", "-m", blind)
    done = run("job", "run", "rows.jsonl", *TABLE, *MORE, "-o", "out.jsonl", "-m", blind)
    assert done.exit_code == 2
    words = " ".join(done.stderr.split())
    assert "the records have images (photo, back)" in words
    assert "'tiny' does not read any" in words
    assert "source.images" in words
    assert "Qwen3-VL" in words
    done = run("job", "run", "front.png", *rest)
    assert done.exit_code == 2
    assert "front.png is an image" in " ".join(done.stderr.split())
    assert run("job", "run", "*.png", *rest).exit_code == 2
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.png").write_bytes(picture(1))
    assert run("job", "run", "photos", *rest).exit_code == 2
    assert json.loads(run("job", "list", "--json", "--ledger", "jobs.db").stdout) == []
    # Texts with pictures between them are read without the pictures.
    (tmp_path / "photos" / "a.txt").write_text("a text")
    assert run("job", "run", "photos", *rest).exit_code == 0
    assert list(by_id("out.jsonl")) == ["a.txt"]


def test_a_service_without_vision_refuses_the_job(run: Run, blind: Path, tmp_path: Path) -> None:
    write_table(tmp_path)
    with live(launch(), blind, data=str(tmp_path / "data")) as plain:
        until(lambda: plain.http.get("/v1/jobs").status_code == 200)
        assert plain.http.get("/v1/models").json()["data"][0]["reads_images"] is False
        plain.http.put("/v1/files/rows.jsonl", content=Path("rows.jsonl").read_bytes())
        plain.http.put("/v1/files/a.png", content=picture(1))
        for source, param in (
            ({"path": "rows.jsonl", "images": ["photo"]}, "source.images"),
            ({"path": "a.png"}, "source.path"),
        ):
            answer = plain.http.post("/v1/jobs", json={"schema": WORD, "source": source})
            assert answer.status_code == 400
            error = answer.json()["error"]
            assert (error["code"], error["param"]) == ("invalid_request", param)
            assert error["details"][0]["pointer"] == "/" + param.replace(".", "/")
            assert "does not read" in error["message"]
            assert "Qwen3-VL" in error["hint"]
        assert plain.http.get("/v1/jobs").json()["data"] == []
        done = run(
            *("job", "run", "rows.jsonl", *TABLE, *MORE, "-o", "out.jsonl", "--url", plain.url)
        )
        assert done.exit_code == 2
        assert "does not read any" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ({"images": ["a", "a"]}, "names a field twice"),
        ({"images": ["a"], "format": "text"}, "files that are images need no field"),
        ({"images": [""]}, "at least 1 character"),
    ],
)
def test_mistakes_in_a_specification_are_named(source: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        JobSpec.model_validate({"schema": WORD, "source": {"path": "in.csv", **source}})


def test_verbatim_strings_are_refused_beside_images(service: Live) -> None:
    service.http.put("/v1/files/some.csv", content=b"id,photo\n")
    source = {"path": "some.csv", "images": ["photo"]}
    options = {"grounding": "verbatim"}
    answer = service.http.post(
        "/v1/jobs", json={"schema": WORD, "source": source, "options": options}
    )
    assert answer.status_code == 400
    assert "verbatim strings cannot be taken from images" in answer.json()["error"]["message"]
    with Client(service.url) as client, pytest.raises(BadRequest, match="no column 'foto'"):
        client.jobs.create(WORD, {**source, "images": ["foto"]})


def test_a_ledger_of_version_3_gets_the_column(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    Ledger(str(path)).close()
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE rows DROP COLUMN files")
        connection.exec_driver_sql("UPDATE intaglio_ledger SET version = 3")
    engine.dispose()
    (tmp_path / "a.png").write_bytes(picture(1))
    files = RowFiles((stored_image(tmp_path / "a.png"),), 1)
    with closing(Ledger(str(path))) as ledger:
        spec = JobSpec(schema=WORD, source=Source(path="in.csv", images=("photo",)))
        ledger.create("j", spec, "d", "f", "m")
        ledger.rows("j").add_rows([NewRow(1, "a", "", files=files)], 1, whole=True)
        (claim,) = ledger.rows("j").claim("me", 5, 60.0)
        assert claim.files == files


def test_images_in_flight_are_bounded_by_their_memory(tmp_path: Path) -> None:
    path, large = tmp_path / "in.csv", 300 * 1024 * 1024
    path.write_text("id,photo\n")
    (tmp_path / "a.png").write_bytes(picture(1))
    small = stored_image(tmp_path / "a.png")
    stated = StoredFile(small.digest, large, path=small.path)  # as large as it says
    backend = Scripted()
    backend.reads_images = True
    with closing(Ledger(str(tmp_path / "jobs.db"))) as ledger:
        spec = JobSpec(schema=WORD, source=Source(path=str(path), images=("photo",)))
        ledger.create("j", spec, "d", source_fingerprint(path), "scripted")
        new = [NewRow(n, f"r{n}", "text", files=RowFiles((stated,), 1)) for n in range(1, 5)]
        ledger.rows("j").add_rows(new, 0, whole=True)
        assert Runner(ledger, "j", backend).run().counts.done == 4
    assert backend.most_in_hand == 1
