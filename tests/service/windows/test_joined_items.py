"""Arrays of windows are joined into those of one reading: compared with the records of the whole document."""

import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.service.windows.joined_items import JoinedItems, ReadItem
from intaglio.service.windows.sources import sources
from intaglio.service.windows.split import Window, split


def words(text: str) -> int:
    return -(-len(text) // 3)


def joined(
    text: str, windows: tuple[Window, ...], readings: list[list[Any]], **limits: Any
) -> tuple[JoinedItems, list[list[ReadItem]]]:
    """The joined readings, and the items that each window settled."""
    items, settled = JoinedItems(**limits), list[list[ReadItem]]()
    starts = [*(after.start for _, after in pairwise(windows)), None]
    for number, (window, start) in enumerate(zip(windows, starts, strict=True)):
        values = readings[number]
        found = sources(values, text[window.start : window.end], window.start)
        read = [
            ReadItem(v, s, number, i) for i, (v, s) in enumerate(zip(values, found, strict=True))
        ]
        settled.append(list(items.add(read, window, start)))
    settled.append(list(items.finish()))
    return items, settled


def records(text: str) -> list[dict[str, str]]:
    """The records of a text: a line each, of a name and a value. A line that is cut off has no value, or no name."""
    return [
        {"name": name, "value": value}
        for name, _, value in (line.partition(": ") for line in text.splitlines())
        if name and value
    ]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 4)), min_size=1, max_size=120),
    st.integers(32, 90),
    st.integers(0, 2),
)
def test_windows_over_whole_lines_give_each_record_once(
    rows: list[tuple[str, int]], room: int, blank: int
) -> None:
    # Many records are equal: only their places tell them apart.
    text = "".join(f"name {n}: value {v}\n" + "\n" * (blank * (v == 0)) for n, v in rows)
    windows = split(text, words, room, room // 4)
    readings = [records(text[one.start : one.end]) for one in windows]
    items, settled = joined(text, windows, readings)
    assert [item.value for item in items.settled] == records(text)
    assert [item for part in settled for item in part] == items.settled


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(5, 60))
def test_a_record_that_one_window_misses_comes_from_the_other(seed: int, count: int) -> None:
    dice = random.Random(seed)
    text = "".join(f"no {n}: {dice.randrange(1000)}\n" for n in range(count))
    windows = split(text, words, 32, 8)
    whole = records(text)
    readings = [records(text[one.start : one.end]) for one in windows]
    for one, after in pairwise(readings):
        shared = [record for record in one if record in after]
        for record in shared:
            missing = dice.choice((None, one, after))
            if missing is not None:
                missing.remove(record)
    items, _ = joined(text, windows, readings)
    assert [item.value for item in items.settled] == whole


def test_a_record_that_a_window_cuts_off_is_replaced_by_the_whole_one() -> None:
    text = "Ada, 12 Main Street, Bremen; Bob, 7 High Road, Hull; Cleo, 1 Low Lane, Leeds"
    cut, begin = text.index(", Hull"), text.index("Bob")
    windows = (Window(0, cut, 10), Window(begin, len(text), 10))
    ada = {"name": "Ada", "street": "12 Main Street", "city": "Bremen"}
    bob = {"name": "Bob", "street": "7 High Road", "city": "Hull"}
    cleo = {"name": "Cleo", "street": "1 Low Lane", "city": "Leeds"}
    made_up = {**bob, "city": "Bath"}
    items, _ = joined(text, windows, [[ada, made_up], [bob, cleo]])
    assert [item.value for item in items.settled] == [ada, bob, cleo]


def test_the_rest_of_a_record_at_the_head_of_a_window_is_dropped() -> None:
    text = "Ada, 12 Main Street, Bremen; Bob, 7 High Road, Hull; Cleo, 1 Low Lane, Leeds"
    windows = (Window(0, text.index(" Cleo"), 10), Window(text.index("7 High"), len(text), 10))
    ada = {"name": "Ada", "street": "12 Main Street", "city": "Bremen"}
    bob = {"name": "Bob", "street": "7 High Road", "city": "Hull"}
    cleo = {"name": "Cleo", "street": "1 Low Lane", "city": "Leeds"}
    headless = {**bob, "name": "unknown"}
    items, _ = joined(text, windows, [[ada, bob], [headless, cleo]])
    assert [item.value for item in items.settled] == [ada, bob, cleo]


def test_items_that_are_not_stated_are_the_same_if_equal_and_near_the_border() -> None:
    windows = (Window(0, 100, 10), Window(80, 180, 10))
    first = ["a", "b", "c", "d", "e"]
    items, _ = joined("." * 180, windows, [first, ["e", "f", "a", "g", "h"]])
    # "a" of the second window is not that of the first one: that stands far from the shared text.
    assert [item.value for item in items.settled] == [*first, "f", "a", "g", "h"]


@pytest.mark.parametrize("most", [0, 1, 3, 9])
def test_no_more_than_the_most_are_kept(most: int) -> None:
    text = "".join(f"no {n}: {n * 7}\n" for n in range(9))
    windows = split(text, words, 32, 8)
    readings = [records(text[one.start : one.end]) for one in windows]
    items, _ = joined(text, windows, readings, most=most)
    assert [item.value for item in items.settled] == records(text)[:most]
    assert items.dropped == 9 - most


def test_items_that_must_be_unique_are_kept_once() -> None:
    text = "red green\nblue red\n1 green\n"
    windows = (Window(0, 10, 5), Window(10, 19, 5), Window(19, 27, 5))
    readings: list[list[Any]] = [["red", "green"], ["blue", "red"], [1, "green", 1.0]]
    items, _ = joined(text, windows, readings, unique=True)
    assert [item.value for item in items.settled] == ["red", "green", "blue", 1]
