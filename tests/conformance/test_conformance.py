"""A sample of the conformance report on every run: what the committed expectations call right has to stay right."""

import random

import pytest

from tests.conformance.cases import DRAFTS, bench, data_folder, remotes, suite
from tests.conformance.report import exceptions, expected
from tests.conformance.verdicts import ours

FOLDER = data_folder()
SEED = 20260
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(FOLDER is None, reason="needs ../shared"),
]


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_sample_of_the_suite_is_as_expected(draft: str) -> None:
    assert FOLDER is not None
    groups = list(suite(FOLDER, draft))
    registry, known = remotes(FOLDER), expected()
    sample = random.Random(f"{SEED}{draft}").sample(groups, 60)
    for group in sample:
        assert exceptions(ours(group, registry)) == known.get(group.name, {}), group.name


def test_a_sample_of_the_bench_is_as_expected() -> None:
    assert FOLDER is not None
    groups = [group for group in bench(FOLDER) if len(str(group.schema)) < 20_000]
    known = expected()
    for group in random.Random(SEED).sample(groups, 60):
        assert exceptions(ours(group, {})) == known.get(group.name, {}), group.name


def test_the_expectations_hold_no_wrong_accept_of_an_assertion() -> None:
    """Optional tests of content keywords aside, which the specification calls annotations."""
    wrong = {
        name
        for name, cases in expected().items()
        if any(verdict == "wrong accept" for verdict in cases.values())
    }
    assert all("optional/content" in name for name in wrong), wrong
