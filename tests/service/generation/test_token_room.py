"""The budget of an answer."""

import pytest
from intaglio.engine.api import EngineInfo, TooLong
from intaglio.service.generation.token_room import answer_budget

from tests.support.modelless_engine import engine_info


def info(context: int, blocks: int) -> EngineInfo:
    return engine_info(context_length=context, blocks=blocks)


def test_context_or_memory_bounds_the_room() -> None:
    assert info(100, 100).most_tokens == 100
    assert info(100, 2).most_tokens == 33  # the last token needs no slot


def test_a_budget_is_what_was_asked_or_what_is_left() -> None:
    assert answer_budget(info(100, 100), 40, None) == 60
    assert answer_budget(info(100, 100), 40, 60) == 60


@pytest.mark.parametrize(
    ("prompt", "requested", "where", "hint"),
    [
        (40, 61, "max_completion_tokens", "set max_completion_tokens to 60 at most"),
        (100, None, "messages", "shorten the prompt by at least 1 tokens"),
        (130, 5, "messages", "shorten the prompt by at least 31 tokens"),
    ],
)
def test_what_does_not_fit_is_refused(
    prompt: int, requested: int | None, where: str, hint: str
) -> None:
    with pytest.raises(TooLong) as caught:
        answer_budget(info(100, 100), prompt, requested, "max_completion_tokens", "messages")
    assert caught.value.where == where
    assert hint in caught.value.hint
