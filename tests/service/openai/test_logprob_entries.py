"""A token that the constraint forced is the one alternative of its own, where alternatives were asked for."""

from intaglio.service.generation.generation_events import ScoredToken
from intaglio.service.openai.logprob_entries import chat_logprobs

FORCED = ScoredToken(0, 0.0, (), 0)
DRAWN = ScoredToken(1, -0.5, ((0, -0.25), (1, -0.5)), 1)
TEXTS = (b"a", b"b")


def test_a_forced_token_has_itself_as_its_alternative() -> None:
    forced, drawn = chat_logprobs((FORCED, DRAWN), TEXTS, 2)["content"]
    assert forced["top_logprobs"] == [{"token": "a", "logprob": 0.0, "bytes": [97]}]
    assert [entry["token"] for entry in drawn["top_logprobs"]] == ["a", "b"]


def test_without_alternatives_a_forced_token_has_none() -> None:
    (forced,) = chat_logprobs((FORCED,), TEXTS, 0)["content"]
    assert forced["top_logprobs"] == []
