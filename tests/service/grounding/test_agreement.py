"""Two readings are compared value by value, even if only one of them has some items."""

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from intaglio.service.grounding.agreement import agreement

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "1"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ab/~"), inner),
    max_leaves=12,
)


def test_scalars_are_compared_by_value_and_kind() -> None:
    first = {"a": 1, "b": Decimal("1.0"), "c": 1, "d": None, "e": "x", "f/g": True}
    second = {"a": Decimal("1.00"), "b": 1, "c": True, "d": "", "e": "X", "f/g": True}
    same = {"/a": True, "/b": True, "/c": False, "/d": False, "/e": False, "/f~1g": True}
    assert agreement(first, second) == same
    assert agreement(first, []) == dict.fromkeys(same, False)


def test_an_item_more_makes_no_other_differ() -> None:
    first = [{"n": 1, "s": "a"}, {"n": 2, "s": "b"}, {"n": 3, "s": "c"}]
    second = [{"n": 0, "s": "z"}, {"n": 1, "s": "a"}, {"n": 2, "s": "B"}, {"n": 3, "s": "c"}]
    found = agreement(first, second)
    assert {pointer for pointer, same in found.items() if same} == {"/0/n", "/0/s", "/2/n", "/2/s"}
    assert agreement(["a", "a"], ["a"]) == {"/0": True, "/1": False}


@given(VALUES, VALUES)
def test_a_value_agrees_with_itself_and_every_scalar_has_a_verdict(one: Any, other: Any) -> None:
    assert all(agreement(one, one).values())
    assert agreement(one, other).keys() == agreement(one, one).keys()
