"""`/docs` works offline: every file comes from the package, and the page may load nothing else."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.support.live_service import Live, live
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import QWEN2, write_checkpoint

PAGE = Path(__file__).parents[2] / "service/http/docs_page"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = write_checkpoint(tmp_path_factory.mktemp("model") / "tiny", QWEN2)
    with live(launch(), folder, api_keys=("a-key",)) as service:
        yield service


def assets(page: str) -> list[str]:
    """What the page loads."""
    return re.findall(r'<(?:script|link)[^>]* (?:src|href)="([^"]+)"', page)


def test_the_page_and_all_it_loads_come_from_the_server_without_a_key(service: Live) -> None:
    page = service.http.get("/docs")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    loaded = [path for path in assets(page.text) if not path.startswith("data:")]
    assert len(loaded) == 4
    for path in loaded:
        answer = service.http.get(f"/{path}")
        assert answer.status_code == 200, path
        expected = "text/css" if path.endswith(".css") else "text/javascript"
        assert answer.headers["content-type"].startswith(expected)
        assert len(answer.content) > 100


def test_the_page_may_run_and_reach_nothing_of_other_hosts(service: Live) -> None:
    answer = service.http.get("/docs")
    policy = dict(
        part.strip().split(" ", 1)
        for part in answer.headers["content-security-policy"].split(";")
        if part.strip()
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == "'self'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in answer.text
    assert not re.findall(r"\son\w+=", answer.text)
    for file in ("docs.html", "docs.css", "docs.js"):
        assert "://" not in (PAGE / file).read_text("utf-8")


def test_the_interface_itself_needs_a_key(service: Live) -> None:
    assert service.http.get("/openapi.json").status_code == 401
    answer = service.http.get("/openapi.json", headers={"authorization": "Bearer a-key"})
    assert "/docs" in answer.json()["paths"]


def test_large_files_are_sent_compressed_to_clients_that_take_that(service: Live) -> None:
    path = "/docs/swagger-ui-bundle.js"
    packed = service.http.get(path, headers={"accept-encoding": "gzip"})
    plain = service.http.get(path, headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    assert packed.headers["etag"] != plain.headers["etag"]
    assert packed.headers["vary"] == "accept-encoding"


def test_a_file_that_the_client_has_is_not_sent_again(service: Live) -> None:
    first = service.http.get("/docs/docs.js")
    again = service.http.get("/docs/docs.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_no_other_file_is_served(service: Live) -> None:
    for name in ("origin.json", "docs.html", "..%2fdocument_routes.py", "swagger-ui.css.gz"):
        answer = service.http.get(f"/docs/{name}")
        assert answer.status_code == 404, name


def test_head_of_the_page_has_no_body(service: Live) -> None:
    answer: httpx2.Response = service.http.head("/docs")
    assert (answer.status_code, answer.content) == (200, b"")


def test_the_vendored_files_are_those_of_their_release() -> None:
    origin = json.loads((PAGE / "origin.json").read_text("utf-8"))
    for name, digest in origin["sha256"].items():
        content = gzip.decompress((PAGE / f"{name}.gz").read_bytes())
        assert hashlib.sha256(content).hexdigest() == digest
    assert "Apache License" in (PAGE / "LICENSE.txt").read_text("utf-8")
