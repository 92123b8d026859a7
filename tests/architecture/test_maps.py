"""The maps of packages name every module once and nothing else; other pages name files and tests that exist."""

import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"^ {4}(\w+) {2,}\S", re.MULTILINE)
QUESTION = re.compile(r"^\| ([^|]+\?) \| ([^|]+) \|$", re.MULTILINE)
QUESTIONS = dict(QUESTION.findall((ROOT / "docs/where-to-look.md").read_text()))


@pytest.mark.parametrize("package", ["grammar", "grammar/jsonschema"])
def test_every_module_is_on_the_map(package: str) -> None:
    map_ = importlib.import_module(f"intaglio.{package.replace('/', '.')}").__doc__ or ""
    found = [*(ROOT / package).glob("*.py"), *(ROOT / package).glob("*/__init__.py")]
    there = {path.parent.name if path.stem == "__init__" else path.stem for path in found}
    there -= {Path(package).name, "api"}
    assert Counter(ENTRY.findall(map_)) == Counter(there)


def test_newcomers_find_at_least_ten_questions() -> None:
    assert len(QUESTIONS) >= 10


@pytest.mark.parametrize("question", QUESTIONS)
def test_at_most_three_files_answer_a_question(question: str) -> None:
    files = re.findall(r"`([^`]+)`", QUESTIONS[question])
    assert 1 <= len(files) <= 3
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_tests_of_first_touch_exist() -> None:
    named = re.findall(
        r"`(tests/[\w/]+\.py)::(test_\w+)`", (ROOT / "docs/first-touch.md").read_text()
    )
    assert len(named) > 60
    lost = [each for each in named if f"def {each[1]}(" not in (ROOT / each[0]).read_text()]
    assert lost == []
