"""The longest suffix is found as by a search without arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.drafts.match import LONGEST, MOST_MATCHED, levels, longest_match

texts = st.lists(st.integers(0, 2), max_size=60)


def ends_of_longest(known: list[int], text: list[int]) -> tuple[int, list[int]]:
    """The length of the longest suffix of `known` in `text`, and the indices after its occurrences."""
    for length in range(min(MOST_MATCHED, len(known)), 0, -1):
        suffix = known[-length:]
        ends = [end for end in range(length, len(text) + 1) if text[end - length : end] == suffix]
        if ends:
            return length, ends
    return 0, []


@given(texts, texts)
def test_a_suffix_is_found_wherever_it_is(known: list[int], text: list[int]) -> None:
    places, matched = longest_match(np.array(known, np.int32), np.array(text, np.int32))
    length, ends = ends_of_longest(known, text)
    assert (matched, (places + 1).tolist()) == (length, ends)


def test_levels_rise_with_the_match_up_to_the_longest_and_agree_after_the_first_token() -> None:
    assert levels(1, 4, unanimous=False) == (0, 3, 5, 7)
    assert levels(1, 2, unanimous=True) == (1, 3)
    assert levels(99, 2, unanimous=False) == (2 * LONGEST - 2, 2 * LONGEST - 1)
    assert levels(5, 0, unanimous=True) == ()
