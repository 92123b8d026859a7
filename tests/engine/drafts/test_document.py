"""Guesses are the continuation of the longest suffix that occurs before, by a search without arrays."""

from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.drafts.document import MOST_MATCHED, DocumentSource

texts = st.lists(st.integers(0, 3), min_size=1, max_size=60)


def longest_match(tokens: list[int]) -> tuple[int, list[int]]:
    """The length of the longest suffix that occurs before the end, and where its occurrences end."""
    for length in range(min(MOST_MATCHED, len(tokens) - 1), 0, -1):
        suffix = tokens[-length:]
        ends = [end for end in range(length, len(tokens)) if tokens[end - length : end] == suffix]
        if ends:
            return length, ends
    return 0, []


@given(texts, st.integers(1, 20))
def test_a_guess_continues_the_longest_match(tokens: list[int], most: int) -> None:
    guess = DocumentSource().guess(1, tokens, most)
    length, ends = longest_match(tokens)
    if not length:
        assert guess is None
        return
    assert guess is not None
    assert guess.matched == length
    assert guess.tokens == tuple(tokens[ends[0] : ends[0] + most])
    assert guess.unanimous == (len({tokens[end] for end in ends}) == 1)


@given(texts, texts, st.integers(1, 5))
def test_a_growing_sequence_is_guessed_as_if_it_were_new(
    prompt: list[int], output: list[int], stride: int
) -> None:
    source, tokens = DocumentSource(), list(prompt)
    for at in range(0, len(output), stride):
        tokens += output[at : at + stride]
        assert source.guess(7, tokens, 8) == DocumentSource().guess(7, tokens, 8)


def test_sequences_do_not_see_each_other_and_are_forgotten() -> None:
    source = DocumentSource()
    assert source.guess(1, [5, 6, 5], 4) == source.guess(2, [5, 6, 5], 4)
    assert source.guess(2, [5, 6, 5, 9], 4) is None
    source.forget(1)
    source.forget(1)
    guess = source.guess(1, [8, 9, 8], 4)  # another sequence of that number
    assert guess is not None
    assert guess.tokens == (9, 8)
