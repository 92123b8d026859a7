"""Free text: well-formed UTF-8, and the strings that end at each place."""

import random

import pytest
from intaglio.grammar.tags.text_automaton import TextAutomaton


def state_after(automaton: TextAutomaton, text: bytes) -> int | None:
    state = 0
    for byte in text:
        found = [target for mask, target in automaton.arcs(state) if mask >> byte & 1]
        assert len(found) <= 1
        if not found:
            return None
        (state,) = found
    return state


@pytest.mark.parametrize("seed", range(20))
def test_it_reads_utf8_and_nothing_else(seed: int) -> None:
    draw = random.Random(seed)
    automaton = TextAutomaton(["ab", "é"])
    for _ in range(300):
        text = bytes(
            draw.choice((0x61, 0x62, 0xC3, 0xA9, 0xE0, 0xA0, 0x80, 0xED, 0xF0, 0x9F, 0xF4, 0x8F))
            for _ in range(draw.randint(1, 4))
        )
        try:
            text.decode()
            valid = True
        except UnicodeDecodeError:
            valid = False
        state = state_after(automaton, text)
        assert (state is not None and automaton.may_end(state)) == valid, text


@pytest.mark.parametrize("seed", range(20))
def test_it_reports_the_strings_that_end(seed: int) -> None:
    draw = random.Random(seed)
    strings = list({"".join(draw.choices("abé", k=draw.randint(1, 3))) for _ in range(4)})
    automaton = TextAutomaton(strings)
    for _ in range(50):
        text = "".join(draw.choices("abéx", k=draw.randint(0, 8)))
        state = state_after(automaton, text.encode())
        assert state is not None
        found = {strings[hit] for hit in automaton.hits(state)}
        assert found == {string for string in strings if text.endswith(string)}
