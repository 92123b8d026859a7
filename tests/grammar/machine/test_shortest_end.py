"""A way to the end is always at hand: it is legal, shrinks as it is followed, and a budget can be kept by it."""

import json
import random

import pytest
from intaglio.grammar.api import allowed_tokens, empty_rows
from intaglio.grammar.backends.native import NativeMatcher
from intaglio.grammar.contract.work import STEP, metered
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language

from tests.grammar.machine.test_compute_masks import grammar_of, index, names, root_of


@pytest.mark.parametrize("name", names())
def test_a_budget_is_kept_by_taking_back_the_pick_that_breaks_it(name: str) -> None:
    """What an engine does: pick at random; where the rest would not fit any more, take the pick back and close."""
    grammar = grammar_of(root_of(name))
    row = empty_rows(1, index()[0].vocabulary.width)[0]
    least = grammar.least_tokens
    assert least is not None
    for extra in (0, 1, 3, 8):
        choose = random.Random(extra)
        matcher: NativeMatcher = grammar.matcher()
        budget = least + extra
        for taken in range(budget):
            left = budget - taken
            needed = matcher.least_tokens()
            assert needed is not None
            assert needed <= left
            matcher.fill(row)
            matcher.accept(choose.choice(allowed_tokens(row, 32 * len(row)).tolist()))
            if matcher.finished:
                break
            after = matcher.least_tokens()
            if after is None or after > left - 1:
                matcher.rollback(1)
                break
        closing = matcher.closing()
        assert closing is not None
        for count, token in enumerate(closing):
            assert matcher.least_tokens() == len(closing) - count
            matcher.accept(token)
        assert matcher.finished
        assert len(closing) + taken <= budget


@pytest.mark.parametrize("name", names())
def test_asking_does_not_move(name: str) -> None:
    grammar = grammar_of(root_of(name))
    before, after = empty_rows(2, index()[0].vocabulary.width)
    matcher = grammar.matcher()
    closing = matcher.closing()
    assert closing is not None
    for place, token in enumerate(closing[:3]):
        matcher.fill(before)
        assert matcher.closing() == closing[place:]
        matcher.fill(after)
        assert (before == after).all()
        matcher.accept(token)


def test_orders_of_equal_length_are_not_all_searched() -> None:
    """An array may end before the search has begun with its items: the members that are like them must not wait."""
    integer = {"type": "integer"}
    members: dict[str, object] = {"list": {"type": "array", "items": integer}}
    for number in range(20):
        members |= {f"count{number:02}": integer, f"title{number:02}": {"type": "string"}}
    schema = {"type": "object", "properties": members, "required": [*members]}
    language = Language(read(json.dumps(schema)), Options(any_order=True))
    with metered(2_000 * STEP):
        text = grammar_of(language.root).generation.shortest
    assert text is not None
    assert json.loads(text).keys() == members.keys()
