"""Where few tokens are legal, the one chosen most often is guessed, by any sequence."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from intaglio.engine.drafts.likely import FEW, MOST_SETS, LikelySource
from intaglio.engine.drafts.source import Lookahead
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Finish

from tests.engine.drafts.sequences import FixedTokens, sequence

TEXTS = [None, b",", b'","', b"}"]
WIDTH = 5000


def source_of(legal: Callable[[int], tuple[int, ...]]) -> LikelySource:
    @contextmanager
    def ahead(seq_id: int) -> Iterator[Lookahead | None]:
        yield FixedTokens(legal(seq_id)) if legal(seq_id) else None

    return LikelySource(ahead, TEXTS, WIDTH)


def took(source: LikelySource, number: int, token: int) -> None:
    """A sequence that was guessed, and then got a token."""
    seq = sequence(number, [9])
    source.guess(seq, 4)
    seq.append(token)
    source.forget(seq, Finish.STOP)


def test_the_longest_spelling_is_guessed_until_something_was_chosen() -> None:
    source = source_of(lambda _: (1, 2, 3, 40))
    guess = source.guess(sequence(1, [9]), 4)
    assert guess is not None
    assert guess == ((2,), (0,))
    took(source, 2, 3)
    guess = source.guess(sequence(3, [9]), 4)
    assert guess is not None
    assert guess.tokens == (3,)


def test_levels_follow_the_share_and_a_change() -> None:
    source = source_of(lambda _: (1, 3))
    for number in range(60):
        took(source, number, 3)
    guess = source.guess(sequence(99, [9]), 4)
    assert guess == ((3,), (len(LikelySource.chances) - 1,))
    for number in range(100, 250):
        took(source, number, 1)
    guess = source.guess(sequence(299, [9]), 4)
    assert guess == ((1,), (len(LikelySource.chances) - 1,))


def test_nothing_is_guessed_among_many_and_the_number_of_sets_is_bounded() -> None:
    assert source_of(lambda _: ()).guess(sequence(1, [9]), 4) is None
    many = source_of(lambda _: tuple(range(3, 3 + 500 * (FEW + 1), 500)))
    assert many.guess(sequence(1, [9]), 4) is None
    assert source_of(lambda _: tuple(range(FEW))).guess(sequence(1, [9]), 4) is not None
    source = source_of(lambda number: (1, number + 2))
    for number in range(MOST_SETS + 50):
        took(source, number, 1)
    assert len(source._counts) == MOST_SETS
    assert not source._open


def test_a_choice_is_settled_by_the_next_guess_as_well() -> None:
    source = source_of(lambda _: (1, 3))
    seq: Sequence = sequence(1, [9])
    source.guess(seq, 4)
    source.guess(seq, 4)  # nothing was drawn yet: nothing is counted
    assert not source._counts
    seq.append(3)
    assert source.guess(seq, 4) == ((3,), (2,))
