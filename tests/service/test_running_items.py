"""Items of `extract_stream`, at once and in windows, over an engine of this process that reads records."""

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

import pytest
from intaglio.engine.api import GrammarConfig, LocalEngine, SchemaGate
from intaglio.service.client import Extraction, IntaglioError
from intaglio.service.extraction.extract import Extractor
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.offline.running_items import RunningItems

from tests.support.reading_engine import LEDGER, ReadingEngine, assembly, entries, ledger_text
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

WINDOWS = {"long_documents": "windows"}


class Offline:
    """The parts of an `LLM`, with a double for its engine."""

    def __init__(self, text: TextModel) -> None:
        parts = assembly()
        self.engine = LocalEngine(parts)
        assert isinstance(parts.engine, ReadingEngine)
        self.double = parts.engine
        self.gate = SchemaGate.open(
            GrammarConfig(grammar_store="off"),
            text.vocabulary,
            text.tokenizer.canonical,
            server=False,
        )
        self.extractor = Extractor(text, self.engine.info)

    def extract(
        self, items: Iterator[Any], at_once: int = 16, **options: Any
    ) -> Generator[tuple[Any, Extraction[Any] | IntaglioError], None, None]:
        running = RunningItems[Any](self.extractor, self.gate, self.engine.abort, at_once)
        requests = running.requests(items, {**WINDOWS, **options})
        with closing(self.engine.generate(requests, at_once=at_once)) as deltas:
            for delta in deltas:
                yield from running.refused()
                outcome = running.take(delta)
                if outcome is not None:
                    yield outcome
        yield from running.refused()

    def close(self) -> None:
        self.gate.close()
        self.engine.close()


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Offline]:
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "m", LLAMA)
    found = Offline(TextModel.load(folder))
    yield found
    found.close()


@pytest.mark.parametrize("at_once", [1, 3, 64])
def test_long_and_short_items_have_one_outcome_each(offline: Offline, at_once: int) -> None:
    counts = [2, 90, 1, 150, 3, 60]
    items = ((count, LEDGER, ledger_text(count)) for count in counts)
    found = dict(offline.extract(items, at_once))
    assert sorted(found) == sorted(counts)
    for count, outcome in found.items():
        assert isinstance(outcome, Extraction)
        assert outcome.data == {"branch": "Bremen", "entries": entries(ledger_text(count))}
        assert (outcome.reading is None) == (count < 10)
    assert offline.engine.check().open_requests == 0


def test_an_item_that_fails_ends_its_windows_and_no_other(offline: Offline) -> None:
    last = {"contains": {"properties": {"number": {"const": 120}}}}
    broken = {**LEDGER["properties"]["entries"], **last}
    schema = {**LEDGER, "properties": {**LEDGER["properties"], "entries": broken}}
    items = [
        ("broken", schema, ledger_text(60)),
        ("good", LEDGER, ledger_text(60)),
        ("late", LEDGER, ledger_text(60)),
    ]
    found = dict(offline.extract(iter(items)))
    assert isinstance(found["broken"], IntaglioError)
    assert getattr(found["broken"], "code", None) == "windows_conflict"
    assert isinstance(found["good"], Extraction)
    found = dict(offline.extract(iter(items[1:]), deadline_s=1e-6))
    assert all(getattr(error, "code", None) == "deadline_exceeded" for error in found.values())
    assert offline.engine.check().open_requests == 0


def test_closing_early_aborts_all_windows(offline: Offline) -> None:
    items = iter([("long", LEDGER, ledger_text(400)), ("short", LEDGER, ledger_text(1))])
    stream = offline.extract(items)
    key, _ = next(stream)
    assert key == "short"
    stream.close()
    assert offline.engine.check().open_requests == 0


def test_a_source_that_has_no_item_now_is_asked_again(offline: Offline) -> None:
    asked = 0

    def items() -> Iterator[Any]:
        nonlocal asked
        yield "long", LEDGER, ledger_text(90)
        for _ in range(5):
            asked += 1
            yield None
        yield "short", LEDGER, ledger_text(1)

    found = dict(offline.extract(items()))
    assert asked == 5
    assert sorted(found) == ["long", "short"]


def test_second_readings_are_run_beside_other_items(offline: Offline) -> None:
    counts = [2, 90, 1, 3]
    items = ((count, LEDGER, ledger_text(count)) for count in counts)
    found = dict(offline.extract(items, 2, confidence="second_reading"))
    assert sorted(found) == sorted(counts)
    for outcome in found.values():
        assert isinstance(outcome, Extraction)
        sure = [report.confidence for report in outcome.fields.values()]
        assert all(one is not None and one.agrees for one in sure)
    assert offline.engine.check().open_requests == 0
