"""A sample of the conformance report on every run: cases that the committed expectations call right must stay right."""

import random

import pytest

from tests.conformance import mutated
from tests.conformance.cases import DRAFTS, bench, data_folder, remotes, suite
from tests.conformance.report import PAGE, page, read
from tests.conformance.texts import exceptions, faults
from tests.conformance.verdicts import ours

FOLDER = data_folder()
SEED = 20260
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(FOLDER is None, reason="needs ../shared"),
]


def expected() -> dict[str, dict[str, str]]:
    """The committed exceptions by group."""
    found: dict[str, dict[str, str]] = read()["texts"]["expected"]["exceptions"]
    return found


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_sample_of_the_suite_is_as_expected(draft: str) -> None:
    assert FOLDER is not None
    groups = list(suite(FOLDER, draft))
    registry, known = remotes(FOLDER), expected()
    sample = random.Random(f"{SEED}{draft}").sample(groups, 40)
    for group in sample:
        assert exceptions(ours(group, registry)) == known.get(group.name, {}), group.name


def test_a_sample_of_the_bench_is_as_expected() -> None:
    assert FOLDER is not None
    groups = [group for group in bench(FOLDER) if len(str(group.schema)) < 20_000]
    known = expected()
    for group in random.Random(SEED).sample(groups, 40):
        assert exceptions(ours(group, {})) == known.get(group.name, {}), group.name


def test_neighbours_of_the_bench_are_judged_as_by_a_validator() -> None:
    found = mutated.look(8, SEED)
    assert not found.faults
    assert found.counts["compiled"] >= 4
    assert found.counts["texts"] > 50


def test_the_expectations_hold_no_fault() -> None:
    """Content keywords aside, which the specification calls annotations."""
    assert not faults(expected())
    for name, section in read().items():
        assert not section["faults"], name


def test_the_page_is_made_from_the_expectations() -> None:
    assert PAGE.read_text() == page(read())
