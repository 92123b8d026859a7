"""The demo's arithmetic: which values of an answer are not the expected ones."""

from dataclasses import replace
from typing import Any

import pytest
from intaglio.schemas import catalogue
from intaglio.schemas.extraction.results import Timings, Usage
from intaglio.service.cli.cli_errors import CliError
from intaglio.service.cli.demo import DemoDocument, show
from intaglio.service.client import Extraction
from rich.console import Console


def shown(data: Any, name: str = "invoice") -> DemoDocument:
    usage = Usage(prompt_tokens=1, output_tokens=1, total_tokens=2)
    timings = Timings(queue_ms=0, prefill_ms=1, decode_ms=1, total_ms=2)
    outcome = Extraction(
        data,
        valid=True,
        finish="stop",
        usage=usage,
        timings=timings,
        id="id",
        model="m",
        request_id=None,
        raw={},
    )
    return DemoDocument(catalogue.get(name), outcome)


@pytest.mark.parametrize("name", catalogue.names())
def test_the_expected_answer_has_no_differences(name: str) -> None:
    assert shown(catalogue.get(name).expected, name).differences() == []


def test_every_kind_of_difference_is_found() -> None:
    data: Any = catalogue.get("invoice").expected
    data["total"] = 1
    data["due_date"] = None
    data["lines"].pop()
    data["lines"][0]["extra"] = True
    assert shown(data).differences() == [
        ("/due_date", None, "2026-04-13"),
        ("/lines/2/description", None, "Courier delivery"),
        ("/lines/2/quantity", None, 1),
        ("/lines/2/unit_price", None, 15.0),
        ("/lines/2/amount", None, 15.0),
        ("/total", 1, 414.0),
        ("/lines/0/extra", True, None),
    ]


def test_an_empty_list_where_items_are_expected_is_one_difference_that_names_them() -> None:
    data: Any = catalogue.get("job_posting").expected
    data["skills"] = []
    one = shown(data, "job_posting")
    assert one.differences() == [("/skills", [], ["Python", "PostgreSQL", "Kubernetes"])]
    console = Console(width=120, markup=False, emoji=False, color_system=None)
    with console.capture() as capture:
        show(console, one)
    assert '/skills: [], expected ["Python","PostgreSQL","Kubernetes"]' in capture.get()
    assert "3 of " in capture.get()


def test_items_where_none_are_expected_are_one_difference() -> None:
    entry = replace(catalogue.get("product"), expected={"tags": []})
    one = replace(shown({"tags": ["a", "b"]}, "product"), entry=entry)
    assert one.differences() == [("/tags", ["a", "b"], [])]


def test_null_where_a_value_is_missing_is_not_the_same() -> None:
    data: Any = catalogue.get("receipt").expected
    del data["tax"]
    assert [pointer for pointer, _, _ in shown(data, "receipt").differences()] == ["/tax"]


@pytest.mark.parametrize("name", catalogue.names())
@pytest.mark.parametrize("width", [80, 120])
def test_a_document_and_its_result_fit_usual_widths(width: int, name: str) -> None:
    console = Console(width=width, markup=False, emoji=False, color_system=None)
    with console.capture() as capture:
        show(console, shown(catalogue.get(name).expected, name))
    lines = capture.get().splitlines()
    assert max(map(len, lines)) <= width
    assert "as expected" in lines[-1]
    assert catalogue.get(name).title in capture.get()
    beside = any("│" in line and '":' in line for line in lines)
    assert beside == (width == 120)


def test_trouble_is_not_valid() -> None:
    assert not DemoDocument(catalogue.get("invoice"), CliError("no")).valid
