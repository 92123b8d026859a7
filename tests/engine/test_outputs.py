import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.outputs import deltas
from intaglio.engine.plan import Change, Changes
from intaglio.engine.types import Delta, Failure, Finish, TokenLogprob, Usage


def test_every_request_has_one_delta_a_step() -> None:
    usage = Usage(prompt_tokens=3, output_tokens=4)
    first = Change(1, "a", (5, 6), (TokenLogprob(5, 0.0), TokenLogprob(6, 0.0)))
    other = Change(2, "b", (9,))
    last = Change(1, "a", (7,), (TokenLogprob(7, -1.0),), Finish.STOP, None, usage)
    assert deltas(Changes((first, other, last))) == [
        Delta(
            request_id="a",
            tokens=(5, 6, 7),
            logprobs=(TokenLogprob(5, 0.0), TokenLogprob(6, 0.0), TokenLogprob(7, -1.0)),
            finish=Finish.STOP,
            usage=usage,
        ),
        Delta(request_id="b", tokens=(9,)),
    ]


def test_a_failure_is_told() -> None:
    failure = Failure("internal_error", "planted")
    (delta,) = deltas(Changes((Change(1, "a", finish=Finish.ERROR, failure=failure),)))
    assert (delta.finish, delta.error) == (Finish.ERROR, failure)


def test_nothing_comes_after_the_end() -> None:
    with pytest.raises(InternalError, match="has a change after its end"):
        deltas(Changes((Change(1, "a", finish=Finish.ABORT), Change(1, "a", (5,)))))
