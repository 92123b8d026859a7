"""The report as a page: self-contained, escaped, with the figures in it."""

import re
import xml.etree.ElementTree as ET
from typing import Any

from intaglio.schemas.json_pointer import pointer_of
from intaglio.service.evaluation.charts import reliability_diagram, risk_coverage_chart
from intaglio.service.evaluation.eval_page import evaluation_page
from intaglio.service.evaluation.figures import evaluate
from intaglio.service.evaluation.gold import GoldRecord
from intaglio.service.evaluation.predictions import Prediction, PredictionError
from intaglio.service.evaluation.ranking import confidence_scores

NASTY = '<script>alert("&")</script>'


def page() -> str:
    records = [
        GoldRecord(NASTY, {}, "t", {NASTY: NASTY, "n": 1}, NASTY),
        GoldRecord("b", {}, "t", {"n": 1}, "g"),
    ]
    data: Any = {NASTY: f"{NASTY}!?x", "n": 1}
    answered = Prediction(NASTY, data, probabilities={"/n": 0.9, pointer_of([NASTY]): 0.2})
    failed = Prediction("b", error=PredictionError("incomplete", NASTY))
    return evaluation_page(evaluate(records, {NASTY: answered, "b": failed}, gold=NASTY))


def test_a_page_has_no_script_and_loads_nothing() -> None:
    found = page()
    assert "<script" not in found
    assert "&lt;script&gt;" in found
    assert not re.search(r"(?:src|href)=|@import|url\(", found)


def test_a_page_has_figures_mistakes_failures_and_charts() -> None:
    found = page()
    assert found.count("<svg") == 2
    assert "AUROC\n1.000" in found
    assert "incomplete" in found
    assert "40.0%" in found, "F1: one of two given values is right, of three gold ones"


def test_a_chart_is_xml_with_a_dot_for_each_bin_at_its_place() -> None:
    scores = confidence_scores([(0.05, False), (0.95, True), (1.0, True)])
    assert scores is not None
    space = "{http://www.w3.org/2000/svg}"
    picture = ET.fromstring(reliability_diagram(scores.bins, "Reliability"))
    low, high = picture.findall(f"{space}circle")
    assert float(low.attrib["cx"]) < float(high.attrib["cx"])
    assert float(low.attrib["cy"]) > float(high.attrib["cy"]), "right values are at the top"
    assert float(low.attrib["r"]) < float(high.attrib["r"])
    curve = ET.fromstring(risk_coverage_chart(scores.curve, "Risk"))
    (line,) = curve.findall(f"{space}polyline")
    assert len(line.attrib["points"].split()) == 1 + len(scores.curve)
