"""The sources of array items in a text."""

from intaglio.service.windows.sources import Source, sources, stated_leaves

TEXT = "Ada paid 3.50 EUR\nBob paid 3.50 EUR\nAda paid 1,204.00 EUR\n"


def cited(items: list[object], text: str = TEXT) -> list[str]:
    return [text[one.start : one.end] for one in sources(items, text, 0)]


def test_each_item_spans_its_own_line() -> None:
    items: list[object] = [
        {"name": "Ada", "sum": 3.5, "currency": "EUR"},
        {"name": "Bob", "sum": 3.5, "currency": "EUR"},
        {"name": "Ada", "sum": 1204.0, "currency": "EUR"},
    ]
    assert cited(items) == TEXT.splitlines()
    assert [one.leaves for one in sources(items, TEXT, 0)] == [3, 3, 3]


def test_equal_items_have_their_own_places() -> None:
    text = "red, green, red, red"
    found = sources(["red", "green", "red", "red"], text, 100)
    assert [one.start - 100 for one in found] == [0, 5, 12, 17]


def test_an_item_that_is_not_stated_stands_between_its_neighbours() -> None:
    first, unknown, last = sources(["Ada", "nobody", "Bob"], "Ada, and then Bob", 0)
    assert not unknown.is_found
    assert (unknown.start, unknown.end) == (first.end, last.start)


def test_unstated_items_in_a_row_share_the_text_evenly() -> None:
    found = sources([True] * 10, "x" * 1000, 0)
    assert found[0] == Source(0, 200)
    assert found[9] == Source(800, 1000)
    assert [one.start for one in found] == sorted(one.start for one in found)


def test_numbers_are_stated_in_their_spellings_and_not_within_others() -> None:
    assert stated_leaves({"a": 1204.0, "b": 3.5}, TEXT) == 2
    assert stated_leaves([204, 35, 1], TEXT) == 0
    assert stated_leaves({"a": None, "b": True, "c": " "}, TEXT) == 0
