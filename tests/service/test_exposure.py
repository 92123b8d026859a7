"""What a server lets in from other machines and from web pages."""

import ssl
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
import trustme
from intaglio.service.config import ServiceConfig
from intaglio.service.http.exposure import require_protection
from intaglio.service.http.listen import CannotListen
from intaglio.service.http.server import serve_application
from intaglio.service.keys.key_store import KeyGrant, KeyStore

from tests.support.backend_double import BackendDouble
from tests.support.live_service import Live, live
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

ORIGIN = "https://app.example"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "server.example", ""])
def test_other_machines_need_a_key_unless_they_are_let_in(host: str) -> None:
    with pytest.raises(CannotListen, match="without API keys") as refused:
        require_protection(ServiceConfig(host=host))
    assert "--allow-anonymous" in refused.value.hint
    require_protection(ServiceConfig(host=host, allow_anonymous=True))
    require_protection(ServiceConfig(host=host, api_keys=("key",)))
    require_protection(ServiceConfig(host=host, key_store="folder"))


def test_this_machine_needs_none() -> None:
    for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9"):
        require_protection(ServiceConfig(host=host))


def test_a_server_that_may_not_listen_does_not(folder: Path) -> None:
    from intaglio.service.extraction.text_model import TextModel
    from intaglio.service.http.app import Application

    def make() -> Application:
        config = ServiceConfig(host="0.0.0.0", port=0)
        return Application(BackendDouble(), lambda: TextModel.load(folder), "x", config)

    with pytest.raises(CannotListen, match="without API keys"):
        serve_application(make, lambda _: pytest.fail("it listens"))


def test_tls_with_a_certificate_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    certificate.write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(str(key))
    context = ssl.create_default_context()
    authority.configure_trust(context)
    settings: dict[str, Any] = {"tls_cert": str(certificate), "tls_key": str(key)}
    require_protection(ServiceConfig(**settings))
    with live(launch(), folder, wait=False, **settings) as service:
        assert service.url.startswith("https://127.0.0.1:")
        with httpx2.Client(verify=context) as http:
            assert http.get(f"{service.url}/health").json()["status"] == "ok"
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(f"{service.url}/health", verify=ssl.create_default_context())
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(f"{service.url}/health".replace("https", "http"))


def test_a_certificate_that_is_none_stops_the_start(tmp_path: Path) -> None:
    pem = tmp_path / "x.pem"
    with pytest.raises(CannotListen, match="No such file"):
        require_protection(ServiceConfig(tls_cert=str(pem), tls_key=str(pem)))
    pem.write_text("no certificate")
    with pytest.raises(CannotListen, match="no certificate and its key"):
        require_protection(ServiceConfig(tls_cert=str(pem), tls_key=str(pem)))
    with pytest.raises(ValueError, match="together"):
        ServiceConfig(tls_cert=str(pem))


def preflight(service: Live, origin: str) -> httpx2.Response:
    headers = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type",
    }
    return service.http.options("/v1/extract", headers=headers)


def test_web_pages_call_only_a_server_that_names_them(folder: Path) -> None:
    keyed = {"authorization": "Bearer key", "origin": ORIGIN}
    with live(launch(), folder, api_keys=("key",)) as service:
        assert "access-control-allow-origin" not in preflight(service, ORIGIN).headers
        answer = service.http.get("/version", headers=keyed)
        assert not any(name.startswith("access-control") for name in answer.headers)
    with live(launch(), folder, api_keys=("key",), cors_origins=(ORIGIN,)) as service:
        allowed = preflight(service, ORIGIN)
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == ORIGIN
        assert "access-control-allow-credentials" not in allowed.headers
        assert preflight(service, "https://evil.example").status_code == 400
        answer = service.http.get("/version", headers=keyed)
        assert answer.headers["access-control-allow-origin"] == ORIGIN
        refused = service.http.get("/version", headers={"origin": ORIGIN})
        assert refused.status_code == 401
        assert refused.headers["access-control-allow-origin"] == ORIGIN, "a page may read why"
        other = service.http.get("/version", headers={**keyed, "origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize(
    "origin", ["app.example", "https://app.example/", "https://", "ftp://x", "null", "https://*"]
)
def test_an_origin_that_is_none_stops_the_start(origin: str) -> None:
    with pytest.raises(ValueError, match="no origin"):
        ServiceConfig(cors_origins=(origin,))


def test_every_origin_needs_keys() -> None:
    with pytest.raises(ValueError, match="needs API keys"):
        ServiceConfig(cors_origins=("*",))
    assert ServiceConfig(cors_origins=("*",), api_keys=("key",)).cors_origins == ("*",)


def test_one_socket_listens_and_only_the_user_may_read_what_is_kept(
    folder: Path, tmp_path: Path
) -> None:
    before = listening()
    KeyStore(tmp_path / "keys", create=True).create(KeyGrant())
    settings: dict[str, Any] = {"key_store": str(tmp_path / "keys"), "data": str(tmp_path / "data")}
    with live(launch(), folder, **settings) as service:
        assert listening() - before == {service.address[1]}, "engine and compiler open no port"
        for folder_of in ("keys", "data"):
            assert stat.S_IMODE((tmp_path / folder_of).stat().st_mode) == 0o700
        for kept in (tmp_path / "keys").iterdir():
            assert stat.S_IMODE(kept.stat().st_mode) == 0o600, kept


def listening() -> set[int]:
    """Ports of the Internet on which this process and all below it listen."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    found = set()
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # it has just ended
            for connection in process.net_connections(kind="inet"):
                if connection.status == psutil.CONN_LISTEN:
                    found.add(connection.laddr.port)
    return found
