"""Confidences of values from the probabilities of tokens that do not respect the borders of values."""

import itertools
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.api import Cut, CutReason, TokenLogprob
from intaglio.schemas.extraction.grounding import LeafConfidence
from intaglio.service.grounding.leaf_confidence import ScoredOutput, confidences

VOCABULARY: list[bytes | None] = [
    *(b'{"a":', b'"x', b'y"', b',"b":', b"12", b"}", b"null", b"nu", b'{"a":null', None, b'":'),
    *(b"true", b'","b":'),
]


def scored(*tokens: tuple[bytes, float], **more: Any) -> ScoredOutput:
    """An output of tokens with these probabilities; 1 is a forced token."""
    scores = []
    for text, probability in tokens:
        token = VOCABULARY.index(text)
        top = () if probability == 1 else ((token, math.log(probability)),)
        scores.append(TokenLogprob(token, math.log(probability), top, 1 - probability))
    return ScoredOutput(scores, VOCABULARY, **more)


TEXT = ((b'{"a":', 1.0), (b'"x', 0.5), (b'y"', 0.125), (b',"b":', 1.0), (b"12", 0.75), (b"}", 0.9))


def test_free_values_have_the_mean_of_their_tokens_and_choices_the_product() -> None:
    free, chosen = (confidences(scored(*TEXT), closed) for closed in (set(), {"/a"}))
    assert free["/a"].probability == pytest.approx(0.25)
    assert chosen["/a"].probability == pytest.approx(0.0625)
    assert free["/b"].probability == pytest.approx(0.75)
    assert free["/a"].masked == 0.875
    assert free["/b"].masked == 0.25
    assert free["/a"].not_stated is None


def test_forced_tokens_say_nothing() -> None:
    tokens = (*TEXT[:2], (b'y"', 1.0), *TEXT[3:4], (b"12", 1.0), (b"}", 1.0))
    found = confidences(scored(*tokens), set())
    assert found["/a"].probability == pytest.approx(0.5)
    assert found["/b"].probability == 1.0


def test_null_is_looked_for_among_the_alternatives_of_the_first_token() -> None:
    output = scored(*TEXT)
    scores = list(output.scores)
    null, part = VOCABULARY.index(b"null"), VOCABULARY.index(b"nu")
    top = (*scores[1].top, (null, math.log(0.25)), (part, math.log(0.125)), (9, math.log(0.1)))
    scores[1] = TokenLogprob(scores[1].token, scores[1].logprob, top, 0.5)
    found = confidences(ScoredOutput(scores, VOCABULARY), set())
    assert found["/a"].not_stated == pytest.approx(0.375)


def test_a_token_may_begin_before_its_value() -> None:
    token = VOCABULARY.index(b'{"a":null')
    brace = VOCABULARY.index(b"}")
    scores = [TokenLogprob(token, math.log(0.5), ((token, math.log(0.5)),)), TokenLogprob(brace, 0)]
    found = confidences(ScoredOutput(scores, VOCABULARY), set())["/a"]
    assert found.probability == pytest.approx(0.5)
    assert found.not_stated == pytest.approx(0.5)
    assert found.masked is None


def test_a_value_ended_by_the_engine_has_no_confidence() -> None:
    output = scored(*TEXT, cuts=(Cut(CutReason.LOOPED, 2, 3),))
    found = confidences(output, set())
    assert found["/a"] == LeafConfidence()
    assert found["/b"].probability is not None


@given(
    st.dictionaries(
        st.text(max_size=4), st.text(max_size=6) | st.integers() | st.none(), max_size=4
    ),
    st.randoms(use_true_random=False),
)
def test_every_scalar_has_its_tokens_however_the_text_is_cut(data: Any, rng: Any) -> None:
    text = json.dumps(data).encode()
    borders = sorted({0, len(text), *(rng.randrange(len(text)) for _ in range(8))})
    pieces = [text[a:b] for a, b in itertools.pairwise(borders)]
    scores = [
        TokenLogprob(i, -float(rng.randrange(1, 9)), ((i, -1.0),)) for i in range(len(pieces))
    ]
    for pointer, found in confidences(ScoredOutput(scores, pieces), set()).items():
        name = pointer[1:].replace("~1", "/").replace("~0", "~")
        first = min(i for i, end in enumerate(borders[1:]) if end > _begin(data, name, text))
        assert found.probability is not None
        assert 0 < found.probability <= 1
        if _begin(data, name, text) + len(json.dumps(data[name])) <= borders[first + 1]:
            assert found.probability == pytest.approx(math.exp(scores[first].logprob))


def _begin(data: Any, name: str, text: bytes) -> int:
    """Where the value of a member begins."""
    before = dict(data.items())
    names = list(before)
    shorter = {key: before[key] for key in names[: names.index(name)]}
    start = len(json.dumps(shorter)) - 1 + (2 if shorter else 0)
    return start + len(json.dumps(name)) + 2
