"""A server with a key store, over real sockets: scopes, limits, audit, and nothing secret where it does not belong."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from intaglio.service.config import ServiceConfig
from intaglio.service.errors import AuthenticationFailed
from intaglio.service.http.access import Access
from intaglio.service.http.app import Application
from intaglio.service.http.interface import OPERATIONS
from intaglio.service.keys.audit_log import entries, verified
from intaglio.service.keys.key_limits import KeyLimits
from intaglio.service.keys.key_store import KeyGrant, KeyStore
from intaglio.service.keys.scopes import ALL_SCOPES, KeyScope
from intaglio.service.keys.store_errors import KeyStoreError

from tests.support.backend_double import BackendDouble
from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
TEXT = '<<echo {"n":1}>>'


@dataclass
class Tenants:
    """A running server and its key store."""

    live: Live
    folder: Path
    store: KeyStore

    def key(self, **grant: Any) -> dict[str, str]:
        """The header of a new key."""
        return {"authorization": f"Bearer {self.store.create(KeyGrant(**grant))[0]}"}

    def audited(self, key: str, count: int) -> list[dict[str, Any]]:
        """The lines of one key, once there are so many: they are written after the answer."""

        def found() -> list[dict[str, Any]]:
            return [entry for entry in entries(self.folder) if entry.get("key") == key]

        until(lambda: len(found()) >= count)
        return found()

    def extract(self, headers: dict[str, str], **more: Any) -> httpx2.Response:
        body = {"schema": SCHEMA, "text": TEXT, **more}
        return self.live.http.post("/v1/extract", json=body, headers=headers)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)


@pytest.fixture(scope="module")
def tenants(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenants]:
    keys = tmp_path_factory.mktemp("keys")
    store = KeyStore(keys, create=True)
    with live(launch(), folder, key_store=str(keys)) as running:
        yield Tenants(running, keys, store)


def test_a_store_without_a_key_lets_nothing_in(tenants: Tenants) -> None:
    assert tenants.extract({}).status_code == 401
    assert tenants.extract({"authorization": "Bearer ik_00000000_x"}).status_code == 401
    assert tenants.live.http.get("/version").status_code == 401


def test_a_key_works_until_it_is_revoked(tenants: Tenants) -> None:
    key, made = tenants.store.create(KeyGrant())
    headers = {"authorization": f"Bearer {key}"}
    assert tenants.extract(headers).status_code == 200
    tenants.store.revoke(made.id)
    assert tenants.extract(headers).status_code == 401


def test_every_operation_asks_for_its_scope(tenants: Tenants) -> None:
    """Generated from the table of operations: no route is forgotten."""
    keys = {scope: tenants.key(scopes=frozenset({scope})) for scope in ALL_SCOPES}
    for operation in OPERATIONS:
        path = operation.path.replace("{id}", "x").replace("{name}", "x")
        for scope, headers in keys.items():
            answer = tenants.live.http.request(operation.method, path, headers=headers)
            permitted = operation.scope in (scope, KeyScope.ANY, KeyScope.NONE)
            assert (answer.status_code == 403) is not permitted, (operation.path, scope)
            if not permitted:
                # By its code, or in Ollama's words.
                told = ("insufficient_scope", "does not have the scope")
                assert answer.text == "" or any(words in answer.text for words in told)
        # As a browser: the page at / is for browsers only, and needs no key.
        browser = {"accept": "text/html"}
        bare = tenants.live.http.request(operation.method, path, headers=browser)
        assert (bare.status_code == 401) is (operation.scope is not KeyScope.NONE), operation.path


TRICKS = ("/{}", "{}/", "/.{}", "/%2e{}", "{}%2f", "{}%00", "{};a", "/x/..{}", "{}?x", "{}//")


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "OPTIONS", "PUT", "TRACE", "FOO"])
def test_no_other_way_to_write_a_path_or_method_is_a_way_around_the_key(
    tenants: Tenants, method: str
) -> None:
    """Raw, so that no client makes the paths decent."""
    paths = [operation.path for operation in OPERATIONS if operation.scope is not KeyScope.NONE]
    sent = [trick.format(path) for path in (*paths, "/health") for trick in TRICKS]
    for path in sent[:: 1 if method == "GET" else 7]:
        with socket.create_connection(tenants.live.address, timeout=60) as connection:
            head = f"{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
            connection.sendall(head.encode())
            status = int(connection.makefile("rb").readline().split()[1])
        exact = path in ("/health?x", "/health")
        assert status in ((200, 405) if exact else (400, 401)), (method, path, status)


def test_requests_beyond_a_limit_are_told_when_to_come_back(tenants: Tenants) -> None:
    headers = tenants.key(limits=KeyLimits(requests_per_minute=2))
    answers = [tenants.extract(headers) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    error = answers[-1].json()["error"]
    assert (error["code"], error["type"]) == ("rate_limit_exceeded", "rate_limit_error")
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 30
    assert tenants.live.http.get("/v1/models", headers=headers).status_code == 200
    assert tenants.extract(tenants.key()).status_code == 200, "another key has limits of its own"


def test_tokens_are_charged_as_used_and_refused_before_the_engine_sees_them(
    tenants: Tenants,
) -> None:
    used = tenants.extract(tenants.key()).json()["usage"]["total_tokens"]
    key, made = tenants.store.create(KeyGrant(limits=KeyLimits(tokens_per_day=2 * used + 50)))
    headers = {"authorization": f"Bearer {key}"}
    answers = [tenants.extract(headers, options={"max_tokens": 40}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].json()["error"]["code"] == "quota_exceeded"
    rows = tenants.audited(made.id, 3)
    assert [row["prompt_tokens"] + row["output_tokens"] for row in rows] == [used, used, 0]


def test_requests_in_flight_are_bounded_and_given_back(tenants: Tenants, tmp_path: Path) -> None:
    headers = tenants.key(limits=KeyLimits(concurrent=2))
    release = tmp_path / "release"
    body = {"schema": {"const": 1}, "text": f"<<hold {release}>>"}

    def send(_: int) -> int:
        return httpx2.post(
            f"{tenants.live.url}/v1/extract", json=body, headers=headers, timeout=100
        ).status_code

    with ThreadPoolExecutor(2) as pool:
        held = pool.map(send, range(2))
        until(lambda: tenants.live.app.service.gate.in_flight == 2)
        refused = tenants.extract(headers)
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "1"
        release.touch()
        assert list(held) == [200, 200]
    assert tenants.extract(headers).status_code == 200


def test_each_request_with_a_key_is_one_line_of_the_audit(tenants: Tenants) -> None:
    key, made = tenants.store.create(KeyGrant(tenant="audited"))
    headers = {"authorization": f"Bearer {key}"}
    for number in range(5):
        tenants.extract({**headers, "x-request-id": f"audited-{number}"})
    tenants.live.http.get("/nowhere", headers=headers)
    tenants.extract({})
    rows = tenants.audited(made.id, 6)
    assert verified(tenants.folder, tenants.store.secret).lines > 0
    assert [row["request_id"] for row in rows[:5]] == [f"audited-{n}" for n in range(5)]
    assert [row["outcome"] for row in rows] == ["ok"] * 5 + ["not_found"]
    assert {row["tenant"] for row in rows} == {"audited"}
    assert key not in (tenants.folder / "audit.jsonl").read_text()
    assert "n\\" not in (tenants.folder / "audit.jsonl").read_text()


def test_tenants_reach_the_engine_under_salts_that_no_client_can_guess(tenants: Tenants) -> None:
    access = Access(ServiceConfig(), tenants.store)
    scope = {"path": "/version", "server": ("127.0.0.1", 1)}

    def salt(tenant: str) -> str:
        header = tenants.key(tenant=tenant)["authorization"].encode()
        return access.check({**scope, "headers": [(b"authorization", header)]}).cache_salt

    assert salt("one") == salt("one")
    assert len({salt("one"), salt("two"), salt("three"), ""}) == 4


def test_work_in_the_background_acts_for_a_key_while_that_is_valid(tenants: Tenants) -> None:
    access = Access(ServiceConfig(), tenants.store)
    _, made = tenants.store.create(KeyGrant(tenant="later", weight=3.0))
    found = access.owner(made.id)
    assert (found.tenant, found.weight, found.key_id) == ("later", 3.0, made.id)
    assert found.in_background
    assert access.owner("").tenant == "default"
    tenants.store.revoke(made.id)
    with pytest.raises(AuthenticationFailed):
        access.owner(made.id)
    assert access.tenant_of(made.id) == "later", "its jobs are its tenant's all the same"
    assert access.tenant_of("00000000") == ""


def test_a_server_does_not_start_over_a_store_that_is_not_there(
    folder: Path, tmp_path: Path
) -> None:
    config = ServiceConfig(key_store=str(tmp_path / "nothing"))
    with pytest.raises(KeyStoreError, match="holds no key store"):
        Application(BackendDouble(), lambda: None, "x", config)  # type: ignore[arg-type, return-value]


def test_no_job_extends_that_of_another_tenant(folder: Path, tmp_path: Path) -> None:
    """It would get the values of rows that it has in common with it."""
    store = KeyStore(tmp_path / "keys", create=True)
    data, body = (
        str(tmp_path / "data"),
        {"schema": SCHEMA, "source": {"path": "in.csv", "text": "t"}},
    )
    with live(launch(), folder, key_store=str(tmp_path / "keys"), data=data) as running:
        of = Tenants(running, tmp_path / "keys", store)
        scopes = frozenset({KeyScope.JOBS})
        mine, theirs = (of.key(tenant=tenant, scopes=scopes) for tenant in ("ours", "others"))
        for headers in (mine, theirs):
            until(lambda: running.http.get("/v1/jobs", headers=mine).status_code == 200)
            running.http.put("/v1/files/in.csv", content=f"t\n{TEXT!r}\n", headers=headers)
        job = running.http.post("/v1/jobs", json=body, headers=mine).json()["id"]
        for headers, status in ((theirs, 400), (mine, 201)):
            asked = {**body, "extends": job}
            answer = running.http.post("/v1/jobs", json=asked, headers=headers)
            assert answer.status_code == status, answer.text
