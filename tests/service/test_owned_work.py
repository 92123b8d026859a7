"""Jobs and files belong to a tenant: another one cannot see, read, change or guess them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from intaglio.service.http.interface import OPERATIONS
from intaglio.service.keys.key_store import KeyGrant, KeyStore
from intaglio.service.keys.scopes import KeyScope

from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

LINES = '{"text": "<<echo 1>>"}\n{"text": "<<echo 2>>"}\n'


@dataclass
class Shared:
    live: Live
    store: KeyStore

    def key(self, tenant: str) -> tuple[str, dict[str, str]]:
        key, made = self.store.create(KeyGrant(tenant=tenant))
        return made.id, {"authorization": f"Bearer {key}"}

    def job(self, headers: dict[str, str], file: str = "rows.jsonl") -> dict[str, Any]:
        put = self.live.http.put(f"/v1/files/{file}", content=LINES, headers=headers)
        assert put.status_code == 201, put.text
        assert put.json()["id"] == file
        body = {"schema": {"type": "integer"}, "source": {"path": file, "text": "text"}}
        made = self.live.http.post("/v1/jobs", json=body, headers=headers)
        assert made.status_code == 201, made.text
        found: dict[str, Any] = made.json()
        return found


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    keys, data = tmp_path_factory.mktemp("keys"), tmp_path_factory.mktemp("data")
    store = KeyStore(keys, create=True)
    with live(launch(), folder, key_store=str(keys), data=str(data)) as running:
        yield Shared(running, store)


def test_a_job_runs_for_its_key_and_is_told_to_its_tenant_only(shared: Shared) -> None:
    http = shared.live.http
    name, first = shared.key("first")
    _, same = shared.key("first")
    _, other = shared.key("other")
    job = shared.job(first)["id"]
    assert job.startswith(f"job_{name}.")
    until(lambda: http.get(f"/v1/jobs/{job}", headers=first).json()["state"] == "completed")
    results = http.get(f"/v1/jobs/{job}/results", headers=same)
    assert [line.partition(":")[2] for line in results.text.splitlines()]
    assert job in [found["id"] for found in http.get("/v1/jobs", headers=same).json()["data"]]
    assert http.get("/v1/jobs", headers=other).json()["data"] == []


def test_every_operation_on_the_work_of_another_tenant_is_404(shared: Shared) -> None:
    """Generated from the table of operations."""
    _, owner = shared.key("owner")
    _, other = shared.key("stranger")
    job, file = shared.job(owner, "secret-name.jsonl")["id"], "secret-name.jsonl"
    tried = 0
    for operation in OPERATIONS:
        if operation.scope is not KeyScope.JOBS or "{" not in operation.path:
            continue
        if operation.method == "PUT":
            continue  # writes a file of one's own
        path = operation.path.replace("{id}", job).replace("{name}", file)
        answer = shared.live.http.request(operation.method, path, headers=other)
        assert answer.status_code == 404, (operation.method, path, answer.text)
        tried += 1
    assert tried >= 8
    assert shared.live.http.get(f"/v1/files/{file}", headers=owner).status_code == 200
    assert shared.live.http.get(f"/v1/jobs/{job}", headers=owner).status_code == 200


def test_equal_names_are_files_of_their_own(shared: Shared) -> None:
    http = shared.live.http
    keys = [shared.key(tenant)[1] for tenant in ("one", "two", "default")]
    for number, headers in enumerate(keys):
        http.put("/v1/files/same.txt", content=f"of {number}", headers=headers)
    for number, headers in enumerate(keys):
        read = http.get("/v1/files/same.txt/content", headers=headers)
        assert read.text == f"of {number}"
        names = [found["id"] for found in http.get("/v1/files", headers=headers).json()["data"]]
        assert names.count("same.txt") == 1
    assert http.delete("/v1/files/same.txt", headers=keys[0]).status_code in (200, 204)
    assert http.get("/v1/files/same.txt", headers=keys[0]).status_code == 404
    assert http.get("/v1/files/same.txt/content", headers=keys[1]).text == "of 1"


def test_a_job_cannot_read_the_file_of_another_tenant(shared: Shared) -> None:
    http = shared.live.http
    _, owner = shared.key("reader")
    _, other = shared.key("thief")
    form = {"purpose": (None, "user_data"), "file": ("x.jsonl", LINES)}
    file = http.post("/v1/files", files=form, headers=owner).json()["id"]
    body = {"schema": {"type": "integer"}, "source": {"path": file, "text": "text"}}
    body["source"]["format"] = "jsonl"
    assert http.post("/v1/jobs", json=body, headers=other).status_code == 404
    assert http.post("/v1/jobs", json=body, headers=owner).status_code == 201


def test_one_idempotency_key_of_two_tenants_makes_two_jobs(shared: Shared) -> None:
    http, jobs = shared.live.http, set()
    for tenant in ("a", "b"):
        _, headers = shared.key(tenant)
        http.put("/v1/files/r.jsonl", content=LINES, headers=headers)
        body = {"schema": {"type": "integer"}, "source": {"path": "r.jsonl", "text": "text"}}
        same = {**headers, "idempotency-key": "the same"}
        jobs |= {http.post("/v1/jobs", json=body, headers=same).json()["id"] for _ in range(2)}
    assert len(jobs) == 2
