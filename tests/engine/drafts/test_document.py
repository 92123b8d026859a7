"""Guesses continue the longest suffix that occurs before the end of a sequence."""

from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.drafts.document import DocumentSource
from intaglio.engine.drafts.match import levels
from intaglio.engine.types import Finish

from tests.engine.drafts.sequences import sequence
from tests.engine.drafts.test_match import ends_of_longest

texts = st.lists(st.integers(0, 3), min_size=1, max_size=60)


@given(texts, st.integers(1, 20))
def test_a_guess_continues_the_longest_match(tokens: list[int], most: int) -> None:
    guess = DocumentSource().guess(sequence(1, tokens), most)
    length, ends = ends_of_longest(tokens, tokens[:-1])
    if not length:
        assert guess is None
        return
    assert guess is not None
    assert guess.tokens == tuple(tokens[ends[0] : ends[0] + most])
    unanimous = len({tokens[end] for end in ends}) == 1
    assert guess.levels == levels(length, len(guess.tokens), unanimous=unanimous)
    assert max(guess.levels) < len(DocumentSource.chances)


@given(texts, texts, st.integers(1, 5))
def test_a_growing_sequence_is_guessed_as_if_it_were_new(
    prompt: list[int], output: list[int], stride: int
) -> None:
    source, seq = DocumentSource(), sequence(7, prompt)
    for at in range(0, len(output), stride):
        for token in output[at : at + stride]:
            seq.append(token)
        fresh = sequence(7, list(seq.tokens))
        assert source.guess(seq, 8) == DocumentSource().guess(fresh, 8)


def test_sequences_do_not_see_each_other_and_are_forgotten() -> None:
    source = DocumentSource()
    one, other = sequence(1, [5, 6, 5]), sequence(2, [5, 6, 5])
    assert source.guess(one, 4) == source.guess(other, 4)
    other.append(9)
    assert source.guess(other, 4) is None
    source.forget(one, Finish.STOP)
    source.forget(one, Finish.STOP)
    guess = source.guess(sequence(1, [8, 9, 8]), 4)  # another sequence of that number
    assert guess is not None
    assert guess.tokens == (9, 8)
