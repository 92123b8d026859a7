"""The figures against counts made by hand, and against a scorer that shares no code with them."""

import copy
import importlib.util
import json
import random
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from intaglio.schemas import catalogue
from intaglio.service.evaluation.figures import EvaluationReport, evaluate
from intaglio.service.evaluation.gold import GoldRecord, catalogue_gold, read_gold
from intaglio.service.evaluation.predictions import Prediction, PredictionError
from pydantic import JsonValue

from tests.support.tokens import data as data_file


def predicted(*names: str) -> dict[str, Any]:
    return {name: copy.deepcopy(catalogue.get(name).expected) for name in names}


def report(data: dict[str, Any], **errors: PredictionError) -> EvaluationReport:
    found = {name: Prediction(name, value) for name, value in data.items()}
    found |= {name: Prediction(name, error=error) for name, error in errors.items()}
    records = [record for record in catalogue_gold() if record.id in found]
    return evaluate(records, found, gold="catalogue")


def field(found: EvaluationReport, group: str, name: str) -> tuple[int, ...]:
    (score,) = (f for f in found.fields if (f.group, f.field) == (group, name))
    return tuple(
        getattr(score, each)
        for each in ("gold", "given", "exact", "near", "wrong", "missed", "invented")
    )


def test_the_catalogue_s_own_answers_are_all_right() -> None:
    found = report(predicted(*catalogue.names()))
    assert (found.total.ratio_exact.f1, found.shares.whole) == (1.0, 1.0)
    assert (found.failed, found.mistakes, found.unknown_ids) == ((), (), ())
    # Leaves of the nine samples, counted in their files by hand: all state something.
    assert (found.shares.leaves, found.total.gold) == (120, 120)


def test_the_figures_of_an_invoice_are_those_counted_by_hand() -> None:
    """The invoice has 21 leaves: 9 of its own and 3 lines of 4.

    In the invoice: the lines are in another order (all right once aligned; at their pointers 4 of 12 are: the middle
    line's), one quantity is wrong, the seller has other capitals, the date is written in words, the total is null, and
    a fourth line with one stated value is invented.
    """
    data = predicted("invoice")
    invoice = data["invoice"]
    first, middle, last = invoice["lines"]
    middle["quantity"] = 999
    invoice["lines"] = [last, middle, first, {"description": "Discount", "quantity": None}]
    invoice["seller"] = "HOLLOWAY  print works"
    invoice["issue_date"] = "14 March 2026"
    invoice["total"] = None
    found = report(data)
    assert field(found, "invoice", "/lines/*/quantity") == (3, 3, 2, 0, 1, 0, 0)
    assert field(found, "invoice", "/lines/*/description") == (3, 4, 3, 0, 0, 0, 1)
    assert field(found, "invoice", "/lines/*/amount") == (3, 3, 3, 0, 0, 0, 0)
    assert field(found, "invoice", "/seller") == (1, 1, 0, 1, 0, 0, 0)
    assert field(found, "invoice", "/issue_date") == (1, 1, 0, 1, 0, 0, 0)
    assert field(found, "invoice", "/total") == (1, 0, 0, 0, 0, 1, 0)
    # 21 gold; 21 given: without the total, with the invented description. Exact: 21 - quantity, seller, date, total.
    total = found.total
    assert (total.gold, total.given, total.exact, total.near) == (21, 21, 17, 2)
    assert total.ratio_exact.precision == pytest.approx(17 / 21)
    assert total.ratio_near.f1 == pytest.approx(2 * 19 / 42)
    # At pointers: 9 - 3 of the invoice's own; of the lines 3 of 4 in the middle, and the quantities of the first
    # and the last differ (200 and 1), as all else there does.
    assert found.shares.at_pointer == pytest.approx((6 + 3) / 21)
    assert found.shares.aligned == pytest.approx(17 / 21)
    assert found.shares.whole == 0.0
    kinds = sorted(mistake.kind for mistake in found.mistakes)
    assert kinds == ["invented", "missed", "near", "near", "wrong"]


def test_a_failed_record_counts_with_all_its_values_and_is_listed() -> None:
    found = report(predicted("invoice"), receipt=PredictionError("incomplete", "cut"))
    wanted = found.fields
    receipt = sum(each.gold for each in wanted if each.group == "receipt")
    assert sum(each.missed for each in wanted if each.group == "receipt") == receipt
    assert found.total.gold == 21 + receipt
    assert found.total.ratio_exact.recall == pytest.approx(21 / (21 + receipt))
    assert found.total.ratio_exact.precision == 1.0
    assert [(each.id, each.code) for each in found.failed] == [("receipt", "incomplete")]
    assert (found.shares.whole, found.shares.answered) == (0.5, 1)
    assert found.macro.at_pointer == 0.5


def test_a_record_without_prediction_is_missing_and_an_unknown_id_is_listed() -> None:
    record = GoldRecord("a", {}, "t", {"x": 1}, "")
    found = evaluate([record], {"b": Prediction("b", {})}, gold="g")
    assert [(each.id, each.code) for each in found.failed] == [("a", "missing")]
    assert found.unknown_ids == ("b",)


def test_nulls_are_right_where_the_gold_data_has_none_and_no_value_to_find() -> None:
    gold: JsonValue = {"a": None, "b": [], "c": 1}
    record = GoldRecord("a", {}, "t", gold, "")
    blank = evaluate([record], {"a": Prediction("a", {"a": None, "b": [], "c": None})}, gold="g")
    assert blank.shares.at_pointer == blank.shares.blank == pytest.approx(2 / 3)
    assert (blank.total.gold, blank.total.given) == (1, 0)
    assert blank.total.ratio_exact.precision is None
    assert blank.total.ratio_exact.recall == 0.0


def test_confidence_is_judged_leaf_by_leaf_where_the_answer_has_it() -> None:
    record = GoldRecord("a", {}, "t", {"x": 1, "y": None, "l": [{"n": 1}, {"n": 2}]}, "")
    data: Any = {"x": 2, "y": None, "l": [{"n": 2}, {"n": 5}, {"n": 7}]}
    probabilities = {"/x": 0.2, "/y": 0.9, "/l/0/n": 0.8, "/l/2/n": 0.4}
    found = evaluate([record], {"a": Prediction("a", data, probabilities=probabilities)}, gold="g")
    assert found.confidence is not None
    # Right: the null, and the first element, which is the second gold one. Of /l/1/n nothing is known.
    assert (found.confidence.values, found.confidence.right, found.confidence.auroc) == (4, 2, 1.0)
    assert {m.field: m.probability for m in found.mistakes if m.kind == "wrong"}["/x"] == 0.2


def perturbed(value: Any, rng: random.Random) -> Any:
    """An answer that is partly right."""
    if isinstance(value, dict):
        return {key: perturbed(part, rng) for key, part in value.items() if rng.random() > 0.05}
    if isinstance(value, list):
        kept = [perturbed(part, rng) for part in value if rng.random() > 0.1]
        if rng.random() < 0.2:
            rng.shuffle(kept)
        return kept + ([perturbed(value[0], rng)] if value and rng.random() < 0.2 else [])
    choices: tuple[Callable[[], Any], ...] = (lambda: None, lambda: "other", lambda: 12345.5)
    return value if rng.random() < 0.6 else rng.choice(choices)()


def test_the_shares_are_those_of_another_scorer_where_their_definitions_coincide() -> None:
    rng = random.Random(4)
    path = data_file("real-docs", "dev.jsonl")
    records = read_gold(path)
    data = {r.id: perturbed(r.expected, rng) for r in records if rng.random() > 0.1}
    found = evaluate(records, {k: Prediction(k, v) for k, v in data.items()}, gold="dev.jsonl")
    scorer = other_scorer()
    tallies: dict[str, Any] = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line:
            row = json.loads(line)
            row["schema"] = True  # its check of validity takes long and is no part of this
            tallies.setdefault(row["domain"], scorer.Tally()).add(row, data.get(row["id"]))
    figures = {name: tally.figures() for name, tally in tallies.items()}
    for name in ("exact", "blank"):
        ours = {"exact": "at_pointer"}.get(name, name)
        for each in found.groups:
            assert getattr(each.shares, ours) == pytest.approx(figures[each.group][name])
        mean = sum(each[name] for each in figures.values()) / len(figures)
        assert getattr(found.macro, ours) == pytest.approx(mean)
    assert found.shares.documents - found.shares.answered == len(records) - len(data)


def other_scorer() -> ModuleType:
    path = str(data_file("real-docs", "score_real.py"))
    spec = importlib.util.spec_from_file_location("score_real", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
    return module
