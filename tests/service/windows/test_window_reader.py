"""One long document is read in windows, without a server: by a double that reads each window from its prompt."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from intaglio.engine.api import Finish, ImageFormat, TooLong
from intaglio.engine.types import Request
from intaglio.grammar.api import Verdict
from intaglio.schemas.extraction.grounding import Span
from intaglio.schemas.extraction.requests import ExtractOptions, ExtractRequest
from intaglio.schemas.extraction.results import ExtractResult
from intaglio.service.documents.seen_image import SeenImage
from intaglio.service.errors import InvalidBody, RequestDeadlineExceeded, WindowsConflict
from intaglio.service.extraction.engine_output import EngineOutput
from intaglio.service.extraction.extract import Extractor, Prepared
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.windows.window_plan import WindowPlan, plan_windows
from intaglio.service.windows.window_reader import WindowReader

from tests.support.reading_engine import (
    LEDGER,
    ReadingEngine,
    assembly,
    entries,
    ledger_text,
    seen_line,
)
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint
from tests.support.tiny_vision import FACTOR, PAD, write_vision_checkpoint


@pytest.fixture(scope="module")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> TextModel:
    return TextModel.load(write_checkpoint(tmp_path_factory.mktemp("models") / "m", LLAMA))


@pytest.fixture
def extractor(text_model: TextModel) -> Extractor:
    return Extractor(text_model, assembly().info)


def planned(extractor: Extractor, schema: Any, text: str, **options: Any) -> WindowPlan | None:
    options.setdefault("long_documents", "windows")
    body = ExtractRequest(schema=schema, text=text, options=ExtractOptions(**options))
    return plan_windows(extractor, extractor.examined(extractor.parse(body), Verdict()))


def answered(engine: ReadingEngine, request: Request) -> EngineOutput:
    engine.submit(request)
    output = EngineOutput()
    for delta in engine.step():
        output.add(delta)
    assert output.finish is Finish.STOP
    return output


def read(
    extractor: Extractor, plan: WindowPlan, engine: ReadingEngine, seed: int = 0, at_once: int = 8
) -> tuple[ExtractResult, list[Any]]:
    """The result of a plan whose requests end in any order, and the items in the order in which they were settled."""
    dice, reader = random.Random(seed), WindowReader(extractor, plan, at_once)
    running, settled, most = list[Prepared](), list[Any](), 0
    while not reader.is_over:
        while (prepared := reader.next_request()) is not None:
            running.append(prepared)
        most = max(most, len(running))
        prepared = running.pop(dice.randrange(len(running)))
        result = extractor.finish_extraction(prepared, answered(engine, prepared.request))
        settled += [item.value for item in reader.take(prepared.request.id, result)]
    assert most <= at_once
    return reader.result(), settled


@pytest.mark.parametrize(("seed", "at_once"), [(0, 8), (1, 3), (2, 1)])
def test_every_record_comes_once_in_order_whatever_window_ends_first(
    extractor: Extractor, seed: int, at_once: int
) -> None:
    text = ledger_text(150)
    plan = planned(extractor, LEDGER, text)
    assert plan is not None
    engine = ReadingEngine()
    result, settled = read(extractor, plan, engine, seed, at_once)
    assert result.data == {"branch": "Bremen", "entries": entries(text)}
    assert settled == entries(text)
    assert len(entries(text)) == 150
    reading = result.reading
    assert reading is not None
    assert reading.windows == len(reading.spans) == len(plan.windows) == len(engine.prompts)
    assert (reading.spans[0].start, reading.spans[-1].end) == (0, len(text))
    assert result.usage.output_tokens > len(json.dumps(result.data, separators=(",", ":")))
    assert result.warnings == ()


def test_a_window_whose_answer_was_cut_short_is_read_again_in_halves(extractor: Extractor) -> None:
    text = ledger_text(60)
    plan = planned(extractor, LEDGER, text, max_tokens=400)
    assert plan is not None
    engine = ReadingEngine()
    result, settled = read(extractor, plan, engine)
    assert result.reading is not None
    assert result.reading.windows > len(plan.windows)
    assert len(engine.prompts) > result.reading.windows
    assert result.data == {"branch": "Bremen", "entries": entries(text)}
    assert settled == entries(text)
    assert not result.usage.budget_forced


def test_a_required_value_that_no_window_states_is_read_once_more(extractor: Extractor) -> None:
    text = ledger_text(60, branch=None)
    plan = planned(extractor, LEDGER, text)
    assert plan is not None
    engine = ReadingEngine()
    result, _ = read(extractor, plan, engine)
    assert result.data == {"branch": "made up", "entries": entries(text)}
    assert [(one.kind, one.pointer) for one in result.warnings] == [("not_found", "/branch")]
    assert len(engine.prompts) == len(plan.windows) + 1


def test_with_null_for_what_is_not_stated_no_further_reading_is_needed(
    extractor: Extractor,
) -> None:
    plan = planned(extractor, LEDGER, ledger_text(60, branch=None), not_stated="null")
    assert plan is not None
    result, _ = read(extractor, plan, ReadingEngine())
    assert isinstance(result.data, dict)
    assert result.data["branch"] is None
    assert [(one.kind, one.pointer) for one in result.warnings] == [("not_stated", "/branch")]


def test_items_beyond_the_most_are_dropped_with_a_warning(extractor: Extractor) -> None:
    items = {**LEDGER["properties"]["entries"], "maxItems": 40}
    schema = {**LEDGER, "properties": {**LEDGER["properties"], "entries": items}}
    text = ledger_text(60)
    plan = planned(extractor, schema, text)
    assert plan is not None
    result, settled = read(extractor, plan, ReadingEngine())
    assert result.data == {"branch": "Bremen", "entries": entries(text)[:40]}
    assert settled == entries(text)[:40]
    assert [(one.kind, one.pointer) for one in result.warnings] == [("items_dropped", "/entries")]


def test_a_whole_that_breaks_a_keyword_is_an_error_by_pointer(extractor: Extractor) -> None:
    last = {"contains": {"properties": {"number": {"const": 60}}}}
    items = {**LEDGER["properties"]["entries"], **last}
    schema = {**LEDGER, "properties": {**LEDGER["properties"], "entries": items}}
    plan = planned(extractor, schema, ledger_text(60))
    assert plan is not None
    with pytest.raises(WindowsConflict) as caught:
        read(extractor, plan, ReadingEngine())
    (detail,) = caught.value.details
    assert detail.pointer == "/schema/properties/entries/contains"
    assert detail.keyword == "contains"


def test_a_document_that_fits_or_may_not_be_split_is_read_at_once(extractor: Extractor) -> None:
    assert planned(extractor, LEDGER, ledger_text(3)) is None
    assert planned(extractor, LEDGER, ledger_text(300), long_documents="refuse") is None


def test_blank_windows_are_not_read(extractor: Extractor) -> None:
    text = ledger_text(30) + "\n" * 3000 + ledger_text(3)
    plan = planned(extractor, LEDGER, text)
    assert plan is not None
    assert all(text[one.start : one.end].strip() for one in plan.windows)
    result, _ = read(extractor, plan, ReadingEngine())
    assert isinstance(result.data, dict)
    assert result.data["entries"] == entries(text)


def test_too_little_room_for_windows_is_refused_by_its_cause(extractor: Extractor) -> None:
    with pytest.raises(TooLong) as caught:
        planned(extractor, LEDGER, ledger_text(300), max_tokens=3800)
    assert caught.value.where == "options.max_tokens"


def test_the_deadline_is_that_of_the_whole(extractor: Extractor) -> None:
    plan = planned(extractor, LEDGER, ledger_text(60), deadline_s=60.0)
    assert plan is not None
    first = WindowReader(extractor, plan).next_request()
    assert first is not None
    assert first.request.deadline is not None
    assert first.request.deadline < 60.0
    late = replace(plan, whole=replace(plan.whole, started=plan.whole.started - 61))
    with pytest.raises(RequestDeadlineExceeded):
        WindowReader(extractor, late).next_request()


def test_warnings_of_windows_point_into_the_whole(extractor: Extractor) -> None:
    text = ledger_text(60)
    plan = planned(extractor, LEDGER, text)
    assert plan is not None
    reader, engine = WindowReader(extractor, plan, 1), ReadingEngine()
    marked = list[Any]()
    while (prepared := reader.next_request()) is not None:
        result = extractor.finish_extraction(prepared, answered(engine, prepared.request))
        assert isinstance(result.data, dict)
        read_entries = result.data["entries"]
        assert isinstance(read_entries, list)
        place = {"pointer": "/entries/2/name", "kind": "looped", "message": "m"}
        offset = {"pointer": "/branch", "kind": "offset_not_stated", "message": "m"}  # elsewhere?
        result = ExtractResult.model_validate(
            {**result.model_dump(), "warnings": (place, offset)}, strict=False
        )
        marked.append(read_entries[2])
        reader.take(prepared.request.id, result)
    result = reader.result()
    assert isinstance(result.data, dict)
    found = [one.pointer for one in result.warnings]
    known = result.data["entries"]
    assert isinstance(known, list)
    assert len(found) > 1
    assert all(known[int(place.split("/")[2])] in marked for place in found)


@pytest.mark.parametrize("branch", ["Bremen", None])
def test_every_value_has_its_source_in_the_whole_document(
    extractor: Extractor, branch: str | None
) -> None:
    text = ledger_text(60, branch) + "\nBranch: Hull\n"
    plan = planned(extractor, LEDGER, text, grounding="locate")
    assert plan is not None
    result, _ = read(extractor, plan, ReadingEngine())
    assert isinstance(result.data, dict)
    assert len(result.fields) == 1 + 3 * 60
    for number, entry in enumerate(entries(text)):
        line = text.index(f"Entry {number}:")
        for name, value in entry.items():
            report = result.fields[f"/entries/{number}/{name}"]
            assert report.span is not None
            assert line <= report.span.start < text.index("\n", line)
            found = text[report.span.start : report.span.end]
            assert found == value if name == "name" else float(found) == value
    source = result.fields["/branch"]
    assert source.span is not None
    assert text[source.span.start : source.span.end] == result.data["branch"] == (branch or "Hull")
    others = [(one.value, one.span) for one in source.candidates]
    place = text.index("Hull")
    assert others == ([("Hull", Span(start=place, end=place + 4))] if branch else [])


def test_line_ends_of_windows_take_no_more_windows(extractor: Extractor) -> None:
    text = ledger_text(300).replace("\f", "")
    plans = [planned(extractor, LEDGER, text.replace("\n", ends)) for ends in ("\n", "\r\n")]
    assert plans[0] is not None
    assert plans[1] is not None
    counts = [[window.tokens for window in plan.windows] for plan in plans if plan is not None]
    assert counts[0] == counts[1]
    assert len(counts[0]) > 3


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_verbatim_strings_of_all_windows_occur_in_the_document(
    extractor: Extractor, ends: str
) -> None:
    text = ledger_text(60).replace("\n", ends)
    plan = planned(extractor, LEDGER, text, grounding="verbatim")
    assert plan is not None
    assert len(plan.windows) > 1
    result, _ = read(extractor, plan, ReadingEngine())
    assert result.data == {"branch": "Bremen", "entries": entries(text.replace(ends, "\n"))}
    for number, entry in enumerate(entries(text.replace(ends, "\n"))):
        report = result.fields[f"/entries/{number}/name"]
        assert report.match == "verbatim"
        assert report.span is not None
        assert text[report.span.start : report.span.end] == entry["name"]


def test_a_string_that_no_window_has_is_not_verbatim(extractor: Extractor) -> None:
    text = ledger_text(60, branch=None)
    plan = planned(extractor, LEDGER, text, grounding="verbatim", not_stated="null")
    assert plan is not None
    result, _ = read(extractor, plan, ReadingEngine())
    assert isinstance(result.data, dict)
    assert result.data["branch"] is None
    assert [warning.kind for warning in result.warnings] == ["not_stated"]


def test_two_thousand_records_come_out_in_order(extractor: Extractor) -> None:
    text = ledger_text(2000)
    plan = planned(extractor, LEDGER, text)
    assert plan is not None
    assert len(plan.windows) > 60
    result, settled = read(extractor, plan, ReadingEngine())
    assert isinstance(result.data, dict)
    assert result.data["entries"] == settled == entries(text)
    assert len(settled) == 2000


@pytest.fixture
def seeing(tmp_path: Path) -> Extractor:
    """That of a model that reads images, in a context of 4,096 tokens."""
    form = ImageFormat(token=PAD, factor=FACTOR, least=FACTOR**2, most=4096 * FACTOR**2)
    text_model = TextModel.load(write_vision_checkpoint(tmp_path / "vl"))
    return Extractor(text_model, msgspec.structs.replace(assembly().info, images=form))


def page_image(number: int, at: int, cells: int) -> SeenImage:
    """The page of this number, in a row of cells; a `ReadingEngine` reads its `seen_line`."""
    pixels = bytes([number]) * (3 * cells * FACTOR**2)
    return SeenImage(rows=1, columns=cells, pixels=pixels, at=at, page=number)


def planned_pages(
    extractor: Extractor,
    text: str | None,
    images: tuple[SeenImage, ...],
    schema: Any = LEDGER,
    **options: Any,
) -> WindowPlan | None:
    chosen = ExtractOptions(**{"long_documents": "windows", **options})
    body = ExtractRequest(schema=schema, text=text or "-", options=chosen)
    parsed = extractor.parse(body.model_copy(update={"text": text}), images=images)
    return plan_windows(extractor, extractor.examined(parsed, Verdict()))


@pytest.mark.parametrize("cells", [4, 300])
def test_each_window_has_the_images_of_its_own_pages(seeing: Extractor, cells: int) -> None:
    pages = [ledger_text(7 * n, None)[len(ledger_text(7 * n - 7, None)) :] for n in range(1, 13)]
    text, whole, images = "A ledger\nBranch: Bremen\n", "Branch: Bremen\n", list[SeenImage]()
    for number, page in enumerate(pages, 1):
        if number % 2:
            images.append(page_image(number, len(text), cells))
            whole += f"\n{seen_line(number)}\n"
        text, whole = text + page, whole + page
    plan = planned_pages(seeing, text, tuple(images))
    assert plan is not None
    assert len(plan.windows) > 3
    engine = ReadingEngine()
    result, settled = read(seeing, plan, engine)
    assert result.data == {"branch": "Bremen", "entries": entries(whole)}
    assert settled == entries(whole)
    assert [image.page for image in result.images] == [image.page for image in images]
    assert {image.tokens for image in result.images} == {cells}


def test_a_document_of_images_alone_is_read_in_windows_within_the_context(
    seeing: Extractor,
) -> None:
    images = tuple(page_image(number, 0, 700) for number in range(1, 12))
    plan = planned_pages(seeing, None, images)
    assert plan is not None
    requests = [plan.request(seeing, window).request for window in plan.windows]
    assert [image.pixels[0] for one in requests for image in one.images] == list(range(1, 12))
    for request in requests:
        assert len(request.images) in (1, 2)
        assert len(request.prompt) < seeing.fitter.capacity
    result, _ = read(seeing, plan, ReadingEngine())
    data: Any = result.data
    assert [entry["number"] for entry in data["entries"]] == list(range(1001, 1012))
    assert data["branch"] == "made up"
    assert [warning.kind for warning in result.warnings] == ["not_found"]


def test_what_fits_is_read_at_once_with_its_images(seeing: Extractor) -> None:
    assert planned_pages(seeing, ledger_text(2), (page_image(1, 0, 9),)) is None
    assert planned_pages(seeing, None, (page_image(1, 0, 9),)) is None


def test_an_image_for_which_no_window_has_room_is_named(seeing: Extractor) -> None:
    images = (page_image(1, 0, 9), page_image(2, 0, 4080))
    with pytest.raises(TooLong, match="page 2 takes 4082 tokens as an image") as refused:
        planned_pages(seeing, ledger_text(200), images)
    assert "max_image_tokens" in (refused.value.hint or "")
    with pytest.raises(TooLong, match="page 2"):
        planned_pages(seeing, None, (images[0], page_image(2, 0, 3000)), max_tokens=1500)


def test_verbatim_strings_are_refused_beside_images_in_every_window(seeing: Extractor) -> None:
    schema = {"type": "object", "properties": {"branch": {"type": "string"}}}
    with pytest.raises(InvalidBody, match="verbatim strings"):
        planned_pages(
            seeing, ledger_text(200), (page_image(1, 0, 9),), schema, grounding="verbatim"
        )
