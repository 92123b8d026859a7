"""Keys and names: who a server answers, over real sockets."""

import os
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from intaglio import Client
from intaglio.service.cli.banner import Banner
from intaglio.service.client import Unauthorized
from intaglio.service.config import ServiceConfig
from intaglio.service.errors import ServiceOverloaded
from intaglio.service.http.access import Access, is_loopback
from intaglio.service.http.exposure import is_exposed
from intaglio.service.http.limits import RequestGate
from intaglio.service.http.listen import CannotListen, listen, url
from intaglio.service.http.principal import Principal, acting_as

from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

KEYS = ("first-key", "second-key")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)


@pytest.fixture(scope="module")
def keyed(folder: Path) -> Iterator[Live]:
    with live(launch(), folder, api_keys=KEYS) as running:
        yield running


@pytest.fixture(scope="module")
def local(folder: Path) -> Iterator[Live]:
    with live(launch(), folder) as running:
        yield running


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def test_without_a_key_only_the_probes_answer(keyed: Live) -> None:
    for path in ("/health", "/ready", "/healthz", "/readyz"):
        assert keyed.http.get(path).status_code == 200
    for path in ("/v1/models", "/version", "/metrics", "/v1/jobs", "/nowhere"):
        answer = keyed.http.get(path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        error = answer.json()["error"]
        assert (error["code"], error["type"]) == ("unauthorized", "authentication_error")
        assert "INTAGLIO_API_KEY" in error["hint"]
    assert keyed.extract({}, "<<echo 1>>").status_code == 401


@pytest.mark.parametrize(
    "header",
    [
        "Bearer wrong",
        "Bearer first-key2",
        "Bearer first-ke",
        "Bearer",
        "first-key",
        "Basic first-key",
        "Bearer first-key second-key",
    ],
)
def test_a_wrong_key_is_no_key(keyed: Live, header: str) -> None:
    assert keyed.http.get("/version", headers={"authorization": header}).status_code == 401


def test_each_key_is_good_and_none_is_ever_logged(keyed: Live) -> None:
    for key in KEYS:
        for scheme in ("Bearer", "bearer"):
            headers = {"authorization": f"{scheme} {key}"}
            assert keyed.http.get("/version", headers=headers).status_code == 200
    assert keyed.http.get("/version", headers={"host": "any.example"} | bearer(KEYS[0])).is_success
    assert not any(key in keyed.log.getvalue() for key in KEYS)
    assert not any(key in repr(ServiceConfig(api_keys=KEYS)) for key in KEYS)


def test_the_client_sends_its_key(keyed: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTAGLIO_API_KEY", raising=False)
    with Client(keyed.url, api_key=KEYS[1]) as client:
        assert client.extract({}, "<<echo 7>>").data == 7
    with Client(keyed.url) as client, pytest.raises(Unauthorized) as refused:
        client.extract({}, "<<echo 7>>")
    assert not refused.value.retryable
    monkeypatch.setenv("INTAGLIO_API_KEY", KEYS[0])
    with Client(keyed.url) as client:
        assert client.version().model == "scripted"


def test_a_page_of_another_name_cannot_use_a_local_server(local: Live) -> None:
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "10.0.0.1", ""):
        answer = local.http.get("/version", headers={"host": host})
        assert answer.status_code == 403, host
        assert answer.json()["error"]["code"] == "host_not_allowed"
    for host in (
        "localhost",
        "LOCALHOST:1",
        "127.0.0.1",
        "127.8.8.8:80",
        "[::1]:3",
        "x",
        "desk:80",
        "app.localhost",
    ):
        assert local.http.get("/version", headers={"host": host}).status_code == 200, host
    assert local.http.get("/ready", headers={"host": "evil.example"}).status_code == 200


def test_names_that_are_given_are_the_only_ones(folder: Path) -> None:
    with live(launch(), folder, allowed_hosts=("api.example",)) as service:
        assert service.http.get("/version", headers={"host": "API.example:8"}).status_code == 200
        assert service.http.get("/version").status_code == 403
    any_host = Access(ServiceConfig(allowed_hosts=("*",)))
    any_host.check(request("127.0.0.1", "evil.example"))


def request(came_to: str, host: str) -> dict[str, Any]:
    return {"path": "/version", "headers": [(b"host", host.encode())], "server": (came_to, 80)}


def test_a_server_that_others_reach_answers_to_any_name_and_is_told_to_have_a_key() -> None:
    everywhere = Access(ServiceConfig(host="0.0.0.0"))
    everywhere.check(request("127.0.0.1", "api.example"))
    assert is_exposed(ServiceConfig(host="0.0.0.0"))
    assert not is_exposed(ServiceConfig(host="0.0.0.0", api_keys=KEYS))
    assert not is_exposed(ServiceConfig(host="0.0.0.0", key_store="somewhere"))
    assert not is_exposed(ServiceConfig(host="localhost"))
    assert [is_loopback(name) for name in ("::1", "[::1]", "localhost.", "::", "8.8.8.8")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_server_without_a_key_on_all_addresses_warns(folder: Path) -> None:
    with live(launch(), folder, host="0.0.0.0") as service:
        assert service.url.startswith("http://127.0.0.1:")
        assert "every machine that reaches this server can use it" in service.log.getvalue()
        assert "INTAGLIO_API_KEYS" in service.log.getvalue()


def test_keys_come_from_the_environment_and_a_file(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("# ours\nfrom-file\n\n  padded \n")
    config = ServiceConfig.load(
        {"INTAGLIO_API_KEYS": "one, two", "INTAGLIO_SERVICE_API_KEYS_FILE": str(tmp_path / "keys")}
    )
    assert config.api_keys == ("one", "two", "from-file", "padded")
    assert ServiceConfig.load({"INTAGLIO_SERVICE_API_KEYS": "x"}).api_keys == ("x",)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"INTAGLIO_SERVICE_PORTS": "1"}, "did you mean INTAGLIO_SERVICE_PORT\\?"),
        ({"INTAGLIO_API_KEYS": " "}, "holds no value"),
        ({"INTAGLIO_API_KEYS": "ké"}, "printable"),
        ({"INTAGLIO_API_KEYS": "two words"}, "spaces"),
        ({"INTAGLIO_SERVICE_API_KEYS_FILE": "/nowhere/keys"}, "cannot be read"),
        ({"INTAGLIO_SERVICE_API_KEYS_FILE": os.devnull}, "holds no key"),
        ({"INTAGLIO_SERVICE_MAX_REQUESTS": "99999999999"}, "from 1 to"),
    ],
)
def test_a_setting_that_protects_nothing_stops_the_start(
    environ: dict[str, str], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        ServiceConfig.load(environ)


def test_the_banner_says_how_to_send_the_key() -> None:
    assert "authorization" not in str(Banner("1", "http://x:1", "m"))
    assert '-H "authorization: Bearer $INTAGLIO_API_KEY"' in str(
        Banner("1", "http://x:1", "m", keyed=True)
    )


def test_an_address_that_cannot_be_had_is_said_in_words() -> None:
    (taken,) = listen("127.0.0.1", 0)
    port = taken.getsockname()[1]
    taken.listen()
    with taken, pytest.raises(CannotListen, match=f"port {port}") as refused:
        listen("127.0.0.1", port)
    assert "--port" in refused.value.hint
    with pytest.raises(CannotListen, match=r"192\.0\.2\.1"):
        listen("192.0.2.1", 0)
    for sock in (everywhere := listen("0.0.0.0", 0)):
        assert url(sock) == f"http://127.0.0.1:{everywhere[0].getsockname()[1]}"
        sock.close()


def test_retry_after_is_the_length_of_the_queue_at_its_pace() -> None:
    now = [1000.0]
    gate = RequestGate(100, lambda: now[0])
    assert gate.retry_after_s == 1
    inside = [gate.admit() for _ in range(30)]
    for one in inside:
        one.__enter__()
    for one in inside[:10]:  # one in two seconds
        now[0] += 2.0
        one.__exit__(None, None, None)
    assert gate.retry_after_s == 40
    for one in inside[10:]:
        one.__exit__(None, None, None)
    now[0] += 3600.0  # idle: it says nothing of the pace
    with gate.admit():
        now[0] += 1.0
        assert gate.retry_after_s == 1
        now[0] += 10_000.0
        assert gate.retry_after_s == 600


def test_no_tenant_fills_the_server_alone() -> None:
    gate = RequestGate(16, reserved=4)

    def admitted(tenant: str, count: int) -> int:
        """How many of so many requests get in, and stay."""
        inside = 0
        with acting_as(Principal(tenant=tenant)):
            for _ in range(count):
                one = gate.admit()
                try:
                    one.__enter__()
                except ServiceOverloaded:
                    continue
                staying.append(one)
                inside += 1
        return inside

    staying: list[AbstractContextManager[None]] = []
    assert admitted("flood", 50) == 12
    assert admitted("light", 3) == 3
    assert admitted("flood", 50) == 0
    assert admitted("third", 3) == 1
    assert admitted("fourth", 3) == 0, "the limit is the limit"
    for one in staying:
        one.__exit__(None, None, None)
    assert gate.in_flight == 0
    assert admitted("flood", 50) == 12


def test_the_deaths_of_an_engine_are_in_the_log_and_the_meters(folder: Path) -> None:
    with live(launch(), folder) as service:
        info = service.app.service.backend.info
        assert info is not None
        os.kill(info.pid, signal.SIGKILL)
        until(lambda: "intaglio_engine_restarts_total 1.0" in service.http.get("/metrics").text)
        assert "intaglio_engine_deaths_total 1.0" in service.http.get("/metrics").text
        events = service.log.getvalue()
        assert '"event": "engine died"' in events
        assert '"event": "engine restarted"' in events
