"""Stored figures are cited where they are explained; one file for each target."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "tests/bench/results"
CITED = re.compile(r"tests/bench/results/([\w.-]+\.json)")


def cited() -> set[str]:
    """Names of result files that pages of docs name."""
    return {
        name
        for page in (ROOT / "docs").rglob("*.md")
        for name in CITED.findall(page.read_text(encoding="utf-8"))
    }


def test_every_file_of_results_is_cited_and_every_citation_has_its_file() -> None:
    assert cited() == {file.name for file in RESULTS.iterdir()}


def test_a_target_has_one_file_a_machine() -> None:
    """Files are named after target, machine and date: `gpu-h200-2026-11-26.json`."""
    targets = Counter("-".join(file.stem.split("-")[:2]) for file in RESULTS.iterdir())
    assert {target: count for target, count in targets.items() if count > 1} == {}
