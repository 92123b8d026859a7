"""Jobs over HTTP, on a real socket, over a scripted engine."""

import asyncio
import contextlib
import json
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from intaglio import AsyncClient, Client, TimedOut
from intaglio.engine.api import Watch
from intaglio.schemas.jobs import ENDED, JobState, Source
from intaglio.service.client import BadRequest, NotFound
from intaglio.service.jobs.ledger import Ledger

from tests.support.live_service import PATIENCE_S, Live, live, until
from tests.support.scripted_engine import Script, launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
# More rows of these than can be done, 64 at a time, before a test has asked for what it asks.
MANY = 4000
JOB = {"schema": SCHEMA, "source": {"path": "in.csv", "text": "body", "id": "id"}}


def table(count: int, order: str = "echo", first: int = 0) -> bytes:
    lines = (f'r{n},"<<{order} {{""n"":{n}}}>>"' for n in range(first, first + count))
    return ("id,body\n" + "\n".join(lines)).encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of `service`."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def service(folder: Path, shared: Path) -> Iterator[Live]:
    with running(folder, shared) as served:
        yield served


def running(folder: Path, data: Path, pace_s: float = 0.05, **settings: Any) -> Any:
    engine, watch = launch(Script(pace_s=pace_s)), Watch(backoff_s=0.05)
    return live(engine, folder, watch=watch, data=str(data), grace_s=5.0, **settings)


def ready(service: Live) -> None:
    until(lambda: service.http.get("/v1/jobs").status_code == 200)


def put(service: Live, content: bytes, name: str = "in.csv") -> httpx2.Response:
    ready(service)
    return service.http.put(f"/v1/files/{name}", content=content)


def begin(service: Live, **more: Any) -> str:
    answer = service.http.post("/v1/jobs", json=JOB | more)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def jobs(service: Live) -> list[str]:
    return [one["id"] for one in service.http.get("/v1/jobs").json()["data"]]


def ended(service: Live, job: str) -> dict[str, Any]:
    def over() -> bool:
        return service.http.get(f"/v1/jobs/{job}").json()["state"] in ENDED

    until(over)
    found: dict[str, Any] = service.http.get(f"/v1/jobs/{job}").json()
    return found


def test_a_file_goes_up_and_results_come_down(service: Live) -> None:
    uploaded = put(service, table(50) + b'\nr50," "\n').json()
    assert (uploaded["name"], uploaded["bytes"]) == ("in.csv", 1296)
    job = begin(service)
    status = ended(service, job)
    assert (status["state"], status["counts"]["done"]) == ("completed_with_errors", 50)
    lines = service.http.get(f"/v1/jobs/{job}/results").text.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": f"r{n}", "data": {"n": n}} for n in range(50)
    ]
    as_csv = service.http.get(f"/v1/jobs/{job}/results", params={"format": "csv"})
    assert as_csv.text.startswith("id,n\nr0,0\nr1,1\n")
    assert as_csv.headers["content-disposition"].endswith('.csv"')
    (dead,) = service.http.get(f"/v1/jobs/{job}/dead").text.splitlines()
    assert json.loads(dead)["reason"] == "the document is empty"
    report = service.http.get(f"/v1/jobs/{job}/report")
    assert report.json()["job"]["id"] == job
    page = service.http.get(f"/v1/jobs/{job}/report", headers={"accept": "text/html"})
    assert page.headers["content-type"].startswith("text/html")
    assert job in jobs(service)


def test_events_tell_until_the_end(service: Live) -> None:
    put(service, table(30))
    job = begin(service)
    with service.http.stream("GET", f"/v1/jobs/{job}/events") as stream:
        text = "".join(stream.iter_text())
    events = [block.split("\ndata: ") for block in text.strip().split("\n\n")]
    assert events[-1][0] == "event: end"
    assert json.loads(events[-1][1])["counts"]["done"] == 30


def test_fifty_clients_with_one_key_make_one_job(service: Live) -> None:
    put(service, table(3))
    before = jobs(service)

    def post(_: int) -> tuple[int, str]:
        answer = httpx2.post(
            f"{service.url}/v1/jobs",
            json=JOB,
            headers={"idempotency-key": "k"},
            timeout=PATIENCE_S,
        )
        return answer.status_code, answer.json().get("id")

    with ThreadPoolExecutor(16) as pool:
        answers = set(pool.map(post, range(50)))
    assert len(answers) == 1
    assert len(jobs(service)) == len(before) + 1
    other = JOB | {"limit": 1}
    answer = service.http.post("/v1/jobs", json=other, headers={"idempotency-key": "k"})
    assert answer.status_code == 422
    assert "another job" in answer.json()["error"]["message"]


def test_a_list_has_at_most_as_many_jobs_as_its_limit(service: Live) -> None:
    put(service, table(1))
    newest = [begin(service) for _ in range(2)][::-1]
    found = service.http.get("/v1/jobs", params={"limit": 1}).json()["data"]
    assert [one["id"] for one in found] == newest[:1]
    assert jobs(service)[:2] == newest
    for limit in ("x", "0", "-1", "", "1.5"):
        answer = service.http.get("/v1/jobs", params={"limit": limit})
        assert answer.status_code == 400
        assert answer.json()["error"]["param"] == "limit"


def test_a_job_is_cancelled_and_resumed(service: Live) -> None:
    put(service, table(MANY, "slow"))
    job = begin(service)
    until(lambda: service.http.get(f"/v1/jobs/{job}").json()["counts"]["done"] > 0)
    service.http.post(f"/v1/jobs/{job}/cancel")
    status = ended(service, job)
    assert status["state"] == "cancelled"
    assert 0 < status["counts"]["done"] < MANY
    assert service.http.post(f"/v1/jobs/{job}/cancel").status_code == 422
    again = service.http.post(f"/v1/jobs/{job}/resume").json()
    assert again["state"] in ("ready", "running")
    service.http.post(f"/v1/jobs/{job}/cancel")


@pytest.mark.parametrize("change", ["pause", "cancel", "resume"])
def test_a_change_of_a_completed_job_is_refused_with_a_documented_status(
    service: Live, change: str
) -> None:
    put(service, table(1))
    job = begin(service)
    assert ended(service, job)["state"] == "completed"
    answer = service.http.post(f"/v1/jobs/{job}/{change}")
    described = service.http.get("/openapi.json").json()["paths"][f"/v1/jobs/{{id}}/{change}"]
    assert answer.status_code == 422
    assert str(answer.status_code) in described["post"]["responses"]


def temporary_results(word: bytes) -> list[Path]:
    """Temporary files of results that have a word; those of other tests come and go meanwhile."""
    found = []
    for file in Path(tempfile.gettempdir()).glob("results-*"):
        with contextlib.suppress(FileNotFoundError):
            found += [file] if word in file.read_bytes() else []
    return found


def test_results_leave_no_temporary_file_whatever_range_is_asked_for(service: Live) -> None:
    put(service, table(2, first=987_650))
    job = begin(service)
    ended(service, job)
    described = service.http.get("/openapi.json").json()["paths"]["/v1/jobs/{id}/results"]["get"]
    for given, status in (("bytes=0-3", 206), ("bytes=x", 200), ("bytes=9999-", 416)):
        answer = service.http.get(f"/v1/jobs/{job}/results", headers={"range": given})
        assert answer.status_code == status
        assert str(status) in described["responses"]
        if status == 416:
            assert answer.json()["error"]["code"] == "invalid_request"
    csv = service.http.get(f"/v1/jobs/{job}/results?format=csv")
    assert csv.headers["content-type"] in described["responses"]["200"]["content"]
    until(lambda: not temporary_results(b"r987650"))


def test_a_job_goes_on_after_a_restart(folder: Path, data: Path) -> None:
    keyed = {"idempotency-key": "before and after"}
    with running(folder, data, pace_s=0.2) as service:
        put(service, table(700, "slow"))
        job = service.http.post("/v1/jobs", json=JOB, headers=keyed).json()["id"]
        until(lambda: service.http.get(f"/v1/jobs/{job}").json()["counts"]["done"] > 0)
    ledger = Ledger(str(data / "jobs.db"))
    before = ledger.status(job)
    ledger.close()
    assert (before.state, 0 < before.counts.done < 700) == (JobState.READY, True)
    with running(folder, data, pace_s=0.0) as service:
        ready(service)
        assert service.http.post("/v1/jobs", json=JOB, headers=keyed).json()["id"] == job
        status = ended(service, job)
        assert (status["state"], status["counts"]["done"]) == ("completed", 700)


@pytest.mark.parametrize(
    ("change", "status", "pointer"),
    [
        ({"outputs": [{"path": "/etc/passwd"}]}, 400, "outputs"),
        ({"source": {"path": "../../etc/passwd", "text": "x"}}, 400, "source.path"),
        ({"source": {"path": "/etc/passwd", "text": "x", "format": "text"}}, 400, "source.path"),
        ({"source": {"path": "none.csv", "text": "x"}}, 404, None),
        ({"source": {"path": "in.csv", "text": "nobody"}}, 400, "source"),
        ({"schema": "invoise"}, 404, "schema"),
        ({"schema": {"properties": {"n": {"type": "strng"}}}}, 400, "schema"),
        ({"schema": False}, 422, "schema"),
        ({"schema": {"minimun": 1}, "options": {"strict_schema": True}}, 400, "schema"),
        ({"surprise": 1}, 400, "surprise"),
        ({"source": {"path": "in.csv", "txt": "body"}}, 400, "source.txt"),
        ({"sample": 2}, 400, "sample"),
        ({"extends": "job_" + "0" * 32}, 400, "extends"),
    ],
)
def test_jobs_that_cannot_be(
    service: Live, change: dict[str, Any], status: int, pointer: str | None
) -> None:
    put(service, table(1))
    before = jobs(service)
    answer = service.http.post("/v1/jobs", json=JOB | change)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"].get("param") == pointer
    assert jobs(service) == before


@pytest.mark.parametrize(("name", "value"), [("format", "xlsx"), ("formulas", "Keep")])
def test_results_in_no_known_form_are_refused_by_name(service: Live, name: str, value: str) -> None:
    put(service, table(1))
    job = service.http.post("/v1/jobs", json=JOB).json()["id"]
    answer = service.http.get(f"/v1/jobs/{job}/results", params={name: value})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, name)


@pytest.mark.parametrize("name", ["..", ".x", "a%2Fb", "%2e%2e%2fx", "x" * 129, "a b", "-x"])
def test_names_that_would_leave_the_folder(service: Live, shared: Path, name: str) -> None:
    ready(service)
    before = sorted(shared.rglob("*"))
    answer = service.http.put(f"/v1/files/{name}", content=b"x")
    assert answer.status_code in (400, 404, 405)
    assert sorted(shared.rglob("*")) == before


def test_files_are_listed_replaced_deleted_and_bounded(folder: Path, data: Path) -> None:
    with running(folder, data, max_data_bytes=1000) as service:
        put(service, b"x" * 600, "a.csv")
        put(service, b"y" * 700, "a.csv")
        refused = put(service, b"z" * 400, "b.csv")
        assert refused.status_code == 400
        assert "more than 1000 bytes" in refused.json()["error"]["message"]
        (listed,) = service.http.get("/v1/files").json()["data"]
        assert (listed["name"], listed["bytes"]) == ("a.csv", 700)
        assert service.http.delete("/v1/files/a.csv").json()["deleted"] is True
        assert service.http.delete("/v1/files/a.csv").status_code == 404
        assert list((data / "files").iterdir()) == []


def test_open_jobs_are_bounded_and_counted(folder: Path, data: Path) -> None:
    with running(folder, data, max_open_jobs=1) as service:
        put(service, table(MANY, "slow"))
        keyed = {"idempotency-key": "first"}
        first = service.http.post("/v1/jobs", json=JOB, headers=keyed).json()["id"]
        refused = service.http.post("/v1/jobs", json=JOB)
        assert refused.status_code == 429
        assert "are unfinished" in refused.json()["error"]["message"]
        again = service.http.post("/v1/jobs", json=JOB, headers=keyed)
        assert (again.status_code, again.json()["id"]) == (201, first)
        service.http.post(f"/v1/jobs/{first}/cancel")
        ended(service, first)
        put(service, table(5))
        assert ended(service, begin(service))["counts"]["done"] == 5
        tries = re.search(
            r'job_rows_total\{outcome="ok"\} (\d+)', service.http.get("/metrics").text
        )
        assert tries is not None
        assert int(tries[1]) >= 5


def test_unknown_jobs_and_a_server_without_a_folder(service: Live, folder: Path) -> None:
    ready(service)
    for path in ("", "/events", "/results", "/dead", "/report"):
        assert service.http.get(f"/v1/jobs/nobody{path}").status_code == 404
    assert service.http.post("/v1/jobs/nobody/cancel").status_code == 404
    with live(launch(), folder, watch=Watch(backoff_s=0.05)) as bare:
        until(lambda: bare.http.get("/ready").status_code == 200)
        answer = bare.http.get("/v1/jobs")
        assert answer.status_code == 404
        assert "--data" in answer.json()["error"]["hint"]


def test_a_row_that_kills_engines_dies_alone(service: Live) -> None:
    rows = table(40).decode().splitlines()
    put(service, "\n".join([*rows, 'die,"<<die x>>"']).encode())
    job = begin(service, attempts=1)
    status = ended(service, job)
    assert (status["state"], status["counts"]["done"]) == ("completed_with_errors", 40)
    (dead,) = service.http.get(f"/v1/jobs/{job}/dead").text.splitlines()
    assert (json.loads(dead)["id"], json.loads(dead)["code"]) == (
        "die",
        "request_quarantined",
    )
    # The service itself sends a request again that was lost with its engine: one attempt is three engines.
    assert json.loads(dead)["attempts"] == 1


def test_the_client_runs_a_job(service: Live, tmp_path: Path) -> None:
    ready(service)
    (tmp_path / "mine.csv").write_bytes(table(40) + b'\nlast," "\n')
    with Client(service.url) as client:
        name = client.jobs.upload(tmp_path / "mine.csv")
        source = Source(path=name, text="body", id="id")
        begun = client.jobs.create(SCHEMA, source, idempotency_key="mine", attempts=1)
        assert client.jobs.create(SCHEMA, source, idempotency_key="mine", attempts=1).id == begun.id
        status = client.jobs.wait(begun.id, timeout=PATIENCE_S)
        assert status.counts.done == 40
        assert begun.id in [one.id for one in client.jobs.list()]
        path = client.jobs.results(begun.id, tmp_path / "out.csv", "csv")
        assert path.read_text().startswith("id,n\nr0,0\n")
        assert [row.id for row in client.jobs.dead(begun.id)] == ["last"]
        with pytest.raises(NotFound):
            client.jobs.results("nobody", tmp_path / "none.csv")
        assert not (tmp_path / "none.csv").exists()
        with pytest.raises(BadRequest, match="ended"):
            client.jobs.cancel(begun.id)


def test_a_job_of_the_client_with_a_slip_is_refused_as_everything_else_is(service: Live) -> None:
    ready(service)
    put(service, table(2))
    good: dict[str, Any] = {"path": "rows.csv", "text": "body"}
    slips: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({"file": "rows.csv"}, {}, "/source/file"),
        ({}, {}, "/source/path"),
        (good, {"options": {"max_tokens": -4}}, "/options/max_tokens"),
        (good, {"options": {"max_token": 4}}, "/options/max_token"),
        (good, {"atempts": 4}, "/atempts"),
    ]
    with Client(service.url) as client:
        for source, more, pointer in slips:
            with pytest.raises(BadRequest) as refused:
                client.jobs.create(SCHEMA, source, **more)
            assert refused.value.details[0].pointer == pointer
        with pytest.raises(TypeError, match=r"such as \{\"path\": 'rows.csv'"):
            client.jobs.create(SCHEMA, "rows.csv")  # type: ignore[arg-type]
        with pytest.raises(NotFound, match="no job"):
            client.jobs.get("a job? of another")


def test_the_asynchronous_client_waits_and_gives_up(service: Live, tmp_path: Path) -> None:
    ready(service)
    (tmp_path / "slow.csv").write_bytes(table(MANY, "slow"))

    async def go() -> None:
        async with AsyncClient(service.url) as client:
            name = await client.jobs.upload(tmp_path / "slow.csv")
            job = await client.jobs.create(SCHEMA, {"path": name, "text": "body"})
            with pytest.raises(TimedOut, match="after"):
                await client.jobs.wait(job.id, timeout=0.1)
            await client.jobs.pause(job.id)
            state = job.state
            while state is not JobState.PAUSED:
                await asyncio.sleep(0.1)
                state = (await client.jobs.get(job.id)).state
            await client.jobs.resume(job.id)
            await client.jobs.cancel(job.id)

    asyncio.run(asyncio.wait_for(go(), PATIENCE_S))
