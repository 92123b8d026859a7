"""A second reading agrees with the first value by value, whatever items only one of them has."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.api import Finish, Request, SamplingParams
from intaglio.schemas.contract import Contract
from intaglio.service.errors import RequestDeadlineExceeded
from intaglio.service.extraction.engine_output import EngineOutput
from intaglio.service.extraction.extract import Prepared
from intaglio.service.extraction.second_reading import TEMPERATURE, second_request
from intaglio.service.grounding.field_reports import ReportRequest
from intaglio.service.grounding.second_reading import agreement

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "1"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ab/~"), inner),
    max_leaves=12,
)


def test_scalars_are_compared_by_value_and_kind() -> None:
    first = {"a": 1, "b": Decimal("1.0"), "c": 1, "d": None, "e": "x", "f/g": True}
    second = {"a": Decimal("1.00"), "b": 1, "c": True, "d": "", "e": "X", "f/g": True}
    same = {"/a": True, "/b": True, "/c": False, "/d": False, "/e": False, "/f~1g": True}
    assert agreement(first, second) == same
    assert agreement(first, []) == dict.fromkeys(same, False)


def test_an_item_more_makes_no_other_differ() -> None:
    first = [{"n": 1, "s": "a"}, {"n": 2, "s": "b"}, {"n": 3, "s": "c"}]
    second = [{"n": 0, "s": "z"}, {"n": 1, "s": "a"}, {"n": 2, "s": "B"}, {"n": 3, "s": "c"}]
    found = agreement(first, second)
    assert {pointer for pointer, same in found.items() if same} == {"/0/n", "/0/s", "/2/n", "/2/s"}
    assert agreement(["a", "a"], ["a"]) == {"/0": True, "/1": False}


@given(VALUES, VALUES)
def test_a_value_agrees_with_itself_and_every_scalar_has_a_verdict(one: Any, other: Any) -> None:
    assert all(agreement(one, one).values())
    assert agreement(one, other).keys() == agreement(one, one).keys()


def prepared(**sampling: Any) -> Prepared:
    request = Request(
        id="first", prompt=(1, 2), sampling=SamplingParams(logprobs=32, **sampling), deadline=5.0
    )
    report = ReportRequest(confidence="second_reading")
    return Prepared(request, {}, Contract(), started=float("inf"), report=report)


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
