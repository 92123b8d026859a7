"""Adapters of jobs and of the command line: chosen by name or folder, and refused before a row is read."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.api import EngineConfig, Launch
from intaglio.schemas.jobs import JobSpec, Source
from intaglio.service.adapters.named_adapters import local_adapter
from intaglio.service.cli.commands import app
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.records.row import spec_digest
from intaglio.service.offline.llm import LLM
from typer.testing import CliRunner, Result

from tests.support.live_service import Live, live, until
from tests.support.tiny_adapter import adapter_tensors, write_adapter
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "pattern": "^[a-z]{8}$"}},
    "required": ["word"],
    "additionalProperties": False,
}
TEXTS = ("first text", "second text", "third text")
CONFIG = {**QWEN3, "max_position_embeddings": 1024}
ENDED = ("completed", "completed_with_errors", "failed", "cancelled")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "tiny", CONFIG)


@pytest.fixture(scope="module")
def adapters(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("adapters")
    return [write_adapter(root / f"a{seed}", CONFIG, seed=seed) for seed in range(2)]


@pytest.fixture(scope="module")
def words(model: Path, adapters: list[Path]) -> dict[str, list[str]]:
    """What `LLM` answers to the texts, by adapter; "" is the model without one."""
    named: dict[str, Path | str] = {path.name: path for path in adapters}
    with LLM(model, adapters=named, device="cpu", threads=1) as llm:
        found = {
            name: [one.data["word"] for one in llm.extract_many(SCHEMA, TEXTS, adapter=name)]
            for name in named
        }
        found[""] = [one.data["word"] for one in llm.extract_many(SCHEMA, TEXTS)]
    assert len({tuple(each) for each in found.values()}) == 3
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of commands, with a schema and documents."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("INTAGLIO_ENGINE_THREADS", "1")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    lines = (json.dumps({"id": f"r{n}", "body": text}) + "\n" for n, text in enumerate(TEXTS))
    (tmp_path / "in.jsonl").write_text("".join(lines))
    for n, text in enumerate(TEXTS):
        (tmp_path / f"{n}.txt").write_text(text)
    return tmp_path


@pytest.fixture(scope="module")
def service(
    model: Path, adapters: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Live]:
    engine = {"model": str(model), "device": "cpu", "threads": 1, "max_adapters": 2}
    with live(
        Launch.of(EngineConfig.load(engine, {})),
        model,
        adapters=(f"given={adapters[0]}",),
        data=str(tmp_path_factory.mktemp("data")),
    ) as started:
        until(lambda: started.http.get("/v1/jobs").status_code == 200)
        yield started


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def job(*more: str | Path, out: str = "out.jsonl") -> Result:
    asked = ("-s", "s.json", "-t", "body", "--id-column", "id", "-o", out)
    return run("job", "run", "in.jsonl", *asked, "--ledger", "jobs.db", "--job", "j", *more)


def written(path: str = "out.jsonl") -> list[str]:
    return [json.loads(line)["data"]["word"] for line in Path(path).read_text().splitlines()]


def test_names_and_folders_are_told_apart(tmp_path: Path) -> None:
    assert local_adapter(f"mine={tmp_path}") == ("mine", str(tmp_path))
    assert local_adapter(f"{tmp_path}/lr=1e-4") == ("lr=1e-4", f"{tmp_path}/lr=1e-4")
    assert local_adapter("some/folder") == ("folder", str(Path("some/folder").absolute()))


def test_extract_takes_the_folder_of_an_adapter(
    folder: Path, model: Path, adapters: list[Path], words: dict[str, list[str]]
) -> None:
    texts = [f"{n}.txt" for n in range(len(TEXTS))]
    done = run("extract", "-s", "s.json", "-m", model, "--adapter", adapters[1], *texts)
    assert done.exit_code == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["data"]["word"] for line in lines] == words["a1"]
    named = f"other={adapters[0]}"
    done = run("extract", "-s", "s.json", "-m", model, "--adapter", named, "--answer", "0.txt")
    answer = json.loads(done.stdout)
    assert (answer["model"], answer["data"]["word"]) == ("other", words["a0"][0])


def test_extract_names_an_adapter_of_a_service(
    folder: Path, service: Live, words: dict[str, list[str]]
) -> None:
    asked = ("extract", "-s", "s.json", "--url", service.url, "0.txt", "--json")
    done = run(*asked, "--adapter", "given")
    assert json.loads(done.stdout)["word"] == words["a0"][0], done.stderr
    streamed = run(*asked, "--adapter", "given", "--stream")
    assert words["a0"][0] in streamed.stdout
    missing = run(*asked, "--adapter", "absent")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "absent" in missing.stderr
    for wrong in (("given", "--model", "tiny"), ("some/folder",), ("given=/path",)):
        done = run(*asked, "--adapter", *wrong)
        assert (done.exit_code, done.stdout) == (2, ""), done.stderr
        assert "--adapter" in done.stderr


def test_a_job_runs_with_the_adapter_in_a_folder(
    folder: Path, model: Path, adapters: list[Path], words: dict[str, list[str]], tmp_path: Path
) -> None:
    mine = write_adapter(tmp_path / "mine", CONFIG, seed=0)
    where = ("-m", model, "--adapter", mine)
    done = job(*where, "--limit", "2")
    assert done.exit_code == 0, done.stderr
    assert written() == words["a0"][:2]
    ledger = Ledger("jobs.db")
    began_with = ledger.status("j").model
    assert began_with is not None
    assert began_with.startswith("tiny+mine@")
    assert ledger.spec("j").adapter == f"mine={mine}"
    ledger.close()
    assert run("job", "resume", "j", "--ledger", "jobs.db", "-m", model).exit_code == 0
    moved = mine.rename(tmp_path / "moved")
    again = job("-m", model, "--adapter", f"mine={moved}", "--limit", "2")
    assert again.exit_code == 0, again.stderr
    assert "2 rows are done" in again.stderr
    for other in (f"mine={adapters[1]}", f"other={moved}"):
        refused = job("-m", model, "--adapter", other, "--limit", "2")
        assert refused.exit_code == 2
        assert "another source, schema, model" in refused.stderr
    assert job("-m", model, "--limit", "2").exit_code == 2, "without the adapter"


def test_a_job_whose_adapter_cannot_be_used_has_no_rows(
    folder: Path, model: Path, tmp_path: Path
) -> None:
    tensors = adapter_tensors(CONFIG)
    missing = sorted(tensors)[0]
    del tensors[missing]
    broken = write_adapter(tmp_path / "broken", CONFIG, tensors=tensors)
    for adapter, reason in ((broken, missing), (tmp_path / "nowhere", "adapter_config.json")):
        done = job("-m", model, "--adapter", adapter)
        assert done.exit_code != 0
        assert adapter.name in done.stderr
        assert reason in done.stderr
        assert json.loads(run("job", "list", "--ledger", "jobs.db", "--json").stdout) == []


def test_a_job_names_an_adapter_of_a_service(
    folder: Path, service: Live, words: dict[str, list[str]]
) -> None:
    missing = job("--url", service.url, "--adapter", "absent")
    assert missing.exit_code == 2
    assert "absent" in missing.stderr
    assert "given" in missing.stderr, "which there are"
    assert json.loads(run("job", "list", "--ledger", "jobs.db", "--json").stdout) == []
    assert job("--url", service.url, "--adapter", "absent", "--dry-run").exit_code == 2
    done = job("--url", service.url, "--adapter", "given", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["model"].startswith("tiny+given@")
    assert written() == words["a0"]


def test_an_evaluation_names_an_adapter(
    folder: Path, service: Live, words: dict[str, list[str]]
) -> None:
    gold = {"text": TEXTS[0], "schema": SCHEMA, "expected": {"word": words["a0"][0]}}
    Path("gold.jsonl").write_text(json.dumps(gold) + "\n")
    asked = ("eval", "gold.jsonl", "--url", service.url, "--fail-under", "1")
    assert run(*asked, "--adapter", "given").exit_code == 0
    assert run(*asked).exit_code == 1


def submitted(service: Live, **more: Any) -> Any:
    body = {"schema": SCHEMA, "source": {"path": "in.jsonl", "text": "body", "id": "id"}, **more}
    return service.http.post("/v1/jobs", json=body)


def ended(service: Live, job: str) -> Any:
    found: Any = None

    def is_over() -> bool:
        nonlocal found
        found = service.http.get(f"/v1/jobs/{job}").json()
        return found["state"] in ENDED

    until(is_over)
    return found


def test_a_job_of_a_server_keeps_to_one_adapter(
    folder: Path, service: Live, adapters: list[Path], words: dict[str, list[str]]
) -> None:
    source = (folder / "in.jsonl").read_bytes()
    assert service.http.put("/v1/files/in.jsonl", content=source).status_code < 300
    refused = submitted(service, adapter="absent")
    assert refused.status_code == 404, refused.text
    error = refused.json()["error"]
    assert (error["code"], error["param"]) == ("unknown_model", "adapter")
    assert error["details"][0]["pointer"] == "/adapter"
    assert service.http.get("/v1/jobs").json()["data"] == []

    body = {"name": "mine", "path": str(adapters[1])}
    assert service.http.post("/v1/adapters", json=body).status_code == 201
    first = submitted(service, adapter="mine", attempts=2).json()["id"]
    status = ended(service, first)
    assert (status["state"], status["counts"]["done"]) == ("completed", len(TEXTS))
    assert status["model"].startswith("tiny+mine@")
    rows = service.http.get(f"/v1/jobs/{first}/results").text.splitlines()
    assert [json.loads(row)["data"]["word"] for row in rows] == words["a1"]


@pytest.mark.parametrize("replaced", [False, True])
def test_a_job_of_a_server_ends_if_its_adapter_is_gone(
    service: Live, adapters: list[Path], replaced: bool
) -> None:
    # More rows than are done before the job is cancelled.
    source = "".join(f'{{"id": "r{n}", "body": "text {n}"}}\n' for n in range(3000))
    service.http.put("/v1/files/in.jsonl", content=source.encode())
    body = {"name": f"brief{replaced}", "path": str(adapters[1])}
    assert service.http.post("/v1/adapters", json=body).status_code == 201
    job = submitted(service, adapter=body["name"]).json()["id"]
    service.http.post(f"/v1/jobs/{job}/cancel")
    before = ended(service, job)
    assert before["state"] == "cancelled"
    assert service.http.delete(f"/v1/adapters/{body['name']}").status_code == 204
    if replaced:
        other = {**body, "path": str(adapters[0])}
        assert service.http.post("/v1/adapters", json=other).status_code == 201
    assert service.http.post(f"/v1/jobs/{job}/resume").status_code == 200
    status = ended(service, job)
    assert status["state"] == "failed"
    assert body["name"] in status["error"]
    assert status["counts"]["done"] == before["counts"]["done"], "no row was read"


def test_a_job_without_an_adapter_has_the_digest_that_it_had() -> None:
    source = Source(path="/in.csv", text="t")
    spec, named = (
        JobSpec(schema=True, source=source),
        JobSpec(schema=True, source=source, adapter="mine=/folder"),
    )
    assert "adapter" not in spec.model_dump(exclude_defaults=True)
    assert spec_digest(spec, "m") == spec_digest(named, "m"), "the model's name has the adapter"
    known = "832067f3d17d536073402c7ad1f15876e2e7a00b1c669802cffd9a87b5c2fee3"
    assert spec_digest(spec, "m") == known
