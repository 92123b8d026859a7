"""The choice among several places, against all combinations."""

from itertools import pairwise, product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from intaglio.service.grounding.data_leaves import records
from intaglio.service.grounding.place_choice import (
    Range,
    Stretch,
    choose,
    in_order,
    shortest,
    stretches,
)

RANGES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 5)).map(lambda r: (r[0], r[0] + r[1])),
    min_size=1,
    max_size=5,
    unique=True,
).map(sorted)


def span(places: tuple[Range, ...]) -> Stretch:
    return Stretch(min(p[0] for p in places), max(p[1] for p in places))


@given(st.lists(RANGES, min_size=1, max_size=4))
def test_stretches_are_the_least_combinations(places: list[list[Range]]) -> None:
    every = {span(combination) for combination in product(*places)}
    minimal = {
        one
        for one in every
        if not any(one.begin <= o.begin and o.end <= one.end and o != one for o in every)
    }
    found = stretches(places)
    assert set(found) == minimal
    assert found == sorted(found)
    assert shortest(found) == min(every, key=lambda one: (one.length, one.begin))


def test_nothing_has_no_stretch() -> None:
    assert stretches([]) == []
    assert shortest([]) is None


def cost(chain: tuple[Stretch | None, ...], items: list[list[Stretch]]) -> tuple[int, int] | None:
    """How many items are out of order, and the sum of the others; None if the others are not in order."""
    begins = [one.begin for one in chain if one is not None]
    if any(a >= b for a, b in pairwise(begins)):
        return None
    missing = sum(one is None and bool(found) for one, found in zip(chain, items, strict=True))
    return missing, sum(one.length for one in chain if one is not None)


@given(st.lists(st.lists(RANGES, max_size=2).map(stretches), max_size=4))
def test_items_are_in_order_at_the_least_cost(items: list[list[Stretch]]) -> None:
    found = in_order(items)
    every = [cost(chain, items) for chain in product(*([*one, None] for one in items))]
    assert cost(tuple(found), items) == min(one for one in every if one is not None)
    assert all(one is None or one in of for one, of in zip(found, items, strict=True))


@given(st.lists(RANGES, min_size=1, max_size=4, unique_by=tuple))
def test_the_values_of_an_object_are_close_together(places: list[list[Range]]) -> None:
    root, scalars = records({str(n): n for n in range(len(places))})
    chosen = choose(root, dict(zip(scalars, places, strict=True)))
    assert list(chosen) == list(scalars)
    assert all(chosen[pointer] in places[n] for n, pointer in enumerate(scalars))
    least = min(span(combination).length for combination in product(*places))
    assert span(tuple(chosen.values())).length == least


def chosen_in(data: Any, places: dict[str, list[Range]]) -> dict[str, int]:
    return {pointer: place[0] for pointer, place in choose(records(data)[0], places).items()}


def test_equal_items_take_places_one_after_another() -> None:
    data = ["red", "blue", "red"]
    red, blue = [(0, 3), (9, 12), (20, 23)], [(4, 8), (13, 17)]
    places = {"/0": red, "/1": blue, "/2": red}
    assert chosen_in(data, places) == {"/0": 0, "/1": 4, "/2": 9}


def test_equal_values_of_an_object_take_places_one_after_another() -> None:
    data: list[Any] = [{"each": 15, "sum": 15, "tax": 15}, {"each": 15, "sum": 15}]
    fifteen = [(4, 6), (10, 12), (34, 36), (40, 42)]
    places = dict.fromkeys(("/0/each", "/0/sum", "/0/tax", "/1/each", "/1/sum"), fifteen)
    found = chosen_in(data, places)
    # The second item begins at the place after the first one's first.
    assert found == {"/0/each": 4, "/0/sum": 4, "/0/tax": 4, "/1/each": 10, "/1/sum": 34}
    named = {**places, "/0/name": [(0, 2)], "/1/name": [(30, 32)]}
    data = [{"name": "a", **data[0]}, {"name": "b", **data[1]}]
    found = chosen_in(data, named)
    assert [found[f"/0/{name}"] for name in ("each", "sum", "tax")] == [4, 10, 10]
    assert [found[f"/1/{name}"] for name in ("each", "sum")] == [34, 40]


def test_an_item_out_of_order_does_not_disturb_the_others() -> None:
    places = {"/0": [(10, 12)], "/1": [(0, 2)], "/2": [(20, 22)], "/3": [(30, 32)]}
    assert chosen_in([1, 2, 3, 4], places) == {"/0": 10, "/1": 0, "/2": 20, "/3": 30}


def test_the_values_of_an_inner_array_belong_to_their_item() -> None:
    data = [{"n": "a", "in": ["x"]}, {"n": "b", "in": ["x", "y"]}]
    places = {
        "/0/n": [(10, 11)],
        "/0/in/0": [(0, 1), (12, 13), (22, 23)],
        "/1/n": [(20, 21)],
        "/1/in/0": [(0, 1), (12, 13), (22, 23)],
        "/1/in/1": [(5, 6)],
    }
    assert chosen_in(data, places) == {
        "/0/n": 10,
        "/0/in/0": 12,
        "/1/n": 20,
        "/1/in/0": 22,
        "/1/in/1": 5,
    }


def test_a_value_without_a_place_has_no_choice() -> None:
    assert chosen_in({"a": 1, "b": 2}, {"/a": [], "/b": [(3, 4)]}) == {"/b": 3}
    assert chosen_in({}, {}) == {}
