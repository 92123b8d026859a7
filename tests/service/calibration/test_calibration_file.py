"""Calibration files: applied, refused for other models, and put on the fields of answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.engine.api import ModelError
from intaglio.schemas.extraction.grounding import FieldReport, LeafConfidence
from intaglio.service.calibration.calibration_file import (
    Calibration,
    HeldOut,
    calibrated_fields,
    calibration_of,
    model_fingerprint,
)
from intaglio.service.calibration.value_evidence import ValueEvidence
from intaglio.service.client import ConfigError

HELD = HeldOut(
    documents=1,
    values=1,
    auroc_before=None,
    auroc_after=None,
    ece_before=0,
    ece_after=0,
    brier_before=0,
    brier_after=0,
)


def made(**changes: Any) -> Calibration:
    given: dict[str, Any] = {
        "model": "m",
        "fingerprint": "f",
        "method": "isotonic",
        "points": ((0.2, 0.1), (0.6, 0.5), (0.8, 0.5)),
        "documents": 1,
        "values": 1,
        "held_out": HELD,
    }
    return Calibration(**{**given, **changes})


def test_isotonic_points_are_joined_by_lines_and_kept_outside() -> None:
    found = [made().apply(ValueEvidence(p)) for p in (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 1.0)]
    assert found == pytest.approx([0.1, 0.1, 0.3, 0.5, 0.5, 0.5, 0.5])


def test_a_temperature_divides_the_log_odds() -> None:
    warm = made(method="temperature", points=(), temperature=2.0)
    # Odds of 9 to 1 become 3 to 1.
    assert warm.apply(ValueEvidence(0.9)) == pytest.approx(0.75)
    assert 0 <= warm.apply(ValueEvidence(0.0)) < 0.01 < 0.99 < warm.apply(ValueEvidence(1.0)) <= 1


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.05, 50))
def test_more_probable_stays_more_probable(one: float, other: float, temperature: float) -> None:
    low, high = sorted((one, other))
    for found in (made(), made(method="temperature", points=(), temperature=temperature)):
        assert 0 <= found.apply(ValueEvidence(low)) <= found.apply(ValueEvidence(high)) <= 1


def test_a_file_is_what_was_written_and_belongs_to_one_model(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(made().model_dump_json())
    assert Calibration.load(path, "f") == made()
    with pytest.raises(ConfigError, match="calibration of another model, m"):
        Calibration.load(path, "g")
    with pytest.raises(ConfigError, match="cannot be read"):
        Calibration.load(tmp_path / "absent", "f")


@pytest.mark.parametrize(
    "change",
    [
        {"points": []},
        {"points": [[0.5, 0.2], [0.4, 0.3]]},
        {"points": [[0.2, 0.5], [0.4, 0.3]]},
        {"points": [[0.2, 1.5]]},
        {"temperature": 1.0},
        {"weights": {"constant": 1.0}},
        {"method": "temperature"},
        {"version": 2},
        {"more": 1},
    ],
)
def test_other_content_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**made().model_dump(mode="json"), **change}))
    with pytest.raises(ConfigError, match="is no calibration"):
        Calibration.load(path, "f")


def test_reports_with_a_probability_get_a_calibrated_one() -> None:
    sure = FieldReport(match="exact", confidence=LeafConfidence(probability=0.4, masked=0.1))
    fields = {"/a": sure, "/b": FieldReport(confidence=LeafConfidence()), "/c": FieldReport()}
    found = calibrated_fields(fields, made(), {"a": 1, "b": 2, "c": 3}, {})
    wanted = LeafConfidence(
        probability=0.4, masked=0.1, calibrated=made().apply(ValueEvidence(0.4))
    )
    assert found["/a"] == FieldReport(match="exact", confidence=wanted)
    assert {name: found[name] for name in ("/b", "/c")} == {k: fields[k] for k in ("/b", "/c")}
    assert calibrated_fields(fields, None, {}, {}) == fields


def test_a_fingerprint_changes_with_each_file_of_the_model(tmp_path: Path) -> None:
    header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    weights = len(header).to_bytes(8, "little") + header
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "w.safetensors").write_bytes(weights + b"abcd")
    (tmp_path / "README.md").write_text("x")
    first = model_fingerprint(tmp_path)
    (tmp_path / "README.md").write_text("y")
    assert model_fingerprint(tmp_path) == first
    (tmp_path / "w.safetensors").write_bytes(weights + b"abce")
    second = model_fingerprint(tmp_path)
    (tmp_path / "config.json").write_text('{"a": 1}')
    assert len({first, second, model_fingerprint(tmp_path)}) == 3


def test_a_model_has_the_calibration_in_its_folder_or_the_one_given(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    assert calibration_of(folder) is None
    mine = made(fingerprint=model_fingerprint(folder))
    (folder / "calibration.json").write_text(mine.model_dump_json())
    assert calibration_of(folder) == mine, "the file is no part of the model"
    other = tmp_path / "other.json"
    other.write_text(mine.model_copy(update={"model": "n"}).model_dump_json())
    found = calibration_of(folder, other)
    assert found is not None
    assert found.model == "n"
    (folder / "config.json").write_text("[]")
    for path in (None, other):
        with pytest.raises(ModelError, match="another model"):
            calibration_of(folder, path)
