"""The generated pages are what the code makes of them, and the written ones leave nothing out."""

import json
import re

import pytest
from intaglio.schemas.problem import Code
from intaglio.service.http.app import ALL_ROUTES
from intaglio.service.http.openapi import OPERATIONS, document

from tests.support.pages import DOCS, PAGES
from tests.support.pages.settings import meanings, settings


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs-pages`"


def test_every_setting_has_a_meaning() -> None:
    assert set(meanings()) == set(settings())
    assert all(told["meaning"].endswith(".") for told in meanings().values())


def test_every_route_is_in_the_openapi_document() -> None:
    routes = {(method, path) for path, handlers in ALL_ROUTES.items() for method in handlers}
    assert set(OPERATIONS) == routes
    described = {(m.upper(), path) for path, of in document()["paths"].items() for m in of}
    assert described == routes


def test_every_reference_of_the_openapi_document_resolves() -> None:
    text = json.dumps(document())
    named = set(re.findall(r'"#/components/schemas/(\w+)"', text))
    assert named <= set(document()["components"]["schemas"])
    assert len(named) > 20


def test_every_parameter_of_a_path_is_described() -> None:
    for (_, path), operation in OPERATIONS.items():
        named = {p.name for p in operation.parameters if p.place == "path"}
        assert named == set(re.findall(r"\{(\w+)\}", path)), path


def test_every_error_code_has_an_entry() -> None:
    text = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### `(\w+)`$", text, re.MULTILINE)) == {code.value for code in Code}
