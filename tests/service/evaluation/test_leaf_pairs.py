"""Pairs of leaves: none is lost, lists are aligned as well as by trying all orders."""

from itertools import permutations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.schemas.json_pointer import leaves
from intaglio.service.evaluation.leaf_pairs import MOST_ALIGNED, leaf_pairs
from intaglio.service.evaluation.leaf_values import same
from pydantic import JsonValue

from tests.service.evaluation.test_leaf_values import VALUES

SMALL = st.fixed_dictionaries(
    {"a": st.integers(0, 2), "b": st.integers(0, 2), "c": st.none() | st.integers(0, 1)}
)


@settings(deadline=None)
@given(VALUES, VALUES)
def test_every_leaf_is_in_one_pair(gold: JsonValue, other: JsonValue) -> None:
    pairs = leaf_pairs(gold, other)
    for side, value in (("gold", gold), ("given", other)):
        at = [getattr(pair, f"{side}_pointer") for pair in pairs]
        found = [pointer for pointer in at if pointer is not None]
        assert sorted(found) == sorted(pointer for pointer, _ in leaves(value))


@settings(deadline=None)
@given(VALUES)
def test_a_value_agrees_with_itself_everywhere(value: JsonValue) -> None:
    assert {pair.agreement for pair in leaf_pairs(value, value)} == {"exact"}


def exact_leaves(gold: list[Any], other: list[Any]) -> int:
    return sum(
        same(value, other[index].get(key))
        for index, record in enumerate(gold[: len(other)])
        for key, value in record.items()
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(SMALL, min_size=1, max_size=4), st.lists(SMALL, min_size=1, max_size=4))
def test_no_order_of_a_list_has_more_right_leaves(gold: list[Any], other: list[Any]) -> None:
    short, long = sorted((gold, other), key=len)
    best = max(exact_leaves(short, list(order)) for order in permutations(long, len(short)))
    assert sum(pair.agreement == "exact" for pair in leaf_pairs(gold, other)) == best


def test_pairs_name_the_place_on_both_sides_and_the_field() -> None:
    gold: JsonValue = {"a/b": [{"n": "x", "p": 1}, {"n": "y", "p": 2}]}
    other: JsonValue = {"a/b": [{"n": "y", "p": 2}, {"n": "z", "p": 1}, {"n": "w"}], "more": []}
    found = {
        (pair.field, pair.gold_pointer, pair.given_pointer, pair.agreement)
        for pair in leaf_pairs(gold, other)
    }
    assert found == {
        ("/a~1b/*/n", "/a~1b/1/n", "/a~1b/0/n", "exact"),
        ("/a~1b/*/p", "/a~1b/1/p", "/a~1b/0/p", "exact"),
        ("/a~1b/*/n", "/a~1b/0/n", "/a~1b/1/n", "none"),
        ("/a~1b/*/p", "/a~1b/0/p", "/a~1b/1/p", "exact"),
        ("/a~1b/*/n", None, "/a~1b/2/n", "none"),
        ("/more", None, "/more", "none"),
    }


def test_long_lists_are_aligned_by_equal_elements_and_then_in_order() -> None:
    length = 3 * MOST_ALIGNED
    gold: list[JsonValue] = [{"k": index} for index in range(length)]
    reversed_: list[JsonValue] = list(reversed(gold))
    assert all(pair.agreement == "exact" for pair in leaf_pairs(gold, reversed_))
    others: list[JsonValue] = [{"k": -1 - index} for index in range(length)]
    assert [pair.given_pointer for pair in leaf_pairs(gold, others)] == [
        f"/{index}/k" for index in range(length)
    ]
