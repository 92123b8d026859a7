"""The compliance tests of Open Responses, as llm-comply runs them, where that is installed.

Every response and every event of a stream is validated against the schemas of the specification.
"""

import os
from dataclasses import replace
from typing import Any

import pytest
from llm_comply.config import ComplianceConfig
from llm_comply.result import TestStatus
from llm_comply.runner import TestRunner
from llm_comply.schema import _BUNDLED_SPEC, SpecLoader
from llm_comply.tests.open_responses import OPEN_RESPONSES_TESTS
from llm_comply.validators import streaming_has_events, streaming_has_terminal

CONFIG = ComplianceConfig(
    base_url=os.environ["TEST_API_BASE_URL"],
    api_key="none",
    model=os.environ["CLIENTS_MODEL"],
    verbose=True,
)
SPECIFICATION = SpecLoader(str(_BUNDLED_SPEC))
RUNNER = TestRunner(CONFIG, OPEN_RESPONSES_TESTS, SPECIFICATION)
BY_ID = {case.id: case for case in OPEN_RESPONSES_TESTS}
CALL_EVENTS = {
    "response.output_item.added",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.done",
}


class Refused(AssertionError):
    """The service answered with a status that the test does not expect."""

    def __init__(self, status_code: int) -> None:
        super().__init__(f"status {status_code}")
        self.status_code = status_code


def run(case: Any) -> Any:
    """The result of a case that passed."""
    result = RUNNER.run_one(case)
    if result.status is TestStatus.SKIPPED:
        pytest.skip(result.errors[0])
    for error in result.errors:
        if error.startswith("HTTP "):
            raise Refused(int(error.split()[1]))
    assert result.status is TestStatus.PASSED, result.errors
    return result


@pytest.mark.parametrize("name", BY_ID)
def test_compliance(name: str) -> None:
    run(BY_ID[name])


def test_streamed_calls_have_their_events() -> None:
    streamed = replace(
        BY_ID["tool-calling"],
        streaming=True,
        validators=[streaming_has_events, streaming_has_terminal],
    )
    events = [event["data"] for event in run(streamed).stream_events if event["data"] != "[DONE]"]
    assert {event["type"] for event in events} >= CALL_EVENTS
    items = [event["item"]["type"] for event in events if "item" in event]
    assert items == ["function_call", "function_call"]
    last = next(e for e in events if e["type"] == "response.function_call_arguments.done")
    deltas = (e["delta"] for e in events if e["type"] == "response.function_call_arguments.delta")
    assert "".join(deltas) == last["arguments"]
