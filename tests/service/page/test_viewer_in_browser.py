"""Saved pages in a real Chromium, opened as files: many rows, hostile texts, rows without a result."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from axe_core_python.selenium import Axe
from intaglio.service.page.saved_page import saved_page
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.support.browser import at, chromium, failures, shown, when

HOSTILE = "</script><img src=x onerror=\"document.title='run'\"><b>&amp;😀é\u2028"
FIELDS = {"/name": {"match": "exact", "span": {"start": 2, "end": 2 + len(HOSTILE)}}}


def rows() -> Iterator[dict[str, Any]]:
    yield {
        "id": HOSTILE,
        "data": {"name": HOSTILE, "__proto__": 1, "a/b~": [None, "", {}]},
        "text": f"😀 {HOSTILE} and more",
        "fields": FIELDS,
        "warnings": [{"pointer": "/name", "kind": "looped", "message": HOSTILE, "hint": ""}],
    }
    yield {"id": "dead", "data": None, "error": {"message": "It did not end.", "code": "x"}}
    for number in range(2000):
        yield {"id": f"row-{number}", "data": {"n": number}, "text": f"n is {number}"}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    folder = tmp_path_factory.mktemp("browser")
    file = folder / "results.html"
    file.write_text(saved_page("Results", list(rows())), "utf-8")
    with chromium(folder) as browser:
        browser.get(file.as_uri())
        yield browser


def test_hostile_text_is_shown_as_text(opened: Chrome) -> None:
    assert opened.title == "Results"
    assert not opened.find_elements(By.CSS_SELECTOR, "img, #tree b")
    name = opened.find_element(By.CSS_SELECTOR, '#tree [data-pointer="/name"]')
    mark = opened.find_element(By.CSS_SELECTOR, "#sources mark")
    for element in (name, mark):
        assert element.get_property("textContent") == HOSTILE
    assert opened.find_element(By.CSS_SELECTOR, '#tree [data-pointer="/__proto__"]').text == "1"
    assert opened.find_elements(By.CSS_SELECTOR, '#tree [data-pointer="/a~1b~0/2"]')
    name.click()
    assert HOSTILE in str(at(opened, "detail").get_property("textContent"))


def test_a_row_without_a_result_shows_its_error(opened: Chrome) -> None:
    opened.find_elements(By.CSS_SELECTOR, "#rows button")[1].click()
    assert at(opened, "row-error").text == "It did not end."
    assert not at(opened, "tree").is_displayed()
    assert not at(opened, "source").is_displayed()


def test_two_thousand_rows_are_filtered(opened: Chrome) -> None:
    assert at(opened, "count").text == "2002 of 2002"
    at(opened, "filter").send_keys("ROW-19 1999")
    when(lambda: at(opened, "count").text == "1 of 2002")
    (button,) = opened.find_elements(By.CSS_SELECTOR, "#rows li:not([hidden]) button")
    assert button.text.startswith("row-1999")
    button.click()
    assert at(opened, "sources").text == "n is 1999"
    assert json.loads(shown(opened, "#tree button")[0]) == 1999


def test_no_serious_finding_of_axe_in_a_saved_page(opened: Chrome) -> None:
    found = Axe().run(opened, options={"resultTypes": ["violations"]})["violations"]
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [(each["id"], each["nodes"][0]["html"]) for each in serious] == []


def test_the_policy_of_a_saved_page_holds_for_its_own_script(opened: Chrome) -> None:
    assert failures(opened) == []
