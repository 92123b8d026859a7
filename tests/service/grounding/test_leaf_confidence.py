"""Confidences of values from the probabilities of tokens that do not respect the borders of values."""

import itertools
import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.api import Cut, CutReason, TokenLogprob
from intaglio.schemas.extraction.grounding import LeafConfidence
from intaglio.service.grounding.leaf_confidence import ScoredOutput, confidences
from intaglio.service.grounding.value_choices import ValueChoices

VOCABULARY: list[bytes | None] = [
    *(b'{"a":', b'"x', b'y"', b',"b":', b"12", b"}", b"null", b"nu", b'{"a":null', None, b'":'),
    *(b"true", b'","b":', b'{"', b"a", b'":"', b'"', b":", b'a":"', b'a":', b'b":"', b'x"', b"n"),
    *(b'{"a":[', b'{"a":["', b'","', b'",', b"]}", b'"]}', b'"}', b"ull"),
]
FREE = ValueChoices()
NULLABLE = ValueChoices(nullable=frozenset({"/a", "/a/0", "/a/1"}))


def scored(*tokens: tuple[bytes, float], **more: Any) -> ScoredOutput:
    """An output of tokens with these probabilities; 1 is a forced token."""
    scores = []
    for text, probability in tokens:
        token = VOCABULARY.index(text)
        top = () if probability == 1 else ((token, math.log(probability)),)
        scores.append(TokenLogprob(token, math.log(probability), top, 1 - probability))
    return ScoredOutput(scores, VOCABULARY, **more)


def output_of(*tokens: Mapping[bytes, float], **more: Any) -> ScoredOutput:
    """An output of the first token of each choice. A choice gives tokens their probability; one of one is forced."""
    scores = []
    for choice in tokens:
        top = tuple((VOCABULARY.index(text), math.log(p)) for text, p in choice.items())
        masked = 1 - next(iter(choice.values()))
        scores.append(TokenLogprob(*top[0], top if len(top) > 1 else (), masked))
    return ScoredOutput(scores, VOCABULARY, **more)


TEXT = ((b'{"a":', 1.0), (b'"x', 0.5), (b'y"', 0.125), (b',"b":', 1.0), (b"12", 0.75), (b"}", 0.9))


def test_free_values_have_the_mean_of_their_tokens_and_choices_the_product() -> None:
    listed = ValueChoices(closed=frozenset({"/a"}))
    free, chosen = (confidences(scored(*TEXT), choices) for choices in (FREE, listed))
    assert free["/a"].probability == pytest.approx(0.25)
    assert chosen["/a"].probability == pytest.approx(0.0625)
    assert free["/b"].probability == pytest.approx(0.75)
    assert free["/a"].masked == 0.875
    assert free["/b"].masked == 0.25
    assert free["/a"].not_stated is None


def test_forced_tokens_say_nothing() -> None:
    tokens = (*TEXT[:2], (b'y"', 1.0), *TEXT[3:4], (b"12", 1.0), (b"}", 1.0))
    found = confidences(scored(*tokens), FREE)
    assert found["/a"].probability == pytest.approx(0.5)
    assert found["/b"].probability == 1.0


def test_null_is_looked_for_among_the_alternatives_of_the_first_token() -> None:
    output = scored(*TEXT)
    scores = list(output.scores)
    null, part = VOCABULARY.index(b"null"), VOCABULARY.index(b"nu")
    top = (*scores[1].top, (null, math.log(0.25)), (part, math.log(0.125)), (9, math.log(0.1)))
    scores[1] = TokenLogprob(scores[1].token, scores[1].logprob, top, 0.5)
    found = confidences(ScoredOutput(scores, VOCABULARY), FREE)
    assert found["/a"].not_stated == pytest.approx(0.375)


def test_a_token_may_begin_before_its_value() -> None:
    token = VOCABULARY.index(b'{"a":null')
    brace = VOCABULARY.index(b"}")
    scores = [TokenLogprob(token, math.log(0.5), ((token, math.log(0.5)),)), TokenLogprob(brace, 0)]
    found = confidences(ScoredOutput(scores, VOCABULARY), FREE)["/a"]
    assert found.probability == pytest.approx(0.5)
    assert found.not_stated == pytest.approx(0.5)
    assert found.masked is None


def test_a_value_ended_by_the_engine_has_no_confidence() -> None:
    output = scored(*TEXT, cuts=(Cut(CutReason.LOOPED, 2, 3),))
    found = confidences(output, FREE)
    assert found["/a"] == LeafConfidence()
    assert found["/b"].probability is not None


BEFORE = ({b'{"': 1.0}, {b"a": 1.0})
NO_STRING = {b'":': 0.75, b'":"': 0.125, b'"': 0.125}
STRING = {b'":"': 0.75, b'":': 0.125, b'"': 0.0625}
NULL = {b"null": 0.5, b'"x': 0.25, b"nu": 0.0625}
END = {b"}": 1.0}


def test_a_null_counts_the_token_before_it_that_could_have_begun_a_string() -> None:
    found = confidences(output_of(*BEFORE, NO_STRING, NULL, END), NULLABLE)["/a"]
    assert found.probability == pytest.approx(0.75 * 0.5)
    assert found.masked == 0.5
    assert found.not_stated == pytest.approx(0.75 * (0.5 + 0.0625) + 0.125)


def test_a_forced_null_is_as_likely_as_the_token_before_it() -> None:
    found = confidences(output_of(*BEFORE, NO_STRING, {b"null": 1.0}, END), NULLABLE)["/a"]
    assert found.probability == pytest.approx(0.75)
    assert found.not_stated == pytest.approx(0.75 + 0.125)


def test_a_string_begun_by_the_token_before_it_has_a_bound_of_null() -> None:
    output = output_of(*BEFORE, STRING, {b'x"': 0.5, b"n": 0.25}, END)
    nullable, other = (confidences(output, choices)["/a"] for choices in (NULLABLE, FREE))
    assert nullable.not_stated == pytest.approx(0.125 + 0.0625)
    assert other.not_stated is None
    assert nullable.probability == other.probability == pytest.approx(math.sqrt(0.75 * 0.5))


@pytest.mark.parametrize("value", [b'"x', b"12"])
def test_a_string_or_number_after_a_deciding_token_has_one_more_chosen_token(value: bytes) -> None:
    rest = ({b'"}': 1.0},) if value == b'"x' else (END,)
    output = output_of(*BEFORE, NO_STRING, {value: 0.27, b"null": 0.5}, *rest)
    found = confidences(output, NULLABLE)["/a"]
    assert found.probability == pytest.approx(math.sqrt(0.75 * 0.27))
    assert found.not_stated == pytest.approx(0.75 * 0.5 + 0.125)


def test_the_choice_may_fall_several_tokens_before_the_value() -> None:
    quote = {b'"': 0.5, b'":"': 0.25, b'":': 0.125}
    output = output_of(*BEFORE, quote, {b":": 1.0}, {b"n": 0.5, b'"x': 0.25}, {b"ull": 1.0}, END)
    found = confidences(output, NULLABLE, 2)["/a"]
    assert found.probability == pytest.approx(0.5 * 0.5)
    assert found.not_stated == pytest.approx(0.5 * 0.5 + 0.125)
    assert [token.text for token in found.tokens] == ['"', ":", "n", "ull"]


def test_a_token_before_the_value_counts_only_if_another_writes_the_same_and_goes_on() -> None:
    key = {b'a":': 0.5, b'b":"': 0.25, b"a": 0.125}
    found = confidences(output_of({b'{"': 1.0}, key, NULL, END), NULLABLE)["/a"]
    assert found.probability == pytest.approx(0.5)
    assert found.not_stated == pytest.approx(0.5 + 0.0625)
    key = {b'a":': 0.5, b'a":"': 0.25, b"a": 0.125}
    found = confidences(output_of({b'{"': 1.0}, key, NULL, END), NULLABLE)["/a"]
    assert found.probability == pytest.approx(0.5 * 0.5)
    assert found.not_stated == pytest.approx(0.5 * (0.5 + 0.0625) + 0.125)


def test_items_of_arrays_begin_with_the_bracket_or_the_comma() -> None:
    start = {b'{"a":[': 0.5, b'{"a":["': 0.25}
    item = {b'"x': 0.25, b"null": 0.5}
    comma = {b'",': 0.5, b'","': 0.25, b'"': 0.125}
    output = output_of(start, item, comma, {b"null": 0.25, b'"x': 0.125}, {b"]}": 1.0})
    found = confidences(output, NULLABLE)
    assert found["/a/0"].probability == pytest.approx((0.5 * 0.25 * 0.5) ** (1 / 3))
    assert found["/a/0"].not_stated == pytest.approx(0.5 * 0.5)
    assert found["/a/1"].probability == pytest.approx(0.5 * 0.25)
    assert found["/a/1"].not_stated == pytest.approx(0.5 * 0.25 + 0.125)


def test_a_value_at_the_start_of_the_text_has_no_token_before_it() -> None:
    output = output_of({b"null": 0.5, b'"x': 0.25})
    found = confidences(output, ValueChoices(nullable=frozenset({""})))[""]
    assert found.probability == pytest.approx(0.5)
    assert found.not_stated == pytest.approx(0.5)


def test_a_value_begun_by_the_engine_has_no_confidence() -> None:
    cuts = (Cut(CutReason.LOOPED, 1, 3),)
    tokens = (*BEFORE, NO_STRING, NULL, END)
    assert confidences(output_of(*tokens, cuts=cuts), NULLABLE)["/a"] == LeafConfidence()
    key = (*BEFORE, {b'":': 1.0}, NULL, END)
    assert confidences(output_of(*key, cuts=cuts), NULLABLE)["/a"].probability == pytest.approx(0.5)


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
    for pointer, found in confidences(ScoredOutput(scores, pieces), FREE).items():
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
