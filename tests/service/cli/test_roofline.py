"""`intaglio roofline` as its user types it."""

import json
from pathlib import Path

import pytest

from tests.service.cli.conftest import Run
from tests.support.tiny_checkpoint import QWEN2, write_checkpoint


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "tiny", QWEN2)


def test_a_table_of_floors(run: Run, model: Path) -> None:
    result = run("roofline", "-m", model, "-d", "h200", "--batch", "1", "--batch", "64")
    assert result.exit_code == 0, result.output
    assert "tiny on NVIDIA H200 SXM" in result.output
    assert "requests/s" in result.output


def test_measured_figures_stand_beside_the_floor(run: Run, model: Path, tmp_path: Path) -> None:
    figures = {
        "plan": {"clients": 4, "rate": None},
        "summary": {"requests_per_s": 2.0, "prompt_tokens": 50, "output_tokens": 10},
    }
    (tmp_path / "figures.json").write_text(json.dumps(figures))
    result = run(
        *("roofline", "-m", model, "--bandwidth", "0.1", "--tflops", "1"),
        *("--bench", "figures.json", "--json"),
    )
    assert result.exit_code == 0, result.output
    (standing,) = json.loads(result.output)["measured"]
    assert standing["measured_s"] == 0.5
    assert standing["share"] == pytest.approx(standing["floor_s"] / 0.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "device is not given"),
        (("-d", "abacus"), "h200"),
        (("-d", "h200", "--bench", "absent.json"), "cannot be read"),
    ],
)
def test_unusable_options_are_refused(
    run: Run, model: Path, options: tuple[str, ...], words: str
) -> None:
    result = run("roofline", "-m", model, *options)
    assert result.exit_code == 2, result.output
    assert words in result.output
