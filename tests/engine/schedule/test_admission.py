import math
from dataclasses import replace

import pytest
from intaglio.engine.errors import InvalidRequest, TooLong
from intaglio.engine.schedule.admission import RequestLimits, admit
from intaglio.engine.types import Request, SamplingParams

LIMITS = RequestLimits(max_context=64, vocab_size=100, end_tokens=frozenset({0}))
GOOD = Request(id="a", prompt=(5,) * 10, sampling=SamplingParams(max_tokens=10))


def type_of(value: object) -> str:
    """An id for a test: a field's name, or the type of what it is given, which may be too long to be written."""
    return value if isinstance(value, str) and value.isidentifier() else type(value).__name__


def test_what_just_fits_is_taken() -> None:
    admit(GOOD, LIMITS, capacity=19)  # the last token is never computed
    admit(replace(GOOD, prompt=(99,) * 54), LIMITS, capacity=1000)
    edge = SamplingParams(
        max_tokens=1, temperature=0, top_p=1, min_p=1, seed=2**63 - 1, logit_bias={99: -5.0}
    )
    admit(replace(GOOD, sampling=edge, deadline=0.1, priority=-3), LIMITS, capacity=1000)


@pytest.mark.parametrize(
    ("prompt", "capacity", "where", "hint"),
    [
        (10, 18, "max_tokens", "set max_tokens to 9 at most"),
        (55, 1000, "max_tokens", "set max_tokens to 9 at most"),
        (64, 1000, "prompt", "shorten the prompt to 54 tokens"),
        (200, 1000, "prompt", "shorten the prompt to 54 tokens"),
    ],
)
def test_what_can_never_fit_is_refused_with_what_would(
    prompt: int, capacity: int, where: str, hint: str
) -> None:
    with pytest.raises(TooLong) as caught:
        admit(replace(GOOD, prompt=(5,) * prompt), LIMITS, capacity)
    assert caught.value.where == where
    assert hint in caught.value.hint


def test_the_hint_of_a_refusal_is_taken() -> None:
    for prompt in range(1, 64):
        request = replace(GOOD, prompt=(5,) * prompt, sampling=SamplingParams(max_tokens=500))
        with pytest.raises(TooLong) as caught:
            admit(request, LIMITS, capacity=1000)
        most = int(caught.value.hint.split("max_tokens to ")[1].split()[0])
        admit(replace(request, sampling=SamplingParams(max_tokens=most)), LIMITS, capacity=1000)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_tokens", 0),
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("top_k", -1),
        ("top_p", 0.0),
        ("top_p", 1.1),
        ("min_p", -0.1),
        ("min_p", 2),
        ("seed", -(2**63) - 1),
        ("seed", 2**63),
        ("repetition_penalty", 0.0),
        ("presence_penalty", math.nan),
        ("frequency_penalty", -math.inf),
        ("logprobs", -1),
        ("logit_bias", {100: 1.0}),
        ("logit_bias", {-1: 1.0}),
        ("logit_bias", {1: math.inf}),
        ("logit_bias", {1: 10**400}),
        ("logit_bias", {True: 1.0}),
        ("logit_bias", [1]),
        ("max_tokens", 2**63),
        ("max_tokens", True),
        ("max_tokens", 1.0),
        ("temperature", "1"),
        ("top_k", 2**63),
        ("top_k", 2**31),
        ("top_k", 1.5),
        ("top_p", 5e-324),
        ("seed", "a"),
        ("seed", True),
        ("repetition_penalty", 5e-324),
        ("logprobs", 10**9),
        ("ignore_eos", 1),
        ("stop", "text"),
        ("stop", (1,)),
        ("stop", ("\ud800",)),
        ("stop_token_ids", (1.0,)),
        ("stop_token_ids", (1,) * 5000),
        ("stop_token_ids", (100,)),
        ("stop_token_ids", (-1,)),
    ],
)
def test_sampling_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    sampling = replace(GOOD.sampling, **{name: value})  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest) as caught:
        admit(replace(GOOD, sampling=sampling), LIMITS, capacity=1000)
    assert caught.value.where == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prompt", ()),
        ("prompt", (5, 100)),
        ("prompt", (5, -1)),
        ("deadline", 0.0),
        ("deadline", math.nan),
        ("deadline", math.inf),
        ("priority", 10**400),
        ("priority", 1.5),
        ("priority", None),
        ("deadline", 10**400),
        ("deadline", True),
        ("prompt", [5]),
        ("prompt", (5, True)),
        ("prompt", (5, 1.0)),
        ("prompt", (5, 2**70)),
        ("prompt", 5),
        ("id", ""),
        ("id", "x" * 1000),
        ("id", "\ud800"),
        ("cache_salt", 1),
        ("cache_salt", "\ud800"),
        ("sampling", None),
        ("constraint", "regex"),
    ],
    ids=type_of,
)
def test_a_request_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InvalidRequest) as caught:
        admit(replace(GOOD, **{name: value}), LIMITS, capacity=1000)  # type: ignore[arg-type]
    assert caught.value.where == name


def test_a_number_that_python_does_not_write_out_is_refused_like_any_other() -> None:
    for name in ("temperature", "top_k", "seed"):
        sampling = replace(GOOD.sampling, **{name: 10**5000})  # type: ignore[arg-type]
        with pytest.raises(InvalidRequest, match="16610 bits") as caught:
            admit(replace(GOOD, sampling=sampling), LIMITS, capacity=1000)
        assert caught.value.where == name
