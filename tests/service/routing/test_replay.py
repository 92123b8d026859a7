"""What a second attempt repeats is skipped, however the two cut their answers into deltas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.api import Delta, Finish, TokenLogprob
from intaglio.service.routing.replay import DifferentAnswer, Replay

TOKENS = st.lists(st.integers(0, 9), max_size=12)
CUTS = st.lists(st.integers(0, 12), max_size=5)


def deltas(tokens: list[int], cuts: list[int]) -> list[Delta]:
    """An answer in pieces; each token has its own log-probability."""
    ends = sorted({min(cut, len(tokens)) for cut in cuts} | {len(tokens)})
    found, begin = [], 0
    for stop in ends:
        piece = tuple(tokens[begin:stop])
        logprobs = tuple(TokenLogprob(token, -float(token)) for token in piece)
        last = Finish.STOP if stop == len(tokens) else None
        found.append(Delta(request_id="r", tokens=piece, logprobs=logprobs, finish=last))
        begin = stop
    return found


def passed(replay: Replay, pieces: list[Delta]) -> list[Delta]:
    return [fresh for piece in pieces if (fresh := replay.unseen(piece)) is not None]


@given(TOKENS, CUTS, CUTS, st.integers(0, 5))
def test_two_attempts_give_the_answer_once(
    tokens: list[int], first: list[int], second: list[int], lost_after: int
) -> None:
    replay = Replay()
    seen = passed(replay, deltas(tokens, first)[:-1][:lost_after])
    replay.restart()
    seen += passed(replay, deltas(tokens, second))
    assert [token for delta in seen for token in delta.tokens] == tokens
    assert [one.token for delta in seen for one in delta.logprobs] == tokens
    assert [delta.finish for delta in seen if delta.finish] == [Finish.STOP]


@given(TOKENS, TOKENS, CUTS)
def test_another_answer_is_never_continued(
    tokens: list[int], other: list[int], cuts: list[int]
) -> None:
    replay = Replay()
    passed(replay, [Delta(request_id="r", tokens=tuple(tokens))])
    replay.restart()
    if other[: len(tokens)] == tokens:
        passed(replay, deltas(other, cuts))
        return
    with pytest.raises(DifferentAnswer):
        passed(replay, deltas(other, cuts))
