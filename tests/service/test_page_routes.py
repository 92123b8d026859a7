"""The page over HTTP: for browsers at `/`, without a key, under a strict policy."""

from collections.abc import Iterator

import pytest
from intaglio.schemas import catalogue
from intaglio.service.page.page_assets import asset_names

from tests.support.live_service import Live, live
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import QWEN2, write_checkpoint

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
KEY = {"authorization": "Bearer a-key"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = write_checkpoint(tmp_path_factory.mktemp("model") / "tiny", QWEN2)
    with live(launch(), folder, api_keys=("a-key",)) as service:
        yield service


def test_a_browser_gets_the_page_without_a_key(service: Live) -> None:
    answer = service.http.get("/", headers=BROWSER)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["vary"] == "accept"
    assert '<script type="module" src="/page/main.js">' in answer.text


def test_any_other_client_gets_what_unknown_paths_get(service: Live) -> None:
    assert service.http.get("/").status_code == 401
    answer, unknown = service.http.get("/", headers=KEY), service.http.get("/no", headers=KEY)
    assert answer.status_code == unknown.status_code == 404
    for member in ("code", "message", "type"):
        assert answer.json()["error"][member] == unknown.json()["error"][member]


def test_every_file_has_its_type_and_the_policy(service: Live) -> None:
    for name in (*asset_names(), "catalogue.json", "viewer.html"):
        answer = service.http.get(f"/page/{name}")
        assert answer.status_code == 200, name
        expected = {"css": "text/css", "js": "text/javascript", "json": "application/json"}
        assert answer.headers["content-type"].startswith(
            expected.get(name.rpartition(".")[2], "text/html")
        )
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-cache"


def test_the_policy_allows_nothing_inline_and_no_other_host(service: Live) -> None:
    given = service.http.get("/", headers=BROWSER).headers["content-security-policy"]
    policy = dict(part.strip().split(" ", 1) for part in given.split(";"))
    assert policy.pop("img-src") == "'self' data: blob:"
    for name in ("script-src", "style-src", "connect-src"):
        assert policy.pop(name) == "'self'"
    assert set(policy.values()) == {"'none'"}
    assert {"default-src", "base-uri", "form-action", "frame-ancestors"} == set(policy)


def test_a_file_that_the_browser_has_is_not_sent_again(service: Live) -> None:
    for path in ("/", "/page/main.js", "/page/catalogue.json"):
        first = service.http.get(path, headers=BROWSER)
        known = {**BROWSER, "if-none-match": first.headers["etag"]}
        again = service.http.get(path, headers=known)
        assert (again.status_code, again.content) == (304, b""), path


def test_no_other_file_is_served(service: Live) -> None:
    for name in ("index.html", "..%2fpage_assets.py", "nothing.js", "__init__.py"):
        assert service.http.get(f"/page/{name}").status_code == 404, name


def test_the_page_offers_the_catalogue(service: Live) -> None:
    offered = service.http.get("/page/catalogue.json").json()
    assert [entry["name"] for entry in offered] == list(catalogue.names())
    assert offered[0]["sample"] == catalogue.get(catalogue.names()[0]).sample


def test_the_calls_of_the_page_need_the_key(service: Live) -> None:
    assert service.http.get("/v1/models", headers=BROWSER).status_code == 401
    assert service.http.get("/v1/models", headers=KEY).status_code == 200
