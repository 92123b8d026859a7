"""Generated pages match the code, and written pages are complete."""

import json
import re

import pytest
from intaglio.schemas.problem import Code
from intaglio.service.http.interface import OPERATIONS
from intaglio.service.http.openapi import document

from tests.support.pages import DOCS, PAGES
from tests.support.pages.settings import meanings, settings


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs-pages`"


def test_every_setting_has_a_meaning() -> None:
    assert set(meanings()) == set(settings())
    assert all(told["meaning"].endswith(".") for told in meanings().values())


def test_every_operation_is_in_the_openapi_document() -> None:
    plain = re.compile(r":\w+\}")  # converters of parameters are not part of OpenAPI
    declared = {(o.method, plain.sub("}", o.path)) for o in OPERATIONS}
    paths = document(OPERATIONS)["paths"]
    assert {(method.upper(), path) for path, of in paths.items() for method in of} == declared
    names = [of[method]["operationId"] for of in paths.values() for method in of]
    assert len(set(names)) == len(names) == len(OPERATIONS)


def test_every_reference_of_the_openapi_document_resolves() -> None:
    described = document(OPERATIONS)
    named = set(re.findall(r'"#/components/schemas/([\w.-]+)"', json.dumps(described)))
    assert named <= set(described["components"]["schemas"])
    assert len(named) > 20


def test_every_parameter_of_a_path_is_described() -> None:
    for operation in OPERATIONS:
        named = {p.name for p in operation.parameters if p.place == "path"}
        assert named == set(re.findall(r"\{(\w+)(?::\w+)?\}", operation.path)), operation.path


def test_every_error_code_has_an_entry() -> None:
    text = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### `(\w+)`$", text, re.MULTILINE)) == {code.value for code in Code}
