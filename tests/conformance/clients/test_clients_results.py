"""The committed results are those of the suites as they are described, and have no failures."""

import json

import pytest

from tests.conformance.clients.suites import HERE, SUITES, Suite

RESULTS = json.loads((HERE / "results.json").read_text("utf-8"))


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_a_suite_was_run_with_its_versions_and_nothing_failed(suite: Suite) -> None:
    found = RESULTS[suite.name]
    pinned = dict(one.split("==", 1) for one in suite.installs)
    assert found["versions"].items() <= pinned.items()
    assert suite.installs[0].partition("==")[0] in found["versions"]
    assert found["passed"] > 0
    assert (found["failed"], found["failures"], found["validation_errors"]) == (0, [], 0)
    expected = json.loads((HERE / suite.expected).read_text("utf-8"))
    assert bool(found["refused_as_expected"]) <= bool(expected)


def test_no_results_are_left_of_suites_that_are_gone() -> None:
    assert set(RESULTS) == {suite.name for suite in SUITES}


def test_requests_from_the_openapi_document_get_the_statuses_it_names() -> None:
    found = json.loads((HERE / "schemathesis.json").read_text("utf-8"))
    assert found["generated"] >= 2000
    assert found["passed"] == found["generated"]
