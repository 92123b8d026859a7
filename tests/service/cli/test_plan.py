"""`intaglio plan` as its user types it."""

import json
from pathlib import Path

import pytest

from tests.service.cli.conftest import Run
from tests.support.tiny_checkpoint import QWEN2, write_checkpoint


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "tiny", QWEN2)


def test_the_proposal_is_a_command(run: Run, model: Path) -> None:
    result = run("plan", "-m", model, "--gpus", "2", "--rate", "5", "--ttft", "100")
    assert result.exit_code == 0, result.output
    assert "intaglio serve --engines 1 --tp 1" in result.output
    assert "stages of layers (--pp, up to 2)" in " ".join(result.output.split())


def test_every_layout_has_its_figures(run: Run, model: Path) -> None:
    result = run("plan", "-m", model, "--gpus", "4", "--rate", "5", "--ttft", "100", "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert document["chosen"] in document["layouts"]
    pairs = [(layout["engines"], layout["tp"]) for layout in document["layouts"]]
    assert pairs == [(1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (2, 2), (1, 4)]


def test_a_demand_that_no_layout_serves_fails(run: Run, model: Path) -> None:
    result = run("plan", "-m", model, "--gpus", "1", "--rate", "1e9", "--ttft", "100")
    assert result.exit_code == 1, result.output
    assert "no layout serves the demand" in result.output


def test_an_unknown_device_is_refused(run: Run, model: Path) -> None:
    result = run("plan", "-m", model, "--gpus", "1", "--rate", "1", "--ttft", "9", "-d", "abacus")
    assert result.exit_code == 2, result.output
    assert "h200" in result.output


@pytest.mark.parametrize("option", ["--rate", "--ttft"])
@pytest.mark.parametrize("value", ["inf", "nan", "1e999"])
def test_an_endless_demand_is_refused(run: Run, option: str, value: str) -> None:
    demand = {"--rate": "5", "--ttft": "100"} | {option: value}
    result = run("plan", "--gpus", "1", *(word for pair in demand.items() for word in pair))
    assert result.exit_code == 2, result.output
    assert "Invalid value" in result.output
