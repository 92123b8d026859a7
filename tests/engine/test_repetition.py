"""The longest periodic suffix, compared with a search through all suffixes and periods."""

from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.grammars.repetition import Repetition, repetition

WORDS = st.text("ab", max_size=16) | st.builds(
    lambda head, part, times, rest: head + part * times + part[:rest],
    st.text("abc", max_size=4),
    st.text("abc", min_size=1, max_size=4),
    st.integers(1, 5),
    st.integers(0, 3),
)


def searched(text: str, least: int, times: int) -> Repetition | None:
    for length in range(len(text), max(1, least - 1), -1):
        suffix = text[len(text) - length :]
        period = next(p for p in range(1, length + 1) if suffix[p:] == suffix[: length - p])
        if length >= times * period:
            return Repetition(length, period)
    return None


@given(WORDS, st.integers(2, 6), st.integers(2, 4))
def test_every_suffix_and_period_is_considered(text: str, least: int, times: int) -> None:
    assert repetition(text, least=least, times=times) == searched(text, least, times)


def test_incomplete_periods_count_in_the_length_only() -> None:
    found = repetition("xabcabcab", least=2, times=2)
    assert found == Repetition(length=8, period=3)
    assert found.times == 2
    assert repetition("xabcabcab", least=9, times=2) is None
