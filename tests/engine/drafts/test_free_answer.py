"""An output is followed through the draft of its request, and found again where it has left it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from intaglio.engine.drafts.free_answer import MOST_SKIPPED, FreeAnswerSource
from intaglio.engine.drafts.source import Lookahead
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Finish

from tests.engine.drafts.sequences import FixedTokens, sequence

WIDTH = 200


def source_of(legal: tuple[int, ...] | None = None) -> FreeAnswerSource:
    """A source under a grammar with these legal tokens; None: under none."""

    @contextmanager
    def ahead(_seq_id: int) -> Iterator[Lookahead | None]:
        yield None if legal is None else FixedTokens(legal)

    return FreeAnswerSource(ahead, WIDTH)


def drafted(draft: tuple[int, ...], output: list[int] | None = None) -> Sequence:
    seq = sequence(1, [9, 9], output)
    return Sequence(1, replace(seq.request, draft=draft), (0.0, 1), 0.0)


def guessed(source: FreeAnswerSource, seq: Sequence, most: int = 4) -> tuple[int, ...]:
    guess = source.guess(seq, most)
    return () if guess is None else guess.tokens


def test_the_draft_is_offered_from_its_beginning_and_then_from_where_the_output_is() -> None:
    source, seq = source_of(), drafted((1, 2, 3, 4, 5, 6, 7))
    assert source.guess(seq, 4) == ((1, 2, 3, 4), (0, 1, 2, 3))
    seq.append(1)
    seq.append(2)
    assert source.guess(seq, 3) == ((3, 4, 5), (2, 3, 4))
    assert source.guess(seq, 3) == ((3, 4, 5), (2, 3, 4)), "asking again changes nothing"
    for token in (3, 4, 5, 6, 7):
        seq.append(token)
    assert source.guess(seq, 3) is None, "the draft has ended"


def test_the_place_is_found_again_after_another_value() -> None:
    source, seq = source_of(), drafted((1, 2, 50, 51, 3, 4, 5, 1, 2, 6))
    for token in (1, 2, 80, 81, 82):
        seq.append(token)
    assert guessed(source, seq) == (50, 51, 3, 4), "a value of its own: the place stays"
    seq.append(3)
    assert source.guess(seq, 2) == ((4, 5), (1, 2))
    seq.append(1)  # what comes after it is left out
    assert guessed(source, seq) == (2, 6), "the next place, not the first in the draft"


def test_an_earlier_place_is_taken_where_there_is_no_later_one() -> None:
    source, seq = source_of(), drafted((1, 2, 3, 4, 5))
    for token in (1, 2, 3, 4, 2):
        seq.append(token)
    assert guessed(source, seq) == (3, 4, 5)


def test_what_the_grammar_does_not_allow_here_is_passed_over() -> None:
    assert source_of((5, 7)).guess(drafted((1, 2, 3, 7, 8)), 3) == ((7, 8), (0, 1))
    assert guessed(source_of((5,)), drafted((1, 2, 3, 7, 8))) == ()
    assert guessed(source_of(()), drafted((1, 2))) == (), "the grammar failed"
    far = (1,) * MOST_SKIPPED + (7,)
    assert guessed(source_of((7,)), drafted(far)) == ()
    assert guessed(source_of((7,)), drafted(far[1:])) == (7,)


def test_a_request_without_a_draft_has_no_guess_and_ended_sequences_are_forgotten() -> None:
    source = source_of()
    assert source.guess(drafted(()), 4) is None
    seq = drafted((1, 2))
    source.guess(seq, 4)
    source.forget(seq, Finish.STOP)
    assert not source._places
