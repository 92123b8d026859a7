"""A streamed answer equals the whole answer, byte for byte."""

from collections.abc import Iterator

import pytest

from tests.property.streamed_equal import compare, tiny_service
from tests.support.chat_requests import put_together
from tests.support.live_service import Live


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with tiny_service(tmp_path_factory.mktemp("models")) as running:
        yield running


@pytest.mark.parametrize("first", range(0, 60, 30))
def test_streamed_and_whole_answers_are_equal(service: Live, first: int) -> None:
    ends = {compare(service, seed) for seed in range(first, first + 15)}
    assert "stop" in ends


def test_a_planted_difference_is_found() -> None:
    chunk = (
        'data: {"object":"text_completion","model":"m","system_fingerprint":"f","choices":'
        '[{"index":0,"text":"a","logprobs":null,"finish_reason":"stop","stop_reason":null,'
        '"budget_forced":false}],"usage":null}\n\n'
    )
    last = (
        'data: {"object":"text_completion","model":"m","system_fingerprint":"f","choices":[],'
        '"usage":{}}\n\ndata: [DONE]\n\n'
    )
    assert put_together(chunk + last)["choices"][0]["text"] == "a"
    with pytest.raises(AssertionError):
        put_together(chunk + chunk + last)  # goes on after its end
    with pytest.raises(AssertionError):
        put_together(chunk)
