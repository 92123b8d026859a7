"""What is known of a value, from the report of an answer, and as numbers."""

import pytest
from intaglio.schemas.extraction.grounding import FieldReport, LeafConfidence, Span
from intaglio.service.calibration.value_evidence import (
    ValueEvidence,
    evidence_of,
    features,
    root_properties,
)

SURE = LeafConfidence(probability=0.5, masked=0.25, not_stated=0.1)


def test_the_evidence_of_values_with_a_probability() -> None:
    place = Span(start=1, end=2)
    fields = {
        "/lines/10/n": FieldReport(match="number", occurrences=(place, place), confidence=SURE),
        "/a": FieldReport(confidence=LeafConfidence(probability=0.75)),
        "/b": FieldReport(match="exact"),
        "/c": FieldReport(match="exact", confidence=LeafConfidence()),
    }
    found = dict(evidence_of(fields, {"/lines/10/n": 3, "/a": None}, ("a", "lines")))
    assert found == {
        "/lines/10/n": ValueEvidence(0.5, 0.25, 0.1, "number", 2, 3, "/lines/*/n", ("a", "lines")),
        "/a": ValueEvidence(0.75, match="none", field="/a", properties=("a", "lines")),
    }


def test_an_answer_without_sources_tells_nothing_of_matches() -> None:
    ((_, found),) = evidence_of({"/a": FieldReport(confidence=SURE)}, {"/a": "x"}, ())
    assert found.match is None
    located = ValueEvidence(0.5, 0.25, 0.1, "exact", 4, "x", "/a")
    assert located.not_located() == found
    assert features(located).keys() - features(found).keys() == {"match_exact", "occurrences"}


def test_a_string_of_the_document_by_construction_tells_nothing_either() -> None:
    copied = features(ValueEvidence(0.5, match="verbatim", occurrences=1))
    assert not any(name.startswith("match") for name in copied)


def test_kinds_of_values_are_told_apart_and_numbers_are_finite() -> None:
    kinds = {kind: features(ValueEvidence(1.0, value=kind)) for kind in (None, True, 7, "ab")}
    assert [set(one) & {"null", "boolean", "text", "length"} for one in kinds.values()] == [
        {"null"},
        {"boolean"},
        set(),
        {"text", "length"},
    ]
    assert features(ValueEvidence(1.0))["log_odds"] == pytest.approx(13.8, abs=0.1)


def test_forms_are_the_names_at_the_root_of_a_schema() -> None:
    assert root_properties({"properties": {"b": {}, "a": {}}}) == ("a", "b")
    assert root_properties({"$ref": "#/$defs/x"}) == root_properties("name") == ()
