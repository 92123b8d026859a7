"""The page in a real Chromium, against a server with keys over an engine that gives prepared answers."""

import json
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from axe_core_python.selenium import Axe
from intaglio.schemas import catalogue
from intaglio.schemas.extraction.requests import ExtractOptions
from intaglio.service.extraction.translate import extraction_constraint
from intaglio.service.page.saved_page import saved_page
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.support.answering_engine import Answers, answering
from tests.support.browser import at, chromium, failures, resize, shown, when
from tests.support.document_files import pdf
from tests.support.live_service import Live, live, until
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

KEY = {"authorization": "Bearer the-key"}
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
TEXT = "Ada is 36 years old. 😀 Her name is Ada."
DATA = {"name": "Ada", "age": 36}
RESULT = {
    "data": DATA,
    "usage": {"prompt_tokens": 9, "output_tokens": 5, "forced_tokens": 2, "budget": 50},
    "timings": {"total_ms": 20.0, "decode_ms": 10.0},
    "fields": {
        "/name": {
            "match": "verbatim",
            "span": {"start": 35, "end": 38},
            "occurrences": [{"start": 0, "end": 3}, {"start": 35, "end": 38}],
            "confidence": {
                "probability": 0.98,
                "masked": 0.25,
                "agrees": False,
                "tokens": [
                    {"text": '"A', "probability": 1.0, "alternatives": []},
                    {
                        "text": 'da"',
                        "probability": 0.6,
                        "masked": 0.25,
                        "alternatives": [
                            {"text": 'da"', "probability": 0.6},
                            {"text": "<i>", "probability": 0.3},
                        ],
                    },
                ],
            },
            "candidates": [{"value": "<b>Adam</b>", "probability": 0.02}],
        },
        "/age": {"match": "number", "span": {"start": 7, "end": 9}},
    },
    "warnings": [{"pointer": "/age", "kind": "looped", "message": "It repeats.", "hint": "Look."}],
}
# Requests to the one path are answered by the test, event by event.
PLAYED = """
window.realFetch ??= window.fetch;
window.fetch = (path, options) => {
  if (path !== "/v1/extract") return window.realFetch(path, options);
  const gone = () => window.stream.error(new DOMException("gone", "AbortError"));
  options.signal.addEventListener("abort", gone);
  return Promise.resolve(new Response(new ReadableStream({ start: (c) => { window.stream = c; } })));
};
"""


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("service")
    known: list[tuple[Any, Any]] = [(PERSON, DATA)]
    known += [(e.schema, e.expected) for e in map(catalogue.get, ("invoice", "receipt"))]
    answers = {
        extraction_constraint(schema, ExtractOptions()).source: tuple(compact(data))
        for schema, data in known
    }
    model = write_checkpoint(folder / "model", LLAMA)
    engine = answering(Answers(answers))
    with live(engine, model, api_keys=("the-key",), data=str(folder / "data")) as service:
        service.http.headers.update(KEY)
        yield service


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def opened(service: Live, folder: Path) -> Iterator[Chrome]:
    """The page as it opens the first time, without a key."""
    with chromium(folder) as browser:
        browser.get(service.url)
        yield browser


@pytest.fixture(scope="module")
def keyed(opened: Chrome) -> Chrome:
    when(lambda: at(opened, "settings-dialog").is_displayed())
    assert "needs an API key" in at(opened, "settings-dialog").text
    at(opened, "key").send_keys("the-key", Keys.ENTER)
    when(lambda: at(opened, "server-state").text == "answering")
    when(lambda: "Enforced" in at(opened, "explain").text)
    return opened


@pytest.fixture
def page(keyed: Chrome) -> Chrome:
    """The first view, with the server's own answers."""
    keyed.execute_script(
        "window.fetch = window.realFetch ?? window.fetch; location.hash = 'extract'"
    )
    when(lambda: at(keyed, "run").is_displayed())
    return keyed


def write(page: Chrome, name: str, text: str) -> None:
    """Type a text in place of another, in one step."""
    script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    page.execute_script(script, at(page, name), text)


def extract(page: Chrome, schema: Any = PERSON, text: str = TEXT) -> None:
    write(page, "text", text)
    write(page, "schema", json.dumps(schema, indent=2))
    at(page, "run").click()


def played(page: Chrome, *events: dict[str, Any]) -> None:
    page.execute_script(
        "const lines = arguments[0].map((e) => `data: ${JSON.stringify(e)}\\n\\n`).join('');"
        "window.stream.enqueue(new TextEncoder().encode(lines));",
        events,
    )


def grounded(page: Chrome) -> None:
    """Show a result with sources."""
    page.execute_script(PLAYED)
    extract(page)
    played(page, {"type": "object.completed", "result": RESULT})
    page.execute_script("window.stream.close()")
    when(lambda: "valid" in at(page, "budget").text)


def written(page: Chrome, name: str) -> str:
    """The text in a field."""
    return str(at(page, name).get_property("value"))


def is_on_the_left(page: Chrome, name: str) -> bool:
    """Whether the result on the left of a comparison has a name."""
    return name in Select(at(page, "left-run")).first_selected_option.text


def show_view(page: Chrome, view: str) -> None:
    page.execute_script("location.hash = arguments[0]", view)
    when(at(page, f"view-{view}").is_displayed)


def leaf(page: Chrome, pointer: str) -> Any:
    return page.find_element(By.CSS_SELECTOR, f'#tree [data-pointer="{pointer}"]')


def test_a_schema_of_the_catalogue_brings_its_sample(page: Chrome) -> None:
    Select(at(page, "schema-name")).select_by_visible_text("Receipt")
    when(lambda: "merchant" in written(page, "schema"))
    assert written(page, "text") == catalogue.get("receipt").sample
    when(lambda: "Enforced" in at(page, "explain").text)
    assert "shortest" in at(page, "explain").text


def test_an_answer_is_shown_as_tree_and_json_with_its_budget(page: Chrome) -> None:
    extract(page)
    when(lambda: "valid" in at(page, "budget").text)
    assert (leaf(page, "/name").text, leaf(page, "/age").text) == ("Ada", "36")
    assert "output tokens" in at(page, "budget").text
    assert shown(page, "#sources mark") == ["Ada", "36"]
    assert shown(page, "#tree .sure") == ["78 %", "78 %"]
    page.find_element(By.CSS_SELECTOR, "[data-form=json]").click()
    assert json.loads(at(page, "json").text) == DATA
    page.find_element(By.CSS_SELECTOR, "[data-form=tree]").click()


def test_the_keyboard_extracts(page: Chrome) -> None:
    page.execute_script("document.getElementById('budget').firstChild.id = 'earlier'")
    at(page, "schema").send_keys(Keys.CONTROL, Keys.ENTER)
    when(lambda: not page.find_elements(By.ID, "earlier") and "valid" in at(page, "budget").text)


def test_a_refused_schema_names_the_place_and_goes_there(page: Chrome) -> None:
    bad = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(a)\\1"}}}
    write(page, "schema", json.dumps(bad, indent=2))
    when(lambda: "Refused" in at(page, "explain").text)
    at(page, "explain").find_element(By.CSS_SELECTOR, "button.link").click()
    script = "const s = arguments[0]; return s.value.slice(s.selectionStart, s.selectionEnd)"
    selected = page.execute_script(script, at(page, "schema"))
    assert "pattern" in selected or '"a"' in selected
    at(page, "run").click()
    when(lambda: "unsupported_schema" in at(page, "problem").text)
    assert "/schema/properties/a" in at(page, "problem").text


def test_text_that_is_no_json_has_its_line_marked(page: Chrome) -> None:
    write(page, "schema", '{\n  "type": "object",\n  "type": "string"\n}')
    assert "Line 3, column 3" in at(page, "explain").text
    assert shown(page, ".numbers .faulty") == ["3"]
    at(page, "run").click()
    assert "no JSON" in at(page, "problem").text


def test_a_schema_is_inferred_from_an_example(page: Chrome) -> None:
    at(page, "infer").click()
    write(
        page, "infer-example", '{"born": "1815-12-10", "n": [1, 2.5], "x": [{"a": 1}, {"b": ""}]}'
    )
    at(page, "infer-form").find_element(By.CSS_SELECTOR, "[value=infer]").click()
    schema = json.loads(written(page, "schema"))
    assert schema["properties"]["born"] == {"type": "string", "format": "date"}
    assert schema["properties"]["n"] == {"type": "array", "items": {"type": "number"}}
    assert schema["properties"]["x"]["items"]["required"] == []
    when(lambda: "Enforced" in at(page, "explain").text)


def test_values_appear_while_the_answer_is_written(page: Chrome) -> None:
    page.execute_script(PLAYED)
    extract(page)
    assert at(page, "run-label").text == "Stop"
    played(
        page,
        {"type": "field.started", "pointer": "", "kind": "object"},
        {"type": "field.started", "pointer": "/name", "kind": "string"},
    )
    when(lambda: len(shown(page, "#tree .pending")) == 1)
    played(page, {"type": "field.completed", "pointer": "/name", "value": "Ada"})
    when(lambda: leaf(page, "/name").text == "Ada" if not shown(page, "#tree .pending") else False)
    at(page, "run").click()
    when(lambda: "You stopped" in at(page, "problem").text)


def test_an_error_in_a_stream_is_shown_as_it_says(page: Chrome) -> None:
    page.execute_script(PLAYED)
    extract(page)
    error = {"message": "It took too long.", "code": "deadline_exceeded", "hint": "Give it time."}
    played(page, {"type": "error", "error": error})
    when(lambda: "It took too long. deadline_exceeded" in at(page, "problem").text)
    assert "Give it time." in at(page, "problem").text


def test_a_value_lights_up_its_source(page: Chrome) -> None:
    grounded(page)
    assert shown(page, "#sources mark") == ["36", "Ada"]
    page.execute_script("arguments[0].focus()", leaf(page, "/name"))
    assert shown(page, "#sources mark.lit") == ["Ada"]
    page.execute_script("arguments[0].blur()", leaf(page, "/name"))
    assert shown(page, "#sources mark.lit") == []
    script = "arguments[0].dispatchEvent(new MouseEvent('mouseover', { bubbles: true }))"
    page.execute_script(script, page.find_element(By.CSS_SELECTOR, "#sources mark"))
    assert shown(page, "#tree .lit") == ["36"]


def test_a_chosen_value_shows_what_is_known_of_it(page: Chrome) -> None:
    grounded(page)
    assert "98 %" in shown(page, "#tree .sure")
    leaf(page, "/name").click()
    detail = at(page, "detail").text
    for part in ("/name", "Copied from the text", "25 %", "Occurrences", "<b>Adam</b>"):
        assert part in detail
    leaf(page, "/age").click()
    assert "It repeats. Look." in at(page, "detail").text
    assert at(page, "warning-count").text == "1 warning"


def test_the_tokens_of_a_value_show_what_the_schema_allowed(page: Chrome) -> None:
    grounded(page)
    assert "readings differ" in shown(page, "#tree .note")
    leaf(page, "/name").click()
    # The least probable token is open at first.
    assert shown(page, ".alternatives code") == ['da"', "<i>"]
    assert shown(page, ".alternatives span") == ["60 %", "30 %"]
    assert shown(page, ".alternatives .taken code") == ['da"']
    assert "took away 25 % of" in at(page, "detail").text
    page.find_element(By.CSS_SELECTOR, ".token.forced").click()
    assert "no choice" in at(page, "detail").text
    assert "gives another value" in at(page, "detail").text


def test_a_value_lights_up_its_box_on_the_page_of_a_pdf(page: Chrome, folder: Path) -> None:
    file = folder / "ada.pdf"
    file.write_bytes(pdf([["Her name is Ada."], ["She is 36."]]))
    at(page, "file").send_keys(str(file))
    when(lambda: "ada.pdf · 2 pages" in at(page, "text-count").text)
    when(lambda: len(shown(page, "#pages img")) == 2)
    write(page, "schema", json.dumps(PERSON))
    at(page, "run").click()
    when(lambda: len(shown(page, "#pages .box")) == 2)
    page.execute_script("arguments[0].focus()", leaf(page, "/age"))
    (lit,) = page.find_elements(By.CSS_SELECTOR, "#pages .box.lit")
    assert lit.get_attribute("title") == "/age"
    second = page.find_elements(By.CSS_SELECTOR, "#pages .page-image")[1]
    assert second.rect["y"] < lit.rect["y"] < second.rect["y"] + second.rect["height"]
    at(page, "detach").click()
    assert at(page, "text").is_displayed()
    assert "Her name is Ada." in written(page, "text")


def test_a_file_that_cannot_be_read_says_why(page: Chrome, folder: Path) -> None:
    file = folder / "broken.pdf"
    file.write_bytes(b"%PDF-1.7 and nothing else")
    at(page, "file").send_keys(str(file))
    when(lambda: "unreadable_document" in at(page, "problem").text)


def test_two_results_are_compared(page: Chrome) -> None:
    extract(page)
    when(lambda: "valid" in at(page, "budget").text)
    page.find_element(By.CSS_SELECTOR, "nav a[href='#compare']").click()
    Select(at(page, "left-run")).select_by_visible_text("Invoice")
    when(lambda: "HPW-2026-0418" in shown(page, "#left-tree .single"))
    assert "on one side only" in at(page, "differences").text
    assert "Ada" in shown(page, "#right-tree .single")


def test_a_saved_result_is_compared(page: Chrome, folder: Path) -> None:
    grounded(page)
    page.find_element(By.CSS_SELECTOR, "nav a[href='#compare']").click()
    other = saved_page("x", [{"id": 1, "model": "big", "data": {"name": "Adam", "age": 36}}])
    files = {"page.html": other, "answer.json": json.dumps({**RESULT, "data": {"name": "Bo"}})}
    given = folder / "given"
    given.mkdir()
    for name, text in files.items():
        (given / name).write_text(text)
        at(page, "result-file").send_keys(str(given / name))
        when(partial(is_on_the_left, page, name))
    assert "1 value differs, 1 on one side only" in at(page, "differences").text
    Select(at(page, "left-run")).select_by_visible_text("page.html (big)")
    when(lambda: shown(page, "#left-tree .changed") == ["Adam"])
    (given / "none.json").write_text("{}")
    at(page, "result-file").send_keys(str(given / "none.json"))
    when(lambda: "none.json has no results" in at(page, "left-problem").text)


def test_the_request_is_copied_as_curl_and_python(page: Chrome) -> None:
    extract(page, text='It\'s "Ada" \\ ünï')
    when(lambda: "valid" in at(page, "budget").text and at(page, "copy").is_enabled())
    copied = {}
    for name in ("curl", "python"):
        Select(at(page, "copy")).select_by_value(name)
        when(lambda: at(page, "copy-dialog").is_displayed())
        copied[name] = written(page, "copied")
        at(page, "copy-dialog").find_element(By.TAG_NAME, "button").click()
    words = shlex.split(copied["curl"].replace("\\\n", " "))
    body = json.loads(words[words.index("--data-binary") + 1])
    options = {"grounding": "locate", "confidence": "first_reading"}
    assert body == {"schema": PERSON, "text": 'It\'s "Ada" \\ ünï', "options": options}
    assert 'grounding="locate"' in copied["python"]
    assert "Bearer $INTAGLIO_API_KEY" in copied["curl"]
    names: dict[str, Any] = {}
    lines = copied["python"].splitlines()
    exec(
        "\n".join(line for line in lines if line.startswith(("import json", "schema", "text"))),
        names,
    )
    assert (names["schema"], names["text"]) == (body["schema"], body["text"])
    compile(copied["python"], "copied", "exec")


def test_a_result_is_saved_as_one_file_that_works_alone(page: Chrome, folder: Path) -> None:
    grounded(page)
    at(page, "save").click()
    until(lambda: bool(list(folder.glob("*.html"))))
    (saved,) = folder.glob("*.html")
    here = page.current_window_handle
    page.switch_to.new_window("tab")
    try:
        page.get(saved.as_uri())
        assert shown(page, "#sources mark") == ["36", "Ada"]
        leaf(page, "/name").click()
        assert "Copied from the text" in at(page, "detail").text
    finally:
        page.close()
        page.switch_to.window(here)


def test_jobs_show_progress_and_dead_letters(service: Live, page: Chrome) -> None:
    service.http.put("/v1/files/in.csv", content=b'id,body\nr1,Ada is 36\nr2,""\n')
    job = {"schema": PERSON, "source": {"path": "in.csv", "text": "body", "id": "id"}}
    assert service.http.post("/v1/jobs", json=job).status_code == 201
    page.find_element(By.CSS_SELECTOR, "nav a[href='#jobs']").click()
    when(lambda: "completed with errors" in at(page, "job").text)
    assert "1 done, 1 dead, 2 rows" in at(page, "job-rows").text
    assert "r2" in shown(page, "#job td")


def test_unsure_rows_are_reviewed(service: Live, page: Chrome, folder: Path) -> None:
    service.http.put("/v1/files/two.csv", content=b"id,body\nr1,Ada is 36\nr2,Ada\n")
    source = {"path": "two.csv", "text": "body", "id": "id"}
    job = service.http.post(
        "/v1/jobs", json={"schema": PERSON, "source": source, "review_below": 0.9}
    ).json()["id"]
    until(lambda: service.http.get(f"/v1/jobs/{job}").json()["counts"]["needs_review"] == 2)
    page.find_element(By.CSS_SELECTOR, "nav a[href='#jobs']").click()
    when(lambda: job in at(page, "job-rows").text)
    page.find_element(By.XPATH, f"//button[contains(., '{job}')]").click()
    when(lambda: at(page, "review-id").text == "r1")
    assert shown(page, "#review-unsure li") == ["/name", "/age"]
    assert shown(page, "#review-text mark") == ["Ada", "36"]
    write(page, "review-data", '{"name": "Ada", "age": "36"}')
    at(page, "review-correct").click()
    when(lambda: "not valid" in at(page, "review-problem").text)
    write(page, "review-data", '{"name": "Ada", "age": 37}')
    at(page, "review-correct").click()
    when(lambda: at(page, "review-id").text == "r2")
    at(page, "review-accept").click()
    when(lambda: at(page, "review-counts").text == "0 to review, 2 reviewed")
    at(page, "review-gold").click()
    until(lambda: bool(list(folder.glob("*-gold.jsonl"))))
    gold = [json.loads(line) for line in (folder / f"{job}-gold.jsonl").read_text().splitlines()]
    assert [(row["id"], row["expected"]["age"]) for row in gold] == [("r1", 37), ("r2", 36)]


def test_the_engine_view_has_its_figures(page: Chrome) -> None:
    page.find_element(By.CSS_SELECTOR, "nav a[href='#engine']").click()
    when(lambda: len(shown(page, "#engines .card .figure")) == 5)
    assert "ready" in at(page, "engines").text
    assert "[object" not in at(page, "engines").text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_finding_of_axe(page: Chrome, theme: str) -> None:
    grounded(page)
    leaf(page, "/name").click()
    while page.execute_script("return document.documentElement.dataset.theme") != theme:
        at(page, "theme").click()
    for view in ("extract", "compare", "jobs", "engine"):
        show_view(page, view)
        found = Axe().run(page)["violations"]
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        assert [(each["id"], each["nodes"][0]["html"]) for each in serious] == [], view


@pytest.mark.parametrize("width", [390, 820, 1440])
def test_no_width_scrolls_sideways(page: Chrome, width: int) -> None:
    grounded(page)
    resize(page, width, 844)
    try:
        for view in ("extract", "compare", "jobs", "engine"):
            show_view(page, view)
            assert page.execute_script("return document.documentElement.scrollWidth") <= width, view
    finally:
        resize(page, 1440, 900)


def test_nothing_was_refused_by_the_policy_and_nothing_failed(page: Chrome) -> None:
    assert failures(page) == []
