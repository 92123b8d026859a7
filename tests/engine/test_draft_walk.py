"""Legal drafts are legal, carry the masks of a matcher that gets there, and leave the matcher in its place."""

from collections.abc import Generator
from itertools import count
from random import Random

import numpy as np
import pytest
from intaglio.engine.grammars.draft_walk import DRAFT_S, DraftOrigin, legal_drafts
from intaglio.engine.grammars.grammar_faults import MatcherFault
from intaglio.grammar.api import allow, empty_rows

from tests.support.scripted import END_TOKENS, FAULTS, TEXT, VOCAB, Script, ScriptedMatcher

WORDS = empty_rows(1, VOCAB).shape[1]


def guess_of(script: Script, rng: Random) -> list[int]:
    """A legal output of the script, with a wrong token now and then."""
    output: list[int] = []
    while len(output) < 12 and not (output and output[-1] in END_TOKENS):
        output.append(rng.choice(script.allowed(output)))
    return [rng.choice(TEXT) if rng.random() < 0.1 else token for token in output]


@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_drafts_are_legal_and_masked_as_without_drafts(fault: str) -> None:
    origins: set[DraftOrigin] = set()
    for seed in range(200):
        rng = Random(seed)
        script = Script(seed, rng.randint(0, 12), fault=fault, at=rng.randint(1, 6))
        matcher = ScriptedMatcher(script)
        guess = guess_of(script, rng)
        most = rng.randint(1, 16)
        drafts = legal_drafts(matcher, guess, most, END_TOKENS, WORDS)
        assert matcher.output == []
        assert len(drafts.tokens) == len(drafts.origins) <= most
        assert not END_TOKENS & set(drafts.tokens)
        origins |= set(drafts.origins)
        sound = ScriptedMatcher(Script(seed, script.depth))
        for at, token in enumerate(drafts.tokens):
            sound.accept(token)
            expected = np.zeros(WORDS, np.int32)
            sound.fill(expected)
            if drafts.origins[at + 1 : at + 2] == (DraftOrigin.FORCED,):
                expected[:] = 0
                allow(expected, [drafts.tokens[at + 1]])
            elif sound.forced():
                expected[:] = 0
                allow(expected, sound.forced()[:1])
            assert (drafts.rows[at] == expected).all()
        if fault:
            assert len(drafts.tokens) <= script.at
    assert DraftOrigin.GUESS in origins
    assert fault or origins == set(DraftOrigin)


class Stuck(ScriptedMatcher):
    """A matcher that cannot go back."""

    def rollback(self, count: int) -> None:
        raise ValueError("planted")


def test_a_matcher_that_cannot_go_back_fails_its_request() -> None:
    script = Script(1, 12)
    with pytest.raises(MatcherFault):
        legal_drafts(Stuck(script), script.allowed(()), 4, END_TOKENS, WORDS)


class Searching(ScriptedMatcher):
    """A matcher that finds no end, however long it is left to search."""

    def closing_parts(self) -> Generator[None, None, None]:
        while True:
            yield


def test_a_search_for_an_end_that_takes_long_is_given_up() -> None:
    script = Script(1, 12)
    illegal = next(token for token in TEXT if token not in script.allowed(()))
    ticks = count()
    drafts = legal_drafts(
        Searching(script), [illegal], 4, END_TOKENS, WORDS, lambda: next(ticks) * DRAFT_S / 8
    )
    assert drafts.tokens == ()
    assert next(ticks) < 12


def test_drafts_end_where_their_masks_take_long() -> None:
    script = Script(1, 12)
    guess = [script.allowed(())[0]]
    while len(guess) < 8:
        guess.append(script.allowed(guess)[0])
    ticks = count()
    slow = legal_drafts(
        ScriptedMatcher(script), guess, 8, END_TOKENS, WORDS, lambda: next(ticks) * DRAFT_S / 3
    )
    assert (
        0
        < len(slow.tokens)
        < len(legal_drafts(ScriptedMatcher(script), guess, 8, END_TOKENS, WORDS).tokens)
    )
