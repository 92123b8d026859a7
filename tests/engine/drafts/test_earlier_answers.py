"""Earlier answers predict later ones of the same constraint and tenant, within a bound, and no others."""

from random import Random

from intaglio.engine.drafts.earlier_answers import ANSWERS, RowsSource
from intaglio.engine.types import Finish
from intaglio.grammar.api import Constraint, Kind

from tests.engine.drafts.sequences import sequence

SCHEMA = Constraint(Kind.JSON_SCHEMA, '{"type": "object"}')
OTHER = Constraint(Kind.JSON_SCHEMA, '{"type": "array"}')
ANSWER = [10, 11, 12, 13, 14]


def filled(finish: Finish = Finish.STOP) -> RowsSource:
    source = RowsSource()
    source.forget(sequence(1, [1, 2], ANSWER, SCHEMA, "tenant"), finish)
    return source


def guessed(source: RowsSource, output: list[int], constraint: Constraint, salt: str) -> object:
    guess = source.guess(sequence(2, [3, 4, 12], output, constraint, salt), 8)
    return guess and guess.tokens


def test_an_answer_continues_as_an_earlier_one_did() -> None:
    assert guessed(filled(), [99, 11, 12], SCHEMA, "tenant") == (13, 14)
    assert guessed(filled(), [14], SCHEMA, "tenant") == ()  # nothing is guessed past an end
    assert guessed(filled(), [], SCHEMA, "tenant") is None  # the prompt is not part of the answer


def test_other_tenants_and_constraints_see_nothing() -> None:
    assert guessed(filled(), [11], SCHEMA, "another") is None
    assert guessed(filled(), [11], OTHER, "tenant") is None
    free = RowsSource()
    free.forget(sequence(1, [1], ANSWER), Finish.STOP)
    assert free.tokens == 0


def test_answers_about_different_documents_are_of_one_kind() -> None:
    source = RowsSource()
    one, other = (
        Constraint(Kind.JSON_SCHEMA, "{}", document=text) for text in ("a text", "another")
    )
    source.forget(sequence(1, [1], ANSWER, one), Finish.STOP)
    assert guessed(source, [11], other, "") == (12, 13, 14)


def test_answers_that_did_not_end_by_themselves_are_not_kept() -> None:
    assert guessed(filled(Finish.ABORT), [11], SCHEMA, "tenant") is None
    assert guessed(filled(Finish.LENGTH), [11], SCHEMA, "tenant") is None


def test_the_most_frequent_continuation_is_guessed() -> None:
    source = RowsSource()
    for number, after in enumerate((5, 6, 6, 7)):
        source.forget(sequence(number, [1], [10, after, number], SCHEMA), Finish.STOP)
    assert guessed(source, [10], SCHEMA, "") == (6, 2)  # the latest of the two


def test_the_bound_holds_and_the_least_recently_used_kind_goes_first() -> None:
    dice, source = Random(2), RowsSource(most_tokens=600)
    for number in range(500):
        kind = Constraint(Kind.REGEX, "a" * (1 + dice.randrange(6)))
        output = [dice.randrange(40) for _ in range(dice.randint(1, 60))]
        seq = sequence(number, [1], output, kind)
        source.guess(seq, 4)
        source.forget(seq, Finish.STOP)
        held = list(source._answers.values())
        assert source.tokens == sum(found.text.size for found in held) <= 600
        assert all(len(found.answers) <= ANSWERS for found in held)
        assert not source._kinds
    kept = sequence(1000, [1], [1, 2, 3], SCHEMA)
    source.forget(kept, Finish.STOP)
    for number in range(40):
        source.forget(sequence(number, [1], [7] * 30, OTHER, str(number)), Finish.STOP)
        assert guessed(source, [1], SCHEMA, "") == (2, 3)  # used now and then, it stays
