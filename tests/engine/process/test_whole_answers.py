"""Answers in one message: equal to the streamed ones joined, for every way a request can end."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.host.client import EngineClient
from intaglio.engine.host.whole_answers import WholeAnswers
from intaglio.engine.types import Delta, Finish, Request, SamplingParams, TokenLogprob, Usage

from tests.support.scripted_engine import launch


def joined(deltas: list[Delta]) -> Delta:
    """What a reader makes of a stream."""
    return Delta(
        request_id=deltas[-1].request_id,
        tokens=tuple(token for delta in deltas for token in delta.tokens),
        logprobs=tuple(chance for delta in deltas for chance in delta.logprobs),
        finish=deltas[-1].finish,
        usage=deltas[-1].usage,
        error=deltas[-1].error,
    )


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.lists(st.integers(0, 9), max_size=3))),
    st.sets(st.sampled_from("abc")),
)
def test_what_is_sent_says_the_same_as_the_stream(
    steps: list[tuple[str, list[int]]], whole: set[str]
) -> None:
    answers = WholeAnswers()
    assert all(answers.expect(name) for name in whole)
    stream = [
        Delta(
            request_id=name,
            tokens=tuple(tokens),
            logprobs=tuple(TokenLogprob(token, -1.0) for token in tokens),
        )
        for name, tokens in steps
    ]
    stream += [
        Delta(request_id=name, tokens=(7,), finish=Finish.STOP, usage=Usage(1, 1)) for name in "abc"
    ]
    sent = [ready for delta in stream for ready in answers.join([delta])]
    for name in "abc":
        mine = [delta for delta in sent if delta.request_id == name]
        assert joined(mine) == joined([delta for delta in stream if delta.request_id == name])
        assert len(mine) == 1 or name not in whole


def test_an_id_in_use_stays_with_the_request_that_has_it() -> None:
    answers = WholeAnswers()
    assert answers.expect("a")
    answers.join([Delta(request_id="a", tokens=(1,))])
    assert not answers.expect("a")
    (end,) = answers.join([Delta(request_id="a", tokens=(2,), finish=Finish.STOP)])
    assert end.tokens == (1, 2)
    assert answers.expect("a")


@pytest.mark.parametrize("order", ["echo hello", "fail too_long", "late", "echo"])
def test_one_message_equals_the_stream_from_an_engine_of_its_own_process(order: str) -> None:
    async def story() -> None:
        client = EngineClient(launch())
        await client.start()
        try:
            await client.until_ready()
            asked = Request(
                id="a", prompt=tuple(f"<<{order}>>".encode()), sampling=SamplingParams()
            )
            stream = [delta async for delta in client.generate(asked)]
            (whole,) = [
                delta async for delta in client.generate(replace(asked, id="b"), whole=True)
            ]
            expected = joined(stream)
            assert (whole.tokens, whole.finish) == (expected.tokens, expected.finish)
            assert (whole.usage, whole.error) == (expected.usage, expected.error)
        finally:
            await client.close()

    asyncio.run(asyncio.wait_for(story(), 60))
