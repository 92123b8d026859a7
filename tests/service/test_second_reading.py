"""The request for a second reading: the same prompt, sampling, and the remaining deadline."""

from typing import Any

import pytest
from intaglio.engine.api import Finish, Request, SamplingParams
from intaglio.schemas.extraction.contract import Contract
from intaglio.service.errors import RequestDeadlineExceeded
from intaglio.service.extraction.engine_output import EngineOutput
from intaglio.service.extraction.extract import Prepared
from intaglio.service.extraction.second_reading import TEMPERATURE, second_request
from intaglio.service.grounding.field_reports import ReportRequest


def prepared(**sampling: Any) -> Prepared:
    request = Request(
        id="first", prompt=(1, 2), sampling=SamplingParams(logprobs=32, **sampling), deadline=5.0
    )
    started = float("inf")
    report = ReportRequest(confidence="second_reading")
    return Prepared(request, {}, Contract(), started=started, report=report, deadline_s=5.0)


@pytest.mark.parametrize(
    ("given_", "temperature", "seed"),
    [({"temperature": 0.0}, TEMPERATURE, 0), ({"temperature": 1.5, "seed": 7}, 1.5, 8)],
)
def test_it_has_the_same_prompt_and_chance(
    given_: dict[str, Any], temperature: float, seed: int
) -> None:
    first = prepared(**given_)
    again = second_request(first, EngineOutput(finish=Finish.STOP))
    assert again is not None
    assert (again.prompt, again.id != "first") == (first.request.prompt, True)
    assert (again.sampling.temperature, again.sampling.seed) == (temperature, seed)
    assert again.sampling.logprobs is None


def test_there_is_none_after_a_failure_and_no_time_beyond_the_deadline() -> None:
    assert second_request(prepared(), EngineOutput(finish=Finish.LENGTH)) is None
    late = prepared()
    object.__setattr__(late, "started", 0.0)  # long ago
    with pytest.raises(RequestDeadlineExceeded, match="second reading"):
        second_request(late, EngineOutput(finish=Finish.STOP))
