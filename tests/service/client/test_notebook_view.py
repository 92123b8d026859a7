"""Extractions in notebooks: a table of all values, every text escaped."""

from typing import Any

from intaglio.service.client.models import extraction
from intaglio.service.client.shapes import Shape
from lxml import html
from pydantic_core import to_json

from tests.support.stub_service import result

NASTY = '"><script>alert(1)</script>'


def shown(data: Any, **more: Any) -> Any:
    """The elements that a notebook makes of an extraction."""
    body = to_json(result(data, **more))
    return html.fromstring(
        f"<div>{extraction(body, Shape(schema=True, adapter=None), None)._repr_html_()}</div>"
    )


def rows(found: Any) -> list[list[str]]:
    return [[cell.text_content() for cell in row] for row in found.findall(".//tbody/tr")]


def test_every_leaf_is_a_row() -> None:
    found = shown({"a": "x", "l": [{"n": 1.5}, {"n": None}], "e": []})
    assert rows(found) == [["/a", "x"], ["/l/0/n", "1.5"], ["/l/1/n", "null"], ["/e", "[]"]]


def test_texts_of_documents_stay_texts() -> None:
    warning = {"pointer": f"/{NASTY}", "kind": "looped", "message": NASTY}
    found = shown({NASTY: NASTY}, warnings=[warning])
    assert not found.findall(".//script")
    assert rows(found) == [[f"/{NASTY.replace('/', '~1')}", NASTY]]
    assert found.findall(".//p")[-1].text_content() == f"/{NASTY}: {NASTY}"


def test_a_long_answer_is_cut_and_the_rest_counted() -> None:
    found = shown(["x" * 1000, *range(300)])
    assert len(rows(found)) == 200
    assert rows(found)[0][1] == "x" * 500 + "…"
    assert found.findall(".//p")[-1].text_content() == "101 more values are not shown"
